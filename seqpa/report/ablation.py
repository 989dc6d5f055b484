"""What each group of templates is worth: the tagger is trained again without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from seqpa.config import Config
from seqpa.config.build import columns_of, read_part
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.evaluate import compare
from seqpa.report.tagged import Tagged, tag
from seqpa.sequence.templates import Template, parse_all
from seqpa.training_run import tagger_of

# Attributes that tell nearly the same are one group.
_SAME = {"shortshape": "shape", "besttag": "tags"}
_FLAGS = "flags"


def group_of(template: Template, word: str) -> str:
    """The group of a template: the attributes that it looks at.

    Parameters
    ----------
    template : Template
    word : str
        The name of the first column.

    Returns
    -------
    str
        Conjunctions are groups of their own.

    Examples
    --------
    >>> templates = parse_all(["prefix(2)[0]", "isupper[1]", "word[-1]|word[0]", "pair:word[0]"])
    >>> [group_of(template, "word") for template in templates]
    ['prefix', 'flags', 'word|word', 'pair:word']
    """
    names = []
    for part in template.parts:
        attribute = part.attribute
        kind = attribute.kind or attribute.column or word
        names.append(_FLAGS if attribute.is_flag and kind != "bias" else _SAME.get(kind, kind))
    return ("pair:" if template.pair else "") + "|".join(sorted(names))


def template_groups(templates: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """Templates by `group_of`, in the order in which the groups first come.

    Parameters
    ----------
    templates : sequence of str
    columns : sequence of str
        Of the data.

    Returns
    -------
    dict of str to list of str

    Examples
    --------
    >>> template_groups(["word[0]", "shape[0]", "word[1]", "shortshape[0]"], ["word"])
    {'word': ['word[0]', 'word[1]'], 'shape': ['shape[0]', 'shortshape[0]']}
    """
    groups: dict[str, list[str]] = {}
    for template in parse_all(templates, columns):
        groups.setdefault(group_of(template, columns[0]), []).append(str(template))
    return groups


def ablation(
    config: Config,
    templates: Sequence[str],
    corpus: Corpus,
    whole: Tagged,
    rounds: int,
    seed: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Train without each group of templates, and compare with the whole.

    Parameters
    ----------
    config : Config
        The configuration that made the tagger.
    templates : sequence of str
        What the tagger looks at.
    corpus : Corpus
        Where the taggers are compared.
    whole : Tagged
        The predictions of the tagger with all templates.
    rounds, seed : int
        Of the comparisons.
    progress : callable, optional
        Is told the group, how many are done, and of how many.

    Returns
    -------
    list of dict
        ``group``, ``templates``, and of the comparison of whole and rest (in the metric of the
        headline) all numbers; those that are worth most first.
    """
    train = read_part(config, "train")
    dev = None if config.data.dev is None else read_part(config, "dev")
    columns = columns_of(config, train.names)
    groups = template_groups(templates, columns)
    if len(groups) < 2:
        raise SeqpaError("there is only one group of templates: nothing can be left out")
    rows = []
    for number, (name, own) in enumerate(groups.items()):
        if progress is not None:
            progress(name, number, len(groups))
        rest = [text for other, texts in groups.items() if other != name for text in texts]
        tagger = tagger_of(config, train.names).set_params(features=rest, calibration="none")
        tagger.fit(train, dev=dev)
        found = tag(tagger, corpus, probabilities=False)
        told = compare(
            whole.gold,
            whole.predicted,
            found.predicted,
            np.random.default_rng(seed),
            "span-f1" if whole.of_spans else "accuracy",
            rounds=rounds,
        )
        rows.append({"group": name, "templates": own, **asdict(told)})
    return sorted(rows, key=lambda row: (-row["difference"], row["group"]))
