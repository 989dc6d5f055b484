"""`Tagger` with python-crfsuite's methods over what was trained here, or by CRFsuite."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.files import write_atomically
from seqpa.model import read_model
from seqpa.pycrfsuite.crfsuite_file import MAGIC, read_crfsuite, to_trained
from seqpa.pycrfsuite.items import as_items
from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.marginals import Probabilities
from seqpa.sequence.trained import Trained


@dataclass(frozen=True)
class ParsedDump:
    """What is inside a model.

    Parameters
    ----------
    header : dict
        Sizes and the like, as text.
    labels : dict
        Label -> its number, as text.
    attributes : dict
        Attribute -> its number, as text.
    transitions : dict
        (label, next label) -> weight.
    state_features : dict
        (attribute, label) -> weight.
    """

    header: dict[str, str]
    labels: dict[str, str]
    attributes: dict[str, str]
    transitions: dict[tuple[str, str], float]
    state_features: dict[tuple[str, str], float]


class Tagger:
    """Tags sequences with a model of seqpa or of CRFsuite.

    A model is one that `Trainer` wrote, any of seqpa's whose tokens are features, or one of
    CRFsuite itself.

    Examples
    --------
    >>> from seqpa.pycrfsuite import Trainer
    >>> trainer = Trainer("pa", verbose=False)
    >>> trainer.append([["the"], ["dog"]], ["D", "N"])
    >>> trainer.train("")
    >>> tagger = Tagger.over(trainer.trained_)
    >>> tagger.tag([["the"], ["dog"]])
    ['D', 'N']
    """

    def __init__(self) -> None:
        self._trained: Trained | None = None
        self._header: dict[str, str] = {}
        self._items: list[Any] = []
        self._marginals: NDArray[np.float64] | None = None

    @classmethod
    def over(cls, trained: Trained) -> Tagger:
        """A tagger with what was trained, without a file.

        Parameters
        ----------
        trained : Trained
            As `Trainer.trained_` and `SequenceTagger.trained_` have it.

        Returns
        -------
        Tagger
            Open.
        """
        tagger = cls()
        tagger._trained = trained
        return tagger

    # Open and closed

    def open(self, name: str) -> contextlib.closing[Tagger]:
        """Open a model file.

        Parameters
        ----------
        name : str
            The file.

        Returns
        -------
        context manager
            Which closes the model at its end.
        """
        path = Path(name)
        with path.open("rb") as file:  # an OSError, as python-crfsuite has it
            begin = file.read(len(MAGIC))
        if begin == MAGIC:
            return self._open_crfsuite(path.read_bytes(), str(path))
        model = read_model(path)
        _, trained = model.open()
        if trained.source.function is not None or not isinstance(
            trained.source.encoder, DictEncoder
        ):
            raise SeqpaError(
                f"{name}: makes features of words itself: tag with seqpa.SequenceTagger.load"
            )
        self._trained, self._header = trained, {"size": str(path.stat().st_size)}
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Open a model that is in memory.

        Parameters
        ----------
        value : bytes
            The content of a model file.

        Returns
        -------
        context manager
            Which closes the model at its end.
        """
        if value[: len(MAGIC)] == MAGIC:
            return self._open_crfsuite(value, "the model")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "model"
            path.write_bytes(value)
            return self.open(str(path))

    def _open_crfsuite(self, content: bytes, name: str) -> contextlib.closing[Tagger]:
        model = read_crfsuite(content, name)
        self._trained, self._header = to_trained(model), model.header
        return contextlib.closing(self)

    def close(self) -> None:
        """Forget the model."""
        self._trained, self._items, self._marginals = None, [], None

    @property
    def trained(self) -> Trained:
        """What it tags with."""
        return self._opened()

    def _opened(self, kind: type[Exception] = SeqpaError) -> Trained:
        if self._trained is None:
            raise kind("The tagger is not opened: call open")
        return self._trained

    # Tagging

    def labels(self) -> list[str]:
        """The labels of the model.

        Returns
        -------
        list of str
            In the order of their numbers.
        """
        return list(self._opened().labels)

    def set(self, xseq: Any) -> None:
        """Take a sequence, of which `tag`, `probability` and `marginal` then speak.

        Parameters
        ----------
        xseq : ItemSequence or iterable
            The features of its items.
        """
        self._opened()
        self._items, self._marginals = as_items(xseq), None

    def tag(self, xseq: Any = None) -> list[str]:
        """The best labels of a sequence.

        Parameters
        ----------
        xseq : ItemSequence, iterable or None, default None
            The features of its items; None for the sequence that was taken last.

        Returns
        -------
        list of str
            The labels.
        """
        trained = self._opened()
        if xseq is not None:
            self.set(xseq)
        return trained.tagging.predict([self._items])[0]

    def probability(self, yseq: Any) -> float:
        """How probable a label sequence is for the sequence that was taken last.

        Parameters
        ----------
        yseq : iterable of str
            The labels.

        Returns
        -------
        float
            From 0 to 1.
        """
        trained, labels = self._opened(), list(yseq)
        if len(labels) != len(self._items):
            raise SeqpaError(
                f"The numbers of items and labels differ: |x| = {len(self._items)}, "
                f"|y| = {len(labels)}"
            )
        path = np.array([self._number(label) for label in labels], np.int32)
        encoded, decoder = trained.tagging.prepared([self._items])
        return float(np.exp(Probabilities(decoder, self._scale).sequences(encoded, path)[0]))

    def marginal(self, y: str, pos: int) -> float:
        """How probable a label is at one place of the sequence that was taken last.

        Parameters
        ----------
        y : str
            The label.
        pos : int
            The place, from 0 on.

        Returns
        -------
        float
            From 0 to 1.
        """
        self._opened()
        number = self._number(y)
        if not 0 <= pos < len(self._items):
            raise SeqpaError(f"The position, {pos}, is out of range of {len(self._items)}")
        if self._marginals is None:
            self._marginals = self.marginals([self._items])[0]
        return float(self._marginals[pos, number])

    def marginals(self, sequences: list[list[Any]]) -> list[NDArray[np.float64]]:
        """How probable each label is at each place, of many sequences at once.

        Parameters
        ----------
        sequences : list of lists
            Items that are dicts or lists.

        Returns
        -------
        list of arrays of shape (items, labels)
            Labels in the order of `labels`.
        """
        encoded, decoder = self._opened().tagging.prepared(sequences)
        found = Probabilities(decoder, self._scale).tokens(encoded)
        return np.split(found, encoded.starts[1:-1])

    @property
    def _scale(self) -> float:
        """As it was fitted to held-out sequences, or 1: so it is in CRFsuite's own models."""
        scale = self._opened().scale
        return 1.0 if scale is None else scale

    def _number(self, label: str) -> int:
        try:
            return self._opened().labels.index(label)
        except ValueError:
            raise RuntimeError(f"Failed to convert into label identifier: {label}") from None

    # Inside

    def info(self) -> ParsedDump:
        """What is inside the model.

        Returns
        -------
        ParsedDump
            Labels, attributes and weights by name.
        """
        trained = self._opened(RuntimeError)
        labels = trained.labels
        states = {key: float(weight) for key, weight in trained.state_features().items()}
        names = trained.source.encoder.feature_names()
        known = trained.weights.nonzero().tolist()
        attributes = [name for name, there in zip(names, known, strict=True) if there]
        header = {
            "magic": "seqpa",
            "type": "FOMC",
            "num_features": str(len(states)),
            "num_labels": str(len(labels)),
            "num_attrs": str(len(attributes)),
        }
        return ParsedDump(
            header=header | self._header,
            labels={label: str(number) for number, label in enumerate(labels)},
            attributes={name: str(number) for number, name in enumerate(attributes)},
            transitions=trained.transition_features(),
            state_features=states,
        )

    def dump(self, filename: str | None = None) -> None:
        """Write the model as text.

        Parameters
        ----------
        filename : str or None, default None
            The file; None for the standard output.
        """
        text = "".join(self._dumped(self.info()))
        if filename is None:
            sys.stdout.write(text)
        else:
            write_atomically(Path(filename), text.encode())

    @staticmethod
    def _dumped(info: ParsedDump) -> Iterator[str]:
        yield "FILEHEADER = {\n"
        yield from (f"  {name}: {value}\n" for name, value in info.header.items())
        for title, numbers in (("LABELS", info.labels), ("ATTRIBUTES", info.attributes)):
            yield f"}}\n\n{title} = {{\n"
            yield from (f"{number:>7}: {name}\n" for name, number in numbers.items())
        for title, kind, weights in (
            ("TRANSITIONS", 1, info.transitions),
            ("STATE_FEATURES", 0, info.state_features),
        ):
            yield f"}}\n\n{title} = {{\n"
            for (source, target), weight in weights.items():
                yield f"  ({kind}) {source} --> {target}: {weight:f}\n"
        yield "}\n\n"
