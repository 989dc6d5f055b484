"""What every benchmark prints: Markdown tables, the machine, and sections of RESULTS.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns are text, the others numbers."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def machine(*packages: str) -> str:
    """Where and with what this runs, in one line."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{os.cpu_count()} cores ({platform.machine()}, {platform.system()}), "
        f"Python {platform.python_version()}, {versions}"
    )


def write(section: str, text: str, path: Path = RESULTS) -> None:
    """Replace one section of the file, or append it; the others stay."""
    old = path.read_text(encoding="utf-8") if path.exists() else "# Benchmarks\n"
    before, found, rest = old.partition(f"## {section}\n")
    after = rest[rest.index("\n## ") + 1 :] if found and "\n## " in rest else ""
    parts = [before.rstrip(), f"## {section}\n\n{text}".rstrip(), after.strip()]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
