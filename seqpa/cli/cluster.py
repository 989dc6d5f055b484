"""``seqpa cluster``: word clusters from raw text, for templates."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqpa.cli.inputs import OwnColumns
from seqpa.cli.screen import screen

if TYPE_CHECKING:
    from rich.progress import Progress

_TEXT = "text"


def cluster(
    texts: Annotated[
        list[str],
        typer.Argument(
            help="Files of raw text, gzip-compressed or not; - is standard input.",
            metavar="TEXT...",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Cluster file to write.")],
    clusters: Annotated[int, typer.Option(min=2, help="How many clusters to make.")] = 256,
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words are left out.")] = 3,
    passes: Annotated[
        int, typer.Option(min=1, help="How often each word may be moved, at most.")
    ] = 20,
    lower: Annotated[
        bool, typer.Option("--lower", help="Write and count all words in lower case.")
    ] = False,
    format: Annotated[
        str, typer.Option(help="Format of the files, if they are split into words: conll, ...")
    ] = _TEXT,
    columns: OwnColumns = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            help="For raw text: builtin, punkt (NLTK's), whitespace (a sentence a line), or a "
            "function of your own, module:function."
        ),
    ] = "builtin",
    language: Annotated[
        str,
        typer.Option(help="Of raw text: english, german, french, spanish, any; or Punkt's."),
    ] = "english",
    encoding: Annotated[str, typer.Option(help="Of the files.")] = "utf-8",
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output if it is there.")
    ] = False,
) -> None:
    """Put the words of raw text into clusters, for the template cluster("name", 4)[0].

    Words that stand beside the same words come together, as Brown clusters do: a line of the output
    has a path in a tree, a tab and a word. Labels are not needed. Name the file under
    features.clusters in a configuration. Clusters are worth it where there is much more raw text
    than labelled text; equal text gives equal clusters.
    """
    from seqpa.errors import SeqpaError
    from seqpa.files import check_apart, check_writable, write_atomically
    from seqpa.sequence.clustering import learn_clusters

    if output.exists() and not force:
        raise SeqpaError(f"{output}: is there already; say --force to replace it")
    check_apart(
        {f"the text {n}": path for n, path in enumerate(texts, 1) if path != "-"},
        {"the output": output},
    )
    check_writable(output)
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    count = [0, 0]
    begun = time.perf_counter()
    sentences = _sentences(texts, format, names, tokenizer, language, encoding, lower, count)
    with _Bar() as bar:
        found = learn_clusters(sentences, clusters, min_count, passes, bar.show)
    write_atomically(output, found.text().encode("utf-8", "surrogatepass"))
    screen().aside(
        f"{count[0]:,} sentences, {count[1]:,} tokens: {len(found.paths):,} words in "
        f"{len(set(found.paths.values())):,} clusters after {found.passes} "
        f"{'pass' if found.passes == 1 else 'passes'}, "
        f"{found.information:.3f} bits; {time.perf_counter() - begun:.1f} s\n"
        f"{output}: written. In a configuration:\n"
        "  features:\n"
        f"    clusters: {{brown: {output}}}\n"
        "    templates: ['cluster(\"brown\", 4)[0]', 'cluster(\"brown\", 8)[0]']  # and your own; "
        "a preset may stand beside them"
    )


def _sentences(
    texts: list[str],
    format: str,
    columns: list[str] | None,
    tokenizer: str,
    language: str,
    encoding: str,
    lower: bool,
    count: list[int],
) -> Iterator[list[str]]:
    """The words of all files, sentence by sentence, counted on the way."""
    from seqpa.data import read_chunks
    from seqpa.stored_parameters import import_function

    function = import_function(tokenizer) if ":" in tokenizer else tokenizer
    pool: dict[str, str] = {}
    for path in texts:
        chunks = read_chunks(
            path,
            format=format,
            columns=columns,
            encoding=encoding,
            with_labels=False,
            tokenizer=function,
            language=language,
            pool=pool,
        )
        for corpus in chunks:
            words = corpus.columns[0]
            if lower:
                words = [word.lower() for word in words]
            count[0] += len(corpus)
            count[1] += len(words)
            yield from corpus.split(words)


class _Bar:
    """Progress on a terminal; elsewhere nothing."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def __enter__(self) -> _Bar:
        if screen().moves(sys.stderr):
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[moved]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.add_task("reading", total=None, moved="")
            self._progress.start()
        return self

    def show(self, number: int, share: float, moved: int) -> None:
        """Tell how far a pass is, and how many words it has moved."""
        if self._progress is not None:
            self._progress.update(
                self._progress.task_ids[0],
                description=f"pass {number}",
                total=1.0,
                completed=share,
                moved=f"{moved:,} words moved",
            )

    def __exit__(self, *_error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
