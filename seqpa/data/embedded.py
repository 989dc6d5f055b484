"""Where the project's own corpora are: they come with the source, not with the package."""

from __future__ import annotations

from pathlib import Path


def find_embedded() -> Path | None:
    """The folder of the project's own corpora.

    Returns
    -------
    Path or None
        The folder ``corpora`` of the current directory, of one above it, or beside the code.
    """
    here = Path.cwd()
    beside = Path(__file__).resolve().parents[2]
    for folder in (here, *here.parents, beside):
        if (folder / "corpora" / "news" / "train.conll").is_file():
            return folder / "corpora"
    return None
