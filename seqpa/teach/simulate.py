"""Teaching without a teacher: an annotator who knows the right labels plays a whole session.

The model and the queue are those of a real session; what the annotator does with each sentence is
in `seqpa.teach.annotator`. At each checkpoint two taggers are tested on other sentences: the *live*
one, as it proposes, and one that is *settled*: trained anew, by `fit`, on all that was labelled so
far, as the button of a project does it.

What it costs is counted in three ways: tokens, keys and updates. A sentence that is labelled whole
counts with all of its tokens, since all of them must be judged, whether they are right or not.
Where the annotator is asked for unsure words alone, those count that were confirmed or corrected;
all that were before the annotator's eyes are counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from seqpa.data.teach_project import label_column
from seqpa.errors import SeqpaError
from seqpa.schemes import spans, write_spans
from seqpa.sequence.presets import preset
from seqpa.sequence.select import STRATEGIES, check_strategy
from seqpa.sequence.tagger import SequenceTagger
from seqpa.teach.annotator import asked, correct, noisy
from seqpa.teach.files import read_sentences
from seqpa.teach.model import TaughtModel, check_confirm
from seqpa.teach.queue import RANDOM_SHARE, STRATEGY, Queue

# A checkpoint after so many tokens, then after so many times more; further apart while the score is
# far from what is to be reached (less than this part of it), since testing takes most of the time.
FIRST_TOKENS, GROWTH = 300, 1.2
FAR, FAR_GROWTH = 0.95, 1.5
EPOCHS = 10  # of the settled tagger
# Pieces of the queue that the background has looked at before the next sentence is asked for: by
# far fewer than a machine manages while somebody reads a sentence.
_PIECES = 1

Annotation = dict[str, Any]


@dataclass(frozen=True)
class Gold:
    """Labelled sentences.

    Parameters
    ----------
    kind : "spans" or "tokens"
    tokens : list of token lists
    cells : None, or for each sentence the further cells of its tokens
    names : tuple of str
        What these cells are called.
    annotations : list of dict
    labels : list of str

    Examples
    --------
    >>> Gold("spans", [["Ada", "won"]], None, (), [{"spans": [[0, 1, "PER"]]}], ["PER"]).tags(0)
    ['B-PER', 'O']
    """

    kind: str
    tokens: list[list[str]]
    cells: list[Any] | None
    names: tuple[str, ...]
    annotations: list[Annotation]
    labels: list[str]

    def cells_of(self, i: int) -> Any:
        """The further cells of a sentence's tokens, or None.

        Parameters
        ----------
        i : int
        """
        return None if self.cells is None else self.cells[i]

    def tags(self, i: int) -> list[str]:
        """The labels of a sentence's tokens, spans in IOB2.

        Parameters
        ----------
        i : int
        """
        return tags(self.annotations[i], self.kind, len(self.tokens[i]))

    def sentence(self, i: int) -> list[Any]:
        """A sentence as a tagger takes it.

        Parameters
        ----------
        i : int
        """
        if self.cells is None:
            return self.tokens[i]
        pairs = zip(self.tokens[i], self.cells[i], strict=True)
        return [(word, *cells) for word, cells in pairs]

    @cached_property
    def pairs(self) -> tuple[list[Any], list[list[str]]]:
        """All sentences as a tagger takes them, and their labels."""
        n = range(len(self.tokens))
        return [self.sentence(i) for i in n], [self.tags(i) for i in n]

    @cached_property
    def spans(self) -> list[set[tuple[str, int, int]]]:
        """The spans of all sentences."""
        return [{(name, a, b) for a, b, name in one["spans"]} for one in self.annotations]

    def part(self, some: Sequence[int]) -> Gold:
        """Some of the sentences.

        Parameters
        ----------
        some : sequence of int
        """
        return Gold(
            self.kind,
            [self.tokens[i] for i in some],
            None if self.cells is None else [self.cells[i] for i in some],
            self.names,
            [self.annotations[i] for i in some],
            self.labels,
        )


def tags(annotation: Annotation, kind: str, n: int) -> list[str]:
    """The labels of n tokens, spans in IOB2.

    Parameters
    ----------
    annotation : dict
    kind : "spans" or "tokens"
    n : int

    Examples
    --------
    >>> tags({"spans": [[1, 3, "LOC"]]}, "spans", 3)
    ['O', 'B-LOC', 'I-LOC']
    """
    if kind == "tokens":
        return list(annotation["labels"])
    return list(write_spans([(name, a, b) for a, b, name in annotation["spans"]], n, "iob2"))


def read_gold(paths: Sequence[Any], kind: str | None = None, **reading: Any) -> Gold:
    """The sentences of files whose labels are all given.

    Parameters
    ----------
    paths : sequence of paths
    kind : "spans", "tokens" or None
    **reading : object
        As `seqpa.teach.files.read_sentences` has them.

    Returns
    -------
    Gold

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.conll"
    >>> _ = file.write_text("Ada B-PER\\nwon O\\n")
    >>> read_gold([file]).labels
    ['PER']
    """
    found = read_sentences(paths, kind, **reading)
    whole = [one for one in found.sentences if one.tokens]
    for one in whole:
        if one.given is None or one.id in found.parts:
            raise SeqpaError(
                f"{one.document}: sentence {one.position + 1} is not labelled: to play the "
                "annotator, all labels must be known"
            )
    names = tuple(found.names)
    return Gold(
        found.kind,
        [one.tokens for one in whole],
        [one.columns for one in whole] if names else None,
        names,
        [one.given for one in whole if one.given is not None],
        found.labels,
    )


def divided(gold: Gold, seed: int = 0, share: float = 0.2) -> tuple[Gold, Gold]:
    """Sentences to teach with and others to test on, where there is no file of the latter.

    Parameters
    ----------
    gold : Gold
    seed : int
    share : float
        Of the sentences that test.

    Returns
    -------
    taught, test : Gold

    Examples
    --------
    >>> gold = Gold("tokens", [["a"]] * 10, None, (), [{"labels": ["A"]}] * 10, ["A"])
    >>> [len(part.tokens) for part in divided(gold)]
    [8, 2]
    """
    n = len(gold.tokens)
    order = np.random.default_rng(seed).permutation(n)
    cut = round(share * n)
    if not 0 < cut < n:
        raise SeqpaError(f"{n} sentences are too few to test on some: give a file with --test")
    return gold.part(sorted(order[cut:].tolist())), gold.part(sorted(order[:cut].tolist()))


@dataclass(frozen=True)
class Trial:
    """One session to be played.

    Parameters
    ----------
    strategy : str
        One of `seqpa.sequence.select.STRATEGIES`; "random" is no selection at all.
    seed : int
        Of the model, the queue and the annotator's mistakes.
    features : None, str or list
        As `TaughtModel` has them.
    noise : float
        The probability that the annotator labels something wrongly.
    until : float
        The session ends at a checkpoint whose settled tagger reaches this score ...
    budget : int
        ... or with so many labelled tokens.
    prelabel : bool
        Whether the model proposes anything.
    random_share : float
        As `Queue` has it.
    confirm : "all" or "unsure"
        Whether sentences are labelled whole, or unsure words of them alone; sentences that come by
        chance are always labelled whole, as in a real session.

    Examples
    --------
    >>> Trial("coverage", 0).confirm
    'all'
    """

    strategy: str
    seed: int
    features: Any = None
    noise: float = 0.0
    until: float = 1.0
    budget: int = 10**9
    prelabel: bool = True
    random_share: float = RANDOM_SHARE
    confirm: str = "all"

    def __post_init__(self) -> None:
        check_strategy(self.strategy)
        check_confirm(self.confirm)
        if not 0.0 <= self.noise < 1.0:
            raise SeqpaError(f"noise is {self.noise}: give a probability below 1")


class Point(NamedTuple):
    """Where a session stands.

    Attributes
    ----------
    sentences, tokens : int
        Labelled so far; of sentences that are not labelled whole, the tokens that were confirmed or
        corrected.
    read : int
        All tokens of these sentences.
    corrected : int
        Tokens that had to be corrected.
    keys : int
        Pressed, with each correction followed by a new proposal for the rest.
    keys_held : int
        The same, every move counted as one key (`seqpa.teach.keystrokes.Keys`).
    keys_once : int
        Pressed without new proposals: what was proposed first is corrected. Of sentences that are
        not labelled whole, as `keys`.
    by_hand, by_hand_held : int
        Keys for labelling the same sentences, whole, where nothing is proposed; both countings.
    updates : int
        Lessons that moved the weights.
    live, settled : float
        The scores of the two taggers on the test sentences.
    """

    sentences: int
    tokens: int
    read: int
    corrected: int
    keys: int
    keys_held: int
    keys_once: int
    by_hand: int
    by_hand_held: int
    updates: int
    live: float
    settled: float


def settled_tagger(gold: Gold, features: Any, seed: int) -> SequenceTagger:
    """A tagger that is not trained yet, with the features that a taught one has.

    Parameters
    ----------
    gold : Gold
        Which kind of labels there are, and which columns.
    features : None, str or list
    seed : int

    Returns
    -------
    SequenceTagger
    """
    columns = ("word", *gold.names)
    if features is None or isinstance(features, str):
        features = preset(features or ("ner" if gold.kind == "spans" else "pos"), columns)
    return SequenceTagger(
        features,
        columns=columns,
        constraints="bio" if gold.kind == "spans" else None,
        cost="hamming",  # not "auto": with few sentences and with many, the same
        epochs=EPOCHS,
        random_state=seed,
    )


def tested(tagger: SequenceTagger, test: Gold) -> float:
    """F1 of spans, or the accuracy of tokens' labels.

    Parameters
    ----------
    tagger : SequenceTagger
    test : Gold
    """
    X, labels = test.pairs
    predicted = tagger.predict(X)
    if test.kind == "tokens":
        right = sum(
            g == p
            for pair in zip(labels, predicted, strict=True)
            for g, p in zip(*pair, strict=True)
        )
        return right / sum(map(len, labels))
    # As `seqpa.evaluate` counts, without all that it tells besides.
    told = [set(spans(own)) for own in predicted]
    both = sum(len(a & b) for a, b in zip(test.spans, told, strict=True))
    named = sum(map(len, test.spans)) + sum(map(len, told))
    return 2 * both / named if named else 0.0


def full_score(gold: Gold, test: Gold, features: Any = None, seed: int = 0) -> float:
    """The score of a tagger that is trained on all sentences.

    Parameters
    ----------
    gold, test : Gold
    features : None, str or list
    seed : int
    """
    return tested(settled_tagger(gold, features, seed).fit(*gold.pairs), test)


def play(gold: Gold, test: Gold, trial: Trial) -> Iterator[Point]:
    """A session, checkpoint by checkpoint.

    Parameters
    ----------
    gold : Gold
        What there is to label.
    test : Gold
        What the taggers are tested on.
    trial : Trial

    Yields
    ------
    Point
    """
    model = TaughtModel(
        gold.kind,
        gold.labels,
        seed=trial.seed,
        columns=("word", *gold.names),
        features=trial.features,
    )
    queue = Queue(gold.tokens, trial.seed, trial.strategy, trial.random_share, columns=gold.cells)
    labelled: list[int] = []
    given: list[list[str | None]] = []
    total = np.zeros(8, dtype=np.int64)  # what lies between `sentences` and `updates` in a `Point`
    updates = 0
    checkpoint = float(FIRST_TOKENS)
    while (choice := queue.next(model)) is not None:
        i = choice.index
        words, cells = gold.tokens[i], gold.cells_of(i)
        # What the annotator gets wrong is so whenever the sentence comes.
        rng = np.random.default_rng([trial.seed, i])
        final = noisy(gold.annotations[i], gold.kind, gold.labels, trial.noise, rng)
        if trial.confirm == "all" or choice.why == "random":
            work = correct(model, words, final, cells, trial.prelabel)
            taught = model.learn(words, final, columns=cells)
            updates += taught.tau > 0
            labels = label_column(len(words), gold.kind, final)
        else:
            work = asked(model, words, final, cells)
            labels = label_column(len(words), gold.kind, None, work.confirmed)
            if labels is not None:
                taught = model.learn(words, None, work.confirmed, cells)
                updates += taught.tau > 0
        queue.done(i)
        for _ in range(_PIECES):
            queue.refresh(model, 0.0)
        labelled.append(i)
        given.append([None] * len(words) if labels is None else labels)
        total += [
            work.tokens, len(words), work.corrected,
            work.keys.pressed, work.keys.held, work.once.pressed,
            work.by_hand.pressed, work.by_hand.held,
        ]  # fmt: skip
        tokens = int(total[0])
        over = tokens >= trial.budget or not len(queue)
        if tokens < checkpoint and not over:
            continue
        fitted = settled_tagger(gold, trial.features, trial.seed).fit(
            [gold.sentence(i) for i in labelled], given
        )
        live, settled = tested(model.tagger, test), tested(fitted, test)
        growth = FAR_GROWTH if settled < FAR * trial.until <= 1.0 else GROWTH
        checkpoint = max(growth * checkpoint, float(tokens))
        yield Point._make([len(labelled), *total.tolist(), updates, live, settled])
        if over or settled >= trial.until:
            return


def strategies(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """What is to be compared: strategies, chance among them and last.

    Parameters
    ----------
    names : sequence of str or None
        A strategy's name, or, where unsure words alone are to be confirmed, ``NAME/unsure``. None
        takes all strategies, and the one that is taken where none is asked for in both ways.

    Examples
    --------
    >>> strategies(["margin", "doubt/unsure"])
    ('margin', 'doubt/unsure', 'random')
    """
    for name in names or ():
        way(name)
    usual = (*STRATEGIES, f"{STRATEGY}/unsure")
    return (*(name for name in names or usual if name != "random"), "random")


def way(name: str) -> tuple[str, str]:
    """The strategy, and what is confirmed, of a name as `strategies` has it.

    Parameters
    ----------
    name : str

    Returns
    -------
    strategy : str
    confirm : "all" or "unsure"

    Examples
    --------
    >>> way("margin"), way("margin/unsure")
    (('margin', 'all'), ('margin', 'unsure'))
    """
    strategy, _, confirm = name.partition("/")
    check_strategy(strategy)
    check_confirm(confirm or "all")
    return strategy, confirm or "all"
