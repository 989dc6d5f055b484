"""An exception or an interrupt at any line of learning leaves a whole tagger behind.

A tracing hook raises at the n-th line that is run inside the package, for every n; afterwards the
tagger tags as before or as after the lesson, and learns on.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

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


def raising(at: int) -> tuple[Callable[..., Any], list[int]]:
    """A trace function that raises at the n-th line of the package, and the count of lines."""
    seen = [0]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        if event == "line":
            seen[0] += 1
            if seen[0] == at:
                raise Interrupted
        return trace

    return trace, seen


def interrupted(action: Callable[[], Any], at: int) -> int | None:
    """Run it with an interrupt at one line; None if it came, else the number of lines."""
    trace, seen = raising(at)
    usual = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except Interrupted:
        return None
    finally:
        sys.settrace(usual)
    return seen[0]


def scores(tagger: SequenceTagger) -> list[Any]:
    return [found[0] for found in tagger.predict_nbest(ASKED, 1)]


def given_features(sentences: list[list[str]]) -> list[list[dict[str, Any]]]:
    return [[{"word": w, "size": len(w)} for w in s] for s in sentences]


SETTINGS: dict[str, dict[str, Any]] = {
    "words": {"features": TEMPLATES},
    "pairs": {"features": [*TEMPLATES, "pair:suffix(1)[0]"], "average": False},
    "cutoff": {"features": TEMPLATES, "cutoff": 2},
    "columns": {"features": ["word[0]", "suffix(2)[0]", "size[0]"], "columns": ("word", "size")},
    "own cost": {"features": TEMPLATES, "cost": lambda gold, found: 2.0},
    "batches": {"features": TEMPLATES, "batch_size": 2},
    "n-best": {"features": TEMPLATES, "update": "n-best"},
}


def tokens(setting: str, sentences: list[list[str]]) -> list[Any]:
    if setting == "columns":
        return [[(w, str(len(w))) for w in s] for s in sentences]
    return sentences


@pytest.mark.parametrize("after", ["fit", "predict", "learn_one", "load"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_an_interrupted_lesson_leaves_a_whole_tagger(
    setting: str, after: str, tmp_path: Path
) -> None:
    asked = tokens(setting, ASKED)
    ((new,), labels) = tokens(setting, [NEW[0]]), NEW[1]

    def trained() -> SequenceTagger:
        tagger = SequenceTagger(**SETTINGS[setting], epochs=2, random_state=0)
        tagger.fit(tokens(setting, X), Y)
        if after == "predict":
            tagger.predict(asked)
        elif after == "learn_one":
            tagger.learn_one(tokens(setting, [X[1]])[0], Y[1])
        elif after == "load":
            tagger.save(tmp_path / "m")
            cost = tagger.cost
            tagger = SequenceTagger.load(tmp_path / "m").set_params(cost=cost)
        return tagger

    def told(tagger: SequenceTagger) -> list[Any]:
        return [found[0][1] for found in tagger.predict_nbest(asked, 1)]

    tagger = trained()
    before = told(tagger)
    tagger.learn_one(new, labels)
    learned = told(tagger)
    # Every line in the plain case; in the others a part of them, not the same in each.
    step = 1 if (setting, after) == ("words", "learn_one") else 11
    at = 1 + list(SETTINGS).index(setting) % step
    while True:
        tagger = trained()
        lines = interrupted(lambda tagger=tagger: tagger.learn_one(new, labels), at)
        if lines is not None:
            break
        if setting != "batches":  # whose step is made by several lines
            assert told(tagger) in (before, learned), f"after line {at}"
        tagger.predict(asked)
        tagger.learn_one(new, labels)
        tagger.learn_one(tokens(setting, [X[0]])[0], Y[0])
        told(tagger)
        at += step
    tagger.save(tmp_path / "again")
    assert len(SequenceTagger.load(tmp_path / "again").predict(asked)) == len(asked)
    tagger.save_state(tmp_path / "state")
    assert at > 100


@pytest.mark.parametrize("warm", [False, True])
def test_an_interrupted_fit_leaves_a_whole_tagger(warm: bool) -> None:
    def trained() -> SequenceTagger:
        return SequenceTagger(TEMPLATES, epochs=2, random_state=0, warm_start=warm).fit(X, Y)

    at = 1
    while True:
        tagger = trained()
        tagger.predict(ASKED)
        lines = interrupted(lambda tagger=tagger: tagger.fit([*X, NEW[0]], [*Y, NEW[1]]), at)
        if lines is not None:
            break
        assert len(tagger.predict(ASKED)) == len(ASKED)
        tagger.fit([*X, NEW[0]], [*Y, NEW[1]])
        tagger.partial_fit(X, Y)
        assert len(tagger.predict(ASKED)) == len(ASKED)
        at += 13
    assert at > 100


_LOOP = """
import itertools, signal, sys
from seqpa import SequenceTagger
words = [f"w{k}" for k in range(3000)]
tagger = SequenceTagger(["word[0]", "suffix(2)[0]", "word[-1]|word[0]"], random_state=0)
for k in itertools.count():
    try:
        if k == 1:  # there is something to tag with
            print("begun", flush=True)
        sentence = [words[(k * 7 + i * i) % 3000] for i in range(12)]
        labels = [f"L{(k + i) % 9}" for i in range(12)]
        tagger.partial_fit([sentence] * 3, [labels] * 3)
    except KeyboardInterrupt:
        tagger.predict([words[i : i + 10] for i in range(0, 3000, 10)])
        print("alive", flush=True)
        if k and input() == "end":
            break
"""


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_signals_at_random_moments() -> None:
    rng = random.Random(0)
    with subprocess.Popen(
        [sys.executable, "-c", _LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        for turn in range(25):
            time.sleep(rng.uniform(0.002, 0.03))
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "alive\n", f"died at signal {turn}"
            child.stdin.write("end\n" if turn == 24 else "on\n")
            child.stdin.flush()
        assert child.wait(20) == 0
