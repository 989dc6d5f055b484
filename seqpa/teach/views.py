"""`Views`: what a project looks like: its counts, rows of sentences, progress, team and exports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from seqpa import __version__
from seqpa.colours import PALETTE
from seqpa.sequence.select import STRATEGIES
from seqpa.teach.browse import Browser
from seqpa.teach.desk import Desk
from seqpa.teach.events import State
from seqpa.teach.files import EXPORTS, rendered
from seqpa.teach.learning import Learned
from seqpa.teach.ledger import Answer
from seqpa.teach.progress import progress
from seqpa.teach.project import Project
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
                "unfinished": sum(bool(e.body["confirmed"]) for e in state.partial.values()),
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
        return self._browser.rows(found)

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

    def export(self, format: str) -> tuple[str, bytes]:
        """What is labelled, as a file.

        Parameters
        ----------
        format : str

        Returns
        -------
        name : str
            Of the file.
        data : bytes
        """
        with self._lock:
            entries = [(one, self.state.current(one.id)) for one in self.project.sentences]
        data, _ = rendered(
            entries, self.project.kind, format, self.project.names, label=self.project.label
        )
        return self.name + EXPORTS[format], data

    def _unsettled(self) -> int:
        """How many differences are not settled; counted again after a change."""
        at, found = self._differences
        if at != len(self.state.all):
            differences = self.team.differences(self.state, self.project.sentences)
            at, found = len(self.state.all), sum(not one["settled"] for one in differences)
            self._differences = at, found
        return found
