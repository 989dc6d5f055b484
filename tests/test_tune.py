"""`seqpa tune`: the search space, trials that end early, a study that goes on, what is written."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from test_cluster import sentences, write_conll

import seqpa
from seqpa.cli import main
from seqpa.cluster.executors import Inline
from seqpa.cluster.run import ClusterRun
from seqpa.config import Config, load_config
from seqpa.config.schema import TuneRange
from seqpa.errors import SeqpaError
from seqpa.tune.pools import processes
from seqpa.tune.space import (
    check_space,
    check_with_text,
    chosen,
    default_space,
    distributions,
    space_of,
)
from seqpa.tune.study import Study
from seqpa.tune.trial import TrialResult, run_trial

pytest.importorskip("optuna", reason="optuna is not installed")

SPACE = """
tune:
  learner.C: {log: [0.001, 1.0]}
  learner.algorithm: [pa-i, pa-ii]
  features.cutoff: {whole: [1, 3]}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    for name, seed, n in (("train", 1, 60), ("dev", 2, 30), ("test", 3, 30)):
        write_conll(tmp_path / f"{name}.conll", *sentences(np.random.default_rng(seed), n))
    path = tmp_path / "c.yaml"
    path.write_text(
        "data: {train: train.conll, dev: dev.conll, test: test.conll}\n"
        "features: {templates: ['word[0]', 'word[-1]']}\nlearner: {epochs: 4}\n" + SPACE
    )
    return path


def study_at(path: Path, config: Path, seed: int = 1) -> Study:
    base = load_config(config)

    def make(values: dict[str, Any]) -> Config:
        return load_config(config, [f"{key}={value}" for key, value in values.items()])

    return Study(path, space_of(base), make, seed, {"config": "c"})


def told(study: Study) -> list[tuple[Any, ...]]:
    return [(t.number, t.values, t.score, t.epochs, t.state) for t in study.ended()]


# The study


def test_with_one_worker_the_search_is_the_same_each_time(tmp_path: Path, config: Path) -> None:
    """Also where it went on later."""
    whole = study_at(tmp_path / "a", config)
    assert len(list(whole.search(None, 1, 12, None))) == 12
    for trials in (3, 9):
        rest = study_at(tmp_path / "b", config)
        for _ in rest.search(None, 1, trials, None):
            pass
        del rest  # and with it its lock
    again = study_at(tmp_path / "b", config)
    list(again.search(None, 1, 12, None))
    assert told(again) == told(whole)
    assert again.best().values == whole.best().values
    other = study_at(tmp_path / "c", config, seed=2)
    list(other.search(None, 1, 2, None))
    assert told(other) != told(whole)[:2]
    assert list(again.search(None, 1, 12, None)) == []


def test_trials_below_the_median_end_early(tmp_path: Path, config: Path) -> None:
    study = study_at(tmp_path / "a", config)
    list(study.search(None, 1, 12, None))
    floors = study.floors()
    assert floors[0] is None  # every trial has its first epoch
    assert len(floors) == 4
    early = [trial for trial in study.ended() if trial.state == "ended early"]
    assert early
    assert all(1 < trial.epochs < 4 for trial in early)
    assert study.best().score == max(t.score for t in study.ended() if t.state == "done")
    assert set(study.importances()) == {"learner.C", "learner.algorithm", "features.cutoff"}


