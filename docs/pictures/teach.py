"""The picture of `seqpa teach` for the README: four moments of a session, taken in Chromium.

    python docs/pictures/teach.py

The texts are those of corpora/news, without their labels; a hand on the keyboard labels the first
sentence, the corpus' own labels answer for the next ones. Nothing is drawn by hand.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import sync_playwright

from seqpa.data import read
from seqpa.schemes import spans

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
sys.path.insert(0, str(PROJECT / "tests"))
from browser import ARGUMENTS, browser_path  # noqa: E402
from hands import Hand  # noqa: E402
from taught import Teaching  # noqa: E402

SIZE = {"width": 1000, "height": 520}
LABELS = ["person", "company", "city", "country", "team"]
LABELLED = 300
GUIDELINES = """\
person: without titles; "the mayor" is nobody.
company: also banks, and owners of works.
team: a city that plays is a team.
"""
CAPTIONS = [
    "1. Nothing is known yet: move, then a label’s key.",
    f"2. {LABELLED} sentences later: it proposes, and dots what it is unsure of.",
    "3. A correction is two keys (✓); the rest is decoded anew under it.",
    "4. Random sentences, each before it was learned, tell how good it is.",
]


def texts(folder: Path) -> dict[tuple[str, ...], list[Any]]:
    """Write the texts; the spans of each sentence by its words."""
    corpus = read(PROJECT / "corpora/news/train.conll", columns=["word", "_", "label"])
    gold = {}
    for rows, labels in zip(corpus.X, corpus.y, strict=True):
        words = tuple(row if isinstance(row, str) else row[0] for row in rows)
        kept = [[start, end, name] for name, start, end in spans(list(labels)) if name in LABELS]
        gold[words] = kept
    (folder / "news").mkdir()
    for i, words in enumerate(list(gold)[:900]):
        path = folder / "news" / f"{i // 100:02d}.txt"
        with path.open("a", encoding="utf-8") as file:
            file.write(re.sub(r" ([.,;:?!])", r"\1", " ".join(words)) + "\n\n")
    (folder / "guidelines.txt").write_text(GUIDELINES, encoding="utf-8")
    return gold


def post(url: str, path: str, **body: Any) -> Any:
    """Ask the server as the page does."""
    request = Request(f"{url}api/{path}", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urlopen(request) as answer:
        return json.load(answer)


def labelled(url: str, gold: dict[tuple[str, ...], list[Any]], n: int) -> None:
    """Label n sentences, as the corpus has them."""
    task = post(url, "next", request="first")["task"]
    done = 0
    for i in range(2 * n):
        told = {"sentence": task["sentence"], "request": f"request {i}"}
        own = gold.get(tuple(task["tokens"]))
        if own is None:  # its words were cut otherwise
            task = post(url, "skip", **told)["task"]
            continue
        task = post(url, "accept", annotation={"spans": own}, **told)["task"]
        done += 1
        if done == n:
            break
    post(url, "release", sentence=task["sentence"])


def followed(url: str, gold: dict[tuple[str, ...], list[Any]]) -> tuple[str, list[Any]]:
    """A sentence with a mistake, and its correction; one that mends others too, if there is one."""
    found: list[tuple[int, int, str, list[Any]]] = []
    for offset in range(0, 1000, 200):
        with urlopen(f"{url}api/sentences?filter=open&limit=200&offset={offset}") as answer:
            rows = json.load(answer)["rows"]
        for row in rows:
            own = gold.get(tuple(row["tokens"]), [])

            def mistakes(spans: list[Any], own: list[Any] = own) -> int:
                return sum(span not in own for span in spans) + sum(x not in spans for x in own)

            shown = row["model"]["spans"]
            for span in own if len(own) > 1 and len(row["tokens"]) < 24 else []:
                asked = {"sentence": row["sentence"], "confirmed": [span]}
                rest = [x for x in shown if x[1] <= span[0] or x[0] >= span[1]]
                if span in shown:
                    continue
                after = mistakes(post(url, "propose", **asked)["annotation"]["spans"])
                mended = mistakes([*rest, span]) - after  # besides what is corrected
                found.append((mended, -after, row["text"], span))
    return max(found)[2:]


def shoot(chromium: Any, url: str, gold: dict[tuple[str, ...], list[Any]]) -> list[bytes]:
    """The four moments."""
    tab = chromium.new_context(viewport=SIZE).new_page()
    tab.goto(url)
    tab.wait_for_selector("body[data-ready]")
    hand = Hand(tab)
    while len(gold.get(tuple(hand.tokens()), [])) < 2 or len(hand.tokens()) > 22:
        hand.press("s")
        hand.idle()
    own = sorted(map(tuple, gold[tuple(hand.tokens())]))
    keys = {
        one.get_attribute("data-label"): one.inner_text().split()[-1]
        for one in tab.locator(".give[data-label]").all()
    }
    start, end, label = own[0]
    hand.select(start, end)
    tab.wait_for_timeout(7000)  # until nothing is said any more
    taken = [tab.screenshot()]
    hand.correct(own, keys)
    hand.press("Enter")
    hand.idle()
    tab.goto("about:blank")
    labelled(url, gold, LABELLED)
    tab.goto(url)
    tab.wait_for_selector("body[data-ready]")
    text, (start, end, label) = followed(url, gold)
    hand.press("g")
    tab.fill("#search", text)
    tab.get_by_text("1 sentence", exact=True).wait_for()
    tab.click("#rows li button")
    tab.wait_for_selector("#view-label #sentence .token")
    hand.idle()
    tab.wait_for_timeout(1000)
    taken.append(tab.screenshot())
    hand.select(start, end)
    hand.press(keys[label])
    hand.idle()
    tab.wait_for_timeout(7000)
    taken.append(tab.screenshot())
    tab.click("nav a[href='#progress']")
    tab.wait_for_selector("#progress-shown svg.chart")
    panel = tab.locator("#progress-shown .panel").first
    panel.evaluate("e => window.scrollTo(0, e.offsetTop - 16)")
    tab.mouse.move(5, 5)
    tab.wait_for_timeout(300)
    taken.append(tab.screenshot())
    return taken


def strip(chromium: Any, pictures: list[bytes]) -> None:
    """All of them in one picture, with a line above each."""
    cells = "".join(
        f'<figure><figcaption>{caption}</figcaption><img src="data:image/png;base64,'
        f'{base64.b64encode(picture).decode()}"></figure>'
        for caption, picture in zip(CAPTIONS, pictures, strict=True)
    )
    style = (
        "body{margin:0;background:#fff}#x{display:grid;grid-template-columns:1000px 1000px;"
        "gap:28px;padding:8px;width:max-content}figure{margin:0}figcaption{font:600 22px "
        "system-ui,sans-serif;color:#1d2025;margin-bottom:8px}img{display:block;border:1px solid "
        "#d9dce1;border-radius:10px}"
    )
    page = chromium.new_context(viewport={"width": 2100, "height": 1300}).new_page()
    page.set_content(f'<style>{style}</style><div id="x">{cells}</div>')
    page.locator("#x").screenshot(path=HERE / "teach.png")


def main() -> None:
    """Label, take the pictures, put them together."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        gold = texts(folder)
        arguments = ("news", "--labels", ",".join(LABELS), "--guidelines", "guidelines.txt")
        with Teaching(*arguments, folder=folder) as server:
            chromium = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
            strip(chromium, shoot(chromium, server.url, gold))
            chromium.close()


if __name__ == "__main__":
    main()
