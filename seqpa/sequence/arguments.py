"""What users hand to a tagger beside sentences, checked: parameters, dev sets, labels, weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.data.corpus import Corpus
from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.sequence.ahead import check_lookahead
from seqpa.sequence.budget import bytes_of
from seqpa.sequence.folds import FOLDS
from seqpa.sequence.inputs import check_sentences, given_labels, is_list, label_text, lengths_of
from seqpa.sequence.learner import LARGEST, NO_WEIGHTS, WITHOUT_C

CALIBRATIONS = ("dev", "cv", "none")  # on what the scale of probabilities is fitted


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a SeqpaError where a parameter of a tagger has a value that it cannot have.

    >>> check_parameters({"epochs": 0})
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: epochs is 0: it must be a whole number from 1 on
    """
    for name in ("epochs", "n_best", "n_jobs", "patience", "batch_size", "seeds"):
        if name in parameters and not (name == "patience" and parameters[name] is None):
            check_whole(name, parameters[name], 1)
    check_lookahead(parameters.get("lookahead", 1))
    if check_whole("stages", parameters.get("stages", 1), 1) > 2:
        raise SeqpaError(f"stages is {parameters['stages']!r}: it must be 1 or 2")
    if parameters.get("seeds", 1) > 1:
        for name, value in (("shuffle", False), ("warm_start", True)):
            if parameters.get(name, not value) == value:
                raise SeqpaError(
                    f"seeds is {parameters['seeds']}, and {name} is {value}: several orders are "
                    f"several trainings from the beginning; set seeds=1, or {name}={not value}"
                )
    if parameters.get("calibration", "none") not in CALIBRATIONS:
        raise SeqpaError(
            f"calibration is {parameters['calibration']!r}: choose {', '.join(CALIBRATIONS)}"
        )
    for name in ("average", "shuffle", "warm_start"):
        if not isinstance(parameters.get(name, True), (bool, np.bool_)):
            raise SeqpaError(f"{name} is {parameters[name]!r}: it must be True or False")
    if parameters.get("taggers") is not None:
        _check_taggers(parameters["taggers"])
    if parameters.get("memory") is not None:
        _check_memory(parameters)


def _check_memory(parameters: Mapping[str, Any]) -> None:
    """Refuse what needs the whole text at hand, or several trainings on it."""
    bytes_of(parameters["memory"])
    alone: dict[str, Any] = {"stages": 1, "seeds": 1, "warm_start": False}
    for name, only in alone.items():
        if parameters.get(name, only) != only:
            raise SeqpaError(f"{name} is {parameters[name]!r}: with memory it can only be {only!r}")
    if parameters.get("taggers"):
        raise SeqpaError(
            "with memory no column can be predicted while training: write it into the files "
            "first, with seqpa tag"
        )
    if parameters.get("calibration") == "cv":
        raise SeqpaError(
            "calibration 'cv' trains five taggers more: with memory choose 'dev' or 'none'"
        )


def _check_taggers(taggers: Any) -> None:
    if not isinstance(taggers, Mapping):
        raise SeqpaError(f"taggers is {taggers!r}: give a mapping, {{column: tagger}}")
    for name, tagger in taggers.items():
        if isinstance(tagger, (str, Path)):
            continue
        if not hasattr(tagger, "trained_"):
            try:
                check = tagger.__sklearn_is_fitted__
            except AttributeError:
                raise SeqpaError(
                    f"the tagger of the column {name!r} is {tagger!r}: give a SequenceTagger, or "
                    "the file of one"
                ) from None
            if not check():
                raise NotTrainedError(f"the tagger of the column {name!r} is not trained yet")


