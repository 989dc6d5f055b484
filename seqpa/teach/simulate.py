"""Teaching without a teacher: an annotator who knows the right labels plays a whole session.

The model and the queue are those of a real session; the annotator sees what the model proposes,
corrects the first mistake, lets the rest be decoded again under what is confirmed, and accepts when
all is right. At each checkpoint two taggers are tested on other sentences: the *live* one, as it
proposes, and one that is *settled*: trained anew, by `fit`, on all that was labelled so far, as the
button of a project does it.

What it costs is counted in three ways: tokens, keys and updates. A sentence counts with all of its
tokens, since all of them must be read; those that had to be corrected are counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from seqpa.errors import SeqpaError
from seqpa.schemes import write_spans
from seqpa.sequence.presets import preset
from seqpa.sequence.select import STRATEGIES, check_strategy
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.training import dev_score
from seqpa.teach.files import read_sentences
from seqpa.teach.keystrokes import ACCEPT, by_hand, corrections, steps
from seqpa.teach.model import TaughtModel
from seqpa.teach.queue import RANDOM_SHARE, Queue

FIRST_TOKENS, GROWTH = 300, 1.2  # a checkpoint after so many tokens, then after so many times more
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
        if one.given is None or None in one.given.get("labels", ()):
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

    Examples
    --------
    >>> Trial("coverage", 0).noise
    0.0
    """

    strategy: str
    seed: int
    features: Any = None
    noise: float = 0.0
    until: float = 1.0
    budget: int = 10**9
    prelabel: bool = True
    random_share: float = RANDOM_SHARE

    def __post_init__(self) -> None:
        check_strategy(self.strategy)
        if not 0.0 <= self.noise < 1.0:
            raise SeqpaError(f"noise is {self.noise}: give a probability below 1")


class Point(NamedTuple):
    """Where a session stands.

    Attributes
    ----------
    sentences, tokens : int
        Labelled so far.
    corrected : int
        Tokens that had to be corrected.
    keys : int
        Pressed, with each correction followed by a new proposal for the rest.
    keys_once : int
        The same without new proposals: what was proposed first is corrected.
    by_hand : int
        Keys for the same labels where nothing is proposed.
    updates : int
        Lessons that moved the weights.
    live, settled : float
        The scores of the two taggers on the test sentences.
    """

    sentences: int
    tokens: int
    corrected: int
    keys: int
    keys_once: int
    by_hand: int
    updates: int
    live: float
    settled: float


class Work(NamedTuple):
    """What a sentence took: see `Point`.

    Attributes
    ----------
    keys, keys_once, by_hand, corrected : int
    """

    keys: int
    keys_once: int
    by_hand: int
    corrected: int


def correct(
    model: TaughtModel, tokens: list[str], final: Annotation, cells: Any, prelabel: bool = True
) -> Work:
    """Come from what a model proposes to the labels of an annotator; nothing is learned.

    Parameters
    ----------
    model : TaughtModel
    tokens : list of str
    final : dict
        What the annotator takes to be right.
    cells : None, or for each token a list of its further cells
    prelabel : bool
        Whether anything is proposed.

    Returns
    -------
    Work

    Examples
    --------
    >>> model = TaughtModel("spans", ["PER"])
    >>> correct(model, ["Ada", "won"], {"spans": [[0, 1, "PER"]]}, None)
    Work(keys=3, keys_once=3, by_hand=3, corrected=1)
    """
    n, kind = len(tokens), model.kind
    hand = by_hand(final, kind, n)
    # A tagger that has learned nothing has nothing to say.
    if not prelabel or model.clock == 0:
        nothing = {"spans": []} if kind == "spans" else {"labels": [None] * n}
        touched = sum(step.end - step.start for step in steps(nothing, final, kind, n))
        return Work(hand, hand, hand, touched)
    shown = model.propose(tokens, (), cells).annotation
    once = corrections(shown, final, kind, n)
    keys, touched = ACCEPT, 0
    confirmed: list[list[Any]] = []
    while wrong := steps(shown, final, kind, n):
        first = wrong[0]
        keys += first.keys
        touched += first.end - first.start
        confirmed.append([first.start, first.end, first.label])
        shown = model.propose(tokens, confirmed, cells).annotation
    return Work(keys, once, hand, touched)


