"""``seqpa report``: a model's strengths and mistakes as a page, as JSON and as a card."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.evaluate import warn_of_labels, warn_of_tasks
from seqpa.cli.inputs import AllowImports, Columns, Encoding, Format, MaxSentence
from seqpa.cli.screen import screen
from seqpa.errors import SeqpaError

if TYPE_CHECKING:
    from seqpa.data import Corpus
    from seqpa.model import ModelFile
    from seqpa.report.source import Source
    from seqpa.sequence.tagger import SequenceTagger


def report(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="Model file, the folder of one, or the configuration that trained it.",
        ),
    ],
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Labelled data; of a configuration, its test set if not given.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for the report."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="OTHER_MODEL", help="Also show where this other model differs."),
    ] = None,
    ablate: Annotated[
        bool,
        typer.Option(
            "--ablate",
            help="Also train again without each group of templates; MODEL must be a configuration.",
        ),
    ] = False,
    rounds: Annotated[
        int, typer.Option(min=1, help="Of resampling, for intervals.", show_default=True)
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of resampling.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Write among other files; those of our names go.")
    ] = False,
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = None,
    max_sentence_tokens: MaxSentence = None,
    allow_imports: AllowImports = False,
) -> None:
    """Make a report on a model: one page to open in a browser.

    Scores with intervals, learning curves, the sentences behind every mistake, how far
    probabilities can be trusted, what mistakes cost, what was learned. Writes index.html, which
    opens from disk and loads nothing from elsewhere, report.json with all numbers (those of
    seqpa evaluate --json among them) and MODEL_CARD.md.
    """
    from seqpa.report.card import model_card
    from seqpa.report.folder import check_place, write_report
    from seqpa.report.page import need_jinja2, page_files
    from seqpa.report.source import find_source

    if output is None:
        raise SeqpaError("say where the report goes: -o DIR")
    need_jinja2()
    check_place(output, force)
    source = find_source(model)
    if ablate and source.config is None:
        raise SeqpaError(
            f"--ablate trains again, so it needs the configuration in place of {model}: "
            "seqpa report CONFIG -o DIR --ablate"
        )
    other = None if compare is None else find_source(compare).model
    options = (format, columns, encoding, max_sentence_tokens)
    with _progress() as tell:
        told, tagged, theirs = _made(
            source, data, other, ablate, (rounds, seed), options, allow_imports, tell
        )
        told["command"] = _command(model, data, compare, ablate, (rounds, seed), options)
        tell("writing the page")
        files = write_report(output, told, model_card(told), page_files(told, tagged, theirs))
    head = told["scores"]["headline"]
    name = "F1" if head["metric"] == "span-f1" else "accuracy"
    print(
        f"{name} {100 * head['value']:.2f}  (95 % interval {100 * head['low']:.2f} to "
        f"{100 * head['high']:.2f})"
    )
    if told["mistakes_cost"] is None:
        screen().note("the cost is a Python function: say --allow-imports to measure it")
    print(f"written: {', '.join(str(file) for file in files)}")


def _made(
    source: Source,
    data: str | None,
    other: Path | None,
    ablate: bool,
    drawing: tuple[int, int],
    options: tuple[Any, ...],
    allow_imports: bool,
    tell: Callable[[str], None],
) -> tuple[dict[str, Any], Any, Any]:
    """The numbers of the report, and what the models say of the data."""
    from seqpa.cli.inputs import cores, load
    from seqpa.report.make import Asked, report_data
    from seqpa.report.source import check_made_by, history_of, identity
    from seqpa.report.tagged import tag
    from seqpa.training_run import fingerprint

    tell("reading")
    tagger, file = load(source.model, allow_imports)
    if source.config is not None:
        check_made_by(source.config, file)
    corpus, name = _data(source, data, tagger, file, options)
    named = {label for label in corpus.labels or () if label}
    warn_of_labels(tagger.classes_, named, source.model, name)
    tell("tagging")
    tagger.n_jobs = cores()
    tagged = tag(tagger, corpus)
    theirs = None
    if other is not None:
        rival, _ = load(other, allow_imports)
        warn_of_tasks(tagger.classes_, rival.classes_, source.model, other)
        theirs = tag(rival, corpus, probabilities=False)
    asked = Asked(rounds=drawing[0], seed=drawing[1])
    words = file.training_words()
    told: dict[str, Any] = {
        "model": str(source.model),
        "data": name,
        **report_data(tagger, tagged, words, asked, theirs, tell),
    }
    if other is not None:
        told["compared_with"] = str(other)
    told["history"], told["history_note"] = history_of(source, file)
    told["ablation"] = _ablation(source, file, corpus, tagged, drawing, tell) if ablate else None
    told["identity"] = identity(file, corpus, name, fingerprint(corpus))
    return told, tagged, theirs


def _data(
    source: Source,
    data: str | None,
    tagger: SequenceTagger,
    file: ModelFile,
    options: tuple[Any, ...],
) -> tuple[Corpus, str]:
    """What is tagged, and its name."""
    from seqpa.cli.inputs import reading
    from seqpa.report.source import data_of_run

    if data is not None:
        return reading(tagger, file, *options).labelled(data), data
    if source.config is None:
        raise SeqpaError(
            f"name the labelled data to report on: seqpa report {source.model} DATA -o DIR"
        )
    if any(option is not None for option in options):
        raise SeqpaError("--format, --columns and their like go with DATA, which is not given")
    return data_of_run(source.config)


def _ablation(
    source: Source,
    file: ModelFile,
    corpus: Corpus,
    tagged: Any,
    drawing: tuple[int, int],
    tell: Callable[[str], None],
) -> list[dict[str, Any]]:
    from seqpa.report.ablation import ablation

    if source.config is None:
        return []

    def progress(group: str, done: int, of: int) -> None:
        tell(f"training without {group} ({done + 1} of {of})")

    templates = file.header["encoder"].get("templates", [])
    return ablation(source.config, templates, corpus, tagged, *drawing, progress)


def _command(
    model: Path,
    data: str | None,
    compare: Path | None,
    ablate: bool,
    drawing: tuple[int, int],
    options: tuple[Any, ...],
) -> str:
    """The command that makes the same report again."""
    words = ["seqpa", "report", str(model), *([] if data is None else [data]), "-o", "DIR"]
    words += [] if compare is None else ["--compare", str(compare)]
    words += ["--ablate"] if ablate else []
    words += [] if drawing[0] == 1000 else ["--rounds", str(drawing[0])]
    words += [] if drawing[1] == 1 else ["--seed", str(drawing[1])]
    names = ("--format", "--columns", "--encoding", "--max-sentence-tokens")
    for name, value in zip(names, options, strict=True):
        words += [] if value is None else [name, str(value)]
    return shlex.join(words)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is done, on a terminal; nothing in a pipe but the longer steps."""
    stream = sys.stderr
    if not screen().moves(stream):
        yield screen().detail
        return
    with screen().console(stream).status("") as status:
        yield lambda what: status.update(what)
