"""The page of `seqpa teach` in a real browser: by keyboard, mouse and finger, alone and together,
attacked, reloaded, without its server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browser, serious_faults
from hands import Hand, gold, sentences
from patience import LONG, until
from taught import Teaching

from seqpa import SequenceTagger
from seqpa.data import read

pytest.importorskip("fastapi", reason='needs the extra "serve"')
pytest.importorskip("uvicorn", reason='needs the extra "serve"')

KEYS = {"PER": "p", "LOC": "o"}
ATTACK = '<img src=x onerror="window.pwned=1">'
EVIL = f"Anna {ATTACK} <script>window.pwned=1</script> left Lyon.</main><b>x"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Teaching]:
    """One project for all that needs no project of its own."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "a.txt").write_text("\n".join(sentences(60)) + "\n")
    with Teaching("a.txt", "--labels", "PER,LOC", folder=folder) as one:
        yield one


class Tab:
    """An open page, and all that went wrong in it."""

    def __init__(self, chromium: Any, url: str, **options: Any) -> None:
        self.context = chromium.new_context(accept_downloads=True, **options)
        self.faults: list[str] = []
        self.expected: tuple[str, ...] = ()  # what the browser may complain of
        self.foreign: list[str] = []
        self.url = url.partition("#")[0]
        self.page = self.open(url)
        self.hand = Hand(self.page)

    def open(self, url: str) -> Any:
        """Another tab of the same browser."""
        page = self.context.new_page()
        page.set_default_timeout(1000 * LONG)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._heard)
        page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        page.on(
            "request",
            lambda r: r.url.startswith((self.url, "blob:")) or self.foreign.append(r.url),
        )
        page.goto(url)
        page.wait_for_selector("body[data-ready]")
        return page

    def _heard(self, message: Any) -> None:
        expected = any(words in message.text for words in self.expected)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(message.text)

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        clean = all(one.evaluate("window.pwned === undefined") for one in self.context.pages)
        self.context.close()
        if kind is None:
            assert clean
            assert not self.faults
            assert not self.foreign

    def ask(self, path: str) -> Any:
        """What the server answers to the page."""
        return self.page.evaluate("async (path) => (await fetch(path)).json()", path)

    def counts(self) -> dict[str, int]:
        return self.ask("/api/project")["counts"]

    def said(self, word: str) -> None:
        """Wait until the page says something with this in it."""
        self.page.locator("#said", has_text=word).wait_for()

    def save(self, path: Path, format: str) -> None:
        """Export by the page."""
        self.page.click("nav a[href='#model']")
        with self.page.expect_download() as found:
            self.page.click(f"[data-format={format}]")
        found.value.save_as(path)


