"""Each experiment in its quick form, the files that come out, and the numbers behind them."""

from __future__ import annotations

import csv
import os
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa.cli import main
from seqpa.core import Examples, Multiclass
from seqpa.core.batch import solve_batch
from seqpa.core.ellipsoid import EllipsoidLearner
from seqpa.core.kernels import Kernel
from seqpa.core.mira import PrototypeLearner
from seqpa.errors import SeqpaError
from seqpa.experiments import EXPERIMENTS, find
from seqpa.experiments.active import Curve, labels_for
from seqpa.experiments.active_trials import TaggerTask, VectorTask, ask_tagger, ask_vectors
from seqpa.experiments.data import SOURCES, folder_of, load
from seqpa.experiments.ellipsoid import separable
from seqpa.experiments.figures import curve, mean_and_half_width, panels
from seqpa.experiments.minibatch_report import (
    PASSES,
    SETS,
    Second,
    passes_table,
    published,
    table_2,
    verdicts,
    worse_cells,
)
from seqpa.experiments.minibatch_trials import (
    ALGORITHMS,
    C_GRID,
    SIGMA_GRID,
    DisjointLearner,
    Division,
    ExampleSet,
    best,
)
from seqpa.experiments.multiclass import BETA, prototypes_in_kernel_space
from seqpa.experiments.outcome import Check, Outcome, markdown_table
from seqpa.experiments.setup import Setup
from seqpa.experiments.synthetic import best_linear, gaussians
from seqpa.experiments.windows import WindowLearner

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra plot)")
NEED_NO_DATA = ("noise", "aggressiveness", "horizon")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_form_writes_numbers_figures_and_a_report(name: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    assert main(["experiment", name, "-o", str(out), "--quick", "--stand-in", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "claims hold" in printed
    assert "quick version" in printed
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "**holds**" in report or "**does not hold**" in report
    assert ("Stand-in data" in report) == (name not in NEED_NO_DATA)
    figures = sorted(out.glob("*.png"))
    assert figures
    for png in figures:
        assert f"]({png.name})" in report
        assert png.read_bytes().startswith(b"\x89PNG")
        text = "".join(ET.parse(png.with_suffix(".svg")).getroot().itertext())
        assert ("Stand-in" in text) == (name not in NEED_NO_DATA)
    for table in out.glob("*.csv"):
        assert f"]({table.name})" in report
        with table.open(encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        assert rows
        assert all(None not in row and None not in row.values() for row in rows)


def test_results_do_not_depend_on_the_number_of_jobs() -> None:
    alone, together = (find("noise")(Setup(quick=True, jobs=jobs)) for jobs in (1, 2))
    assert alone.tables == together.tables
    assert alone.report() == together.report()


def test_failed_trial_ends_the_run() -> None:
    with pytest.raises(ZeroDivisionError):
        Setup(jobs=2).each("dividing", _invert, [1, 2, 0, 4])


def _invert(x: int) -> float:
    return 1 / x


def test_progress_counts_every_trial() -> None:
    seen: list[tuple[str, int, int]] = []
    setup = Setup(progress=lambda *step: seen.append(step))
    assert setup.each("lengths", len, ["a", "bc"]) == [1, 2]
    assert seen == [("lengths", 0, 2), ("lengths", 1, 2), ("lengths", 2, 2)]


# What users get wrong.


def test_unknown_name_is_one_line(tmp_path: Path, capsys) -> None:
    assert main(["experiment", "nosie", "-o", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.startswith("seqpa: error: there is no experiment 'nosie'; did")
    assert not (tmp_path / "x").exists()


def test_missing_data_says_what_where_and_what_else(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.delenv("SEQPA_DATA", raising=False)
    assert main(["experiment", "averaging", "-o", str(tmp_path / "x")]) == 2
    error = capsys.readouterr().err
    for word in ("usps", "Elements of Statistical Learning", "--data", "SEQPA_DATA", "--stand-in"):
        assert word in error
    assert len(error.splitlines()) == 1
    monkeypatch.setenv("SEQPA_DATA", str(tmp_path))
    assert main(["experiment", "averaging", "-o", str(tmp_path / "x")]) == 2
    assert f"{tmp_path}: not there: usps (USPS" in capsys.readouterr().err
    monkeypatch.setenv("SEQPA_DATA", str(tmp_path / "nowhere"))
    assert main(["experiment", "averaging", "-o", str(tmp_path / "x")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_every_missing_set_is_named_and_no_other(tmp_path: Path) -> None:
    for name in ("breast", "sonar"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.csv").write_text("1,a\n2,b\n", encoding="utf-8")
    (tmp_path / "ptb-sample").mkdir()
    (tmp_path / "ptb-sample" / "train.txt").write_text("word\ttag\n", encoding="utf-8")
    with pytest.raises(SeqpaError) as error:
        folder_of(Setup(data=tmp_path), (*SETS, "ptb-sample"), "something")
    named = [name for name in SOURCES if f" {name} ({SOURCES[name]})" in str(error.value)]
    assert named == ["diabetes", "heart", "ionosphere", "liver", "twonorm", "ptb-sample"]


def test_output_that_is_a_file(tmp_path: Path, capsys) -> None:
    (tmp_path / "x").write_text("mine", encoding="utf-8")
    assert main(["experiment", "noise", "-o", str(tmp_path / "x")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert (tmp_path / "x").read_text(encoding="utf-8") == "mine"


def test_output_that_cannot_be_written_is_found_out_first(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK and access(path, mode))
    assert main(["experiment", "noise", "-o", str(tmp_path / "deep" / "x")]) == 2
    said = capsys.readouterr()
    assert f"{tmp_path / 'deep' / 'x'}: cannot be written" in said.err
    assert not said.out  # no trial was begun
    assert not (tmp_path / "deep").exists()


def test_an_earlier_report_in_the_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("old", encoding="utf-8")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    assert main(["experiment", "horizon", "-o", str(tmp_path), "--quick", "--jobs", "1"]) == 0
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# C and the number")
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_without_matplotlib_nothing_is_begun(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["experiment", "noise", "-o", str(tmp_path / "x")]) == 2
    assert "pip install 'seqpa[plot]'" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_help_lists_the_experiments(capsys) -> None:
    assert main(["experiment", "--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in EXPERIMENTS)


# Data.


def test_csv_is_read_with_the_label_last(tmp_path: Path) -> None:
    file = tmp_path / "sonar" / "sonar.csv"
    file.parent.mkdir()
    file.write_text("1.5,2,R\n-3,4e1,M\n0,0.25,R\n", encoding="utf-8")
    data = load("sonar", tmp_path)
    assert data.X.tolist() == [[1.5, 2], [-3, 40], [0, 0.25]]
    assert data.y.tolist() == [1, 0, 1]
    assert data.n_labels == 2
    assert folder_of(Setup(data=tmp_path), ("sonar",), "something") == tmp_path


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1,2,R\n1,x,M\n", "liver.csv:2: could not convert"),
        ("1,2,R\n1,M\n", "liver.csv:2: 1 numbers, but 2"),
        ("1,2,R\n3,4,R\n", "fewer than two labels"),
        ("", "fewer than two labels"),
    ],
)
def test_bad_csv_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "liver" / "liver.csv"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SeqpaError, match=complaint):
        load("liver", tmp_path)


def test_npz_is_read_in_parts(tmp_path: Path) -> None:
    (tmp_path / "usps").mkdir()
    X = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    np.savez(tmp_path / "usps" / "usps.npz", X_train=X, y_train=[7, 3, 7], X_test=X, y_test=[9] * 3)
    data = load("usps", tmp_path)
    assert data.X.shape == (3, 4)
    assert data.y.tolist() == [1, 0, 1]
    assert data.y_test is not None
    assert data.y_test.tolist() == [2, 2, 2]
    assert len(data.all[1]) == 6
    (tmp_path / "mnist").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", X=X)
    with pytest.raises(SeqpaError, match="X_train, y_train, X_test and y_test"):
        load("mnist", tmp_path)


def test_every_set_is_described_in_the_docs() -> None:
    docs = Path(__file__).parents[1] / "docs" / "experiments" / "README.md"
    text = docs.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in (*SOURCES, *EXPERIMENTS))


# The numbers.


@pytest.mark.parametrize("algorithm", ["MIRA", "perceptron, uniform", "perceptron, proportional"])
def test_learners_taken_into_kernel_space_make_the_same_steps(algorithm: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(600, 5)), rng.integers(4, size=600)
    X[7] = X[3]  # a Gram matrix without full rank, in any case
    wrong, moved = prototypes_in_kernel_space(X, y, 4, Kernel("linear"), algorithm)
    rule = "all" if algorithm == "MIRA" else algorithm.removeprefix("perceptron, ")
    step, margin = ("PA-I", BETA) if algorithm == "MIRA" else ("perceptron", 1.0)
    linear = PrototypeLearner(Multiclass(margin), step, 5, 4, rule=rule)
    run = linear.run(Examples.from_array(X), y, C=1.0, record=True)
    assert run.costs is not None
    assert wrong.tolist() == (run.costs > 0).tolist()
    assert moved.tolist() == linear.moves.any(axis=1).tolist()


@pytest.mark.parametrize("step", ["PA-I", "PA-II", "PA-LS"])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_windows_make_the_steps_of_the_last_examples(step: str, size: int) -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], 30)
    X[9] = X[7]  # a singular Gram matrix
    inner = X @ X.T + 1.0
    learner = WindowLearner(inner, y, step, size)
    w = np.zeros(5)
    Z = np.column_stack([X, np.ones(30)])  # the bias as a feature
    for order in (np.arange(30), rng.permutation(30)):
        wrong = []
        for t in range(30):
            last = order[max(0, t - size + 1) : t + 1]
            D = y[last, None] * Z[last]
            wrong.append(D[-1] @ w <= 0)
            w += solve_batch(D @ D.T, 1.0 - D @ w, 0.3, step) @ D
        assert learner.run(order, C=0.3).tolist() == wrong
    assert learner.scores(inner) == pytest.approx(Z @ w)


def test_batches_one_after_another_are_not_windows() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    inner, order = X @ X.T + 1.0, np.arange(20)
    windows, one = (kind(inner, y, "PA-II", 1) for kind in (WindowLearner, DisjointLearner))
    assert windows.run(order, 0.2).tolist() == one.run(order, 0.2).tolist()
    assert windows.scores(inner) == pytest.approx(one.scores(inner))
    windows, four = (kind(inner, y, "PA-II", 4) for kind in (WindowLearner, DisjointLearner))
    assert four.run(order, 0.2)[:4].all()  # nothing is learnt before the first is full
    assert not windows.run(order, 0.2)[:4].all()


def test_published_table_is_complete() -> None:
    cells = {(name, *key): cell for name in SETS for key, cell in published(name).items()}
    assert len(cells) == 63
    assert cells["breast", "PA-I", 1] == (6.56, 1.30)
    assert cells["heart", "PA-LS", 8] == (18.54, 1.52)
    assert cells["twonorm", "PA-II", 4] == (2.30, 0.14)


def test_cells_of_table_2_are_set_beside_the_paper() -> None:
    cell, other = ("sonar", "PA-I", 8), ("heart", "PA-LS", 4)
    rows = []
    for name, (step, B) in ((name, algorithm) for name in SETS for algorithm in ALGORITHMS):
        theirs, half = published(name).get((step, B), (20.0, 1.0))
        errors = {f"test_error_{i + 1}": theirs / 100 for i in range(PASSES)}
        if (name, step, B) == cell:
            errors["test_error_1"] = (theirs + 2 * half) / 100
        if (name, step, B) == other:
            errors[f"test_error_{PASSES}"] = (theirs + 2 * half) / 100
        rows += [{"data": name, "algorithm": step, "B": B, "trial": t, **errors} for t in (0, 1)]
    assert [key for key, verdict in verdicts(rows).items() if verdict == "worse"] == [other]
    assert "62 within, 0 better, 1 worse of 63 cells" in table_2(rows)
    assert "| 13.18 (1.47) | 13.18 (0.00) within |" in table_2(rows)
    assert "| 19.62 (1.72) | 23.06 (0.00) **worse** |" in table_2(rows)
    by_pass = passes_table(rows)
    all_in, one_worse, told = "9 / 0 / 0", "8 / 0 / 1", "62 within, 0 better, 1 worse"
    first = " | ".join([*[all_in] * 5, one_worse, all_in])
    assert f"| 1 | {told} | {first} |" in by_pass
    last = " | ".join([*[all_in] * 2, one_worse, *[all_in] * 4])
    assert f"| {PASSES} | {told} | {last} |" in by_pass
    for error, reason in (
        (0.19, "C is chosen by"),
        (0.22, "no C and σ tried comes nearer than 22.00"),
    ):
        again = Second(other, (1.0, 0.01), (0.1, 0.1), error, (0.22, 0.23), 25)
        assert again.why().startswith(reason)
        assert again.why() in worse_cells(rows, [again])


def test_the_smallest_online_error_chooses() -> None:
    errors = np.full((2, len(SIGMA_GRID), len(C_GRID)), 0.5)
    errors[0, 2, 3] = errors[1, 5, 0] = 0.1
    assert best(errors) == ((pytest.approx(0.01), pytest.approx(0.01)), (pytest.approx(1e-5), 10.0))


def test_a_division_keeps_learning_and_testing_apart() -> None:
    inner = Division.of(ExampleSet("breast cancer", None, 100), trial=3, sigma=10.0)
    assert inner.learn.shape == (75, 75)
    assert inner.test.shape == (25, 75)
    assert np.allclose(np.diagonal(inner.learn), 2.0)  # K(x, x) and the bias
    assert inner.test.max() < 2.0


def test_separable_examples_are() -> None:
    X, y = separable(500)
    assert np.allclose(np.linalg.norm(X, axis=1), 1.0)
    assert set(y) == {0, 1, 2}
    learner = EllipsoidLearner(Multiclass(0.05), "PA", 20, 3, method="cellip", scale=1.05**2)
    learner.run(Examples.from_array(X), y)
    assert learner.updates > 0
    assert learner.missed == 0


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 40), st.floats(0.0, 0.5))
def test_best_linear_is_the_best_of_many_directions(seed: int, n: int, p: float) -> None:
    x, y = gaussians(n, seed, instance_noise=1.0, label_noise=p)
    fewest, w = best_linear(x, y)
    angles = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    tried = np.column_stack([np.cos(angles), np.sin(angles)])
    mistakes = np.sum(y[:, None] * (x @ tried.T) <= 0, axis=0)
    assert fewest <= mistakes.min()
    assert fewest == np.sum(y * (x @ w) <= 1e-12)


def test_synthetic_data_has_the_papers_moments() -> None:
    x, y = gaussians(200_000, seed=1, instance_noise=0.5, label_noise=0.0)
    assert abs(y.mean()) < 0.02
    for label in (-1.0, 1.0):
        assert x[y == label].mean(axis=0) == pytest.approx([label, label], abs=0.02)
        assert x[y == label].var(axis=0) == pytest.approx([0.7, 2.5], rel=0.03)
    flipped = gaussians(200_000, seed=1, label_noise=0.3)[1]
    assert np.mean(flipped != gaussians(200_000, seed=1)[1]) == pytest.approx(0.3, abs=0.01)


def test_confidence_interval_covers_the_mean_as_often_as_it_says() -> None:
    draws = np.random.default_rng(5).normal(3.0, 2.0, size=(8, 20_000))
    mean, half = mean_and_half_width(draws)
    assert np.mean(np.abs(mean - 3.0) <= half) == pytest.approx(0.95, abs=0.01)


def test_report_shows_claims_with_verdicts_and_the_stand_in() -> None:
    def draw() -> object:
        figure, axes = panels(1, 1)
        curve(axes[0, 0], [1, 2], [[1.0, 2.0], [2.0, 2.5]], "one", 0)
        return figure

    outcome = Outcome(
        title="T",
        intro="I",
        tables={"t": [{"a": 0.1234567, "b": 1}, {"a": 2.0, "c": "x"}]},
        figures={"f": ("text", draw)},
        checks=[Check("§1", "yes|no", True, "1"), Check("§2", "b", False, "2")],
        label="Stand-in data",
    )
    files = outcome.files()
    assert files["t.csv"] == b"a,b,c\n0.123457,1,\n2,,x\n"
    report = files["report.md"].decode()
    assert "1 of 2 hold" in report
    assert "| §1 | yes\\|no | **holds** | 1 |" in report
    assert "| §2 | b | **does not hold** | 2 |" in report
    assert "**Stand-in data**" in report
    assert files == outcome.files()
    assert markdown_table(("a",), [(1,)]) == "| a |\n|---|\n| 1 |"


def test_labels_that_a_score_takes() -> None:
    """Read off a line over log labels; a score that is never reached takes no number."""
    curve = Curve(np.array([20.0, 80.0, 320.0]), np.array([0.6, 0.8, 0.7]), full=0.9)
    assert labels_for(curve, 0.5) == 20.0
    assert labels_for(curve, 0.7 / 0.9) == pytest.approx(40.0)  # the first time, halfway in log
    assert np.isnan(labels_for(curve, 0.95))


def test_asking_is_compared_with_as_many_labels() -> None:
    task = VectorTask("digits, odd or even", None, "margin", 0.1, seed=1, stream=300)
    found = ask_vectors(task)
    assert 10 < found.labels < found.stream == 300
    assert ask_vectors(task) == found
    everything = ask_vectors(task._replace(setting=1e9))
    assert everything.labels == 300
    assert everything.error == everything.full_error == everything.random_error


@pytest.mark.parametrize("strategy", ["margin", "random"])
def test_a_pool_is_labelled_round_by_round(strategy: str) -> None:
    found = ask_tagger(TaggerTask("news", None, strategy, seed=0, pool=150))
    tokens = [point.tokens for point in found]
    assert tokens == sorted(set(tokens))
    assert 500 <= tokens[0] < 560
    assert found[-1].sentences == 150
    assert found[-1].score > found[0].score
    other = ask_tagger(TaggerTask("news", None, "entropy", seed=0, pool=150))
    assert other[0] == found[0]  # the same first sentences
    assert other[-1].tokens == found[-1].tokens
