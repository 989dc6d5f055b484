"""seqpa in river: the same estimators, in river's classes.

They are seqpa's estimators, with all their parameters, and river's at once: `learn_one` and
`predict_one` of dicts, river's pipelines, metrics and `clone`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from river import base
except ImportError as error:  # pragma: no cover
    raise ImportError("seqpa.river needs river: pip install river") from error

from seqpa import estimators
from seqpa.errors import NotTrainedError
from seqpa.sequence import tagger

__all__ = [
    "EllipsoidClassifier",
    "HingeClassifier",
    "MIRAClassifier",
    "MiniBatchPAClassifier",
    "PAClassifier",
    "PAMultilabelClassifier",
    "PARegressor",
    "PAUniclass",
    "PerceptronClassifier",
    "SequenceTagger",
]


class _Labels(base.Classifier):
    """What the classifiers add: shares of belief, and that there may be many labels."""

    classes_: Any

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The scores of the labels as shares of 1, which river's metrics ask for.

        They are exp(score)/Σ exp, for two labels 1/(1 + exp(−score)), as river has them: the order
        is that of the scores, but nobody has calibrated them.

        Parameters
        ----------
        x : dict
            Feature -> number.
        **kwargs : object
            Not used.

        Returns
        -------
        dict
            Label -> share; empty before anything was learned.
        """
        scores: dict[Any, float] = self.scores_one(x)  # type: ignore[attr-defined]
        if not scores:
            return {}
        highest = max(scores.values())
        parts = {label: math.exp(score - highest) for label, score in scores.items()}
        total = sum(parts.values())
        return {label: part / total for label, part in parts.items()}


class PAClassifier(estimators.PAClassifier, _Labels):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.PAClassifier.__doc__


class PerceptronClassifier(estimators.PerceptronClassifier, _Labels):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.PerceptronClassifier.__doc__


class HingeClassifier(estimators.HingeClassifier, _Labels):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.HingeClassifier.__doc__


class MIRAClassifier(estimators.MIRAClassifier, _Labels):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.MIRAClassifier.__doc__


class MiniBatchPAClassifier(estimators.MiniBatchPAClassifier, _Labels):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.MiniBatchPAClassifier.__doc__


class EllipsoidClassifier(estimators.EllipsoidClassifier, _Labels):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.EllipsoidClassifier.__doc__


class PAMultilabelClassifier(estimators.PAMultilabelClassifier, base.MultiLabelClassifier):  # type: ignore[misc]  # noqa: D101
    __doc__ = estimators.PAMultilabelClassifier.__doc__


class PARegressor(estimators.PARegressor, base.Regressor):  # noqa: D101
    __doc__ = estimators.PARegressor.__doc__


class PAUniclass(estimators.PAUniclass, base.AnomalyDetector):  # noqa: D101
    __doc__ = estimators.PAUniclass.__doc__


class SequenceTagger(tagger.SequenceTagger, base.Estimator):
    """`seqpa.SequenceTagger` with river's company: `clone`, pipelines that end in it, its repr.

    An example is a sentence: ``learn_one(tokens, labels)``, ``predict_one(tokens)``. All parameters
    and methods are those of `seqpa.SequenceTagger`; the last weights tag, not their mean, so that
    what was learned shows at once.

    Parameters
    ----------
    features : "auto", a preset, a list of templates, a function, or None, default "auto"
        What is seen of a token.
    columns : sequence of str, default ("word",)
        Names of the cells of a tuple token.
    algorithm : str, default "pa-i"
        The step.
    C : float, default 0.05
        Aggressiveness.
    average : bool, default False
        Tag with the mean of all weights.
    random_state : None, an int or a generator, default None
        For what is drawn at random.

    Examples
    --------
    >>> tagger = SequenceTagger(["word[0]"])
    >>> tagger.predict_one(["so", "it"])
    [None, None]
    >>> _ = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
    >>> tagger.predict_one(["it", "is"])
    ['P', 'V']
    >>> tagger.clone().predict_one(["it"])
    [None]
    """

    def __init__(
        self,
        features: Any = "auto",
        columns: Any = ("word",),
        algorithm: str = "pa-i",
        C: float = 0.05,
        average: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            features,
            columns,
            algorithm=algorithm,
            C=C,
            average=average,
            random_state=random_state,
        )

    def predict_one(self, tokens: Sequence[Any]) -> list[Any]:
        """The best labels of one sentence; None for each token before anything was learned.

        Parameters
        ----------
        tokens : list of tokens
            The sentence.

        Returns
        -------
        list
            A label for each token.
        """
        try:
            return super().predict_one(tokens)
        except NotTrainedError:
            return [None] * len(tokens)
