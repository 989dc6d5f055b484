"""Which label may follow which: a chunk scheme or the user's own rules, as arrays of penalties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.schemes import ALIASES, SCHEMES, examples, foreign, transitions


@dataclass(frozen=True, eq=False)
class Penalties:
    """What is added to the scores: 0 where allowed, FORBIDDEN where not.

    Parameters
    ----------
    first, last : (labels,)
        For a label at either end of a sentence.
    pairs : (labels, labels)
        For a label (column) after another (row).
    """

    first: NDArray[np.float32]
    last: NDArray[np.float32]
    pairs: NDArray[np.float32]

    @cached_property
    def forbid_nothing(self) -> bool:
        """Whether every sequence is allowed."""
        return not (self.first.any() or self.last.any() or self.pairs.any())


def penalties(constraints: Any, labels: Sequence[str]) -> Penalties:
    """The penalties of a constraint over the labels.

    Parameters
    ----------
    constraints : None, str, or a mapping
        The name of a scheme of `seqpa.schemes`, such as "bio" or "bioes". Or a mapping with the
        keys ``forbidden`` (pairs ``[previous, next]`` that may not occur) and ``required``
        (``{label: [the labels that may follow it]}``), either or both.
    labels : sequence of str
        All labels.

    Returns
    -------
    Penalties

    Examples
    --------
    >>> penalties("bio", ["O", "B-x", "I-x"]).pairs < 0
    array([[False, False,  True],
           [False, False, False],
           [False, False, False]])
    >>> penalties({"forbidden": [["A", "B"]]}, ["A", "B"]).pairs < 0
    array([[False,  True],
           [False, False]])
    """
    K = len(labels)
    result = Penalties(
        np.zeros(K, np.float32), np.zeros(K, np.float32), np.zeros((K, K), np.float32)
    )
    if constraints is None:
        return result
    if isinstance(constraints, str):
        _apply_scheme(constraints, labels, result)
    elif isinstance(constraints, Mapping):
        _apply_rules(constraints, labels, result)
    else:
        raise SeqpaError(
            f"constraints must be None, a scheme such as 'bio' or 'bioes', or a mapping with "
            f"'forbidden' and 'required', not {type(constraints).__name__}"
        )
    return result


def _apply_scheme(name: str, labels: Sequence[str], out: Penalties) -> None:
    if name not in SCHEMES and name not in ALIASES:
        known = did_you_mean(name, ("bio", *SCHEMES))
        raise SeqpaError(f"constraints {name!r} are unknown{known}")
    label = foreign(labels, name)
    if label is not None:
        raise SeqpaError(
            f"constraints {name!r} need labels {examples(name)}; {label!r} is none of them"
        )
    legal = transitions(labels, name)
    out.first[~legal.first] = FORBIDDEN
    out.last[~legal.last] = FORBIDDEN
    out.pairs[~legal.pairs] = FORBIDDEN


def _apply_rules(rules: Mapping[str, Any], labels: Sequence[str], out: Penalties) -> None:
    index = {label: k for k, label in enumerate(labels)}

    def find(label: Any) -> int:
        if not isinstance(label, str) or label not in index:
            raise SeqpaError(
                f"constraints name the label {label!r}, which the training data does not have"
                f"{did_you_mean(label, sorted(labels))}"
            )
        return index[label]

    known = ("forbidden", "required")
    for key in sorted(set(rules) - set(known), key=str):
        raise SeqpaError(f"constraints have the unknown key {key!r}{did_you_mean(key, known)}")
    forbidden = rules.get("forbidden", ())
    if not isinstance(forbidden, (list, tuple, Set)):
        raise SeqpaError(f"constraints: 'forbidden' is {forbidden!r}: give a list of label pairs")
    for pair in forbidden:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise SeqpaError(f"constraints: {pair!r} under 'forbidden' is not a pair of labels")
        out.pairs[find(pair[0]), find(pair[1])] = FORBIDDEN
    required = rules.get("required", {})
    if not isinstance(required, Mapping):
        raise SeqpaError(
            f"constraints: 'required' is {required!r}: give {{label: [the labels that may follow]}}"
        )
    for label, followers in required.items():
        if not isinstance(followers, (list, tuple, Set)):
            raise SeqpaError(
                f"constraints: {followers!r} under 'required' is not a list of labels for {label!r}"
            )
        row = out.pairs[find(label)]
        allowed = {find(follower) for follower in followers}
        row[[k for k in range(len(labels)) if k not in allowed]] = FORBIDDEN


def check_legal(
    paths: NDArray[np.int32], starts: NDArray[np.int64], rules: Penalties, labels: Sequence[str]
) -> None:
    """Raise a SeqpaError that names the first place where training labels break the rules.

    Parameters
    ----------
    paths : int32 (tokens,)
        The numbers of the labels.
    starts : int64 (sentences + 1,)
        Where each sentence starts, and the number of tokens.
    rules : Penalties
        What is forbidden.
    labels : sequence of str
        The labels by number.
    """
    if len(paths) == 0 or rules.forbid_nothing:
        return
    firsts = starts[:-1][starts[1:] > starts[:-1]]
    lasts = np.append(firsts[1:], len(paths)) - 1
    inside = np.ones(len(paths), bool)
    inside[firsts] = False
    bad = np.zeros(len(paths), bool)
    bad[firsts] |= rules.first[paths[firsts]] < 0
    bad[lasts] |= rules.last[paths[lasts]] < 0
    bad[1:] |= inside[1:] & (rules.pairs[paths[:-1], paths[1:]] < 0)
    if bad.any():
        t = int(bad.argmax())
        sentence = int(np.searchsorted(starts, t, side="right")) - 1
        token = t - int(starts[sentence])
        before = labels[paths[t - 1]] if token else "the start"
        where = f"after {before}"
        if (rules.first[paths[t]] if token == 0 else rules.pairs[paths[t - 1], paths[t]]) == 0:
            where = "at the end of the sentence"
        raise SeqpaError(
            f"sentence {sentence + 1}, token {token + 1}: the training label {labels[paths[t]]!r} "
            f"{where} breaks the constraints; convert the labels, or train without"
        )
