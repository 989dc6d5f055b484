"""JSON lines as others write them: tokens under ``tokens`` or ``words``, labels under ``ner_tags``.

Labels may be numbers, as Hugging Face's datasets have them. What they mean is said by ``names``: in
the sentence's own object, in an object before all sentences (``{"names": ["O", "B-PER", ...]}``),
or in the file ``dataset_info.json`` beside the data. Each line becomes an object that
`seqpa.data.jsonl` reads; a tagged copy keeps its other keys.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqpa.data.columns import Columns
from seqpa.data.corpus import Corpus
from seqpa.data.jsonl import JsonReader
from seqpa.data.names import LABELS, WORDS, label_texts
from seqpa.data.source import Block, Limits, after_last_line
from seqpa.errors import SeqpaError, SeqpaWarning

_READY = re.compile(r'"labels"\s*:\s*\[\s*(?:"|\])')
_NAMES = ("names", "label_names", "label_list")
_INFO = "dataset_info.json"


class TagsReader:
    """Reads the blocks of one file, whatever its keys are called.

    Parameters
    ----------
    columns : Columns
        What the cells of a token are.
    label : str or None
        The labels' key; found by its name if None.
    labels : bool
        Whether the labels are read.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs.
    limits : Limits, optional
        How long a sentence may be.
    gaps : bool
        Whether labels may be missing: they are None.

    Examples
    --------
    >>> lines = '{"names": ["O", "B-PER"]}\\n{"tokens": ["Ada", "won"], "ner_tags": [1, 0]}\\n'
    >>> reader = TagsReader(Columns(("word", "label"), "label"))
    >>> reader.parse(Block("a.jsonl", 1, lines), {}).y
    [['B-PER', 'O']]
    """

    cut = staticmethod(after_last_line)

    def __init__(
        self,
        columns: Columns,
        label: str | None = None,
        labels: bool = True,
        keep_layout: bool = False,
        limits: Limits | None = None,
        gaps: bool = False,
    ) -> None:
        self._reader = JsonReader(columns, labels, keep_layout, limits, gaps)
        self._gaps = gaps
        self._label = None if label == "label" else label
        self._labels = labels
        self._names: list[str] | None = None
        self._looked = False

    @classmethod
    def planned(
        cls,
        columns: Sequence[str] | None,
        label: str | None,
        labels: bool = True,
        keep_layout: bool = False,
        limits: Limits | None = None,
        gaps: bool = False,
    ) -> TagsReader:
        """A reader for columns and a label as a configuration names them.

        Parameters
        ----------
        columns : sequence of str or None
            The cells of a token; the word and its label if None.
        label : str or None
            One of the cells, or else a key of the sentence.
        labels, keep_layout, gaps : bool
            As for the class.
        limits : Limits, optional
            As for the class.

        Returns
        -------
        TagsReader
        """
        names = ("word", "label") if columns is None else columns
        if label is None or Columns.checked(names, label, False).label is not None:
            plan = Columns.checked(names, label or "label", labels)
            return cls(plan, None, labels, keep_layout, limits, gaps)
        cells = [name for name in names if name != "label"]
        plan = Columns.checked([*cells, label], label, labels)
        return cls(plan, label, labels, keep_layout, limits, gaps)

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        lines = block.lines
        changed = False
        for index, line in enumerate(lines):
            if self._label is None and '"tokens"' in line and _READY.search(line):
                continue
            try:
                known = self._line(line, block.source)
            except SeqpaError as error:
                raise block.error(index, str(error)) from None
            changed |= known != line
            lines[index] = known
        if changed:
            block = replace(block, text="".join(f"{line}\n" for line in lines))
        return self._reader.parse(block, pool)

    def _line(self, line: str, source: str) -> str:
        try:
            sentence = json.loads(line)
        except (ValueError, RecursionError):
            return line  # the reader of JSON lines says what is wrong
        if not isinstance(sentence, dict):
            return line
        names = _listed_names(sentence)
        tokens = next((key for key in WORDS if isinstance(sentence.get(key), list)), None)
        if tokens is None:
            if names is None:
                return line
            self._names = names
            return ""
        if not self._labels:
            return line if tokens == "tokens" else json.dumps({"tokens": sentence[tokens]})
        key = self._key(sentence)
        if key is None and tokens == "tokens":
            return line
        found = dict(sentence, tokens=sentence[tokens])
        if key is not None:
            values = sentence[key]
            if not isinstance(values, list):
                raise SeqpaError(f"{key!r} is no list of labels: {values!r}")
            known = [value for value in values if value is not None or not self._gaps]
            texts = iter(label_texts(known, self._names_for(known, names, key, source)))
            gaps = self._gaps
            found["labels"] = [None if x is None and gaps else next(texts) for x in values]
        return json.dumps(found, ensure_ascii=False)

    def _key(self, sentence: dict[str, Any]) -> str | None:
        if self._label is not None:
            if self._label not in sentence and self._gaps:
                return None
            if self._label not in sentence:
                listed = ", ".join(map(repr, sentence))
                raise SeqpaError(f"there is no {self._label!r} (label), only {listed}")
            return self._label
        found = next((key for key in ("labels", *LABELS) if key in sentence), None)
        return None if found and sentence[found] is None and self._gaps else found

    def _names_for(
        self, values: list[Any], own: list[str] | None, key: str, source: str
    ) -> Sequence[str] | None:
        if own is not None or not any(type(value) is int for value in values):
            return own
        if self._names is None and not self._looked:
            self._looked = True
            self._names = names_beside(source, key)
            if self._names is None:
                warnings.warn(
                    f"{source}: the labels under {key!r} are numbers without names; give them in "
                    f'a first line {{"names": ["O", ...]}} or in {_INFO}',
                    SeqpaWarning,
                    stacklevel=2,
                )
        return self._names


def names_beside(source: str, key: str) -> list[str] | None:
    """The names of numbered labels in Hugging Face's ``dataset_info.json`` beside a file.

    Parameters
    ----------
    source : str
        The data file.
    key : str
        The labels' key.

    Returns
    -------
    list of str or None
    """
    try:
        info = json.loads((Path(source).parent / _INFO).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    features = info.get("features") if isinstance(info, dict) else None
    return names_in(features.get(key)) if isinstance(features, dict) else None


def names_in(feature: Any) -> list[str] | None:
    """The names of a ClassLabel, however deep in a feature's description it is.

    Parameters
    ----------
    feature : object
        Of nested dictionaries and lists.

    Returns
    -------
    list of str or None

    Examples
    --------
    >>> names_in({"_type": "Sequence", "feature": {"_type": "ClassLabel", "names": ["O", "X"]}})
    ['O', 'X']
    """
    if isinstance(feature, dict):
        found = _listed_names(feature)
        if found is not None:
            return found
        feature = list(feature.values())
    if isinstance(feature, list):
        return next((found for part in feature if (found := names_in(part)) is not None), None)
    return None


def _listed_names(mapping: dict[str, Any]) -> list[str] | None:
    for key in _NAMES:
        names = mapping.get(key)
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            return names
    return None
