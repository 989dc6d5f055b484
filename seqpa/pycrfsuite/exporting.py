"""From a model of seqpa to one of CRFsuite: the same tags, and the same probabilities.

    P(y | x) = exp(scale · w·Φ(x, y)) / Z

CRFsuite has no scale, so its weights are scale · w. What our constraints forbid to follow has a
large negative transition. It has no word for the ends of a sentence: what may not begin or end one
is said by two attributes, which the first and the last item must have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqpa.errors import SeqpaError
from seqpa.pycrfsuite.crfsuite_file import FEATURE, STATE, CrfsuiteModel
from seqpa.pycrfsuite.importing import Names, attributes_of
from seqpa.sequence.attributes import kind_of
from seqpa.sequence.checks import LARGEST_WEIGHT
from seqpa.sequence.constraints import penalties
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.templates import Template
from seqpa.sequence.trained import Trained

FIRST, LAST = "seqpa:first", "seqpa:last"
_FORBIDDEN = -LARGEST_WEIGHT  # the largest weight that can be read again


@dataclass(frozen=True)
class Exported:
    """A model of CRFsuite, and what its items must have.

    Parameters
    ----------
    model : CrfsuiteModel
        As `seqpa.pycrfsuite.crfsuite_writer.to_bytes` writes it.
    ends : list of str
        Which of the attributes `FIRST` and `LAST` the model has.
    known : list of str
        Templates whose values come from what the model has learned or was given: labels of words
        in training, lexicons, clusters, predicted columns.
    """

    model: CrfsuiteModel
    ends: list[str]
    known: list[str]


def to_crfsuite(trained: Trained, names: Names | None = None) -> Exported:
    """What was trained here, as a model of CRFsuite.

    Parameters
    ----------
    trained : Trained
        As `SequenceTagger.trained_` has it.
    names : Names or None, default None
        Which template makes which attributes; None for attributes that are called as our features.

    Returns
    -------
    Exported
        The model, and what its items must have.

    Raises
    ------
    SeqpaError
        If no attribute of a token can say what the model sees.

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> tagger = SequenceTagger(["word[0]"], constraints={"forbidden": [["D", "D"]]})
    >>> exported = to_crfsuite(tagger.fit([["the", "dog"]], [["D", "N"]]).trained_)
    >>> exported.model.attributes, exported.model.transitions[0].tolist()[0] < -1e15
    (['word[0]=the', 'word[0]=dog'], True)
    """
    _check(trained)
    source, weights, labels = trained.source, trained.weights, trained.labels
    encoder = source.encoder
    known: list[str] = []
    if isinstance(encoder, FeatureEncoder):
        predicted = frozenset() if source.chain is None else source.chain.names
        known = [str(t) for t in encoder.templates if _is_known(t, predicted)]
    elif names is not None:
        raise SeqpaError("the model takes tokens that are features: it has no templates to name")
    kept = np.flatnonzero(weights.nonzero()).tolist()
    attributes = _attributes(trained, kept, names)
    scale = 1.0 if trained.scale is None else trained.scale
    states = [
        (number, label, scale * weight)
        for number, feature in enumerate(kept)
        for label, weight in weights.feature_weights(feature).items()
    ]
    rules = penalties(trained.constraints, labels)
    transitions = scale * weights.transitions.astype(np.float64)
    transitions[rules.pairs != 0] = _FORBIDDEN
    ends = []
    for name, forbidden in ((FIRST, rules.first), (LAST, rules.last)):
        if forbidden.any():
            states += [(len(attributes), int(k), _FORBIDDEN) for k in np.flatnonzero(forbidden)]
            attributes.append(name)
            ends.append(name)
    repeated = [name for name, count in Counter(attributes).items() if count > 1]
    if repeated:
        raise SeqpaError(
            f"{repeated[0]!r} would be the name of two attributes: with --templates give each "
            "template a name of its own"
        )
    found = np.zeros(len(states), FEATURE)
    found["kind"] = STATE
    for column, name in enumerate(("source", "target", "weight")):
        found[name] = [state[column] for state in states]
    return Exported(CrfsuiteModel({}, list(labels), attributes, found, transitions), ends, known)


def _attributes(trained: Trained, kept: Sequence[int], names: Names | None) -> list[str]:
    """The names of the features that have weights."""
    encoder = trained.source.encoder
    own = encoder.feature_names()
    if names is None or not isinstance(encoder, FeatureEncoder):
        return [own[feature] for feature in kept]
    made = attributes_of(encoder, names)
    for feature in kept:
        if not made[feature]:
            raise SeqpaError(
                f"the file of --templates has no name for {own[feature]!r}: give a line for each "
                "template of the model"
            )
    return [made[feature] for feature in kept]


def _is_known(template: Template, predicted: frozenset[str]) -> bool:
    for part in template.parts:
        attribute = part.attribute
        kind = None if attribute.kind is None else kind_of(attribute.kind)
        if kind is not None and (kind.resource is not None or kind.learned is not None):
            return True
        if attribute.column in predicted:
            return True
    return False


def _check(trained: Trained) -> None:
    """Raise a SeqpaError where attributes of single tokens cannot say what the model sees."""
    source, weights = trained.source, trained.weights
    if source.first is not None:
        raise SeqpaError(
            "a model of two stages cannot be exported: its second stage sees the labels of its "
            "first one; train with stages=1"
        )
    if weights.pair_rows is not None and weights.pair_rows[:, 1].any():
        raise SeqpaError(
            "features of label pairs cannot be exported: CRFsuite has none; train without the "
            "templates that begin with 'pair:'"
        )
    if isinstance(source.encoder, FeatureEncoder):
        for template in source.encoder.templates:
            if any(part.attribute.is_set for part in template.parts):
                raise SeqpaError(
                    f"{template} cannot be exported: it looks at the whole document, which "
                    "CRFsuite does not see; train without it"
                )
