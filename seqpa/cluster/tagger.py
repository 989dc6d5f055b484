"""`DaskSequenceTagger`: a `SequenceTagger` that is trained on a cluster, round by round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from seqpa._kernel import strings
from seqpa.array_files import damaged, read_file, write_file
from seqpa.cluster import tasks
from seqpa.cluster.corpora import DEALS, ShardedCorpus, numbered
from seqpa.cluster.executors import TIMEOUT, Executor, Inline, OnDask, connected
from seqpa.cluster.mixing import MIXINGS, Difference, Mixture
from seqpa.cluster.sources import parts_of
from seqpa.errors import SeqpaError, not_trained
from seqpa.sequence import training
from seqpa.sequence.arguments import check_whole, dev_pair
from seqpa.sequence.balance import may_be_missed, missed_told, root_of, times_of
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.learner import Epoch, Progress
from seqpa.sequence.sparse_weights import WeightSpace
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.trained import Trained
from seqpa.sequence.weights import FrozenWeights, check_labels

SHARDS = 4
KEEPS = ("auto", "mean", "last")
_KIND = "cluster checkpoint"


@dataclass(frozen=True, slots=True)
class RoundCost:
    """What a round cost.

    Attributes
    ----------
    number : int
        Of the round, counted from 1.
    seconds : float
        From its beginning until the mixed weights are scored.
    sent, received : int
        Bytes of weights to the workers, and of differences from them.
    worked : float
        Seconds that the workers were at work, of all together.
    slots : int
        How many tasks could run at a time.
    """

    number: int
    seconds: float
    sent: int
    received: int
    worked: float
    slots: int

    @property
    def waited(self) -> float:
        """Seconds that the workers waited, of all together."""
        return max(0.0, self.seconds * self.slots - self.worked)

    @property
    def efficiency(self) -> float:
        """The share of their time that the workers were at work."""
        return min(1.0, self.worked / max(self.seconds * self.slots, 1e-9))

    def __str__(self) -> str:
        moved = (self.sent + self.received) / 1e6
        return (
            f"round {self.number}: {moved:,.1f} MB moved, {self.waited:.1f} s waited, "
            f"efficiency {self.efficiency:.2f}"
        )


@dataclass(slots=True)
class MixedState:
    """All that going on needs, beside the data and the parameters.

    Attributes
    ----------
    mixture : Mixture
    epoch : int
        How many rounds are done.
    best_epoch : int
    best_score : None or float
    best : None or (keys, values)
        The weights of the best round, where there is a dev set.
    marks : list
        By what the data are known again.
    missed : float
        How often a missed token of a span counts, with the cost "auto"; measured anew, to the same
        number, when training goes on.
    """

    mixture: Mixture = field(default_factory=Mixture)
    epoch: int = 0
    best_epoch: int = 0
    best_score: float | None = None
    best: Any = None
    marks: list[list[int]] = field(default_factory=list)
    missed: float = 1.0

    def is_over(self, epochs: int, patience: int | None) -> bool:
        """Whether all rounds are done, or too many came and went without a better dev score."""
        return self.epoch >= epochs or (
            patience is not None and self.epoch - self.best_epoch >= patience
        )


class DaskSequenceTagger(SequenceTagger):
    """A `SequenceTagger` that is trained on a Dask cluster by iterative parameter mixing.

    The sentences are dealt to a fixed number of shards. In each round every shard trains one epoch
    from the same weights, and the weights of all are mixed (McDonald, Hall & Mann, 2010). What
    comes of it depends on the data, the parameters and `shards`, and on nothing else: not on how
    many workers there are, which of them is done first, or whether some are lost.

    Parameters
    ----------
    client : None or distributed.Client
        The cluster. None takes Dask's current client, and where there is none starts workers on
        this machine while training.
    shards : int
        Into how many shards the sentences are dealt: as many as there are workers, or more. The
        fewer there are, the better the tagger after the same number of epochs.
    mixing : "uniform" or "mistakes"
        Whether all shards count alike, or by the sentences that they predicted wrongly.
    deal : "auto", "each-round" or "once"
        Whether the sentences are dealt anew each round, which is better, and sends most of the text
        each round; "auto" does so for texts of up to 3 million tokens.
    keep : "auto", "mean" or "last"
        Whether the mean over all rounds is kept, or the last mixed weights. "auto" keeps the mean,
        but the last with ``update="loss-augmented"`` and several shards, or ``average=False``.
    timeout : float
        After so many seconds without the scheduler or any worker, training is given up.
    **tagger : object
        The parameters of `SequenceTagger`. What trains more than one tagger is left out: `stages`,
        `seeds`, `taggers`, ``calibration="cv"``; and so are `warm_start` and the algorithm "arow".

    Attributes
    ----------
    rounds_ : list of RoundCost
        What each round of the last training cost.

    Examples
    --------
    >>> from seqpa.cluster.executors import Inline
    >>> X = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "the", "rain"]] * 4
    >>> y = [["D", "N", "V", "N"], ["D", "N", "V", "D", "N"]] * 4
    >>> tagger = DaskSequenceTagger(Inline(), shards=2, features=["word[0]", "word[-1]"])
    >>> tagger.fit(X, y).predict([["the", "saw", "cut", "rain"]])
    [['D', 'N', 'V', 'N']]
    """

    def __init__(
        self,
        client: Any = None,
        shards: int = SHARDS,
        mixing: str = "uniform",
        deal: str = "auto",
        keep: str = "auto",
        timeout: float = TIMEOUT,
        **tagger: Any,
    ) -> None:
        wrong = [name for name in tagger if name not in self._parameter_names()]
        if wrong:
            SequenceTagger().set_params(**{wrong[0]: None})
        super().__init__(**tagger)
        self.client = client
        self.shards = shards
        self.mixing = mixing
        self.deal = deal
        self.keep = keep
        self.timeout = timeout
        self.rounds_: list[RoundCost] = []
        self._state: MixedState | None = None

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        own = super()._defaults()
        own.pop("tagger")
        return own | SequenceTagger._defaults()

    @classmethod
    def _parameter_names(cls) -> list[str]:
        """Those that a model is made with: what is said of the cluster is none of them."""
        return SequenceTagger._parameter_names()

    @classmethod
    def _of_the_cluster(cls) -> list[str]:
        learned = cls._parameter_names()
        return [name for name in cls._defaults() if name not in learned]

    def set_params(self, **params: Any) -> SequenceTagger:
        """Change parameters by name, those of the cluster too.

        Parameters
        ----------
        **params : any
            New values.

        Returns
        -------
        DaskSequenceTagger
            Itself.
        """
        cluster = {name: params.pop(name) for name in self._of_the_cluster() if name in params}
        super().set_params(**params)
        for name, value in cluster.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> SequenceTagger:
        cluster = {name: getattr(self, name) for name in self._of_the_cluster()}
        return super().__sklearn_clone__().set_params(**cluster)

    def check_parameters(self) -> None:
        """Raise a SeqpaError where a parameter has a value that it cannot have."""
        super().check_parameters()
        check_whole("shards", self.shards, 1)
        for name, known in (("mixing", MIXINGS), ("deal", DEALS), ("keep", KEEPS)):
            if getattr(self, name) not in known:
                raise SeqpaError(f"{name} is {getattr(self, name)!r}: choose {', '.join(known)}")
        if self.memory is not None:
            raise SeqpaError(
                f"memory is {self.memory!r}: on a cluster leave it out, since workers hold their "
                f"shards in memory (more shards are smaller ones)"
            )
        alone: dict[str, Any] = {"stages": 1, "seeds": 1, "warm_start": False}
        for name, only in alone.items():
            if getattr(self, name) != only:
                raise SeqpaError(
                    f"{name} is {getattr(self, name)!r}: on a cluster it can only be {only!r}"
                )
        if self.taggers:
            raise SeqpaError(
                "on a cluster no column can be predicted while training: write it into the files "
                "first, with seqpa tag"
            )
        if self.calibration == "cv":
            raise SeqpaError(
                "calibration 'cv' trains five taggers more: on a cluster choose 'dev' or 'none'"
            )
        if self.algorithm == "arow":
            raise SeqpaError(
                "the variances of 'arow' cannot be mixed: choose another algorithm, such as 'pa-i'"
            )

    def __getstate__(self) -> dict[str, Any]:
        """As of a `SequenceTagger`; the connection stays behind, too."""
        return super().__getstate__() | {"client": None}

    # Training

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
        """`fit`, round by round, with usable weights after each.

        After `load_state` it goes on from the round at which the state was saved, to the same bits.

        Parameters
        ----------
        X : Files, dask.bag.Bag of (tokens, labels), list of sentences, or a corpus
        y : list of label lists
            For a list of sentences.
        dev : None, a pair (X, y), or a corpus, which may have documents
            The weights of the round that is best there are kept.
        record : bool
            Not possible on a cluster.
        sample_weight : None, or a number for each sentence
            Scales C; for lists and corpora.
        progress : callable, optional
            Is told within a round how many sentences are done, and of how many.
        documents : None, or a list
            For each sentence the name of its document.
        told : callable, optional
            Is told in a few words what is done, what each round cost, and which worker was lost.

        Yields
        ------
        Epoch
            A record of each round.
        """
        self.check_parameters()
        if record:
            raise SeqpaError("the loss bounds hold for one learner, not for a mixture of several")
        dev_set = dev_pair(dev)
        with self._executor(told) as executor:
            executor.check()
            yield from self._rounds(
                executor, X, y, dev_set, sample_weight, progress, documents, told
            )
        if dev_set is not None:
            self.calibrate_by_dev(*dev_set)

    @contextmanager
    def _executor(self, told: Callable[[str], None] | None) -> Iterator[Executor]:
        client = self.client
        if hasattr(client, "check_memory"):
            client.told = told
            yield client
            return
        if client is None:
            try:
                from distributed import get_client

                client = get_client()
            except (ImportError, ValueError):
                with connected("local") as own:
                    yield OnDask(own, told, self.timeout)
                return
        if not hasattr(client, "submit"):
            raise SeqpaError(
                f"client is {client!r}: give a distributed.Client of the cluster, or None"
            )
        yield OnDask(client, told, self.timeout)

    def _rounds(
        self,
        executor: Executor,
        X: Any,
        y: Any,
        dev: tuple[Any, list[list[str]]] | None,
        sample_weight: Any,
        progress: Progress | None,
        documents: Any,
        told: Callable[[str], None] | None,
    ) -> Iterator[Epoch]:
        tell = told or (lambda _: None)
        parts = parts_of(executor, X, y, sample_weight, documents, self.shards)
        heads: list[tasks.Headline] = executor.results(
            [executor.submit(tasks.headline, part) for part in parts]
        )
        sentences, tokens = sum(h.sentences for h in heads), sum(h.tokens for h in heads)
        labels = training.with_new([], [label for head in heads for label in head.labels])
        self._nonempty([*labels, *([None] * (tokens - len(labels)))] if tokens else [])
        tell(
            f"{sentences:,} sentences, {tokens:,} tokens, {len(labels):,} labels in "
            f"{len(parts)} parts; numbering their features"
        )
        parts = [part for part, head in zip(parts, heads, strict=True) if head.sentences]
        empty = self._empty_source(heads[0].kind, labels)
        handle, data = numbered(executor, parts, empty, self.cutoff, labels, self.algorithm)
        (source,) = executor.results([handle])
        space = WeightSpace(len(labels), source.encoder.n_features, source.n_pair_features)
        check_labels(space.n_labels, space.n_pair_features)
        seed = self._seed()
        corpus = ShardedCorpus.of(executor, data, tokens, self.shards, self.deal, seed)
        del parts, handle, data
        executor.check_memory(2 * corpus.largest(), "a shard")
        state = self._state if self._state is not None else MixedState()
        if state.epoch and state.marks != corpus.marks():
            raise SeqpaError(
                "the checkpoint was made with other data or another number of shards: go on with "
                "those, or begin anew"
            )
        state.marks = corpus.marks()
        self._state, self.rounds_ = state, []
        training.warn_of_silence(labels, dev, self.patience)
        judge = _Judge(dev, source, labels, self) if dev is not None else None
        params = {**self.get_params(), "taggers": None, "resources": None}
        same = tasks.Setup(params, labels, space, seed)
        if self.measures_balance and may_be_missed(labels):
            dealt = corpus.dealt(1)
            crowd = _crowd(executor, dealt)
            counts = executor.results(
                [
                    executor.submit(tasks.balance, same, [corpus.pieces[i] for i in own], crowd)
                    for own in dealt
                ]
            )
            missed, invented = (sum(own) for own in zip(*counts, strict=True))
            state.missed = times_of(missed, invented, root_of(self.learner_for(labels)))
            if state.missed > 1.0:
                tell(missed_told(state.missed))
            same = replace(same, missed=state.missed)
        setup = executor.submit(tasks.same, same)
        if state.epoch:
            self._keep(state, source, labels, space)
        while not state.is_over(self.epochs, self.patience):
            begun = time.perf_counter()
            number = state.epoch + 1
            dealt = corpus.dealt(number)
            results, sent = self._round(
                executor, setup, state.mixture, corpus, dealt, number, progress
            )
            state.mixture = state.mixture.mixed(results, self.mixing)
            seconds = time.perf_counter() - begun
            frozen = self._frozen(space, *self._chosen(state.mixture))
            score = None if judge is None else judge.score(frozen)
            best = score is None or state.best_score is None or score > state.best_score
            state.epoch = number
            if best:
                state.best_epoch, state.best_score = number, score
                if judge is not None:
                    state.best = self._chosen(state.mixture)
                self._settle(source, labels, frozen, number)
            # Workers also wait while the client scores.
            took = time.perf_counter() - begun
            cost = _cost(number, took, sent, results, executor.slots())
            self.rounds_.append(cost)
            if not isinstance(executor, Inline):
                tell(str(cost))
            metric = "accuracy" if judge is None else judge.metric
            yield _record(number, results, seconds, score, metric, best)

    def _round(
        self,
        executor: Executor,
        setup: Any,
        mixture: Mixture,
        corpus: ShardedCorpus,
        dealt: list[list[int]],
        number: int,
        progress: Progress | None,
    ) -> tuple[list[Difference], int]:
        """What each shard learned, and how many bytes of weights were sent."""
        packed = mixture.packed()
        weights = executor.submit(tasks.same, packed)
        crowd = _crowd(executor, dealt)
        handles = [
            executor.submit(
                tasks.epoch, setup, weights, [corpus.pieces[i] for i in own], number, shard, crowd
            )
            for shard, own in enumerate(dealt)
        ]
        sizes = [sum(corpus.sizes[i].sentences for i in own) for own in dealt]
        ended = 0

        def done(shard: int) -> None:
            nonlocal ended
            ended += sizes[shard]
            if progress is not None:
                progress(ended, sum(sizes))

        if progress is not None:
            progress(0, sum(sizes))
        results: list[Difference] = executor.results(handles, done)
        workers = {own.worker for own in results}
        return results, packed.nbytes * len(workers)

    def _empty_source(self, kind: str, labels: list[str]) -> FeatureSource:
        """A source for tokens of this kind that knows nothing yet; lexicons are read here."""
        sample: Any = [[{}]] if kind == "features" else [["a"]]
        cutoff = int(self.cutoff) if isinstance(self.cutoff, np.integer) else self.cutoff
        return FeatureSource.choose(
            self.features, self.columns, cutoff, self.resources, sample, labels
        )

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(training.generator(self.random_state).integers(2**62))

    def _chosen(self, mixture: Mixture) -> tuple[Any, Any]:
        """The weights to tag with: the mean over all rounds, or the last."""
        mixed = self.keep == "auto" and self.update == "loss-augmented" and self.shards > 1
        last = self.keep == "last" or mixed
        if last or not self.average:
            return mixture.keys, mixture.weights
        return mixture.mean()

    @staticmethod
    def _frozen(space: WeightSpace, keys: Any, values: Any) -> FrozenWeights:
        return space.weights(keys, values).freeze(False)

    def _settle(
        self, source: FeatureSource, labels: list[str], frozen: FrozenWeights, number: int
    ) -> None:
        self.settle_on(Trained(source, frozen, labels, self.constraints, number))

    def _keep(
        self, state: MixedState, source: FeatureSource, labels: list[str], space: WeightSpace
    ) -> None:
        """Tag with the weights of a state that was loaded."""
        chosen = self._chosen(state.mixture) if state.best is None else state.best
        self._settle(source, labels, self._frozen(space, *chosen), state.best_epoch)

    # Tagging

    def predict(self, X: Any, fixed: Any = None, documents: Any = None) -> Any:
        """The best label list of each sentence.

        Parameters
        ----------
        X : list of sentences, a corpus, or a dask.bag.Bag of sentences
        fixed : None, or a list for each sentence
            The label that a token must get, or None where it is free.
        documents : None, or a list
            For each sentence the name of its document.

        Returns
        -------
        list of lists of str, or a bag of them
        """
        if hasattr(X, "map_partitions") and hasattr(X, "to_delayed"):
            trained = self.trained_
            return X.map_partitions(lambda own: trained.predict(list(own)))
        return super().predict(X, fixed, documents)

    # Checkpoints

    @property
    def training_state_(self) -> Any:
        """What training goes on from."""
        if self._state is None:
            raise not_trained(
                "there is no training state: only a tagger that is being trained has one"
            )
        return self._state

    def _settings(self) -> dict[str, Any]:
        """What must be the same where training goes on, beside what a configuration tells."""
        names = ("shards", "mixing", "deal", "keep")
        more = ("algorithm", "C", "update", "average", "shuffle", "cutoff")
        return {name: getattr(self, name) for name in (*names, *more)}

    def save_state(self, path: str | Path) -> None:
        """Write the state of the training, from which it goes on to the same bits.

        Parameters
        ----------
        path : str or Path
        """
        state = self.training_state_
        header = {
            "settings": self._settings(),
            "seed": self._seed() if isinstance(self.random_state, (int, np.integer)) else None,
            "epoch": state.epoch,
            "best_epoch": state.best_epoch,
            "best_score": state.best_score,
            "marks": state.marks,
        }
        mixture = state.mixture
        arrays = {"keys": mixture.keys, "weights": mixture.weights, "sums": mixture.sums}
        if state.best is not None:
            arrays |= {"best_keys": state.best[0], "best_values": state.best[1]}
        write_file(Path(path), _KIND, header, arrays)

    def load_state(self, path: str | Path) -> SequenceTagger:
        """Read the state of a training into this tagger, which must have the same parameters.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        DaskSequenceTagger
            Itself.
        """
        header, arrays = read_file(Path(path), _KIND)
        settings = header.get("settings")
        if settings != self._settings():
            old = settings if isinstance(settings, Mapping) else {}
            name = next((n for n, v in self._settings().items() if old.get(n) != v), "shards")
            raise SeqpaError(
                f"{path}: was made with {name} {old.get(name)!r}, and now it is "
                f"{self._settings()[name]!r}: resume with the same, or begin anew"
            )
        try:
            mixture = Mixture(
                arrays["keys"], arrays["weights"], arrays["sums"], int(header["epoch"])
            )
            best = None
            if "best_keys" in arrays:
                best = arrays["best_keys"], arrays["best_values"]
            self._state = MixedState(
                mixture,
                int(header["epoch"]),
                int(header["best_epoch"]),
                header["best_score"],
                best,
                header["marks"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(Path(path), error) from None
        return self


class _Judge:
    """Scores weights on the dev set."""

    def __init__(
        self,
        dev: tuple[Any, list[list[str]]],
        source: FeatureSource,
        labels: list[str],
        tagger: SequenceTagger,
    ) -> None:
        self._gold = dev[1]
        self._encoded = source.transform(dev[0])
        self._labels = labels
        self._rules = tagger.learner_for(labels).rules
        self.metric = training.dev_metric(labels, dev[1])

    def score(self, weights: FrozenWeights) -> float:
        """The score by which rounds are compared."""
        numbers = Decoder(weights, self._rules).decode(self._encoded)
        predicted = strings.spell(self._labels, numbers, self._encoded.starts)
        return training.dev_score(self._gold, predicted, self.metric)


def _crowd(executor: Executor, dealt: Sequence[Any]) -> int:
    """How many shards share a worker at most."""
    return -(-len(dealt) // executor.workers())


def _cost(
    number: int, seconds: float, sent: int, results: list[Difference], slots: int
) -> RoundCost:
    received = sum(own.moved.nbytes for own in results)
    worked = sum(own.seconds for own in results)
    # More threads than shards can never all be at work.
    return RoundCost(number, seconds, sent, received, worked, min(slots, len(results)))


def _record(
    number: int,
    results: list[Difference],
    seconds: float,
    score: float | None,
    metric: str,
    best: bool,
) -> Epoch:
    return Epoch(
        sentences=sum(own.sentences for own in results),
        tokens=sum(own.tokens for own in results),
        wrong_sentences=sum(own.wrong_sentences for own in results),
        wrong_tokens=sum(own.wrong_tokens for own in results),
        updates=sum(own.updates for own in results),
        cost=float(sum(own.cost for own in results)),
        loss=float(sum(own.loss for own in results)),
        squared_loss=float(sum(own.squared_loss for own in results)),
        number=number,
        seconds=seconds,
        dev_score=score,
        dev_metric=metric,
        best=best,
    )


def training_words(tagger: SequenceTagger) -> set[str]:
    """The words that a trained tagger's text had, where it looks at words.

    Parameters
    ----------
    tagger : SequenceTagger

    Returns
    -------
    set of str
    """
    encoder = tagger.trained_.source.encoder
    return set(encoder.word_columns[0].words) if isinstance(encoder, FeatureEncoder) else set()
