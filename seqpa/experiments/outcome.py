"""What an experiment found, and the files made of it: CSV, PNG, SVG and report.md."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seqpa.experiments import figures
from seqpa.files import write_atomically

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Check:
    """A claim of a paper, in our words, beside what was measured.

    Parameters
    ----------
    where : str
        Where the claim stands, such as "PA 2006, §10.1".
    claim : str
        The claim.
    holds : bool
        Whether it held.
    measured : str
        The numbers.

    Examples
    --------
    >>> Check("PA 2006, §10.1", "PA-I beats PA", 0.1 < 0.2, "0.100 against 0.200").verdict
    'holds'
    """

    where: str
    claim: str
    holds: bool
    measured: str

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        return "holds" if self.holds else "does not hold"


@dataclass
class Outcome:
    """All that an experiment found.

    Parameters
    ----------
    title : str
        Heading of the report.
    intro : str
        What was run, in Markdown.
    tables : dict
        Name -> rows; each becomes NAME.csv.
    figures : dict
        Name -> (alternative text, function that draws); each becomes NAME.png and NAME.svg.
    checks : list of Check
        The claims.
    notes : list of str
        Further Markdown, after the figures.
    label : str, default ""
        Where other data than the paper's was used, which: shown in figures and report.
    """

    title: str
    intro: str
    tables: dict[str, list[dict[str, Any]]]
    figures: dict[str, tuple[str, Callable[[], Any]]]
    checks: list[Check]
    notes: list[str] = field(default_factory=list)
    label: str = ""

    def report(self) -> str:
        """The text of report.md.

        Returns
        -------
        str
            Markdown.
        """
        parts = [f"# {self.title}"]
        if self.label:
            parts.append(f"**{self.label}**")
        parts.append(self.intro.strip())
        if self.checks:
            held = sum(check.holds for check in self.checks)
            parts.append(f"## Claims\n\n{held} of {len(self.checks)} hold.")
            parts.append(
                markdown_table(
                    ("where", "claim", "verdict", "measured"),
                    (
                        (check.where, check.claim, f"**{check.verdict}**", check.measured)
                        for check in self.checks
                    ),
                )
            )
        for name, (text, _) in self.figures.items():
            parts.append(f"![{text}]({name}.png)")
        parts += [note.strip() for note in self.notes]
        names = ", ".join(f"[{name}.csv]({name}.csv)" for name in self.tables)
        parts.append(f"Every number: {names}.")
        return "\n\n".join(parts) + "\n"

    def files(self) -> dict[str, bytes]:
        """All files of the experiment.

        Returns
        -------
        dict
            File name -> content.
        """
        content = {f"{name}.csv": _csv(rows) for name, rows in self.tables.items()}
        for name, (_, draw) in self.figures.items():
            figure = draw()
            for kind in ("png", "svg"):
                content[f"{name}.{kind}"] = figures.render(figure, kind, self.label)
        content["report.md"] = self.report().encode()
        return content

    def write(self, folder: Path) -> list[Path]:
        """Write all files, once all of them are made.

        Parameters
        ----------
        folder : Path
            Where to; it is made if it is not there.

        Returns
        -------
        list of Path
            The files.
        """
        content = self.files()
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in content.items():
            write_atomically(folder / name, data)
        return [folder / name for name in content]


def grid(rows: Iterable[Row], value: str, by: str = "trial", **chosen: Any) -> Any:
    """The values of the chosen rows as an array, a row of it for each trial.

    Parameters
    ----------
    rows : iterable of dicts
        The rows of a table.
    value : str
        The column to take.
    by : str, default "trial"
        The column whose values make the rows of the array.
    **chosen : object
        Column -> value: only rows with these values count.

    Returns
    -------
    array
        float64[trials, the rest in the order of the rows].

    Examples
    --------
    >>> rows = [{"C": 1, "trial": 0, "error": 3}, {"C": 2, "trial": 0, "error": 4},
    ...         {"C": 1, "trial": 1, "error": 5}, {"C": 2, "trial": 1, "error": 6}]
    >>> grid(rows, "error"), grid(rows, "error", C=2)
    (array([[3., 4.],
           [5., 6.]]), array([[4.],
           [6.]]))
    """
    found: dict[Any, list[float]] = {}
    for row in rows:
        if all(row[name] == wanted for name, wanted in chosen.items()):
            found.setdefault(row[by], []).append(row[value])
    return np.array(list(found.values()), dtype=np.float64)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown.

    Parameters
    ----------
    head : sequence of str
        The headings.
    rows : iterable of sequences
        The cells.

    Returns
    -------
    str
        The table.

    Examples
    --------
    >>> print(markdown_table(("C", "error"), [(0.1, "2 %"), (1, "a|b")]))
    | C | error |
    |---|---|
    | 0.1 | 2 % |
    | 1 | a\\|b |
    """
    cells = [list(head), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _csv(rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)
    return text.getvalue().encode()


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
