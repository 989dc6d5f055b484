"""Scores of label sequences, under sklearn-crfsuite's names: scikit-learn's over all labels in one.

For scores of spans, as conlleval counts them, see `seqpa.evaluate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn import metrics

from seqpa.sklearn_crfsuite.utils import flatten


def flat_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of labels that are right.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> flat_accuracy_score([["x", "z", "y"], ["x"]], [["y", "z", "y"], ["x"]])
    0.75
    """
    return float(metrics.accuracy_score(flatten(y_true), flatten(y_pred)))


def flat_precision_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """`sklearn.metrics.precision_score` over all labels.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.
    **kwargs : object
        What else the function of scikit-learn takes: labels, average, ...

    Returns
    -------
    float or array
        The precision.

    Examples
    --------
    >>> flat_precision_score([["x", "y"]], [["x", "x"]], labels=["x"], average="micro")
    0.5
    """
    return metrics.precision_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_recall_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """`sklearn.metrics.recall_score` over all labels.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.
    **kwargs : object
        What else the function of scikit-learn takes: labels, average, ...

    Returns
    -------
    float or array
        The recall.

    Examples
    --------
    >>> flat_recall_score([["x", "y"]], [["x", "x"]], labels=["x"], average="micro")
    1.0
    """
    return metrics.recall_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_f1_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """`sklearn.metrics.f1_score` over all labels.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.
    **kwargs : object
        What else the function of scikit-learn takes: labels, average, ...

    Returns
    -------
    float or array
        The F1 score.

    Examples
    --------
    >>> round(flat_f1_score([["x", "y"]], [["x", "x"]], labels=["x"], average="micro"), 3)
    0.667
    """
    return metrics.f1_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """`sklearn.metrics.fbeta_score` over all labels.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.
    beta : float
        How much recall counts beside precision.
    **kwargs : object
        What else the function of scikit-learn takes: labels, average, ...

    Returns
    -------
    float or array
        The F score.

    Examples
    --------
    >>> round(flat_fbeta_score([["x", "y"]], [["x", "x"]], 2, labels=["x"], average="micro"), 3)
    0.833
    """
    return metrics.fbeta_score(flatten(y_true), flatten(y_pred), beta=beta, **kwargs)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any) -> Any:
    """`sklearn.metrics.classification_report` over all labels.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.
    labels : list or None, default None
        Which labels to report, in which order.
    **kwargs : object
        What else the function of scikit-learn takes: digits, output_dict, ...

    Returns
    -------
    str or dict
        The report.

    Examples
    --------
    >>> report = flat_classification_report([["x", "y"]], [["x", "y"]], output_dict=True)
    >>> report["macro avg"]["f1-score"]
    1.0
    """
    return metrics.classification_report(flatten(y_true), flatten(y_pred), labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """The share of sequences that are right from the first label to the last.

    Parameters
    ----------
    y_true : list of lists
        The right labels.
    y_pred : list of lists
        The predicted ones.

    Returns
    -------
    float
        From 0 to 1; 0 where there is no sequence.

    Examples
    --------
    >>> sequence_accuracy_score([["x", "y"], ["x"]], [["x", "y"], ["z"]])
    0.5
    """
    pairs = list(zip(y_true, y_pred, strict=True))
    if not pairs:
        return 0.0
    return sum(list(right) == list(found) for right, found in pairs) / len(pairs)
