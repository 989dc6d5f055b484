"""``seqpa export-crfsuite``: CRFsuite tags with our models as we do."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa import SeqpaError, SequenceTagger
from seqpa.cli import main
from seqpa.pycrfsuite import Tagger
from seqpa.pycrfsuite.crfsuite_file import FEATURE, CrfsuiteModel, read_crfsuite
from seqpa.pycrfsuite.crfsuite_writer import hashed, to_bytes
from seqpa.pycrfsuite.exporting import FIRST, LAST, to_crfsuite
from seqpa.sequence.marginals import Probabilities
from seqpa.sequence.trained import Trained

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

LABELS = ("O", "B-x", "I-x")
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
ITEMS = st.one_of(
    st.lists(NAMES, max_size=4),
    st.dictionaries(NAMES, st.one_of(NAMES, st.booleans(), st.floats(-3, 3)), max_size=4),
)


@st.composite
def sequences(draw: st.DrawFn) -> tuple[list[list[Any]], list[list[str]]]:
    """Sentences of given features with legal labels."""
    X, y = [], []
    for _ in range(draw(st.integers(1, 5))):
        items = draw(st.lists(ITEMS, min_size=1, max_size=5))
        labels: list[str] = []
        for _ in items:
            allowed = LABELS if labels and labels[-1] != "O" else LABELS[:2]
            labels.append(draw(st.sampled_from(allowed)))
        X.append(items)
        y.append(labels)
    return X, y


Base: Any = pycrfsuite.Tagger


class Theirs(Base):
    """CRFsuite's own tagger, which reads the bytes of a model as long as it lives."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content
        self.open_inmemory(content)


def opened(trained: Trained) -> tuple[Theirs, list[str]]:
    """CRFsuite's own tagger with a model, and the attributes that ends of sentences need."""
    exported = to_crfsuite(trained)
    return Theirs(to_bytes(exported.model)), exported.ends


def with_ends(items: list[Any], ends: list[str]) -> list[Any]:
    """Items with the attributes of the ends."""
    made = [dict(i) if isinstance(i, dict) else dict.fromkeys(i, 1.0) for i in items]
    for name, place in ((FIRST, 0), (LAST, -1)):
        if name in ends:
            made[place][name] = 1.0
    return made


def agree(theirs: Any, trained: Trained, given_items: Any, items: list[Any]) -> None:
    """The same tags, unless others are as probable, and the same probabilities."""
    encoded, decoder = trained.tagging.prepared([given_items])
    scale = 1.0 if trained.scale is None else trained.scale
    expected = Probabilities(decoder, scale).tokens(encoded)
    ours = trained.predict([given_items])[0]
    theirs.set(items)
    found = [[theirs.marginal(label, t) for label in trained.labels] for t in range(len(items))]
    np.testing.assert_allclose(found, expected, atol=2e-6)
    tags = theirs.tag()
    assert tags == ours or theirs.probability(tags) == pytest.approx(
        theirs.probability(ours), rel=1e-5
    )


