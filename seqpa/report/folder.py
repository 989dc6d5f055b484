"""The folder of a report: written whole, and only where nothing of the user's is in the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from seqpa.errors import SeqpaError
from seqpa.files import check_folder, write_atomically

# By these a folder is known as one that a report made. The page is written last: it is whole if
# the rest is.
NUMBERS, CARD, PAGE, PARTS = "report.json", "MODEL_CARD.md", "index.html", "parts"
_OURS = {NUMBERS, CARD, PAGE, PARTS}


def check_place(folder: Path, force: bool) -> None:
    """Find out before the work whether a report may be written into a folder.

    Parameters
    ----------
    folder : Path
        Which may be missing, empty, or of an earlier report.
    force : bool
        Whether a report may stand among other files; those of our names are replaced.

    Raises
    ------
    SeqpaError
        If something of the user's would be lost, or nothing can be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "thesis.txt").write_text("years of work")
    >>> check_place(folder, False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: ...: has files that no report made, such as thesis.txt; name another \
folder, or say --force
    """
    check_folder(folder)
    if not folder.exists():
        return
    there = {entry.name for entry in folder.iterdir()}
    if there and not force and not (is_report(folder) and there <= _OURS):
        strange = sorted(there - _OURS) or sorted(there)
        raise SeqpaError(
            f"{folder}: has files that no report made, such as {strange[0]}; name another folder, "
            "or say --force"
        )


def is_report(folder: Path) -> bool:
    """Whether a report made what is in a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bool

    Examples
    --------
    >>> is_report(Path("nowhere"))
    False
    """
    try:
        content = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and isinstance(content.get("report"), int)


def write_report(
    folder: Path, told: Mapping[str, Any], card: str, page: Mapping[str, bytes]
) -> list[Path]:
    """Write the files of a report; those of an earlier one go.

    Parameters
    ----------
    folder : Path
        As `check_place` found it good.
    told : dict
        For report.json.
    card : str
        For MODEL_CARD.md.
    page : dict
        Name -> content of the page's files.

    Returns
    -------
    list of Path
        The files that people open, the page first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_parts(folder, {name for name in page if name != PAGE})
    numbers = json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False)
    files = {NUMBERS: f"{numbers}\n".encode("utf-8", "backslashreplace")}
    files |= {name: data for name, data in page.items() if name != PAGE}
    files |= {CARD: card.encode("utf-8", "backslashreplace"), PAGE: page[PAGE]}
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, data)
    return [folder / name for name in (PAGE, NUMBERS, CARD)]


def _remove_parts(folder: Path, kept: set[str]) -> None:
    """Remove what an earlier page loaded and the new one does not; only files of our naming."""
    parts = folder / PARTS
    if not is_report(folder) or not parts.is_dir() or parts.is_symlink():
        return
    for path in parts.glob("*.js"):
        if f"{PARTS}/{path.name}" not in kept and path.is_file():
            path.unlink()
    with suppress(OSError):  # other files are in it
        parts.rmdir()
