"""docs/reliability.md promises nothing without a test: all that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_promise_names_tests_that_exist() -> None:
    promises = [row for row in PAGE.split("\n") if re.match(r"\| [A-Z0-9]", row)]
    assert len(promises) > 20
    for promise in promises:
        shown_by = promise.split("|")[2]
        files = re.findall(r"`([\w/]+\.py|attacks/selection)`", shown_by)
        assert files, promise
        text = "".join((TESTS / name).read_text(encoding="utf-8") for name in files)
        for function in re.findall(r"`(test_\w+)`", shown_by):
            assert f"def {function}(" in text, function
