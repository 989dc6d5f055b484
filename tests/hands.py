"""A hand that labels on the page of `seqpa teach`, and sentences for it."""

from __future__ import annotations

from typing import Any

# Names and what they are; the word behind a person's first name may belong to it.
PERSONS = ["Anna Norvell", "Ada Osei", "Mark Petrov", "Ben", "Clara Lund"]
PLACES = ["Lyon", "Paris", "New Delhi", "Oslo", "Bath"]
SHAPES = [
    "{a} left {x} for {y} in May.",
    "In {x} it rained, and {a} stayed at home.",
    "{a} met {b} near {x}.",
    "The mayor of {x} thanked {a}.",
    "So it was.",
    "They sold bread, said {b}.",
    "From {y} to {x} is a long way.",
]
Span = tuple[int, int, str]


def sentences(n: int) -> list[str]:
    """Sentences with persons and places, no two alike for long."""
    made = []
    for i in range(n):
        a, b = PERSONS[i % 5], PERSONS[(i // 2 + 1) % 5]
        x, y = PLACES[(i * 3) % 5], PLACES[(i + i // 5 + 1) % 5]
        made.append(SHAPES[i % len(SHAPES)].format(a=a, b=b, x=x, y=y))
    return made


def gold(tokens: list[str]) -> list[Span]:
    """The spans of such a sentence."""
    found = []
    for names, label in ((PERSONS, "PER"), (PLACES, "LOC")):
        for name in names:
            words = name.split()
            for at in range(len(tokens) - len(words) + 1):
                if tokens[at : at + len(words)] == words:
                    found.append((at, at + len(words), label))
    return sorted(found)


class Hand:
    """Labels on an open page, with the keyboard alone."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def idle(self) -> None:
        """Wait until the page has had its answers."""
        self.page.wait_for_selector("[aria-busy=true]", state="detached")

    def tokens(self) -> list[str]:
        return self.page.eval_on_selector_all(
            "#sentence .token", "all => all.map(t => t.innerText)"
        )

    def spans(self) -> list[Span]:
        """The spans that are shown."""
        found = self.page.eval_on_selector_all(
            "#sentence mark",
            "all => all.map(m => { "
            "const t = [...m.querySelectorAll('.token')].map(t => +t.dataset.at); "
            "return [t[0], t.at(-1) + 1, m.querySelector('.type').textContent] })",
        )
        return [(start, end, label) for start, end, label in found]

    def cursor(self) -> int:
        return int(self.page.get_attribute("#sentence .token.cursor", "data-at"))

    def go(self, at: int) -> None:
        """Move the cursor to a word."""
        by = at - self.cursor()
        self.press(*["ArrowRight" if by > 0 else "ArrowLeft"] * abs(by))

    def select(self, start: int, end: int) -> None:
        """Select just these words."""
        self.go(start)
        if end - start > 1:
            self.press(*["Shift+ArrowRight"] * (end - start - 1))
        elif any(s <= start < e and e - s > 1 for s, e, _ in self.spans()):
            self.press("Space")

    def correct(self, wanted: list[Span], keys: dict[str, str]) -> None:
        """Correct what is shown, until it is what is wanted."""
        for _ in range(20):
            shown = self.spans()
            missing = [span for span in wanted if span not in shown]
            extra = [span for span in shown if span not in wanted]
            if missing:
                start, end, label = missing[0]
                self.select(start, end)
                self.press(keys[label])
            elif extra:
                self.go(extra[0][0])
                self.press("0")
            else:
                return
            self.idle()
        raise AssertionError(f"{wanted} cannot be made of {self.spans()}")

    def label(self, keys: dict[str, str]) -> None:
        """Correct a sentence of `sentences` and accept it."""
        self.correct(gold(self.tokens()), keys)
        before = self.page.inner_text("#counts")
        self.press("Enter")
        self.idle()
        assert self.page.inner_text("#counts") != before
