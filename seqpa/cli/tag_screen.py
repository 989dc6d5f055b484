"""What ``seqpa tag`` shows: spans in colour on a terminal, progress beside it, speed at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from seqpa.cli.screen import is_terminal, screen

if TYPE_CHECKING:
    from seqpa.data import Corpus, Extras
    from seqpa.sequence.column_text import TaggedText

Counted = TypeVar("Counted", "Corpus", "TaggedText")


def on_terminal(output: str, labels: Sequence[str]) -> bool:
    """Whether the spans that labels mark can be shown in their text: the output is a terminal.

    Parameters
    ----------
    output : str
        Where the tagged text goes.
    labels : sequence of str
        All labels of the model.

    Returns
    -------
    bool
    """
    from seqpa.schemes import are_chunk_labels, marks_spans

    return (
        output == "-"
        and is_terminal(sys.stdout)
        and marks_spans(labels)
        and are_chunk_labels(labels)
    )


def paint(tagged: Iterable[tuple[Corpus, Sequence[str], Extras]], labels: Sequence[str]) -> None:
    """Print each sentence with its spans in colour, or in brackets where there are no colours.

    Parameters
    ----------
    tagged : iterable
        Corpora with the labels of their tokens.
    labels : sequence of str
        All labels of the model: a type has the same colour in every text.
    """
    from seqpa.data.markup import render, render_coloured
    from seqpa.schemes import type_of

    kinds = sorted({kind for label in labels if (kind := type_of(label))})
    in_colour = screen().colours(sys.stdout)
    for corpus, own, _ in tagged:
        if not len(corpus):
            continue
        if in_colour:
            text = render_coloured(corpus, own, kinds)
        else:
            text = render(corpus, own, {}, "brackets")
            text = "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
        print(text, end="", flush=True)


class Watch:
    """Counts what was tagged, and shows it on standard error while it goes on.

    Parameters
    ----------
    input : str
        The file; ``-`` is standard input.
    """

    def __init__(self, input: str) -> None:
        self._input = input
        self._bar: Any = None
        self._begun = time.perf_counter()
        self.sentences = 0
        self.tokens = 0

    def counted(self, chunks: Iterable[Counted], chunk_bytes: int) -> Iterator[Counted]:
        """The same chunks, counted when the next one is asked for: then the last one is tagged.

        Parameters
        ----------
        chunks : iterable of Corpus or TaggedText
            What is read.
        chunk_bytes : int
            About so much text makes one.

        Yields
        ------
        Corpus or TaggedText
        """
        for number, corpus in enumerate(chunks, 1):
            yield corpus
            self.sentences += len(corpus)
            self.tokens += corpus.n_tokens
            if self._bar is not None:
                self._bar.update(
                    self._bar.task_ids[0], completed=number * chunk_bytes, told=self._told()
                )

    @contextmanager
    def shown(self, output: str) -> Iterator[None]:
        """Show a bar for a file if standard error is a terminal, and how fast it was at the end.

        Parameters
        ----------
        output : str
            Where the tagged text goes; a bar in the midst of it would help nobody.
        """
        wanted = self._input != "-" and screen().moves(sys.stderr)
        if wanted and not (output == "-" and is_terminal(sys.stdout)):
            self._bar = self._new_bar()
            with self._bar:
                yield
        else:
            yield
        if wanted or screen().verbose:
            screen().aside(self._told())

    def _new_bar(self) -> Any:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        path = Path(self._input)
        plain = path.suffix not in (".gz", ".zst") and path.is_file()
        bar = Progress(
            TextColumn("tagging"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[told]}"),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=screen().console(sys.stderr),
            transient=True,
        )
        bar.add_task("tagging", total=path.stat().st_size if plain else None, told="")
        return bar

    def _told(self) -> str:
        seconds = time.perf_counter() - self._begun
        return (
            f"{self.sentences:,} sentence{'s' * (self.sentences != 1)}, {self.tokens:,} "
            f"token{'s' * (self.tokens != 1)} in {seconds:.2f} s, "
            f"{self.tokens / max(seconds, 1e-9):,.0f} tokens/s"
        )
