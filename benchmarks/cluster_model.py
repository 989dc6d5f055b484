"""How long a round takes and what it moves: predicted, compared with what was measured, and for
clusters that are not here.

python benchmarks/cluster_model.py [--measured cluster.json] [--bandwidth MB/s] [--write]

A simulator of one round of `DaskSequenceTagger`, event by event: the client hands the weights to
the scheduler, workers fetch them from whoever has them already, every shard opens them, trains and
says by what it moved them, differences go back to the client one after another, and the client
mixes. Its constants are those of cluster_constants.py, each measured by itself and without any
round, on a text smaller than those of the rounds. First the rounds that `cluster.py --only rounds`
measured on local workers are predicted, and both are shown; then a billion tokens on 8, 64 and 512
workers.

What a shard of n tokens moves grows as a power of n (new words and new mistakes become rarer), and
so do the weights of a text: for the comparison both powers are fitted to parts of the grown text,
for a billion tokens to CoNLL-2000 at several sizes.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import statistics
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cluster import FILES
from results import machine, table, write

MEASURED = Path(__file__).with_name("cluster.json")
BILLION = 1_000_000_000


@dataclass(frozen=True)
class Growth:
    """Bytes, or features, of a text of so many tokens; the power of its size by which they grow."""

    nbytes: float
    tokens: float
    power: float

    def at(self, tokens: float) -> float:
        return self.nbytes * (tokens / self.tokens) ** self.power


@dataclass(frozen=True)
class Constants:
    """What was measured, or is assumed. Seconds of a byte are without the network's own."""

    token: float  # seconds that a core takes for a token in an epoch
    weights: Growth  # bytes of all weights of a text
    moved: Growth  # bytes of the difference of a shard
    features: Growth  # how many there are
    opening: float  # seconds of a task for a feature,
    opening_fixed: float  # and for itself
    joining: float  # seconds of a task for a token of a shard that has several pieces
    mixing_weights: float  # seconds of the client for a feature
    mixing_moved: float  # seconds of the client for a byte of a difference
    up: float  # seconds of a byte from the client to a worker,
    down: float  # from a worker to the client,
    peer: float  # and from worker to worker
    fixed: float  # seconds of an empty round,
    each: float  # and of each task in it
    spread: float = 0.0  # weights grow with this power of the shards: few of them are zero in all
    spread_from: int = 1  # the shards that `weights` were measured with
    bandwidth: float = math.inf  # bytes in a second, of every machine's connection
    compressed: float = 1.0  # by how much differences are made smaller before they are sent


@dataclass(frozen=True)
class Round:
    seconds: float
    training: float  # of the slowest worker, without opening
    mixing: float  # of the client
    bytes_client: float
    efficiency: float


