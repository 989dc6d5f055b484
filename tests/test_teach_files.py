"""Projects of `seqpa teach`: sentences in and out without loss, and training on the file itself."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqpa.cli import main
from seqpa.data import read
from seqpa.data.recognise import look_at
from seqpa.data.teach_project import read_project
from seqpa.errors import SeqpaError
from seqpa.schemes import SCHEMES, spans
from seqpa.teach.files import Imported, export, read_sentences, rendered
from seqpa.teach.store import Event, Sentence, Store

WORDS = st.text(
    st.characters(categories=["L", "N", "P", "S"], exclude_characters="\u2028\u2029"),
    min_size=1,
    max_size=6,
).filter(lambda word: not word.startswith(("#", "-DOCSTART-")))
GAPS = [" ", "", "  ", "\u00a0", "\n", "\t \r\n", "\f\n\n  "]
NAMES = st.sampled_from(["PER", "ORG", "B-ROLE", "work of art", "a|b", "\\p\\|"])


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Sentence, dict[str, Any]]:
    """A sentence with any spaces between its words, and spans over them."""
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    text, offsets = "", []
    for word in words:
        text += draw(st.sampled_from(GAPS)) if text else ""
        offsets.append([len(text), len(text) + len(word)])
        text += word
    found: list[list[Any]] = []
    at = 0
    while at < len(words):
        length = draw(st.integers(0, 3))
        if length and at + length <= len(words):
            found.append([at, at + length, draw(NAMES)])
        at += max(length, 1)
    return Sentence(0, "a.txt", 0, text, words, offsets), {"spans": found}


def back(data: bytes, folder: Path, name: str, **options: Any) -> Imported:
    path = folder / name
    path.write_bytes(data)
    return read_sentences([path], **options)


ONE_FOLDER = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("scheme", SCHEMES)
@ONE_FOLDER
@given(entries=st.lists(labelled(), min_size=1, max_size=3))
def test_columns_keep_words_and_spans(
    tmp_path: Path, scheme: str, entries: list[tuple[Sentence, dict[str, Any]]]
) -> None:
    if scheme == "io":  # cannot tell two spans side by side from one
        entries = [(s, {"spans": a["spans"][:1]}) for s, a in entries]
    data, told = rendered(entries, "spans", "conll", scheme=scheme)
    found = back(data, tmp_path, "a.conll", kind="spans", format="conll", columns=["word", "label"])
    assert [one.tokens for one in found.sentences] == [s.tokens for s, _ in entries]
    assert [one.given for one in found.sentences] == [a for _, a in entries]
    assert told.left_out == 0


@pytest.mark.parametrize("format", ["jsonl", "spacy", "conllu", "huggingface"])
@ONE_FOLDER
@given(entries=st.lists(labelled(), min_size=1, max_size=3))
def test_other_formats_keep_all_that_they_can_say(
    tmp_path: Path, format: str, entries: list[tuple[Sentence, dict[str, Any]]]
) -> None:
    data, _ = rendered(entries, "spans", format)
    reader = {"spacy": "spans", "huggingface": "jsonl"}.get(format, format)
    found = back(data, tmp_path, "a", kind="spans", format=reader).sentences
    assert [one.tokens for one in found] == [s.tokens for s, _ in entries]
    assert [one.given for one in found] == [a for _, a in entries]
    assert [one.text for one in found] == [s.text for s, _ in entries]
    assert [one.offsets for one in found] == [s.offsets for s, _ in entries]


@ONE_FOLDER
@given(entries=st.lists(labelled(), min_size=1, max_size=3), data=st.data())
@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl", "huggingface"])
def test_labels_of_tokens_go_round(
    tmp_path: Path, format: str, entries: list[tuple[Sentence, Any]], data: st.DataObject
) -> None:
    tags = st.sampled_from(["NOUN", "VERB", "X:y"])
    pairs = [(s, {"labels": [data.draw(tags) for _ in s.tokens]}) for s, _ in entries]
    made, _ = rendered(pairs, "tokens", format)
    reader = {"huggingface": "jsonl"}.get(format, format)
    columns = ["word", "label"] if format == "conll" else None
    found = back(made, tmp_path, "a", kind="tokens", format=reader, columns=columns).sentences
    assert [(one.tokens, one.given) for one in found] == [(s.tokens, a) for s, a in pairs]


CONLLU = """\
# newdoc id = d1
# sent_id = 1
# text = Im Haus.
1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_
1\tin\tin\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\tCase=Dat\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_
4.1\tist\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 2
# text = Ja!
1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\tSpaceAfter=No
2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def test_conllu_comes_out_as_it_went_in(tmp_path: Path) -> None:
    found = back(CONLLU.encode(), tmp_path, "a.conllu")
    assert (found.kind, found.sentences[1].text) == ("tokens", "Ja!")
    assert found.sentences[1].offsets == [[0, 2], [2, 3]]
    entries = [(one, one.given) for one in found.sentences]
    data, _ = rendered(entries, "tokens", "conllu", found.names)
    assert data.decode() == CONLLU


