"""`SequenceTagger`: train, tag, explain, save. The one class that most users need."""

from __future__ import annotations

import copy
import inspect
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa._kernel.chain import FORBIDDEN
from seqpa.data.corpus import Corpus
from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.sequence.constraints import check_legal, penalties
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.decoder import Decoder, FrozenWeights, no_legal_sequence
from seqpa.sequence.encode import Encoded, starts_of
from seqpa.sequence.explain import TokenExplanation, explain
from seqpa.sequence.inputs import (
    FeatureSource,
    check_sentences,
    flat_labels,
    is_list,
    lengths_of,
)
from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.tagging import Tagging
from seqpa.sequence.training import (
    Epoch,
    TrainingState,
    dev_score,
    extend,
    generator,
    label_indices,
    sum_of,
    undoing,
    with_new,
)
from seqpa.sequence.weights import TrainingWeights

_REFRESHING = threading.Lock()


class SequenceTagger:
    """A first-order sequence tagger, trained online with passive-aggressive updates.

    The score of a label sequence is ``w·Φ(x, y)``, a sum over tokens and over pairs of neighbours
    (Crammer et al. 2006, Eq. 59). For each sentence Viterbi finds the best sequence ŷ; where it is
    wrong, w moves by ``τ (Φ(x, y) − Φ(x, ŷ))``, just so far that the right sequence wins by a
    margin of ``√ρ(y, ŷ)``, the root of what the mistake costs (Eq. 44-49).

    Parameters
    ----------
    features : "auto", "pos", "ner", "chunk", a list of templates, a function, or None
        What is seen of a token. A function takes a sentence and returns a dict or a list of
        feature strings for each token; None is for tokens that already are such. "auto" takes
        tokens that are features as they are, and for words the preset "ner" if the labels are
        BIO labels, else "pos".
    columns : names of the cells of a tuple token; a string token is its first column
    cost : "hamming", "zero-one", "span", a Hierarchy, a label × label dict, or a function
        ρ(gold, predicted) of two label lists, called on mistakes only.
    algorithm : "pa-i", "pa", "pa-ii", "pa-ls", "perceptron" or "arow" (second order)
    C : float
        Aggressiveness of PA-I and PA-II: small is careful; for AROW 1/2r.
    update : "prediction-based", "max-loss" (exact, for the zero-one cost) or "n-best" (the
        approximation of max-loss among the `n_best` best sequences, for every cost)
    epochs : passes over the training sentences
    average : report the mean of all weight vectors instead of the last
    constraints : None, "bio", "bioes", or {"forbidden": pairs, "required": {label: followers}}
    random_state : None, an int or a generator; the order of the sentences
    n_jobs : threads for tagging; results do not depend on it
    cutoff : leave out features seen fewer times in training
    n_best : candidates of the update "n-best"
    patience : stop after so many epochs without a better dev score; None goes on to the end
    shuffle : visit the sentences in a new random order each epoch
    resources : {name: file} of the lexicons and clusters that templates name
    warm_start : `fit` goes on from the present weights instead of starting from zero
    batch_size : so many sentences make one step: a small quadratic programme instead of a formula
        (algorithms "pa-i", "pa-ii" and "pa-ls"); smoother, and slower

    Attributes
    ----------
    classes_ : the labels
    n_iter_ : the epoch whose weights are kept
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
        cost: Any = "hamming",
        algorithm: str = "pa-i",
        C: float = 0.02,
        update: str = "prediction-based",
        epochs: int = 10,
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
        self._state: TrainingState | None = None
        self._resumed: TrainingState | None = None
        self._stale = False
        self._seen_with: tuple[Any, Any] | None = None  # features and columns of the last training

    # Training

    def fit(self, X: Any, y: Any = None, dev: Any = None) -> SequenceTagger:
        """Train on sentences X and their label lists y (or on a `seqpa.data` corpus that has them).

        dev : None, or (X, y) or a corpus: the weights of the epoch that is best there are kept.
        """
        epochs = self.training(X, y, dev)
        del X, y  # a corpus that nobody else holds goes when it is encoded
        for _ in epochs:
            pass
        return self

    def training(
        self, X: Any, y: Any = None, dev: Any = None, *, record: bool = False
    ) -> Iterator[Epoch]:
        """`fit`, epoch by epoch: a generator of records, with usable weights after each.

        After `load_state` it goes on from the epoch at which the state was saved, to the same
        weights, bit for bit, as an unbroken run on the same data. record: keep what the loss
        bounds need of every sentence in `Epoch.totals.record`.
        """
        self._check_parameters()
        flat = self._nonempty(flat_labels(X, y))
        dev_pair = self._dev(dev)
        undo = None
        if self._resumed is not None:
            state = self._resumed
            encoded = state.source.transform(X)
            unknown = set(flat) - set(state.labels)
            if unknown:
                raise SeqpaError(
                    f"the training state does not know the label {sorted(unknown)[0]!r}: "
                    f"go on with the data that it was saved on"
                )
        elif self.warm_start and self.__sklearn_is_fitted__():
            self._check_same_features()
            state = self._warm_state()
            frozen = self._frozen
            undo = undoing(state, lambda: TrainingWeights.thawed(frozen, self._second_order))
            encoded = extend(state, X, flat)
            self._moved(state)  # the encoder knows more features than the frozen weights
        else:
            source = self._choose_source(X, flat)
            encoded = source.learn(X)
            self._seen_with = self._what_is_seen()
            labels = sorted(set(flat))
            weights = TrainingWeights(
                len(labels), source.encoder.n_features, source.n_pair_features, self._second_order
            )
            state = TrainingState(source, labels, weights, generator(self.random_state))
        try:
            gold = label_indices(flat, state.labels)
            self._check_data(state, encoded, gold)
            learner = self._learner(state.labels)
            check_legal(gold, encoded.starts, learner.rules, state.labels)
            del X, y, flat
            yield from self._epochs(state, learner, encoded, gold, dev_pair, record)
        except Exception:
            if undo is not None:  # as if this training had not begun
                undo()
                self._moved(state)
            raise

    def _check_data(self, state: TrainingState, encoded: Encoded, gold: NDArray[np.int32]) -> None:
        """Training that goes on wants the data that it began with."""
        data = sum_of(encoded, gold)
        if self._resumed is not None and state.data not in (None, data):
            raise SeqpaError(
                "the training state was saved on other data: go on with those, or learn from more "
                "with partial_fit or warm_start"
            )
        state.data, self._resumed = data, None

    def _epochs(
        self,
        state: TrainingState,
        learner: ChainLearner,
        encoded: Encoded,
        gold: NDArray[np.int32],
        dev: tuple[Any, list[list[str]]] | None,
        record: bool,
    ) -> Iterator[Epoch]:
        n = len(encoded.starts) - 1
        dev_encoded = None if dev is None else state.source.transform(dev[0])
        patience = self.epochs if self.patience is None else self.patience
        while state.epoch < self.epochs and state.epoch - state.best_epoch < patience:
            order = state.rng.permutation(n) if self.shuffle else np.arange(n)
            begun = time.perf_counter()
            totals = learner.epoch(state.weights, encoded, gold, order.astype(np.int64), record)
            seconds = time.perf_counter() - begun
            state.epoch += 1
            self._state = state
            score = None
            best = True
            if dev is None or dev_encoded is None:
                self._moved(state)
            else:
                frozen = state.weights.freeze(self.average)
                indices = Decoder(frozen, learner.rules).decode(dev_encoded)
                score = dev_score(dev[1], strings.spell(state.labels, indices, dev_encoded.starts))
                best = state.best_score is None or score > state.best_score
                if best:
                    state.best_score = score
                    self._keep(frozen)
            if best:
                state.best_epoch = state.epoch
            self.n_iter_ = state.best_epoch
            yield Epoch(state.epoch, totals, seconds, score, best)

    def partial_fit(self, X: Any, y: Any = None) -> SequenceTagger:
        """One pass over new sentences, in the order given, with new features and new labels.

        Nothing learned before is forgotten. With `average` the mean goes over all sentences since
        training began, so that what is new shows in it slowly; with average=False it shows at
        once. After `load`, and in a copy by pickle or copy.deepcopy, there are no averaging sums: a
        new mean begins at the model's weights.
        """
        self._check_parameters()
        flat = flat_labels(X, y)
        state = self._state
        if self.__sklearn_is_fitted__():
            self._check_same_features()
        if state is None and self.__sklearn_is_fitted__():
            state = self._warm_state()
        elif state is None:
            source = self._choose_source(X, self._nonempty(flat))
            weights = TrainingWeights(1, 0, source.n_pair_features, self._second_order)
            state = TrainingState(source, [], weights, generator(self.random_state))
        if state.weights.second_order != self._second_order:
            raise SeqpaError(
                "partial_fit cannot change to or from algorithm='arow': use fit, or warm_start"
            )
        labels = with_new(state.labels, flat)
        learner = self._learner(labels)
        gold = label_indices(flat, labels)
        check_legal(gold, starts_of(lengths_of(X), len(flat)), learner.rules, labels)
        undo = None
        if learner.cost.kind == "python":
            before = state.weights.copy()
            undo = undoing(state, lambda: before)
        was_fitted = self.__sklearn_is_fitted__()
        encoded = extend(state, X, flat)
        self._seen_with = self._what_is_seen()
        if was_fitted:
            self._moved(state)  # the encoder knows more features than the frozen weights
        order = np.arange(len(encoded.starts) - 1, dtype=np.int64)
        try:
            learner.epoch(state.weights, encoded, gold, order)
        except BaseException:  # the user's cost failed: as if nothing had been learned here
            if undo is not None and was_fitted:
                undo()
                self._moved(state)
            raise
        self._moved(state)
        state.data = self._resumed = None
        self.n_iter_ = state.best_epoch = state.epoch
        return self

    @property
    def _second_order(self) -> bool:
        return self.algorithm == "arow"

    def _choose_source(self, X: Any, flat: list[str]) -> FeatureSource:
        cutoff = int(self.cutoff) if isinstance(self.cutoff, np.integer) else self.cutoff
        return FeatureSource.choose(self.features, self.columns, cutoff, self.resources, X, flat)

    def _what_is_seen(self) -> tuple[Any, Any]:
        features = self.features
        return list(features) if isinstance(features, tuple) else features, list(self.columns)

    def _check_same_features(self) -> None:
        """Going on means with the features that there are: weights know no others."""
        if self._what_is_seen() != self._seen_with:
            raise SeqpaError(
                "features or columns have changed since the tagger was trained: set them back to "
                "go on from its weights, or fit a new tagger"
            )

    def _warm_state(self) -> TrainingState:
        self._refresh()
        return TrainingState(
            self._source,
            list(self.classes_),
            TrainingWeights.thawed(self._frozen, self._second_order),
            generator(self.random_state),
        )

    def _learner(self, labels: list[str]) -> ChainLearner:
        return ChainLearner(
            self.algorithm,
            self.C,
            sequence_cost(self.cost, labels),
            penalties(self.constraints, labels),
            labels,
            self.update,
            self.n_best,
            self.average,
            int(self.batch_size),
        )

    @staticmethod
    def _nonempty(flat: list[str]) -> list[str]:
        if not flat:
            raise SeqpaError("there is no token to learn from: every training sentence is empty")
        return flat

    def _check_parameters(self) -> None:
        for name, least in (
            ("epochs", 1),
            ("n_best", 1),
            ("n_jobs", 1),
            ("patience", 1),
            ("batch_size", 1),
        ):
            value = getattr(self, name)
            if name == "patience" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise SeqpaError(f"{name} is {value!r}: it must be a whole number from {least} on")
        for name in ("average", "shuffle", "warm_start"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise SeqpaError(f"{name} is {getattr(self, name)!r}: it must be True or False")

    def _dev(self, dev: Any) -> tuple[Any, list[list[str]]] | None:
        if dev is None:
            return None
        if isinstance(dev, Corpus):
            X, y = dev, None
        elif isinstance(dev, (list, tuple)) and len(dev) == 2:
            X, y = dev
        else:
            raise SeqpaError("dev must be a pair (X, y) of sentences and labels, or a corpus")
        try:
            if not flat_labels(X, y):
                raise SeqpaError("there is no token to score")
        except SeqpaError as error:
            raise SeqpaError(f"the dev set: {error}") from None
        return X, X.y if y is None else [list(labels) for labels in y]

    def _moved(self, state: TrainingState) -> None:
        """The weights have moved: tag with them from now on, and freeze them when that is asked."""
        self._state, self._stale = state, True
        self.classes_ = list(state.labels)

    def _keep(self, frozen: FrozenWeights) -> None:
        """Tag with these weights of the present training state from now on."""
        assert self._state is not None
        self._frozen = frozen
        self._source = self._state.source
        self.classes_ = list(self._state.labels)
        self._prepare()
        self._stale = False

    def _prepare(self) -> None:
        """Tag with the present weights and constraints from now on."""
        rules = penalties(self.constraints, self.classes_)
        self._tagging = Tagging(self._source, self._frozen, rules, self.classes_)
        self._tagging_constraints = copy.deepcopy(self.constraints)

    def _refresh(self) -> Tagging:
        """What tags with the present weights and constraints, whoever changed them."""
        if self._stale:
            with _REFRESHING:
                if self._stale and self._state is not None:
                    self._keep(self._state.weights.freeze(self.average))
        if not hasattr(self, "_tagging"):
            raise NotTrainedError(
                "this SequenceTagger is not trained yet: call fit, or load a model"
            )
        if self.constraints != self._tagging_constraints:
            self._prepare()
        return self._tagging

    # Tagging

    def predict(self, X: Any, fixed: Any = None) -> list[list[str]]:
        """The best label list of each sentence; safe to call from many threads, while none trains.

        fixed : None, or for each sentence a list with the label that a token must get, or None
            where it is free.
        """
        tagging = self._refresh()
        given = None if fixed is None else self._fixed_indices(X, fixed)
        return tagging.predict(X, given, self.n_jobs)

    def tag(self, tokens: Sequence[Any]) -> list[tuple[Any, str]]:
        """The tokens of one sentence, each with its label."""
        (labels,) = self.predict([tokens])
        return list(zip(tokens, labels, strict=True))

    def predict_nbest(self, X: Any, k: int) -> list[list[tuple[float, list[str]]]]:
        """For each sentence the k best label lists with their scores, best first.

        Fewer than k where a sentence has fewer (legal) label sequences.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise SeqpaError(f"k is {k!r}: it must be a whole number from 1 on")
        tagging = self._refresh()
        encoded = tagging.encode(X)
        return [
            [
                (score, [self.classes_[label] for label in path])
                for score, path in tagging.decoder.nbest(encoded, i, int(k))
            ]
            for i in range(len(encoded.starts) - 1)
        ]

    def confidence(self, X: Any) -> list[tuple[float, list[float]]]:
        """For each sentence how sure the tagger is of it, and of each of its labels.

        A token's confidence is by how much the predicted sequence beats the best one that has
        another label there; the sentence's, by how much it beats every other: the least of its
        tokens'. Infinite where there is no alternative.
        """
        tagging = self._refresh()
        encoded = tagging.encode(X)
        result = []
        for i in range(len(encoded.starts) - 1):
            scores = tagging.decoder.max_marginals(encoded, i)
            if scores.size and scores.max() < 0.5 * FORBIDDEN:
                raise no_legal_sequence(i, False)
            if scores.shape[1] > 1:
                ordered = np.sort(scores, axis=1)
                margins = ordered[:, -1] - ordered[:, -2]
                margins[margins > 1e29] = np.inf  # every alternative is forbidden
            else:
                margins = np.full(len(scores), np.inf)
            result.append((float(margins.min(initial=np.inf)), margins.tolist()))
        return result

    def score(self, X: Any, y: Any = None) -> float:
        """The share of tokens that get the right label."""
        flat = flat_labels(X, y)
        predicted = [label for labels in self.predict(X) for label in labels]
        if not flat:
            raise SeqpaError("there is no token to score: every sentence is empty")
        return sum(g == p for g, p in zip(flat, predicted, strict=True)) / len(flat)

    def explain(self, sentence: Sequence[Any]) -> list[TokenExplanation]:
        """Why each token of one sentence got its label: see `seqpa.sequence.explain`."""
        tagging = self._refresh()
        encoded = tagging.encode([sentence])
        plain = self._source.transform([sentence])
        return explain(
            list(sentence),
            tagging.decoder,
            self._frozen,
            self._source,
            self.classes_,
            encoded,
            plain,
        )

    def _fixed_indices(self, X: Any, fixed: Any) -> NDArray[np.int32]:
        check_sentences(X)
        if (
            not is_list(fixed)
            or not all(map(is_list, fixed))
            or list(map(len, fixed)) != lengths_of(X).tolist()
        ):
            raise SeqpaError(
                "fixed must hold a list for every sentence, in it one entry (a label or None) for "
                "every token"
            )
        index = {label: k for k, label in enumerate(self.classes_)}
        flat: list[int] = []
        for i, labels in enumerate(fixed):
            for label in labels:
                if label is not None and not (isinstance(label, str) and label in index):
                    raise SeqpaError(f"sentence {i + 1}: the fixed label {label!r} is unknown")
                flat.append(-1 if label is None else index[label])
        return np.array(flat, np.int32)

    # Weights, files, scikit-learn

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """(feature, label) -> weight, zeros left out."""
        self._refresh()
        names = self._source.encoder.feature_names()
        return {
            (names[f], self.classes_[k]): weight
            for f in np.flatnonzero(self._frozen.nonzero())
            for k, weight in self._frozen.feature_weights(int(f)).items()
        }

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """(label, next label) -> weight, zeros left out."""
        self._refresh()
        matrix = self._frozen.transitions
        return {
            (self.classes_[p], self.classes_[y]): float(matrix[p, y])
            for p, y in zip(*np.nonzero(matrix), strict=True)
        }

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Write the model: what tagging needs, in one safetensors file, atomically.

        half : store weights as float16, half the size.
        """
        from seqpa.model import save_model

        save_model(self, Path(path), half=half)

    @classmethod
    def load(cls, path: str | Path, *, allow_imports: bool = False) -> SequenceTagger:
        """Read a model. A damaged or foreign file is a SeqpaError.

        allow_imports : import the feature function that the model names as ``module:function``;
            without it, a model that needs one is refused, so that no file can run code.
        """
        from seqpa.model import load_model

        return load_model(cls, Path(path), allow_imports=allow_imports)

    def save_state(self, path: str | Path) -> None:
        """Write the training state, from which `training` goes on bit for bit."""
        from seqpa.model import save_state

        save_state(self, Path(path))

    def load_state(self, path: str | Path) -> SequenceTagger:
        """Read a training state into this tagger, which must have the same parameters."""
        from seqpa.model import load_state

        load_state(self, Path(path))
        return self

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn wants them."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> SequenceTagger:
        """Change parameters by name."""
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise SeqpaError(f"SequenceTagger has no parameter {name!r}: {', '.join(names)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._stale or hasattr(self, "_tagging")

    def __repr__(self) -> str:
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(type(self).__init__).parameters.items()
        }
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name])
        ]
        return f"SequenceTagger({', '.join(changed)})"

    def __getstate__(self) -> dict[str, Any]:
        """Parameters and weights; the training state and the kernel's objects stay behind."""
        if self.__sklearn_is_fitted__():
            self._refresh()
        state = {name: value for name, value in self.__dict__.items() if name != "_tagging"}
        return state | {"_state": None, "_resumed": None, "_stale": False}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_frozen" in state:
            self._prepare()
