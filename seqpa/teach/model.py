"""`TaughtModel`: what is learned from lessons, one sentence at a time.

A model is a fold of its lessons: the same lessons in the same order give the same bits, also where
a snapshot was taken and gone on from. Every lesson repeats some earlier ones, since one pass over
a hundred sentences leaves much of them unlearned.

Labels have two names. The *shown* one is the user's and may change; the *own* one is what the
tagger has learned under, and never does. So renaming costs nothing, and a label that was merged
into another goes on being predicted under its own name and is shown under the other's.
"""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.model import save_model
from seqpa.schemes import spans, write_spans
from seqpa.sequence.presets import preset
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.trained import Trained

KINDS = ("spans", "tokens")
# Whether a sentence is confirmed whole, or only the words of it that the model is unsure of.
CONFIRM = ("all", "unsure")
# Words that the model is less sure of are marked; where they are all that is asked for, more are.
UNSURE, ASKED = 0.75, 0.9
REPLAY = 12  # earlier lessons that are learned again with each
_OUTSIDE = "O"
# Its labels are told to the tagger with a weight of zero, so that they can be asked for and fixed
# before any lesson has them. A private character: no text has it.
_NOBODY = "\ue000"
# The scale of probabilities is that which fits best to the lessons so far, each looked at before it
# was learned; it is looked for between these. A lesson counts half after so many others. Without a
# scale all labels are about as probable as one another, and whatever is chosen by probabilities
# would be chosen by length.
_SCALES = 2.0 ** np.arange(-1, 11)
_HALF_LIFE = 50.0
_USUAL_SCALE = 20.0  # of a model that was trained and not calibrated, before there is a lesson
# The tagger is the mean of its weight vectors, that after lesson t counting as t^_FADING: of a
# plain mean half the votes are those of a tagger that had seen less than half of the lessons.
_FADING = 3.0
_FADE_EVERY = 1.1  # as soon as there are so many times the lessons

