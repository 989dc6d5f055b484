"""Tagging with composed rows: fewer rows to add up at each token, the same scores.

One feature often determines others: where `pos[-1]|pos[0]=DT|NN` is found, so is `pos[0]=NN`, and
a word determines its own suffixes. So the templates form a forest in which a parent's values
determine those of its children. For tagging, the row of a parent's feature holds the sum of its
own weights and those of all features below it; where it is found at a token, everything below it
is left out, and where it is not, its children are tried one by one. Each weight counts once, as
before, but tokens have about half as many rows.

Learning, explanations and files know nothing of this: a composed row stands under the number of
its parent's feature, in weights that only tagging sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import compose, template_features
from seqpa.sequence.attributes import kind_of
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.tables import distinct
from seqpa.sequence.templates import Attribute, Part, Template
from seqpa.sequence.weights import FrozenWeights, dense_at, padded

_MOST = 2**31 - 1  # a row's start in the arena is an int32
# So many levels a tree has, and so many templates are tried as parents of one: far more than any
# set of templates that people write needs, and the work grows with the templates alone.
_DEEPEST = 16
_TRIED = 128


def composed(
    encoder: FeatureEncoder, weights: FrozenWeights
) -> tuple[template_features.Table, FrozenWeights]:
    """The weights with composed rows; pair features stay as they are.

    The rows take at most as much memory as the weights have. Features without weights take no part,
    so that a saved model, which leaves them out, tags bit for bit as the one that was saved.

    Parameters
    ----------
    encoder : FeatureEncoder
        Whose features they are.
    weights : FrozenWeights
        The plain weights.

    Returns
    -------
    table : seqpa._kernel.template_features.Table
        Finds the features of a token by a walk over the forest.
    weights : FrozenWeights
        With the composed rows; the plain ones where there is nothing to compose.
    """
    table = encoder.features
    direct = table.masked(weights.nonzero())
    numbers = [table.numbers(t, direct) for t in range(len(table.templates))]
    counts = np.array([len(own) for own in numbers])
    width = padded(weights.n_labels)
    budget = min(len(weights.arena), _MOST - len(weights.arena)) // width
    parents = forest(table.templates, encoder.columns, counts.tolist(), budget)
    order, n_below = preorder(parents)
    walk = table.walk(order, n_below, direct)
    extra = width * int(counts[distinct(parents[parents >= 0])].sum())
    if extra == 0:
        return walk, weights
    rows, arena = weights.rows.copy(), np.zeros(len(weights.arena) + extra, np.float32)
    arena[: len(weights.arena)] = weights.arena
    end, sums = len(weights.arena), np.zeros(width)
    joined = table.joins()
    for step, t in enumerate(order.tolist()):
        below = [u for u in order[step + 1 : step + 1 + n_below[step]].tolist() if counts[u]]
        if not below:
            continue
        own, values = table.features_at(t, numbers[t], joined)
        members = np.empty((len(own), 1 + len(below)), np.int32)
        members[:, 0] = own
        for column, u in enumerate(below, 1):
            members[:, column] = table.find(u, _values_below(encoder, t, u, values))
        end = compose.add_up(
            members=members,
            rows=weights.rows,
            arena=weights.arena,
            n_labels=weights.n_labels,
            dense_at=dense_at(weights.n_labels),
            sums=sums,
            new_rows=rows,
            new_arena=arena,
            at=end,
        )
    return walk, replace(weights, rows=rows, arena=arena[:end])


def forest(
    templates: Sequence[Template], columns: Sequence[str], counts: Sequence[int], budget: int
) -> NDArray[np.int64]:
    """Each template's parent, or -1: of those that determine it, the one with the fewest features.

    Parameters
    ----------
    templates : sequence of Template
        All templates.
    columns : sequence of str
        The columns of the data, the word first.
    counts : sequence of int
        How many features each template has.
    budget : int
        How many features the parents may have together. Where they have more, those with the most
        features for each of their children are not made parents.

    Returns
    -------
    int64 (templates,)

    Examples
    --------
    >>> from seqpa.sequence.templates import parse_all
    >>> templates = parse_all(["bias", "word[0]", "word[-1]|word[0]", "suffix(2)[0]"])
    >>> forest(templates, ("word",), [1, 50, 300, 20], 400).tolist()
    [3, 2, -1, 1]
    >>> forest(templates, ("word",), [1, 50, 300, 20], 100).tolist()
    [3, -1, -1, 1]
    """
    above = _candidates(templates, columns, counts)
    parents = [candidates[0] if candidates else -1 for candidates in above]
    tried = [0] * len(templates)
    children: list[set[int]] = [set() for _ in templates]
    for u, t in enumerate(parents):
        if t >= 0:
            children[t].add(u)
    total = sum(counts[t] for t, own in enumerate(children) if own)
    # Parents by how many features they have for each child. One that has got children since it was
    # entered stands here again.
    heap = [(-counts[t] / len(own), -t, len(own)) for t, own in enumerate(children) if own]
    heapify(heap)
    may_be = [True] * len(templates)
    while total > budget:
        _, t, n = heappop(heap)
        t = -t
        if not may_be[t] or len(children[t]) != n:
            continue
        may_be[t] = False
        total -= counts[t]
        for u in sorted(children[t]):
            while tried[u] < len(above[u]) and not may_be[above[u][tried[u]]]:
                tried[u] += 1
            if tried[u] == len(above[u]):
                parents[u] = -1
                continue
            parents[u] = new = above[u][tried[u]]
            total += 0 if children[new] else counts[new]
            children[new].add(u)
            heappush(heap, (-counts[new] / len(children[new]), -new, len(children[new])))
    return _shallow(np.array(parents, np.int64))


def _candidates(
    templates: Sequence[Template], columns: Sequence[str], counts: Sequence[int]
) -> list[list[int]]:
    """For each template those that determine it, the one with the fewest features first.

    Among the first _TRIED that have one of its parts, or know it: with fewer templates than that,
    all. Of two that determine each other only the first may be above: there are no circles.
    """
    has = [{str(part) for part in template.parts} for template in templates]
    needs = [
        [{str(known_by) for known_by in _known_by(part, columns)} for part in template.parts]
        for template in templates
    ]
    needs = [[known_by for known_by in own if known_by] for own in needs]
    # A set may have no value at a token or several: it cannot stand for another template once.
    single = [not any(part.attribute.is_set for part in template.parts) for template in templates]
    able = (t for t, count in enumerate(counts) if count and single[t])
    order = sorted(able, key=lambda t: (counts[t], t))
    having: dict[str, list[int]] = {}  # with the fewest features first
    for t in order:
        for part in has[t]:
            having.setdefault(part, []).append(t)

    def determines(t: int, u: int) -> bool:
        return not any(has[t].isdisjoint(known_by) for known_by in needs[u])

    def tried(u: int) -> list[int]:
        lists = [[having.get(part, []) for part in sorted(known_by)] for known_by in needs[u]]
        fewest = min(lists, key=lambda several: sum(map(len, several)), default=[order])
        several = {t for own in fewest for t in own[:_TRIED]}
        return sorted(several, key=lambda t: (counts[t], t))[:_TRIED]

    return [
        [t for t in tried(u) if t != u and determines(t, u) and (t < u or not determines(u, t))]
        for u in range(len(templates))
    ]


def _shallow(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The forest cut into trees of at most _DEEPEST levels: each level is added up anew."""
    order, _ = preorder(parents)
    level = np.zeros(len(parents), np.int64)
    for t in order.tolist():
        if parents[t] >= 0:
            level[t] = level[parents[t]] + 1
            if level[t] == _DEEPEST:
                parents[t], level[t] = -1, 0
    return parents


