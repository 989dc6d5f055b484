"""Pictures of a terminal, for the README and the guides: what commands print, as SVG.

    python docs/pictures/make.py

The commands run in a copy of the project's corpora and configurations, on a pseudo-terminal where
colours are wanted; nothing is drawn by hand. `tests/test_pictures.py` runs them again and compares.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from itertools import accumulate
from pathlib import Path

import seqpa

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
LETTER = """\
Anna Norvell flew from Lyon to the Norvell works in Ohio. She chairs the Bank of Ghana,
and her brother plays for Leeds United. In May they met in Turkey, near the Evros river.
"""

# What is shown, and whether it is written to a terminal. `...` leaves lines out: from the line
# before it (counted from the top) to that many lines at the end.
PICTURES: dict[str, list[tuple[str, bool, tuple[int, int] | None]]] = {
    "train": [("seqpa train configs/ner.yaml", False, (4, 0))],
    "tag": [
        ("seqpa tag models/ner/model.safetensors letter.txt", True, None),
        (
            'echo "Anna left Lyon." | seqpa tag models/ner/model.safetensors --to huggingface',
            False,
            None,
        ),
    ],
    "chunk": [("seqpa tag models/chunk/model.safetensors letter.txt", True, None)],
    "init": [("seqpa init mine.csv --yes", False, None)],
}
BEFORE = ["seqpa train configs/chunk.yaml"]
MINE = """\
Sentence,Word,POS,Tag
1,Anna,NNP,B-PER
1,Norvell,NNP,I-PER
1,left,VBD,O
1,Lyon,NNP,B-LOC
1,.,.,O
2,She,PRP,O
2,won,VBD,O
2,.,.,O
"""

# How it is drawn
GROUNDS = {
    **{46: "#56b6c2", 43: "#e5c07b", 42: "#98c379", 45: "#c678dd", 44: "#61afef", 41: "#e06c75"},
    **{106: "#8be9fd", 103: "#f1fa8c", 102: "#50fa7b", 105: "#ff92df", 104: "#a4c8ff"},
    **{101: "#ff8080", 47: "#cccccc"},
}
PAPER, INK, PROMPT, DARK = "#1e2127", "#d7dae0", "#98c379", "#15171c"
WIDTH, LINE, MARGIN, BAR, SIZE = 8.4, 20, 16, 28, 14
COLUMNS = 100
Run = tuple[str, str, str | None, bool]  # text, colour, ground, bold
_CODE = re.compile(r"\x1b\[([0-9;]*)m")
_OTHER = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\r")


def prepare(folder: Path) -> dict[str, str]:
    """A folder as a reader has it, with a command `seqpa`; the environment to run in."""
    for name in ("corpora", "configs"):
        shutil.copytree(PROJECT / name, folder / name)
    (folder / "letter.txt").write_text(LETTER)
    (folder / "mine.csv").write_text(MINE)
    programs = folder / ".bin"
    programs.mkdir()
    (programs / "seqpa").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqpa "$@"\n')
    (programs / "seqpa").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    # The seqpa that is imported here, compiled if it is installed.
    where = Path(seqpa.__file__).parents[1]
    environment |= {"PYTHONPATH": str(where), "COLUMNS": str(COLUMNS)}
    environment.pop("NO_COLOR", None)
    return environment


def output(command: str, terminal: bool, folder: Path, environment: dict[str, str]) -> str:
    """What a command prints."""
    if not terminal:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        return done.stdout + done.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, shell=True, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.DEVNULL
    ):
        os.close(theirs)
        data = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux's way to say that it has ended
                break
            if not piece:
                break
            data += piece
    os.close(ours)
    return _OTHER.sub("", data.decode())


def session(name: str, folder: Path, environment: dict[str, str]) -> str:
    """The commands of a picture and what they print, as a terminal shows it."""
    shown = []
    for command, terminal, kept in PICTURES[name]:
        lines = output(command, terminal, folder, environment).rstrip("\n").split("\n")
        if kept is not None:
            head, tail = kept
            end = next(i for i, line in enumerate(lines) if line.startswith("kept epoch"))
            lines = [*lines[:head], "...", *lines[end : len(lines) - tail]]
        shown += [f"$ {command}", *lines]
    return "\n".join(shown) + "\n"


def runs(line: str) -> list[Run]:
    """A line in pieces of one look."""
    if line.startswith("$ "):
        return [("$ ", PROMPT, None, True), (line[2:], INK, None, True)]
    found: list[Run] = []
    ground, bold = None, False
    parts = _CODE.split(line)
    for i, part in enumerate(parts):
        if i % 2:
            for code in map(int, part.split(";") if part else ["0"]):
                if code == 0:
                    ground, bold = None, False
                elif code == 1:
                    bold = True
                elif code in GROUNDS:
                    ground = GROUNDS[code]
        elif part:
            found.append((part, DARK if ground else INK, ground, bold))
    return found


def folded(line: list[Run]) -> list[list[Run]]:
    """A line in as many as it takes."""
    rows: list[list[Run]] = [[]]
    room = COLUMNS
    for text, *look in line:
        while len(text) > room:
            rows[-1].append((text[:room], *look))  # type: ignore[arg-type]
            text, room = text[room:], COLUMNS
            rows.append([])
        if text:
            rows[-1].append((text, *look))  # type: ignore[arg-type]
        room -= len(text)
    return rows


def svg(text: str) -> str:
    """A terminal with this text in it."""
    rows = [row for line in text.rstrip("\n").split("\n") for row in folded(runs(line))]
    width = 2 * MARGIN + COLUMNS * WIDTH
    height = BAR + 2 * MARGIN + LINE * len(rows) - 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="DejaVu Sans Mono, ui-monospace, '
        f'SFMono-Regular, Menlo, Consolas, monospace" font-size="{SIZE}">',
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
        *(
            f'<circle cx="{MARGIN + 18 * i}" cy="{BAR / 2 + 2:g}" r="5.5" fill="{colour}"/>'
            for i, colour in enumerate(("#e06c75", "#e5c07b", "#98c379"))
        ),
    ]
    for number, row in enumerate(rows):
        y = BAR + MARGIN + LINE * number + 8
        starts = [0, *accumulate(len(run[0]) for run in row)]
        for (piece, colour, ground, bold), start in zip(row, starts, strict=False):
            x, wide = MARGIN + start * WIDTH, len(piece) * WIDTH
            if ground:
                parts.append(
                    f'<rect x="{x:g}" y="{y - 14:g}" width="{wide:g}" height="18" fill="{ground}"/>'
                )
            weight = ' font-weight="bold"' if bold else ""
            parts.append(
                f'<text x="{x:g}" y="{y:g}" fill="{colour}"{weight} textLength="{wide:g}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{escape(piece)}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = prepare(folder)
        for command in BEFORE:
            output(command, False, folder, environment)
        for picture in PICTURES:
            text = session(picture, folder, environment)
            (HERE / f"{picture}.svg").write_text(svg(text), encoding="utf-8")
            print(f"{picture}.svg\n{text}")


if __name__ == "__main__":
    main()