Annotation = dict[str, Any]
Confirmed = Iterable[Sequence[Any]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Taught:
    """What happened in a lesson.

    Attributes
    ----------
    predicted : dict
        The annotation that the model would have proposed.
    cost, loss, tau : float
        As in `seqpa.sequence.learner.Lesson`.
    wrong_tokens : int
    """

    predicted: Annotation
    cost: float
    loss: float
    tau: float
    wrong_tokens: int


@dataclass(frozen=True)
class Proposal:
    """What a model says of a sentence.

    Attributes
    ----------
    annotation : dict
    sure : list of float
        For each token how probable it is that what is proposed for it is right.
    margin : float
        The difference between the two best label sequences' scores; infinite for no tokens.
    """

    annotation: Annotation
    sure: list[float]
    margin: float


class TaughtModel:
    """A tagger that is taught by hand.

    Parameters
    ----------
    kind : "spans" or "tokens"
    labels : list of str
        The user's names.
    base : SequenceTagger or None
        A trained tagger to go on from; it is copied.
    seed : int
        Decides which earlier lessons are repeated.
    columns : sequence of str
        The names of a token's cells, the word first.
    features : None, a preset's name or a list of templates
        None takes the preset "ner" for spans and "pos" for tokens. A base has its own.
    replay : int
        So many earlier lessons are learned again with each.

    Examples
    --------
    >>> model = TaughtModel("spans", ["PER", "LOC"])
    >>> for _ in range(3):
    ...     _ = model.learn(["Ada", "saw", "Rome"], {"spans": [[0, 1, "PER"], [2, 3, "LOC"]]})
    >>> model.propose(["Ada", "saw"]).annotation
    {'spans': [[0, 1, 'PER']]}
    >>> model.propose(["Ada", "saw"], confirmed=[[0, 1, "LOC"]]).annotation
    {'spans': [[0, 1, 'LOC']]}
    >>> model.rename_label("LOC", "PLACE")
    >>> model.propose(["Rome"]).annotation, model.clock
    ({'spans': [[0, 1, 'PLACE']]}, 3)
    """

    def __init__(
        self,
        kind: str,
        labels: Sequence[str],
        base: SequenceTagger | None = None,
        seed: int = 0,
        columns: Sequence[str] = ("word",),
        features: Any = None,
        replay: int = REPLAY,
    ) -> None:
        if kind not in KINDS:
            raise SeqpaError(f"kind is {kind!r}: choose {' or '.join(KINDS)}")
        self.kind = kind
        self.clock = 0
        self.replay = replay
        self._faded = 1  # the clock when the mean was faded last
        self._shown: dict[str, str] = {}  # own name -> shown name
        self._fit = np.zeros(len(_SCALES))  # the likelihood at each scale, newer lessons more
        if base is None:
            templates = features
            if features is None or isinstance(features, str):
                name = features or ("ner" if kind == "spans" else "pos")
                templates = preset(name, columns)
            self._tagger = SequenceTagger(
                templates,
                columns=tuple(columns),
                constraints="bio" if kind == "spans" else None,
                update="near-max-loss",  # as `fit` has it, of which this is to come near
                random_state=seed,
            )
        else:
            self._tagger = copy.deepcopy(base).set_params(random_state=seed)
            self._tagger.partial_fit([], [])  # no lesson, but what a snapshot needs
            for own in self._types(base.classes_):
                self._shown[own] = own
            # As if a little of the likelihood were known; lessons soon say more.
            known = base.probability_scale_
            doublings = np.log2(_SCALES / (known if known != 1.0 else _USUAL_SCALE))
            self._fit = -0.5 * doublings**2
            self._tagger.set_probability_scale(self.scale)
        for label in labels:
            if label not in self._shown.values():
                self.add_label(label)
        if base is not None:
            # A tagger out of a model file goes on a little otherwise than one out of a snapshot;
            # all begin as the latter, so that the same lessons give the same bits.
            self._tagger = TaughtModel.restore(self.snapshot())._tagger

    # Labels

    @property
    def labels(self) -> list[str]:
        """The shown names, in the order in which they came."""
        return list(dict.fromkeys(self._shown.values()))

    @property
    def tagger(self) -> SequenceTagger:
        """The tagger that learns; its labels have their own names."""
        return self._tagger

    def add_label(self, name: str) -> None:
        """Know one label more.

        Parameters
        ----------
        name : str
        """
        self._check_new(name)
        own, n = name, 1
        while own in self._shown:  # a name that was given up
            n += 1
            own = f"{name}~{n}"
        first = [] if self._shown or self.kind == "tokens" else [[_OUTSIDE]]
        new = [[f"B-{own}"], [f"B-{own}", f"I-{own}"]] if self.kind == "spans" else [[own]]
        cells = len(self._tagger.input_columns)
        token = _NOBODY if cells == 1 else (_NOBODY,) * cells
        for names in [*first, *new]:
            # Beside a sentence of no tokens, since not all weights may be zero.
            X: list[list[Any]] = [[token] * len(names), []]
            self._tagger.partial_fit(X, [names, []], sample_weight=[0.0, 1.0])
        if self.kind == "spans":
            # What was outside of the other spans may be one of the new: it is not repeated.
            self._tagger.unlabel_replay(_OUTSIDE)
        self._shown[own] = name

    def rename_label(self, old: str, new: str) -> None:
        """Show a label under another name; all that was learned of it stays.

        Parameters
        ----------
        old, new : str
        """
        self._check_known(old)
        self._check_new(new)
        for own, shown in self._shown.items():
            if shown == old:
                self._shown[own] = new

    def merge_labels(self, old: str, into: str) -> None:
        """Show one label as another from now on.

        Parameters
        ----------
        old, into : str
        """
        self._check_known(old)
        self._check_known(into)
        if old == into:
            raise SeqpaError(f"the label {old!r} cannot be merged into itself")
        # That of `into` stays the first of its name: new lessons are learned under it.
        kept = {own: shown for own, shown in self._shown.items() if shown != old}
        self._shown = kept | {own: into for own, shown in self._shown.items() if shown == old}

    def _check_known(self, name: str) -> None:
        if name not in self._shown.values():
            raise SeqpaError(f"there is no label {name!r}{did_you_mean(name, self.labels)}")

    def _check_new(self, name: str) -> None:
        if not isinstance(name, str) or not name or name != name.strip():
            raise SeqpaError(f"{name!r} is no name for a label: give a word")
        if name in self._shown.values():
            raise SeqpaError(f"there is a label {name!r} already")

    def _own(self, shown: str) -> str:
        for own, name in self._shown.items():
            if name == shown:
                return own
        raise SeqpaError(f"there is no label {shown!r}{did_you_mean(shown, self.labels)}")

    def _types(self, labels: Iterable[str]) -> list[str]:
        """The own names behind the tagger's labels."""
        if self.kind == "tokens":
            return list(labels)
        return list(dict.fromkeys(label[2:] for label in labels if label != _OUTSIDE))

    # From annotations to the tagger's labels and back

    def _from_labels(self, labels: Sequence[str]) -> Annotation:
        if self.kind == "tokens":
            return {"labels": [self._shown[label] for label in labels]}
        return {"spans": [[start, end, self._shown[own]] for own, start, end in spans(labels)]}

    def _to_labels(self, annotation: Annotation, predicted: Sequence[str]) -> list[str | None]:
        """What the tagger is to learn; where labels were merged, under the name that it predicts
        already, if that is shown as the right one."""
        n = len(predicted)
        if self.kind == "tokens":
            given = annotation.get("labels")
            if given is None or len(given) != n:
                raise SeqpaError(f"the annotation must have one label, or null, for {n} tokens")
            return [
                None if name is None else own if self._shown[own] == name else self._own(name)
                for name, own in zip(given, predicted, strict=True)
            ]
        before = {(start, end): own for own, start, end in spans(predicted)}
        found = []
        last = 0
        for start, end, name in annotation.get("spans", ()):
            if not last <= start < end <= n:
                raise SeqpaError(
                    f"the span {start}-{end} overlaps another or is outside of {n} tokens"
                )
            last = end
            own = before.get((start, end))
            right = own is not None and self._shown[own] == name
            found.append((own if own is not None and right else self._own(name), start, end))
        return list(write_spans(found, n, "iob2"))

    def _fixed(self, confirmed: Confirmed, n: int) -> list[str | None]:
        labels: list[str | None] = [None] * n
        for start, end, name in confirmed:
            if not 0 <= start < end <= n:
                raise SeqpaError(f"what is confirmed at {start}-{end} is outside of {n} tokens")
            if any(label is not None for label in labels[start:end]):
                raise SeqpaError(f"what is confirmed at {start}-{end} overlaps another")
            if self.kind == "tokens":
                labels[start:end] = [None if name is None else self._own(name)] * (end - start)
            elif name is None:
                labels[start:end] = [_OUTSIDE] * (end - start)
            else:
                own = self._own(name)
                labels[start:end] = write_spans([(own, 0, end - start)], end - start, "iob2")
        return labels

    def sentence(self, tokens: Sequence[str], columns: Any = None) -> list[Any]:
        """A sentence as the tagger takes it.

        Parameters
        ----------
        tokens : list of str
        columns : None, or for each token a list of its further cells

        Returns
        -------
        list
        """
        names = self._tagger.input_columns
        if len(names) == 1:
            return list(tokens)
        if columns is None or len(columns) != len(tokens):
            raise SeqpaError(f"every token needs the cells {', '.join(names[1:])} beside the word")
        return [(word, *cells) for word, cells in zip(tokens, columns, strict=True)]

    # Learning

    def learn(
        self,
        tokens: Sequence[str],
        annotation: Annotation | None,
        confirmed: Confirmed | None = None,
        columns: Any = None,
    ) -> Taught:
        """Learn from a sentence, and from some earlier ones again.

        Parameters
        ----------
        tokens : list of str
        annotation : dict or None
            None where only some tokens are confirmed.
        confirmed : list of [start, end, label or None], optional
        columns : None, or for each token a list of its further cells

        Returns
        -------
        Taught
        """
        X = self.sentence(tokens, columns)
        if not X:
            self.clock += 1
            return Taught(self._from_labels([]), 0.0, 0.0, 0.0, 0)
        proposed = self._tagger.predict([X])[0]
        if annotation is not None:
            gold = self._to_labels(annotation, proposed)
        else:
            gold = self._fixed(confirmed or (), len(X))
        if gold.count(None) == len(gold):
            raise SeqpaError("there is nothing to learn: no token of the sentence is labelled")
        self._calibrate(X, gold)
        lesson = self._tagger.learn_one(X, gold, replay=self.replay)
        self.clock += 1
        if self.clock >= _FADE_EVERY * self._faded:
            self._tagger.fade_average((self._faded / self.clock) ** _FADING)
            self._faded = self.clock
        wrong = sum(g is not None and g != p for g, p in zip(gold, proposed, strict=True))
        predicted = self._from_labels(proposed)
        return Taught(predicted, lesson.cost, lesson.loss, lesson.tau, wrong)

    def _calibrate(self, X: list[Any], gold: Sequence[str | None]) -> None:
        """Let the sentence judge the scales, before it is learned."""
        self._fit *= 0.5 ** (1.0 / _HALF_LIFE)
        self._fit += self._tagger.scale_likelihoods([X], [gold], _SCALES.tolist())
        self._tagger.set_probability_scale(self.scale)

    @property
    def knows(self) -> bool:
        """Whether it has learned anything, so that being unsure is worth telling."""
        return bool(self._fit.any())

    @property
    def scale(self) -> float:
        """What makes probabilities of scores, so that they fit to the lessons so far."""
        best = int(self._fit.argmax())
        if not 0 < best < len(_SCALES) - 1:
            return float(_SCALES[best])
        # The top of the parabola through the best and its neighbours.
        low, top, high = self._fit[best - 1 : best + 2]
        bend = low - 2.0 * top + high
        at = best + 0.5 * (low - high) / bend if bend < 0 else best
        return float(_SCALES[0] * (_SCALES[1] / _SCALES[0]) ** at)

    # Proposing

    def propose(
        self, tokens: Sequence[str], confirmed: Confirmed = (), columns: Any = None
    ) -> Proposal:
        """What the model says of a sentence, where some tokens are confirmed.

        Parameters
        ----------
        tokens : list of str
        confirmed : list of [start, end, label or None]
            None: surely outside of any span.
        columns : None, or for each token a list of its further cells

        Returns
        -------
        Proposal
        """
        X = self.sentence(tokens, columns)
        if not X:
            return Proposal(self._from_labels([]), [], float("inf"))
        confirmed = [tuple(one) for one in confirmed]
        fixed = self._fixed(confirmed, len(X))
        margin = self._tagger.confidence([X])[0][0]
        best = self._tagger.predict([X], fixed=[fixed])[0]
        rows, labels = self._marginals(X, fixed)
        if self.kind == "spans":
            # A span that is confirmed ends where it ends: what continues it is taken back.
            for _, end, name in sorted(confirmed, key=lambda one: one[0]):
                if name is None or end == len(X) or best[end] != f"I-{self._own(name)}":
                    continue
                more = labels.index(best[end])
                begins = [label[:2] != "I-" for label in labels]
                order = np.where(begins, rows[end], -1.0)
                assert order[more] < 0
                fixed[end] = labels[int(order.argmax())]
                best = self._tagger.predict([X], fixed=[fixed])[0]
                rows, labels = self._marginals(X, fixed)
        return Proposal(self._from_labels(best), self._sure(rows, labels, best), margin)

    def predict(
        self, sentences: Sequence[Sequence[str]], columns: Sequence[Any] | None = None
    ) -> list[Annotation]:
        """What `propose` would propose, for many sentences at once.

        Parameters
        ----------
        sentences : sequence of token lists
        columns : None, or for each sentence the further cells of its tokens

        Returns
        -------
        list of dict
        """
        cells = [None] * len(sentences) if columns is None else columns
        X = [self.sentence(tokens, own) for tokens, own in zip(sentences, cells, strict=True)]
        return [self._from_labels(labels) for labels in self._tagger.predict(X)]

    def chance(self, tokens: Sequence[str], names: Set[str], columns: Any = None) -> float:
        """How probable it is that a word has one of some labels: that of the likeliest word.

        Parameters
        ----------
        tokens : list of str
        names : set of str
            The labels.
        columns : None, or for each token a list of its further cells

        Returns
        -------
        float
        """
        X = self.sentence(tokens, columns)
        if not X:
            return 0.0
        rows, labels = self._marginals(X, None)
        known = [x != _OUTSIDE and self._shown[x[2:] if self.kind == "spans" else x] in names
                 for x in labels]  # fmt: skip
        return float(rows[:, known].sum(axis=1).max(initial=0.0))

    def _marginals(self, X: list[Any], fixed: list[str | None] | None) -> tuple[Floats, list[str]]:
        found = self._tagger.predict_marginals([X], fixed=None if fixed is None else [fixed])[0]
        labels = list(found[0])
        return np.array([list(row.values()) for row in found]), labels

    def _sure(self, rows: Floats, labels: list[str], best: list[str]) -> list[float]:
        shown = [label if label == _OUTSIDE else self._display(label) for label in labels]
        return [
            min(1.0, float(sum(p for p, own in zip(row, shown, strict=True) if own == name)))
            for row, name in zip(rows, [shown[labels.index(label)] for label in best], strict=True)
        ]

    def _display(self, label: str) -> str:
        if self.kind == "tokens":
            return self._shown[label]
        return label[:2] + self._shown[label[2:]]

    # Files

    def snapshot(self) -> bytes:
        """All that going on needs, bit for bit.

        Returns
        -------
        bytes
        """
        with tempfile.TemporaryDirectory(prefix="seqpa-") as folder:
            path = Path(folder) / "state"
            self._tagger.save_state(path)
            state = path.read_bytes()
        header = {
            "kind": self.kind,
            "clock": self.clock,
            "replay": self.replay,
            "faded": self._faded,
            "shown": list(self._shown.items()),
            "fit": self._fit.tolist(),
            "parameters": _plain(self._tagger.get_params()),
        }
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + state

    @classmethod
    def restore(cls, snapshot: bytes) -> TaughtModel:
        """The model of a snapshot.

        Parameters
        ----------
        snapshot : bytes

        Returns
        -------
        TaughtModel
        """
        try:
            size = int.from_bytes(snapshot[:8], "little")
            header = json.loads(snapshot[8 : 8 + size])
            model = cls.__new__(cls)
            model.kind = header["kind"]
            model.clock = int(header["clock"])
            model.replay = int(header["replay"])
            model._faded = int(header["faded"])
            model._shown = dict(header["shown"])
            model._fit = np.array(header["fit"], dtype=np.float64)
            parameters = header["parameters"]
            parameters["columns"] = tuple(parameters["columns"])
            model._tagger = SequenceTagger(**parameters)
        except (KeyError, TypeError, ValueError) as error:
            raise SeqpaError(f"the snapshot of the model is damaged: {error}") from None
        with tempfile.TemporaryDirectory(prefix="seqpa-") as folder:
            path = Path(folder) / "state"
            path.write_bytes(snapshot[8 + size :])
            model._tagger.load_state(path)
        # No lesson at all: from here on it tags with the weights that it learns, as the model did
        # of which the snapshot was taken.
        model._tagger.partial_fit([], [])
        return model

    def save(self, path: str | Path) -> None:
        """Write an ordinary model file, for `seqpa tag`.

        Parameters
        ----------
        path : str or Path
        """
        merged = [name for name in self.labels if list(self._shown.values()).count(name) > 1]
        if merged:
            raise SeqpaError(
                f"labels were merged into {merged[0]!r} after they were learned: train a model on "
                "the project (the button, or seqpa train), which learns them as one"
            )
        own = self._tagger.trained_
        labels = [label if label == _OUTSIDE else self._display(label) for label in own.labels]
        shown = Trained(own.source, own.weights, labels, own.constraints, own.epoch, own.scale)
        save_model(Path(path), shown, self._tagger.get_params())


def check_confirm(confirm: str) -> str:
    """How sentences are to be confirmed; a SeqpaError if there is no such way.

    Parameters
    ----------
    confirm : str

    Returns
    -------
    str
        The same.

    Examples
    --------
    >>> check_confirm("unsure")
    'unsure'
    """
    if confirm not in CONFIRM:
        raise SeqpaError(f"confirm is {confirm!r}: choose {' or '.join(CONFIRM)}")
    return confirm


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a tagger as JSON has them."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(parameters))
    except TypeError:
        raise SeqpaError(
            "this tagger cannot be taught: its features, costs or taggers are no plain settings"
        ) from None
    return found