def simulate(
    c: Constants, tokens: float, shards: int, workers: int, cores: int = 1, pieces: int = 1
) -> Round:
    """One round: when everything ends, in seconds.

    cores : how many a worker has; a shard's epoch takes 1/0.8 of the even share of their time
    pieces : of each shard; several have to be joined
    """
    weights = c.weights.at(tokens) * (shards / c.spread_from) ** c.spread
    size = c.moved.at(tokens / shards)
    # Client to scheduler to a first worker, then from everyone who has them to one who has not.
    have = [c.fixed + c.each * shards + weights * (c.up + 2 / c.bandwidth)]
    ready = [have[0]]
    while len(ready) < min(workers, shards):
        earliest = heapq.heappop(have)
        end = earliest + weights * (c.peer + 1 / c.bandwidth)
        heapq.heappush(have, end)
        heapq.heappush(have, end)
        ready.append(end)
    speedup = 1.0 if cores == 1 else 0.8 * cores
    training = c.token * tokens / shards / speedup
    joining = c.joining * tokens / shards if pieces > 1 else 0.0
    features = c.features.at(tokens)
    one = training + joining + c.opening_fixed + c.opening * features
    free = [(at, w) for w, at in enumerate(ready)]
    heapq.heapify(free)
    done = []
    for _ in range(shards):
        at, worker = heapq.heappop(free)
        heapq.heappush(free, (at + one, worker))
        done.append(at + one)
    # Results pass the scheduler, one after another on its connection; the client mixes at the end.
    at = 0.0
    for end in sorted(done):
        at = max(at, end) + size * c.down + 2 * size / c.compressed / c.bandwidth
    mixing = c.mixing_weights * features + c.mixing_moved * size * shards
    at += mixing
    rounds = -(-shards // len(ready))
    return Round(
        at,
        training * rounds,
        mixing,
        weights + shards * size / c.compressed,
        min(1.0, one * shards / len(ready) / at),
    )


def power(points: list[dict[str, Any]], name: str, number: int | None = None) -> Growth:
    """The line through the logarithms of the first and the last point.

    number : of the round, where points have a value for each
    """

    def value(point: dict[str, Any]) -> float:
        found = point[name]
        return float(found if number is None else found[number])

    a, b = points[0], points[-1]
    if not value(a):
        return Growth(0.0, 1.0, 1.0)  # nothing is sent in the first round
    rise = math.log(value(b) / value(a)) / math.log(b["tokens"] / a["tokens"])
    return Growth(value(b), b["tokens"], rise)


def of_a_feature(parts: list[dict[str, Any]], name: str) -> float:
    """Seconds of a feature: how they rise from the smallest part of the text to the whole."""
    a, b = parts[0], parts[-1]
    return max(0.0, float((b[name] - a[name]) / (b["features"] - a["features"])))


def spread(found: dict[str, Any], number: int) -> float:
    """The power of the shards with which the weights of a text grow, in round `number`."""
    by_shards = found["weights_by_shards"]
    few, many = min(by_shards, key=int), max(by_shards, key=int)
    if not by_shards[few][number]:
        return 0.0
    grown = by_shards[many][number] / by_shards[few][number]
    return math.log(grown) / math.log(int(many) / int(few))


def constants(found: dict[str, Any], workers: int, number: int) -> Constants:
    """For round `number`, counted from 0, on workers of this machine."""
    tokens = found["token_alone"] if workers == 1 else found["token_of_two"]
    parts = sorted(found["traffic"], key=lambda point: point["tokens"])
    half = [point | {"tokens": point["tokens"] / 2} for point in parts]  # each of two shards
    last = parts[-1]
    return Constants(
        features=power(parts, "features"),
        opening=of_a_feature(parts, "opening"),
        opening_fixed=last["opening"] - of_a_feature(parts, "opening") * last["features"],
        mixing_weights=of_a_feature(parts, "mixing_weights"),
        joining=last["joining"],
        mixing_moved=last["mixing_moved"],
        token=tokens[number],
        weights=power(parts, "weights", number),
        moved=power(half, "moved", number),
        spread=spread(found, number),
        spread_from=2,
        **{name: found[name] for name in ("up", "down", "peer", "fixed", "each")},
    )


def on_the_way(round: dict[str, Any]) -> float:
    """Seconds of a core that a round needed one after another: its busiest worker's, the client's.

    Where others have the cores most of the time, these say what the clock cannot.
    """
    return float(max(own["busiest"] for own in round["workers"]) + round["client"]["all"])


def compared(measured: dict[str, Any]) -> tuple[str, list[float], list[float]]:
    """Measured rounds beside predicted ones; the ratios, and how much longer the clock ran.

    Of a way's rounds the median counts, without the first, which has no weights to send.
    """
    rows, ratios, clocks = [], [], []
    for run in measured["rounds"]:
        numbers = range(1, len(run["rounds"]))
        pieces = -(-FILES // run["shards"])
        seen = [run["rounds"][i] for i in numbers]
        told = [constants(measured["constants"], run["workers"], i) for i in numbers]
        predicted = [
            simulate(c, run["tokens"], run["shards"], run["workers"], pieces=pieces) for c in told
        ]
        seconds = statistics.median(on_the_way(one) for one in seen)
        expected = statistics.median(one.seconds for one in predicted)
        moved = statistics.median(one["received"] for one in seen)
        expected_moved = statistics.median(
            run["shards"] * c.moved.at(run["tokens"] / run["shards"]) for c in told
        )
        worked = statistics.median(max(own["busiest"] for own in one["workers"]) for one in seen)
        expected_worked = statistics.median(
            one.efficiency * one.seconds * run["workers"] / min(run["workers"], run["shards"])
            for one in predicted
        )
        ratios.append(expected / seconds)
        clocks.append(statistics.median(one["seconds"] for one in seen) / seconds)
        rows.append(
            [
                f"{run['tokens']:,}",
                str(run["workers"]),
                str(run["shards"]),
                f"{worked:.3f}",
                f"{expected_worked:.3f}",
                f"{seconds - worked:.3f}",
                f"{expected - expected_worked:.3f}",
                f"{expected / seconds:.2f}",
                f"{moved / 1e6:.2f}",
                f"{expected_moved / 1e6:.2f}",
            ]
        )
    head = ["tokens", "workers", "shards", "a worker's s", "predicted", "the rest, s", "predicted"]
    head += ["predicted / measured", "MB of differences", "predicted"]
    return table(head, rows, left=0), ratios, clocks


def billion(c: Constants) -> str:
    rows = []
    for workers in (8, 64, 512):
        ways = [
            (f"{workers} shards of a core", workers, 1, c),
            (f"{max(8, workers // 16)} shards of 16 cores", max(8, workers // 16), 16, c),
            (f"{workers} shards, differences / 4", workers, 1, replace(c, compressed=4.0)),
        ]
        for name, shards, cores, own in ways:
            found = simulate(own, BILLION, shards, shards, cores)
            rows.append(
                [
                    str(workers),
                    name,
                    f"{found.seconds / 60:.1f}",
                    f"{found.training / 60:.1f}",
                    f"{found.mixing / 60:.1f}",
                    f"{found.bytes_client / 1e9:.1f}",
                    f"{found.efficiency:.2f}",
                ]
            )
    head = ["workers", "how", "minutes a round", "training", "mixing", "GB at the client"]
    return table([*head, "efficiency"], rows, left=2)


def told_constants(found: dict[str, Any]) -> str:
    """The constants, in words."""
    late = len(found["token_alone"]) - 1
    parts = sorted(found["traffic"], key=lambda point: point["tokens"])
    weights, moved = power(parts, "weights", late), power(parts, "moved", late)
    own = constants(found, 1, late)
    ns = {name: 1e9 * value for name, value in vars(own).items() if isinstance(value, float)}
    return (
        f"Constants, measured on {found['tokens']:,} tokens and parts of it, none of them in a "
        f"round: a token {1e6 * found['token_alone'][1]:.2f} µs in the second epoch and "
        f"{1e6 * found['token_alone'][late]:.2f} µs in the last, "
        f"{1e6 * found['token_of_two'][1]:.2f} and {1e6 * found['token_of_two'][late]:.2f} where "
        f"two processes train at the same time; a task takes {1e3 * own.opening_fixed:.0f} ms, "
        f"{ns['opening']:.0f} ns for each feature and {ns['joining']:.0f} ns for each "
        f"token of pieces that it joins, the client "
        f"{ns['mixing_weights']:.0f} ns for each feature and {ns['mixing_moved']:.0f} ns for each "
        f"byte of a difference; a byte takes {ns['up']:.1f} ns to a worker, {ns['down']:.1f} back, "
        f"{ns['peer']:.1f} from worker to worker; an empty round {1e3 * found['fixed']:.0f} ms "
        f"and {1e3 * found['each']:.1f} for each task. Features grow as tokens ** "
        f"{own.features.power:.2f} (they are {own.features.nbytes:,.0f}), weights "
        f"as tokens ** {weights.power:.2f} and as shards ** {spread(found, late):.2f}, differences "
        f"as a shard's tokens ** {moved.power:.2f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--measured", type=Path, default=MEASURED)
    parser.add_argument("--bandwidth", type=float, default=1250.0, help="MB/s (10 Gbit/s: 1250)")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    options = parser.parse_args()
    measured = json.loads(options.measured.read_text())
    found = measured["constants"]
    here, ratios, clocks = compared(measured)
    own = constants(found, 1, len(found["token_alone"]) - 1)
    weights, moved = power(measured["traffic"], "weights"), power(measured["traffic"], "moved")
    # As many features for a byte of the weights of one shard as the grown text has.
    last = max(found["traffic"], key=lambda point: float(point["tokens"]))
    ratio = last["features"] / found["weights_by_shards"]["1"][-1]
    own = replace(
        own,
        weights=weights,
        moved=moved,
        features=replace(weights, nbytes=ratio * weights.nbytes),
        spread_from=1,
        bandwidth=options.bandwidth * 1e6,
    )
    text = (
        f"{machine('numpy', 'dask', 'distributed')}\n\n{told_constants(found)}\n\n"
        f"Rounds of `cluster.py --only rounds` on local workers, and what is predicted of them, "
        f"the median of {len(measured['rounds'][0]['rounds']) - 1} each. Others may use the "
        f"machine, so counted are the seconds of a core that a round needed one after another: "
        f"those of the busiest worker's thread and, as the rest, all of the client's, with the "
        f"scheduler in its process; by the clock the rounds took {min(clocks):.1f} to "
        f"{max(clocks):.1f} times as long:\n\n{here}\n\n"
        f"Predicted were {min(ratios):.2f} to {max(ratios):.2f} of the seconds that were measured, "
        f"{statistics.median(ratios):.2f} in the middle; where that is far below 1, what tasks "
        f"and the client do beside the tokens takes longer in a round than measured alone.\n\n"
        f"A billion tokens of text that is like CoNLL-2000 (weights grow as tokens ** "
        f"{weights.power:.2f}, differences as shard ** {moved.power:.2f}), "
        f"{options.bandwidth:.0f} MB/s:\n\n{billion(own)}"
    )
    print(text)
    if options.write:
        write(
            "Shards and workers: larger clusters, simulated",
            f"`python benchmarks/cluster_model.py` on {text}",
        )


if __name__ == "__main__":
    main()
