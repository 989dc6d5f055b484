"""`Views`: what a project looks like: its counts, rows of sentences, progress, team and exports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from seqpa import __version__
from seqpa.colours import PALETTE
from seqpa.sequence.select import STRATEGIES
from seqpa.teach.browse import Browser
from seqpa.teach.desk import Desk
from seqpa.teach.events import State
from seqpa.teach.files import EXPORTS, Exported, rendered
from seqpa.teach.learning import Learned
from seqpa.teach.ledger import Answer
from seqpa.teach.progress import progress
from seqpa.teach.project import Project
from seqpa.teach.store import Sentence
from seqpa.teach.team import Team


class Views:
    """Tells, and changes nothing.

    Parameters
    ----------
    name : str
        That of the project.
    project : Project
    state : State
    learned : Learned
    desk : Desk
    team : Team
    lock : RLock
        Who holds it changes the state.
    now : function
        The time, in seconds since 1970.
    """

    def __init__(
        self,
        name: str,
        project: Project,
        state: State,
        learned: Learned,
        desk: Desk,
        team: Team,
        lock: threading.RLock,
        now: Callable[[], float],
    ) -> None:
        self.name = name
        self.project = project
        self.state = state
        self.learned = learned
        self.desk = desk
        self.team = team
        self._lock = lock
        self._now = now
        self._browser = Browser(project.kind, project.sentences, learned, project.cells)
        self._differences = -1, 0

    def _identity(self) -> str:
        """Tells this project from others, to pages that keep what was not sent yet."""
        sentences = self.project.sentences
        ends = [sentences[i].text for i in (0, -1)] if sentences else []
        told = repr((self.name, len(sentences), ends))
        return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def about(self, user: str) -> Answer:
        """The project, as a page needs it at first.

        Parameters
        ----------
        user : str

        Returns
        -------
        dict
        """
        with self._lock:
            return {
                "name": self.name,
                "id": self._identity(),
                "kind": self.project.kind,
                "user": user,
                "team": bool(self.team.names),
                "users": self.team.names or [user],
                "labels": self.labels(),
                "palette": [
                    {
                        "name": colour.name,
                        "light": {"ground": colour.ground, "ink": colour.ink},
                        "dark": {"ground": colour.dark_ground, "ink": colour.dark_ink},
                    }
                    for colour in PALETTE
                ],
                "guidelines": self.state.guidelines,
                "direction": self.project.direction,
                "strategy": self.desk.queue.strategy,
                "strategies": list(STRATEGIES),
                "confirm": self.desk.confirm,
                "counts": self.counts(),
                "exports": self.exports(),
                "version": __version__,
            }

    def counts(self) -> dict[str, int]:
        """How many sentences there are of each kind.

        Returns
        -------
        dict
        """
        with self._lock:
            state = self.state
            return {
                "sentences": len(self.project.sentences),
                "labelled": len(state.labellings),
                "skipped": sum(i not in state.labellings for i in state.skipped),
                "flagged": len(state.flags),
                "unfinished": sum(
                    bool(e.body["confirmed"]) and not e.body.get("done")
                    for e in state.partial.values()
                ),
                "parts": sum(state.is_part(i) for i in state.partial),
                "open": len(self.desk.queue),
                "again": len(self.desk.again),
                "clock": self.learned.model.clock,
                "differences": self._unsettled(),
            }

    def labels(self) -> list[dict[str, str]]:
        """The labels with their keys and colours.

        Returns
        -------
        list of dict
        """
        return [label._asdict() for label in self.state.labels]

    def rows(self, **asked: Any) -> Answer:
        """Sentences by search and filter.

        Parameters
        ----------
        **asked : object
            As `seqpa.teach.browse.Browser.rows` has them.

        Returns
        -------
        dict
        """
        with self._lock:
            found = self._browser.select(self.state, self.desk.again, **asked)
        told = self._browser.rows(found)
        if self.project.proposes_given:  # these are shown when it is labelled, too
            for row in told["rows"]:
                given = self.project.sentences[row["sentence"]].given
                if row["annotation"] is None and given is not None:
                    row["model"] = self.state.called_now(given)
        return told

    def progress(self) -> Answer:
        """How good the model is by now.

        Returns
        -------
        dict
        """
        with self._lock:
            found = progress(self.state, self.project.sentences, self.project.kind, self._now())
            return {"counts": self.counts(), **found}

    def about_team(self) -> Answer:
        """Who labelled how much, and where readers differ.

        Returns
        -------
        dict
        """
        with self._lock:
            state, sentences, kind = self.state, self.project.sentences, self.project.kind
            return {
                "users": progress(state, sentences, kind, self._now())["users"],
                "share": self.team.share,
                **self.team.agreement(state, sentences, kind),
                "differences": self.team.differences(state, sentences),
            }

    def exports(self) -> list[str]:
        """The formats that `export` has for this kind of project.

        Returns
        -------
        list of str
        """
        own = ("spacy", "docbin") if self.project.kind == "tokens" else ()
        return [name for name in EXPORTS if name not in own]

    def export(self, format: str, parts: bool = False) -> tuple[str, bytes, Exported]:
        """What is labelled, as a file.

        Parameters
        ----------
        format : str
        parts : bool
            As for `entries`.

        Returns
        -------
        name : str
            Of the file.
        data : bytes
        told : Exported
            What is in it, and what was left out.
        """
        with self._lock:
            entries = self.entries(parts)
        own = self.project
        data, told = rendered(entries, own.kind, format, own.names, label=own.label)
        return self.name + EXPORTS[format], data, told

    def entries(self, parts: bool = False) -> list[tuple[Sentence, Answer | None]]:
        """All sentences, with the labels that count.

        Parameters
        ----------
        parts : bool
            Whether also of those sentences of which only unsure words were asked for: what is not
            confirmed of them is as the model has it now.

        Returns
        -------
        list of (Sentence, dict or None)
        """
        return [(one, self._labels_of(one, parts)) for one in self.project.sentences]

    def _labels_of(self, sentence: Sentence, parts: bool) -> Answer | None:
        """The labels that count, or, of one that is confirmed in part, the model's with these."""
        labels = self.state.current(sentence.id)
        if labels is not None or not parts or not self.state.is_part(sentence.id):
            return labels
        pieces = self.state.partial[sentence.id].body["confirmed"]
        cells = self.project.cells(sentence)
        with self.learned.lock:
            return self.learned.model.propose(sentence.tokens, pieces, cells).annotation

    def _unsettled(self) -> int:
        """How many differences are not settled; counted again after a change."""
        at, found = self._differences
        if at != len(self.state.all):
            differences = self.team.differences(self.state, self.project.sentences)
            at, found = len(self.state.all), sum(not one["settled"] for one in differences)
            self._differences = at, found
        return found
