"""Why a token got its label: what each feature gave to it and to the runner-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import FrozenWeights


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature adds to the score of either label.

    Parameters
    ----------
    name : str
        The feature, or ``transition(A -> B or A -> C)``.
    chosen, runner_up : float
        Value × weight for the two labels.

    Examples
    --------
    >>> Contribution("word[0]=saw", chosen=0.75, runner_up=0.25).difference
    0.5
    """

    name: str
    chosen: float
    runner_up: float

    @property
    def difference(self) -> float:
        """How much the feature speaks for the chosen label."""
        return self.chosen - self.runner_up


@dataclass(frozen=True, slots=True)
class TokenExplanation:
    """One token: its label, the best alternative, and what decided between them.

    The runner-up is the label of the best label sequence that differs at this token, and its
    transitions are those of that sequence, so `margin`, by which the whole sequence lost, need
    not be the sum of the differences here: other tokens may change with it.

    Parameters
    ----------
    token : object
        As it was given.
    label : str
        What it got.
    runner_up : str or None
        The best alternative; None where there is none.
    margin : float
        By how much the best sequence beats the best one with another label here.
    contributions : tuple of Contribution
        Those that matter most first.

    Examples
    --------
    >>> print(TokenExplanation("saw", "V", "N", 0.5, (Contribution("word[-1]=she", 0.75, 0.25),)))
    saw: V, not N (margin 0.500)
         +0.500  word[-1]=she  (+0.750 against +0.250)
    """

    token: Any
    label: str
    runner_up: str | None
    margin: float
    contributions: tuple[Contribution, ...]

    def __str__(self) -> str:
        head = f"{self.token}: {self.label}"
        if self.runner_up is None:
            return head
        lines = [f"{head}, not {self.runner_up} (margin {self.margin:.3f})"]
        lines += [
            f"  {c.difference:+9.3f}  {c.name}  ({c.chosen:+.3f} against {c.runner_up:+.3f})"
            for c in self.contributions
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an explanation is made of.

    Parameters
    ----------
    decoder : Decoder
        Decides on `encoded`.
    encoded : Encoded
        The sentence as the decoder wants it; some of its features may stand for several.
    plain : Encoded
        The sentence with each feature for itself.
    weights : FrozenWeights
        Has a row for each feature of `plain`.
    labels : list of str
    feature_name, pair_feature_name : function of int
        A feature of `plain`, or of its label pairs, as a string.
    """

    decoder: Decoder
    encoded: Encoded
    plain: Encoded
    weights: FrozenWeights
    labels: list[str]
    feature_name: Callable[[int], str]
    pair_feature_name: Callable[[int], str]


def explain(sentence: Sequence[Any], evidence: Evidence) -> list[TokenExplanation]:
    """An explanation for each token of one sentence, contributions by how much they matter.

    Parameters
    ----------
    sentence : list of tokens
    evidence : Evidence

    Returns
    -------
    list of TokenExplanation
    """
    decoder, encoded, labels = evidence.decoder, evidence.encoded, evidence.labels
    path = decoder.decode(encoded)
    marginals = decoder.max_marginals(encoded, 0)
    result = []
    for t, token in enumerate(sentence):
        chosen = int(path[t])
        others = marginals[t].copy()
        others[chosen] = -np.inf
        rival = int(others.argmax())
        if len(labels) < 2 or others[rival] < -1e29:
            result.append(TokenExplanation(token, labels[chosen], None, np.inf, ()))
            continue
        fixed = np.full(len(path), -1, np.int32)
        fixed[t] = rival
        rival_path = decoder.decode(encoded, fixed)
        parts = _emissions(evidence, t, chosen, rival)
        for i in (t, t + 1):
            if 0 < i < len(path):
                parts += _transitions(evidence, i, path, rival_path)
        parts.sort(key=lambda part: -abs(part.difference))
        margin = float(marginals[t, chosen] - others[rival])
        result.append(TokenExplanation(token, labels[chosen], labels[rival], margin, tuple(parts)))
    return result


def _emissions(evidence: Evidence, t: int, chosen: int, rival: int) -> list[Contribution]:
    encoded = evidence.plain
    parts = []
    for j in range(int(encoded.indptr[t]), int(encoded.indptr[t + 1])):
        feature = int(encoded.features[j])
        value = 1.0 if encoded.values is None else float(encoded.values[j])
        weights = evidence.weights.feature_weights(feature)
        a, b = value * weights.get(chosen, 0.0), value * weights.get(rival, 0.0)
        if a or b:
            parts.append(Contribution(evidence.feature_name(feature), a, b))
    return parts


def _transitions(evidence: Evidence, t: int, path: Any, rival: Any) -> list[Contribution]:
    ours, theirs = (int(path[t - 1]), int(path[t])), (int(rival[t - 1]), int(rival[t]))
    if ours == theirs:
        return []
    encoded, labels, transitions = evidence.plain, evidence.labels, evidence.weights.transitions
    ways = [f"{labels[before]} -> {labels[after]}" for before, after in (ours, theirs)]
    name = f"transition({ways[0]} or {ways[1]})"
    parts = [Contribution(name, float(transitions[ours]), float(transitions[theirs]))]
    if encoded.pair_indptr is not None and encoded.pair_features is not None:
        for j in range(int(encoded.pair_indptr[t]), int(encoded.pair_indptr[t + 1])):
            feature = int(encoded.pair_features[j])
            value = 1.0 if encoded.pair_values is None else float(encoded.pair_values[j])
            weights = evidence.weights.pair_feature_weights(feature)
            a, b = value * weights.get(ours, 0.0), value * weights.get(theirs, 0.0)
            if a or b:
                told = f"{evidence.pair_feature_name(feature)} on {name}"
                parts.append(Contribution(told, a, b))
    return parts
