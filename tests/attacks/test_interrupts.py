"""An exception or an interrupt at any line of learning leaves a whole tagger behind.

A tracing hook raises at the n-th line that is run inside the package, for every n; afterwards the
tagger tags as before or as after the lesson, and learns on. Where not every n is tried, those are
at which a line of the source is run for the first or for the last time: what a loop does in
between is more of the same.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from patience import LONG

import seqpa
from seqpa import SequenceTagger

HOME = str(Path(seqpa.__file__).parent)
X = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "Ada", "'s", "rain"]]
Y = [["D", "N", "V", "N"], ["D", "N", "V", "B-P", "X", "N"]]
NEW = ["Zoë", "and", "the", "unknown", "dogs", "ran"], ["B-P", "C", "D", "J", "N", "V"]
ASKED = [*X, NEW[0], ["never", "seen"]]
TEMPLATES = ["word[0]", "word[-1]|word[0]", "suffix(2)[0]", "prefix(3)[0]", "shape[0]"]


class Interrupted(BaseException):
    """As KeyboardInterrupt, but nobody else's."""


def traced(action: Callable[[], Any], at: int | None = None) -> list[tuple[str, int]]:
    """The lines of the package that it runs, one after the other; the n-th raises instead."""
    seen: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line":
            seen.append((frame.f_code.co_filename, frame.f_lineno))
            if len(seen) == at:
                raise Interrupted
        return trace

    usual = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(usual)
    return seen


def firsts_and_lasts(lines: list[tuple[str, int]]) -> list[int]:
    """The n at which a line is run for the first or the last time, counted from one."""
    last = {line: n for n, line in enumerate(lines, 1)}
    first = {line: n for n, line in reversed(list(enumerate(lines, 1)))}
    return sorted({*first.values(), *last.values()})


SETTINGS: dict[str, dict[str, Any]] = {
    "words": {"features": TEMPLATES},
    "pairs": {"features": [*TEMPLATES, "pair:suffix(1)[0]"], "average": False},
    "cutoff": {"features": TEMPLATES, "cutoff": 2},
    "columns": {"features": ["word[0]", "suffix(2)[0]", "size[0]"], "columns": ("word", "size")},
    "own cost": {"features": TEMPLATES, "cost": lambda gold, found: 2.0},
    "batches": {"features": TEMPLATES, "batch_size": 2},
    "n-best": {"features": TEMPLATES, "update": "n-best"},
    "augmented": {"features": TEMPLATES, "update": "loss-augmented"},
    "max-loss": {"features": TEMPLATES, "update": "max-loss"},
}


AFTER = ["fit", "predict", "learn_one", "load"]


def tokens(setting: str, sentences: list[list[str]]) -> list[Any]:
    if setting == "columns":
        return [[(w, str(len(w))) for w in s] for s in sentences]
    return sentences


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("setting", SETTINGS)
def test_an_interrupted_lesson_leaves_a_whole_tagger(
    setting: str, after: str, tmp_path: Path
) -> None:
    asked = tokens(setting, ASKED)
    ((new,), labels) = tokens(setting, [NEW[0]]), NEW[1]

    def fitted() -> SequenceTagger:
        tagger = SequenceTagger(**SETTINGS[setting], epochs=2, random_state=0)
        return tagger.fit(tokens(setting, X), Y)

    def trained() -> SequenceTagger:
        if after == "load":
            return SequenceTagger.load(tmp_path / "m").set_params(cost=first.cost)
        tagger = fitted()
        if after == "predict":
            tagger.predict(asked)
        elif after == "learn_one":
            tagger.learn_one(tokens(setting, [X[1]])[0], Y[1])
        return tagger

    def told(tagger: SequenceTagger) -> list[Any]:
        return [found[0][1] for found in tagger.predict_nbest(asked, 1)]

    first = fitted()
    first.save(tmp_path / "m")
    tagger = trained()
    before = told(tagger)
    tagger.learn_one(new, labels)
    learned = told(tagger)
    tagger = trained()
    lines = traced(lambda: tagger.learn_one(new, labels))
    assert len(lines) > 100
    if (setting, after) == ("words", "learn_one"):  # the plain case: every line, every time
        moments = list(range(1, len(lines) + 1))
    else:  # each takes its turn in the lines, which are much the same for all: twice as many turns
        mine = list(SETTINGS).index(setting) * len(AFTER) + AFTER.index(after)
        moments = firsts_and_lasts(lines)[mine % 18 :: 18]
    for at in moments:
        tagger = trained()
        with pytest.raises(Interrupted):
            traced(lambda tagger=tagger: tagger.learn_one(new, labels), at)
        if setting != "batches":  # whose step is made by several lines
            assert told(tagger) in (before, learned), f"after line {at}"
        tagger.predict(asked)
        tagger.learn_one(new, labels)
        tagger.learn_one(tokens(setting, [X[0]])[0], Y[0])
        told(tagger)
    tagger.save(tmp_path / "again")
    assert len(SequenceTagger.load(tmp_path / "again").predict(asked)) == len(asked)
    tagger.save_state(tmp_path / "state")


@pytest.mark.parametrize("warm", [False, True])
def test_an_interrupted_fit_leaves_a_whole_tagger(warm: bool) -> None:
    def trained() -> SequenceTagger:
        return SequenceTagger(TEMPLATES, epochs=2, random_state=0, warm_start=warm).fit(X, Y)

    tagger = trained()
    tagger.predict(ASKED)
    lines = traced(lambda: tagger.fit([*X, NEW[0]], [*Y, NEW[1]]))
    assert len(lines) > 100
    for at in firsts_and_lasts(lines)[::13]:
        tagger = trained()
        tagger.predict(ASKED)
        with pytest.raises(Interrupted):
            traced(lambda tagger=tagger: tagger.fit([*X, NEW[0]], [*Y, NEW[1]]), at)
        assert len(tagger.predict(ASKED)) == len(ASKED)
        tagger.fit([*X, NEW[0]], [*Y, NEW[1]])
        tagger.partial_fit(X, Y)
        assert len(tagger.predict(ASKED)) == len(ASKED)


_LOOP = """
import signal
from seqpa import SequenceTagger
words = [f"w{k}" for k in range(3000)]
tagger = SequenceTagger(["word[0]", "suffix(2)[0]", "word[-1]|word[0]"], random_state=0)
tagger.partial_fit([words[:5]], [list("ABCDE")])
k, turn = 0, "on"
while turn == "on":
    try:
        print("learning", flush=True)
        while True:
            k += 1
            sentence = [words[(k * 7 + i * i) % 3000] for i in range(12)]
            labels = [f"L{(k + i) % 9}" for i in range(12)]
            tagger.partial_fit([sentence] * 3, [labels] * 3)
    except KeyboardInterrupt:
        tagger.predict([words[i : i + 10] for i in range(0, 3000, 10)])
        print("alive", flush=True)
        turn = input()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_signals_at_random_moments() -> None:
    rng = random.Random(0)
    with subprocess.Popen(
        [sys.executable, "-c", _LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for turn in range(25):
            assert child.stdout.readline() == "learning\n"
            time.sleep(rng.uniform(0.002, 0.03))
            child.send_signal(signal.SIGINT)
            answered, _, _ = select.select([child.stdout], [], [], LONG)
            if not answered:
                child.kill()  # or we would wait for ever
            assert child.stdout.readline() == "alive\n", f"died, or did not hear, at signal {turn}"
            child.stdin.write("end\n" if turn == 24 else "on\n")
            child.stdin.flush()
        assert child.wait(LONG) == 0