@settings(max_examples=40, deadline=None)
@given(
    sequences(),
    st.sampled_from([None, "bio", {"forbidden": [["O", "B-x"]]}]),
    st.sampled_from([None, 0.3, 1.7]),
)
def test_given_features(
    data: tuple[list[list[Any]], list[list[str]]], constraints: Any, scale: float | None
) -> None:
    X, y = data
    if isinstance(constraints, dict) and not {"O", "B-x"} <= {k for own in y for k in own}:
        constraints = None
    tagger = SequenceTagger(None, epochs=3, random_state=1).fit(X, y)
    trained = tagger.trained_.under(constraints)
    trained = trained if scale is None else trained.scaled(scale)
    theirs, ends = opened(trained)
    assert theirs.labels() == trained.labels
    assert set(ends) <= ({FIRST} if constraints == "bio" else set())
    for items in X:
        # A string given twice is two attributes there, as here.
        plain = [i if isinstance(i, dict) else list(dict.fromkeys(i)) for i in items]
        agree(theirs, trained, plain, with_ends(plain, ends))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(NAMES, unique=True, max_size=40),
    st.lists(NAMES, unique=True, min_size=1, max_size=9),
    st.integers(0, 2**32 - 1),
)
def test_any_model_is_read_by_both(attributes: list[str], labels: list[str], seed: int) -> None:
    """What is written is what CRFsuite dumps, and what we read."""
    rng = np.random.default_rng(seed)
    K, A = len(labels), len(attributes)
    transitions = rng.normal(size=(K, K)) * (rng.random((K, K)) < 0.5)
    places = np.argwhere(rng.random((A, K)) < 0.4)
    states = np.zeros(len(places), FEATURE)
    states["source"], states["target"] = places.T
    states["weight"] = rng.normal(size=len(places))
    model = CrfsuiteModel({}, labels, attributes, states, transitions)
    content = to_bytes(model)
    again = read_crfsuite(content)
    assert (again.labels, again.attributes) == (labels, attributes)
    assert (again.states == states).all()
    assert (again.transitions == transitions).all()
    assert to_bytes(again) == content
    tagger = Theirs(content)
    assert tagger.labels() == labels
    for number, name in enumerate(attributes):  # each is found by its hash
        tagger.set([{name: 1.0}])
        scores = np.zeros(K)
        own = states[states["source"] == number]
        scores[own["target"]] = own["weight"]
        expected = np.exp(scores) / np.exp(scores).sum()
        found = [tagger.marginal(label, 0) for label in labels]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_crfsuites_own_file_is_written_again_to_the_byte(tmp_path: Path) -> None:
    rng = random.Random(5)
    trainer = pycrfsuite.Trainer("lbfgs", {"max_iterations": 15, "c1": 0.1}, verbose=False)
    for _ in range(40):
        n = rng.randint(1, 6)
        items = [[f"f{rng.randint(0, 60)}", "été" * rng.randint(0, 9)] for _ in range(n)]
        trainer.append(items, [rng.choice(LABELS) for _ in range(n)])
    trainer.train(str(tmp_path / "model"))
    content = (tmp_path / "model").read_bytes()
    assert to_bytes(read_crfsuite(content)) == content


def test_the_hash_is_the_published_one() -> None:
    assert hashed([b"Four score and seven years ago"])[0] == 0x17770551
    assert len(hashed([])) == 0


# Models that read words


WORDS = ["Rain", "rain", "fell", "Ohio", "so", "12", "a-b"]
TEMPLATES = ["word[0]", "lower[-1]|istitle[0]", "suffix(2)[0]", "hasdigit[0]", "word[1]", "bias"]
FORMS = """\
word[0]\tw={}
lower[-1]|istitle[0]\ttitle after {}
suffix(2)[0]\tends:{}
hasdigit[0]\tdigit
word[1]\tnext={}
word[1]=<+1>\tEOS
bias\tbias
"""


@pytest.fixture(scope="module", name="model")
def _model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(2)
    X = [[rng.choice(WORDS) for _ in range(rng.randint(1, 6))] for _ in range(40)]
    y = [["B-x" if word.istitle() else rng.choice(["O", "O", "B-x"]) for word in s] for s in X]
    tagger = SequenceTagger(TEMPLATES, epochs=3, random_state=1, constraints="bio").fit(X, y)
    path = tmp_path_factory.mktemp("export") / "model.safetensors"
    tagger.save(path)
    return path


def named(words: list[str], i: int) -> list[str]:
    """The attributes of a word, as `FORMS` names them."""
    word, before = words[i], words[i - 1].lower() if i else "<-1>"
    made = [f"w={word}", "bias", *(["digit"] if any(c.isdigit() for c in word) else [])]
    made += [f"title after {before}"] if word.istitle() else []
    made += [f"ends:{word[-2:]}"] if len(word) > 1 else []
    return [*made, f"next={words[i + 1]}" if i + 1 < len(words) else "EOS"]


def test_templates_under_the_names_of_a_file(model: Path, tmp_path: Path) -> None:
    (tmp_path / "names").write_text(FORMS, encoding="utf-8")
    out = tmp_path / "out.crfsuite"
    names = ["--templates", str(tmp_path / "names")]
    assert main(["export-crfsuite", str(model), "-o", str(out), *names]) == 0
    ours, theirs = SequenceTagger.load(model), pycrfsuite.Tagger()
    theirs.open(str(out))
    rng = random.Random(7)
    for _ in range(30):
        words = [rng.choice([*WORDS, "new"]) for _ in range(rng.randint(1, 7))]
        items = [named(words, i) for i in range(len(words))]
        agree(theirs, ours.trained_, words, with_ends(items, [FIRST]))


