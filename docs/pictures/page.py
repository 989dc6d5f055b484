"""Pictures of the page of `seqpa serve`, for the README and the guides, taken in Chromium.

    python docs/pictures/page.py

The models are those of configs/ner.yaml and configs/pos.yaml; nothing is drawn by hand.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
sys.path.insert(0, str(PROJECT / "tests"))
from browser import ARGUMENTS, browser_path  # noqa: E402
from served import Service  # noqa: E402

SIZE = {"width": 1120, "height": 700}


def main() -> None:
    """Train the models, open the page, take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for name in ("ner", "pos"):
            models.append(Path(folder, f"{name}.safetensors"))
            config = str(PROJECT / "configs" / f"{name}.yaml")
            told = ["train", config, "-q", "--set", f"output.model={models[-1]}"]
            subprocess.run([sys.executable, "-m", "seqpa", *told], check=True)
        with Service(*models) as service, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
            for scheme, name in (("light", "page"), ("dark", "page-dark")):
                tab = chromium.new_context(color_scheme=scheme, viewport=SIZE).new_page()
                tab.goto(service.url)
                tab.wait_for_selector("body[data-ready]")
                tab.click("#example")
                tab.locator("#reading .token", has_text="Ghana").click()
                tab.wait_for_selector("#why-word")
                tab.mouse.move(5, 5)
                tab.wait_for_timeout(300)
                tab.screenshot(path=HERE / f"{name}.png")
                if scheme == "light":
                    tab.keyboard.press("Escape")
                    tab.select_option("#model", "pos")
                    tab.wait_for_selector("#reading rt")
                    tab.wait_for_timeout(300)
                    clip = {"x": 0, "y": 0, "width": SIZE["width"], "height": 540}
                    tab.screenshot(path=HERE / "page-pos.png", clip=clip)
            chromium.close()


if __name__ == "__main__":
    main()
