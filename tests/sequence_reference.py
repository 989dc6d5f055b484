"""Naive twins of the sequence engine: every label sequence tried, weights in a dictionary.

Nothing here knows seqpa. Labels and features are small integers; a weight vector is a dictionary
with the keys ("state", feature, label), ("transition", previous, label) and
("pair", feature, previous, label), and Φ(x, y) is a dictionary with the same keys.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

Token = list[tuple[int, float]]  # (feature, value), features may repeat
Path = tuple[int, ...]
Given = tuple[int | None, ...]  # None: the label is not given
Key = tuple[object, ...]
Vector = dict[Key, float]
Legal = Callable[[Path], bool]
Cost = Callable[[Sequence[str], Sequence[str]], float]


class Sentence(NamedTuple):
    """Tokens, and for each token the features of the step into it (those of the first unused)."""

    tokens: list[Token]
    steps: list[Token] | None = None


# Scores and decoding


def phi(sentence: Sentence, path: Sequence[int]) -> Vector:
    """Φ(x, y) of Eq. 59: what repeats is summed."""
    total: Counter[Key] = Counter()
    for t, (token, label) in enumerate(zip(sentence.tokens, path, strict=True)):
        for feature, value in token:
            total["state", feature, label] += value
        if t > 0:
            total["transition", path[t - 1], label] += 1.0
            for feature, value in sentence.steps[t] if sentence.steps else ():
                total["pair", feature, path[t - 1], label] += value
    return dict(total)


def dot(w: Vector, v: Vector) -> float:
    return math.fsum(w.get(key, 0.0) * value for key, value in v.items())


def emissions(w: Vector, sentence: Sentence, n_labels: int) -> list[list[float]]:
    return [
        [sum(w.get(("state", f, y), 0.0) * v for f, v in token) for y in range(n_labels)]
        for token in sentence.tokens
    ]


def transitions(w: Vector, sentence: Sentence, n_labels: int, t: int) -> list[list[float]]:
    step = sentence.steps[t] if sentence.steps else []
    return [
        [
            w.get(("transition", p, y), 0.0)
            + sum(w.get(("pair", f, p, y), 0.0) * v for f, v in step)
            for y in range(n_labels)
        ]
        for p in range(n_labels)
    ]


def ranked(
    w: Vector,
    sentence: Sentence,
    n_labels: int,
    legal: Legal | None = None,
    fixed: Sequence[int | None] | None = None,
) -> list[tuple[float, Path]]:
    """Every legal label sequence with its score, best first; of equals that whose labels come
    first, seen from the end."""
    n = len(sentence.tokens)
    em = emissions(w, sentence, n_labels)
    tr = [transitions(w, sentence, n_labels, t) for t in range(1, n)]
    choices = [
        range(n_labels) if fixed is None or fixed[t] is None else (fixed[t],) for t in range(n)
    ]
    found = []
    for path in itertools.product(*choices):
        if legal is None or legal(path):
            score = sum(em[t][y] for t, y in enumerate(path))
            score += sum(tr[t][p][y] for t, (p, y) in enumerate(itertools.pairwise(path)))
            found.append((score, path))
    return sorted(found, key=lambda item: (-item[0], item[1][::-1]))


def max_marginals(
    w: Vector, sentence: Sentence, n_labels: int, legal: Legal | None = None
) -> list[list[float]]:
    """[t][y]: the best score of a legal sequence with y at t; −inf where there is none."""
    table = [[-math.inf] * n_labels for _ in sentence.tokens]
    for score, path in ranked(w, sentence, n_labels, legal):
        for t, y in enumerate(path):
            table[t][y] = max(table[t][y], score)
    return table


def viterbi(emissions: np.ndarray, transitions: np.ndarray) -> tuple[float, list[int]]:
    """The textbook dynamic programme in float64, for chains too long to try everything."""
    n = len(emissions)
    scores = emissions[0].astype(np.float64)
    back = np.zeros((n, len(scores)), np.intp)
    for t in range(1, n):
        into = scores[:, None] + transitions
        back[t] = into.argmax(axis=0)
        scores = into.max(axis=0) + emissions[t]
    path = [int(scores.argmax())]
    for t in range(n - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return float(scores.max()), path[::-1]


def max_loss(
    emissions: np.ndarray, transitions: np.ndarray, costs: np.ndarray
) -> tuple[float, list[int]]:
    """argmax score + √cost for chains too long to try everything: the best beginning for every
    total cost and last label, none left out; costs[t, y] are whole numbers."""
    beginnings: dict[tuple[int, int], tuple[float, list[int]]] = {}
    for t, row in enumerate(emissions):
        longer: dict[tuple[int, int], tuple[float, list[int]]] = {}
        for y, score in enumerate(row):
            before = [(c, s + transitions[p, y], path) for (c, p), (s, path) in beginnings.items()]
            for c, s, path in before if t else [(0, 0.0, [])]:
                key = (c + int(costs[t, y]), y)
                if key not in longer or s + score > longer[key][0]:
                    longer[key] = (s + score, [*path, y])
        beginnings = longer
    return max((s + math.sqrt(c), path) for (c, _), (s, path) in beginnings.items())


# Constraints, as regular expressions over whole sequences


def scheme(name: str, labels: Sequence[str]) -> Legal:
    """Is a label sequence legal BIO, or BIOES?"""
    kinds = {re.escape(label[2:]) for label in labels if "-" in label}
    chunk = {
        "bio": "B-{0} (I-{0} )*",
        "bioes": "S-{0} |B-{0} (I-{0} )*E-{0} ",
    }[name]
    whole = re.compile("(?:" + "|".join(["O ", *(chunk.format(kind) for kind in kinds)]) + ")*")
    return lambda path: whole.fullmatch("".join(labels[y] + " " for y in path)) is not None


def allowed_pairs(pairs: Iterable[tuple[int, int]]) -> Legal:
    allowed = set(pairs)
    return lambda path: all(pair in allowed for pair in itertools.pairwise(path))


# Costs


def hamming(gold: Sequence[str], predicted: Sequence[str]) -> float:
    return float(sum(g != p for g, p in zip(gold, predicted, strict=True)))


def zero_one(gold: Sequence[str], predicted: Sequence[str]) -> float:
    return float(list(gold) != list(predicted))


def bio_chunks(labels: Sequence[str]) -> set[tuple[int, int, str]]:
    """BIO chunks; an I- that continues nothing begins a chunk."""
    chunks: set[tuple[int, int, str]] = set()
    start = None
    for t, label in enumerate([*labels, "O"]):
        goes_on = start is not None and label == "I-" + labels[start][2:]
        if start is not None and not goes_on:
            chunks.add((start, t, labels[start][2:]))
            start = None
        if label != "O" and not goes_on:
            start = t
    return chunks


def span(gold: Sequence[str], predicted: Sequence[str]) -> float:
    different = bio_chunks(gold) ^ bio_chunks(predicted)
    return float(len(different)) or zero_one(gold, predicted)


def summed(table: dict[tuple[str, str], float]) -> Cost:
    """Σ over tokens of table[gold, predicted]; a pair that is missing costs 1."""

    def cost(gold: Sequence[str], predicted: Sequence[str]) -> float:
        pairs = zip(gold, predicted, strict=True)
        return float(sum(table.get((g, p), 1.0) for g, p in pairs if g != p))

    return cost


def tree(edges: Iterable[tuple[str, str]]) -> Cost:
    """Σ over tokens of the number of edges between two nodes, by flooding from the first."""
    neighbours: dict[str, set[str]] = {}
    for a, b in edges:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)

    def distance(a: str, b: str) -> int:
        reached, steps = {a}, 0
        while b not in reached:
            reached |= {n for node in reached for n in neighbours[node]}
            steps += 1
        return steps

    return lambda gold, predicted: float(
        sum(distance(g, p) for g, p in zip(gold, predicted, strict=True))
    )


# Learning


def step(algorithm: str, r: float, score: float, norm2: float, C: float) -> float:
    if norm2 == 0.0:
        return 0.0
    if algorithm == "perceptron":
        return float(score <= 0.0)
    loss = max(r, 0.0)
    return {
        "pa": loss / norm2,
        "pa-i": min(C, loss / norm2),
        "pa-ii": loss / (norm2 + 1.0 / (2.0 * C)),
        "arow": loss / (norm2 + 1.0 / (2.0 * C)),
    }[algorithm]


class Choice(NamedTuple):
    """What a sentence asks of the present weights.

    predicted, competitor  the best sequence, and the wrong one of the constraint
    right                  the best sequence that has the labels given
    gap                    by how much the choices were made; small: rounding might decide
    """

    predicted: Path
    competitor: Path
    right: Path
    gap: float


def obeys(path: Path, gold: Given) -> bool:
    return all(g is None or g == y for g, y in zip(gold, path, strict=True))


@dataclass
class Trainer:
    """Cost-sensitive passive-aggressive learning (§8-9), one dictionary at a time.

    AROW keeps a variance for each weight, 1 at first: its inverse grows by δ²/r, r = 1/2C, with
    every step, and lengths and steps are scaled by it (Crammer, Kulesza and Dredze 2009, diagonal).
    Labels may be missing: costs count those that are given, as if the others were as predicted.
    """

    labels: Sequence[str]
    algorithm: str
    C: float
    cost: Cost
    update: str = "prediction-based"
    n_best: int = 10
    legal: Legal | None = None
    w: Vector = field(default_factory=dict)
    precision: Vector = field(default_factory=dict)
    seen: list[Vector] = field(default_factory=list)
    rounds: list[tuple[float, float, float, float]] = field(default_factory=list)

    def rho(self, gold: Given, predicted: Path) -> float:
        if obeys(predicted, gold):
            return 0.0
        filled = [y if g is None else g for g, y in zip(gold, predicted, strict=True)]
        return self.cost([self.labels[y] for y in filled], [self.labels[y] for y in predicted])

    def margin(self, gold: Given, path: Path) -> float:
        rho = self.rho(gold, path)
        return rho if self.update == "loss-augmented" else math.sqrt(rho)

    def choose(self, sentence: Sentence, gold: Given) -> Choice:
        order = ranked(self.w, sentence, len(self.labels), self.legal)
        predicted = order[0][1]
        gap = order[0][0] - order[1][0] if len(order) > 1 else math.inf
        allowed = [(score, path) for score, path in order if obeys(path, gold)]
        right_score, right = allowed[0]
        if len(allowed) > 1:
            gap = min(gap, right_score - allowed[1][0])
        if self.update == "prediction-based":
            return Choice(predicted, predicted, right, gap)
        candidates = order[: self.n_best] if self.update == "n-best" else order
        if len(order) > len(candidates):
            gap = min(gap, order[self.n_best - 1][0] - order[self.n_best][0])
        if self.update == "near-max-loss":
            bound = {path: score + self.rho(gold, path) / 2 for score, path in order}
            by_bound = sorted(bound, key=lambda path: -bound[path])
            if len(by_bound) > 1:
                gap = min(gap, bound[by_bound[0]] - bound[by_bound[1]])
            found = {predicted, by_bound[0]}
            candidates = [(score, path) for score, path in order if path in found]
        values = {path: score + self.margin(gold, path) for score, path in candidates}
        values[right] = right_score
        best = sorted(values, key=lambda path: -values[path])
        if len(best) > 1:
            gap = min(gap, values[best[0]] - values[best[1]])
        delta_score = right_score - (values[best[0]] - self.margin(gold, best[0]))
        if self.algorithm == "perceptron" and best[0] != right:
            gap = min(gap, abs(delta_score))
        return Choice(predicted, best[0], right, gap)

    def learn(self, sentence: Sentence, gold: Given, importance: float = 1.0) -> None:
        self.learn_block([(sentence, gold)], importance)

    def learn_block(
        self, block: Sequence[tuple[Sentence, Given]], importance: float = 1.0
    ) -> list[bool]:
        """Choose for all with the same weights, then move them, one after the other, by what each
        still asks for; says which did."""
        chosen = [self.choose(sentence, gold) for sentence, gold in block]
        return [
            self._move(sentence, gold, choice, importance, len(block) > 1)
            for (sentence, gold), choice in zip(block, chosen, strict=True)
        ]

    def _move(
        self, sentence: Sentence, gold: Given, choice: Choice, importance: float, ahead: bool
    ) -> bool:
        predicted, competitor, right, _ = choice
        delta: Counter[Key] = Counter(phi(sentence, right))
        delta.subtract(phi(sentence, competitor))
        loss = tau = norm2 = 0.0
        C = self.C * importance
        if not obeys(competitor, gold):
            norm2 = math.fsum(v * v / self.precision.get(key, 1.0) for key, v in delta.items())
            score = dot(self.w, delta)
            r = self.margin(gold, competitor) - score
            loss = max(r, 0.0)
            tau = 0.0 if ahead and r <= 0.0 else step(self.algorithm, r, score, norm2, C)
            self.w = dict(self.w)
            for key, value in delta.items():
                scale = self.precision.get(key, 1.0)
                self.w[key] = self.w.get(key, 0.0) + tau * value / scale
                if self.algorithm == "arow" and tau > 0.0:
                    self.precision[key] = scale + 2.0 * C * value * value
        self.seen.append(self.w)
        self.rounds.append((loss, tau, norm2, self.rho(gold, predicted)))
        return tau != 0.0

    def mean(self) -> Vector:
        """The mean of the weight vectors as they were after each sentence."""
        keys = {key for w in self.seen for key in w}
        return {key: math.fsum(w.get(key, 0.0) for w in self.seen) / len(self.seen) for key in keys}
