"""What a tagger learned: the strongest features of each label, transitions, size by template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from seqpa.sequence.trained import Trained

STRONGEST = 12


def learned(trained: Trained, strongest: int = STRONGEST) -> dict[str, Any]:
    """The weights of a tagger in short.

    Parameters
    ----------
    trained : Trained
        As `SequenceTagger.trained_` has it; of two stages, the second.
    strongest : int
        So many features for, and so many against each label.

    Returns
    -------
    dict
        ``labels``: for each label ``for`` and ``against`` it, lists of feature and weight;
        ``transitions``: labels and a matrix of weights; ``templates``: how many features and
        weights each has, and the sum of their absolute values; ``features`` and ``weights`` in all.

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> tagger = SequenceTagger(["word[0]"], random_state=1).fit([["so", "it"]], [["A", "P"]])
    >>> found = learned(tagger.trained_)
    >>> found["labels"]["P"]["for"][0][0], found["templates"][0]["template"]
    ('word[0]=it', 'word[0]')
    """
    labels, weights, encoder = trained.labels, trained.weights, trained.source.encoder
    rows = [
        (int(feature), label, weight)
        for feature in np.flatnonzero(weights.nonzero())
        for label, weight in weights.feature_weights(int(feature)).items()
    ]
    features = np.array([row[0] for row in rows], np.int64)
    owners = np.array([row[1] for row in rows], np.int64)
    values = np.array([row[2] for row in rows], np.float64)
    matrix = np.asarray(weights.transitions, np.float64)
    K = len(labels)
    return {
        "features": len(set(features.tolist())),
        "weights": len(rows),
        "labels": {
            label: _strongest(encoder, features, owners == k, values, strongest)
            for k, label in enumerate(labels)
        },
        "transitions": {
            "labels": list(labels),
            "weights": [[round(float(w), 5) for w in row[:K]] for row in matrix[:K]],
        },
        "templates": _by_template(encoder, features, values),
    }


def _strongest(encoder: Any, features: Any, own: Any, values: Any, most: int) -> dict[str, Any]:
    """The features with the largest weights, and those with the smallest, for one label."""
    place = np.flatnonzero(own)
    place = place[np.lexsort((features[place], -values[place]))]
    largest = [i for i in place[:most].tolist() if values[i] > 0]
    smallest = [i for i in place[::-1][:most].tolist() if values[i] < 0]
    return {
        name: [[encoder.feature_name(int(features[i])), float(values[i])] for i in chosen]
        for name, chosen in (("for", largest), ("against", smallest))
    }


def _by_template(encoder: Any, features: Any, values: Any) -> list[dict[str, Any]]:
    """How large each template is; nothing where tokens already are features."""
    if not hasattr(encoder, "templates"):
        return []
    table = encoder.features
    which = table.described()[0][features]
    rows = []
    for number, template in enumerate(table.templates):
        own = which == number
        rows.append(
            {
                "template": str(template),
                "features": len(set(features[own].tolist())),
                "weights": int(own.sum()),
                "sum": float(np.abs(values[own]).sum()),
            }
        )
    return rows