def fold_counts(jackknife: Any, columns: Collection[str]) -> dict[str, int]:
    """Into how many folds the training text is cut for each column that a tagger predicts.

    >>> fold_counts({"pos": 0}, ["pos", "chunk"])
    {'pos': 0, 'chunk': 5}
    """
    given = jackknife if isinstance(jackknife, Mapping) else dict.fromkeys(columns, jackknife)
    for name, count in given.items():
        if name not in columns:
            raise SeqpaError(f"jackknife: no tagger predicts the column {name!r}")
        if check_whole("jackknife", count, 0) == 1:
            raise SeqpaError("jackknife is 1: it must be 0, for none, or at least 2")
    return {name: int(given.get(name, FOLDS)) for name in columns}


def check_whole(name: str, value: Any, least: int) -> int:
    """The value as an int; a SeqpaError unless it is a whole number from `least` on.

    >>> check_whole("k", np.int64(3), 1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise SeqpaError(f"{name} is {value!r}: it must be a whole number from {least} on")
    return int(value)


def dev_pair(dev: Any) -> tuple[Any, list[list[str]]] | None:
    """The sentences and label lists of a dev set; None where there is none."""
    if dev is None:
        return None
    if isinstance(dev, Corpus):
        X, y = dev, None
    elif isinstance(dev, (list, tuple)) and len(dev) == 2:
        X, y = dev
    else:
        raise SeqpaError("dev must be a pair (X, y) of sentences and labels, or a corpus")
    try:
        flat = given_labels(X, y)
        if flat.count(None) == len(flat):
            raise SeqpaError("there is no token to score")
    except SeqpaError as error:
        raise SeqpaError(f"the dev set: {error}") from None
    if y is None:
        return X, X.y
    own = iter(flat)
    return X, [[next(own) for _ in labels] for labels in y]  # type: ignore[misc]


def fixed_indices(X: Any, fixed: Any, labels: Sequence[str]) -> NDArray[np.int32]:
    """The numbers of the labels that tokens must get, −1 where they are free.

    >>> fixed_indices([["so", "it"], ["is"]], [[None, "P"], ["V"]], ["A", "P", "V"]).tolist()
    [-1, 1, 2]
    """
    check_sentences(X)
    if (
        not is_list(fixed)
        or not all(map(is_list, fixed))
        or list(map(len, fixed)) != lengths_of(X).tolist()
    ):
        raise SeqpaError(
            "fixed must hold a list for every sentence, in it one entry (a label or None) for "
            "every token"
        )
    index = {label: k for k, label in enumerate(labels)}
    flat: list[int] = []
    for i, own in enumerate(fixed):
        for label in own:
            text = label_text(label)
            if label is not None and (text is None or text not in index):
                raise SeqpaError(f"sentence {i + 1}: the fixed label {label!r} is unknown")
            flat.append(-1 if text is None else index[text])
    return np.array(flat, np.int32)


def sentence_weights(sample_weight: Any, X: Any, algorithm: str) -> NDArray[np.float64]:
    """What the C of each sentence is multiplied by; nothing where no weights are given.

    A corpus may bring weights of its own, which those given replace.

    >>> sentence_weights([1, 0, 2.5], ["so", "it", "is"], "pa-i").tolist()
    [1.0, 0.0, 2.5]
    """
    n = len(X)
    if sample_weight is None and isinstance(X, Corpus):
        sample_weight = X.weights
    if sample_weight is None:
        return NO_WEIGHTS
    if algorithm in WITHOUT_C:
        raise SeqpaError(
            f"sample_weight scales C, which {algorithm!r} does not use: choose algorithm='pa-i'"
        )
    try:
        weights = np.array(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise SeqpaError("sample_weight must hold a number for each sentence") from None
    if weights.shape != (n,):
        raise SeqpaError(f"sample_weight has the shape {weights.shape}; there are {n} sentences")
    if not ((weights >= 0).all() and (weights <= LARGEST).all() and (weights > 0).any()):
        raise SeqpaError(
            f"sample_weight holds finite numbers, zero or above and up to {LARGEST:g}, and not "
            f"only zeros"
        )
    return weights
