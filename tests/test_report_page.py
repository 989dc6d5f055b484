"""The page of `seqpa report` in a browser: from disk, clicked, by keyboard, narrow, attacked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import browser, serious_faults
from patience import LONG

from seqpa import SequenceTagger
from seqpa.cli import main
from seqpa.data import Corpus
from seqpa.report import Asked, report_data, tag
from seqpa.report.page import page_files

pytest.importorskip("jinja2", reason='needs the extra "report"')

PROJECT = Path(__file__).parents[1]
NEWS = PROJECT / "corpora" / "news"
ATTACK = '<img src=x onerror="window.pwned=1">'
BREAK = "</script><script>window.pwned=1</script>"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a model of names beside another, from words alone."""
    folder = tmp_path_factory.mktemp("news")
    for name, epochs in (("a", 2), ("b", 1)):
        config = folder / f"{name}.yaml"
        config.write_text(
            f"data: {{train: '{NEWS / 'dev.conll'}', columns: [word, _, label],\n"
            f"  dev: '{NEWS / 'dev.conll'}', test: '{NEWS / 'test.conll'}'}}\n"
            f"learner: {{epochs: {epochs}}}\noutput: {{model: {name}.safetensors}}\n"
        )
        assert main(["train", str(config), "-q"]) == 0
    out = folder / "out"
    other = str(folder / "b.safetensors")
    assert main(["report", str(folder / "a.yaml"), "-o", str(out), "--compare", other]) == 0
    return out / "index.html"


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a model whose words, labels, features and files attack it."""
    folder = tmp_path_factory.mktemp("evil") / "<script>window.pwned=1<"
    folder.mkdir()
    words = [[ATTACK, BREAK, "it"], ["it", ATTACK]]
    labels = [[f"B-{ATTACK}", f"B-{BREAK}", "O"], ["O", "B-__proto__"]]
    tagger = SequenceTagger(["word[0]", "word[-1]"], random_state=1).fit(words, labels)
    model = folder / f"m{ATTACK.replace('/', '')}.safetensors"
    tagger.save(model)
    data = folder / "d<b onclick=x>.conll"
    wrong = [["O", f"B-{ATTACK}", "O"], ["O", f"B-{BREAK}"]]
    data.write_text(
        "\n".join(
            "".join(f"{w}\t{y}\n" for w, y in zip(*one, strict=True))
            for one in zip([[w.replace(" ", "\u00a0") for w in s] for s in words],
                           [[y.replace(" ", "\u00a0") for y in s] for s in wrong], strict=True)
        )
    )  # fmt: skip
    out = folder / "out"
    options = ["--columns", "word,label"]
    assert main(["report", str(model), str(data), "-o", str(out), *options, "--rounds", "9"]) == 0
    return out / "index.html"


@contextmanager
def opened(chromium: Any, path: Path, **options: Any) -> Iterator[Any]:
    """The page, opened from disk; at the end nothing has gone wrong and nothing was fetched."""
    context = chromium.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(1000 * LONG)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda m: m.type in ("error", "warning") and faults.append(m.text))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    folder = path.parent.as_uri()
    page.on("request", lambda r: r.url.startswith(folder) or faults.append(r.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert not faults


def test_a_cell_opens_its_sentences(chromium: Any, news: Path) -> None:
    with opened(chromium, news) as page:
        cells = page.locator("#matrix button.cell")
        assert cells.count() > 5
        cell = cells.nth(2)
        told = cell.locator(".hidden").text_content()
        cell.click()
        gold, _, rest = told.partition(", predicted ")
        assert page.locator("#cell h3").text_content() == f"{gold}, predicted {rest.split(':')[0]}"
        page.wait_for_selector("#cell .sentence")
        assert cell.get_attribute("aria-pressed") == "true"
        kind = gold.removeprefix("gold ")
        shown = page.locator("#cell .sentence").first
        assert shown.locator("dt").all_text_contents()[:2] == ["gold", "A"]
        wrong = shown.locator("mark.wrong")
        assert wrong.count() >= 1
        names = shown.locator("mark.wrong b").all_text_contents()
        assert kind in names or kind == "nothing"
        # Told without colour: a sign for those who see it, words for those who do not.
        assert wrong.first.locator(".sign").text_content() in "≠↔−+"
        assert wrong.first.locator(".hidden").text_content().strip(" ()") in (
            "wrong type", "wrong boundary", "missed", "invented",
        )  # fmt: skip


def test_boundaries_and_types_are_told_apart(chromium: Any, news: Path) -> None:
    with opened(chromium, news) as page:
        page.locator("summary", has_text="All pairs").click()
        page.fill("#pairs-filter", "zzz")
        assert page.locator("#pairs tbody tr").count() == 0
        page.fill("#pairs-filter", "person")
        rows = page.locator("#pairs tbody tr")
        assert rows.count() > 0
        assert all("person" in text for text in rows.all_text_contents())
        rows.first.get_by_role("button").click()
        page.wait_for_selector("#cell mark.wrong")
        assert page.locator("#cell mark.type, #cell mark.extent, #cell mark.missed").count() > 0


def test_keyboard_alone(chromium: Any, news: Path) -> None:
    with opened(chromium, news) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.locator("#matrix button.cell").first.focus()
        seen = set()
        for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp"):
            page.keyboard.press(key)
            seen.add(page.evaluate("document.activeElement.textContent"))
        assert len(seen) >= 3
        # One stop of Tab for the whole matrix, at the cell that was left.
        assert page.locator("#matrix button.cell[tabindex='0']").count() == 1
        page.keyboard.press("Enter")
        page.wait_for_selector("#cell .sentence")
        assert page.evaluate("document.activeElement.closest('#cell') !== null")
        page.locator("#label").focus()
        before = page.locator("#features").text_content()
        page.keyboard.press("ArrowDown")
        page.wait_for_function("old => document.getElementById('features').textContent !== old",
                               arg=before)  # fmt: skip


def test_sentences_of_answers_and_of_two_models(chromium: Any, news: Path) -> None:
    with opened(chromium, news) as page:
        button = page.locator("#certainty button[data-sentence]").first
        button.click()
        page.wait_for_selector("#certainty tr.opened .sentence")
        assert button.get_attribute("aria-expanded") == "true"
        button.click()
        assert page.locator("tr.opened").count() == 0
        for name in ("only_ours", "only_theirs", "costly"):
            box = page.locator(f"details[data-list={name}]")
            box.locator("summary").click()
            box.locator(".sentence").first.wait_for()
            assert box.locator(".sentence").first.locator("dt").all_text_contents() == [
                "gold", "A", "B",
            ]  # fmt: skip
        page.locator("#scores table").first.get_by_role("button", name="F1").click()
        column = page.locator("#scores table").first.locator("tbody tr td:nth-of-type(3)")
        values = [float(text) for text in column.all_text_contents()]
        assert values == sorted(values, reverse=True)


def test_a_phone(chromium: Any, news: Path) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    with opened(chromium, news, **phone) as page:
        page.locator("#matrix button.cell").first.tap()
        page.wait_for_selector("#cell .sentence")
        for box in page.locator("details").all():
            box.evaluate("box => { box.open = true; }")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_light_dark_and_paper(chromium: Any, news: Path) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        with opened(chromium, news, color_scheme=scheme) as page:
            grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            page.emulate_media(media="print", color_scheme=scheme)
            ink, paper = (
                page.evaluate(f"getComputedStyle(document.body).{name}")
                for name in ("color", "backgroundColor")
            )
            assert (ink, paper) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
            assert not page.locator("nav").is_visible()
            # Paper says whose the strongest features are, and keeps the grounds of cells.
            assert page.locator("#label").is_visible()
            adjust = page.locator("#matrix .cell").first.evaluate(
                "cell => getComputedStyle(cell).printColorAdjust"
            )
            assert adjust == "exact"
    assert grounds == ["rgb(255, 255, 255)", "rgb(22, 24, 29)"]


def test_text_is_never_html(chromium: Any, evil: Path) -> None:
    with opened(chromium, evil) as page:
        for box in page.locator("details").all():
            box.evaluate("box => { box.open = true; }")
        for button in page.locator("#matrix button.cell, button[data-sentence]").all():
            button.click()
        page.wait_for_selector("#cell .sentence")
        for label in page.locator("#label option").all_text_contents():
            page.select_option("#label", label=label)
        page.fill("#pairs-filter", "<img")
        assert page.locator("img, main script").count() == 0
        assert page.evaluate("window.pwned") is None
        assert page.locator("#cell mark").count() > 0
        assert "<script>window.pwned=1<" in page.title()


def test_parts_are_loaded_as_asked(chromium: Any, tmp_path: Path, evil: Path) -> None:
    words, gold = [["Ada", "won"]] * 300, [["B-x", "O"]] * 300
    tagger = SequenceTagger(["word[0]"], random_state=1).fit(words[:2], [["B-y", "O"]] * 2)
    tagged = tag(tagger, Corpus.from_sentences(words, gold))
    told = json.loads((evil.parent / "report.json").read_text())
    told |= report_data(tagger, tagged, None, Asked(rounds=5))
    (tmp_path / "parts").mkdir()
    for name, data in page_files(told, tagged, inlined=0).items():
        (tmp_path / name).write_bytes(data)
    with opened(chromium, tmp_path / "index.html") as page:
        page.locator("#features td").first.wait_for()
        loaded = "[...document.scripts].map(s => s.getAttribute('src')).filter(s => s)"
        assert page.evaluate(loaded) == ["parts/learned.js"]
        page.locator("#matrix button.cell").first.click()
        page.wait_for_selector("#cell .sentence")
        assert page.evaluate(loaded)[1:] == ["parts/cells-0.js", "parts/sentences-0.js"]
        assert page.locator("#cell .sentence").count() == 10
        page.get_by_role("button", name="show 10 more of 290 sentences").click()
        page.locator("#cell .sentence").nth(19).wait_for()
    (tmp_path / "parts" / "cells-0.js").unlink()
    context = chromium.new_context()
    page = context.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    page.locator("#matrix button.cell").first.click()
    page.get_by_role("alert").wait_for()
    assert "parts/cells-0.js could not be loaded" in page.get_by_role("alert").text_content()
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault(chromium: Any, news: Path, scheme: str, width: int) -> None:
    context = chromium.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    page.goto(news.as_uri())
    for box in page.locator("details").all():
        box.evaluate("box => { box.open = true; }")
    page.locator("#matrix button.cell").first.click()
    page.wait_for_selector("#cell .sentence")
    faults = serious_faults(page)
    context.close()
    assert not faults, "\n".join(faults)