def test_what_the_score_depends_on(
    tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key that makes forty points is told, not one that makes a hundredth of one."""

    def made_up(config: Config, floors: list[float | None]) -> TrialResult:
        score = (0.9 if config.learner.algorithm == "pa-ii" else 0.5) + 1e-4 * config.learner.C
        return TrialResult([score], "accuracy", False, 0.0)

    monkeypatch.setattr("seqpa.tune.study.run_trial", made_up)
    study = study_at(tmp_path / "a", config)
    list(study.search(None, 1, 16, None))
    found = study.importances()
    assert next(iter(found)) == "learner.algorithm"
    assert found["learner.algorithm"] > 0.9


def test_a_trial_scores_each_epoch_as_training_does(config: Path) -> None:
    base = load_config(config)
    result = run_trial(base, [])
    assert len(result.scores) == 4
    assert not result.pruned
    early = run_trial(base, [None, 2.0])
    assert early.pruned
    assert early.scores == result.scores[:2]
    failed = run_trial(load_config(config, ["learner.batch_size=4", "learner.algorithm=pa"]), [])
    assert failed.error is not None
    assert "batch_size" in failed.error


def test_a_trial_with_shards_scores_as_their_training_does(config: Path) -> None:
    base = load_config(config, ["cluster.shards=2"])
    run = ClusterRun(base, Inline())
    expected = [epoch.dev_score for epoch in run.epochs()]
    run.close()
    assert run_trial(base, []).scores == expected
    assert run_trial(load_config(config), []).scores != expected


def test_failed_trials_are_told_and_passed_over(tmp_path: Path, config: Path) -> None:
    text = config.read_text().replace("[pa-i, pa-ii]", "[pa-i, perceptron]")
    config.write_text(text + "  learner.batch_size: [1, 4]\n")
    study = study_at(tmp_path / "a", config)
    list(study.search(None, 1, 12, None))
    failed = [trial for trial in study.ended() if trial.state == "failed"]
    assert failed
    assert len(study.ended()) == 12
    assert study.best().state == "done"
    assert all(trial.told for trial in failed)


class Slow:
    """Several trials at a time, of which the last that began ends first."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        return function, arguments

    def first(self, handles: Sequence[Any]) -> list[Any]:
        return list(handles[-1:])

    def result(self, handle: Any) -> Any:
        function, arguments = handle
        return function(*arguments)


def test_trials_that_run_at_the_same_time_differ(
    tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_up(config: Config, floors: list[float | None]) -> TrialResult:
        return TrialResult([config.learner.C], "accuracy", False, 0.0)

    monkeypatch.setattr("seqpa.tune.study.run_trial", made_up)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody is told of optuna's experiments
        study = study_at(tmp_path / "a", config)
        assert len(list(study.search(Slow(), 4, 14, None))) == 14
    assert len({trial.values["learner.C"] for trial in study.ended()}) == 14


def test_a_trial_keeps_its_number(
    tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where trials end in another order than they began, and where the search goes on."""

    def made_up(config: Config, floors: list[float | None]) -> TrialResult:
        return TrialResult([config.learner.C], "accuracy", False, 0.0)

    monkeypatch.setattr("seqpa.tune.study.run_trial", made_up)
    study = study_at(tmp_path / "a", config)
    seen = list(study.search(Slow(), 3, 7, None))
    assert [trial.number for trial in seen] == [1, 2, 3, 4, 5, 6, 7]
    assert study.ended() == seen
    best = study.best()
    del study  # and its lock
    again = study_at(tmp_path / "a", config)
    assert again.ended() == seen
    assert again.best() == best


def test_a_killed_process_is_one_error(config: Path) -> None:
    with processes(1) as pool:
        handle = pool.submit(os._exit, 1)
        for function in (lambda: pool.result(handle), lambda: pool.submit(abs, -3)):
            pool.first([handle])
            with pytest.raises(SeqpaError, match="a process of the search was killed"):
                function()


ORPHANS = """
import os, time
from seqpa.tune.pools import processes
with processes(1) as pool:
    print(pool.result(pool.submit(os.getpid)), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_processes_end_with_a_search_that_was_killed() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(seqpa.__file__).parents[1])}
    command = [sys.executable, "-c", ORPHANS]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        own = int(run.stdout.readline())
        run.kill()
        # The pipe is open as long as the process has it.
        if not select.select([run.stdout], [], [], 60)[0]:
            os.kill(own, signal.SIGKILL)
            pytest.fail("it goes on without its search")
        assert run.stdout.read() == b""


def test_nothing_is_tried_twice(tmp_path: Path, config: Path) -> None:
    text = config.read_text().split("tune:")[0]
    config.write_text(f"{text}tune:\n  learner.C: [0.01, 0.1, 0.1]\n  features.cutoff: [1, 2]\n")
    study = study_at(tmp_path / "a", config)
    assert [t.number for t in study.search(None, 1, 3, None)] == [1, 2, 3]
    assert not study.is_exhausted()
    assert [t.number for t in study.search(None, 1, 99, None)] == [4]
    assert study.is_exhausted()
    tried = [t.values for t in study.ended()]
    assert len({str(own) for own in tried}) == 4
    with processes(2) as pool:
        several = study_at(tmp_path / "b", config)
        found = [str(t.values) for t in several.search(pool, 2, 99, None)]
    assert sorted(found) == sorted(map(str, tried))


def test_a_space_with_a_range_is_never_exhausted(tmp_path: Path, config: Path) -> None:
    study = study_at(tmp_path / "a", config)
    list(study.search(None, 1, 1, None))
    assert not study.is_exhausted()


def test_no_time_no_trial(tmp_path: Path, config: Path) -> None:
    study = study_at(tmp_path / "a", config)
    assert list(study.search(None, 1, 5, 0.0)) == []
    with pytest.raises(SeqpaError, match="no trial came to its end"):
        study.best()


# The space


def test_the_space_and_its_values() -> None:
    space = {"learner.C": TuneRange(uniform=[0.1, 0.2]), "features.cutoff": [1, None]}
    found = distributions(space)
    assert (found["learner.C"].low, found["learner.C"].high) == (0.1, 0.2)
    assert chosen(space, {"learner.C": 0.123456, "features.cutoff": "null"}) == {
        "learner.C": 0.1235,
        "features.cutoff": None,
    }


def test_every_value_of_the_space_to_begin_with_is_allowed(config: Path) -> None:
    base = load_config(config)
    for key, values in default_space(base).items():
        given = values if isinstance(values, list) else values.log
        for value in given or []:
            load_config(config, [f"{key}={value}"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("learner.C: {log: [0.1, 0.01]}", "is no range"),
        ("learner.C: {log: [0.0, 0.01]}", "no logarithm"),
        ("learner.C: {log: [0.1, 1.0], whole: [1, 2]}", "give one of log, uniform and whole"),
        ("learner.c: [1.0]", "unknown key 'learner.c'; did you mean 'C'"),
        ("learner.algorithm: [pa-i, pa-3]", "did you mean 'pa-i'"),
        ("data.train: [a.conll]", "data.train cannot be tuned"),
        ("learner.epochs: [3, 5]", "learner.epochs cannot be tuned"),
        ("learner.C: 0.3", "expected a list of values, or a range such as"),
    ],
)
def test_mistakes_in_the_space_have_their_line(config: Path, line: str, message: str) -> None:
    text = config.read_text().split("tune:")[0]
    config.write_text(f"{text}tune:\n  {line}\n")
    with pytest.raises(SeqpaError, match=rf"c.yaml:\d+: .*{message}"):
        check_space(config, [], load_config(config))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("features.templates: [['word[0]'], ['word[0']]", "features.templates .* expected ']'"),
        ("features.templates: [['lemma[0]']]", "features.templates .*lemma"),
        ("decoding.constraints: [bio]", 'decoding.constraints "bio": .* is no chunk label'),
    ],
)
def test_values_that_do_not_go_with_the_text_have_their_line(
    config: Path, line: str, message: str
) -> None:
    text = config.read_text().split("tune:")[0]
    config.write_text(f"{text}tune:\n  {line}\n")
    base = load_config(config)
    check_space(config, [], base)
    with pytest.raises(SeqpaError, match=rf"c.yaml:\d+: tune: {message}"):
        check_with_text(config, [], base)