def test_a_whole_session_by_keyboard(chromium: Any, tmp_path: Path) -> None:
    for name, part in (("a", sentences(40)[:20]), ("b", sentences(40)[20:])):
        (tmp_path / f"{name}.txt").write_text("\n".join(part) + "\n")
    arguments = ("a.txt", "b.txt", "--labels", "PER,LOC", "--project", "names.seqpa")
    # By chance alone, so that every sentence counts for the curve.
    with (
        Teaching(*arguments, "--strategy", "random", folder=tmp_path) as server,
        Tab(chromium, server.url) as one,
    ):
        hand, page = one.hand, one.page
        assert page.inner_text("#counts") == "0 of 40"
        for _ in range(30):
            hand.label(KEYS)
        assert one.counts()["labelled"] == 30
        # Undo goes back to the sentence as it was accepted, and before that as it was proposed.
        left = hand.tokens()
        hand.press("u")
        one.said("Undone: the sentence is open again")
        assert one.counts()["labelled"] == 29
        assert hand.tokens() != left
        hand.label(KEYS)
        # A new label, at once in the bar and on its key
        hand.press("n")
        page.wait_for_selector("#labels-dialog[open]")
        page.keyboard.type("DATE")
        hand.press("Enter")
        page.wait_for_selector("[data-label=DATE]")
        hand.press("Escape")
        while "May" not in hand.tokens():
            hand.press("s")
            hand.idle()
        may = hand.tokens().index("May")
        hand.correct(sorted([*gold(hand.tokens()), (may, may + 1, "DATE")]), {**KEYS, "DATE": "d"})
        hand.press("f")
        page.wait_for_selector("#flag-dialog[open]")
        page.keyboard.type("is a month a date?")
        hand.press("Enter")
        one.said("Flagged")
        hand.press("Enter")
        hand.idle()
        kept = one.counts()
        assert kept["flagged"] == 1
        assert one.ask("/api/sentences?label=DATE&filter=labelled")["total"] == 1
        # The help has every key, and Escape closes it.
        hand.press("?")
        assert "Undo, as often as you like" in page.inner_text("#help-dialog")
        hand.press("Escape")
        hand.press("g")
        page.wait_for_selector("#search:focus")
        page.keyboard.type("month of")
        page.get_by_text("No sentence is like that").wait_for()
    with Teaching("names.seqpa", folder=tmp_path) as server, Tab(chromium, server.url) as one:
        assert one.counts() == {**kept, "clock": one.counts()["clock"]}
        one.page.click("nav a[href='#browse']")
        one.page.select_option("#filter", "flagged")
        until(lambda: one.page.locator("#rows .row-card").count() == 1)  # all were there before
        assert "is a month a date?" in one.page.inner_text("#rows")
        one.page.click("nav a[href='#progress']")
        one.page.get_by_text("each before it was learned;").wait_for()
        one.page.wait_for_selector("#progress-shown svg.chart")
        one.save(tmp_path / "out.jsonl", "jsonl")
        told = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert len(told) == kept["labelled"]
        left = kept["sentences"] - kept["labelled"]
        one.said(f"{kept['labelled']} sentences; {left} that are not labelled")
        one.save(tmp_path / "out.conll", "conll")
        exported = read(tmp_path / "out.conll")
        assert sum(labels.count("B-PER") for labels in exported.y) > 20
        assert one.page.inner_text("#strategy-means") == "Comes first: any sentence."  # by random
        one.page.select_option("#strategy", "coverage")
        one.page.get_by_text("the best in our trials").wait_for()
        one.page.click("#train")
        one.page.get_by_text("the model is in").wait_for()
        model = Path(one.page.inner_text("#train-state code"))
        assert SequenceTagger.load(model).tag(["Anna", "Norvell", "left", "Oslo"])[0][1] == "B-PER"


def test_a_session_by_mouse(chromium: Any, shared: Teaching) -> None:
    with Tab(chromium, shared.url) as one:
        page = one.page
        before = one.counts()
        for _ in range(3):
            wanted = gold(one.hand.tokens())
            for _ in range(12):
                shown = one.hand.spans()
                missing = [span for span in wanted if span not in shown]
                extra = [span for span in shown if span not in wanted]
                if missing:
                    start, end, label = missing[0]
                    drag(page, start, end - 1)
                    page.click(f"[data-label={label}]")
                elif extra:
                    page.click(f"#token-{extra[0][0]}")
                    page.click(".no-label")
                else:
                    break
                one.hand.idle()
            page.click("#accept")
            one.hand.idle()
        assert one.counts()["labelled"] == before["labelled"] + 3
        page.click("#undo")
        one.said("Undone")
        page.click("#skip")
        one.said("Skipped")
        assert one.counts()["skipped"] == before["skipped"] + 1


def drag(page: Any, first: int, last: int) -> None:
    """Drag over words."""
    a, b = (page.locator(f"#token-{at}").bounding_box() for at in (first, last))
    page.mouse.move(a["x"] + 2, a["y"] + a["height"] / 2)
    page.mouse.down()
    page.mouse.move(b["x"] + b["width"] - 2, b["y"] + b["height"] / 2, steps=3)
    page.mouse.up()
    if first == last and page.locator("#sentence .token.chosen").count() > 1:
        page.keyboard.press("Space")  # a click means the whole span


