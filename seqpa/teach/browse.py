"""`Browser`: all sentences by search and filter, and where their labels differ from the model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from seqpa.data.teach_project import label_column
from seqpa.errors import SeqpaError
from seqpa.teach.events import State, names
from seqpa.teach.learning import Learned
from seqpa.teach.store import Sentence

FILTERS = (
    "all", "labelled", "open", "skipped", "flagged", "unfinished", "part", "disagree",
    "again",
)  # fmt: skip
_PIECE = 64  # sentences for which the model is asked together, so that others come between

Row = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """Rows that were asked for, before the model has been asked.

    Attributes
    ----------
    rows : list of dict
    offset, limit : int
        Which of them are shown.
    disagreeing : bool
        Only those where the model has other labels, surest first.
    """

    rows: list[Row] = field(default_factory=list)
    offset: int = 0
    limit: int = 50
    disagreeing: bool = False


class Browser:
    """Looks sentences up.

    Parameters
    ----------
    kind : "spans" or "tokens"
    sentences : sequence of Sentence
    learned : Learned
        The model.
    cells : function of Sentence
        The further cells of tokens that the model looks at.
    """

    def __init__(
        self,
        kind: str,
        sentences: Sequence[Sentence],
        learned: Learned,
        cells: Callable[[Sentence], Any],
    ) -> None:
        self._kind = kind
        self._sentences = sentences
        self._learned = learned
        self._cells = cells

    def select(
        self,
        state: State,
        again: Set[int],
        search: str = "",
        filter: str = "all",
        label: str = "",
        user: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> Selection:
        """The sentences that fit; nobody may change the state meanwhile.

        Parameters
        ----------
        state : State
        again : set of int
            Those that are offered again.
        search : str
            What their text has, in small or large letters.
        filter : one of `FILTERS`
        label : str
            A label that they have.
        user : str
            Whose labels count for them.
        offset, limit : int

        Returns
        -------
        Selection
        """
        if filter not in FILTERS:
            raise SeqpaError(f"filter is {filter!r}: choose one of {', '.join(FILTERS)}")
        wanted = search.casefold()
        rows = []
        for one in self._among(state, again, filter):
            row = _row(state, one)
            if filter in ("open", "skipped", "unfinished", "part") and row["state"] != filter:
                continue
            if wanted and wanted not in one.text.casefold():
                continue
            if label and (row["annotation"] is None or label not in names(row["annotation"])):
                continue
            if user and row["user"] != user:
                continue
            rows.append(row)
        return Selection(rows, offset, limit, filter == "disagree")

    def _among(self, state: State, again: Set[int], filter: str) -> list[Sentence]:
        if filter in ("labelled", "disagree"):
            return [self._sentences[i] for i in sorted(state.labellings)]
        if filter == "again":
            return [self._sentences[i] for i in sorted(again)]
        if filter == "flagged":
            return [self._sentences[i] for i in sorted(state.flags)]
        return list(self._sentences)

    def rows(self, selection: Selection) -> dict[str, Any]:
        """The rows that are shown, with what the model says of them now.

        Parameters
        ----------
        selection : Selection

        Returns
        -------
        dict
        """
        found = selection.rows
        if selection.disagreeing:
            self._ask(found)
            found = [row for row in found if row["model"] != row["annotation"]]
            self._doubt(found)
            found.sort(key=lambda row: -row["doubt"])
        shown = found[selection.offset : selection.offset + selection.limit]
        if not selection.disagreeing:
            self._ask(shown)
            self._doubt(shown)
        return {"total": len(found), "rows": shown}

    def _ask(self, rows: Sequence[Row]) -> None:
        """Fill in the model's labels."""
        for start in range(0, len(rows), _PIECE):
            piece = rows[start : start + _PIECE]
            sentences = [self._sentences[row["sentence"]] for row in piece]
            with self._learned.lock:
                found = self._learned.model.predict(
                    [one.tokens for one in sentences], [self._cells(one) for one in sentences]
                )
            for row, annotation in zip(piece, found, strict=True):
                row["model"] = annotation

    def _doubt(self, rows: Sequence[Row]) -> None:
        """Fill in how sure the model is where it has other labels than the sentence."""
        for row in rows:
            if row["annotation"] is None or row["annotation"] == row["model"]:
                continue
            sentence = self._sentences[row["sentence"]]
            with self._learned.lock:
                proposal = self._learned.model.propose(
                    sentence.tokens, columns=self._cells(sentence)
                )
            n = len(sentence.tokens)
            given = label_column(n, self._kind, row["annotation"]) or []
            own = label_column(n, self._kind, proposal.annotation) or []
            sure = [
                p for p, a, b in zip(proposal.sure, given, own, strict=True) if a != b is not None
            ]
            row["doubt"] = max(sure, default=0.0)


def _row(state: State, sentence: Sentence) -> Row:
    event = state.latest(sentence.id)
    left = state.partial.get(sentence.id)
    if event is not None:
        told = "labelled"
    elif sentence.id in state.skipped:
        told = "skipped"
    elif state.is_part(sentence.id):
        told = "part"
    elif left is not None and left.body["confirmed"]:
        told = "unfinished"
    else:
        told = "open"
    return {
        "sentence": sentence.id,
        "document": sentence.document,
        "text": sentence.text,
        "tokens": sentence.tokens,
        "offsets": sentence.offsets,
        "annotation": None if event is None else event.annotation,
        "model": None,
        "doubt": None,
        "flag": state.flags.get(sentence.id),
        "user": None if event is None else state.reader(event),
        "time": None if event is None else event.time,
        "state": told,
    }