def _known_by(part: Part, columns: Sequence[str]) -> list[Part]:
    """The parts that each determine this one: itself, and the word that it is computed from.

    None are needed for the bias, which is the same everywhere.
    """
    attribute = part.attribute
    if attribute.kind == "bias":
        return []
    if attribute.kind is None or attribute.is_set or kind_of(attribute.kind).in_context:
        return [part]
    return [part, Part(Attribute(None, (), attribute.column or columns[0]), part.offset)]


def preorder(parents: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes of the trees, each before those below it.

    Parameters
    ----------
    parents : int64 (nodes,)
        The parent of each node, -1 at a root.

    Returns
    -------
    order : int64 (nodes,)
        The nodes.
    below : int64 (nodes,)
        For each of them, in that order, how many are below it.

    Examples
    --------
    >>> order, below = preorder(np.array([-1, 0, 3, 0]))
    >>> order.tolist(), below.tolist()
    ([0, 1, 3, 2], [3, 0, 1, 0])
    """
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for t, parent in enumerate(parents.tolist()):
        children[parent].append(t)  # those of no parent, -1, come last
    order: list[int] = []
    todo = children[-1][::-1]
    while todo:
        order.append(todo.pop())
        todo += children[order[-1]][::-1]
    below = np.zeros(len(parents) + 1, np.int64)
    for t in reversed(order):
        below[parents[t]] += below[t] + 1
    numbers = np.array(order, np.int64)
    return numbers, below[numbers]


def _values_below(
    encoder: FeatureEncoder, above: int, below: int, values: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The values of one template's parts where another one's are `values`, -1 where absent."""
    table = encoder.features
    theirs, ours = table.templates[above].parts, table.templates[below].parts
    found = np.full((len(values), len(ours)), table.edges)
    for p, part in enumerate(ours):
        for known_by in _known_by(part, encoder.columns):
            if known_by in theirs:
                found[:, p] = values[:, theirs.index(known_by)]
                if known_by != part:  # outside the sentence all attributes have the same values
                    inside = found[:, p] >= table.edges
                    of_words = encoder.values_of_words(part.attribute)
                    own = of_words[found[inside, p] - table.edges]
                    found[inside, p] = np.where(own < 0, -1, own + table.edges)
                break
    return found
