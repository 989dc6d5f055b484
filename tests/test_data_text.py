"""Plain text and NLTK's corpora, with data made here and without any."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import Corpus, read, read_chunks, write_tagged
from seqpa.data.nltk_corpora import installed
from seqpa.errors import SeqpaError

nltk = pytest.importorskip("nltk")

WORD = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\0\ufeff"), min_size=1
).filter(lambda word: word != "-DOCSTART-")  # which columns cannot hold


@given(st.lists(st.lists(WORD, min_size=1), min_size=1))
def test_split_text_keeps_its_lines(tmp_path_factory: pytest.TempPathFactory, rows) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes("\n\n".join("  ".join(words) for words in rows).encode())
    options = {"format": "text", "with_labels": False, "tokenizer": "whitespace"}
    assert rows == read(path, **options).X
    out = path.with_name("out")
    chunks = read_chunks(path, **options, keep_layout=True)
    write_tagged(out, ((c, ["T"] * c.n_tokens) for c in chunks), inline=True)
    lines = out.read_bytes().decode().split("\n")
    assert lines[0::2] == [" ".join(f"{word}_T" for word in words) for words in rows]
    assert set(lines[1::2]) == {""}
    write_tagged(out, ((c, ["T"] * c.n_tokens) for c in read_chunks(path, **options)))
    assert rows == read(out).X


def test_text_without_layout(tmp_path: Path) -> None:
    corpus = Corpus.from_sentences([["Go", "!"], ["No"]])
    write_tagged(tmp_path / "out", [(corpus, [["V", "."], ["D"]])], inline=True)
    assert (tmp_path / "out").read_text() == "Go_V !_.\nNo_D\n"


def test_text_has_no_labels_and_few_tokenizers(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="plain text has no labels"):
        read(tmp_path / "a", "text")
    with pytest.raises(SeqpaError, match="'moses' is none of builtin, punkt, whitespace"):
        read(tmp_path / "a", "text", with_labels=False, tokenizer="moses")


@pytest.fixture
def nltk_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An NLTK data folder of our own, and no other."""
    folder = tmp_path / "nltk_data"
    folder.mkdir()
    monkeypatch.setattr("nltk.data.path", [str(folder)])
    return folder


def test_missing_data_of_nltk_says_what_to_run(tmp_path: Path, nltk_data: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("It rains. Stay in.\n")
    with pytest.raises(SeqpaError, match=r"a\.txt: .*nltk\.downloader punkt_tab.*builtin"):
        read(path, "text", with_labels=False, tokenizer="punkt")
    with pytest.raises(SeqpaError, match=r"brown: .*python -m nltk\.downloader brown"):
        read("brown", "nltk")
    assert not any(installed().values())


def test_nltk_finds_sentences_and_words(tmp_path: Path, nltk_data: Path) -> None:
    punkt = pytest.importorskip("nltk.tokenize.punkt")
    trainer = punkt.PunktTrainer("Mr. Low saw Mr. High. Mr. High left. Mr. Low ate. " * 20)
    model = nltk_data / "tokenizers" / "punkt_tab" / "english"
    model.mkdir(parents=True)
    punkt.save_punkt_params(trainer.get_params(), str(model))
    path = tmp_path / "a.txt"
    path.write_text("The rain stopped. Mr. Low didn't\nleave\n\nA title\n\nWhy? \n")
    corpus = read(path, "text", with_labels=False, tokenizer="punkt")
    assert read(path, "text", with_labels=False, tokenizer="nltk").X == corpus.X  # its name before
    assert corpus.X == [
        ["The", "rain", "stopped", "."],
        ["Mr.", "Low", "did", "n't", "leave"],
        ["A", "title"],
        ["Why", "?"],
    ]
    assert read(path, "text", with_labels=False).X == corpus.X  # the built-in rules agree
    chunks = read_chunks(
        path, "text", with_labels=False, tokenizer="punkt", chunk_bytes=7, keep_layout=True
    )
    write_tagged(tmp_path / "out", ((c, ["T"] * c.n_tokens) for c in chunks), inline=True)
    assert (tmp_path / "out").read_text().endswith("A_T title_T\nWhy_T ?_T\n")


def test_a_tokenizer_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two|three\n\nfour\n")

    def at_bars(text: str) -> list[list[str]]:
        return [part.split() for part in text.split("|")]

    options = {"format": "text", "with_labels": False}
    assert read(path, **options, tokenizer=str.split).X == [["one", "two|three"], ["four"]]
    assert read(path, **options, tokenizer=at_bars).X == [["one", "two"], ["three"], ["four"]]
    for wrong in (lambda text: [1], lambda text: [["a", None]]):
        with pytest.raises(SeqpaError, match="must return a list of words"):
            read(path, **options, tokenizer=wrong)
    upper = read_chunks(path, **options, keep_layout=True, tokenizer=lambda t: t.upper().split())
    with pytest.raises(SeqpaError, match=r"a\.txt:1: tokenizer: its word 'ONE' is not what"):
        list(upper)


@pytest.mark.parametrize("tokenizer", ["builtin", "whitespace", str.split])
def test_the_places_of_words_are_kept(tmp_path: Path, tokenizer) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"It rains.\r\nDr. Low\r\nleft. \r\n\r\n  Why?\r\n" * 3)
    options = {"format": "text", "with_labels": False, "tokenizer": tokenizer}
    words = read(path, **options).columns[0]
    seen, lines = [], []
    for chunk in read_chunks(path, **options, keep_layout=True, chunk_bytes=20):
        layout = chunk.layout
        seen += [layout.block.text[start:end] for start, end in layout.places]
        lines += [layout.line_of(token) for token in range(chunk.n_tokens)]
    assert seen == words
    text = path.read_text().split("\n")
    assert all(word in text[line - 1] for word, line in zip(words, lines, strict=True))


