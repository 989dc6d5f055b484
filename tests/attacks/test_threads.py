"""One learner, many readers, forks in between: a reader sees the weights before or after."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import pytest
from patience import LONG

from seqpa import SequenceTagger

TEMPLATES = ["word[0]", "word[-1]|word[0]", "suffix(2)[0]", "prefix(2)[0]"]


def sentence(k: int) -> tuple[list[str], list[str]]:
    words = [f"w{(k * 31 + i * i) % 997}" for i in range(8)]
    return words, [f"L{len(w) * k % 5}" for w in words]


@pytest.mark.parametrize("average", [False, True])
def test_readers_beside_a_learner(average: bool) -> None:
    tagger = SequenceTagger(TEMPLATES, average=average, random_state=0)
    X, y = zip(*map(sentence, range(20)), strict=True)
    tagger.fit(list(X), list(y))
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        asked = [sentence(k)[0] for k in range(40, 60)]
        try:
            while not stop.is_set():
                labels = tagger.predict(asked)
                assert [*map(len, labels)] == [8] * len(asked)
                tagger.predict_nbest(asked[:2], 2)
                tagger.confidence(asked[:2])
                tagger.explain(asked[0])
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for k in range(20, 220):
            tagger.learn_one(*sentence(k))
            if k % 50 == 0:
                tagger.fit(list(X), list(y))
            if k % 70 == 0:
                _ = tagger.trained_
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures, failures[0]


def test_a_reader_never_sees_half_an_update() -> None:
    # Both labels of a sentence always change together: a reader sees two old or two new ones.
    tagger = SequenceTagger(["word[0]"], algorithm="pa", average=False)
    tagger.learn_one(["a", "b"], ["X", "X"])
    tagger.learn_one(["a", "b"], ["Y", "Y"])
    stop = threading.Event()
    seen: set[tuple[Any, ...]] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add(tuple(tagger.predict_one(["a", "b"])))

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(600):
        tagger.learn_one(["a", "b"], ["XY"[k % 2]] * 2)
    stop.set()
    reader.join()
    assert seen <= {("X", "X"), ("Y", "Y")}


_FORKS = """
import os, sys, threading
from seqpa import SequenceTagger
X = [[f"w{(k * 7 + i) % 500}" for i in range(9)] for k in range(400)]
y = [[f"L{len(w) % 3}" for w in s] for s in X]
for turn in range(8):
    tagger = SequenceTagger(["word[0]", "suffix(1)[0]"], epochs=1).fit(X, y)
    first = threading.Thread(target=tagger.predict, args=(X,))
    first.start()  # the first prediction freezes the weights, under a lock
    child = os.fork()
    if child == 0:
        tagger.predict(X[:3])
        tagger.learn_one(X[0], y[0])
        os._exit(0)
    first.join()
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("the child died")
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_during_the_first_prediction_does_not_hang() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FORKS],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
