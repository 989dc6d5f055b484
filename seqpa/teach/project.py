"""A project file as it was made: its kind, sentences, first labels and base; and how it is made."""

from __future__ import annotations

import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from seqpa import __version__
from seqpa.errors import SeqpaError
from seqpa.model import read_model
from seqpa.opening import open_model
from seqpa.schemes import OUTSIDE
from seqpa.sequence.select import check_strategy
from seqpa.sequence.tagger import SequenceTagger
from seqpa.teach.files import read_sentences
from seqpa.teach.labels import LabelSet
from seqpa.teach.model import KINDS, TaughtModel
from seqpa.teach.queue import STRATEGY
from seqpa.teach.store import Event, Sentence, Store
from seqpa.teach.team import SHARE

GIVEN = ("auto", "labelled", "proposed", "ignored")
FILE = "file"  # who labelled what the files had labels for
_BASE = "base"
_MOST_TOKENS = 10_000  # in a sentence; the page shows all of it at once
_LOOKED_AT = 200  # sentences, to see in which direction they are written

Cells = Callable[[Sentence], Any]


class Project:
    """What is fixed in a project file.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        meta = store.meta()
        self.kind: str = meta["kind"]
        self.labels: list[str] = meta["labels"]
        self.names: list[str] = meta.get("names", [])
        self.label: str = meta.get("label") or "upos"
        self.seed: int = meta.get("seed", 0)
        self.strategy: str = meta.get("strategy", STRATEGY)
        self.share: float = meta.get("share", SHARE)
        self.proposes_given: bool = meta.get("given") == "proposed"
        self._needs: list[str] = meta.get("inputs", ["word"])[1:]
        self._at = [self.names.index(name) for name in self._needs]
        self.sentences = store.sentences()

    def make_model(self) -> TaughtModel:
        """The model that has had no lesson.

        Returns
        -------
        TaughtModel
        """
        found = self._store.kept(_BASE)
        base = None if found is None else _tagger(found[2])
        return TaughtModel(self.kind, self.labels, base, self.seed)

    def cells(self, sentence: Sentence) -> list[list[str]] | None:
        """The further cells of a sentence's tokens that the model looks at.

        Parameters
        ----------
        sentence : Sentence

        Returns
        -------
        list or None
            None where it looks at words alone.
        """
        if not self._at:
            return None
        return [[row[i] for i in self._at] for row in sentence.columns]

    @property
    def direction(self) -> str:
        """ "rtl" where most letters are of a script that is written from right to left."""
        found = [
            unicodedata.bidirectional(sign)
            for one in self.sentences[:_LOOKED_AT]
            for sign in one.text
        ]
        right = sum(name in ("R", "AL") for name in found)
        return "rtl" if right > found.count("L") else "ltr"


def create(
    path: str | Path,
    files: Sequence[str | Path],
    *,
    labels: Sequence[str] = (),
    kind: str | None = None,
    model: str | Path | None = None,
    given: str = "auto",
    seed: int = 0,
    strategy: str = STRATEGY,
    share: float = SHARE,
    now: float | None = None,
    on_read: Callable[[int], None] = lambda sentences: None,
    **reading: Any,
) -> Store:
    """Make a project file out of texts or labelled files.

    Parameters
    ----------
    path : str or Path
        The project file; it must not be there.
    files : sequence of str or Path
    labels : sequence of str
        The labels to begin with, beside those that the files and the model have.
    kind : "spans" or "tokens", optional
        As the labels of the files or the model say if not given; else spans.
    model : str or Path, optional
        A model file to go on from.
    given : str
        What becomes of labels in the files: "labelled", they count as if accepted; "proposed", they
        are shown in place of the model's until somebody has gone over them; "ignored". "auto" is
        "labelled" where some sentences have none yet, and "proposed" where all have.
    seed, strategy, share
        Of the project.
    now : float, optional
        The time of what is labelled already.
    on_read : function of int
        Told how many sentences were read, before they are written.
    **reading : object
        As `read_sentences` has them: format, columns, label, encoding, language, unlabelled.

    Returns
    -------
    Store
        Open.
    """
    if given not in GIVEN:
        raise SeqpaError(f"given is {given!r}: choose one of {', '.join(GIVEN)}")
    if kind is not None and kind not in KINDS:
        raise SeqpaError(f"kind is {kind!r}: choose {' or '.join(KINDS)}")
    check_strategy(strategy)
    data = None if model is None else _bytes(Path(model))
    tagger = None if data is None else _tagger(data, Path(str(model)))
    if tagger is not None and kind is None:
        kind = "spans" if _types(tagger) is not None else "tokens"
    found = read_sentences(files, kind=kind, **reading)
    _check_lengths(found.sentences)
    on_read(len(found.sentences))
    kind = found.kind
    own = list(labels)
    if kind == "spans":
        _check_types(own)
    inputs = ["word"]
    if tagger is not None:
        inputs = _checked_base(tagger, kind, found.names, str(model))
        own += _types(tagger) or [] if kind == "spans" else list(tagger.classes_)
    if given != "ignored":
        own += found.labels
    own = list(dict.fromkeys(own))
    if not own:
        raise SeqpaError("there are no labels yet: say which, for example --labels PER,ORG,LOC")
    LabelSet(own)  # names that cannot be are told before anything is made
    parts = found.parts
    with_labels = sum(one.given is not None and one.id not in parts for one in found.sentences)
    if given == "auto":
        given = "labelled" if with_labels < len(found.sentences) else "proposed"
    meta = {
        "kind": kind,
        "labels": own,
        "names": found.names,
        "label": reading.get("label"),
        "seed": seed,
        "strategy": strategy,
        "share": share,
        "given": given,
        "inputs": inputs,
        "version": __version__,
    }
    blobs = {} if data is None else {_BASE: data}
    time_of = time.time() if now is None else now
    events = []
    if given == "labelled":
        events = [
            Event("accept", FILE, time_of, {"why": "given"}, one.id, one.given)
            for one in found.sentences
            if one.given is not None and one.tokens and one.id not in parts
        ]
        events += [
            Event("partial", FILE, time_of, {"confirmed": pieces}, number)
            for number, pieces in parts.items()
            if pieces
        ]
    return Store.create(path, meta, found.sentences, blobs, events)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SeqpaError(f"{path}: cannot be read: {error.strerror}") from None


def _tagger(data: bytes, path: Path | None = None) -> SequenceTagger:
    if path is not None:
        return open_model(read_model(path), allow_imports=False)
    with tempfile.TemporaryDirectory(prefix="seqpa-") as folder:
        own = Path(folder) / "base.safetensors"
        own.write_bytes(data)
        return open_model(read_model(own), allow_imports=False)


def _check_lengths(sentences: Sequence[Sentence]) -> None:
    """Raise if one is too long to be labelled: most likely there is nothing between sentences."""
    for one in sentences:
        if len(one.tokens) > _MOST_TOKENS:
            raise SeqpaError(
                f"{one.document}: sentence {one.position + 1} has {len(one.tokens):,} tokens, and "
                f"{_MOST_TOKENS:,} are the most that can be labelled at once: put an empty line "
                "between sentences"
            )


def _check_types(names: Sequence[str]) -> None:
    """Raise if labels are not what spans are called, but what marks them word by word."""
    begun = {name[2:] for name in names if name.startswith("B-")}
    if OUTSIDE in names or any(f"I-{name}" in names for name in begun):
        raise SeqpaError(
            "--labels: say what spans are called, such as PER,LOC; B-, I- and O come by themselves"
        )


def _types(tagger: SequenceTagger) -> list[str] | None:
    """The types of spans that a tagger's labels mark; None where they mark none."""
    labels = [str(label) for label in tagger.classes_]
    if OUTSIDE not in labels or any(x != OUTSIDE and x[:2] not in ("B-", "I-") for x in labels):
        return None
    return list(dict.fromkeys(label[2:] for label in labels if label != OUTSIDE))


def _checked_base(tagger: SequenceTagger, kind: str, names: Sequence[str], path: str) -> list[str]:
    """The columns that a model needs, of one that can be gone on from."""
    if kind == "spans" and _types(tagger) is None:
        raise SeqpaError(
            f"{path}: cannot be gone on from: spans need labels of the form B-x, I-x and O (iob2)"
        )
    needs = list(tagger.input_columns)
    for name in needs[1:]:
        if name not in names:
            have = ", ".join(["word", *names])
            raise SeqpaError(f"{path}: needs the column {name}; the files have {have}")
    return needs
