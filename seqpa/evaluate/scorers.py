"""Scores for scikit-learn's searches: functions of a trained tagger and labelled sentences.

They go where scikit-learn has ``scoring``: ``GridSearchCV(tagger, grid, scoring=span_f1_scorer)``.
"""

from __future__ import annotations

from typing import Any

from seqpa.errors import SeqpaError
from seqpa.evaluate.scores import Evaluation, evaluate


def span_f1_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """The F1 of whole spans, all types counted together, as conlleval has it.

    Parameters
    ----------
    estimator : object
        A trained tagger: what has ``predict``.
    X : list of sentences, or a corpus
        What is tagged.
    y : list of label lists
        Not needed where X is a `seqpa.data` corpus with labels.

    Returns
    -------
    float

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> X, y = [["Ada", "won"], ["rain", "fell"]] * 3, [["B-PER", "O"], ["O", "O"]] * 3
    >>> span_f1_scorer(SequenceTagger(["word[0]"], random_state=1).fit(X, y), X, y)
    1.0
    """
    found = _evaluated(estimator, X, y).span_micro
    if found is None:
        raise SeqpaError(
            "span_f1_scorer needs labels that mark spans (O, B-X, I-X, ...); for others leave out "
            "scoring, which is accuracy, or take label_f1_scorer"
        )
    return found.f1


def label_f1_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """The mean over labels of their F1, for labels of single tokens.

    Parameters
    ----------
    estimator, X, y : object
        As for `span_f1_scorer`.

    Returns
    -------
    float

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> X, y = [["it", "rained"], ["she", "won"]], [["P", "V"], ["P", "V"]]
    >>> label_f1_scorer(SequenceTagger(["word[0]"], random_state=1).fit(X, y), X, y)
    1.0
    """
    return _evaluated(estimator, X, y).label_macro[2]


def sentence_accuracy_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """The share of sentences whose labels are all right.

    Parameters
    ----------
    estimator, X, y : object
        As for `span_f1_scorer`.

    Returns
    -------
    float

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> X, y = [["it", "rained"], ["she", "won"]], [["P", "V"], ["P", "V"]]
    >>> sentence_accuracy_scorer(SequenceTagger(["word[0]"], random_state=1).fit(X, y), X, y)
    1.0
    """
    return _evaluated(estimator, X, y).sentence_accuracy


def _evaluated(estimator: Any, X: Any, y: Any) -> Evaluation:
    if y is None:
        y = getattr(X, "y", None)
    if y is None:
        raise SeqpaError("y is missing: give a list of labels for each sentence, or a corpus")
    return evaluate(y, estimator.predict(X))
