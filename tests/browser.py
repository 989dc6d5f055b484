"""Chromium for tests, where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from patience import LONG

# Nothing that a browser does by itself on the network.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browser_path() -> str | None:
    """Where a Chromium is: SEQPA_CHROMIUM, or one of the usual names."""
    told = os.environ.get("SEQPA_CHROMIUM")
    return told or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium; the test is skipped, with a word, where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = browser_path()
    if path is None:
        pytest.skip("needs Chromium: install the package chromium, or set SEQPA_CHROMIUM")
    with api.sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=1000 * LONG)
        yield one
        one.close()


def serious_faults(page: Any) -> list[str]:
    """What axe-core finds wrong for people who cannot see or use the page as others do.

    The page must be open in a context that bypasses its Content-Security-Policy.
    """
    axe = os.environ.get("AXE_CORE")
    if not axe:
        pytest.skip("needs axe-core: set AXE_CORE to its axe.min.js (npm install axe-core)")
    page.evaluate(Path(axe).read_text(encoding="utf-8"))
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:120]}"
        for one in page.evaluate("axe.run()")["violations"]
        if one["impact"] in ("serious", "critical")
    ]