def test_spans_that_overlap_are_refused_with_a_word(chromium: Any, shared: Teaching) -> None:
    with Tab(chromium, shared.url) as one:
        hand = one.hand
        while len(hand.tokens()) < 6:
            hand.press("s")
            hand.idle()
        words = hand.tokens()
        hand.select(1, 4)
        hand.press("p")
        hand.idle()
        assert (1, 4, "PER") in hand.spans()
        hand.select(3, 5)
        hand.press("o")
        one.said("Spans cannot overlap")
        assert (1, 4, "PER") in hand.spans()
        assert f"“{' '.join(words[1:4])}” is PER already" in one.page.inner_text("#said")
        # What takes all of it in takes its place; and undo takes back one correction at a time.
        hand.select(1, 5)
        hand.press("o")
        hand.idle()
        assert (1, 5, "LOC") in hand.spans()
        hand.press("u")
        hand.idle()
        assert (1, 4, "PER") in hand.spans()
        hand.press("u")
        hand.idle()
        assert one.page.locator("mark.confirmed").count() == 0


def test_a_finger_taps_both_ends(chromium: Any, shared: Teaching) -> None:
    size = {"width": 390, "height": 760}
    with Tab(chromium, shared.url, viewport=size, has_touch=True, is_mobile=True) as one:
        page, hand = one.page, one.hand
        while len(hand.tokens()) < 7:
            page.tap("#skip")
            hand.idle()
        while found := hand.spans():  # what is taken away may let the model think of another
            page.tap(f"#token-{found[0][0]}")
            page.tap(".no-label")
            hand.idle()
        page.tap("#token-2")
        page.tap("#token-4")
        page.tap("[data-label=PER]")
        hand.idle()
        assert (2, 5, "PER") in hand.spans()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.tap("#undo")


def test_what_is_entered_survives_a_reload(chromium: Any, shared: Teaching) -> None:
    with Tab(chromium, shared.url) as one:
        hand, page = one.hand, one.page
        while len(hand.tokens()) < 6:
            hand.press("s")
            hand.idle()
        words = hand.tokens()
        hand.select(0, 3)
        hand.press("o")
        hand.idle()
        page.reload()
        page.wait_for_selector("body[data-ready]")
        hand.idle()
        assert hand.tokens() == words
        assert (0, 3, "LOC") in hand.spans()
        assert page.locator("mark.confirmed").count() == 1
        # A second tab has a sentence of its own; what is changed there is seen here.
        other = one.open(shared.url)
        assert Hand(other).tokens() != words or other.inner_text("#where") != page.inner_text(
            "#where"
        )
        Hand(other).press("Enter")
        Hand(other).idle()
        other.close()
        page.click("#guidelines-edit")
        page.fill("#guidelines-text", "Months are <b>no</b> names.")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.input_value("#guidelines-text") == "Months are <b>no</b> names."
        page.click("#guidelines-form .main-button")
        one.said("saved")
        assert page.inner_text("#guidelines-shown") == "Months are <b>no</b> names."
        # The keys of the draft are taken back one by one, also after the reload.
        page.focus("#sentence")
        hand.press("u")
        hand.idle()
        assert page.locator("mark.confirmed").count() == 0


