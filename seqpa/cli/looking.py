"""Which format a command's input is in, where no option says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from seqpa.cli.inputs import ReadOptions

Piece = TypeVar("Piece")


@dataclass(frozen=True, slots=True)
class Guess:
    """A format that was found by looking.

    Parameters
    ----------
    format : str
        The format.
    reason : str
        Why.
    columns : str or None
        What its columns are, where they are not as in training.
    """

    format: str
    reason: str
    columns: str | None = None

    def explained(self, chunks: Iterable[Piece]) -> Iterator[Piece]:
        """The same chunks; an error on the way also names the option that says otherwise.

        Parameters
        ----------
        chunks : iterable
            What is read.

        Yields
        ------
        The same.
        """
        from seqpa.errors import SeqpaError

        try:
            yield from chunks
        except SeqpaError as error:
            raise SeqpaError(
                f"{error}; it was read as {self.format} ({self.reason}): if that is wrong, say "
                "--format"
            ) from None


def guess(path: str, usual: ReadOptions, columns: tuple[str, ...]) -> Guess | None:
    """The format of an input, if it is another than the model's training data had.

    Parameters
    ----------
    path : str
        The input.
    usual : ReadOptions
        How the training data was read.
    columns : tuple of str
        The columns that the model looks at.

    Returns
    -------
    Guess or None
        None where it is the usual one, or there is nothing to look at.
    """
    from seqpa.data.recognise import look_at
    from seqpa.errors import SeqpaError

    try:
        seen = look_at(path, None if usual.encoding == "utf-8" else usual.encoding)
    except SeqpaError:  # what cannot be read is told by those who read it
        return None
    if seen.encoding != usual.encoding:
        return None
    if seen.format == usual.format:
        width, full = len(seen.columns), len(columns if usual.columns is None else usual.columns)
        as_in_training = seen.format != "conll" or width in (full, full - 1)
        if as_in_training or width not in (len(columns), len(columns) + 1):
            return None
        # Only what the model looks at, without the columns that it ignored in training.
        return Guess("conll", seen.reason, ",".join([*columns, "label"]))
    if seen.format in ("text", "spans") and len(columns) > 1:
        raise SeqpaError(
            f"{'<stdin>' if path == '-' else path}: looks like {seen.reason}, but the model needs "
            f"the columns {', '.join(columns)}; if the file has them, say --format conll"
        )
    return Guess(seen.format, seen.reason)
