"""`Tasks`: a sentence as the page shows it, with what the model proposes for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from seqpa.errors import SeqpaError
from seqpa.teach.events import State, checked
from seqpa.teach.learning import Learned
from seqpa.teach.model import ASKED, UNSURE, Proposal
from seqpa.teach.project import Project
from seqpa.teach.store import Sentence

Task = dict[str, Any]


class NoSuchSentence(SeqpaError):
    """A sentence that the project does not have."""


class Tasks:
    """Makes tasks.

    Parameters
    ----------
    project : Project
    state : State
        What the events have made of it; it is followed.
    learned : Learned
        The model.
    """

    def __init__(self, project: Project, state: State, learned: Learned) -> None:
        self._project = project
        self._state = state
        self._learned = learned

    def sentence(self, number: int) -> Sentence:
        """A sentence by its number, or `NoSuchSentence`.

        Parameters
        ----------
        number : int

        Returns
        -------
        Sentence
        """
        sentences = self._project.sentences
        if not 0 <= number < len(sentences):
            raise NoSuchSentence(
                f"there is no sentence {number}: they are numbered from 0 to {len(sentences) - 1}"
            )
        return sentences[number]

    def proposal(self, sentence: Sentence, confirmed: Iterable[Any] = ()) -> Proposal:
        """What the model says, where some tokens are confirmed.

        Parameters
        ----------
        sentence : Sentence
        confirmed : list of [start, end, label or None]

        Returns
        -------
        Proposal
        """
        pieces = list(confirmed)
        with self._learned.lock:
            model = self._learned.model
            found = model.propose(sentence.tokens, pieces, self._project.cells(sentence))
            if self._project.kind == "spans" or model.knows:
                return found
        # Where every word has a label, one that has learned nothing would say the first of all.
        labels: list[str | None] = [None] * len(sentence.tokens)
        for start, end, name in pieces:
            labels[start:end] = [name] * (end - start)
        return replace(found, annotation={"labels": labels})

    def proposed(self, sentence: Sentence, confirmed: Iterable[Any], whole: bool = True) -> Task:
        """The same as the page takes it, with the tokens to mark. Labels that the file has, if they
        are to be gone over, stay where nothing is confirmed.

        Parameters
        ----------
        sentence : Sentence
        confirmed : list of [start, end, label or None]
        whole : bool
            Whether all tokens are to be confirmed, or those alone that are marked: then more are.

        Returns
        -------
        dict
        """
        pieces = list(confirmed)
        return self._told(sentence, self.proposal(sentence, pieces), pieces, whole)

    def _told(self, sentence: Sentence, found: Proposal, pieces: list[Any], whole: bool) -> Task:
        given = self._given(sentence)
        annotation = found.annotation if given is None else _under(given, pieces)
        knows = self._learned.model.knows
        limit = UNSURE if whole else ASKED
        unsure = [i for i, sure in enumerate(found.sure) if sure < limit] if knows else []
        return {"annotation": annotation, "sure": found.sure, "unsure": unsure}

    def confirmed(self, number: int) -> list[Any]:
        """What is confirmed of a sentence that was left unfinished.

        Parameters
        ----------
        number : int

        Returns
        -------
        list of [start, end, label or None]
        """
        event = self._state.partial.get(number)
        return [] if event is None else event.body["confirmed"]

    def shown(self, annotation: Any, sentence: Sentence) -> dict[str, Any] | None:
        """What the page says that it has shown, unless labels have changed since.

        Parameters
        ----------
        annotation : dict
        sentence : Sentence

        Returns
        -------
        dict or None
        """
        kind, n = self._project.kind, len(sentence.tokens)
        try:
            return checked(annotation, kind, n, self._state.labels, whole=False)
        except SeqpaError:
            return None

    def task(self, number: int, why: str, whole: bool = True) -> Task:
        """A sentence to be labelled.

        Parameters
        ----------
        number : int
        why : str
        whole : bool
            Whether all of it is to be labelled, or the words alone that the model is unsure of.

        Returns
        -------
        dict
        """
        known = self.sentence(number)
        confirmed = self.confirmed(number)
        found = self.proposal(known, confirmed)
        proposed = self._told(known, found, confirmed, whole)
        # A second reader is not told what the first one said.
        latest = None if why == "second" else self._state.latest(number)
        labelled = None
        annotation = proposed["annotation"]
        if latest is not None:
            annotation = latest.annotation
            reader = self._state.reader(latest)
            labelled = {"user": reader, "time": latest.time, "event": latest.id}
        return {
            "sentence": number,
            "document": known.document,
            "position": known.position,
            "text": known.text,
            "tokens": known.tokens,
            "offsets": known.offsets,
            "before": self._neighbour(known, -1),
            "after": self._neighbour(known, 1),
            "annotation": annotation,
            "proposal": found.annotation,
            "sure": proposed["sure"],
            "unsure": proposed["unsure"],
            "confirmed": confirmed,
            "why": why,
            "whole": whole,
            "flag": self._state.flags.get(number),
            "labelled": labelled,
            # The last event that this knows of: by it, `Ledger.check_free` sees what came between.
            "clock": self._state.all[-1].id if self._state.all else 0,
        }

    def _given(self, sentence: Sentence) -> dict[str, Any] | None:
        """What the file says, where that is to be shown, in the labels of now."""
        if not self._project.proposes_given or sentence.given is None:
            return None
        return self._state.called_now(sentence.given)

    def _neighbour(self, sentence: Sentence, step: int) -> str:
        at = sentence.id + step
        if not 0 <= at < len(self._project.sentences):
            return ""
        other = self._project.sentences[at]
        return other.text if other.document == sentence.document else ""


def _under(annotation: dict[str, Any], confirmed: Sequence[Any]) -> dict[str, Any]:
    """An annotation that has what is confirmed; elsewhere it stays, unless a span is cut."""
    if "labels" in annotation:
        labels = list(annotation["labels"])
        for start, end, name in confirmed:
            labels[start:end] = [name] * (end - start)
        return {"labels": labels}
    free = [
        span
        for span in annotation["spans"]
        if not any(span[0] < end and start < span[1] for start, end, _ in confirmed)
    ]
    sure = [list(piece) for piece in confirmed if piece[2] is not None]
    return {"spans": sorted([*free, *sure], key=lambda span: span[:2])}