def noisy(
    annotation: Annotation, kind: str, labels: Sequence[str], noise: float, rng: np.random.Generator
) -> Annotation:
    """What an annotator makes of the right labels who errs with some probability.

    A token gets another label; a span is overlooked or gets another type, as often the one as the
    other.

    Parameters
    ----------
    annotation : dict
    kind : "spans" or "tokens"
    labels : sequence of str
        All that there are.
    noise : float
        How probable a mistake is, for each token or span.
    rng : numpy.random.Generator

    Returns
    -------
    dict

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noisy({"labels": ["A", "B"]}, "tokens", ["A", "B"], 0.9, rng)
    {'labels': ['B', 'A']}
    """
    if noise == 0.0:
        return annotation

    def other(name: str) -> str | None:
        rest = [label for label in labels if label != name]
        return rest[int(rng.integers(len(rest)))] if rest else None

    if kind == "tokens":
        given = annotation["labels"]
        return {"labels": [(rng.random() < noise and other(name)) or name for name in given]}
    found = []
    for start, end, name in annotation["spans"]:
        if rng.random() >= noise:
            found.append([start, end, name])
        elif rng.random() < 0.5 and (wrong := other(name)) is not None:
            found.append([start, end, wrong])
    return {"spans": found}


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
    n = range(len(test.tokens))
    predicted = tagger.predict([test.sentence(i) for i in n])
    metric = "F1" if test.kind == "spans" else "accuracy"
    return dev_score([test.tags(i) for i in n], predicted, metric)


def full_score(gold: Gold, test: Gold, features: Any = None, seed: int = 0) -> float:
    """The score of a tagger that is trained on all sentences.

    Parameters
    ----------
    gold, test : Gold
    features : None, str or list
    seed : int
    """
    n = range(len(gold.tokens))
    tagger = settled_tagger(gold, features, seed)
    return tested(tagger.fit([gold.sentence(i) for i in n], [gold.tags(i) for i in n]), test)


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
    given: list[list[str]] = []
    tokens = corrected = keys = keys_once = hand = updates = 0
    checkpoint = float(FIRST_TOKENS)
    while (choice := queue.next(model)) is not None:
        i = choice.index
        words, cells = gold.tokens[i], gold.cells_of(i)
        # What the annotator gets wrong is so whenever the sentence comes.
        rng = np.random.default_rng([trial.seed, i])
        final = noisy(gold.annotations[i], gold.kind, gold.labels, trial.noise, rng)
        work = correct(model, words, final, cells, trial.prelabel)
        taught = model.learn(words, final, columns=cells)
        queue.done(i)
        for _ in range(_PIECES):
            queue.refresh(model, 0.0)
        labelled.append(i)
        given.append(tags(final, gold.kind, len(words)))
        tokens += len(words)
        corrected += work.corrected
        keys += work.keys
        keys_once += work.keys_once
        hand += work.by_hand
        updates += taught.tau > 0
        over = tokens >= trial.budget or not len(queue)
        if tokens < checkpoint and not over:
            continue
        checkpoint = max(GROWTH * checkpoint, float(tokens))
        fitted = settled_tagger(gold, trial.features, trial.seed).fit(
            [gold.sentence(i) for i in labelled], given
        )
        live, settled = tested(model.tagger, test), tested(fitted, test)
        yield Point(len(labelled), tokens, corrected, keys, keys_once, hand, updates, live, settled)
        if over or settled >= trial.until:
            return


def strategies(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The strategies to be compared, chance among them and last.

    Parameters
    ----------
    names : sequence of str or None
        None takes all.

    Examples
    --------
    >>> strategies(["margin"])
    ('margin', 'random')
    """
    for name in names or ():
        check_strategy(name)
    return (*(name for name in names or STRATEGIES if name != "random"), "random")
