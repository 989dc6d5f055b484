"""``seqpa tune``: try configurations, keep the best."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.screen import screen
from seqpa.errors import SeqpaError

if TYPE_CHECKING:
    from seqpa.config import Config
    from seqpa.tune.pools import Pool
    from seqpa.tune.study import Ended, Study

_ROWS = 8  # the best trials that the table shows


def tune(
    config: Annotated[Path, typer.Argument(help="Configuration file (YAML).", metavar="CONFIG")],
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a key of the configuration; as for train."
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(
            "-n", "--trials", min=1, help="How many trials in all, those of earlier runs included."
        ),
    ] = 30,
    time: Annotated[
        str | None,
        typer.Option(
            "--time", metavar="LIMIT", help="Begin no trial after 90s, 20m or 2h; those run on."
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "-j", "--jobs", min=0, metavar="N", help="Trials at a time, in processes; 0: all cores."
        ),
    ] = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Try on the workers of a Dask cluster: tcp://host:8786, or local:4; they read the "
            "files by the same names.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Folder for the study and its pictures, if not CONFIG's name with .tune.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew, and replace what is there.")
    ] = False,
) -> None:
    """Search for a better configuration.

    What is tried stands in the section tune (learner.C: {log: [0.001, 0.3]}, learner.algorithm:
    [pa-i, pa-ii], ...); without it a space to begin with is taken. The dev set chooses; trials that
    fall behind end early. The study is a SQLite file: the same command goes on with it, also after
    a crash. At the end the best configuration is written beside CONFIG as NAME.best.yaml, and the
    test set, if there is one, is scored once. With one job the search is the same each time.
    """
    from seqpa.config import load_config
    from seqpa.config.build import read_part
    from seqpa.files import check_folder
    from seqpa.training_outputs import told_config
    from seqpa.training_run import fingerprint
    from seqpa.tune.outcome import best_path, check_best
    from seqpa.tune.space import check_space, check_with_text, space_of, with_values
    from seqpa.tune.study import Study, need_optuna
    from seqpa.tune.trial import corpora_of

    need_optuna()
    limit = _seconds(time)
    config, settings = config.absolute(), list(setting or [])
    base = load_config(config, settings)
    if base.data.dev is None:
        raise SeqpaError(
            f"{base.place('data')}data.dev is missing: a dev set chooses between trials"
        )
    if dask is not None and jobs != 1:
        raise SeqpaError("--jobs and --dask: say one of them")
    piped = any(own in ("-", ["-"]) for own in (base.data.train, base.data.dev))
    if piped and (dask is not None or jobs != 1):
        raise SeqpaError("several processes cannot read standard input: name files, or --jobs 1")
    check_space(config, settings, base)
    folder = (output or config.with_name(f"{config.stem}.tune")).absolute()
    check_folder(folder)
    file, best_file = folder / "study.sqlite3", best_path(config)
    if force:
        file.unlink(missing_ok=True)
    elif not file.exists():
        check_best(best_file, None, force)
    check_with_text(config, settings, base)
    train, dev = corpora_of(base)
    test = None if base.data.test is None else read_part(base, "test")
    folder.mkdir(parents=True, exist_ok=True)
    told = told_config(base)
    told.pop("tune")
    told["learner"].pop("n_jobs")  # which changes nothing
    space = space_of(base)
    marks = {
        "config": told,
        "space": {k: v if isinstance(v, list) else v.model_dump() for k, v in space.items()},
        "data": {"train": fingerprint(train), "dev": fingerprint(dev)},
    }
    study = Study(file, space, lambda values: with_values(config, settings, values), seed, marks)
    check_best(best_file, study, force)
    before = len(study.ended())
    if before:
        screen().note(f"going on after {before} trial{'s' * (before != 1)} in {file}")
    _search(study, dask, jobs, trials, limit)
    _end(study, config, settings, folder, best_file, test, base)


def _seconds(text: str | None) -> float | None:
    """How many seconds a limit such as 20m is."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if found is None:
        raise SeqpaError(f"--time {text}: give seconds, minutes or hours, such as 90s, 20m or 2h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


@contextmanager
def _pool(dask: str | None, jobs: int) -> Iterator[tuple[Pool | None, int]]:
    """Who makes the trials, and how many at a time."""
    from seqpa.cli.inputs import cores
    from seqpa.tune.pools import AGAIN, processes

    if dask is not None:
        from seqpa.cluster.executors import TIMEOUT, OnDask, connected

        with connected(dask) as client:
            on_dask = OnDask(client, screen().note, TIMEOUT, AGAIN)
            on_dask.check()
            yield on_dask, on_dask.slots()
        return
    at_once = jobs or cores()
    if at_once == 1:
        yield None, 1
        return
    with processes(at_once) as pool:
        yield pool, at_once


def _search(study: Study, dask: str | None, jobs: int, trials: int, limit: float | None) -> None:
    with _pool(dask, jobs) as (pool, at_once), _display(study, trials) as show:
        try:
            for ended in study.search(pool, at_once, trials, limit, _keep_metric(study)):
                show(ended)
        except KeyboardInterrupt:
            screen().note("stopped; the same command goes on from here")
            raise


def _keep_metric(study: Study) -> Callable[[str], None]:
    def keep(name: str) -> None:
        if study.noted("metric") != name:
            study.note("metric", name)

    return keep


@contextmanager
def _display(study: Study, trials: int) -> Iterator[Callable[[Ended], None]]:
    """A table of the best trials that is drawn anew, or a line for each trial."""
    if not screen().moves(sys.stdout):
        yield lambda ended: screen().note(_line(ended, trials))
        return
    from rich.live import Live

    with Live(_table(study, trials), console=screen().console(sys.stdout), transient=True) as live:
        yield lambda ended: live.update(_table(study, trials), refresh=True)


def _short(key: str) -> str:
    """A key without its section."""
    return key.rpartition(".")[2]


def _line(ended: Ended, trials: int) -> str:
    values = "  ".join(f"{_short(key)} {value}" for key, value in ended.values.items())
    told = f"  {ended.told}" if ended.told else ""
    return (
        f"trial {ended.number}/{trials}  {100 * ended.score:6.2f}  {ended.state:<11}  "
        f"{ended.epochs} epochs  {ended.seconds:.1f} s  {values}{told}"
    )


def _table(study: Study, trials: int) -> Any:
    from rich.table import Table

    ended = study.ended()
    title = f"{len(ended)} of {trials} trials"
    # The space to begin with fits into 80 columns.
    table = Table(
        title=title, title_justify="left", box=None, pad_edge=False, collapse_padding=True
    )
    for name in ("trial", "dev", "epochs", "state", "time"):
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    keys = list(ended[0].values) if ended else []
    for key in keys:
        table.add_column(_short(key))
    for own in sorted(ended, key=lambda own: (own.state != "done", -own.score))[:_ROWS]:
        table.add_row(
            str(own.number),
            f"{100 * own.score:.2f}",
            str(own.epochs),
            own.state,
            f"{own.seconds:.1f} s",
            *(str(own.values[key]) for key in keys),
        )
    return table


def _from_here(path: Path) -> str:
    """A path as one would type it in the current directory."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _end(
    study: Study,
    config: Path,
    settings: Sequence[str],
    folder: Path,
    best_file: Path,
    test: Any,
    base: Config,
) -> None:
    """Write and tell what was found."""
    from seqpa.tune.outcome import draw, scored_on_test, write_best
    from seqpa.tune.space import with_values

    ended, best = study.ended(), study.best()
    metric = str(study.noted("metric") or "score")
    told = f"dev {metric} {100 * best.score:.2f}"
    study.note("best_file", write_best(best_file, config, settings, best, len(ended), told))
    early = sum(own.state == "ended early" for own in ended)
    failed = [own for own in ended if own.state == "failed"]
    if study.is_exhausted():
        screen().note("every combination of these values was tried")
    print(f"\nbest of {len(ended)} trials ({early} ended early): {told}, trial {best.number}")
    for key, value in best.values.items():
        print(f"  {key}: {value}")
    if failed:
        print(f"{len(failed)} could not be made, the last: {failed[-1].told}")
    importances = study.importances()
    if importances:
        shown = ", ".join(f"{key} {100 * share:.0f} %" for key, share in importances.items())
        print(f"what the score depends on: {shown}")
    if test is not None:
        scored = study.noted("test")
        if scored is None or scored["trial"] != best.number:
            found = scored_on_test(with_values(config, settings, best.values), test)
            value = found.span_micro.f1 if found.span_micro is not None else found.accuracy
            times = 1 if scored is None else scored.get("times", 1) + 1
            scored = {"trial": best.number, "score": value, "times": times}
            study.note("test", scored)
        how = "scored once"
        if scored.get("times", 1) > 1:  # the search went on and found another winner
            how = f"this winner scored once, as {scored['times'] - 1} before it"
        print(f"test {metric} {100 * scored['score']:.2f}, {how}")
    try:
        from seqpa.experiments.figures import need_matplotlib

        need_matplotlib()
        draw(folder, ended, importances, metric)
        print(f"pictures and the study are in {folder}")
    except SeqpaError as error:
        screen().note(str(error))
    print(f"the configuration is {best_file}: seqpa train {shlex.quote(_from_here(best_file))}")
