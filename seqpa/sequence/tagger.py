"""`SequenceTagger`: train, tag, explain, save. The one class that most users need."""

from __future__ import annotations

import copy
import inspect
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.data.corpus import Corpus
from seqpa.display import LiveCurve, in_notebook
from seqpa.errors import SeqpaError, did_you_mean, not_trained
from seqpa.model import ModelFile, load_state, read_model, save_model, save_state
from seqpa.sequence import training
from seqpa.sequence.answers import Answers
from seqpa.sequence.arguments import (
    check_parameters,
    check_whole,
    dev_pair,
    fold_counts,
    sentence_weights,
)
from seqpa.sequence.balance import may_be_missed, missed_times, missed_told
from seqpa.sequence.budget import Budget, bytes_of
from seqpa.sequence.chained import chain_of, completed
from seqpa.sequence.constraints import penalties
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.decoder import check_given
from seqpa.sequence.encode import starts_of
from seqpa.sequence.epoch_line import epoch_line
from seqpa.sequence.folds import FOLDS
from seqpa.sequence.inputs import (
    FeatureSource,
    PredictedCorpus,
    given_labels,
    in_documents,
    label_values,
    lengths_of,
    split,
)
from seqpa.sequence.learner import ChainLearner, Epoch, Lesson, Progress, chosen_update
from seqpa.sequence.marginals import Probabilities
from seqpa.sequence.orders import mean_of_orders
from seqpa.sequence.scale import CALIBRATION_FOLDS, HeldOut, fit_scale, training_folds
from seqpa.sequence.stages import check_words, first_stage, second_stage_names
from seqpa.sequence.streamed import (
    BlocksOnDisk,
    checked_encoder,
    encoded_on_disk,
    labels_of,
    text_on_disk,
)
from seqpa.sequence.trained import Learned, Trained
from seqpa.sequence.training import Labels, TrainingData, TrainingState, label_indices
from seqpa.sequence.weights import FrozenWeights, TrainingWeights

# How parameters are shown: so that a tagger fits on a screen.
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 4
_SHORT.maxstring = _SHORT.maxother = 60


# Bytes of memory for each byte of a saved state, while it is read.
_LOADED = 3.5


def _print_epoch(epoch: Epoch, epochs: int) -> None:
    print(epoch_line(epoch, epochs), flush=True)


def _check_known(labels: list[str], state: TrainingState) -> None:
    """Raise a SeqpaError where data have labels that a saved state does not know."""
    new = labels[len(state.labels) :]
    if new:
        raise SeqpaError(
            f"the training state does not know the label {new[0]!r}: "
            f"go on with the data that it was saved on"
        )


