from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from patience import LONG, standing, until

import seqpa.sequence.tagger as tagger_module
from seqpa.cli import main
from seqpa.config import Config, load_config
from seqpa.data import Corpus, read
from seqpa.errors import SeqpaError, SeqpaWarning
from seqpa.model import read_model
from seqpa.sequence.bounds import certify
from seqpa.sequence.tagger import SequenceTagger
from seqpa.streamed_run import run_of
from seqpa.training_run import TrainingRun, fingerprint, score

NEWS = Path(__file__).parents[1] / "corpora" / "news"


def config(folder: Path, **sections: dict[str, Any]) -> Config:
    content: dict[str, dict[str, Any]] = {
        "data": {
            "columns": ["word", "pos", "label"],
            "train": str(NEWS / "dev.conll"),
            "dev": str(NEWS / "test.conll"),
        },
        "features": {"preset": "ner"},
        "learner": {"epochs": 4},
        "output": {"model": str(folder / "m.safetensors")},
    }
    for name, values in sections.items():
        content[name] = {**content.get(name, {}), **values}
    return Config.model_validate(content)


def trained(folder: Path, resume: bool = False, **sections: dict[str, Any]) -> bytes:
    run = TrainingRun(config(folder, **sections), resume=resume)
    for _ in run.epochs():
        pass
    return run.finish().model.read_bytes()