# The command


def test_the_command_writes_the_best_and_never_unasked(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["tune", str(config), "-n", "6"]) == 0
    out = capsys.readouterr().out
    assert "best of 6 trials" in out
    assert out.count("scored once") == 1
    folder, best = config.with_name("c.tune"), config.with_name("c.best.yaml")
    assert {path.name for path in folder.iterdir()} >= {"study.sqlite3", "history.png"}
    written = yaml.safe_load(best.read_text())
    assert "tune" not in written
    assert written["output"]["model"] == "model.best.safetensors"
    load_config(best)
    # The same command goes on, and scores the test set no second time.
    monkeypatch.setattr("seqpa.tune.outcome.scored_on_test", None)
    assert main(["tune", str(config), "-n", "6"]) == 0
    capsys.readouterr()
    best.write_text(best.read_text() + "# mine\n")
    assert main(["tune", str(config), "-n", "7"]) == 2
    assert "this search did not write it" in capsys.readouterr().err
    assert best.read_text().endswith("# mine\n")
    assert main(["tune", str(config), "-n", "7", "--set", "learner.epochs=2"]) == 2
    assert "(config.learner.epochs was 4, is 2)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--time", "soon"], "such as 90s, 20m or 2h"),
        (["--dask", "local:2", "--jobs", "2"], "say one of them"),
        (["--set", "data.dev=null"], "a dev set chooses"),
        (["--set", "data.train=-", "--jobs", "2"], "processes cannot read standard input"),
    ],
)
def test_mistakes_in_one_line(
    config: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["tune", str(config), *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_killed_search_goes_on_and_processes_share_it(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(seqpa.__file__).parents[1])}
    command = [sys.executable, "-m", "seqpa", "tune", str(config), "-n"]
    run = subprocess.Popen(
        [*command, "500"], env=environment, cwd=config.parent, stdout=subprocess.PIPE
    )
    assert run.stdout is not None
    for line in run.stdout:
        if line.startswith(b"trial 3/"):
            break
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    done = len(study_count(config))
    assert done >= 3
    assert main(["tune", str(config), "-n", str(done + 2), "--jobs", "2"]) == 0
    out = "".join(capsys.readouterr())
    assert f"going on after {done} trials" in out
    assert f"best of {done + 2} trials" in out


def study_count(config: Path) -> list[Any]:
    import optuna

    path = config.with_name("c.tune") / "study.sqlite3"
    study = optuna.load_study(study_name="seqpa", storage=f"sqlite:///{path}")
    return [trial for trial in study.get_trials() if "told" in trial.user_attrs]
