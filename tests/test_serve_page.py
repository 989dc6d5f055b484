"""The page of `seqpa serve` in a real browser: typed at, clicked, attacked, narrow, by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browser, serious_faults
from patience import LONG, until
from served import Service, names_tagger, pos_tagger

pytest.importorskip("fastapi", reason='needs the extra "serve"')
pytest.importorskip("uvicorn", reason='needs the extra "serve"')

TEXT = "Anna Norvell left Lyon. So it is."
ATTACK = '<img src=x onerror="window.pwned=1">'
EVIL = {"B-PER": f"B-{ATTACK}", "I-PER": f"I-{ATTACK}"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("page")
    evil = folder / "<script>window.pwned=1<"
    evil.mkdir()
    names_tagger().save(folder / "ner.safetensors")
    pos_tagger().save(folder / "pos.safetensors")
    names_tagger(EVIL).save(evil / "b><script>window.pwned=1<b>.safetensors")
    models = [folder / "ner.safetensors", folder / "pos.safetensors"]
    with Service(*models, f"<b>evil={evil / 'b><script>window.pwned=1<b>.safetensors'}") as one:
        yield one


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


class Page:
    """An open page, and all that went wrong in it."""

    def __init__(self, chromium: Any, url: str, **options: Any) -> None:
        self.context = chromium.new_context(**options)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * LONG)
        self.faults: list[str] = []
        self.expected: tuple[str, ...] = ()  # what the browser may complain of
        self.foreign: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.on("request", lambda r: r.url.startswith(url) or self.foreign.append(r.url))
        self.page.goto(url)
        self.page.wait_for_selector("body[data-ready]")

    def _heard(self, message: Any) -> None:
        expected = any(words in message.text for words in self.expected)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(message.text)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        clean = self.page.evaluate("window.pwned === undefined")
        self.context.close()
        if kind is None:
            assert clean
            assert not self.faults
            assert not self.foreign

    def spans(self) -> list[list[str]]:
        """Each span that is shown: its text and its type."""
        return self.page.eval_on_selector_all(
            "#reading mark",
            "all => all.map(m => [[...m.querySelectorAll('.token')].map(t => t.textContent)"
            ".join(' '), m.querySelector('.type').textContent])",
        )

    def shows(self, expected: list[list[str]]) -> None:
        until(lambda: self.spans() == expected)

    def token(self, word: str) -> Any:
        return self.page.locator("#reading .token", has_text=word).first

    def copied(self, kind: str) -> str:
        button = self.page.locator(f"[data-copy={kind}]")
        button.click()
        told = f"{button.text_content()} copied."  # of this one, and not of the one before
        until(lambda: self.page.text_content("#state") == told)
        return self.page.evaluate("navigator.clipboard.readText()")


def test_names_light_up_as_one_types(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        one.page.locator("#text").press_sequentially("Anna Norvell")
        one.shows([["Anna Norvell", "PER"]])
        one.page.locator("#text").press_sequentially(" left Lyon.\n\nSo Ada paid.")
        one.shows([["Anna Norvell", "PER"], ["Lyon", "LOC"], ["Ada", "PER"]])
        first = one.page.locator("#reading .paragraph").first
        first.evaluate("one => one.kept = true")
        one.page.locator("#text").press_sequentially(" Paris")
        one.shows([["Anna Norvell", "PER"], ["Lyon", "LOC"], ["Ada", "PER"], ["Paris", "LOC"]])
        assert first.evaluate("one => one.kept"), "a paragraph that did not change is made anew"
        assert "4 spans" in one.page.inner_text("#state")
        one.page.click("#clear")
        one.shows([])


def test_a_word_tells_why_and_can_be_fixed(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        one.page.fill("#text", f"{TEXT} Ada paid.")
        one.shows([["Anna Norvell", "PER"], ["Lyon", "LOC"], ["Ada", "PER"]])
        one.token("Norvell").click()
        one.page.wait_for_selector("#why-word")
        told = one.page.inner_text("#why")
        expected = service.tag(text=TEXT, explain=True, only=[0])["sentences"][0]["explanations"][1]
        assert expected["features"][0]["name"] in told
        assert f"{expected['margin']:.2f}" in told
        assert expected["runner_up"] in told
        assert one.page.locator(".one-reading").count() == 5
        # The label of Anna is fixed: Norvell cannot go on with a person that did not begin.
        one.token("Anna").click()
        until(
            lambda: one.page.evaluate(
                "document.getElementById('why-word')?.textContent.startsWith('Anna')"
            ),
        )
        one.page.select_option("#why select", "O")
        until(lambda: ["Anna Norvell", "PER"] not in one.spans())
        expected = service.tag(text=TEXT, fixed=[{"start": 0, "label": "O"}])["sentences"][0]
        assert [span[0] for span in one.spans()][:-2] == [
            span["text"] for span in expected["spans"][:-1]
        ]
        assert one.token("Anna").get_attribute("class").endswith("fixed chosen")
        until(
            lambda: one.page.evaluate(
                "document.getElementById('why').innerText.includes('Fixed by you')"
            ),
        )
        # What is typed before it moves it, and what is fixed stays fixed.
        one.page.locator("#text").press("Control+Home")
        one.page.locator("#text").press_sequentially("Ada")
        until(lambda: one.page.locator("#reading .token").first.inner_text() == "AdaAnna")
        one.page.locator("#text").press_sequentially(" met ")
        until(lambda: one.spans()[:1] == [["Ada", "PER"]])
        until(lambda: one.page.locator(".token.fixed").count() == 1)
        assert one.page.locator(".token.fixed").inner_text() == "Anna"
        # That a label does not fit is said of a text; where that is another one now, it stays.
        one.expected = ("422",)
        held: list[Any] = []
        one.page.route("**/tag", lambda one: one.continue_() if held else held.append(one))
        one.page.locator("#text").press("Control+Home")
        one.page.locator("#text").press_sequentially("-")
        until(lambda: one.page.evaluate("1") and held)
        one.page.locator("#text").press("Backspace")
        held[0].fulfill(status=422, json={"detail": "no token begins there"})
        one.page.locator("#text").press_sequentially("Yet ")
        until(lambda: one.page.locator("#reading .token").first.inner_text() == "Yet")
        assert one.page.locator(".token.fixed").all_inner_texts() == ["Anna"]
        one.page.unroute("**/tag")
        one.page.click("#free")
        until(lambda: ["Anna Norvell", "PER"] in one.spans())
        one.page.keyboard.press("Escape")


def test_another_reading_is_taken(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        one.page.fill("#text", TEXT)
        one.token("Lyon").click()
        one.page.wait_for_selector(".one-reading")
        n_best = service.tag(text=TEXT, n_best=2)["sentences"][0]["n_best"]
        one.page.get_by_role("button", name="Take reading 2").click()
        one.shows([[span["text"], span["type"]] for span in n_best[1]["spans"]])


def test_readings_have_what_is_fixed(chromium: Any, service: Service) -> None:
    fixed = [{"start": 0, "label": "O"}]
    n_best = service.tag(text=TEXT, fixed=fixed, n_best=5)["sentences"][0]["n_best"]
    with Page(chromium, service.url) as one:
        one.page.fill("#text", TEXT)
        one.token("Anna").click()
        one.page.wait_for_selector("#why-word")
        one.page.select_option("#why select", "O")
        one.page.get_by_text("readings of the sentence with what you fixed").wait_for()
        told = one.page.locator(".one-reading .what").all_text_contents()
        expected = [[f"{span['text']} {span['type']}" for span in own["spans"]] for own in n_best]
        assert told == [" · ".join(own) or "no span" for own in expected]
        one.page.get_by_role("button", name="Take reading 4").click()
        one.shows([[span["text"], span["type"]] for span in n_best[3]["spans"]])
        assert one.token("Anna").get_attribute("class").endswith("fixed chosen")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault(
    chromium: Any, service: Service, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    with Page(chromium, service.url, bypass_csp=True, color_scheme=scheme, viewport=size) as one:
        for model in ("ner", "pos"):
            one.page.select_option("#model", model)
            one.page.fill("#text", f"{TEXT} Unbeknownst they left.")
            one.page.wait_for_selector("#reading .token")
            assert not serious_faults(one.page)
            one.token("Anna").click()
            one.page.wait_for_selector(".one-reading")
            one.page.locator(".alternative").nth(1).click()
            one.page.wait_for_selector(".alternative[aria-pressed=true]")
            assert not serious_faults(one.page)


def test_one_label_for_each_token(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        one.page.select_option("#model", "pos")
        one.page.fill("#text", "Anna paid. \U0001f600 it is")
        one.page.wait_for_selector("#reading rt")
        tokens = service.tag(text="Anna paid. \U0001f600 it is", model="pos")["sentences"]
        expected = [label for sentence in tokens for label in sentence["labels"]]
        assert one.page.locator("#reading rt").all_inner_texts() == expected
        one.token("paid").click()
        one.page.wait_for_selector("#why-word")
        assert one.copied("conll").startswith("Anna\tNNP\npaid\tVBD\n.\t.\n\n")


def test_words_labels_and_names_are_never_html(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        assert one.page.locator("#model option").all_inner_texts()[2] == "<b>evil"
        one.page.select_option("#model", "<b>evil")
        assert "<script>" in one.page.inner_text("#about")
        evil = f"Anna {ATTACK} <script>window.pwned=1</script> Lyon. </textarea><b>"
        one.page.fill("#text", evil)
        until(lambda: ["Anna", ATTACK] in one.spans())
        one.token("Anna").click()
        one.page.wait_for_selector("#why-word")
        assert ATTACK in one.page.inner_text("#why")
        assert one.page.locator("#reading img, #reading script, #reading b, aside img").count() == 0
        copied = one.copied("html")
        assert "<img" not in copied
        assert "&lt;img" in copied
        # As HTML of somebody's page it is text, too.
        other = one.context.new_page()
        other.set_content(copied)
        assert other.evaluate("window.pwned === undefined")
        assert other.locator("img, script, b").count() == 0
        # A link of somebody else's making
        link = one.page.evaluate(
            "async (told) => (await import('/reading.js')).packed(told)",
            {"text": evil, "model": "<b>evil", "fixes": [{"start": "x", "end": 1, "label": ATTACK}],
             "chosen": {"start": {}, "end": []}, "language": ATTACK},
        )  # fmt: skip
        one.page.goto("about:blank")
        one.page.goto(f"{service.url}#{link}")
        one.page.wait_for_selector("body[data-ready]")
        until(lambda: ["Anna", ATTACK] in one.spans())
        for broken in ("#x", "#%3Cscript%3E", "#" + "A" * 5000):
            one.page.goto("about:blank")
            one.page.goto(service.url + broken)
            one.page.wait_for_selector("body[data-ready]")


def test_a_link_brings_the_reading_back(chromium: Any, service: Service) -> None:
    text = "😀 Anna left\n\nLyon. עברית Ada"
    with Page(chromium, service.url) as one:
        one.page.fill("#text", text)
        until(lambda: len(one.spans()) == 3)
        one.token("Lyon").click()
        one.page.wait_for_selector("#why-word")
        one.page.select_option("#why select", "O")
        until(lambda: len(one.spans()) == 2)
        one.page.click("#link")
        until(lambda: one.page.evaluate("location.hash.length > 1"))
        link = one.page.evaluate("location.href")
    with Page(chromium, service.url) as other:
        other.page.goto("about:blank")
        other.page.goto(link)
        other.page.wait_for_selector("#why-word")
        assert other.page.input_value("#text") == text
        assert [span[0] for span in other.spans()] == ["Anna", "Ada"]
        assert other.page.inner_text("#why-word").startswith("Lyon")


def test_copies(chromium: Any, service: Service) -> None:
    text = "😀 Anna Norvell left\n\n\nLyon. Ada paid"
    with Page(chromium, service.url) as one:
        one.page.fill("#text", text)
        until(lambda: len(one.spans()) == 3)
        answer = service.tag(text=text)
        expected = "".join(
            "".join(
                f"{word}\t{label}\n" for word, label in zip(s["tokens"], s["labels"], strict=True)
            )
            + "\n"
            for s in answer["sentences"]
        )
        assert one.copied("conll") == expected
        assert json.loads(one.copied("json")) == {**answer, "text": text}
        assert one.copied("html").count("<mark") == 3


def test_by_keyboard_alone(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        one.page.focus("#text")
        one.page.keyboard.type("Anna left Lyon .")
        one.shows([["Anna", "PER"], ["Lyon", "LOC"]])
        focused = "document.activeElement.token?.text ?? document.activeElement.id"
        for _ in range(12):
            if one.page.evaluate(focused) == "Anna":
                break
            one.page.keyboard.press("Tab")
        one.page.keyboard.press("ArrowRight")
        # An answer that comes late makes the words anew: the focus stays where it is.
        one.page.evaluate(
            "const field = document.getElementById('text'); field.value += ' It is .'; "
            "field.dispatchEvent(new Event('input'))"
        )
        until(lambda: one.page.locator("#reading .token").count() == 7)
        assert one.page.evaluate(focused) == "left"
        one.page.keyboard.press("ArrowRight")
        assert one.page.evaluate(focused) == "Lyon"
        one.page.keyboard.press("Enter")
        until(lambda: one.page.evaluate("document.activeElement.id === 'why-word'"))
        one.page.keyboard.press("Tab")  # the button that closes
        one.page.keyboard.press("Tab")  # the most probable label
        one.page.keyboard.press("Tab")  # the second
        wanted = one.page.evaluate("document.activeElement.dataset.keep")
        assert wanted.startswith("fix ")
        one.page.keyboard.press("Enter")
        one.page.wait_for_selector(".token.fixed")
        one.page.wait_for_selector(".alternative[aria-pressed=true]")
        assert one.page.evaluate("document.activeElement.dataset.keep") == wanted
        one.page.keyboard.press("Escape")
        assert one.page.evaluate(focused) == "Lyon"
        assert one.page.is_hidden("#why")


def test_directions_of_script(chromium: Any, service: Service) -> None:
    with Page(chromium, service.url) as one:
        one.page.fill("#text", "אנה עזבה את ליון Anna\n\nAnna left")
        until(lambda: len(one.spans()) == 2)
        sides = one.page.eval_on_selector_all(
            ".paragraph",
            "all => all.map(p => { const t = [...p.querySelectorAll('.token')]; "
            "return t[0].getBoundingClientRect().x > t[1].getBoundingClientRect().x })",
        )
        assert sides == [True, False]
        one.token("אנה").focus()
        one.page.keyboard.press("ArrowLeft")
        assert one.page.evaluate("document.activeElement.token.text") == "עזבה"


def test_long_texts(chromium: Any, service: Service) -> None:
    paragraph = "Anna left Lyon and Ada met Paris . " * 30
    with Page(chromium, service.url) as one:
        one.page.fill(
            "#text", "\n\n".join([paragraph] * 2 + [f"{paragraph}{i}" for i in range(60)])
        )
        until(
            lambda: one.page.evaluate("document.querySelectorAll('#reading mark').length === 7440"),
        )
        one.page.locator("#text").press("Control+Home")
        one.page.locator("#text").press_sequentially("Ada ")
        until(lambda: one.page.locator("#reading mark").count() == 7441)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(chromium: Any, service: Service, scheme: str) -> None:
    narrow = {"width": 360, "height": 640}
    with Page(chromium, service.url, viewport=narrow, color_scheme=scheme) as one:
        one.page.fill("#text", f"{TEXT} {'long' * 40} Ada")
        until(lambda: len(one.spans()) == 3)
        fits = "document.documentElement.scrollWidth <= innerWidth"
        assert one.page.evaluate(fits)
        one.token("Lyon").click()
        one.page.wait_for_selector("#why-word")
        assert one.page.evaluate(fits)
        chosen = one.page.locator(".token.chosen").bounding_box()
        sheet = one.page.locator("aside").bounding_box()
        assert 0 <= chosen["y"] < sheet["y"], "the word that is asked about is covered"
        grounds = one.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 29)"}[scheme]


def test_the_token_is_asked_for(chromium: Any, tmp_path: Path) -> None:
    names_tagger().save(tmp_path / "ner.safetensors")
    with Service(tmp_path / "ner.safetensors", "--token", "a-long-token") as service:
        context = chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(1000 * LONG)
        page.goto(service.url)
        for word in ("wrong-token", "a-long-token"):
            page.fill("#token", word)
            page.click("#door button")
        page.wait_for_selector("body[data-ready]")
        assert page.is_hidden("#door")
        page.fill("#text", TEXT)
        page.wait_for_selector("#reading mark")
        context.close()