def test_one_sentence_in_two_tabs_and_a_label_renamed_beside(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sentences(8)) + "\n")
    with (
        Teaching("a.txt", "--labels", "PER,LOC", folder=tmp_path) as server,
        Tab(chromium, server.url) as one,
    ):
        one.expected = ("409", "422")  # that requests are refused is what this is about
        page, hand = one.page, one.hand
        here = page.inner_text("#where")
        words = hand.tokens()
        hand.select(0, 1)
        hand.press("p")
        hand.idle()
        number = int(page.evaluate("JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage)"
                               ".find(k => k.endsWith(' at'))))"))  # fmt: skip
        spans = {"spans": [[1, 2, "LOC"]]}
        server.do("accept", sentence=number, annotation=spans)
        # It is shown as it is now, with what was entered here.
        hand.press("Enter")
        one.said("You have labelled this sentence meanwhile: look at it again.")
        hand.idle()
        assert (page.inner_text("#where"), hand.tokens()) == (here, words)
        assert hand.spans() == [(0, 1, "PER"), (1, 2, "LOC")]
        hand.press("Enter")
        until(lambda: page.inner_text("#where") != here)
        kept = server.get(f"/api/sentences/{number}")["annotation"]
        assert kept == {"spans": [[0, 1, "PER"], [1, 2, "LOC"]]}
        # A name that somebody has changed is taken over when it is missed.
        hand.select(0, 1)
        server.do("labels", action="rename", old="LOC", new="PLACE")
        hand.press("o")
        one.said("There is no label 'LOC'")
        page.wait_for_selector("[data-label=PLACE]")
        until(lambda: "LOC" not in {label for _, _, label in hand.spans()})
        hand.press("o")
        hand.idle()
        assert (0, 1, "PLACE") in hand.spans()
        # A draft of before does not bring it back.
        server.do("labels", action="rename", old="PLACE", new="AREA")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        hand.idle()
        assert "PLACE" not in {label for _, _, label in hand.spans()}


def test_without_space_in_the_browser_the_work_goes_on(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sentences(8)) + "\n")
    with (
        Teaching("a.txt", "--labels", "PER,LOC", folder=tmp_path) as server,
        Tab(chromium, server.url) as one,
    ):
        # Every character that there is space for is taken by something else.
        one.page.evaluate(
            "let n = 1e7, i = 0; while (n >= 1) try { sessionStorage.setItem(i++, 'x'.repeat(n)) }"
            " catch { n = Math.floor(n / 2) }"
        )
        for _ in range(3):
            one.hand.label(KEYS)
        one.hand.press("u")
        one.hand.idle()
        assert one.counts()["labelled"] == 2
        forbidden = one.context.new_page()
        forbidden.on("pageerror", lambda error: one.faults.append(str(error)))
        forbidden.add_init_script(
            "for (const name of ['sessionStorage', 'localStorage'])"
            " Object.defineProperty(window, name, { get() { throw new DOMException('no') } })"
        )
        forbidden.goto(server.url)
        forbidden.wait_for_selector("body[data-ready]")
        Hand(forbidden).label(KEYS)
        forbidden.click("#size")
        assert one.counts()["labelled"] == 3


def test_without_its_server_nothing_is_lost(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sentences(8)) + "\n")
    server = Teaching("a.txt", "--labels", "PER,LOC", folder=tmp_path)
    with Tab(chromium, server.url) as one:
        hand, page = one.hand, one.page
        one.expected = ("ERR_", "507")  # that requests fail is what this is about
        hand.label(KEYS)
        hand.correct(gold(hand.tokens()), KEYS)
        server.end()
        hand.press("Enter")
        page.wait_for_selector("#banner:not([hidden])")
        assert "What you entered is kept" in page.inner_text("#banner-text")
        with Teaching("a.seqpa", "--port", server.port, folder=tmp_path):
            # The page tries by itself, too: the button may be gone before a mouse is there.
            page.dispatch_event("#banner-try", "click")
            page.wait_for_selector("#banner", state="hidden")
            hand.idle()
            assert one.counts()["labelled"] == 2
            # A full disk: it says so, and goes on when there is space.
            full = {"status": 507, "json": {"detail": "the disk is full"}}
            page.route("**/api/accept", lambda route: route.fulfill(**full))
            hand.press("Enter")
            page.wait_for_selector("#banner:not([hidden])")
            assert "The disk is full" in page.inner_text("#banner-text")
            page.unroute("**/api/accept")
            page.dispatch_event("#banner-try", "click")
            page.wait_for_selector("#banner", state="hidden")
            hand.idle()
            assert one.counts()["labelled"] == 3
            # Nothing is left to be sent, and the same answer is not sent twice.
            assert page.evaluate("!Object.keys(sessionStorage).some(k => k.includes('outbox'))")
    assert server.process.returncode == 0


