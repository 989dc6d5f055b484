"""What a search leaves: the best configuration as YAML, importance and history as pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from seqpa.config import Config
from seqpa.config.yaml_lines import read_mapping, set_value
from seqpa.errors import SeqpaError
from seqpa.evaluate import Evaluation
from seqpa.experiments.figures import COLOURS, panels
from seqpa.files import write_atomically
from seqpa.training_run import score
from seqpa.tune.study import Ended, Study
from seqpa.tune.trial import corpora_of, trainer

_PATHS = ("data", "columns", "features", "cost", "output")  # sections that may name files


def best_path(config: Path) -> Path:
    """Where the best configuration goes: beside the one that was tuned, so that paths hold.

    >>> best_path(Path("a/ner.yaml")).as_posix()
    'a/ner.best.yaml'
    """
    return config.with_name(f"{config.stem}.best.yaml")


def check_best(path: Path, study: Study | None, force: bool) -> None:
    """Raise a SeqpaError where a file is in the way that no search wrote, or a user changed."""
    if not path.exists() or force:
        return
    noted = None if study is None else study.noted("best_file")
    if noted != hashlib.sha256(path.read_bytes()).hexdigest():
        raise SeqpaError(
            f"{path}: is there, and this search did not write it; move it away, or say --force to "
            f"replace it"
        )


def write_best(
    path: Path, config: Path, settings: Sequence[str], best: Ended, trials: int, told: str
) -> str:
    """Write the best configuration; its digest.

    Parameters
    ----------
    path : Path
        Where to.
    config : Path
        The configuration that was tuned.
    settings : sequence of str
        Those of the command line.
    best : Ended
    trials : int
        How many there were.
    told : str
        The score, in words.

    Returns
    -------
    str
    """
    values, places = read_mapping(config, "not a configuration")
    for setting in settings:
        loc = set_value(values, places, setting)
        if loc[0] in _PATHS:
            _make_absolute(values, tuple(map(str, loc)))
    for key, value in best.values.items():
        set_value(values, places, f"{key}={json.dumps(value)}")
    values.pop("tune", None)
    output = values.setdefault("output", None) or {}
    model = Path(str(output.get("model", "model.safetensors")))
    output["model"] = model.with_name(f"{model.stem}.best{model.suffix}").as_posix()
    values["output"] = {k: v for k, v in output.items() if k not in ("history", "metrics")}
    found = ", ".join(f"{key} {json.dumps(value)}" for key, value in best.values.items())
    head = f"# {config.name}, tuned: {told} in trial {best.number} of {trials}.\n# Found: {found}\n"
    text = head + yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
    write_atomically(path, text.encode())
    return hashlib.sha256(text.encode()).hexdigest()


def _make_absolute(values: dict[str, Any], loc: tuple[str, ...]) -> None:
    """A path of the command line is relative to the folder that the command runs in."""
    inside = values
    for part in loc[:-1]:
        inside = inside[part]
    value = inside[loc[-1]]
    is_path = loc[0] == "data" and loc[1] in ("train", "dev", "test")
    is_path = is_path or loc[1:2] in (("lexicons",), ("clusters",), ("file",), ("model",))
    if is_path and isinstance(value, str) and not value.startswith("~"):
        inside[loc[-1]] = str(Path(value).absolute())


def scored_on_test(config: Config, test: Any) -> Evaluation:
    """Train the best configuration once more, to the same weights, and score it on the test set."""
    train, dev = corpora_of(config)
    tagger, text = trainer(config, train)
    tagger.fit(text, dev=dev)
    return score(tagger, test, set(train.columns[0]))


def draw(folder: Path, trials: Sequence[Ended], importances: dict[str, float], metric: str) -> None:
    """Draw history.png, and importance.png where it is known.

    Parameters
    ----------
    folder : Path
    trials : sequence of Ended
    importances : dict
        Of each key.
    metric : str
        What the scores are.
    """
    figure, axes = panels(1, 1, width=7.0)
    own = axes[0, 0]
    for state, marker, place in (("done", "o", 0), ("ended early", "x", 1)):
        shown = [trial for trial in trials if trial.state == state]
        own.plot(
            [trial.number for trial in shown],
            [100 * trial.score for trial in shown],
            marker,
            color=COLOURS[place],
            label=state,
            markersize=6,
        )
    done = [trial for trial in trials if trial.state == "done"]
    best: list[float] = []
    for trial in done:
        best.append(max([100 * trial.score, *best[-1:]]))
    own.step(
        [trial.number for trial in done], best, where="post", color=COLOURS[2], label="best so far"
    )
    own.set_xlabel("trial")
    own.set_ylabel(f"dev {metric}")
    if best:  # trials that went astray would flatten the others
        shown_scores = sorted(100 * trial.score for trial in trials if trial.state != "failed")
        low = shown_scores[len(shown_scores) // 5]
        bottom = low - 0.3 * (best[-1] - low) - 0.1
        own.set_ylim(bottom, best[-1] + 0.2 * (best[-1] - low) + 0.1)
        astray = [t.number for t in trials if t.state != "failed" and 100 * t.score < bottom]
        if astray:
            heights = [bottom] * len(astray)
            own.plot(astray, heights, "v", color="gray", clip_on=False, label="further down")
    own.legend(frameon=False)
    figure.savefig(folder / "history.png", dpi=120)
    if not importances:
        return
    figure, axes = panels(1, 1, width=7.0, height=0.5 * len(importances) + 1.4)
    own = axes[0, 0]
    names = list(importances)[::-1]
    own.set_axisbelow(True)
    own.grid(False, axis="y")
    own.barh(names, [importances[name] for name in names], color=COLOURS[0])
    own.set_xlabel("share of what the score depends on (fANOVA)")
    figure.savefig(folder / "importance.png", dpi=120)