def test_nltk_corpora(nltk_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nltk.corpus import reader, util

    def lazy(name: str, kind: object, *rest: object, **more: object) -> None:
        monkeypatch.setattr(f"nltk.corpus.{name}", util.LazyCorpusLoader(name, kind, *rest, **more))

    chunked = nltk_data / "corpora" / "conll2000"
    chunked.mkdir(parents=True)
    (chunked / "train.txt").write_text("He PRP B-NP\nran VBD B-VP\n\nGo VB B-VP\n\n")
    (chunked / "test.txt").write_text("No DT O\n\n")
    lazy("conll2000", reader.ConllChunkCorpusReader, ["train.txt", "test.txt"], ("NP", "VP"))
    corpus = read("conll2000:train.txt", "nltk", scheme="bioes")
    assert corpus.names == ("word", "pos")
    assert corpus.X == [[("He", "PRP"), ("ran", "VBD")], [("Go", "VB")]]
    assert corpus.y == [["S-NP", "S-VP"], ["S-VP"]]
    assert read("conll2000[1:2]", "nltk").X == [[("Go", "VB")]]
    assert len(read("conll2000", "nltk")) == 3
    assert read("conll2000[2:]", "nltk", columns=["word", "_", "label"]).X == [["No"]]
    assert installed()["conll2000"]

    bank = nltk_data / "corpora" / "treebank" / "combined"
    bank.mkdir(parents=True)
    (bank / "wsj_0001.mrg").write_text("( (S (NP (NN Rain)) (VP (VBZ ends) (NP (-NONE- *)))) )\n")
    lazy("treebank", reader.BracketParseCorpusReader, r".*\.mrg")
    assert read("treebank", "nltk").X == [["Rain", "ends"]]
    assert read("treebank", "nltk", with_labels=False).labels is None

    for request, message in [
        ("conll2000:dev.txt", r"conll2000:dev\.txt: conll2000 has no part 'dev\.txt'; there are"),
        ("conll2000[1]", r"a range of sentences is written \[100:200\]"),
        ("treebnk", "did you mean 'treebank'"),
        ("conll2000[7:]", "there is no sentence"),
    ]:
        with pytest.raises(SeqpaError, match=message):
            read(request, "nltk")
    with pytest.raises(SeqpaError, match="word, label are 2; nltk's conll2000 has 3"):
        read("conll2000", "nltk", columns=["word", "label"])
