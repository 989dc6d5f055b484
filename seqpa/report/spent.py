"""What the mistakes cost, and where on the hierarchy they fall."""

from __future__ import annotations

from collections import Counter
from typing import Any

from seqpa.core import Hierarchy
from seqpa.report.tagged import Tagged
from seqpa.sequence.costs import SequenceCost

_MOST = 20


def spent(tagged: Tagged, name: str, cost: SequenceCost, tree: Any = None) -> dict[str, Any]:
    """The cost of the predictions, by pairs of labels and by places on the hierarchy.

    Parameters
    ----------
    tagged : Tagged
    name : str
        What the cost is called.
    cost : SequenceCost
        Of two label lists.
    tree : Hierarchy, optional
        Where the cost is made of one.

    Returns
    -------
    dict
        ``total``, ``mean`` (of a sentence); ``pairs`` of labels with their number and cost, where
        the cost is a sum over tokens; ``sentences``, the most expensive first; ``places``, where
        the ways from right to predicted labels meet, from the root down.

    Examples
    --------
    >>> from seqpa.sequence.costs import sequence_cost
    >>> tree = Hierarchy({"place": ["city", "river"], "person": None})
    >>> tagged = Tagged([["a", "b"]], [["city", "city"]], [["river", "person"]])
    >>> found = spent(tagged, "hierarchy", sequence_cost(tree, tree.labels), tree)
    >>> found["total"], [(place["node"], place["cost"]) for place in found["places"]]
    (5.0, [('', 3.0), ('place', 2.0)])
    """
    costs = [
        0.0 if gold == found else cost(gold, found)
        for gold, found in zip(tagged.gold, tagged.predicted, strict=True)
    ]
    total = sum(costs)
    told: dict[str, Any] = {
        "name": name,
        "total": total,
        "mean": total / len(costs) if costs else 0.0,
        "pairs": [],
        "places": [],
        "sentences": [
            {"sentence": number + 1, "cost": costs[number]}
            for number in sorted(range(len(costs)), key=lambda n: (-costs[n], n))[:_MOST]
            if costs[number]
        ],
    }
    pairs = Counter(
        (g, p)
        for gold, found in zip(tagged.gold, tagged.predicted, strict=True)
        for g, p in zip(gold, found, strict=True)
        if g != p
    )
    if cost.is_additive:
        rows: list[dict[str, Any]] = [
            {"gold": g, "predicted": p, "count": n, "cost": n * cost([g], [p])}
            for (g, p), n in pairs.items()
        ]
        rows.sort(key=lambda row: (-row["cost"], row["gold"], row["predicted"]))
        told["pairs"] = rows
        if isinstance(tree, Hierarchy):
            told["places"] = _places(rows, tree)
    return told


def _places(rows: list[dict[str, Any]], tree: Hierarchy) -> list[dict[str, Any]]:
    """By the lowest node above both labels: how many mistakes meet there, and their cost."""
    counts: Counter[tuple[Any, ...]] = Counter()
    costs: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        up, down = tree.path(row["gold"]), tree.path(row["predicted"])
        shared = 0
        while shared < min(len(up), len(down)) and up[shared] == down[shared]:
            shared += 1
        counts[up[:shared]] += row["count"]
        costs[up[:shared]] += row["cost"]
    return [
        {
            "node": str(path[-1]) if path else "",
            "depth": len(path),
            "path": [str(node) for node in path],
            "count": counts[path],
            "cost": float(costs[path]),
        }
        for path in sorted(counts, key=lambda path: tuple(map(str, path)))
    ]
