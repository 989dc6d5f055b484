"""Why a token got its label: what each feature gave to it and to the runner-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqpa._kernel.chain import FORBIDDEN
from seqpa.sequence.constraints import Penalties
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

    def _repr_html_(self) -> str:
        """Bars for and against the label, for notebooks."""
        from seqpa.display import explanation

        return explanation(self).html

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

    def summed(self, most: int) -> TokenExplanation:
        """The same in short: what matters most, and one line for all other features together.

        Parameters
        ----------
        most : int
            So many contributions stay as they are.

        Returns
        -------
        TokenExplanation

        Examples
        --------
        >>> parts = [Contribution(name, 0.5, 0.25) for name in ("bias", "word[0]=saw", "pos[0]=V")]
        >>> print(TokenExplanation("saw", "V", "N", 0.5, tuple(parts)).summed(1))
        saw: V, not N (margin 0.500)
             +0.250  bias  (+0.500 against +0.250)
             +0.500  2 other features  (+1.000 against +0.500)
        """
        kept, rest = self.contributions[:most], self.contributions[most:]
        if not rest:
            return self
        name = "1 other feature" if len(rest) == 1 else f"{len(rest)} other features"
        others = Contribution(
            name, sum(part.chosen for part in rest), sum(part.runner_up for part in rest)
        )
        return replace(self, contributions=(*kept, others))


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


def explain(
    sentence: Sequence[Any], evidence: Evidence, rules: Penalties
) -> list[TokenExplanation]:
    """An explanation for each token of one sentence, contributions by how much they matter.

    The time is linear in the length of the sentence: the neighbours of a runner-up are read off the
    scores of all beginnings and ends.

    Parameters
    ----------
    sentence : list of tokens
    evidence : Evidence
    rules : Penalties
        What the decoder forbids.

    Returns
    -------
    list of TokenExplanation
    """
    labels = evidence.labels
    path = evidence.decoder.decode(evidence.encoded)
    steps = _Steps(evidence, rules)
    result = []
    for t, token in enumerate(sentence):
        chosen = int(path[t])
        others = steps.best[t].copy()
        others[chosen] = -np.inf
        rival = int(others.argmax())
        if len(labels) < 2 or others[rival] < 0.1 * FORBIDDEN:
            result.append(TokenExplanation(token, labels[chosen], None, np.inf, ()))
            continue
        parts = steps.emissions(t, chosen, rival)
        if t > 0:
            parts += steps.transitions(
                t, (int(path[t - 1]), chosen), (steps.before(t, rival), rival)
            )
        if t + 1 < len(path):
            parts += steps.transitions(
                t + 1, (chosen, int(path[t + 1])), (rival, steps.after(t, rival))
            )
        parts.sort(key=lambda part: -abs(part.difference))
        margin = float(steps.best[t, chosen] - others[rival])
        result.append(TokenExplanation(token, labels[chosen], labels[rival], margin, tuple(parts)))
    return result


class _Steps:
    """What each feature and transition of a sentence gives, and the neighbours of any label."""

    def __init__(self, evidence: Evidence, rules: Penalties) -> None:
        self._evidence = evidence
        emissions, self._forward, self.best = evidence.decoder.lattice(evidence.encoded, 0)
        K = len(evidence.labels)
        self._into = evidence.weights.transitions[:K, :K].astype(np.float64)
        self._into[rules.pairs < 0] = FORBIDDEN
        # Of the best end that begins with the label at the token; none where nothing leads to it.
        self._ends = np.where(
            self._forward > 0.1 * FORBIDDEN, self.best - self._forward + emissions, FORBIDDEN
        )
        self._weights: dict[int, dict[int, float]] = {}
        self._pair_weights: dict[int, dict[tuple[int, int], float]] = {}

    def before(self, t: int, label: int) -> int:
        """The label before t of the best sequence that has this one at t."""
        scores = self._forward[t - 1] + self._into[:, label]
        for value, weights in self._pairs(t):
            for (left, right), weight in weights.items():
                if right == label:
                    scores[left] += value * weight
        return int(scores.argmax())

    def after(self, t: int, label: int) -> int:
        """The label behind t of the best sequence that has this one at t."""
        scores = self._into[label] + self._ends[t + 1]
        for value, weights in self._pairs(t + 1):
            for (left, right), weight in weights.items():
                if left == label:
                    scores[right] += value * weight
        return int(scores.argmax())

    def emissions(self, t: int, chosen: int, rival: int) -> list[Contribution]:
        """What the features of token t give to the two labels."""
        encoded = self._evidence.plain
        parts = []
        for j in range(int(encoded.indptr[t]), int(encoded.indptr[t + 1])):
            feature = int(encoded.features[j])
            value = 1.0 if encoded.values is None else float(encoded.values[j])
            weights = self._weights.get(feature)
            if weights is None:
                weights = self._evidence.weights.feature_weights(feature)
                self._weights[feature] = weights
            a, b = value * weights.get(chosen, 0.0), value * weights.get(rival, 0.0)
            if a or b:
                parts.append(Contribution(self._evidence.feature_name(feature), a, b))
        return parts

    def transitions(
        self, t: int, ours: tuple[int, int], theirs: tuple[int, int]
    ) -> list[Contribution]:
        """What the steps into token t give, from one label to another, of the two sequences."""
        if ours == theirs:
            return []
        labels, transitions = self._evidence.labels, self._evidence.weights.transitions
        ways = [f"{labels[before]} -> {labels[after]}" for before, after in (ours, theirs)]
        name = f"transition({ways[0]} or {ways[1]})"
        parts = [Contribution(name, float(transitions[ours]), float(transitions[theirs]))]
        for (value, weights), feature in zip(self._pairs(t), self._pair_features(t), strict=True):
            a, b = value * weights.get(ours, 0.0), value * weights.get(theirs, 0.0)
            if a or b:
                told = f"{self._evidence.pair_feature_name(feature)} on {name}"
                parts.append(Contribution(told, a, b))
        return parts

    def _pair_features(self, t: int) -> list[int]:
        encoded = self._evidence.plain
        if encoded.pair_indptr is None or encoded.pair_features is None:
            return []
        own = slice(int(encoded.pair_indptr[t]), int(encoded.pair_indptr[t + 1]))
        found: list[int] = encoded.pair_features[own].tolist()
        return found

    def _pairs(self, t: int) -> list[tuple[float, dict[tuple[int, int], float]]]:
        """The value and the weights of each feature on the step into token t."""
        encoded = self._evidence.plain
        found = []
        for j, feature in enumerate(self._pair_features(t)):
            weights = self._pair_weights.get(feature)
            if weights is None:
                weights = self._evidence.weights.pair_feature_weights(feature)
                self._pair_weights[feature] = weights
            value = 1.0
            if encoded.pair_values is not None and encoded.pair_indptr is not None:
                value = float(encoded.pair_values[int(encoded.pair_indptr[t]) + j])
            found.append((value, weights))
        return found