def test_templates_under_our_names(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.crfsuite"
    assert main(["export-crfsuite", str(model), "-o", str(out)]) == 0
    ours, theirs = SequenceTagger.load(model), pycrfsuite.Tagger()
    theirs.open(str(out))
    source = ours.trained_.source
    names = source.encoder.feature_names()
    for words in (["Rain", "fell"], ["so"], ["12", "Ohio", "a-b"]):
        encoded = source.transform([words])
        runs = np.split(encoded.features, encoded.indptr[1:-1])
        items = [[names[f] for f in run] for run in runs]
        agree(theirs, ours.trained_, words, with_ends(items, [FIRST]))


def test_our_own_tagger_opens_what_was_written(model: Path, tmp_path: Path) -> None:
    """What is forbidden is forbidden here too."""
    out = tmp_path / "out.crfsuite"
    assert main(["export-crfsuite", str(model), "-o", str(out)]) == 0
    ours, theirs = Tagger(), pycrfsuite.Tagger()
    ours.open(str(out))
    theirs.open(str(out))
    items = [{FIRST: 1.0, "word[0]=Rain": 1.0}, {"word[0]=so": 1.0}]
    assert ours.tag(items) == theirs.tag(items)
    for label in ours.labels():
        assert ours.marginal(label, 0) == pytest.approx(theirs.marginal(label, 0), abs=1e-6)


def test_what_the_items_must_have_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tagger = SequenceTagger(["tags[0]", "word[0]"], constraints="bioes", random_state=1)
    tagger.fit([["Ohio", "is"]], [["S-x", "O"]], dev=None).save(tmp_path / "m")
    # A scheme in which a span must end: B-x may stand neither first alone nor last.
    spans = SequenceTagger(["word[0]"], constraints="bioes", random_state=1)
    spans.fit([["New", "York"]], [["B-x", "E-x"]]).save(tmp_path / "s")
    assert main(["export-crfsuite", str(tmp_path / "m"), "-o", str(tmp_path / "o")]) == 0
    told = capsys.readouterr().err
    assert "1 templates (tags[0])" in told
    assert FIRST not in told
    assert main(["export-crfsuite", str(tmp_path / "s"), "-o", str(tmp_path / "o2")]) == 0
    told = capsys.readouterr().err
    assert f"first item of each sequence the attribute '{FIRST}'" in told
    assert f"last item of each sequence the attribute '{LAST}'" in told


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"features": ["word[0]", "pair:word[0]"]}, "features of label pairs cannot be exported"),
        ({"features": ["word[0]"], "stages": 2}, "a model of two stages cannot be exported"),
        ({"features": ["elsewhere(lower, -1)"]}, "looks at the whole document"),
    ],
)
def test_what_cannot_be_exported_is_said_in_words(
    tmp_path: Path,
    parameters: dict[str, Any],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    X, y = [["Rain", "fell"], ["so", "Ohio", "fell"]] * 4, [["N", "V"], ["D", "N", "V"]] * 4
    SequenceTagger(**parameters, epochs=2, random_state=1).fit(X, y).save(tmp_path / "m")
    out = tmp_path / "out"
    assert main(["export-crfsuite", str(tmp_path / "m"), "-o", str(out)]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not out.exists()


def test_mistakes_are_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, short, twice = tmp_path / "kept", tmp_path / "short", tmp_path / "twice"
    kept.write_text("mine", encoding="utf-8")
    short.write_text("word[0]\tw={}\n", encoding="utf-8")
    twice.write_text(FORMS.replace("next={}", "w={}"), encoding="utf-8")
    out = str(tmp_path / "out")
    for arguments, message in (
        (["-o", str(kept)], "--force"),
        (["-o", out, "--templates", str(short)], "has no name for"),
        (["-o", out, "--templates", str(twice)], "the name of two attributes"),
    ):
        assert main(["export-crfsuite", str(model), *arguments]) == 2
        told = capsys.readouterr().err
        assert message in told
        assert told.count("\n") == 1
    assert kept.read_text(encoding="utf-8") == "mine"
    assert not Path(out).exists()


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_no_c_string_holds(name: str) -> None:
    model = CrfsuiteModel({}, ["x"], [name], np.zeros(0, FEATURE), np.zeros((1, 1)))
    with pytest.raises(SeqpaError, match="cannot stand in a file of CRFsuite"):
        to_bytes(model)