def test_spaces_that_only_misc_tells_of(tmp_path: Path) -> None:
    told = CONLLU.replace("# text = Im Haus.\n", "").replace("# text = Ja!\n", "")
    told = told.replace("\t3\tdet\t_\t_\n", "\t3\tdet\t_\tSpacesAfter=\\s\\t\\p\n")
    found = back(told.encode(), tmp_path, "a.conllu")
    assert [one.text for one in found.sentences] == ["in dem \t|Haus.", "Ja!"]
    data, _ = rendered([(x, x.given) for x in found.sentences], "tokens", "conllu", found.names)
    assert data.decode() == told


def test_spans_beside_the_fields_of_conllu(tmp_path: Path) -> None:
    found = back(CONLLU.encode(), tmp_path, "a.conllu", kind="spans")
    assert [one.given for one in found.sentences] == [None, None]
    entries = [(one, {"spans": [[1, 2, "X"]]}) for one in found.sentences]
    data, _ = rendered(entries, "spans", "conllu", found.names)
    again = back(data, tmp_path, "b.conllu")
    assert (again.kind, again.labels) == ("spans", ["X"])
    assert [one.columns for one in again.sentences] == [one.columns for one in found.sentences]
    assert "\tDET\t" in data.decode()
    assert "NER=B-X" in data.decode()


def test_further_columns_of_conll(tmp_path: Path) -> None:
    text = "Ada\tNNP\tB-PER\nwon\tVBD\tO\n\nRain\tNN\tO\n\n"
    found = back(text.encode(), tmp_path, "a.conll")
    assert (found.kind, found.labels, found.names) == ("spans", ["PER"], ["pos"])
    data, _ = rendered([(s, s.given) for s in found.sentences], "spans", "conll", found.names)
    assert data.decode() == text


def test_text_keeps_every_space(tmp_path: Path) -> None:
    found = back(b"Dr. Okri  left.\n\nShe\nwon!\n", tmp_path, "a.txt")
    assert [one.text for one in found.sentences] == ["Dr. Okri  left.", "She\nwon!"]
    for one in found.sentences:
        assert [one.text[a:b] for a, b in one.offsets] == one.tokens
        assert one.given is None
    assert [one.position for one in found.sentences] == [0, 1]


def test_texts_with_and_without_spans(tmp_path: Path) -> None:
    bare = back(b'{"text": "Ada won."}\n', tmp_path, "a.jsonl")
    assert bare.sentences[0].given is None
    full = back(b'{"text": "Ada won.", "label": [[0, 3, "PER"]]}\n', tmp_path, "b.jsonl")
    assert full.sentences[0].given == {"spans": [[0, 1, "PER"]]}


MIXED = {
    "a.conll": "Ada\tB-PER\nwon\tO\n\nSo\t_\nit\t_\n\n",
    "b.conll": "So\t_\nit\t_\n\nAda\tB-PER\nwon\tO\n\n",
    "a.jsonl": '{"tokens": ["So", "it"]}\n{"tokens": ["Ada", "won"], "labels": ["B-PER", "O"]}\n'
    '{"tokens": ["So"], "labels": null}\n',
    "b.jsonl": '{"words": ["Ada", "won"], "ner_tags": ["B-PER", "O"]}\n{"words": ["So", "it"]}\n',
    "c.jsonl": '{"text": "So it"}\n{"text": "Ada won", "label": [[0, 3, "PER"]]}\n',
    "d.jsonl": '{"text": "Ada won", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n'
    '{"text": "So it"}\n',
    "e.jsonl": '[{"data": {"text": "So it"}, "annotations": []},\n'
    '{"data": {"text": "Ada won"}, "annotations": [{"result": [{"value": '
    '{"start": 0, "end": 3, "labels": ["PER"]}}]}]}]\n',
}


