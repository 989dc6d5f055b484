"""`Queue`: no sentence twice, the share that comes by chance, the same order from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from seqpa.errors import SeqpaError
from seqpa.sequence.select import STRATEGIES
from seqpa.teach.model import TaughtModel
from seqpa.teach.queue import Queue, familiarity

NAMES = ["Ada", "Bob", "Cy", "Dora"]
VERBS = ["left", "saw", "paid", "met"]
SENTENCES = [[NAMES[i % 4], VERBS[i // 4 % 4], f"word{i}", "."] for i in range(120)]


def taught(lessons: int = 8) -> TaughtModel:
    model = TaughtModel("spans", ["PER"], seed=2)
    for tokens in SENTENCES[:lessons]:
        model.learn(tokens, {"spans": [[0, 1, "PER"]]})
    return model


def order(queue: Queue, model: TaughtModel, n: int = 120) -> list[tuple[int, str]]:
    found = []
    for _ in range(n):
        choice = queue.next(model)
        if choice is None:
            break
        queue.done(choice.index)
        found.append((choice.index, choice.why))
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_sentence_comes_once(strategy: str) -> None:
    sentences = [*SENTENCES[:40], [], ["x"]]
    found = order(Queue(sentences, seed=1, strategy=strategy), taught())
    assert sorted(index for index, _ in found) == [*range(40), 41]
    assert {why for _, why in found} <= {"random", strategy}


def test_the_same_seed_gives_the_same_order() -> None:
    one, two = (order(Queue(SENTENCES, seed=5), taught(), 30) for _ in range(2))
    assert one == two
    assert one != order(Queue(SENTENCES, seed=6), taught(), 30)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_that_comes_by_chance(share: float) -> None:
    whys = []
    for seed in range(4):
        found = order(Queue(SENTENCES, seed=seed, random_share=share), taught(), 60)
        whys += [why == "random" for _, why in found]
    assert np.mean(whys) == pytest.approx(share, abs=0.09)


def test_chance_alone_before_the_first_lessons() -> None:
    found = order(Queue(SENTENCES, random_share=0.0), taught(2), 10)
    assert {why for _, why in found} == {"random"}


def test_those_that_others_are_at_are_left() -> None:
    queue = Queue(SENTENCES[:10], seed=1)
    model = taught()
    assert queue.next(model, set(range(9))).index == 9  # type: ignore[union-attr]
    assert queue.next(model, set(range(10))) is None
    assert len(queue) == 10  # nothing was taken


def test_what_is_put_back_comes_again() -> None:
    queue = Queue(SENTENCES[:6], seed=1)
    model = taught()
    order(queue, model)
    assert (len(queue), queue.next(model)) == (0, None)
    queue.put_back(4)
    assert queue.next(model).index == 4  # type: ignore[union-attr]
    empty = Queue([[]])
    empty.put_back(0)
    assert empty.next(model) is None


@pytest.mark.parametrize("strategy", ["margin", "entropy", "least-confident"])
def test_the_best_is_chosen_by_what_the_model_knows_now(strategy: str) -> None:
    """Against all sentences, looked at one by one."""
    model = taught()
    queue = Queue(SENTENCES[:60], seed=1, strategy=strategy, random_share=0.0)
    while queue.refresh(model, 10.0) < 60:
        pass
    worths = model.tagger.worths([model.sentence(tokens) for tokens in SENTENCES[:60]], strategy)
    choice = queue.next(model)
    assert choice is not None
    assert worths[choice.index] == worths.max()
    # A lesson later, another one: what was looked at before is looked at again.
    for _ in range(5):
        model.learn(SENTENCES[choice.index], {"spans": [[0, 1, "PER"], [2, 3, "PER"]]})
    queue.refresh(model, 10.0)
    worths = model.tagger.worths([model.sentence(tokens) for tokens in SENTENCES[:60]], strategy)
    again = queue.next(model)
    assert again is not None
    assert worths[again.index] == worths.max()


def test_refreshing_goes_around_in_pieces() -> None:
    model = taught()
    queue = Queue(SENTENCES, seed=1)
    pieces = [queue.refresh(model, 0.0) for _ in range(4)]
    assert pieces == [64, 56, 64, 56]
    for i in range(120):
        queue.done(i)
    assert queue.refresh(model, 1.0) == 0
    assert Queue(SENTENCES, strategy="random").refresh(model) == 0
    assert Queue(SENTENCES).refresh(taught(1)) == 0


def test_what_cannot_be_asked() -> None:
    with pytest.raises(SeqpaError, match="strategy"):
        Queue(SENTENCES, strategy="best")
    with pytest.raises(SeqpaError, match="from 0 to 1"):
        Queue(SENTENCES, random_share=2.0)


def test_oddities_are_less_familiar() -> None:
    found = familiarity([["so", "it", "is"], ["so", "it"], ["zq", "xk"], ["so"]])
    assert found[1] > found[2]
    assert ((found > 0) & (found <= 1)).all()
