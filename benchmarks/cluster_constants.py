"""What a round of training in shards is made of, each part measured by itself and without a round.

python benchmarks/cluster_constants.py [--tokens N] [--write]

From these constants cluster_model.py predicts the rounds that `cluster.py --only rounds` then
measures; nothing here trains on a cluster.

    token     CPU seconds of a token, epoch by epoch: `SequenceTagger` in one process, and in two
              at the same time
    opening   what a task does for all weights, a feature: an epoch over one sentence
    joining   putting the pieces of a shard together, a token
    mixing    what the client does with differences, a byte, and with the weights, a feature
    sending   to a worker, from it, and from worker to worker, a byte; and an empty round
    traffic   bytes of weights and differences by the tokens of a text, on parts of it, as powers

Others may use the machine: where one process is at work its CPU seconds are taken, and where
several talk to each other, the quickest of many turns.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from cluster import EPOCHS_MEASURED, READING, grown, keep, measured

PRESET = "pos"
TOKENS = 250_000
PARTS = (4, 2, 1)  # the text, and so much less of it, for the growth of traffic
TURNS = 12
SIZES = (0, 4_000_000, 16_000_000)  # bytes that are sent
SHARDS = (1, 2, 4, 8)
EMPTY = (1, 2, 4, 8)  # tasks of an empty round


def sentences(files: list[str]) -> Any:
    from seqpa.data import read

    return read(files, **READING)


def epochs(files: list[str], many: int) -> list[float]:
    """CPU seconds of a token in each epoch, of a process that trains alone."""
    from seqpa import SequenceTagger

    corpus = sentences(files)
    begun, share = 0.0, 0.0  # the first epoch is seen from where its progress is first told

    def begin(done: int, of: int) -> None:
        nonlocal begun, share
        if not begun:
            begun, share = time.thread_time(), done / of

    found = []
    tagger = SequenceTagger(PRESET, epochs=many, random_state=1)
    for _ in tagger.training(corpus, progress=begin):
        found.append((time.thread_time() - begun) / (1 - share) / corpus.n_tokens)
        begun, share = time.thread_time(), 0.0
    return found


def _at_the_same_time(start: Any, files: list[str], many: int, queue: Any) -> None:
    start.wait()
    queue.put(epochs(files, many))


def epochs_of_two(files: list[str], many: int) -> list[float]:
    """The same, of two processes at the same time: their mean."""
    context = multiprocessing.get_context("spawn")
    start, queue = context.Barrier(2), context.Queue()
    both = [
        context.Process(target=_at_the_same_time, args=(start, files, many, queue))
        for _ in range(2)
    ]
    for process in both:
        process.start()
    found = [queue.get() for _ in both]
    for process in both:
        process.join()
    return [statistics.mean(pair) for pair in zip(*found, strict=True)]


def usual(turns: int, function: Callable[[], Any]) -> float:
    """CPU seconds of a call, the median of some."""
    found = []
    for _ in range(turns):
        begun = time.process_time()
        function()
        found.append(time.process_time() - begun)
    return statistics.median(found)


def trained(files: list[str], shards: int, many: int) -> Any:
    """Training in shards in this process, and what each round moved."""
    from seqpa.cluster import DaskSequenceTagger, Files
    from seqpa.cluster.executors import Inline

    tagger = DaskSequenceTagger(
        Inline(), shards=shards, features=PRESET, epochs=many, random_state=1, deal="once"
    )
    for _ in tagger.training(Files(files, READING)):
        pass
    return tagger


def in_one_process(files: list[str]) -> dict[str, float]:
    """Opening, joining and mixing: seconds, of a text with so many features."""
    from seqpa.cluster import tasks
    from seqpa.sequence.sparse_weights import WeightSpace
    from seqpa.sequence.training import TrainingData, label_indices

    tagger = trained(files, 2, 2)
    own = tagger.trained_
    corpus = sentences(files)
    encoded = own.source.transform(corpus)
    data = TrainingData(encoded, label_indices(corpus.labels, own.labels))
    pieces = [tasks.piece(data, i, 4) for i in range(4)]
    space = WeightSpace.of(own.weights)
    setup = tasks.Setup(tagger.get_params() | {"resources": None}, own.labels, space, 1)
    mixture = tagger.training_state_.mixture
    packed = mixture.packed()
    one = tasks.piece(data, 0, len(corpus))
    nothing = tasks.epoch(setup, packed, [one], 1, 0)
    opening = usual(5, lambda: tasks.epoch(setup, packed, [one], 1, 0))
    joining = usual(5, lambda: tasks.together(pieces))
    halves = [tasks.epoch(setup, packed, pieces[i : i + 2], 1, i) for i in (0, 2)]

    def client(results: list[Any]) -> None:
        """All that the client does between two rounds."""
        mixed = mixture.mixed(results, "uniform")
        space.weights(*mixed.mean()).freeze(False)
        mixed.packed()

    without = usual(5, lambda: client([nothing, nothing]))
    mixing = usual(5, lambda: client(halves))
    moved = sum(half.moved.nbytes for half in halves)
    return {
        "features": len(own.weights.rows),
        "opening": opening,
        "joining": joining / corpus.n_tokens,
        "mixing_weights": without,
        "mixing_moved": max(0.0, mixing - without) / moved,
    }


def as_on_a_worker(files: list[str]) -> dict[str, float]:
    """The same in a process whose memory is as Dask has it in workers: given back at once.

    Every task then asks the system for its memory anew, which takes more than half of its time.
    """
    os.environ["MALLOC_TRIM_THRESHOLD_"] = "65536"
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(in_one_process, files).result()
    finally:
        del os.environ["MALLOC_TRIM_THRESHOLD_"]


def slope(points: dict[float, float]) -> tuple[float, float]:
    """Where a line through points begins, and how it rises: least squares."""
    rise, start = np.polyfit(list(points), list(points.values()), 1)
    return max(0.0, float(start)), max(0.0, float(rise))


def nbytes(value: Any) -> int:
    return int(value.nbytes)


def made(n: int) -> Any:
    """A difference of about so many bytes."""
    from seqpa.cluster.mixing import Packed

    return Packed.of(np.arange(n // 5), np.ones(n // 5))


def empty(weights: Any, own: int) -> int:
    """A task that does nothing."""
    return own


def sending() -> dict[str, float]:
    """Seconds of a byte, and of an empty round."""
    from seqpa.cluster import tasks
    from seqpa.cluster.executors import OnDask, connected

    ways: dict[str, dict[float, float]] = {name: {} for name in ("up", "down", "peer", "empty")}

    def quickest(way: str, at: float, seconds: float) -> None:
        ways[way][at] = min(seconds, ways[way].get(at, seconds))

    warnings.filterwarnings("ignore", "Sending large graph")
    with connected("local:2") as client:
        executor = OnDask(client)
        first, second = sorted(client.scheduler_info()["workers"])
        for _ in range(TURNS):
            for size in SIZES:
                packed = made(size)
                begun = time.perf_counter()
                there = client.submit(tasks.same, packed, workers=[first], pure=False)
                executor.results([client.submit(nbytes, there, workers=[first], pure=False)])
                quickest("up", packed.nbytes, time.perf_counter() - begun)
                begun = time.perf_counter()
                executor.results([client.submit(nbytes, there, workers=[second], pure=False)])
                quickest("peer", packed.nbytes, time.perf_counter() - begun)
                begun = time.perf_counter()
                executor.results([there])
                quickest("down", packed.nbytes, time.perf_counter() - begun)
                del there
            for shards in EMPTY:
                begun = time.perf_counter()
                weights = executor.submit(tasks.same, made(0))
                executor.results([executor.submit(empty, weights, i) for i in range(shards)])
                quickest("empty", shards, time.perf_counter() - begun)
    found = {way: slope(ways[way])[1] for way in ("up", "down", "peer")}
    found["fixed"], found["each"] = slope(ways["empty"])
    return found


def traffic(tokens: int) -> list[dict[str, Any]]:
    """Bytes of weights and of a shard's difference in each round, on parts of the text; with what
    opening, joining and mixing take there."""
    found = []
    for part in PARTS:
        with grown(tokens // part) as (files, n_tokens):
            rounds = trained(files, 2, EPOCHS_MEASURED).rounds_
            own = in_one_process(files)
            there = as_on_a_worker(files)
            own |= {name: there[name] for name in ("opening", "joining")}
        found.append(
            own
            | {
                "tokens": n_tokens,
                "weights": [cost.sent for cost in rounds],
                "moved": [cost.received / 2 for cost in rounds],
            }
        )
    return found


def by_shards(files: list[str]) -> dict[str, list[int]]:
    """Bytes of the weights in each round, by shards: what any of them learned is in their mean."""
    return {
        str(shards): [cost.sent for cost in trained(files, shards, EPOCHS_MEASURED).rounds_]
        for shards in SHARDS
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=TOKENS, help=f"of the text; {TOKENS:,}")
    parser.add_argument("--only", choices=("shards",), help="the weights by shards alone")
    parser.add_argument("--write", action="store_true", help="write cluster.json")
    options = parser.parse_args()
    found: dict[str, Any]
    if options.only:
        with grown(options.tokens) as (files, _):
            found = measured(options.write)["constants"] | {"weights_by_shards": by_shards(files)}
        print(found["weights_by_shards"])
        return keep({"constants": found}, options.write)
    with grown(options.tokens) as (files, n_tokens):
        found = {"tokens": n_tokens}
        found["weights_by_shards"] = by_shards(files)
        found["token_alone"] = epochs(files, EPOCHS_MEASURED)
        found["token_of_two"] = epochs_of_two(files, EPOCHS_MEASURED)
    found |= sending()
    found["traffic"] = traffic(options.tokens)
    for name, value in found.items():
        print(f"{name}: {value}")
    keep({"constants": found}, options.write)


if __name__ == "__main__":
    main()
