"""Random chains, as the naive twins take them and as seqpa takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sequence_reference import Path, Sentence, Token, Vector

from seqpa.sequence.constraints import Penalties
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import FrozenWeights, padded

if TYPE_CHECKING:
    from seqpa import SequenceTagger


def _flat(tokens: list[Token], ones: bool) -> tuple[Any, Any, Any]:
    indptr = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    features = np.array([f for token in tokens for f, _ in token], np.int32)
    values = np.array([v for token in tokens for _, v in token], np.float32)
    return indptr, features, None if ones and (values == 1.0).all() else values


def encoded(sentences: Sequence[Sentence], ones: bool = True) -> Encoded:
    """As the kernel wants them; values left out if all are one (unless ones is False)."""
    starts = np.cumsum([0, *(len(s.tokens) for s in sentences)], dtype=np.int64)
    parts = _flat([token for s in sentences for token in s.tokens], ones)
    if not any(s.steps is not None for s in sentences):
        return Encoded(starts, *parts)
    steps = _flat([token for s in sentences for token in (s.steps or [])], ones)
    return Encoded(starts, *parts, *steps)


def frozen(
    w: Vector, n_features: int, n_labels: int, n_steps: int | None, dense: Any = ()
) -> FrozenWeights:
    """The weights for tagging; the rows of the features in `dense` are dense."""
    width = padded(n_labels)
    table = np.zeros((n_features, n_labels), np.float32)
    matrix = np.zeros((n_labels, n_labels), np.float32)
    pairs: list[dict[int, float]] = [{} for _ in range(n_steps or 0)]
    for key, value in w.items():
        if key[0] == "state":
            table[key[1:]] = value
        elif key[0] == "transition":
            matrix[key[1:]] = value
        else:
            _, f, p, y = key
            pairs[f][p * width + y] = value
    arena: list[float] = []
    rows = []
    for f, row in enumerate(table.tolist()):
        if f in dense:
            rows.append((len(arena), -1))
            arena += row + [0.0] * (width - n_labels)
        else:
            filled = [(k, value) for k, value in enumerate(row) if value]
            rows.append((len(arena), len(filled)))
            arena += [number for entry in filled for number in entry]
    pair_rows = pair_arena = None
    if n_steps is not None:
        pair_arena, pair_rows = _sparse_rows(pairs)
    weights = FrozenWeights(
        n_labels,
        np.array(rows, np.int32).reshape(-1, 2),
        np.array(arena, np.float32),
        matrix,
        pair_rows,
        pair_arena,
    )
    weights.validate()
    return weights


def _sparse_rows(rows: list[dict[int, float]]) -> tuple[Any, Any]:
    sizes = np.array([len(row) for row in rows], np.int32)
    starts = 2 * (np.cumsum(sizes) - sizes)
    arena = [number for row in rows for entry in row.items() for number in entry]
    return np.array(arena, np.float32), np.stack([starts, sizes], axis=1).astype(np.int32)


def thawed_dict(weights: FrozenWeights) -> Vector:
    """The weights as the twins have them, zeros left out."""
    w: Vector = {}
    for f in range(len(weights.rows)):
        for y, value in weights.feature_weights(f).items():
            w["state", f, y] = value
    for p, y in np.argwhere(weights.transitions).tolist():
        w["transition", p, y] = float(weights.transitions[p, y])
    for f in range(0 if weights.pair_rows is None else len(weights.pair_rows)):
        for (p, y), value in weights.pair_feature_weights(f).items():
            w["pair", f, p, y] = value
    return w


def no_rules(n_labels: int) -> Penalties:
    nothing = np.zeros(n_labels, np.float32)
    return Penalties(nothing, nothing, np.zeros((n_labels, n_labels), np.float32))


def draw_tokens(
    rng: np.random.Generator, n: int, n_features: int, real: bool, most: int = 3
) -> list[Token]:
    """Tokens with up to `most` features, some of them twice; values exact in float32."""
    tokens = []
    for _ in range(n):
        count = int(rng.integers(0, most + 1)) if n_features else 0
        features = rng.integers(n_features, size=count) if count else []
        values = rng.integers(-8, 9, size=count) / 4 if real else np.ones(count)
        tokens.append([(int(f), float(v)) for f, v in zip(features, values, strict=True)])
    return tokens


def draw_sentence(
    rng: np.random.Generator, n: int, n_features: int, n_steps: int | None, real: bool
) -> Sentence:
    steps = None if n_steps is None else draw_tokens(rng, n, n_steps, real, 2)
    return Sentence(draw_tokens(rng, n, n_features, real), steps)


def draw_weights(
    rng: np.random.Generator, n_features: int, n_labels: int, n_steps: int | None, exact: bool
) -> Vector:
    """Some zero, the others small fractions whose sums are exact in float32, or any numbers."""

    def number() -> float:
        if exact:
            return float(rng.integers(-4, 5)) / 4
        return float(np.float32(rng.normal()))

    K = range(n_labels)
    keys = [("state", f, y) for f in range(n_features) for y in K]
    keys += [("transition", p, y) for p in K for y in K]
    keys += [("pair", f, p, y) for f in range(n_steps or 0) for p in K for y in K]
    return {key: number() for key in keys if rng.random() < 0.7}


def flat(paths: Sequence[Path]) -> np.ndarray:
    return np.array([y for path in paths for y in path], np.int32)


# A small corpus, as users have them

WORDS = [
    ["the", "dog", "saw", "rain"],
    ["a", "saw", "cut", "the", "rain"],
    ["rain", "fell"],
    ["the", "cut", "fell", "the", "dog"],
]
TAGS = [
    ["D", "N", "V", "N"],
    ["D", "N", "V", "D", "N"],
    ["N", "V"],
    ["D", "N", "V", "D", "N"],
]
TEMPLATES = ["word[0]", "word[-1]", "suffix(2)[0]"]


def features(sentence: Any) -> list[dict[str, Any]]:
    """A feature function, such as users write."""
    return [
        {"word": word, "first": t == 0, "length": len(word) / 4, "ends": [word[-1:], word[-2:]]}
        for t, word in enumerate(sentence)
    ]


def weights(tagger: SequenceTagger) -> tuple[dict[Any, float], dict[Any, float]]:
    return tagger.state_features_, tagger.transition_features_
