"""``seqpa import-crfsuite``: CRFsuite's own models tag here as they do there."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seqpa import SeqpaError, SequenceTagger
from seqpa.cli import main
from seqpa.data import read
from seqpa.pycrfsuite.importing import read_names

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

NAMES = """\
# what the function below makes
bias\tbias
lower[0]\tlower={}
istitle[0]\ttitle
pos[0]\tpos={}
pos[-1]|pos[0]\tpos-1|0={}|{}
word[-1]\tbefore={}
word[-1]=<-1>\tBOS
last(3)[0]\tword[-3:]={}
first(2)[-1]\tbefore[:2]={}
"""
FUNCTION = '''
def features(sentence):
    """Attributes as a script makes them for CRFsuite."""
    found = []
    for i, (word, pos) in enumerate(sentence):
        item = ["bias", "lower=" + word.lower(), "pos=" + pos] + ["title"] * word.istitle()
        before = sentence[i - 1] if i else None
        item += [f"pos-1|0={before[1]}|{pos}", f"before={before[0]}"] if before else ["BOS"]
        item += [f"word[-3:]={word[-3:]}"] + ([f"before[:2]={before[0][:2]}"] if before else [])
        found.append(item)
    return found
'''


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a feature function, names of attributes, and a model of CRFsuite."""
    folder = tmp_path_factory.mktemp("crfsuite")
    rng = random.Random(3)
    words = ["Rain", "rain", "=", "a|b", "fell", "Ohio", "so|pos[0]=x", "is"]
    lines = []
    for _ in range(60):
        for _ in range(rng.randint(1, 6)):
            word = rng.choice(words)
            label = rng.choice(["B-X", "O"]) if word.istitle() else rng.choice(["O", "I-X", "O"])
            lines.append(f"{word} {rng.choice(['N', 'V', '|'])} {label}")
        lines.append("")
    (folder / "train.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "names.tsv").write_text(NAMES, encoding="utf-8")
    (folder / "features_of_mine.py").write_text(FUNCTION, encoding="utf-8")
    made: dict[str, Any] = {}
    exec(FUNCTION, made)
    corpus = read(folder / "train.txt", columns=["word", "pos", "label"])
    trainer = pycrfsuite.Trainer("lbfgs", {"max_iterations": 30, "c2": 0.1}, verbose=False)
    for tokens, labels in zip(corpus.X, corpus.y, strict=True):
        trainer.append(made["features"](tokens), labels)
    trainer.train(str(folder / "model.crfsuite"))
    return folder


def tags_of_crfsuite(folder: Path) -> tuple[Any, list[list[str]], list[Any]]:
    made: dict[str, Any] = {}
    exec(FUNCTION, made)
    corpus = read(folder / "train.txt", columns=["word", "pos", "label"])
    items = [made["features"](tokens) for tokens in corpus.X]
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model.crfsuite"))
    return corpus, [tagger.tag(item) for item in items], items


def run(folder: Path, *options: str) -> int:
    files = [str(folder / "model.crfsuite"), "-o", str(folder / "out"), "--force"]
    return main(["import-crfsuite", *files, "--columns", "word,pos,label", *options])


def test_with_templates_it_reads_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, names = str(folder / "train.txt"), str(folder / "names.tsv")
    assert run(folder, "--templates", names, "--data", data) == 0
    assert "warning" not in capsys.readouterr().err
    corpus, tags, _ = tags_of_crfsuite(folder)
    assert SequenceTagger.load(folder / "out").predict(corpus.X) == tags
    tagged = folder / "tagged.txt"
    assert main(["tag", str(folder / "out"), data, "-o", str(tagged)]) == 0
    again = read(tagged, columns=["word", "pos", "_", "label"])
    assert again.y == tags


def test_without_anything_it_takes_features(folder: Path) -> None:
    assert run(folder) == 0
    _, tags, items = tags_of_crfsuite(folder)
    assert SequenceTagger.load(folder / "out").predict(items) == tags


def test_with_a_function_it_calls_it(folder: Path) -> None:
    """In another process, where the function can be imported."""
    code = (
        "import sys; from seqpa.cli import main; "
        "sys.exit(main(sys.argv[1:5] + ['--force', '--columns', 'word,pos,label', "
        "'--features', 'features_of_mine:features']) or "
        "main(['tag', '--allow-imports', sys.argv[4], 'train.txt', '-o', 'by-function.txt']))"
    )
    home = Path(__file__).parents[1]
    subprocess.run(
        [sys.executable, "-c", code, "import-crfsuite", "model.crfsuite", "-o", "function"],
        cwd=folder,
        env={"PYTHONPATH": f"{home}:{folder}"},
        check=True,
    )
    _, tags, _ = tags_of_crfsuite(folder)
    again = read(folder / "by-function.txt", columns=["word", "pos", "_", "label"])
    assert again.y == tags


def test_what_no_template_makes_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = folder / "short.tsv"
    short.write_text("lower[0]\tlower={}\nbias\tbias\n", encoding="utf-8")
    assert run(folder, "--templates", str(short), "--data", str(folder / "train.txt")) == 0
    told = capsys.readouterr().err
    assert "attributes are made by no template" in told
    assert "'pos=" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--templates", "x"], "--templates and --data go together"),
        (["--templates", "x", "--data", "y", "--features", "z:f"], "not both"),
        (["--features", "no_such_module:f"], "cannot be imported"),
        (["--templates", "nope.tsv", "--data", "y"], "nope.tsv: no such file"),
    ],
)
def test_mistakes_are_one_line(
    folder: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "out").read_bytes() if (folder / "out").exists() else None
    assert run(folder, *options) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert ((folder / "out").read_bytes() if (folder / "out").exists() else None) == before


def test_nothing_is_replaced_unasked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = folder / "kept"
    kept.write_text("mine", encoding="utf-8")
    assert main(["import-crfsuite", str(folder / "model.crfsuite"), "-o", str(kept)]) == 2
    assert "--force" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lower[0] word={}", "give a template, a tab and an attribute"),
        ("lower[0]\tword", r"lower\[0\] has 1 values, and 'word' has 0 times"),
        ("lowr[0]\tword={}", "did you mean"),
        ("pair:word[0]\tword={}", "label pairs"),
        ("# nothing", "no template in it"),
    ],
)
def test_names_that_are_wrong_have_a_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "names").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(SeqpaError, match=message):
        read_names(tmp_path / "names", ("word",))