def test_words_labels_and_notes_are_never_html(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{EVIL}\n\n" + "\n\n".join(sentences(5)) + "\n")
    arguments = ("a.txt", "--labels", "PER,LOC")
    with Teaching(*arguments, folder=tmp_path) as server, Tab(chromium, server.url) as one:
        hand, page = one.hand, one.page
        hand.press("g")
        page.wait_for_selector("#search:focus")
        page.keyboard.type("<script>")
        until(lambda: page.locator("#rows li").count() == 1)
        assert ATTACK in page.inner_text("#rows")
        page.click("#rows button")
        page.wait_for_selector("#sentence .token")
        until(lambda: ATTACK in page.inner_text("#sentence"))
        page.focus("#sentence")
        hand.press("n")
        page.wait_for_selector("#labels-dialog[open]")
        page.fill("#new-label", ATTACK)
        page.keyboard.press("Enter")
        page.locator(".give-name", has_text=ATTACK).wait_for(state="attached")
        page.keyboard.press("Escape")
        hand.select(0, 2)
        page.get_by_role("button", name="<img").click()
        hand.idle()
        assert hand.spans()[0] == (0, 2, ATTACK)
        hand.press("f")
        page.fill("#note", f"<i>{ATTACK}</i>")
        page.keyboard.press("Enter")
        one.said("Flagged")
        assert f"<i>{ATTACK}</i>" in page.inner_text("#flagged")
        hand.press("/")
        page.wait_for_selector("#matches .chip")
        assert ATTACK in page.inner_text("#matches")
        hand.press("Escape", "?")
        assert ATTACK in page.inner_text("#help-dialog")
        hand.press("Escape", "Enter")
        hand.idle()
        for view in ("browse", "progress", "model"):
            page.click(f"nav a[href='#{view}']")
        assert page.locator("main img, main script, main b, main i, dialog img").count() == 0


def test_two_people_and_what_they_see_differently(chromium: Any, tmp_path: Path) -> None:
    named = [text for text in sentences(12) if "it was" not in text]
    (tmp_path / "a.txt").write_text("\n".join(named) + "\n")
    arguments = ("a.txt", "--labels", "PER,LOC", "--user", "ann", "--add-user", "ben")
    with Teaching(*arguments, "--share", "1", folder=tmp_path) as server:
        with Tab(chromium, server.link) as ann, Tab(chromium, server.links["ben"]) as ben:
            for one, name in ((ann, "ann"), (ben, "ben")):
                assert one.page.inner_text("#user") == name
                assert "token" not in one.page.evaluate("location.href")
            # A sentence that one has is not given to the other.
            assert ann.page.inner_text("#where") != ben.page.inner_text("#where")
            ann.hand.label(KEYS)
            for _ in range(6):  # ben gets it, as the second reader, and sees nothing in it
                again = "second pair" in ben.page.inner_text("#why")
                for start, _, _ in ben.hand.spans():
                    ben.hand.go(start)
                    ben.hand.press("0")
                    ben.hand.idle()
                ben.hand.press("Enter")
                ben.hand.idle()
                if again:
                    break
            ann.page.click("nav a[href='#team']")
            ann.page.get_by_role("button", name="Take the labels of ann").first.wait_for()
            assert "ann and ben" in ann.page.inner_text("#team-shown")
            left = ann.page.locator("#team-shown .row-card").count()
            assert ann.page.inner_text("#team-count") == str(left)
            ann.page.get_by_role("button", name="Take the labels of ann").first.click()
            ann.said("Settled")
            until(lambda: ann.page.locator("#team-shown .row-card").count() == left - 1)
        # Without a token there is a door.
        context = chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(1000 * LONG)
        page.goto(server.url)
        page.wait_for_selector("#door:not([hidden])")
        assert not page.is_visible("main")
        assert not page.is_visible("#door-said")
        page.fill("#token", "of yesterday, Zoë’s")
        page.click("#door button")
        page.wait_for_selector("#door-said:has-text('Nobody has this token')")
        page.fill("#token", f" {server.link} ")  # the link will do as well
        page.click("#door button")
        page.wait_for_selector("body[data-ready]")
        assert page.inner_text("#user") == "ann"
        # A token that is not valid any more: what was entered waits for another one.
        page.evaluate("sessionStorage.setItem('token', 'of yesterday')")
        page.press("#sentence", "s")
        page.wait_for_selector("#said:has-text('What you entered is kept')")
        page.fill("#token", server.link.partition("#token=")[2])
        page.click("#door button")
        page.wait_for_selector("#said:has-text('1 change from before')")
        context.close()


def test_right_to_left_and_one_label_a_word(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("אנה עזבה את ליון.\n\nדוד בא לפריז.\n")
    labels = "NOUN,VERB,ADJ,ADP,ADV,DET,PRON,PROPN,PUNCT,NUM,CCONJ,AUX"
    arguments = ("a.txt", "--kind", "tokens", "--labels", labels, "--language", "any")
    with Teaching(*arguments, folder=tmp_path) as server, Tab(chromium, server.url) as one:
        hand, page = one.hand, one.page
        hand.press("Home", "ArrowLeft")
        assert hand.cursor() == 1
        hand.press("l")
        assert hand.cursor() == 0
        boxes = [page.locator(f"#token-{at}").bounding_box()["x"] for at in (0, 1)]
        assert boxes[0] > boxes[1]
        # More than ten labels: their names are typed.
        hand.press("p")
        page.wait_for_selector("#typeahead[open]")
        page.keyboard.type("rop")
        hand.press("Enter")
        hand.idle()
        assert page.locator("#token-0 rt").inner_text() == "PROPN"
        assert hand.cursor() == 1  # the next word that has no label
        hand.press("/")
        page.keyboard.type("verb")
        hand.press("Enter")
        hand.idle()
        assert page.locator("#token-1 rt").inner_text() == "VERB"
        hand.press("Shift+N")  # n alone opens the labels
        page.wait_for_selector("#typeahead[open]")
        page.keyboard.type("oun")
        hand.press("Enter")
        hand.idle()
        assert page.locator("#token-2 rt").inner_text() == "NOUN"
        hand.press("Home", "ArrowLeft", "0")
        hand.idle()
        assert page.locator("#token-1 rt").inner_text() == "–"
        hand.press("Enter")
        hand.idle()
        assert one.counts()["labelled"] == 1
        one.said("words have no label")
        one.save(tmp_path / "out.conllu", "conllu")
        one.said("0 sentences; 2 that are not labelled, or not all of whose words are")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault(
    chromium: Any, shared: Teaching, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    with Tab(chromium, shared.url, bypass_csp=True, color_scheme=scheme, viewport=size) as one:
        assert not serious_faults(one.page)
        for view in ("browse", "progress", "model", "label"):
            one.page.click(f"nav a[href='#{view}']")
            one.page.wait_for_timeout(100)
            assert not serious_faults(one.page)
        for key in ("n", "f", "?", "/"):
            one.page.focus("#sentence")
            one.hand.press(key)
            one.page.wait_for_selector("dialog[open]")
            assert not serious_faults(one.page)
            one.hand.press("Escape")


def test_light_dark_and_large(chromium: Any, shared: Teaching) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with Tab(chromium, shared.url, color_scheme="dark") as one:
        page = one.page
        assert page.evaluate(ground) == "rgb(22, 24, 29)"
        page.click("#theme")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        page.click("#size")
        before = page.evaluate("getComputedStyle(document.getElementById('sentence')).fontSize")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        size = "getComputedStyle(document.getElementById('sentence')).fontSize"
        assert page.evaluate(size) == before


def test_pages_and_the_help_are_shown_from_their_beginning(chromium: Any, shared: Teaching) -> None:
    small = {"width": 390, "height": 500}
    with Tab(chromium, shared.url, viewport=small) as one:
        page = one.page
        one.hand.press("?")
        page.wait_for_selector("#help-dialog[open]")
        assert page.evaluate("document.getElementById('help-dialog').scrollTop") == 0
        assert page.evaluate("document.activeElement.textContent") == "Close"
        one.hand.press("Escape")
        for view in ("progress", "label", "progress"):  # the second time, it is there already
            page.evaluate("window.scrollTo(0, 300)")
            page.evaluate(f"location.hash = '#{view}'")
            page.wait_for_selector(f"body[data-view={view}]")
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            assert page.evaluate("window.scrollY") == 0


def test_a_box_for_names_that_is_opened_again_at_once_stays_open(
    chromium: Any, shared: Teaching
) -> None:
    with Tab(chromium, shared.url) as one:
        # Before the browser tells of the first one's end.
        one.page.evaluate(
            "for (const key of ['/', 'Escape', '/']) {"
            " if (key === 'Escape') document.getElementById('typeahead').close();"
            " else document.getElementById('sentence').dispatchEvent("
            "new KeyboardEvent('keydown', { key, bubbles: true })) }"
        )
        one.page.evaluate("new Promise((done) => setTimeout(done, 100))")
        assert one.page.locator("#typeahead[open]").count() == 1
        one.hand.press("Escape")


def test_on_a_phone_names_in_the_table_are_whole_and_repair_says_what_it_did(
    chromium: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sentences(8)) + "\n")
    names = f"PERSON,COUNTRYSIDE,{'a long name ' * 4}"
    arguments = ("a.txt", "--labels", names, "--strategy", "random")
    size = {"width": 320, "height": 640}
    with (
        Teaching(*arguments, folder=tmp_path) as server,
        Tab(chromium, server.url, viewport=size) as one,
    ):
        for _ in range(4):
            number = server.do("next")["task"]["sentence"]
            spans = [[0, 1, "PERSON"], [1, 2, "COUNTRYSIDE"]]
            server.do("accept", sentence=number, annotation={"spans": spans})
        page = one.page
        page.click("nav a[href='#progress']")
        page.wait_for_selector(".barred .chip")
        lines = "all => all.map(x => x.offsetHeight / parseFloat(getComputedStyle(x).fontSize))"
        found = page.eval_on_selector_all(".barred .chip", lines)
        assert len(found) == 2
        assert max(found) < 2.5  # one line each
        page.click("nav a[href='#browse']")
        page.select_option("#filter", "labelled")
        until(lambda: page.locator("#rows li").count() == 4)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for change, told in (
            ("PERSON", "4 sentences changed: PERSON is no label. Undo is possible."),
            ("PERSON", "Nothing to change: the selected sentences are like that already."),
        ):
            page.check("#all")
            page.select_option("#repair-from", change)
            page.click("#repair-label")
            one.said(told)
            until(lambda: not page.is_checked("#all"))
        # The name of a file at the beginning of a message stays as it is.
        said = "import('/assets/api.js').then((m) => {} .map(m.sentence))"
        assert page.evaluate(said.replace("{}", "['a b.seqpa: is full', 'the note is long']")) == [
            "a b.seqpa: is full.", "The note is long.",
        ]  # fmt: skip


def test_hundreds_of_labels(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sentences(4)) + "\n")
    names = [f"Kind{i}" for i in range(300)]
    with (
        Teaching("a.txt", "--labels", ",".join(names), folder=tmp_path) as server,
        Tab(chromium, server.url) as one,
    ):
        page = one.page
        # What is below the labels is in sight without scrolling.
        high = page.viewport_size["height"]
        assert page.locator("#accept").bounding_box()["y"] < high
        options = "document.querySelectorAll('#label-list option').length"
        assert page.evaluate(options) == 0  # made when they are asked for
        one.hand.press("n")
        page.wait_for_selector("#labels-dialog[open]")
        assert page.evaluate(options) < 20 * len(names)  # and not each label with all others
        merge = page.get_by_label("Merge Kind7 into", exact=True)
        merge.focus()
        assert merge.locator("option").count() == len(names)
        merge.select_option("Kind9")
        page.get_by_text("Kind7 is Kind9 now.").wait_for()
        found = [label["name"] for label in one.ask("/api/project")["labels"]]
        assert found == [name for name in names if name != "Kind7"]


def test_only_unsure_words_are_asked_for(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(sentences(80)) + "\n")
    arguments = ("a.txt", "--labels", "PER,LOC", "--project", "a.seqpa", "--confirm", "unsure")
    with (
        Teaching(*arguments, folder=tmp_path) as server,
        Tab(chromium, server.url) as one,
    ):
        hand, page = one.hand, one.page
        assert page.input_value("#confirm") == "unsure"
        marked = page.locator("#sentence .token.unsure")
        at = "all => all.map(t => +t.dataset.at)"
        for _ in range(40):
            why = page.inner_text("#why")
            if "grown unsure" in why:  # counted already
                hand.press("s")
                hand.idle()
                continue
            places = marked.evaluate_all(at)
            if page.inner_text("#accept").startswith("Confirm dotted") and places:
                # The cursor is at the first; y confirms what is shown there, and goes to the next.
                assert "Only the dotted words are asked for" in page.inner_text("#hint")
                assert hand.cursor() == places[0]
                before = one.counts()
                hand.press("y")
                hand.idle()
                rest = marked.evaluate_all(at)
                assert places[0] not in rest
                shown = {t for start, end, _ in hand.spans() for t in range(start, end)}
                if rest and not {*places, *rest, *shown} >= {*range(len(hand.tokens()))}:
                    break
                hand.press("u")
                hand.idle()
            hand.label(KEYS)
        else:
            raise AssertionError("no words were asked for")
        assert hand.cursor() in rest
        number = page.evaluate("JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage)"
                               ".find(k => k.endsWith(' at'))))")  # fmt: skip
        hand.press("Enter")
        hand.idle()
        page.wait_for_function("document.querySelector('#counts').innerText.includes('in part')")
        after = one.counts()
        assert (after["parts"], after["labelled"]) == (before["parts"] + 1, before["labelled"])
        assert after["unfinished"] == 0
        # Just these were confirmed, and what is shown at them as a span.
        task = one.ask(f"/api/sentences/{number}")
        sure = {t for start, end, _ in task["confirmed"] for t in range(start, end)}
        assert {places[0], *rest} <= sure
        assert len(sure) < len(task["tokens"])
        # Undone, it is asked for as before; Shift and Enter accept it whole.
        hand.press("u")
        one.said("Undone")
        assert page.inner_text("#accept").startswith("Confirm dotted")
        hand.correct(gold(hand.tokens()), KEYS)
        hand.press("Shift+Enter")
        hand.idle()
        until(lambda: one.counts()["labelled"] == before["labelled"] + 1)
        assert one.counts()["parts"] == before["parts"]
        # Whole sentences again, with what was entered.
        page.select_option("#confirm", "all")
        one.said("Whole sentences are asked for")
        assert page.inner_text("#accept").startswith("Accept")


def test_the_cursor_goes_on_to_what_wants_looking_at(chromium: Any, tmp_path: Path) -> None:
    """Word after word where each has a label; as the counted keys have it."""
    (tmp_path / "a.txt").write_text("\n".join(sentences(12)) + "\n")
    arguments = ("a.txt", "--labels", "A,B", "--kind", "tokens", "--project", "a.seqpa")
    with (
        Teaching(*arguments, folder=tmp_path) as server,
        Tab(chromium, server.url) as one,
    ):
        words = one.hand.tokens()
        for at in range(len(words)):
            assert one.hand.cursor() == at
            one.hand.press("a")
            one.hand.idle()
        one.hand.press("Enter")
        until(lambda: one.counts()["labelled"] == 1)
        keys = one.ask("/api/progress")["keys"]
        assert keys["pressed"] == keys["by_hand"] == len(words) + 1
