"""`Tasks`: a sentence as the page shows it, with what the model proposes for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from seqpa.errors import SeqpaError
from seqpa.teach.events import State, changed, checked
from seqpa.teach.learning import Learned
from seqpa.teach.model import Proposal
from seqpa.teach.project import Project
from seqpa.teach.store import Sentence

UNSURE = 0.75  # tokens that the model is less sure of are marked

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
        with self._learned.lock:
            return self._learned.model.propose(
                sentence.tokens, confirmed, self._project.cells(sentence)
            )

    def proposed(self, sentence: Sentence, confirmed: Iterable[Any]) -> Task:
        """The same as the page takes it, with the tokens to mark.

        Parameters
        ----------
        sentence : Sentence
        confirmed : list of [start, end, label or None]

        Returns
        -------
        dict
        """
        found = self.proposal(sentence, confirmed)
        knows = self._learned.model.knows
        unsure = [i for i, sure in enumerate(found.sure) if sure < UNSURE] if knows else []
        return {"annotation": found.annotation, "sure": found.sure, "unsure": unsure}

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

    def task(self, number: int, why: str) -> Task:
        """A sentence to be labelled.

        Parameters
        ----------
        number : int
        why : str

        Returns
        -------
        dict
        """
        known = self.sentence(number)
        confirmed = self.confirmed(number)
        proposed = self.proposed(known, confirmed)
        # A second reader is not told what the first one said.
        latest = None if why == "second" else self._state.latest(number)
        labelled = None
        annotation = proposed["annotation"] if confirmed else self._given(known)
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
            "annotation": annotation or proposed["annotation"],
            "proposal": proposed["annotation"],
            "sure": proposed["sure"],
            "unsure": proposed["unsure"],
            "confirmed": confirmed,
            "why": why,
            "flag": self._state.flags.get(number),
            "labelled": labelled,
            # The last event that this knows of: by it, `Ledger.check_free` sees what came between.
            "clock": self._state.all[-1].id if self._state.all else 0,
        }

    def _given(self, sentence: Sentence) -> dict[str, Any] | None:
        """What the file says, where that is to be shown, in the labels of now."""
        annotation = sentence.given if self._project.proposes_given else None
        if annotation is None:
            return None
        for event in self._state.valid:
            if event.kind == "labels" and event.body["action"] in ("rename", "merge"):
                body = event.body
                annotation = changed(annotation, body["old"], body.get("new") or body["into"])
        return annotation

    def _neighbour(self, sentence: Sentence, step: int) -> str:
        at = sentence.id + step
        if not 0 <= at < len(self._project.sentences):
            return ""
        other = self._project.sentences[at]
        return other.text if other.document == sentence.document else ""
