"""How long a round takes and what it moves, on clusters that are not here.

python benchmarks/cluster_model.py [--measured cluster.json] [--bandwidth MB/s] [--write]

A simulator of one round of `DaskSequenceTagger`, event by event, from a few measured constants: the
client hands the weights to the scheduler, workers fetch them from whoever has them already, every
shard trains, differences go back to the client one after another, and the client mixes. First it
simulates the rounds that cluster.py measured here, on loopback, and shows both; then a billion
tokens on 8, 64 and 512 workers.

What a shard of n tokens moves grows as a power of n (new words and new mistakes become rarer), and
so do the weights of a text; both powers are fitted to CoNLL-2000 at several sizes.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from results import table, write

MEASURED = Path(__file__).with_name("cluster.json")
BILLION = 1_000_000_000


@dataclass(frozen=True)
class Constants:
    """What was measured, or is assumed."""

    token: float  # seconds that a core takes for a token in an epoch
    weight_bytes: float  # bytes of all weights of a text of `tokens`
    moved_bytes: float  # bytes of the difference of a shard of `shard_tokens`
    tokens: float
    shard_tokens: float
    weight_growth: float  # the powers
    moved_growth: float
    mix: float  # seconds of the client for each byte of a difference
    fixed: float  # seconds of a round that depend on nothing
    bandwidth: float  # bytes in a second, of every machine's connection
    latency: float = 0.002  # seconds for a message
    compressed: float = 1.0  # by how much differences are made smaller before they are sent

    def weights(self, tokens: float) -> float:
        return self.weight_bytes * (tokens / self.tokens) ** self.weight_growth

    def moved(self, tokens: float) -> float:
        return (
            self.moved_bytes * (tokens / self.shard_tokens) ** self.moved_growth / self.compressed
        )


@dataclass(frozen=True)
class Round:
    seconds: float
    training: float  # of the slowest worker
    bytes_client: float
    efficiency: float


def simulate(c: Constants, tokens: float, shards: int, workers: int, cores: int = 1) -> Round:
    """One round: when everything ends, in seconds.

    cores : how many a worker has; a shard's epoch takes 1/0.8 of the even share of their time
    """
    weights = c.weights(tokens)
    # Client to scheduler to a first worker, then from everyone who has them to one who has not.
    have = [2 * (c.latency + weights / c.bandwidth)]
    heapq.heapify(have)
    ready = [have[0]]
    while len(ready) < min(workers, shards):
        earliest = heapq.heappop(have)
        end = earliest + c.latency + weights / c.bandwidth
        heapq.heappush(have, end)
        heapq.heappush(have, end)
        ready.append(end)
    speedup = 1.0 if cores == 1 else 0.8 * cores
    one = c.token * tokens / shards / speedup
    free = [(at, w) for w, at in enumerate(ready)]
    heapq.heapify(free)
    done = []
    for _ in range(shards):
        at, worker = heapq.heappop(free)
        heapq.heappush(free, (at + one, worker))
        done.append(at + one)
    # Results pass the scheduler, one after another on its connection; the client mixes at the end.
    size = c.moved(tokens / shards)
    at = 0.0
    for end in sorted(done):
        at = max(at, end) + c.latency + 2 * size / c.bandwidth
    at += c.fixed + c.mix * size * c.compressed * shards
    busy = one * shards / len(ready)
    return Round(at, one * -(-shards // len(ready)), weights + shards * size, min(1.0, busy / at))


def mixing_seconds() -> float:
    """Seconds of the client for each byte of a difference, measured here."""
    import numpy as np

    from seqpa.cluster.mixing import Difference, Mixture, Packed

    rng = np.random.default_rng(1)
    results = []
    for _ in range(4):
        keys = np.flatnonzero(rng.random(2_000_000) < 0.2)
        packed = Packed.of(keys, rng.normal(size=len(keys)), rng.normal(size=len(keys)))
        results.append(Difference(packed, 1, 1, 1, 1, 1, 0.0, 0.0, 0.0, 0.0, ""))
    begun = time.perf_counter()
    Mixture().mixed(results, "uniform")
    return (time.perf_counter() - begun) / sum(own.moved.nbytes for own in results)


def power(points: list[dict[str, float]], name: str) -> float:
    """The slope through the logarithms of the first and the last point."""
    a, b = points[0], points[-1]
    return math.log(b[name] / a[name]) / math.log(b["tokens"] / a["tokens"])


def constants(measured: dict[str, Any], bandwidth: float, mix: float) -> Constants:
    """From the run with one worker: what the second one does is to be predicted."""
    run = measured["runs"][0]
    last = run["rounds"][-1]
    tokens, shards = measured["tokens"], run["shards"]
    traffic = measured.get("traffic")
    overhead = last["seconds"] - last["worked"] - mix * last["received"]
    return Constants(
        token=last["worked"] / tokens,
        weight_bytes=last["sent"],
        moved_bytes=last["received"] / shards,
        tokens=tokens,
        shard_tokens=tokens / shards,
        weight_growth=power(traffic, "weights") if traffic else 0.75,
        moved_growth=power(traffic, "moved") if traffic else 0.75,
        mix=mix,
        fixed=max(0.0, overhead),
        bandwidth=bandwidth,
    )


def of_real_text(c: Constants, measured: dict[str, Any]) -> Constants:
    """With the traffic of CoNLL-2000 in place of that of a grown corpus, which is too easy."""
    if "traffic" not in measured:
        return c
    point = measured["traffic"][-1]
    return replace(
        c,
        weight_bytes=point["weights"],
        moved_bytes=point["moved"],
        tokens=point["tokens"],
        shard_tokens=point["tokens"],
    )


def check(measured: dict[str, Any], c: Constants) -> str:
    """Measured rounds beside simulated ones."""
    rows = []
    for run in measured["runs"]:
        last = run["rounds"][-1]
        # Workers on one machine share its memory: each is as fast as it was seen to be.
        own = replace(c, token=last["worked"] / measured["tokens"])
        found = simulate(own, measured["tokens"], run["shards"], run["workers"])
        rows.append(
            [
                str(run["workers"]),
                f"{last['seconds']:.2f}",
                f"{found.seconds:.2f}",
                f"{found.seconds / last['seconds']:.2f}",
                f"{last['efficiency']:.2f}",
                f"{found.efficiency:.2f}",
            ]
        )
    head = ["workers", "seconds", "simulated", "ratio", "efficiency", "simulated"]
    return table(head, rows)


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
                    f"{found.bytes_client / 1e9:.1f}",
                    f"{found.efficiency:.2f}",
                ]
            )
    head = ["workers", "how", "minutes a round", "of it training", "GB at the client", "efficiency"]
    return table(head, rows, left=2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--measured", type=Path, default=MEASURED)
    parser.add_argument("--bandwidth", type=float, default=1250.0, help="MB/s (10 Gbit/s: 1250)")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    options = parser.parse_args()
    measured = json.loads(options.measured.read_text())
    mix = mixing_seconds()
    here = check(measured, constants(measured, 1e9, mix))
    c = of_real_text(constants(measured, options.bandwidth * 1e6, mix), measured)
    text = (
        f"The rounds that `cluster.py` measured here, on loopback (1 GB/s assumed), beside "
        f"simulated ones:\n\n{here}\n\n"
        f"Weights grow as tokens ** {c.weight_growth:.2f}, differences as shard ** "
        f"{c.moved_growth:.2f}; {1e6 * c.token:.2f} µs a token, {1e9 * mix:.1f} ns to mix a "
        f"byte.\n\n"
        f"A billion tokens, {options.bandwidth:.0f} MB/s:\n\n{billion(c)}"
    )
    print(text)
    if options.write:
        write("Shards and workers: larger clusters, simulated", text)


if __name__ == "__main__":
    main()