@pytest.mark.parametrize("name", MIXED)
def test_some_sentences_have_labels_and_others_none(tmp_path: Path, name: str) -> None:
    found = back(MIXED[name].encode(), tmp_path, name)
    assert (found.kind, found.labels, found.parts) == ("spans", ["PER"], {})
    given = {" ".join(one.tokens): one.given for one in found.sentences}
    assert given["Ada won"] == {"spans": [[0, 1, "PER"]]}
    assert given["So it"] is None
    assert len(given) == len(found.sentences)


def test_what_stands_outside_of_spans_is_no_gap(tmp_path: Path) -> None:
    found = back(b"Ada\tB-PER\nwon\t_\n\nSo\t_\n\n", tmp_path, "a.conll")
    assert [one.given for one in found.sentences] == [{"spans": [[0, 1, "PER"]]}, {"spans": []}]


def test_labels_of_some_tokens(tmp_path: Path) -> None:
    """Where a span begins or ends beside a token without a label is not known."""
    labels = ["B-PER", "O", "B-PER", "?", "O", "?", "I-LOC", "O", "B-LOC", "I-LOC"]
    rows = "".join(f"w{i}\t{label}\n" for i, label in enumerate(labels))
    found = back(rows.encode(), tmp_path, "a.conll", unlabelled="?")
    assert found.sentences[0].given == {"spans": [[0, 1, "PER"], [8, 10, "LOC"]]}
    pieces = [[0, 1, "PER"], [1, 2, None], [4, 5, None], [7, 8, None], [8, 10, "LOC"]]
    assert found.parts == {0: pieces}
    # What begins with B begins there, what ends with E ends there, whatever stands beside it.
    for rows, piece in (
        ("Bob\t?\nsaw\tO\nin\t?\nRome\tB-LOC\n", [3, 4, "LOC"]),
        ("Bob\t?\nsaw\tO\nRome\tB-LOC\nBay\tE-LOC\nnow\t?\n", [2, 4, "LOC"]),
        ("Bob\t?\nsaw\tO\nin\t?\nRome\tS-LOC\nnow\t?\n", [3, 4, "LOC"]),
    ):
        found = back(rows.encode(), tmp_path, "c.conll", unlabelled="?")
        assert found.parts == {0: [[1, 2, None], piece]}
    # One that may go on is left out, and its label is known all the same.
    found = back(b"saw\tO\nRome\tB-LOC\nBay\t?\n", tmp_path, "d.conll", unlabelled="?")
    assert (found.parts, found.labels) == ({0: [[0, 1, None]]}, ["LOC"])
    found = back(b"a\tX\nb\t_\nc\tY\n", tmp_path, "b.conll")
    assert (found.kind, found.sentences[0].given) == ("tokens", {"labels": ["X", None, "Y"]})
    assert found.parts == {0: [[0, 1, "X"], [2, 3, "Y"]]}


def test_spans_that_io_cannot_tell_apart_are_counted() -> None:
    one = Sentence(0, "a", 0, "Ada Bob won", ["Ada", "Bob", "won"], [[0, 3], [4, 7], [8, 11]])
    entries = [(one, {"spans": [[1, 2, "PER"], [0, 1, "PER"]]}), (one, {"spans": [[0, 2, "PER"]]})]
    for scheme, merged in (("io", 1), ("iob2", 0)):
        _, told = rendered(entries, "spans", "conll", scheme=scheme)
        assert told.merged == merged
        assert ("from it, as other schemes can: 1" in str(told)) == (merged > 0)
    # What is written as spans has no scheme, and loses nothing.
    data, told = rendered(entries, "spans", "spacy", scheme="io")
    assert data == rendered(entries, "spans", "spacy")[0]
    assert told.merged == 0


