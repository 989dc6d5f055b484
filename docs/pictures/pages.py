"""Pictures of the report's page and of notebooks, for the docs: what Chromium shows, as PNG.

    python docs/pictures/pages.py

Needs the extras `report` and `test`, and Chromium (SEQPA_CHROMIUM names another one). The model is
that of configs/ner.yaml; nothing is drawn by hand.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from seqpa import SequenceTagger
from seqpa.cli import main as seqpa
from seqpa.data import read
from seqpa.display import LiveCurve, explanation, spans
from seqpa.evaluate import evaluate

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
sys.path.insert(0, str(PROJECT / "tests"))
from browser import ARGUMENTS, browser_path  # noqa: E402 (of the tests)

LETTER = "Anna Norvell flew from Lyon to the Norvell works in Ohio , near the Evros river ."
WIDE = {"width": 1280, "height": 940}
HIGH = {"width": 1280, "height": 1240}
PHONE = {"width": 390, "height": 800}


def trained() -> None:
    """A folder as a reader has it, with the model of configs/ner.yaml and its report."""
    for name in ("corpora", "configs"):
        shutil.copytree(PROJECT / name, name)
    for arguments in (
        ["train", "configs/ner.yaml", "-q"],
        ["report", "configs/ner.yaml", "-o", "report"],
    ):
        if seqpa(arguments):
            raise SystemExit(f"seqpa {' '.join(arguments)} failed")


def notebooks() -> dict[str, str]:
    """What cells of a notebook show, by the name of the picture."""
    columns = ["word", "_", "label"]
    train, dev, test = (
        read(f"corpora/news/{part}.conll", columns=columns) for part in ("train", "dev", "test")
    )
    tagger = SequenceTagger.load("models/ner/model.safetensors")
    words = LETTER.split()
    why = explanation(tagger.explain(words)[1], 6, tagger.classes_)
    scores = evaluate(test.y, tagger.predict(test))._repr_html_()
    curve = LiveCurve(10)
    for epoch in SequenceTagger("ner", epochs=10, random_state=1).training(train, dev=dev):
        curve.add(epoch)
        if epoch.number == 7:
            break
    return {
        "notebook-spans": spans(tagger.tag(words), tagger.classes_).html,
        "notebook-explanation": why.html,
        "notebook-evaluation": scores,
        "notebook-training": curve.view().html,
    }


def shoot(chromium: Any) -> None:
    """Take all pictures."""

    def page(scheme: str, size: dict[str, int]) -> Any:
        return chromium.new_context(color_scheme=scheme, viewport=size).new_page()

    for name, scheme, size in (
        ("report", "light", WIDE),
        ("report-mistakes", "dark", HIGH),
        ("report-phone", "light", PHONE),
    ):
        one = page(scheme, size)
        one.goto((Path("report") / "index.html").resolve().as_uri())
        if name != "report":
            one.locator("#matrix button.cell", has_text="gold team, predicted country").click()
            one.locator("#cell .sentence").first.wait_for()
            one.evaluate("document.activeElement.blur()")
            one.mouse.move(0, 0)
            target = "#mistakes" if name == "report-mistakes" else "#cell"
            one.locator(target).evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        one.screenshot(path=HERE / f"{name}.png")
    for name, html in notebooks().items():
        one = page("light", {"width": 860, "height": 600})
        one.set_content(f'<div id="x" style="padding:14px;width:max-content">{html}</div>')
        one.locator("#x").screenshot(path=HERE / f"{name}.png")


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.chdir(folder)
        trained()
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        shoot(chromium)
        chromium.close()
        os.chdir(PROJECT)


if __name__ == "__main__":
    main()
