"""From a CRFsuite model to one that reads words: by templates that say what its attributes say.

CRFsuite knows attributes, strings that a script made of words. A file of names tells which template
makes which attributes, a line for each, in two columns apart by a tab:

    lower[0]            word.lower():{}       {} is the value
    word[-1]|word[0]    w[-1]|w[0]={}|{}      of each part
    isupper[0]          word.isupper()        a flag has none
    word[-1]=<-1>       BOS                   one value alone: here, that there is no word before

Values are known from the text that the model was trained on, which is read once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.files import read_text
from seqpa.pycrfsuite.crfsuite_file import CrfsuiteModel, over_source
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.templates import Template, parse
from seqpa.sequence.trained import Trained


@dataclass(frozen=True)
class Names:
    """What a file of names tells.

    Parameters
    ----------
    templates : list of str
        Each once.
    forms : mapping
        Template -> the attribute that it makes, with {} for values.
    single : mapping
        Feature with its value -> attribute.
    """

    templates: list[str]
    forms: Mapping[str, str]
    single: Mapping[str, str]


def read_names(path: str | Path, columns: Sequence[str]) -> Names:
    """Read a file of names.

    Parameters
    ----------
    path : str or Path
        The file.
    columns : sequence of str
        The columns that templates may name.

    Returns
    -------
    Names
        What it tells.
    """
    templates: dict[str, Template] = {}
    forms: dict[str, str] = {}
    single: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        left, tab, attribute = line.partition("\t")
        attribute = attribute.strip("\t")
        if not tab or not attribute:
            raise SeqpaError(
                f"{path}:{number}: give a template, a tab and an attribute, as in "
                "'lower[0]<tab>word.lower():{}'"
            )
        text, _, value = left.strip().partition("=")
        try:
            template = parse(text, columns)
        except SeqpaError as error:
            raise SeqpaError(f"{path}:{number}: {error}") from None
        if template.pair:
            raise SeqpaError(f"{path}:{number}: CRFsuite has no features of label pairs")
        templates.setdefault(str(template), template)
        if value:
            single[f"{template}={value}"] = attribute
            continue
        places = sum(not part.attribute.is_flag for part in template.parts)
        if attribute.count("{}") != places:
            raise SeqpaError(
                f"{path}:{number}: {template} has {places} values, and {attribute!r} has "
                f"{attribute.count('{}')} times {{}}"
            )
        forms[str(template)] = attribute
    if not templates:
        raise SeqpaError(f"{path}: there is no template in it")
    return Names(list(templates), forms, single)


def with_templates(
    model: CrfsuiteModel, names: Names, corpus: Corpus, columns: Sequence[str]
) -> tuple[Trained, list[str]]:
    """A CRFsuite model that reads words.

    Parameters
    ----------
    model : CrfsuiteModel
        What was read.
    names : Names
        Which template makes which attributes.
    corpus : Corpus
        The text that it was trained on.
    columns : sequence of str
        The columns that templates may name.

    Returns
    -------
    trained : Trained
        Feature source, weights and labels.
    missing : list of str
        Attributes of the model that no template has made of the text.
    """
    encoder = FeatureEncoder(names.templates, columns)
    source = FeatureSource(encoder, None)
    source.learn(corpus, [None] * corpus.n_tokens)
    numbers = {attribute: number for number, attribute in enumerate(model.attributes)}
    made = attributes_of(encoder, names)
    found = np.array([numbers.get(attribute, -1) for attribute in made], np.int64)
    there = set(found[found >= 0].tolist())
    if len(there) < (found >= 0).sum():
        raise SeqpaError("two templates make the same attribute: leave one of them out")
    missing = [name for name, number in numbers.items() if number not in there]
    return over_source(model, source, found), missing


def attributes_of(encoder: FeatureEncoder, names: Names) -> list[str]:
    """The attribute that each feature of an encoder is.

    Parameters
    ----------
    encoder : FeatureEncoder
        With the templates of a file of names.
    names : Names
        What the file tells.

    Returns
    -------
    list of str
        By feature; "" where the file names none.
    """
    templates = {_head(template): template for template in encoder.templates}
    return [
        _attribute(feature, names, list(templates.values())) for feature in encoder.feature_names()
    ]


def _head(template: Template) -> str:
    """How the features of a template are told from those of others: its parts, without values."""
    return "|".join(map(str, template.parts))


def _attribute(feature: str, names: Names, templates: Sequence[Template]) -> str:
    """The attribute that a feature is; "" for none.

    A value may hold what separates parts: it goes up to the last place where the next part begins.
    """
    if feature in names.single:
        return names.single[feature]
    for template in templates:
        values = _values(feature, [str(part) for part in template.parts], template)
        if values is not None and str(template) in names.forms:
            form, pieces = names.forms[str(template)], iter(values)
            return "".join(
                piece if i == 0 else next(pieces) + piece
                for i, piece in enumerate(form.split("{}"))
            )
    return ""


def _values(feature: str, parts: list[str], template: Template) -> list[str] | None:
    """The values of a template's parts in a feature's name, or None if it is another template's."""
    values: list[str] = []
    rest = feature
    for i, (name, part) in enumerate(zip(parts, template.parts, strict=True)):
        begin = name if part.attribute.is_flag else f"{name}="
        if not rest.startswith(begin):
            return None
        rest = rest[len(begin) :]
        after = "" if i + 1 == len(parts) else "|" + parts[i + 1]
        end = len(rest) if not after else rest.rfind(after)
        if end < 0 or (part.attribute.is_flag and end > 0):
            return None
        if not part.attribute.is_flag:
            values.append(rest[:end])
        rest = rest[end + 1 :] if after else rest[end:]
    return values if not rest else None


def parameters_of(columns: Sequence[str], features: Any) -> dict[str, Any]:
    """What a model file tells of how its tagger was made.

    Parameters
    ----------
    columns : sequence of str
        The columns that the tagger reads.
    features : list of str, function or None
        What it sees of a token.

    Returns
    -------
    dict
        Parameters of `SequenceTagger` by name.
    """
    from seqpa.sequence.tagger import SequenceTagger

    return SequenceTagger(features=features, columns=tuple(columns)).get_params()
