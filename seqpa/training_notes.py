"""What a user should know before a training begins, and would not notice: one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seqpa.config import Config
from seqpa.config.build import features_of
from seqpa.data import Corpus
from seqpa.sequence.attributes import KINDS
from seqpa.sequence.presets import preset
from seqpa.sequence.templates import parse
from seqpa.sequence.training import only_elsewhere

# What looks at a file of words, by the key that names it.
_TEMPLATE = {"lexicons": 'lexicon("{}")[0]', "clusters": 'cluster("{}", 4)[0]'}


def notes_on(config: Config, columns: Sequence[str]) -> list[str]:
    """Lexicons and clusters that no template looks at, whether their files are there or not; and
    threads that have nothing to do.

    Parameters
    ----------
    config : Config
        The configuration.
    columns : sequence of str
        The columns of the data.

    Returns
    -------
    list of str

    Examples
    --------
    >>> features = {"templates": ["word[0]"], "lexicons": {"cities": "no-such-file"}}
    >>> config = Config.model_validate({"data": {"train": "a"}, "features": features})
    >>> notes_on(config, ["word"])
    ['features.lexicons.cities: no template names it, and there is no file no-such-file']
    """
    features = features_of(config, columns)
    templates = features
    if isinstance(features, str):
        names = ("pos", "ner") if features == "auto" else (features,)
        templates = [text for name in names for text in preset(name, columns)]
    used = {
        str(part.attribute.arguments[0])
        for text in templates
        for part in parse(text, columns).parts
        if part.attribute.kind and KINDS[part.attribute.kind].resource
    }
    told = []
    for kind in ("lexicons", "clusters"):
        for name in getattr(config.features, kind):
            if name not in used:
                path = config.path("features", kind, name)
                missing = "" if path.exists() else f", and there is no file {path}"
                remedy = f"""; add '{_TEMPLATE[kind].format(name)}' to features.templates"""
                told.append(f"features.{kind}.{name}: no template names it{missing or remedy}")
    learner = config.learner
    if learner.n_jobs > 1 and learner.lookahead == 1:
        told.append(
            f"learner.n_jobs is {learner.n_jobs}, but with lookahead: 1 each sentence waits for "
            f"the one before it: threads help encode a large text, and tag; "
            f"lookahead: auto trains on them"
        )
    return told


def notes_on_test(labels: Iterable[str | None] | None, test: Corpus | None) -> list[str]:
    """Labels of the test set that training never saw; those of the dev set are warned of by it.

    Parameters
    ----------
    labels : iterable of str or None
        Those of the training text, also more than once; None if it has none.
    test : Corpus or None
        With labels.

    Returns
    -------
    list of str

    Examples
    --------
    >>> notes_on_test(["P", "V"], Corpus.from_sentences([["so"]], [["A"]]))
    ['1 label of the test set is not in the training data and is never predicted: A (1 token)']
    """
    if test is None or labels is None or test.labels is None:
        return []
    known = [label for label in set(labels) if label is not None]
    told = only_elsewhere(
        known, [[label for label in test.labels if label is not None]], "test set"
    )
    return [] if told is None else [told]