def test_what_is_not_finished_is_left_out_and_counted() -> None:
    one = Sentence(0, "a", 0, "Ada won", ["Ada", "won"], [[0, 3], [4, 7]])
    for format in ("conll", "conllu", "jsonl", "huggingface"):
        data, told = rendered([(one, None), (one, {"labels": ["N", None]})], "tokens", format)
        assert data == b""
        assert told == (0, 0, 2, 0)
    assert str(told).endswith("0 labelled sentences, 0 tokens; left out, since not finished: 2")


def test_a_file_is_never_replaced_unasked(tmp_path: Path) -> None:
    one = Sentence(0, "a", 0, "Ada", ["Ada"], [[0, 3]])
    target = tmp_path / "out.conll"
    target.write_text("mine")
    with pytest.raises(SeqpaError, match=r"out.conll: is there already; say --force"):
        export(target, [(one, {"spans": []})], "spans")
    assert target.read_text() == "mine"
    assert export(target, [(one, {"spans": []})], "spans", force=True).sentences == 1
    assert target.read_text() == "Ada\tO\n\n"
    with pytest.raises(SeqpaError, match="its name does not say the format"):
        export(tmp_path / "out", [], "spans")
    with pytest.raises(SeqpaError, match="'conl' cannot be exported"):
        rendered([], "spans", "conl")
    with pytest.raises(SeqpaError, match="has spans, and this project labels tokens"):
        rendered([], "tokens", "spacy")


# The project file itself


def project(path: Path, events: list[Event], kind: str = "spans") -> Path:
    sentences = []
    for number, text in enumerate(["Ada won", "Bob lost it", "It rains"]):
        words = text.split()
        starts = [text.index(word) for word in words]
        offsets = [[a, a + len(word)] for a, word in zip(starts, words, strict=True)]
        sentences.append(Sentence(number, "a.txt", number, text, words, offsets))
    with Store.create(path, {"kind": kind}, sentences) as store:
        for event in events:
            store.append([event])
    return path


def accept(sentence: int, *found: list[Any], **more: Any) -> Event:
    return Event("accept", "ada", 0.0, {}, sentence, {"spans": list(found)}, **more)


def test_labels_that_count_are_read(tmp_path: Path) -> None:
    events = [
        accept(0, [0, 1, "LOC"]),
        accept(1, [0, 1, "PER"]),
        Event("undo", "ada", 0.0, {}, undoes=2),
        accept(0, [0, 1, "PER"]),
        Event("partial", "ada", 0.0, {"confirmed": [[0, 1, "PER"], [2, 3, None]]}, 1),
        Event("skip", "ada", 0.0, {}, 2),
    ]
    path = project(tmp_path / "p.seqpa", events)
    assert look_at(path).format == "teach"
    corpus = read(path, "teach")
    assert corpus.X == [["Ada", "won"], ["Bob", "lost", "it"]]
    assert corpus.y == [["B-PER", "O"], ["B-PER", None, "O"]]
    assert read(path, "teach", scheme="bioes").y[0] == ["S-PER", "O"]
    assert len(read(path, "teach", with_labels=False)) == 3


def test_a_project_that_is_open_is_read_and_not_changed(tmp_path: Path) -> None:
    path = project(tmp_path / "p.seqpa", [])
    with Store.open(path) as store:
        store.append([accept(0, [0, 1, "PER"])])
        assert read_project(path).y == [["B-PER", "O"]]
        store.append([accept(2)])
        assert read_project(path).y == [["B-PER", "O"], ["O", "O"]]
    before = path.read_bytes()
    read_project(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]  # nothing is left beside it
    assert path.read_bytes() == before


def test_training_on_the_project_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project(tmp_path / "p.seqpa", [accept(0, [0, 1, "PER"]), accept(1, [0, 1, "PER"])])
    config = tmp_path / "c.yaml"
    config.write_text(
        f"data: {{format: teach, train: {path}}}\n"
        "features: {preset: ner}\nlearner: {epochs: 3}\n"
        f"output: {{model: {tmp_path / 'm.safetensors'}}}\n"
    )
    assert main(["train", str(config)]) == 0, capsys.readouterr().err
    assert (tmp_path / "m.safetensors").exists()
    capsys.readouterr()
    assert main(["convert", str(path), str(tmp_path / "out.conll")]) == 0, capsys.readouterr().err
    assert (
        tmp_path / "out.conll"
    ).read_text() == "Ada\tB-PER\nwon\tO\n\nBob\tB-PER\nlost\tO\nit\tO\n\n"


