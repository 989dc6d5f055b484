"""The command ``seqpa``: each command parses, calls a plain function and prints.

Nothing heavy is imported before a command needs it, so that ``seqpa --help`` is there at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from seqpa.cli.cluster import cluster
from seqpa.cli.convert import convert
from seqpa.cli.corpora import corpora
from seqpa.cli.evaluate import evaluate
from seqpa.cli.experiment import CommandWithNames, experiment
from seqpa.cli.export_crfsuite import export_crfsuite
from seqpa.cli.guard import (
    BROKEN_PIPE,
    abandon_stdout,
    error_line,
    guarded,
    orderly_end,
    whole_lines,
)
from seqpa.cli.import_crfsuite import import_crfsuite
from seqpa.cli.init import init
from seqpa.cli.inspect import inspect
from seqpa.cli.report import report
from seqpa.cli.schema import schema
from seqpa.cli.score import score
from seqpa.cli.screen import NoColor, Quiet, Verbose, shown
from seqpa.cli.serve import serve
from seqpa.cli.tag import tag
from seqpa.cli.teach import teach
from seqpa.cli.train import CommandWithSettings, train
from seqpa.cli.tune import tune

app = typer.Typer(
    name="seqpa",
    help="Train and run sequence taggers: parts of speech, names, chunks.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=CommandWithSettings)(guarded(train))
_LOOKING = (tag, evaluate, report, serve, teach, inspect, corpora)
_MAKING = (init, convert, score, cluster, tune, schema)
for _command in (*_LOOKING, *_MAKING):
    app.command()(guarded(_command))
app.command("import-crfsuite")(guarded(import_crfsuite))
app.command("export-crfsuite")(guarded(export_crfsuite))
app.command(cls=CommandWithNames)(guarded(experiment))


# What to do first, for those who only say `seqpa`.
_FIRST = """\
seqpa trains and runs sequence taggers: parts of speech, names, chunks.
  seqpa teach *.txt --labels PER,LOC  no labels yet: label text on a page, it learns
  seqpa init train.conll test.conll   look at labelled files, write a configuration
  seqpa train seqpa.yaml              train as it says; to try: configs/ner.yaml
  seqpa tag MODEL text.txt            label a text with the model that this wrote
  seqpa --help                        all commands; seqpa COMMAND -h: one of them"""
_COMPLETION = "_SEQPA_COMPLETE"  # the shell asks for completions, without arguments


def _print_version(asked: bool) -> None:
    if asked:
        from seqpa import __version__

        print(f"seqpa {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and end.", callback=_print_version, is_eager=True
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> None:
    """Train and run sequence taggers: parts of speech, names, chunks."""
    context.with_resource(shown(quiet, verbose, no_color))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:
        return error_line("standard output is closed; give it a place, for example > out.txt")
    whole_lines()
    try:
        with orderly_end():
            if not given and _COMPLETION not in os.environ:
                print(_FIRST, flush=True)
                return 0
            status = app(given, prog_name="seqpa", standalone_mode=False)
            sys.stdout.flush()
    except typer.Abort:
        return 130
    except BrokenPipeError:
        abandon_stdout()
        return BROKEN_PIPE
    except OSError as error:  # of --help itself; the commands guard themselves
        abandon_stdout()
        return error_line(f"<stdout>: cannot be written ({error.strerror})")
    except Exception as error:
        # Typer's own complaints about the arguments; they have no public base class.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        told = message().rstrip(".")
        if told.startswith("Got unexpected extra argument") and "--dask" in given:
            told += ". Put a pattern in quotes, as in 'in/*.conll', or the shell takes it apart"
        context = getattr(error, "ctx", None)
        command = "seqpa" if context is None else context.command_path
        return error_line(f"{told}. See {command} --help.")
    return status if isinstance(status, int) else 0
