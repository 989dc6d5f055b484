"""The pictures of terminals in README and docs show what the commands print."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
# What differs from run to run, and the last digits of a sum, from machine to machine.
_TIMES = re.compile(r"[\d,.]+ (tokens/s|s\b)|[\d,]*\d(\.\d+)?")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pictures", PICTURES / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_in(svg: str) -> str:
    """The text of a picture, line by line, the numbers left out."""
    lines: dict[str, str] = {}
    for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        y = element.attrib["y"]
        lines[y] = lines.get(y, "") + (element.text or "")
    masked = (_TIMES.sub("#", line) for line in lines.values())
    return "\n".join(" ".join(line.split()) for line in masked)


def test_pictures_show_what_is_printed(maker: ModuleType, tmp_path: Path) -> None:
    environment = maker.prepare(tmp_path)
    for command in maker.BEFORE:
        maker.output(command, False, tmp_path, environment)
    assert {path.stem for path in PICTURES.glob("*.svg")} == set(maker.PICTURES)
    for name in maker.PICTURES:
        kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
        made = maker.svg(maker.session(name, tmp_path, environment))
        assert text_in(kept) == text_in(made), "run python docs/pictures/make.py"
        assert "http" not in kept.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched


def test_every_picture_is_shown_somewhere(maker: ModuleType) -> None:
    pages = [PICTURES.parents[1] / "README.md", *PICTURES.parent.glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for name in maker.PICTURES:
        assert f"pictures/{name}.svg" in text


def test_long_lines_are_folded_and_signs_escaped(maker: ModuleType) -> None:
    shown = maker.svg("$ " + "x" * 150 + "\n\x1b[30;46m <a&b> \x1b[1mPER \x1b[0m.\n")
    assert "&lt;a&amp;b&gt;" in shown
    assert shown.count("x" * 98) == 1
    assert shown.count(maker.GROUNDS[46]) == 2