def test_nothing_labelled_yet(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="no sentence of it is labelled yet"):
        read_project(project(tmp_path / "p.seqpa", []))


# Files that are no projects, or broken ones


def test_foreign_and_damaged_files_are_one_clear_line(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()
    for call in (look_at, read_project):
        with pytest.raises(SeqpaError, match=r"foreign.db: is an SQLite file"):
            call(foreign)
    text = tmp_path / "a.txt"
    text.write_text("Ada won")
    with pytest.raises(SeqpaError, match="is no project of seqpa teach: it is no SQLite file"):
        read_project(text)
    with pytest.raises(SeqpaError, match="no such file"):
        read_project(tmp_path / "nowhere.seqpa")
    newer = project(tmp_path / "newer.seqpa", [accept(0)])
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(SeqpaError, match="was written by a newer seqpa"):
        read_project(newer)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE meta SET value = '\"trees\"'", "its kind is 'trees'"),
        ("UPDATE sentences SET tokens = '[1]'", "no list of strings"),
        ("UPDATE sentences SET tokens = '[' WHERE id = 0", "is damaged"),
        ('UPDATE events SET annotation = \'{"spans": [[0, 9, "X"]]}\'', "not in the sentence"),
        ("UPDATE events SET annotation = '{\"spans\": [[0, 1]]}'", "not start, end, label"),
        ("UPDATE events SET annotation = '7'", "has no annotation"),
        ("DROP VIEW current", "is damaged"),
        ("DROP TABLE sentences", "is damaged"),
    ],
)
def test_damage_of_every_table(tmp_path: Path, change: str, told: str) -> None:
    path = project(tmp_path / "p.seqpa", [accept(0, [0, 1, "PER"])])
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(change)
    connection.commit()
    connection.close()
    with pytest.raises(SeqpaError, match=told) as caught:
        read_project(path)
    assert "\n" not in str(caught.value)


def test_bytes_that_were_changed_never_crash(tmp_path: Path) -> None:
    import random

    whole = project(tmp_path / "p.seqpa", [accept(0, [0, 1, "PER"])]).read_bytes()
    draw = random.Random(5)
    refused = 0
    for number in range(150):
        data = bytearray(whole)
        for _ in range(draw.randrange(1, 40)):
            data[draw.randrange(100, len(data))] = draw.randrange(256)
        if number % 3 == 0:
            data = data[: draw.randrange(len(data))]
        path = tmp_path / "broken.seqpa"
        path.write_bytes(data)
        try:
            corpus = read_project(path)
        except SeqpaError as error:
            refused += str(error).startswith(str(path))
        else:
            assert all(spans([x or "O" for x in labels]) is not None for labels in corpus.y)
    assert refused > 30


def test_each_sentence_is_found_again_where_it_came_from(tmp_path: Path) -> None:
    text = "Ada  met Bob. They\r\nleft 🎉 Rome.\r\n\r\n  Ada wept."
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = read_sentences([tmp_path / "a.txt"]).sentences
    read_by_python = (tmp_path / "a.txt").read_text(encoding="utf-8-sig")
    assert len(found) == 3
    for one in found:
        assert read_by_python[one.start : one.start + len(one.text)] == one.text
    # Of texts that are objects of JSON, each is a document.
    objects = [{"text": read_by_python, "spans": [{"start": 5, "end": 8, "label": "X"}]},
               {"text": " So. It is.", "spans": []}]  # fmt: skip
    data = "".join(json.dumps(one) + "\n" for one in objects).encode()
    given = back(data, tmp_path, "a.jsonl").sentences
    name = str(tmp_path / "a.jsonl")
    places = [(one.document, one.start) for one in given]
    assert places == [(name, one.start) for one in found] + [(f"{name}#2", 1), (f"{name}#2", 5)]


