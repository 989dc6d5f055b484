"""All numbers of a report, as one plain dict: what report.json holds and every page shows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seqpa.colours import colours
from seqpa.core import Hierarchy
from seqpa.evaluate import evaluate
from seqpa.report.certainty import certainty
from seqpa.report.confusion import confusion
from seqpa.report.learned import learned
from seqpa.report.rival import rival
from seqpa.report.scores import scores
from seqpa.report.spent import spent
from seqpa.report.tagged import Tagged
from seqpa.sequence.costs import SequenceCost, sequence_cost
from seqpa.stored_parameters import UnloadedFunction

if TYPE_CHECKING:
    from seqpa.sequence.tagger import SequenceTagger

FORMAT = 1
ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """How the numbers are made.

    Parameters
    ----------
    rounds : int
        Of resampling for intervals.
    test_rounds : int
        Of resampling for the test of two models.
    seed : int
        Of both.
    """

    rounds: int = ROUNDS
    test_rounds: int = 10_000
    seed: int = 1


def cost_of(tagger: SequenceTagger, more: Collection[str]) -> tuple[str, SequenceCost | None]:
    """What mistakes cost, as the tagger was trained for it.

    Parameters
    ----------
    tagger : SequenceTagger
    more : collection of str
        Labels of the data, some of which the tagger may not know.

    Returns
    -------
    name : str
    cost : SequenceCost or None
        None for a Python function that may not be imported.
    """
    given = tagger.cost
    if isinstance(given, UnloadedFunction):
        return "a Python function", None
    if isinstance(given, str):
        name = given
    elif isinstance(given, Hierarchy):
        name = "hierarchy"
    else:
        name = "a Python function" if callable(given) else "matrix"
    return name, sequence_cost(given, sorted({*tagger.classes_, *more}))


def report_data(
    tagger: SequenceTagger,
    tagged: Tagged,
    training_words: Collection[str] | None,
    asked: Asked | None = None,
    other: Tagged | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """The numbers of a report, as far as model and predictions tell them.

    Parameters
    ----------
    tagger : SequenceTagger
    tagged : Tagged
        What it says of the data.
    training_words : collection of str or None
        The words of the training text, where they are known.
    asked : Asked, optional
        How the numbers are made.
    other : Tagged, optional
        What another model says of the same data.
    progress : callable, optional
        Is told what is done next.

    Returns
    -------
    dict
        Everything of ``seqpa evaluate --json``, by the same names and to the same digits; and
        ``report``, ``scores``, ``confusions``, ``certainty``, ``mistakes_cost``, ``learned``,
        ``comparison``. Plain numbers, lists and dicts.

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> X, y = [["so", "it", "is"], ["it", "was"]], [["A", "P", "V"], ["P", "V"]]
    >>> tagger = SequenceTagger(["word[0]"], random_state=1).fit(X, y)
    >>> tagged = Tagged(X, y, tagger.predict(X))
    >>> found = report_data(tagger, tagged, None)
    >>> found["scores"]["headline"]["value"], found["certainty"]
    (1.0, None)
    """
    asked = asked or Asked()

    def tell(what: str) -> None:
        if progress is not None:
            progress(what)

    labels = {label for one in tagged.gold for label in one}
    name, cost = cost_of(tagger, labels)
    tell("scores")
    evaluation = evaluate(tagged.gold, tagged.predicted, tagged.words, training_words, cost)
    told: dict[str, Any] = {**evaluation.to_dict(), "report": FORMAT}
    told["scores"] = scores(tagged, evaluation, training_words, asked.rounds, asked.seed)
    tell("mistakes")
    told["confusions"] = confusion(tagged)
    told["certainty"] = certainty(tagged, tagger.trained_.scale is not None)
    told["mistakes_cost"] = None if cost is None else spent(tagged, name, cost, tagger.cost)
    tell("weights")
    told["learned"] = learned(tagger.trained_)
    told["colours"] = {
        kind: colour.name for kind, colour in colours({*tagger.classes_, *labels}).items()
    }
    told["comparison"] = None
    if other is not None:
        tell("the two models")
        found = rival(tagged, other, cost, asked.test_rounds, asked.seed)
        told["comparisons"] = found.pop("comparisons")
        told["comparison"] = found
    return told
