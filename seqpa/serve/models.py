"""The models of a service, by name; a new file takes the place of an old one while it answers.

A model is read from a private copy of its file: what is mapped into memory stays as it is, even if
somebody writes over the file instead of replacing it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqpa.colours import colours, kind_of
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.model import read_model
from seqpa.opening import open_model
from seqpa.schemes import marks_spans
from seqpa.serve.problems import Problem, shortened
from seqpa.serve.settings import ModelPath

if TYPE_CHECKING:
    from seqpa.sequence.tagger import SequenceTagger

# What tells two states of a file apart: which file, its size, when it was written.
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that is ready to tag.

    Parameters
    ----------
    name : str
    version : str
        The beginning of its checksum.
    tagger : SequenceTagger
    columns : tuple of str
        What tokens must have.
    marks_spans : bool
        Whether its labels mark spans.
    card : dict
        What `GET /model` tells of it.
    """

    name: str
    version: str
    tagger: SequenceTagger
    columns: tuple[str, ...]
    marks_spans: bool
    card: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A file that was found changed.

    Parameters
    ----------
    model : str
        The name of the model.
    version : str
        The version that answers now.
    refused : str or None
        Why the new file was not taken.
    """

    model: str
    version: str
    refused: str | None


def load(one: ModelPath, allow_imports: bool) -> ServedModel:
    """Read a model, check it, and make it ready.

    Parameters
    ----------
    one : ModelPath
    allow_imports : bool
        Whether the Python functions that it names may be imported.

    Returns
    -------
    ServedModel

    Raises
    ------
    SeqpaError
        If the file is damaged, or no model that tags words.
    """
    with tempfile.TemporaryDirectory(prefix="seqpa-serve-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, one.path.name)
        try:
            shutil.copyfile(one.path, copy)
        except FileNotFoundError:
            raise SeqpaError(f"{one.path}: there is no such file") from None
        except OSError as error:
            raise SeqpaError(f"{one.path}: cannot be read ({error.strerror or error})") from None
        try:
            model = read_model(copy)
            tagger = open_model(model, allow_imports)
            columns = tagger.input_columns
            word: Any = "a" if len(columns) == 1 else ("a",) * len(columns)
            tagger.predict([[word]])  # what tagging needs is made now, not for the first request
        except SeqpaError as error:
            raise SeqpaError(str(error).replace(str(copy), str(one.path))) from None
        size = copy.stat().st_size
    labels = tagger.classes_
    version = str(model.header.get("checksum", ""))[:12]
    card = {
        "name": one.name,
        "version": version,
        "file": one.path.name,
        "bytes": size,
        "loaded": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "labels": labels,
        "columns": list(columns),
        "kinds": {label: kind_of(label) for label in labels},
        "spans": marks_spans(labels),
        "reach": tagger.reach_,
        "calibrated": tagger.trained_.scale is not None,
        "colours": {
            kind: {name: value for name, value in chosen._asdict().items() if name != "name"}
            for kind, chosen in colours(labels).items()
        },
    }
    return ServedModel(one.name, version, tagger, columns, marks_spans(labels), card)


class Models:
    """The models of a service.

    Any thread may ask for a model, and keeps the one it got; `look` runs in one thread.

    Parameters
    ----------
    given : sequence of ModelPath
        The first is the default.
    allow_imports : bool
        As for `load`.
    """

    def __init__(self, given: Sequence[ModelPath], allow_imports: bool = False) -> None:
        self._given = {one.name: one for one in given}
        self._allow_imports = allow_imports
        self._stamps = {name: _stamp(one.path) for name, one in self._given.items()}
        self._settling: dict[str, _Stamp | None] = {}
        self._refused: dict[str, str] = {}
        self._served = {name: load(one, allow_imports) for name, one in self._given.items()}
        self.default = next(iter(self._served))

    def get(self, name: str | None) -> ServedModel:
        """A model by its name, or the default.

        Parameters
        ----------
        name : str or None

        Returns
        -------
        ServedModel

        Raises
        ------
        Problem
            If there is none of this name.
        """
        found = self._served.get(self.default if name is None else name)
        if found is None:
            hint = did_you_mean(name, self._served)
            raise Problem(404, f"there is no model {shortened(repr(name))}{hint}")
        return found

    def cards(self) -> list[dict[str, Any]]:
        """What is known of each model.

        Returns
        -------
        list of dict
        """
        return [
            {**served.card, "refused": self._refused.get(name)}
            for name, served in self._served.items()
        ]

    def look(self) -> list[Change]:
        """Look at the files, and take those that are new; a damaged one is left alone.

        A file counts as changed when it was found in the same state twice: then nobody is writing
        it any more.

        Returns
        -------
        list of Change
        """
        changes = []
        for name, one in self._given.items():
            now = _stamp(one.path)
            if now == self._stamps[name]:
                self._settling.pop(name, None)
                continue
            if name not in self._settling or self._settling[name] != now:
                self._settling[name] = now
                continue
            del self._settling[name]
            self._stamps[name] = now
            if now is None:
                self._refused[name] = f"{one.path.name}: is gone"
            else:
                try:
                    new = load(one, self._allow_imports)
                    # First, so that no answer tells of the new one that it was refused: to give
                    # back the old one takes its time.
                    self._refused.pop(name, None)
                    self._served[name] = new
                except SeqpaError as error:
                    self._refused[name] = str(error).replace(str(one.path), one.path.name)
            changes.append(Change(name, self._served[name].version, self._refused.get(name)))
        return changes


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
