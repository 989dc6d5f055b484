"""Columns that other taggers predict: in training (jackknifed where they must be), in tagging."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from seqpa import SequenceTagger
from seqpa.cli import main
from seqpa.data import Corpus, read
from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.model import read_model
from seqpa.sequence.chained import MOST_LEVELS, completed, jackknifed
from seqpa.sequence.folds import MOST_TAGGERS, contiguous_folds
from seqpa.sequence.seen import SeenText

sys.path.insert(0, str(Path(__file__).parent / "attacks"))
from model_mutations import read as read_parts
from model_mutations import written

NEWS = Path(__file__).parents[1] / "corpora" / "news"
COLUMNS = ("word", "pos")
TEMPLATES = ["word[0]", "pos[0]", "pos[-1]|pos[0]", "suffix(2)[0]"]


@pytest.fixture(scope="module")
def news() -> Corpus:
    return read(NEWS / "dev.conll", columns=["word", "pos", "label"])


@pytest.fixture(scope="module")
def other_news() -> Corpus:
    return read(NEWS / "test.conll", columns=["word", "pos", "label"])


def with_labels(corpus: Corpus, column: str) -> Corpus:
    """The words, a column of the corpus as their labels."""
    at = corpus.names.index(column)
    return Corpus(("word",), [corpus.columns[0]], corpus.lengths, corpus.columns[at])


@pytest.fixture(scope="module")
def pos(news: Corpus) -> SequenceTagger:
    tagger = SequenceTagger(["word[0]", "suffix(2)[0]"], epochs=3, random_state=1)
    return tagger.fit(with_labels(news, "pos"))


def names_tagger(pos: object, **more: object) -> SequenceTagger:
    settings = {"epochs": 2, "random_state": 1, "constraints": "bio", **more}
    return SequenceTagger(TEMPLATES, COLUMNS, taggers={"pos": pos}, **settings)


# What is predicted


def test_it_tags_as_if_the_predictions_stood_in_the_file(
    news: Corpus, other_news: Corpus, pos: SequenceTagger
) -> None:
    chained = names_tagger(pos).fit(other_news)
    tags = pos.predict(with_labels(news, "pos"))
    filled = Corpus(COLUMNS, [news.columns[0], list(chain.from_iterable(tags))], news.lengths)
    plain = SequenceTagger(TEMPLATES, COLUMNS, epochs=2, random_state=1, constraints="bio")
    seen = pos.predict(with_labels(other_news, "pos"))
    text = Corpus(
        COLUMNS,
        [other_news.columns[0], list(chain.from_iterable(seen))],
        other_news.lengths,
        other_news.labels,
    )
    plain.fit(text)
    assert plain.state_features_ == chained.state_features_
    expected = plain.predict(filled)
    assert chained.predict(news) == expected  # the right tags of the file are not looked at
    words = news.split(news.columns[0])
    assert chained.predict(words) == expected
    assert chained.predict(news.X) == expected  # tuples with the column are right too
    assert chained.set_params(n_jobs=2).predict(words) == expected
    assert chained.confidence(words) == plain.confidence(filled)
    assert [len(best) for best in chained.predict_nbest(words[:3], 2)] == [2, 2, 2]
    told = chained.explain(words[0])
    assert any(str(c).find("pos[0]=") >= 0 for c in told[0].contributions)
    assert chained.input_columns == ("word",)


def test_one_model_file_holds_both(news: Corpus, pos: SequenceTagger, tmp_path: Path) -> None:
    pos.save(tmp_path / "pos.safetensors")
    chained = names_tagger(tmp_path / "pos.safetensors").fit(news)
    chained.save(tmp_path / "names.safetensors")
    (tmp_path / "pos.safetensors").unlink()
    loaded = SequenceTagger.load(tmp_path / "names.safetensors")
    words = news.split(news.columns[0])
    assert loaded.predict(words) == chained.predict(words)
    assert loaded.taggers is not None
    assert loaded.taggers["pos"].predict(words) == pos.predict(words)
    assert loaded.input_columns == ("word",)
    for other in (
        pickle.loads(pickle.dumps(loaded)),
        copy.deepcopy(loaded),
        clone(loaded).fit(news),
    ):
        assert other.predict(words) == chained.predict(words)
    loaded.save(tmp_path / "again.safetensors")
    assert (
        read_parts(tmp_path / "again.safetensors")[0]
        == (read_parts(tmp_path / "names.safetensors")[0])
    )


def test_taggers_stand_one_inside_the_other(news: Corpus, pos: SequenceTagger) -> None:
    case = Corpus(
        COLUMNS, news.columns, news.lengths, [str(word.istitle()) for word in news.columns[0]]
    )
    inner = names_tagger(pos, constraints=None).fit(case)
    outer = SequenceTagger(
        ["word[0]", "title[0]", "pos[0]"],
        ("word", "pos", "title"),
        taggers={"pos": pos, "title": inner},
        epochs=1,
        random_state=1,
        jackknife=0,
    ).fit(news)
    assert outer.input_columns == ("word",)
    assert len(outer.predict([["Anna", "left"]])[0]) == 2


def test_a_tagger_may_look_at_a_column_before_it(news: Corpus, pos: SequenceTagger) -> None:
    plain = SequenceTagger(["pos[0]"], COLUMNS, epochs=1, random_state=1).fit(news)
    labels = Corpus(("word",), [news.columns[0]], news.lengths, news.labels)
    outer = SequenceTagger(
        ["word[0]", "names[0]"],
        ("word", "names", "pos"),
        taggers={"pos": pos, "names": plain},
        jackknife=0,
        epochs=1,
    )
    assert outer.fit(labels).input_columns == ("word",)
    outer.set_params(taggers={"names": plain, "pos": pos})
    with pytest.raises(SeqpaError, match="needs the column 'pos', which is neither given nor"):
        outer.fit(labels)


def test_how_far_taggers_look_adds_up(news: Corpus, pos: SequenceTagger) -> None:
    """A column that looks elsewhere may be one that is looked at elsewhere."""
    words = Corpus(("word",), [news.columns[0]], news.lengths, news.columns[1])
    wide = SequenceTagger(["word[0]", "elsewhere(number)"], epochs=1, random_state=1).fit(words)
    names = SequenceTagger(["elsewhere(pos, 1)"], COLUMNS, epochs=1, random_state=1).fit(news)

    def hops(*templates: str, **taggers: SequenceTagger) -> tuple[int, ...]:
        outer = SequenceTagger(
            ["word[0]", *templates],
            ("word", *taggers),
            taggers=taggers,
            jackknife=0,
            epochs=1,
            random_state=1,
        )
        outer.fit(Corpus(("word",), [news.columns[0]], news.lengths, news.labels)[:50])
        assert outer.reach_ == sum(outer.hops_)
        return outer.hops_

    assert (pos.hops_, wide.hops_, names.hops_) == ((), (1000,), (1000,))
    assert hops("pos[0]", pos=pos) == ()
    assert hops("pos[0]", pos=wide) == (1000,)
    assert hops("elsewhere(pos, 1)", pos=wide) == (1000, 1000)
    assert hops("names[0]", pos=wide, names=names) == (1000, 1000)
    assert hops("names[0]", pos=pos, names=names) == (1000,)


def test_it_learns_online(news: Corpus, pos: SequenceTagger, tmp_path: Path) -> None:
    tagger = names_tagger(pos, average=False)
    for tokens, labels in zip(news.split(news.columns[0]), news.y, strict=True):
        tagger.learn_one(tokens, labels)
    assert tagger.score(news.X, news.y) > 0.9
    tagger.partial_fit([["Anna", "left"]], [["B-person", "O"]])
    tagger.save(tmp_path / "m.safetensors")
    same = SequenceTagger.load(tmp_path / "m.safetensors")
    assert same.predict([["Anna", "left"]]) == tagger.predict([["Anna", "left"]])


# Jackknifing


def test_each_fold_is_tagged_by_one_that_learned_from_the_others(
    news: Corpus, pos: SequenceTagger
) -> None:
    words = with_labels(news, "pos")
    expected: list[str] = []
    for part in contiguous_folds(len(news), 4):
        others = Corpus.joined([words[: part.start], words[part.stop :]])
        own = SequenceTagger(**pos.get_params()).fit(others)
        expected += chain.from_iterable(own.predict(words[part.start : part.stop]))
    assert words.labels is not None
    assert jackknifed(pos, words, words.labels, 4, "pos") == expected
    done = completed(news, COLUMNS, {"pos": pos}, {"pos": 4})
    assert done.names == COLUMNS
    assert done.columns[1] == expected
    wrong = sum(a != b for a, b in zip(expected, words.labels, strict=True))
    itself = sum(
        a != b for a, b in zip(chain.from_iterable(pos.predict(words)), words.labels, strict=True)
    )
    assert wrong > 3 * itself  # which is why


def test_only_where_the_text_was_seen(
    news: Corpus, other_news: Corpus, pos: SequenceTagger
) -> None:
    def predicted(corpus: Corpus, folds: int) -> list[str]:
        return completed(corpus, COLUMNS, {"pos": pos}, {"pos": folds}).columns[1]

    assert predicted(news, 5) != predicted(news, 0)
    assert predicted(other_news, 5) == predicted(other_news, 0)
    mixed = Corpus.joined([other_news, news[:100]])
    assert predicted(mixed, 5) != predicted(mixed, 0)


def test_it_is_known_after_loading(news: Corpus, pos: SequenceTagger, tmp_path: Path) -> None:
    pos.save(tmp_path / "pos.safetensors")
    loaded = SequenceTagger.load(tmp_path / "pos.safetensors")
    words = Corpus(("word",), [news.columns[0]], news.lengths, news.labels)
    with pytest.raises(SeqpaError, match=r"learned from this very text.*folds: 0.*jackknife=0"):
        names_tagger(loaded).fit(words)
    names_tagger(loaded, jackknife=0).fit(words)


def test_the_right_labels_may_stand_in_the_tokens(news: Corpus, pos: SequenceTagger) -> None:
    from_corpus = names_tagger(pos).fit(news)
    from_tuples = names_tagger(pos).fit(news.X, news.y)
    assert from_corpus.state_features_ == from_tuples.state_features_
    assert from_corpus.state_features_ != names_tagger(pos, jackknife=0).fit(news).state_features_


def test_another_column_is_noticed(news: Corpus, pos: SequenceTagger) -> None:
    wrong = Corpus(COLUMNS, [news.columns[0], news.columns[0]], news.lengths, news.labels)
    with pytest.raises(SeqpaError, match="labels are unknown to its tagger, such as"):
        names_tagger(pos).fit(wrong)


def test_training_goes_on_bit_for_bit(news: Corpus, pos: SequenceTagger, tmp_path: Path) -> None:
    whole = names_tagger(pos, epochs=3).fit(news)
    broken = names_tagger(pos, epochs=3)
    next(broken.training(news))
    broken.save_state(tmp_path / "state")
    resumed = names_tagger(pos, epochs=3).load_state(tmp_path / "state").fit(news)
    assert resumed.state_features_ == whole.state_features_
    assert resumed.predict(news) == whole.predict(news)


# Which text was seen


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=5, max_size=9), max_size=40),
    st.randoms(use_true_random=False),
)
def test_marks_do_not_depend_on_order(sentences: list[list[str]], rng: object) -> None:
    shuffled = list(sentences)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    a, b = SeenText(), SeenText()
    a.add(list(chain.from_iterable(sentences)), map(len, sentences))
    for sentence in shuffled:
        b.add(sentence, [len(sentence)])
    assert a.to_array().tolist() == b.to_array().tolist()
    if sentences:
        assert a.share(list(chain.from_iterable(shuffled)), map(len, shuffled)) == 1.0


def test_of_a_large_text_a_sample_is_kept() -> None:
    sentences = [[str(i), "b", "c", "d", str(-i)] for i in range(30_000)]
    seen = SeenText()
    for i in range(0, 20_000, 500):
        seen.add(list(chain.from_iterable(sentences[i : i + 500])), [5] * 500)
    assert len(seen.to_array()) == 4096
    half = list(chain.from_iterable(sentences[10_000:]))
    for own in (seen, SeenText.from_array(seen.to_array())):
        assert abs(own.share(half, [5] * 20_000) - 0.5) < 0.05
        assert own.share(list(chain.from_iterable(sentences[20_000:])), [5] * 10_000) < 0.01


# Mistakes


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"taggers": ["pos"]}, "give a mapping"),
        ({"taggers": {"pos": 3}}, "the tagger of the column 'pos' is 3: give a SequenceTagger"),
        (
            {"taggers": {"pso": None}},
            "'pso' is not among the columns word, pos; did you mean 'pos'",
        ),
        ({"taggers": {"word": None}}, "'word' is the word itself"),
        ({"jackknife": 1}, "jackknife is 1: it must be 0, for none, or at least 2"),
        ({"jackknife": -1}, "jackknife is -1"),
        ({"jackknife": {"chunk": 2}}, "no tagger predicts the column 'chunk'"),
        ({"features": None}, "features=None is for tokens"),
        ({"features": list}, "taggers give columns to templates"),
        ({"taggers": {"pos": "nowhere.safetensors"}}, "nowhere.safetensors: there is no such file"),
    ],
)
def test_mistakes(settings: dict[str, object], message: str, pos: SequenceTagger) -> None:
    tagger = names_tagger(pos)
    if isinstance(settings.get("taggers"), dict):
        settings["taggers"] = {n: t or pos for n, t in settings["taggers"].items()}  # type: ignore[attr-defined]
    tagger.set_params(**settings)
    with pytest.raises(SeqpaError, match=message):
        tagger.fit([["so", "it"]], [["O", "O"]])


def test_an_untrained_one() -> None:
    with pytest.raises(NotTrainedError, match="the tagger of the column 'pos' is not trained yet"):
        names_tagger(SequenceTagger()).fit([["so"]], [["O"]])


def test_features_that_files_do_not_hold() -> None:
    dicts = SequenceTagger().fit([[{"a": 1.0}]], [["N"]])
    with pytest.raises(SeqpaError, match="only taggers with templates can predict columns"):
        names_tagger(dicts, jackknife=0).fit([["so"]], [["O"]])


def test_too_many_and_too_deep(pos: SequenceTagger) -> None:
    names = [f"c{i}" for i in range(MOST_TAGGERS + 1)]
    many = SequenceTagger(["word[0]"], ("word", *names), taggers=dict.fromkeys(names, pos))
    with pytest.raises(SeqpaError, match=f"{MOST_TAGGERS} are the most"):
        many.fit([["so"]], [["O"]])
    inner = pos
    with pytest.raises(SeqpaError, match=f"{MOST_LEVELS} levels are the most"):  # noqa: PT012
        for _ in range(MOST_LEVELS + 1):
            inner = names_tagger(inner, constraints=None).fit([["so"]], [["O"]])


def test_files_that_stand_inside_themselves(
    news: Corpus, pos: SequenceTagger, tmp_path: Path
) -> None:
    names_tagger(pos).fit(news).save(tmp_path / "m.safetensors")
    header, arrays = read_parts(tmp_path / "m.safetensors")
    inner = header["taggers"][0]
    deep = {**inner}
    for _ in range(50):
        deep = {**inner, "parameters": header["parameters"], "taggers": [deep]}
        for name in list(arrays):
            if name.startswith("taggers.0.") and f"taggers.0.{name}" not in arrays:
                arrays[f"taggers.0.{name}"] = arrays[name][:0]
        if len(arrays) > 200:
            break
    header["taggers"] = [deep]
    (tmp_path / "deep.safetensors").write_bytes(written(header, arrays))
    with pytest.raises(SeqpaError, match=r"deep\.safetensors: "):
        SequenceTagger.load(tmp_path / "deep.safetensors")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"taggers": []}, "its taggers of columns are none, or too many"),
        ({"taggers": {"pos": {}}}, "its taggers of columns are none"),
        ({"taggers": [{"column": 3}]}, "no name of its own"),
        ({"taggers": [{"column": "pos"}]}, "the tagger of a column has no parameters"),
        ({"taggers": ["pos"]}, "is damaged"),
    ],
)
def test_damaged_files(
    news: Corpus, pos: SequenceTagger, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    names_tagger(pos, jackknife=0).fit(news[:20]).save(tmp_path / "m.safetensors")
    header, arrays = read_parts(tmp_path / "m.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(written({**header, **change}, arrays))
    with pytest.raises(SeqpaError, match=message):
        SequenceTagger.load(tmp_path / "bad.safetensors")


def test_an_index_of_the_inner_one_is_checked(
    news: Corpus, pos: SequenceTagger, tmp_path: Path
) -> None:
    names_tagger(pos, jackknife=0).fit(news[:20]).save(tmp_path / "m.safetensors")
    header, arrays = read_parts(tmp_path / "m.safetensors")
    rows = arrays["taggers.0.weights.rows"]
    arrays["taggers.0.weights.rows"] = np.full_like(rows, 2**30)
    (tmp_path / "bad.safetensors").write_bytes(written(header, arrays))
    with pytest.raises(SeqpaError, match="damaged model: a row of feature weights has a size"):
        SequenceTagger.load(tmp_path / "bad.safetensors")


# Commands


CONFIG = """
data: {{columns: [word, {column}, label], train: {train}, dev: {dev}}}
columns: {{pos: {{tagger: {tagger}, folds: {folds}}}}}
features: {{preset: ner}}
learner: {{epochs: 2}}
decoding: {{constraints: bio}}
output: {{model: {model}}}
"""


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path, pos: SequenceTagger) -> Path:
    pos.save(tmp_path / "pos.safetensors")
    return tmp_path


def configured(folder: Path, column: str = "pos", folds: int = 2, **more: object) -> Path:
    names = {"train": NEWS / "dev.conll", "dev": NEWS / "test.conll"}
    names |= {"tagger": "pos.safetensors", "model": "names.safetensors", **more}
    file = folder / "names.yaml"
    file.write_text(CONFIG.format(column=column, folds=folds, **names))
    return file


def test_raw_text_needs_one_command(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("train", configured(folder)) == 0
    told = capsys.readouterr()
    assert "pos.safetensors, which learned from this text too: jackknifed in 2 folds" in (
        told.out + told.err
    )
    (folder / "pos.safetensors").unlink()
    (folder / "a.txt").write_text("Anna Norvell flew to Lyon.\n")
    model = folder / "names.safetensors"
    assert run("tag", model, folder / "a.txt") == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["Anna", "B-person"]
    assert run("tag", model, NEWS / "dev.conll", "--to", "conll") == 0
    capsys.readouterr()
    (folder / "words.conll").write_text("Anna\nNorvell\n")
    assert run("tag", model, folder / "words.conll") == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["Norvell", "I-person"]
    assert run("tag", model, folder / "a.txt", "--explain") == 0
    assert "pos[0]=NNP" in capsys.readouterr().out
    assert run("evaluate", model, NEWS / "test.conll", "--json") == 0
    evaluated = json.loads(capsys.readouterr().out)
    metrics = json.loads((folder / "names.metrics.json").read_text())
    assert evaluated["accuracy"] == metrics["dev"]["accuracy"]
    assert run("inspect", model) == 0
    assert "pos, by a tagger with " in capsys.readouterr().out
    assert read_model(model).config is not None


@pytest.mark.parametrize(
    ("settings", "line", "message"),
    [
        ({"tagger": "no.safetensors"}, 3, "there is no such model; train it first"),
        ({"tagger": "names.yaml"}, 3, "is damaged, or no seqpa model"),
        ({"folds": 1}, 3, "folds is 1: it must be 0, for none, or at least 2"),
        ({"folds": -1}, 3, "columns.pos.folds is -1: it must be at least 0"),
        ({"column": "_"}, None, "learned from this very text"),
        ({"model": "pos.safetensors"}, 7, "columns.pos.tagger"),
    ],
)
def test_mistakes_in_a_configuration(
    folder: Path,
    settings: dict[str, object],
    line: int | None,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = configured(folder, **settings)  # type: ignore[arg-type]
    assert run("train", file) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert message in told
    if line is not None:
        assert f"{file}:{line}: " in told
    assert not (folder / "names.safetensors").exists()


def test_an_unknown_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = configured(folder)
    file.write_text(file.read_text().replace("folds:", "fold:"))
    assert run("train", file) == 2
    assert "unknown key 'columns.pos.fold'; did you mean 'folds'?" in capsys.readouterr().err


def test_it_resumes_to_the_same_bytes(folder: Path) -> None:
    file = configured(folder)
    assert run("train", file, "--set", "output.model=" + str(folder / "whole.safetensors")) == 0
    from seqpa.config import load_config
    from seqpa.training_run import TrainingRun

    broken = TrainingRun(load_config(file))
    next(broken.epochs())
    broken.close()
    assert run("train", file, "--resume") == 0
    whole, resumed = (folder / f"{name}.safetensors" for name in ("whole", "names"))
    assert whole.read_bytes() == resumed.read_bytes()