@pytest.mark.parametrize("format", ["jsonl", "spacy", "huggingface"])
def test_an_export_tells_where_its_sentences_came_from(tmp_path: Path, format: str) -> None:
    (tmp_path / "a.txt").write_text("Ada met Bob. They left.\n\nRome fell.")
    found = read_sentences([tmp_path / "a.txt"]).sentences
    entries = [(one, {"spans": [[0, 1, "X"]]}) for one in found]
    data, _ = rendered(entries, "spans", format)
    again = back(data, tmp_path, "again.jsonl").sentences
    assert again == [one._replace(given=labels) for one, labels in entries]


def test_a_project_that_did_not_keep_places_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.seqpa"
    one = Sentence(0, "a.txt", 0, "Ada", ["Ada"], [[0, 3]], start=7)
    Store.create(path, {}, [one]).close()
    with sqlite3.connect(path) as connection:
        columns = "id, document, position, text, tokens, offsets, columns, given"
        connection.execute(f"CREATE TABLE early AS SELECT {columns} FROM sentences")
        connection.execute("DROP VIEW current")
        connection.execute("DROP VIEW labels")
        connection.execute("DROP VIEW valid")
        connection.execute("DROP TABLE sentences")
        connection.execute("ALTER TABLE early RENAME TO sentences")
    connection.close()
    with Store.open(path) as store:
        store.extend([one._replace(id=1)])
        assert [x.start for x in store.sentences()] == [None, 7]


def test_json_of_an_export_has_its_places(tmp_path: Path) -> None:
    one = Sentence(0, "a.txt", 0, "Ada  won", ["Ada", "won"], [[0, 3], [5, 8]])
    data, _ = rendered([(one, {"spans": [[1, 2, "X"]]})], "spans", "jsonl")
    record = json.loads(data)
    assert record["offsets"] == [[0, 3], [5, 8]]
    assert record["labels"] == ["O", "B-X"]


def test_spacy_takes_any_white_space(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="needs spaCy")
    text = tmp_path / "a.txt"
    text.write_text("Ada  Norvell left\n  New\tDelhi, she said (in 5\u00a0hours).")
    [one] = read_sentences([text], "spans").sentences
    labels = {"spans": [[0, 2, "PER"], [3, 5, "LOC"]]}
    vocab = spacy.blank("en").vocab
    told = json.loads(rendered([(one, labels)], "spans", "spacy")[0])
    data, _ = rendered([(one, labels)], "spans", "docbin")
    by_json = spacy.tokens.Doc(vocab).from_json(told, validate=True)
    for doc in [by_json, *spacy.tokens.DocBin().from_bytes(data).get_docs(vocab)]:
        assert doc.text == one.text
        assert [(span.text, span.label_) for span in doc.ents] == [
            ("Ada  Norvell", "PER"), ("New\tDelhi", "LOC"),
        ]  # fmt: skip


def test_spacy_reads_a_docbin(tmp_path: Path) -> None:
    """Text, words and spans as they were; where spaCy is installed."""
    spacy = pytest.importorskip("spacy", reason="needs spaCy")
    text = tmp_path / "a.txt"
    text.write_text("Ada Norvell left New Delhi, sadly.\nBob met Zoë in Rome.\n", encoding="utf-8")
    sentences = read_sentences([text], "spans").sentences
    labels = [
        {"spans": [[0, 2, "PER"], [3, 5, "LOC"]]},
        {"spans": [[0, 1, "PER"], [2, 3, "PER"], [4, 5, "LOC"]]},
    ]
    export(tmp_path / "a.spacy", zip(sentences, labels, strict=True), "spans", "docbin")
    docs = list(
        spacy.tokens.DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank("en").vocab)
    )
    assert [doc.text for doc in docs] == [one.text for one in sentences]
    told = [(doc.user_data["document"], doc.user_data["start"]) for doc in docs]
    assert told == [(str(text), 0), (str(text), 35)]
    assert [[word.text for word in doc] for doc in docs] == [one.tokens for one in sentences]
    found = [[[span.start, span.end, span.label_] for span in doc.ents] for doc in docs]
    assert found == [one["spans"] for one in labels]