class SequenceTagger(Answers):
    """A first-order sequence tagger, trained online with passive-aggressive updates.

    The score of a label sequence is ``w·Φ(x, y)``, a sum over tokens and over pairs of neighbours
    (PA 2006, Eq. 59). For each sentence Viterbi finds the best sequence ŷ; where it is
    wrong, w moves by ``τ (Φ(x, y) − Φ(x, ŷ))``, just so far that the right sequence wins by a
    margin of ``√ρ(y, ŷ)``, the root of what the mistake costs (PA 2006, Eq. 44-49).

    Parameters
    ----------
    features : "auto", a preset's name, a list of templates, a function, or None
        What is seen of a token. The presets are "pos", "ner", "chunk" and, for whole documents,
        "ner-document". A function takes a sentence and returns a dict or a list of
        feature strings for each token; None is for tokens that already are such. "auto" takes
        tokens that are features as they are, and for words the preset "ner" if the labels are
        BIO labels, else "pos".
    columns : names of the cells of a tuple token; a string token is its first column
    cost : "auto", "hamming", "zero-one", "span", a Hierarchy, a label × label dict, or a function
        ρ(gold, predicted) of two label lists, called on mistakes only. ``{"missed": 4}`` counts
        wrong tokens, one of a span that is taken for outside four times; "auto" is that in `fit`,
        with a number that is measured on a part of the sentences (`missed_cost_`; 1 where labels
        mark no spans), and "hamming", wrong tokens, elsewhere
    algorithm : "pa-i", "pa", "pa-ii", "pa-ls", "perceptron" or "arow" (second order)
    C : float
        Aggressiveness of PA-I and PA-II: small is careful; for AROW 1/2r.
    update : which wrong sequence is pushed down: "prediction-based" (the prediction),
        "loss-augmented" (the sequence of the highest score + cost, with
        the cost itself as the margin, where the cost is a sum over tokens), "max-loss" (the highest
        score + √cost, exactly, where the cost is zero-one or a sum of whole numbers),
        "near-max-loss" (the better of two candidates for it: the prediction and the highest
        score + cost / 2; where the cost is a sum over tokens, and much faster) or "n-best" (the
        approximation of max-loss among the `n_best` best sequences, for every cost). "auto" is
        near-max-loss in `fit`, where the cost is a sum over tokens and the algorithm pa-i, pa-ii or
        pa-ls, without mini-batches; else, and in `partial_fit` and `learn_one`, prediction-based
    epochs : passes over the training sentences
    average : report the mean of all weight vectors instead of the last
    constraints : None, "bio", "bioes", or {"forbidden": pairs, "required": {label: followers}}
    random_state : None, an int or a generator; the order of the sentences
    n_jobs : threads for tagging, and for training where `lookahead` is not 1; results do not depend
        on it
    cutoff : leave out features seen fewer times in training
    n_best : candidates of the update "n-best"
    patience : stop after so many epochs without a better dev score; None goes on to the end
    shuffle : visit the sentences in a new random order each epoch
    resources : {name: file} of the lexicons and clusters that templates name
    warm_start : `fit` goes on from the present weights instead of starting from zero
    batch_size : so many sentences make one step: a small quadratic programme instead of a formula
        (algorithms "pa-i", "pa-ii" and "pa-ls"); smoother, and slower
    taggers : {column: a trained SequenceTagger, or the file of one}
        Columns that are predicted, in this order; each may look at those that are given and at
        those before it. Tokens need not have them. The model file holds the taggers too.
    jackknife : int, or {column: int}
        Where a tagger in `taggers` learned from the training text, its predictions there come from
        taggers of the same kind that learned from the rest of it, so many folds in all; the tokens
        must have the right labels of that column then. 0 takes its own predictions.
    calibration : "dev", "cv" or "none"
        On what `fit` fits the scale of probabilities (see `calibrate`): the dev set, if there is
        one; five parts of the training sentences, each with a tagger trained on the others, which
        takes five times as long again; or nothing
    stages : 1, or 2 for a second tagger that also sees the labels which a first one gives, here and
        to the same words and spans elsewhere in the document; six times the training
    seeds : int
        Train on so many random orders of the sentences, at the same time where there are cores, and
        tag with the mean of their weights: steadier, often a little better, as fast in tagging
    lookahead : 1, "auto" or int
        So many sentences are decoded with the same weights, on `n_jobs` threads, before the first
        of them moves the weights. 1 is the serial algorithm of the papers, whatever `n_jobs` is;
        "auto" looks as far as some ten updates go (docs/scaling.md has what it costs in
        accuracy). The result depends on this number, never on the threads.
    memory : None, int or str
        Train in so much memory, such as ``"2GB"``, for text that does not fit: it is kept on disk
        as numbers, and each epoch visits it in blocks, in a random order (docs/scaling.md)
    memory_folder : None, str or Path
        Where the disk is that `memory` uses; None for the system's folder of temporary files

    Attributes
    ----------
    classes_ : the labels
    n_iter_ : the epoch whose weights are kept
    missed_cost_ : how often a missed token of a span counted in `fit`, with the cost "auto"
    state_features_, transition_features_ : weights by (feature, label) and by (label, label)

    Examples
    --------
    >>> X = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "the", "rain"]]
    >>> y = [["D", "N", "V", "N"], ["D", "N", "V", "D", "N"]]
    >>> tagger = SequenceTagger(features=["word[0]", "word[-1]"], random_state=1).fit(X, y)
    >>> tagger.tag(["the", "saw", "cut", "rain"])
    [('the', 'D'), ('saw', 'N'), ('cut', 'V'), ('rain', 'N')]
    """

    def __init__(
        self,
        features: Any = "auto",
        columns: Sequence[str] = ("word",),
        cost: Any = "auto",
        algorithm: str = "pa-i",
        C: float = 0.05,
        update: str = "auto",
        epochs: int = 20,
        average: bool = True,
        constraints: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        cutoff: int = 1,
        n_best: int = 10,
        patience: int | None = None,
        shuffle: bool = True,
        resources: Mapping[str, Any] | None = None,
        warm_start: bool = False,
        batch_size: int = 1,
        taggers: Mapping[str, Any] | None = None,
        jackknife: Any = FOLDS,
        calibration: str = "dev",
        stages: int = 1,
        seeds: int = 1,
        lookahead: int | str = 1,
        memory: int | str | None = None,
        memory_folder: str | Path | None = None,
    ) -> None:
        self.features = features
        self.columns = columns
        self.cost = cost
        self.algorithm = algorithm
        self.C = C
        self.update = update
        self.epochs = epochs
        self.average = average
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.cutoff = cutoff
        self.n_best = n_best
        self.patience = patience
        self.shuffle = shuffle
        self.resources = resources
        self.warm_start = warm_start
        self.batch_size = batch_size
        self.taggers = taggers
        self.jackknife = jackknife
        self.calibration = calibration
        self.stages = stages
        self.seeds = seeds
        self.lookahead = lookahead
        self.memory = memory
        self.memory_folder = memory_folder
        self._learned = Learned()
        self._values: dict[str, Any] = {}

    # Training

    def fit(
        self,
        X: Any,
        y: Any = None,
        dev: Any = None,
        sample_weight: Any = None,
        verbose: int = 0,
        documents: Any = None,
    ) -> SequenceTagger:
        """Train on sentences and their labels.

        Parameters
        ----------
        X : list of sentences, or a corpus
        y : list of label lists
            Not needed where X is a `seqpa.data` corpus with labels. None in place of a label that
            is not known. Whole numbers and members of enums are labels too, and come back from
            `predict`; everywhere else, and in a model file, labels are text.
        dev : None, a pair (X, y), or a corpus, which may have documents
            The weights of the epoch that is best there are kept.
        sample_weight : None, or a number for each sentence
            Scales C; None takes the weights of a corpus that has some.
        verbose : int
            1 prints a line for each epoch; in a notebook, curves grow with each.
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        SequenceTagger
            Itself.
        """
        told: Callable[[str], None] | None = None
        show: Callable[[Epoch], None] | None = None
        if verbose and in_notebook():
            curve = LiveCurve(self.epochs)
            told, show = curve.tell, curve.show
        elif verbose:
            told = partial(print, flush=True)
            show = partial(_print_epoch, epochs=self.epochs)
        epochs = self.training(
            X, y, dev, sample_weight=sample_weight, documents=documents, told=told
        )
        del X, y  # a corpus that nobody else holds goes when it is encoded
        for epoch in epochs:
            if show is not None:
                show(epoch)
        return self

    def training(
        self,
        X: Any,
        y: Any = None,
        dev: Any = None,
        *,
        record: bool = False,
        sample_weight: Any = None,
        progress: Progress | None = None,
        documents: Any = None,
        told: Callable[[str], None] | None = None,
    ) -> Iterator[Epoch]:
        """`fit`, epoch by epoch, with usable weights after each; calibrated after the last.

        After `load_state` it goes on from the epoch at which the state was saved, to the same
        weights, bit for bit, as an unbroken run on the same data.

        Parameters
        ----------
        X : list of sentences, or a corpus
        y : list of label lists
            Not needed where X is a `seqpa.data` corpus with labels. None in place of a label that
            is not known.
        dev : None, a pair (X, y), or a corpus, which may have documents
            The weights of the epoch that is best there are kept.
        record : bool
            Keep what the loss bounds need of every sentence in `Epoch.order` and `Epoch.record`.
        sample_weight : None, or a number for each sentence
            Scales C; None takes the weights of a corpus that has some.
        progress : callable, optional
            Is told within an epoch how many sentences are done, and of how many.
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.
        told : callable, optional
            Is told in a few words what is done before the first epoch, where that takes long.

        Yields
        ------
        Epoch
            A record of each epoch.
        """
        self.check_parameters()
        dev_set = dev_pair(dev)
        learned = self._learned
        before = learned.set_aside()
        data: TrainingData | BlocksOnDisk
        if self.memory is not None:
            scored = dev_set is not None
            state, data = self._data_on_disk(X, y, sample_weight, record, scored, told)
        else:
            X = in_documents(X, documents)
            state, data, X = self._data_in_memory(X, y, sample_weight, told)
        values = label_values(y)
        self._check_data(state, data)
        data.check(self._learner(state.labels))
        if self.measures_balance and not learned.resumed and may_be_missed(state.labels):
            state.missed = self._missed_times(state, data, told)
        learner = self._learner(state.labels, missed=state.missed)
        training.warn_of_silence(state.labels, dev_set, self.patience)
        kept = (X, y, CALIBRATION_FOLDS, sample_weight) if self.calibration == "cv" else None
        del X, y
        epochs = training.run(
            state,
            learner,
            data,
            dev_set,
            epochs=self.epochs,
            patience=self.patience,
            shuffle=self.shuffle,
            record=record,
            progress=progress,
            n_jobs=int(self.n_jobs),
        )
        seen_with = self._what_is_seen()
        try:
            while True:
                with learned.lock:  # nobody reads the weights while they move
                    epoch = next(epochs, None)
                    if epoch is None:
                        break
                    learned.seen_with, learned.resumed = seen_with, False
                    self._values = values
                    if epoch.best:
                        learned.move(state)
                yield epoch
        except Exception:
            if self.warm_start:  # as if this training had not begun
                self._learned = before
            raise
        finally:
            data.close()
        if self.seeds > 1 and isinstance(data, TrainingData):
            if told is not None:
                more = "1 more order" if self.seeds == 2 else f"{self.seeds - 1} more orders"
                told(f"training {more} of the sentences")
            mean = mean_of_orders(
                state,
                learner,
                data,
                dev_set,
                training.generator(self.random_state),
                self.seeds,
                epochs=self.epochs,
                patience=self.patience,
            )
            self._settle_on(state, mean)
        if kept is not None:
            if told is not None:
                told(f"fitting probabilities: {CALIBRATION_FOLDS} trainings on parts of the text")
            self.calibrate(*kept)
        elif dev_set is not None:
            self.calibrate_by_dev(*dev_set)

    def _data_in_memory(
        self, X: Any, y: Any, sample_weight: Any, told: Callable[[str], None] | None
    ) -> tuple[TrainingState, TrainingData, Any]:
        """The state of a training that begins or goes on, its data, and the sentences with all
        columns."""
        flat = self._nonempty(given_labels(X, y))
        importance = sentence_weights(sample_weight, X, self.algorithm)
        X = self._completed(X)
        learned = self._learned
        if learned.resumed and learned.training is not None:
            state = learned.training
            encoded = state.source.again(X, flat)
            _check_known(training.with_new(state.labels, flat), state)
        elif self.warm_start and learned.is_fitted:
            self._check_one_stage("warm_start", learned.stages)
            self._check_same_features()
            state = self._warm_state()
            encoded = state.extend(X, flat)
        else:
            source = self._choose_source(X, flat)
            if self.stages > 1:
                check_words(source.encoder)
                labels_of_X = split(flat, lengths_of(X))
                source.first = first_stage(X, labels_of_X, importance, self._first_stage, told)
            encoded = source.learn(X, flat, int(self.n_jobs))
            state = self._new_state(source, training.with_new([], flat))
        return state, TrainingData(encoded, label_indices(flat, state.labels), importance), X

    def _data_on_disk(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        record: bool,
        scored: bool,
        told: Callable[[str], None] | None,
    ) -> tuple[TrainingState, BlocksOnDisk]:
        """The same with `memory`, for text that need not fit into it."""
        if record:
            raise SeqpaError("the loss bounds need all sentences at hand: leave out memory")
        tell = told or (lambda _: None)
        sample = [["a"]] if hasattr(X, "chunks") or isinstance(X, Corpus) else X
        learned = self._learned
        resumed = learned.training if learned.resumed else None
        # Whether they can be had is known before anything is read; what "auto" is, only after it.
        source = self._choose_source(sample, []) if resumed is None else resumed.source
        checked_encoder(source)
        budget = Budget(bytes_of(self.memory), self.memory_folder)
        if resumed is not None:
            checked_encoder(source).put_on_disk(self.memory_folder)
            resumed.weights.within(budget)
        tell("reading the text")
        text = text_on_disk(
            X,
            y,
            sample_weight,
            self.columns,
            self.algorithm,
            self.memory_folder,
            budget,
            checked_encoder(source).bytes_a_word if resumed is None else 0,
        )
        labels = labels_of(text)
        tell(
            f"{text.n_sentences:,} sentences, {text.n_tokens:,} tokens, {len(labels):,} labels; "
            f"numbering their features"
        )
        if resumed is not None:
            _check_known(training.with_new(resumed.labels, labels), resumed)
            data = encoded_on_disk(text, source, resumed.labels, grow=False)
            data.keep_back(source, self.epochs, scored)
            state = resumed
        else:
            if isinstance(self.features, str) and self.features == "auto":
                source = self._choose_source(sample, labels)
            data = encoded_on_disk(text, source, labels, grow=True)
            data.keep_back(source, self.epochs, scored)
            state = self._new_state(source, labels)
            state.weights.within(budget)
        return state, data

    def _new_state(self, source: FeatureSource, labels: list[str]) -> TrainingState:
        weights = TrainingWeights(
            len(labels), source.encoder.n_features, source.n_pair_features, self._second_order
        )
        return TrainingState(source, labels, weights, training.generator(self.random_state))

    def _missed_times(
        self,
        state: TrainingState,
        data: TrainingData | BlocksOnDisk,
        told: Callable[[str], None] | None,
    ) -> float:
        """How often a missed token of a span is to count."""
        sizes = state.weights.n_labels, state.weights.n_features, state.weights.n_pair_features
        weights = TrainingWeights(*sizes, self._second_order)
        if state.weights.budget is not None:
            weights.within(state.weights.budget)
        learner = self._learner(state.labels)
        found = missed_times(learner, data.sample(), weights, self.n_jobs)
        if told is not None and found > 1.0:
            told(missed_told(found))
        return found

    def _settle_on(self, state: TrainingState, weights: FrozenWeights) -> None:
        made = Trained(
            state.source, weights, state.labels, copy.deepcopy(self.constraints), state.best_epoch
        )
        with self._learned.lock:
            self._learned.settle_on(made)

    def _first_stage(self, X: Any, y: Any, sample_weight: Any) -> Trained:
        """A tagger of one stage with the same parameters, trained; columns that are predicted are
        there already."""
        alone: dict[str, Any] = {"stages": 1, "patience": None, "warm_start": False}
        alone |= {"taggers": None, "calibration": "none", "seeds": 1}
        tagger = SequenceTagger(**self.get_params() | alone)
        return tagger.fit(X, y, sample_weight=sample_weight).trained_

    def _check_one_stage(self, what: str, stages: int) -> None:
        if max(stages, self.stages) > 1:
            raise SeqpaError(
                f"{what} learns one stage only: with stages=2 call fit on all sentences, or set "
                f"stages=1 before the first training"
            )

    def _check_data(self, state: TrainingState, data: TrainingData | BlocksOnDisk) -> None:
        """Training that goes on wants the data that it began with."""
        marks = data.marks()
        if self._learned.resumed and state.data not in (None, marks):
            raise SeqpaError(
                "the training state was saved on other data: go on with those, or learn from more "
                "with partial_fit or warm_start"
            )
        state.data = marks

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        replay: int = 0,
        documents: Any = None,
    ) -> SequenceTagger:
        """Learn from new sentences, in the order given, with new features and new labels.

        Nothing learned before is forgotten, and a sentence costs what it costs, however large the
        model is. With `average` the mean goes over all sentences since training began, so that what
        is new shows in it slowly; with average=False it shows at once. After `load`, and in a copy
        by pickle or copy.deepcopy, there are no averaging sums: a new mean begins at the model's
        weights.

        Parameters
        ----------
        X : list of sentences, or a corpus
        y : list of label lists
            Not needed where X is a corpus with labels. None stands for a label that is not given.
        sample_weight : None or list of numbers
            What the C of each sentence is multiplied by.
        replay : int
            So many earlier sentences, drawn at random, are learned again in between, against
            forgetting. They are drawn from a sample of at most 1,000 sentences of `fit`,
            `partial_fit` and `learn_one`, which models and copies do not have.
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        SequenceTagger
            Itself.
        """
        self._learn(in_documents(X, documents), y, sample_weight, replay)
        return self

    def learn_one(
        self,
        tokens: Sequence[Any],
        labels: Sequence[str | None],
        weight: float = 1.0,
        replay: int = 0,
    ) -> Lesson:
        """Predict one sentence, be told its labels, and learn from it.

        Parameters
        ----------
        tokens : list of tokens
        labels : list of str
            None stands for a label that is not given.
        weight : float
            What C is multiplied by for this sentence.
        replay : int
            So many earlier sentences are learned again after it; see `partial_fit`.

        Returns
        -------
        Lesson
            What was predicted, with the weights of the moment, and what that led to.

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"], average=False)
        >>> tagger.learn_one(["so", "it", "is"], ["A", "P", "V"]).wrong_tokens
        2
        >>> tagger.learn_one(["it", "is"], ["P", "V"]).predicted
        ['P', 'V']
        """
        weights = None if weight == 1.0 else [weight]
        epoch, path, names = self._learn([tokens], [labels], weights, replay)
        loss, tau, _, cost = epoch.record[0].tolist() if epoch.record is not None else [0.0] * 4
        predicted = self._as_given([names[k] for k in path])
        return Lesson(predicted, cost, loss, tau, epoch.wrong_tokens)

    def fade_average(self, share: float) -> None:
        """Let the mean of all weight vectors so far count less beside those to come.

        With `average`, learning online tags with the mean since the beginning, of which the
        earliest knew little. Called with (n/m)^-3 where m sentences became n, the mean is one in
        which the vector after sentence t counts as t³.

        Parameters
        ----------
        share : float
            More than 0, at most 1: how much of a vote each vector of the past keeps. Nothing
            changes at once.

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"])
        >>> _ = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
        >>> tagger.fade_average(0.5)
        >>> tagger.predict_one(["so", "it", "is"])
        ['A', 'P', 'V']
        """
        if not 0.0 < share <= 1.0:
            raise SeqpaError(f"share is {share}: give a number above 0, at most 1")
        learned = self._learned
        with learned.lock:
            state = learned.learning()
            if state is None:
                raise SeqpaError("there is no mean to fade: learn with partial_fit or learn_one")
            state.weights.fade(share)

    def unlabel_replay(self, label: str) -> None:
        """Repeat no more that tokens of the sentences so far have this label.

        What was learned stays. For a label whose meaning has changed: where a kind of span is new,
        a token that was outside before may be of that kind.

        Parameters
        ----------
        label : str
            One that no sentence has yet changes nothing.

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"], random_state=1)
        >>> _ = tagger.learn_one(["Ada", "won"], ["B-PER", "O"])
        >>> tagger.unlabel_replay("O")
        >>> tagger.learn_one(["so"], ["O"], replay=1).predicted
        ['B-PER']
        """
        learned = self._learned
        with learned.lock:
            state = learned.learning()
            if state is not None and label in state.labels:
                state.reservoir.unlabel(state.labels.index(label))

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, replay: int
    ) -> tuple[Epoch, NDArray[np.int32], list[str]]:
        """Learn online; the pass, what was predicted for the last sentence, and the labels."""
        self.check_parameters()
        flat = given_labels(X, y)
        values = label_values(y)
        importance = sentence_weights(sample_weight, X, self.algorithm)
        check_whole("replay", replay, 0)
        learned = self._learned
        self._check_one_stage("partial_fit", learned.stages)
        with learned.lock:
            if learned.is_fitted:
                self._check_same_features()
            state = learned.learning()
            if state is None and learned.is_fitted:
                state = self._warm_state()
            elif state is None:
                source = self._choose_source(X, self._nonempty(flat))
                weights = TrainingWeights(1, 0, source.n_pair_features, self._second_order)
                state = TrainingState(source, [], weights, training.generator(self.random_state))
            if state.weights.second_order != self._second_order:
                raise SeqpaError(
                    "partial_fit cannot change to or from algorithm='arow': use fit, or warm_start"
                )
            labels = training.with_new(state.labels, flat)
            learner = self._learner(labels, online=True)
            gold = label_indices(flat, labels)
            starts = starts_of(lengths_of(X), len(flat))
            check_given(gold, starts, learner.rules, labels)
            replayed = state.reservoir.draw(replay)
            before = None
            if learner.cost.kind == "python" and len(starts) + len(replayed) > 2:
                # The user's function may fail after some sentences: then none was learned.
                before = state.labels, state.weights.copy()
            encoded = state.extend(X, flat, online=True)
            data = TrainingData(encoded, gold, importance)
            try:
                epoch, path = training.lesson(state, learner, data, replayed)
            except BaseException:
                if before is not None:
                    state.labels, state.weights = before
                    state.settle()
                raise
            state.source.remember(X, flat)
            state.online = state.online.plus(epoch)
            state.data, state.best_epoch = None, state.epoch
            learned.seen_with = self._what_is_seen()
            self._values |= values
            learned.go_live(state)
            state.reservoir.add(encoded, gold, importance)
            return epoch, path, labels

    @property
    def _second_order(self) -> bool:
        return self.algorithm == "arow"

    def _choose_source(self, X: Any, flat: Labels) -> FeatureSource:
        cutoff = int(self.cutoff) if isinstance(self.cutoff, np.integer) else self.cutoff
        labels = training.with_new([], flat)
        more = second_stage_names(self.columns) if self.stages > 1 else ((), ())
        source = FeatureSource.choose(
            self.features, self.columns, cutoff, self.resources, X, labels, more
        )
        self._attach_taggers(source)
        return source

    def _column_taggers(self) -> dict[str, SequenceTagger]:
        """The taggers of the columns that are predicted; those named by their files are loaded."""
        return {
            name: SequenceTagger.load(tagger) if isinstance(tagger, (str, Path)) else tagger
            for name, tagger in (self.taggers or {}).items()
        }

    def _attach_taggers(self, source: FeatureSource) -> None:
        if self.taggers:
            source.attach(chain_of(self._column_taggers()))

    def _completed(self, X: Any) -> Any:
        """The training sentences with the columns that taggers predict."""
        if not self.taggers or isinstance(X, PredictedCorpus):
            return X
        taggers = self._column_taggers()
        chain_of(taggers).check(self.columns)
        folds = fold_counts(self.jackknife, taggers)
        found = completed(X, self.columns, taggers, folds)
        # A later look, as that of `calibrate`, finds the labels where it found them before.
        return replace(found, labels=X.labels) if isinstance(X, Corpus) else found

    def _what_is_seen(self) -> tuple[Any, Any]:
        features = self.features
        return list(features) if isinstance(features, tuple) else features, list(self.columns)

    def _check_same_features(self) -> None:
        """Going on means with the features that there are: weights know no others."""
        if self._what_is_seen() != self._learned.seen_with:
            raise SeqpaError(
                "features or columns have changed since the tagger was trained: set them back to "
                "go on from its weights, or fit a new tagger"
            )

    def _warm_state(self) -> TrainingState:
        trained = self._trained()
        return TrainingState(
            copy.deepcopy(trained.source),  # others may be reading that one
            list(trained.labels),
            TrainingWeights.thawed(trained.weights, self._second_order),
            training.generator(self.random_state),
            scale=trained.scale,
        )

    def _learner(
        self, labels: list[str], online: bool = False, missed: float = 1.0
    ) -> ChainLearner:
        def make() -> ChainLearner:
            given = {"missed": missed} if self.measures_balance and missed > 1.0 else self.cost
            cost, batch_size = sequence_cost(given, labels), int(self.batch_size)
            return ChainLearner(
                self.algorithm,
                self.C,
                cost,
                penalties(self.constraints, labels),
                labels,
                chosen_update(self.update, self.algorithm, cost, batch_size, online),
                self.n_best,
                self.average,
                batch_size,
                self.lookahead,
            )

        if not (isinstance(self.cost, str) or callable(self.cost)):
            return make()  # a table may have been changed in place
        learning = (self.algorithm, self.C, self.update, self.n_best, self.average, self.batch_size)
        key = (*learning, self.lookahead, online, self.cost, missed, self.constraints, labels)
        return self._learned.learner(key, make)

    def learner_for(self, labels: list[str], missed: float = 1.0) -> ChainLearner:
        """What makes the epochs of this tagger's training, for these labels.

        Parameters
        ----------
        labels : list of str
            In the order of their numbers.
        missed : float
            How often a missed token of a span counts, with the cost "auto".

        Returns
        -------
        ChainLearner
        """
        return self._learner(labels, missed=missed)

    def settle_on(self, trained: Trained) -> SequenceTagger:
        """Tag with what was learned elsewhere, with the same parameters.

        Parameters
        ----------
        trained : Trained

        Returns
        -------
        SequenceTagger
            Itself.
        """
        self._learned = Learned(trained=trained, seen_with=self._what_is_seen())
        return self

    @staticmethod
    def _nonempty(flat: list[str | None]) -> list[str | None]:
        if not flat:
            raise SeqpaError("there is no token to learn from: every training sentence is empty")
        if flat.count(None) == len(flat):
            raise SeqpaError("there is no label to learn from: every label is None")
        return flat

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns that tokens must have: those that no tagger in `taggers` predicts.

        Examples
        --------
        >>> pos = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
        >>> SequenceTagger(columns=("word", "pos"), taggers={"pos": pos}).input_columns
        ('word',)
        """
        return tuple(name for name in self.columns if name not in (self.taggers or {}))

    def check_parameters(self) -> None:
        """Raise a SeqpaError where a parameter has a value that it cannot have."""
        check_parameters(vars(self))  # their names need not be looked up for every lesson

    # The scale of probabilities

    def calibrate(
        self,
        X: Any,
        y: Any = None,
        folds: int | None = None,
        sample_weight: Any = None,
        documents: Any = None,
    ) -> SequenceTagger:
        """Fit the scale of probabilities to sentences and their labels.

        A label sequence has the probability exp(scale · score) / Z. The scale is that which makes
        the labels most probable, token by token. `fit` with a dev set does it by itself. Learning
        more leaves the scale as it is.

        Parameters
        ----------
        X : list of sentences, or a corpus
            That the tagger was not trained on; with `folds`, that it was trained on.
        y : list of label lists
            Not needed where X is a corpus with labels. None stands for a label that is not known.
        folds : None or int
            Cut the sentences into so many parts that follow one another, tag each with a tagger
            that is trained on the others, and fit the scale to all of them.
        sample_weight : None, or a number for each sentence
            For the training of these.
        documents : None, or a list
            For each sentence the name of its document, as for `fit`.

        Returns
        -------
        SequenceTagger
            Itself.

        Examples
        --------
        >>> X = [["so", "it", "is"], ["it", "was"], ["so", "is", "it"]]
        >>> y = [["A", "P", "V"], ["P", "V"], ["A", "V", "P"]]
        >>> tagger = SequenceTagger(["word[0]"], random_state=1).fit(X[:2], y[:2])
        >>> tagger.calibrate(X[2:], y[2:]).probability_scale_ > 1
        True
        """
        self.check_parameters()
        flat = given_labels(X, y)
        X = in_documents(X, documents)
        if folds is None:
            parts = [self._held_out(X, flat)]
        else:
            check_whole("folds", folds, 2)
            cut = training_folds(self._completed(X), flat, folds, sample_weight)
            try:
                parts = [self._held_out_fold(*both) for both in cut]
            except SeqpaError as error:
                raise SeqpaError(f"calibration by parts of the text: {error}") from None
        self._learned.set_scale(fit_scale(parts))
        return self

    def calibrate_by_dev(self, X: Any, y: Any = None) -> None:
        """`calibrate` with the dev set of a training, if the parameter `calibration` wants that.

        A dev set with none of the tagger's labels, of which training warns, leaves the scale as it
        is: what was learned is not lost over it.

        Parameters
        ----------
        X : list of sentences, or a corpus
        y : list of label lists
            Not needed where X is a corpus.

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
        >>> tagger.calibrate_by_dev([["so"]], [["Q"]])
        >>> tagger.probability_scale_
        1.0
        """
        if self.calibration == "dev":
            held = self._held_out(X, given_labels(X, y))
            if (held.gold >= 0).any():
                self._learned.set_scale(fit_scale([held]))

    def scale_likelihoods(self, X: Any, y: Any, scales: Sequence[float]) -> NDArray[np.float64]:
        """How probable labels are at each of several scales of probabilities, as a sum of logs.

        Parameters
        ----------
        X : list of sentences, or a corpus
            That the tagger has not learned from yet.
        y : list of label lists
            None stands for a label that is not known.
        scales : sequence of float

        Returns
        -------
        array, (scales,)
            Σ log P(label of a token); never more than 0.

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"], average=False)
        >>> _ = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
        >>> found = tagger.scale_likelihoods([["so", "it"]], [["A", "P"]], [1.0, 10.0, 100.0])
        >>> found.round(1).tolist()
        [-2.1, -1.6, -0.0]
        """
        held = self._held_out(X, given_labels(X, y))
        return np.array(
            [Probabilities(held.decoder, own).likelihood(held.encoded, held.gold) for own in scales]
        )

    def set_probability_scale(self, scale: float) -> None:
        """Tell probabilities with this scale from now on; see `calibrate`, which finds one.

        Parameters
        ----------
        scale : float

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"], average=False)
        >>> _ = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
        >>> tagger.set_probability_scale(20.0)
        >>> tagger.probability_scale_
        20.0
        """
        if not 0.0 < scale < float("inf"):
            raise SeqpaError(f"the scale of probabilities is {scale}: give a positive number")
        self._learned.set_scale(scale)

    def _held_out(self, X: Any, flat: Labels) -> HeldOut:
        encoded, decoder = self._tagging().prepared(X)
        known = self.classes_[: decoder.n_labels]
        index = {label: k for k, label in enumerate(known)}
        gold = np.array([-1 if own is None else index.get(own, -1) for own in flat], np.int32)
        return HeldOut(encoded, decoder, gold)

    def _held_out_fold(self, rest: tuple[Any, Any, Any], fold: tuple[Any, Labels]) -> HeldOut:
        """A tagger like this one, trained on some sentences, and what it makes of the others;
        columns that are predicted are there already."""
        parameters = self.get_params() | {"taggers": None}
        other = type(self)(**copy.deepcopy(parameters))
        other.set_params(calibration="none", warm_start=False)
        X, y, weights = rest
        return other.fit(X, y, sample_weight=weights)._held_out(*fold)

    # Where training stands, files, scikit-learn

    @property
    def online_mistakes_(self) -> int:
        """How many sentences were predicted wrongly when they came, since training began."""
        return self.training_state_.online.mistakes

    @property
    def online_cost_(self) -> float:
        """What these mistakes cost."""
        return self.training_state_.online.cost

    @property
    def online_loss_(self) -> float:
        """The sum of the losses that were suffered on the way (PA 2006, Eq. 45)."""
        return self.training_state_.online.loss

    @property
    def online_squared_loss_(self) -> float:
        """The sum of their squares."""
        return self.training_state_.online.squared_loss

    @property
    def measures_balance(self) -> bool:
        """Whether `fit` measures how often a missed token of a span is to count."""
        return isinstance(self.cost, str) and self.cost == "auto"

    @property
    def missed_cost_(self) -> float:
        """How often a missed token of a span counted in `fit`, with the cost "auto"."""
        found = self._learned.missed
        return self.training_state_.missed if found is None else found

    @property
    def training_state_(self) -> TrainingState:
        """What training goes on from."""
        state = self._learned.training
        if state is None:
            raise not_trained(
                "there is no training state: only a tagger that is being trained has one"
            )
        return state

    def end_learning(self) -> None:
        """Keep what tags alone, for the memory that learning on would take.

        Examples
        --------
        >>> tagger = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
        >>> tagger.end_learning()
        >>> tagger.predict([["it"]])
        [['P']]
        """
        with self._learned.lock:
            self._learned.take(self.average, self.constraints)
            self._learned.end_learning()

    @property
    def training_is_over(self) -> bool:
        """Whether training has come to its last epoch: by their number, or by `patience`."""
        return self.training_state_.is_over(self.epochs, self.patience)

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Write the model: what tagging needs, in one safetensors file, atomically.

        Parameters
        ----------
        path : str or Path
        half : bool
            Store weights as float16, half the size.
        """
        save_model(Path(path), self._trained(), self.get_params(), half=half)

    @classmethod
    def load(cls, path: str | Path, *, allow_imports: bool = False) -> SequenceTagger:
        """Read a model. A damaged or foreign file is a SeqpaError.

        Parameters
        ----------
        path : str or Path
        allow_imports : bool
            Import the functions that the model names as ``module:function``; without it, a model
            that needs one is refused, so that no file can run code.

        Returns
        -------
        SequenceTagger
        """
        return cls.from_model(read_model(Path(path)), allow_imports=allow_imports)

    @classmethod
    def from_model(cls, model: ModelFile, *, allow_imports: bool = False) -> SequenceTagger:
        """The tagger in a model file that `seqpa.model.read_model` has read.

        Parameters
        ----------
        model : ModelFile
        allow_imports : bool
            As for `load`.

        Returns
        -------
        SequenceTagger
        """
        parameters, trained = model.open(allow_imports=allow_imports)
        try:
            return cls._opened(parameters, trained)
        except (SeqpaError, TypeError) as error:
            raise SeqpaError(f"{model.path}: is damaged: {error}") from None

    @classmethod
    def _opened(cls, parameters: Mapping[str, Any], trained: Trained) -> SequenceTagger:
        """A tagger from the parts of a file, with the taggers of its columns."""
        chain = trained.source.chain
        inner = None
        if chain is not None:
            inner = {
                name: cls._opened(chain.parameters[name], one)
                for name, one in chain.taggers.items()
            }
        tagger = cls(**parameters, taggers=inner)
        tagger.check_parameters()
        tagger._learned = Learned(trained=trained, seen_with=tagger._what_is_seen())
        return tagger

    def save_state(self, path: str | Path) -> None:
        """Write the training state, from which `training` goes on bit for bit.

        Parameters
        ----------
        path : str or Path
        """
        save_state(Path(path), self.training_state_, self.get_params())

    def load_state(self, path: str | Path) -> SequenceTagger:
        """Read a training state into this tagger, which must have the same parameters.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        SequenceTagger
            Itself.
        """
        if self.memory is not None and Path(path).is_file():
            size = Path(path).stat().st_size
            Budget(bytes_of(self.memory)).check(_LOADED * size, "the saved state", "")
        state = load_state(Path(path), self.get_params())
        self._attach_taggers(state.source)
        self._learned = Learned(seen_with=self._what_is_seen(), training=state)
        return self

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        found = inspect.signature(cls.__init__).parameters
        return {name: own.default for name, own in found.items() if name != "self"}

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return list(cls._defaults())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn wants them.

        Parameters
        ----------
        deep : bool
            Of no effect: no parameter has parameters of its own.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> SequenceTagger:
        """Change parameters by name.

        Parameters
        ----------
        **params : any
            New values.

        Returns
        -------
        SequenceTagger
            Itself.
        """
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise SeqpaError(
                    f"SequenceTagger has no parameter {name!r}{did_you_mean(name, names)}"
                )
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __sklearn_clone__(self) -> SequenceTagger:
        from sklearn.base import clone

        # The taggers of columns are given, not to be trained again: they stay as they are.
        parameters = self.get_params()
        taggers = parameters.pop("taggers")
        cloned = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**cloned, taggers=taggers)

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned.is_fitted

    def __repr__(self) -> str:
        given = [(name, getattr(self, name), own) for name, own in self._defaults().items()]
        changed = [
            f"{name}={_SHORT.repr(value)}"
            for name, value, default in given
            if repr(value) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __getstate__(self) -> dict[str, Any]:
        """Parameters and weights; the training state and the kernel's objects stay behind."""
        if self._learned.is_fitted:
            self._trained()  # frozen now, or the copy would have nothing to tag with
        return self.__dict__.copy()
