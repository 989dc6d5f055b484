"""What the columns of a file are: which are input, which is the label, which are ignored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqpa.errors import SeqpaError

IGNORED = "_"
MOST = 1000


@dataclass(frozen=True, slots=True)
class Columns:
    """The configured columns of a file, in its order.

    Attributes
    ----------
    all : tuple of str
        Every column, ``_`` for one to ignore.
    label : str or None
        The label's column, where there is one.

    Examples
    --------
    >>> plan = Columns(("word", "_", "ner"), "ner")
    >>> plan.names, plan.inputs(with_label=True), plan.label_at
    (('word',), [0], 2)
    """

    all: tuple[str, ...]
    label: str | None

    @classmethod
    def checked(cls, names: Sequence[str], label: str, need_label: bool) -> Columns:
        """Columns whose names make sense.

        Parameters
        ----------
        names : sequence of str
            Every column.
        label : str
            The label's column.
        need_label : bool
            Whether it must be among the names.

        Returns
        -------
        Columns
        """
        if isinstance(names, str):
            raise SeqpaError(f"columns: {names!r} is one name: give a list, as in [word, pos]")
        try:
            names = tuple(names)
        except TypeError:
            raise SeqpaError(f"columns: give a list, as in [word, pos], not {names!r}") from None
        if len(names) > MOST:
            raise SeqpaError(f"columns: {len(names):,} of them; {MOST:,} are the most")
        for name in names:
            if (
                not isinstance(name, str)
                or not name.isprintable()
                or name != name.strip()
                or not name
            ):
                raise SeqpaError(f"columns: {name!r} is no name for a column")
        listed = ", ".join(names)
        seen: set[str] = set()
        for name in names:
            if name in seen and name != IGNORED:
                raise SeqpaError(f"columns: {name!r} is named twice in {listed}")
            seen.add(name)
        if need_label and label not in names:
            raise SeqpaError(f"columns: the label column {label!r} is not among {listed}")
        plan = cls(names, label if label in names else None)
        if not plan.names:
            raise SeqpaError(f"columns: none of {listed or 'no columns'} is left as input")
        return plan

    @property
    def names(self) -> tuple[str, ...]:
        """The input columns: neither the label nor ignored."""
        return tuple(n for n in self.all if n not in (self.label, IGNORED))

    @property
    def label_at(self) -> int | None:
        """Where the label stands in a row."""
        return None if self.label is None else self.all.index(self.label)

    def widths(self, label_required: bool) -> tuple[int, ...]:
        """How many cells a row may have: with its label and, if allowed, without."""
        full = len(self.all)
        return (full,) if label_required or self.label is None else (full, full - 1)

    def inputs(self, with_label: bool) -> list[int]:
        """Where the input cells stand in a row with or without the label's cell."""
        row = [n for n in self.all if with_label or n != self.label]
        return [i for i, n in enumerate(row) if n not in (self.label, IGNORED)]