def test_the_model_is_what_the_tagger_learns(tmp_path: Path) -> None:
    trained(tmp_path, data={"test": str(NEWS / "test.conll")}, learner={"C": 0.3, "seed": 5})
    columns = ["word", "pos", "label"]
    train, dev = (read(NEWS / f"{part}.conll", columns=columns) for part in ("dev", "test"))
    tagger = SequenceTagger("ner", ("word", "pos"), C=0.3, epochs=4, random_state=5)
    tagger.fit(train, dev=dev)
    loaded = SequenceTagger.load(tmp_path / "m.safetensors")
    assert loaded.predict(dev) == tagger.predict(dev)
    assert loaded.transition_features_ == tagger.transition_features_
    metrics = json.loads((tmp_path / "m.metrics.json").read_text())
    assert metrics["best_epoch"] == tagger.n_iter_
    assert metrics["test"]["accuracy"] == tagger.score(dev)
    rows = json.loads((tmp_path / "m.history.json").read_text())["epochs"]
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]
    assert all(row["tokens"] == train.n_tokens for row in rows)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "learner:\n  epochs: 1\n  stages: 2\n  memory: 1GB",
            "a.yaml:4: learner.stages is 2: with memory it can only be 1",
        ),
        (
            "learner: {algorithm: perceptron, batch_size: 4}",
            "a.yaml:2: learner.batch_size above 1 needs",
        ),
        ("learner: {memory: 1MB}", "a.yaml:2: learner.memory is 1MB, and with "),
        (
            "decoding:\n  constraints: {forbidden: [[Q, O]]}",
            "a.yaml:3: decoding.constraints name the label 'Q'",
        ),
        (
            "learner: {memory: 1GB}\ncluster: {shards: 2}",
            "a.yaml:2: learner.memory is '1GB': on a cluster leave it out",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_told_with_their_place(
    more: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.conll").write_text("Ada\tB-x\nwon\tO\n")
    path = tmp_path / "a.yaml"
    path.write_text(f"data: {{columns: [word, label], train: a.conll}}\n{more}\n")
    assert main(["train", str(path), "--quiet"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"seqpa: error: {tmp_path}/{message}")
    assert told.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.conll", "a.yaml"]


def test_the_origin_is_in_the_model(tmp_path: Path) -> None:
    trained(tmp_path)
    model = read_model(tmp_path / "m.safetensors")
    assert model.config is not None
    assert model.config["data"]["columns"] == ["word", "pos", "label"]
    assert "output" not in model.config
    train = read(NEWS / "dev.conll", columns=["word", "pos", "label"])
    assert model.training_words() == set(train.columns[0])


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first = trained(tmp_path / "a")
    assert trained(tmp_path / "b") == first
    assert trained(tmp_path / "c", learner={"seed": 2}) != first


@pytest.mark.parametrize("with_dev", [True, False])
@pytest.mark.parametrize("stop_after", [1, 3])
def test_resumed_it_is_the_same_to_the_byte(
    tmp_path: Path, with_dev: bool, stop_after: int
) -> None:
    data = {} if with_dev else {"dev": None}
    unbroken = trained(tmp_path / "a", data=data)
    run = TrainingRun(config(tmp_path / "b", data=data))
    for row in run.epochs():
        if row.number == stop_after:
            break
    assert run.checkpoint.exists()
    assert trained(tmp_path / "b", resume=True, data=data) == unbroken
    assert not run.checkpoint.exists()
    rows = [json.loads((tmp_path / x / "m.history.json").read_text())["epochs"] for x in "ab"]
    for row in (*rows[0], *rows[1]):
        row.pop("seconds")
    assert rows[0] == rows[1]


def test_killed_after_the_last_epoch_it_trains_no_more(tmp_path: Path) -> None:
    learner = {"epochs": 30, "patience": 2}
    unbroken = trained(tmp_path / "a", learner=learner)
    run = TrainingRun(config(tmp_path / "b", learner=learner))
    for _ in run.epochs():
        pass
    assert run.complete
    assert len(run.history) < 30
    again = TrainingRun(config(tmp_path / "b", learner=learner), resume=True)
    assert list(again.epochs()) == []
    assert again.finish().model.read_bytes() == unbroken


def test_quick_epochs_share_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    save = SequenceTagger.save_state

    def counted(tagger: SequenceTagger, path: Path) -> None:
        save(tagger, path)
        saved.append(tagger.training_state_.epoch)

    monkeypatch.setattr(SequenceTagger, "save_state", counted)
    clock = iter(range(1000))  # a second between any two looks: a save takes one, nine must pass
    monkeypatch.setattr("seqpa.training_run.perf_counter", lambda: next(clock))
    run = TrainingRun(config(tmp_path, learner={"epochs": 30}))
    for row in run.epochs():
        if row.number == 13:
            break
    assert saved[0] == 1
    assert saved[-1] == 13  # the last is kept when nobody asks for more
    assert 2 <= len(saved) <= 4
    again = TrainingRun(config(tmp_path, learner={"epochs": 30}), resume=True)
    assert len(again.history) == 13


def test_a_checkpoint_without_space_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise SeqpaError(f"{path}: cannot be written (No space left on device)")

    run = TrainingRun(config(tmp_path))
    monkeypatch.setattr(run.tagger, "save_state", full)
    with pytest.raises(SeqpaError, match="No space left"):
        next(run.epochs())
    run.close()
    assert list(tmp_path.iterdir()) == []


def test_stopped_early_it_keeps_the_best_so_far(tmp_path: Path) -> None:
    run = TrainingRun(config(tmp_path, learner={"epochs": 50}))
    for row in run.epochs():
        if row.number == 2:
            break
    outcome = run.finish()
    assert outcome.epochs == 2
    assert outcome.best_epoch == max(row.number for row in run.history if row.best)
    assert run.checkpoint.exists()
    assert SequenceTagger.load(outcome.model).classes_


def test_resume_refuses_another_configuration_or_other_data(tmp_path: Path) -> None:
    next(TrainingRun(config(tmp_path)).epochs())
    with pytest.raises(SeqpaError, match=r"learner\.C was 0\.05, is 0\.3"):
        TrainingRun(config(tmp_path, learner={"C": 0.3}), resume=True)
    changed = tmp_path / "train.conll"
    changed.write_text("Ada NNP B-person\n")
    old = config(tmp_path)
    new = config(tmp_path, data={"train": str(changed)})
    corpora = [TrainingRun(settings, force=True).train for settings in (old, new)]
    assert fingerprint(corpora[0]) != fingerprint(corpora[1])
    with pytest.raises(SeqpaError, match="another configuration"):
        TrainingRun(new, resume=True)
    more = TrainingRun(config(tmp_path, learner={"epochs": 5}), resume=True)
    assert [row.number for row in more.epochs()] == [2, 3, 4, 5]


def test_resume_goes_on_with_more_threads(tmp_path: Path) -> None:
    settings = {"epochs": 4, "lookahead": "auto"}
    whole = TrainingRun(config(tmp_path, learner=settings))
    told = [epoch.wrong_tokens for epoch in whole.epochs()]
    whole.close()
    first = TrainingRun(config(tmp_path, learner=settings), force=True)
    next(first.epochs())
    first.close()
    rest = TrainingRun(config(tmp_path, learner={**settings, "n_jobs": 2}), resume=True)
    assert rest.resumed
    assert [epoch.wrong_tokens for epoch in rest.epochs()] == told[1:]
    rest.close()


def test_resume_with_the_same_path_but_other_words(tmp_path: Path) -> None:
    file = tmp_path / "train.conll"
    file.write_text("Ada NNP B-person\nwon VBD O\n")
    settings = config(tmp_path, data={"train": str(file), "dev": None})
    next(TrainingRun(settings).epochs())
    file.write_text("Ada NNP B-person\nlost VBD O\n")
    with pytest.raises(SeqpaError, match="other training or dev data"):
        TrainingRun(settings, resume=True)


def test_damaged_checkpoints(tmp_path: Path) -> None:
    run = TrainingRun(config(tmp_path))
    next(run.epochs())
    whole = run.checkpoint.read_bytes()
    run.checkpoint.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SeqpaError, match="damaged"):
        TrainingRun(config(tmp_path), resume=True)
    run.checkpoint.write_bytes(whole)
    run.checkpoint.with_name("m.safetensors.checkpoint.json").write_text("{")
    with pytest.raises(SeqpaError, match="damaged; train afresh"):
        TrainingRun(config(tmp_path), resume=True)


def start(
    settings: Config, folder: Path, *more: str, seqpa: Sequence[str] = ("-m", "seqpa")
) -> subprocess.Popen[str]:
    """`seqpa train`, as it is installed: a folder with the sources in it would come first."""
    file = folder / "c.yaml"
    file.write_text(json.dumps(settings.model_dump(mode="json")))
    return subprocess.Popen(
        [sys.executable, *seqpa, "train", str(file), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    def there() -> bool:
        assert process.poll() is None, process.communicate()
        return path.exists()

    until(there)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_kill_9_and_resume_gives_the_bytes_of_an_unbroken_run(tmp_path: Path) -> None:
    learner = {"epochs": 40}
    unbroken = trained(tmp_path / "a", learner=learner)
    settings = config(tmp_path / "b", learner=learner)
    checkpoint = tmp_path / "b" / "m.safetensors.checkpoint"
    process = start(settings, tmp_path, seqpa=standing(30))
    wait_for(checkpoint, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "b" / "m.safetensors").exists()
    out, err = start(settings, tmp_path, "--resume").communicate(timeout=LONG)
    assert err == ""
    assert "after epoch" in out
    assert (tmp_path / "b" / "m.safetensors").read_bytes() == unbroken
    assert not checkpoint.exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_ctrl_c_keeps_the_best_so_far(tmp_path: Path) -> None:
    settings = config(tmp_path, data={"train": str(NEWS / "train.conll")}, learner={"epochs": 5000})
    process = start(settings, tmp_path)
    wait_for(tmp_path / "m.safetensors.checkpoint", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONG)
    assert process.returncode == 0, err
    assert re.fullmatch(r"stopping after epoch \d+; the best so far is kept\. .*at once\n", err)
    assert "stopped; seqpa train with --resume goes on" in out
    assert "accuracy" in out
    assert SequenceTagger.load(tmp_path / "m.safetensors").classes_
    rows = json.loads((tmp_path / "m.history.json").read_text())["epochs"]
    assert 1 <= len(rows) < 5000
    assert (tmp_path / "m.safetensors.checkpoint").exists()


def test_labels_that_break_the_constraints_are_named(tmp_path: Path) -> None:
    file = tmp_path / "a.conll"
    file.write_text("Ada B-person\nNorvell I-person\n\nAda B-person\n\nAda O\nwon I-person\n")
    data = {"train": str(file), "dev": None, "columns": None}
    decoding = {"constraints": "bio"}
    with pytest.raises(SeqpaError, match=r"a\.conll:7: 'I-person' after 'O' is not legal IOB2"):
        TrainingRun(config(tmp_path, data={**data, "labels": "strict"}, decoding=decoding))
    with pytest.warns(SeqpaWarning, match=r"a\.conll:7: I-person begins a span; 1 of 3 spans"):
        run = TrainingRun(config(tmp_path, data=data, decoding=decoding))
    list(run.epochs())
    assert list(run.tagger.classes_) == ["B-person", "I-person", "O"]
    assert run.train.y[-1] == ["O", "B-person"]


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("seeds: 2\n  shuffle: false", "seeds is 2, and shuffle is False"),
        ("stages: 2\n  memory: 100MB", "stages is 2: with memory it can only be 1"),
        ("calibration: cv\n  memory: 100MB", "calibration 'cv' trains five taggers more"),
    ],
)
def test_settings_that_do_not_go_together_are_told_with_their_line(
    tmp_path: Path, learner: str, words: str
) -> None:
    (tmp_path / "a.conll").write_text("the D\ndog N\n\nit P\n")
    (tmp_path / "c.yaml").write_text(f"data: {{train: a.conll}}\nlearner:\n  {learner}\n")
    with pytest.raises(SeqpaError, match=re.escape(words)) as told:
        run_of(load_config(tmp_path / "c.yaml"))
    assert str(told.value).startswith(f"{tmp_path / 'c.yaml'}:3: ")


def test_constraints_say_in_which_scheme_labels_are_learned(tmp_path: Path) -> None:
    file = tmp_path / "a.conll"
    file.write_text("Ada I-person\nNorvell I-person\nwon O\nLyon I-place\n")
    data = {"train": str(file), "dev": str(file), "columns": None}
    run = TrainingRun(config(tmp_path, data=data, decoding={"constraints": "bilou"}))
    list(run.epochs())
    assert run.train.y == [["B-person", "L-person", "O", "U-place"]]
    assert run.finish().dev.spans is not None


def test_labels_unknown_to_the_model_are_scored(tmp_path: Path) -> None:
    tagger = SequenceTagger(["word[0]"], random_state=1, cost={"A": {"B": 3}})
    tagger.fit([["x", "y"]], [["A", "B"]])
    corpus = Corpus.from_sentences([["x", "y"]], [["A", "NEW"]])
    result = score(tagger, corpus, {"x"}, tagger.cost)
    assert (result.accuracy, result.cost) == (0.5, 1.0)
    assert result.seen == (1, 1)
    assert result.unseen == (0, 1)


# Certificates


@pytest.mark.parametrize("algorithm", ["pa", "pa-i", "pa-ii", "perceptron"])
@pytest.mark.parametrize(
    "cost",
    [
        {"kind": "hamming"},
        {"kind": "zero-one"},
        {"kind": "span"},
        {"kind": "hierarchy", "file": str(NEWS / "entities.yaml")},
    ],
    ids=lambda cost: cost["kind"],
)
def test_the_certificate_holds(tmp_path: Path, algorithm: str, cost: dict[str, str]) -> None:
    settings = config(
        tmp_path,
        learner={"algorithm": algorithm, "epochs": 3},
        cost=cost,
        decoding={"constraints": "bio"},
    )
    run = TrainingRun(settings, with_certificate=True)
    for _ in run.epochs():
        pass
    certificate = run.finish().certificate
    assert certificate is not None
    assert certificate.holds, str(certificate)
    names = [name for name, _ in certificate.parts]
    assert names[0] == "u = 0"
    beside_weights = any(name.startswith("u = the trained weights") for name in names)
    assert beside_weights == (cost["kind"] != "span")  # whose max-loss is not known exactly
    assert "PA 2006, Lemma 9" in str(certificate) or algorithm == "perceptron"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rounds_are_known_by_their_sentences(seed: int) -> None:
    # From zero weights every token gets the first label, so the first round tells its sentence.
    y = [["B"] * n for n in range(1, 30)] + [["A"]]
    X = [["w"] * len(labels) for labels in y]
    tagger = SequenceTagger(["word[0]"], random_state=seed, epochs=2)
    corpus = Corpus.from_sentences(X, y)
    epochs = list(tagger.training(corpus, record=True))
    assert epochs[0].record is not None
    assert epochs[0].order is not None
    assert epochs[0].record[0, 3] == sum(label != "A" for label in y[epochs[0].order[0]])
    assert certify(tagger, corpus, epochs).holds
    with pytest.raises(SeqpaError, match="every epoch"):
        certify(tagger, corpus, epochs[1:])
    with pytest.raises(SeqpaError, match="record=True"):
        certify(tagger, corpus, list(tagger.training(corpus)))


def test_a_broken_run_is_found_out() -> None:
    corpus = Corpus.from_sentences([["a", "b"], ["b"]], [["A", "B"], ["B"]])
    tagger = SequenceTagger(["word[0]"], random_state=1, epochs=3, cost="zero-one")
    epochs = list(tagger.training(corpus, record=True))
    assert certify(tagger, corpus, epochs).holds
    assert epochs[0].record is not None
    epochs[0].record[:, 3] = 100.0  # costs that the losses do not cover
    assert not certify(tagger, corpus, epochs).holds


def test_certificates_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="leave out --resume"):
        TrainingRun(config(tmp_path), resume=True, with_certificate=True)
    cost = {"kind": "python", "function": "seqpa.sequence.costs:span"}
    with pytest.raises(SeqpaError, match="not known for the cost python"):
        TrainingRun(config(tmp_path, cost=cost), with_certificate=True)


# Costs, templates and resources of a configuration


def test_python_costs(tmp_path: Path) -> None:
    file = tmp_path / "own_cost_of_a_test.py"
    file.write_text("def double(gold, predicted):\n    return 2.0 * (gold != predicted)\n")
    cost = {"kind": "python", "file": str(file), "function": "double"}
    run = TrainingRun(config(tmp_path / "a", cost=cost))
    assert run.tagger.cost(["A"], ["B"]) == 2.0
    for name, message in (
        ({"function": "doubble"}, "has no function 'doubble'; did you mean 'double'"),
        ({"file": str(tmp_path / "no.py")}, "no such file"),
        ({"file": str(tmp_path / "json.py")}, "a module 'json' exists already"),
    ):
        with pytest.raises(SeqpaError, match=message):
            TrainingRun(config(tmp_path / "a", cost={**cost, **name}))
    (tmp_path / "broken_cost_of_a_test.py").write_text("1 / 0\n")
    wrong = {**cost, "file": str(tmp_path / "broken_cost_of_a_test.py")}
    with pytest.raises(SeqpaError, match="ZeroDivisionError"):
        TrainingRun(config(tmp_path / "a", cost=wrong))


def test_matrix_costs(tmp_path: Path) -> None:
    file = tmp_path / "costs.yaml"
    file.write_text("B-person:\n  O: 7\n")
    run = TrainingRun(config(tmp_path, cost={"kind": "matrix", "file": str(file)}))
    assert run.tagger.cost == {"B-person": {"O": 7}}
    file.write_text("B-person:\n  O: many\n")
    with pytest.raises(SeqpaError, match=r"costs\.yaml:2: a cost is a number, not 'many'"):
        TrainingRun(config(tmp_path, cost={"kind": "matrix", "file": str(file)}))
    file.write_text("B-person: 3\n")
    with pytest.raises(SeqpaError, match=r"costs\.yaml:1: below 'B-person'"):
        TrainingRun(config(tmp_path, cost={"kind": "matrix", "file": str(file)}))


def test_templates_add_to_a_preset_and_find_their_lexicons(tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("New York\nCardiff\nOslo\nLisbon\nReading\nBath\n")
    features = {
        "preset": "ner",
        "templates": ["word[0]", 'lexicon("cities")[0]'],
        "lexicons": {"cities": str(tmp_path / "cities.txt")},
    }
    run = TrainingRun(config(tmp_path, features=features))
    assert run.tagger.features.count("word[0]") == 1
    assert run.tagger.features[-1] == 'lexicon("cities")[0]'
    next(run.epochs())
    assert any("cities" in name for name, _ in run.tagger.state_features_)
    both = {**features, "clusters": {"cities": "x"}}
    with pytest.raises(SeqpaError, match="cannot be both"):
        TrainingRun(config(tmp_path, features=both), force=True)


def test_no_temporary_files_stay(tmp_path: Path) -> None:
    trained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.history.json",
        "m.metrics.json",
        "m.safetensors",
    ]


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
def test_ctrl_c_behind_the_last_epoch_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Other orders of the sentences come behind the last epoch."""
    mean = tagger_module.mean_of_orders

    def interrupted(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return mean(*given, **named)

    monkeypatch.setattr(tagger_module, "mean_of_orders", interrupted)
    settings = config(tmp_path, learner={"epochs": 2, "seeds": 2})
    file = tmp_path / "c.yaml"
    file.write_text(json.dumps(settings.model_dump(mode="json")))
    assert main(["train", str(file)]) == 0
    assert capfd.readouterr().err == (
        "all epochs are done, and what comes behind them is finished. "
        "Ctrl-C once more quits at once\n"
    )
    assert (tmp_path / "m.safetensors").exists()
