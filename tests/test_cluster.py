"""Training in shards: the laws, through stand-ins for a cluster.

`Scattered` does what a cluster may do: tasks in any order, results lost and computed again, every
argument pickled on its way.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from seqpa import SequenceTagger
from seqpa.cluster import DaskSequenceTagger, Files
from seqpa.cluster.corpora import ShardedCorpus
from seqpa.cluster.executors import Inline
from seqpa.cluster.mixing import Difference, Mixture, Packed, difference, shares
from seqpa.cluster.run import ClusterRun
from seqpa.cluster.tagging import TaggingOptions, tag_files
from seqpa.cluster.tasks import Measures
from seqpa.config import Config
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.sequence import merging
from seqpa.sequence.ahead import Helpers
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.orders import mean
from seqpa.sequence.sparse_weights import WeightSpace

WORDS = ["the", "a", "dog", "Rain", "saw", "cuts", "it", "1999", "Ada"]
LABELS = ["D", "N", "V", "P"]


class Handle:
    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.result: bytes | None = None


class Scattered:
    """Tasks in a random order, some of them twice."""

    def __init__(self, seed: int, loses: float = 0.1) -> None:
        self.told = None
        self.rng = np.random.default_rng(seed)
        self.loses = loses
        self.ran = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        return Handle(function, arguments)

    def results(
        self, handles: Sequence[Handle], done: Callable[[int], None] | None = None
    ) -> list[Any]:
        for i in self.rng.permutation(len(handles)).tolist():
            self._value(handles[i])
            if done is not None:
                done(i)
        return [self._value(handle) for handle in handles]

    def _value(self, handle: Handle) -> Any:
        if handle.result is None or self.rng.random() < self.loses:
            arguments = pickle.dumps([self._filled(own) for own in handle.arguments])
            self.ran += 1
            handle.result = pickle.dumps(handle.function(*pickle.loads(arguments)))
        return pickle.loads(handle.result)

    def _filled(self, argument: Any) -> Any:
        if isinstance(argument, Handle):
            return self._value(argument)
        if isinstance(argument, list) and any(isinstance(own, Handle) for own in argument):
            found: list[Any] = [None] * len(argument)
            for i in self.rng.permutation(len(argument)).tolist():
                found[i] = self._filled(argument[i])
            return found
        return argument

    def slots(self) -> int:
        return 3

    def workers(self) -> int:
        return 2

    def check(self) -> None: ...

    def check_memory(self, nbytes: int, what: str) -> None: ...


def sentences(rng: np.random.Generator, n: int) -> tuple[list[list[str]], list[list[str]]]:
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(1, 7))
        words = rng.integers(len(WORDS), size=length)
        X.append([WORDS[w] for w in words])
        y.append([LABELS[(w + (i and words[i - 1])) % 4] for i, w in enumerate(words)])
    return X, y


def bits(tagger: SequenceTagger) -> tuple[bytes, ...]:
    weights = tagger.trained_.weights
    arrays, _ = tagger.trained_.source.encoder.to_arrays()
    own = (weights.rows, weights.arena, weights.transitions, *arrays.values())
    return tuple(array.tobytes() for array in own)


# The order of arrival, the number of workers and lost results change nothing


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shards=st.integers(1, 5),
    mixing=st.sampled_from(["uniform", "mistakes"]),
    deal=st.sampled_from(["each-round", "once"]),
    update=st.sampled_from(["prediction-based", "loss-augmented"]),
    cutoff=st.integers(1, 2),
)
def test_the_same_bits_whatever_the_cluster_does(
    seed: int, shards: int, mixing: str, deal: str, update: str, cutoff: int
) -> None:
    X, y = sentences(np.random.default_rng(seed), 17)
    dev = sentences(np.random.default_rng(seed + 1), 5)
    parameters: dict[str, Any] = {
        "shards": shards,
        "mixing": mixing,
        "deal": deal,
        "update": update,
        "cutoff": cutoff,
        "features": ["word[0]", "tags[-1]|word[0]", "suffix(1)[0]", "pair:shape[0]"],
        "epochs": 3,
        "random_state": 7,
    }
    here = DaskSequenceTagger(Inline(), **parameters)
    there = DaskSequenceTagger(Scattered(seed), **parameters)
    told = [list(tagger.training(X, y, dev=dev)) for tagger in (here, there)]
    assert bits(here) == bits(there)
    assert here.n_iter_ == there.n_iter_
    for a, b in zip(*told, strict=True):
        assert (a.wrong_tokens, a.loss, a.dev_score, a.best) == (
            b.wrong_tokens,
            b.loss,
            b.dev_score,
            b.best,
        )


def test_a_stand_in_that_loses_results_computes_them_again() -> None:
    executor = Scattered(1, loses=0.5)
    handle = executor.submit(abs, -3)
    for _ in range(20):
        assert executor.results([handle]) == [3]
    assert executor.ran > 5


def test_one_shard_is_the_serial_algorithm_from_the_first_weights() -> None:
    """One shard, one round: the weights of an epoch in that order, with nothing mixed into them."""
    X, y = sentences(np.random.default_rng(3), 40)
    parameters = {"features": ["word[0]", "word[-1]"], "epochs": 1, "shuffle": False}
    for average in (True, False):
        serial = SequenceTagger(**parameters, average=average).fit(X, y)
        mixed = DaskSequenceTagger(Inline(), shards=1, **parameters, average=average).fit(X, y)
        assert mixed.state_features_ == serial.state_features_
        assert mixed.transition_features_ == serial.transition_features_


@pytest.mark.parametrize("update", ["prediction-based", "loss-augmented"])
def test_several_shards_learn(update: str) -> None:
    X, y = sentences(np.random.default_rng(5), 400)
    features = ["word[0]", "word[-1]", "word[-1]|word[0]"]
    tagger = DaskSequenceTagger(
        Inline(), shards=4, features=features, epochs=8, update=update, C=1.0, random_state=1
    )
    assert tagger.fit(X, y).score(X, y) > 0.98


# Numbering by map and merge


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), parts=st.integers(1, 6), cutoff=st.integers(1, 3))
def test_merged_numbers_are_those_of_the_whole_text(seed: int, parts: int, cutoff: int) -> None:
    X, y = sentences(np.random.default_rng(seed), 17)
    flat = [label for labels in y for label in labels]
    templates = ["word[0]", "lower[1]", "shape[0]|word[-1]|suffix(2)[0]", "pair:word[0]"]

    def empty() -> FeatureSource:
        return FeatureSource.choose(templates, ("word",), cutoff, None, X, LABELS)

    serial = empty()
    serial.learn(X, flat)
    pieces = np.array_split(np.arange(len(X)), parts)
    texts = [([X[i] for i in own], [label for i in own for label in y[i]]) for own in pieces]
    source = empty()
    surveys = [merging.survey(source, *text) for text in texts]
    known = merging.with_words(source, merged_tree(merging.merged_surveys, surveys, seed))
    numbers = [merging.number(known, *text) for text in texts]
    features = merged_tree(merging.merged_numbers, [own for own, _ in numbers], seed)
    found = merging.with_features(known, features, cutoff)
    for a, b in zip(serial.encoder.to_arrays(), found.encoder.to_arrays(), strict=True):
        assert a.keys() == b.keys()
        for name in a:
            assert np.array_equal(a[name], b[name]), name
    assert serial.seen.to_array().tolist() == found.seen.to_array().tolist()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    parts=st.integers(1, 4),
    cutoff=st.integers(1, 3),
    given_features=st.booleans(),
)
def test_a_relabelled_part_is_what_encoding_it_again_gives(
    seed: int, parts: int, cutoff: int, given_features: bool
) -> None:
    """Also with tags, whose values differ from part to part; and the words are left alone."""
    X, y = sentences(np.random.default_rng(seed), 17)
    templates: Any = ["word[0]", "tags[0]|besttag[-1]", "word[-2]|word[-1]|word[0]", "pair:tags[0]"]
    if given_features:
        X, templates = [[{"w": w, "n": len(w)} for w in words] for words in X], None
    source = FeatureSource.choose(templates, ("word",), cutoff, None, X, LABELS)
    pieces = np.array_split(np.arange(len(X)), parts)
    texts = [([X[i] for i in own], [label for i in own for label in y[i]]) for own in pieces]
    surveys = [merging.survey(source, *text) for text in texts]
    known = merging.with_words(source, merged_tree(merging.merged_surveys, surveys, seed))
    before = pickle.dumps(known)
    numbers = [merging.number(known, *text) for text in texts]
    assert pickle.dumps(known) == before
    features = merged_tree(merging.merged_numbers, [own for own, _ in numbers], seed)
    found = merging.with_features(known, features, cutoff)
    index = merging.indexed(features, cutoff)
    for (own, encoded), text in zip(numbers, texts, strict=True):
        same, again = merging.relabelled(own, encoded, index), found.again(*text)
        for name in ("starts", "indptr", "features", "values", "pair_indptr", "pair_features"):
            assert np.array_equal(getattr(same, name), getattr(again, name)), name


def merged_tree(merge: Callable[[Sequence[Any]], Any], parts: list[Any], seed: int) -> Any:
    """Neighbours merged in a random shape: merging is associative."""
    rng = np.random.default_rng(seed)
    while len(parts) > 1:
        i = int(rng.integers(len(parts) - 1))
        parts = [*parts[:i], merge(parts[i : i + 2]), *parts[i + 2 :]]
    return parts[0]


def test_one_part_with_tags_is_numbered_as_fit_does() -> None:
    X, y = sentences(np.random.default_rng(9), 30)
    serial = SequenceTagger("pos", epochs=1, random_state=1).fit(X, y)
    mixed = DaskSequenceTagger(Inline(), shards=1, features="pos", epochs=1).fit(X, y)
    assert bits(serial)[3:] == bits(mixed)[3:]


def test_tokens_that_are_features_already() -> None:
    X, y = sentences(np.random.default_rng(4), 50)
    dicts = [[{"w": word, "length": len(word)} for word in tokens] for tokens in X]
    for cutoff in (1, 3):
        serial = SequenceTagger(epochs=1, cutoff=cutoff).fit(dicts, y)
        mixed = DaskSequenceTagger(Inline(), shards=3, epochs=4, cutoff=cutoff).fit(dicts, y)
        assert bits(serial)[3:] == bits(mixed)[3:]
        assert mixed.score(dicts, y) > 0.3


# The mixing law


def shard_result(keys: list[int], moved: list[float], mean_: list[float], wrong: int) -> Difference:
    packed = Packed.of(np.array(keys, np.int64), np.array(moved), np.array(mean_))
    return Difference(packed, 10, 40, wrong, 2 * wrong, wrong, 1.0, 1.0, 1.0, 0.5, "w")


def test_mixing_by_hand() -> None:
    first = shard_result([1, 4], [2.0, -1.0], [1.5, -0.5], wrong=1)
    second = shard_result([4, 6], [3.0, 1.0], [2.0, 0.25], wrong=3)
    mixed = Mixture().mixed([first, second], "uniform")
    assert mixed.keys.tolist() == [1, 4, 6]
    assert mixed.weights.tolist() == [1.0, 1.0, 0.5]
    assert mixed.mean()[1].tolist() == [0.75, 0.75, 0.125]
    by_mistakes = Mixture().mixed([first, second], "mistakes")
    assert by_mistakes.weights.tolist() == [0.5, 2.0, 0.75]
    again = mixed.mixed([first, second], "uniform")
    assert again.weights.tolist() == [2.0, 2.0, 1.0]
    # The second round's means are those of the first weights and what was learned on the way.
    assert again.mean()[1].tolist() == [(0.75 + 1.75) / 2, (0.75 + 1.75) / 2, (0.125 + 0.625) / 2]


def test_without_mistakes_all_shards_count_alike() -> None:
    results = [shard_result([1], [0.0], [0.0], wrong=0)] * 4
    assert shares(results, "mistakes").tolist() == [0.25] * 4


@given(st.dictionaries(st.integers(0, 10**12), st.floats(-9, 9, width=32), max_size=20))
def test_packing_loses_nothing(entries: dict[int, float]) -> None:
    keys = np.array(sorted(entries), np.int64)
    values = np.array([entries[key] for key in sorted(entries)], np.float64)
    packed = Packed.of(keys, values)
    assert packed.keys.tolist() == keys.tolist()
    assert packed.values[0].tolist() == values.tolist()
    moved = difference((keys, values), (keys, values))
    assert len(moved.gaps) == 0


def test_sparse_weights_and_back() -> None:
    space = WeightSpace(n_labels=5, n_features=9, n_pair_features=2)
    rng = np.random.default_rng(0)
    n = space.keys.pairs + 2 * 25
    keys = np.sort(rng.permutation(n)[: n // 2]).astype(np.int64)
    values = rng.normal(size=len(keys)).astype(np.float32).astype(np.float64)
    weights = space.weights(keys, values).freeze(False)
    found = space.entries(weights)
    assert found[0].tolist() == keys.tolist()
    assert found[1].tolist() == values.tolist()
    halves = mean([weights, space.weights(keys, 3 * values).freeze(False)])
    assert np.allclose(space.entries(halves)[1], 2 * values)


# Dealing


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 6), st.booleans())
def test_every_sentence_is_dealt_once(sizes: list[int], shards: int, anew: bool) -> None:
    pieces = [Measures(n, 3 * n, 0, []) for n in sizes]
    corpus = ShardedCorpus(list(range(len(sizes))), pieces, shards, anew, seed=5)
    for round in (1, 2):
        dealt = corpus.dealt(round)
        assert len(dealt) <= shards
        assert sorted(i for own in dealt for i in own) == [i for i, n in enumerate(sizes) if n]
        assert dealt == corpus.dealt(round)


def test_sentences_are_dealt_anew() -> None:
    pieces = [Measures(1, 1, 0, []) for _ in range(16)]
    corpus = ShardedCorpus(list(range(16)), pieces, 2, True, 1)
    assert corpus.dealt(1) != corpus.dealt(2)
    assert [len(own) for own in corpus.dealt(3)] == [8, 8]


# Sources of text


def write_conll(path: Path, X: list[list[str]], y: list[list[str]]) -> Path:
    rows = ["\n".join(map(" ".join, zip(*own, strict=True))) for own in zip(X, y, strict=True)]
    path.write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("threads", [1, 2])
def test_a_shard_is_decoded_by_as_many_threads_as_its_task_has(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = sentences(np.random.default_rng(1), 160)
    settings = {
        "features": ["word[0]", "word[-1]"],
        "lookahead": "auto",
        "epochs": 2,
        "random_state": 1,
    }
    expected = DaskSequenceTagger(Inline(), shards=2, **settings).fit(X, y)
    helping = []
    before = Helpers.helping

    def seen(self: Helpers, *arguments: Any) -> Any:
        helping.append(self.count)
        return before(self, *arguments)

    monkeypatch.setattr(Helpers, "helping", seen)
    monkeypatch.setattr("seqpa.cluster.tasks.threads_of", lambda n_jobs, tasks: threads)
    tagger = DaskSequenceTagger(Inline(), shards=2, **settings).fit(X, y)
    assert helping == [threads - 1] * len(helping)
    assert len(helping) >= 4
    assert bits(tagger) == bits(expected)


def test_files_are_read_by_the_tasks(tmp_path: Path) -> None:
    X, y = sentences(np.random.default_rng(2), 30)
    write_conll(tmp_path / "a.conll", X[:12], y[:12])
    write_conll(tmp_path / "b.conll", X[12:], y[12:])
    own = {"features": ["word[0]"], "epochs": 2, "random_state": 1, "shards": 2}
    files = Files(tmp_path / "*.conll")
    tagger = DaskSequenceTagger(Scattered(3), **own).fit(files)
    assert bits(tagger) == bits(DaskSequenceTagger(Inline(), **own).fit(files))
    assert tagger.classes_ == sorted({label for labels in y for label in labels})
    one = DaskSequenceTagger(Inline(), **own).fit(Files([tmp_path / "a.conll"]))
    assert one.score(X[:12], y[:12]) > 0.4


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    files = Files([tmp_path / "there-is-none.conll"])
    with pytest.raises(SeqpaError, match=r"there-is-none\.conll"):
        DaskSequenceTagger(Inline()).fit(files)


def test_a_corpus_keeps_its_documents_whole() -> None:
    X, y = sentences(np.random.default_rng(6), 12)
    own = {"features": ["word[0]", "elsewhere(lower, 1)"], "epochs": 1, "random_state": 1}
    names = ["a"] * 5 + ["b"] * 7
    tagger = DaskSequenceTagger(Inline(), shards=2, **own).fit(X, y, documents=names)
    other = DaskSequenceTagger(Scattered(1), shards=2, **own).fit(
        Corpus.from_sentences(X, y), documents=names
    )
    assert bits(tagger) == bits(other)


def test_weights_of_sentences_count() -> None:
    X, y = sentences(np.random.default_rng(8), 20)
    own = {"features": ["word[0]"], "epochs": 1, "shards": 2, "random_state": 1}
    plain = DaskSequenceTagger(Inline(), **own).fit(X, y)
    ones = DaskSequenceTagger(Inline(), **own).fit(X, y, sample_weight=[1.0] * 20)
    light = DaskSequenceTagger(Inline(), **own).fit(X, y, sample_weight=[0.1, 2.0] * 10)
    assert bits(plain) == bits(ones)
    assert bits(plain)[1] != bits(light)[1]


# Checkpoints and files


def test_going_on_from_any_round_gives_the_same_bits(tmp_path: Path) -> None:
    X, y = sentences(np.random.default_rng(1), 60)
    dev = sentences(np.random.default_rng(2), 20)
    own: dict[str, Any] = {"features": ["word[0]", "word[-1]"], "shards": 3, "random_state": 1}
    whole = DaskSequenceTagger(Inline(), epochs=5, **own)
    for epoch in whole.training(X, y, dev=dev):
        whole.save_state(tmp_path / f"{epoch.number}")
    for stop in (1, 3, 5):
        rest = DaskSequenceTagger(Scattered(stop), epochs=5, **own)
        rest.load_state(tmp_path / f"{stop}")
        assert len(list(rest.training(X, y, dev=dev))) == 5 - stop
        assert bits(rest) == bits(whole)
        assert rest.n_iter_ == whole.n_iter_
    other = DaskSequenceTagger(Inline(), epochs=5, **own | {"shards": 2})
    with pytest.raises(SeqpaError, match="was made with shards 3, and now it is 2"):
        other.load_state(tmp_path / "1")
    same = DaskSequenceTagger(Inline(), epochs=5, **own).load_state(tmp_path / "1")
    with pytest.raises(SeqpaError, match="other data"):
        same.fit(X[:30], y[:30])


def test_a_model_of_a_cluster_is_a_model(tmp_path: Path) -> None:
    X, y = sentences(np.random.default_rng(1), 30)
    tagger = DaskSequenceTagger(Inline(), shards=2, features=["word[0]"], epochs=2).fit(X, y)
    tagger.save(tmp_path / "m.safetensors")
    loaded = SequenceTagger.load(tmp_path / "m.safetensors")
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.partial_fit(X, y).score(X, y) > 0.4


def test_tagging_files_goes_on_where_it_stood(tmp_path: Path) -> None:
    X, y = sentences(np.random.default_rng(1), 30)
    model = tmp_path / "m.safetensors"
    tagger = SequenceTagger(["word[0]"], epochs=2).fit(X, y)
    tagger.save(model)
    inputs = []
    for name in ("a", "b", "c"):
        path = tmp_path / "in" / f"{name}.conll"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join("\n".join(tokens) for tokens in X) + "\n")
        inputs.append(str(path))
    options = TaggingOptions({"columns": ["word"]})
    out = tmp_path / "out"
    assert tag_files(Scattered(2), model, inputs, out, options) == (3, 0)
    text = (out / "b.conll").read_text()
    assert [row.split()[1] for row in text.split("\n") if row] == [
        label for labels in tagger.predict(X) for label in labels
    ]
    (out / "b.conll").unlink()
    assert tag_files(Inline(), model, inputs, out, options) == (1, 2)
    assert (out / "b.conll").read_text() == text
    with pytest.raises(SeqpaError, match="another input has the same name"):
        tag_files(Inline(), model, [inputs[0], inputs[0]], out, options)


def test_addresses_are_tagged_and_known_again(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    X, y = sentences(np.random.default_rng(1), 10)
    model, out = tmp_path / "m.safetensors", tmp_path / "out"
    SequenceTagger(["word[0]"], epochs=1).fit(X, y).save(model)
    text = "\n\n".join("\n".join(tokens) for tokens in X) + "\n"
    with fsspec.open("memory://in/a.conll", "w") as stream:
        stream.write(text)
    options = TaggingOptions({"columns": ["word"]})
    assert tag_files(Inline(), model, ["memory://in/a.conll"], out, options) == (1, 0)
    tagged = [row.split()[0] for row in (out / "a.conll").read_text().split("\n") if row]
    assert tagged == [token for tokens in X for token in tokens]
    assert tag_files(Inline(), model, ["memory://in/a.conll"], out, options) == (0, 1)
    os.utime(out / "a.conll", (1, 1))  # older than both
    assert tag_files(Inline(), model, ["memory://in/a.conll"], out, options) == (1, 0)


def test_labels_that_only_the_test_set_has_are_told_when_the_text_is_read(tmp_path: Path) -> None:
    X, y = sentences(np.random.default_rng(1), 20)
    write_conll(tmp_path / "a.conll", X, y)
    write_conll(tmp_path / "t.conll", [*X, ["new"]], [*y, ["X"]])
    config = Config.model_validate(
        {
            "data": {"train": str(tmp_path / "a.conll"), "test": str(tmp_path / "t.conll")},
            "features": {"templates": ["word[0]"]},
            "learner": {"epochs": 2},
            "cluster": {"shards": 2},
            "output": {"model": str(tmp_path / "m.safetensors")},
        }
    )
    run = ClusterRun(config, Inline())
    assert not any("label" in note for note in run.notes)
    told: list[str] = []
    run.told = told.append
    assert len(list(run.epochs())) == 2
    run.finish()
    assert [line for line in told if "of the test set" in line] == [
        "1 label of the test set is not in the training data and is never predicted: X (1 token)"
    ]


# Mistakes of the user's


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shards": 0}, "shards is 0"),
        ({"mixing": "best"}, "mixing is 'best': choose uniform, mistakes"),
        ({"deal": "never"}, "deal is 'never'"),
        ({"keep": "first"}, "keep is 'first'"),
        ({"algorithm": "arow"}, "'arow' cannot be mixed"),
        ({"stages": 2}, "stages is 2: on a cluster it can only be 1"),
        ({"seeds": 3}, "seeds is 3"),
        ({"memory": "1GB"}, "memory is '1GB': on a cluster leave it out"),
        ({"calibration": "cv"}, "trains five taggers more"),
        ({"taggers": {"pos": "m.safetensors"}}, "with seqpa tag"),
    ],
)
def test_what_cannot_be_done_is_said(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        DaskSequenceTagger(Inline(), **parameters).fit([["a"]], [["N"]])


def test_a_tagger_is_shown_changed_and_cloned_with_its_cluster() -> None:
    tagger = DaskSequenceTagger(Inline(), shards=2, epochs=3, C=0.5)
    assert repr(tagger).startswith("DaskSequenceTagger(client=<")
    assert repr(tagger).endswith(", shards=2, C=0.5, epochs=3)")
    tagger.set_params(shards=3, epochs=4)
    cloned = clone(tagger)
    assert isinstance(cloned, DaskSequenceTagger)
    assert (cloned.client, cloned.shards, cloned.epochs) == (tagger.client, 3, 4)
    assert "shards" not in cloned.get_params()


def test_an_address_is_no_client() -> None:
    with pytest.raises(SeqpaError, match=r"client is 'tcp://here:8786': give a distributed.Client"):
        DaskSequenceTagger("tcp://here:8786").fit([["a"]], [["N"]])


def test_an_unknown_parameter() -> None:
    with pytest.raises(SeqpaError, match="no parameter 'epoch'; did you mean 'epochs'"):
        DaskSequenceTagger(epoch=3)
