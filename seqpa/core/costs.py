"""What each mistake costs: ρ(y, y') of PA 2006, §8.

A cost says what predicting y' is worth where y is right: zero for y' = y, otherwise anything from
zero up, and not necessarily the same both ways. People write it as a table, a function, or a tree
of labels (`Hierarchy`); learners want it as a square array (`cost_matrix`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.files import read_text
from seqpa.schemes import OUTSIDE, type_of

Label: TypeAlias = Hashable
# Of a hierarchy, which are gone through one inside the other.
MAX_LEVELS = 100
_BELOW = "a mapping, a list, the length of its edge, or nothing"
_LENGTH = "length"  # the entry that says how long the edge above a node is
_Node: TypeAlias = "tuple[Label, Any, str]"  # name, what is below it, where it stands


class Hierarchy:
    """A tree of labels; the cost of two labels is the length of the path between them.

    An edge is 1 long unless the tree says otherwise: a number in place of what is below a label is
    the length of the edge above it, and so is the number of the entry `length` among the labels
    below.

    Labels of chunks find their place by their type: where `B-city` is no node itself it stands at
    `city`, and so do `I-`, `E-`, `S-`, `L-` and `U-`. Two labels of one type with different
    prefixes cost 1. An `O` that the tree does not name hangs directly under the root.

    Parameters
    ----------
    tree : mapping
        Each label with what stands below it: a mapping again, a list of leaves, nothing (None), or
        a number, the length of the edge above it. Several labels at the top hang under an unnamed
        root. Inner nodes are labels too.

    Examples
    --------
    >>> places = Hierarchy({"place": {"city": None, "river": None}, "person": None})
    >>> places.cost("city", "river"), places.cost("city", "place"), places.cost("river", "person")
    (2, 1, 3)
    >>> places.cost("B-city", "I-city"), places.cost("B-city", "O")
    (1, 3)
    >>> places.leaves
    ('city', 'river', 'person')
    >>> far = Hierarchy({"place": {"length": 3, "city": None, "river": 0.5}, "person": None})
    >>> far.cost("city", "river"), far.cost("city", "person")
    (1.5, 5)
    >>> places.cost("city", "rivre")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: label 'rivre' is not in the hierarchy; did you mean 'river'?
    """

    def __init__(self, tree: Mapping[Any, Any]) -> None:
        if not isinstance(tree, Mapping) or not tree:
            raise SeqpaError(
                f"a hierarchy is a mapping from labels to what is below them, not {tree!r}"
            )
        self._build(_python_nodes(tree))

    @classmethod
    def from_yaml(cls, source: str | Path) -> Hierarchy:
        r"""Read the tree from YAML.

        Parameters
        ----------
        source : str or Path
            A file, or YAML text (anything that holds a line break).

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> Hierarchy.from_yaml("place: [city, river]\nperson:\n").cost("person", "city")
        3
        >>> Hierarchy.from_yaml("place: [city, river]\nperson: 5\n").cost("person", "city")
        7
        """
        from seqpa.yaml_nodes import MAX_BYTES  # brings yaml, which tagging can do without

        if isinstance(source, Path) or "\n" not in source:
            text, name = read_text(source, MAX_BYTES), str(source)
        else:
            text, name = source, "hierarchy"
        hierarchy = cls.__new__(cls)
        hierarchy._build(_yaml_nodes(text, name))
        return hierarchy

    def _build(self, nodes: Iterable[_Node]) -> None:
        self._path: dict[Label, tuple[Label, ...]] = {}  # from below the root down to the label
        self._inner: set[Label] = set()
        self._length: dict[Label, float] = {}  # of the edge above a label, where it is not 1
        self._add(nodes, ())

    def _add(self, nodes: Iterable[_Node], above: tuple[Label, ...]) -> None:
        if len(above) >= MAX_LEVELS:
            raise SeqpaError(f"a hierarchy has at most {MAX_LEVELS} levels; {above[0]!r} has more")
        for name, below, where in nodes:
            if not isinstance(name, Hashable):
                raise SeqpaError(f"{where}a label is a name, not {name!r}")
            if _is_length(below) and name == _LENGTH:
                self._measure(above[-1:], float(below), where)
                continue
            self._inner.update(above[-1:])
            if name in self._path:
                raise SeqpaError(f"{where}the label {name!r} occurs twice in the hierarchy")
            self._path[name] = (*above, name)
            if _is_length(below):
                self._measure((name,), float(below), where)
            elif children := list(below):
                self._add(children, self._path[name])

    def _measure(self, below: tuple[Label, ...], length: float, where: str) -> None:
        """Keep the length of the edge above a label; there is none above the root."""
        if not (math.isfinite(length) and length > 0):
            raise SeqpaError(f"{where}the length of an edge is a number above 0, not {length:g}")
        if not below:
            raise SeqpaError(
                f"{where}there is no edge above the whole tree: `{_LENGTH}: {length:g}` stands "
                "among the labels below the one whose edge it is"
            )
        if below[0] in self._length:
            raise SeqpaError(f"{where}the edge above {below[0]!r} has two lengths")
        self._length[below[0]] = int(length) if length.is_integer() else length

    @property
    def lengths(self) -> dict[Label, float]:
        """The length of the edge above each label, where it was given; others are 1."""
        return dict(self._length)

    @property
    def labels(self) -> tuple[Label, ...]:
        """All nodes, inner ones too, in the order of the tree."""
        return tuple(self._path)

    @property
    def leaves(self) -> tuple[Label, ...]:
        """The nodes with nothing below them."""
        return tuple(name for name in self._path if name not in self._inner)

    def path(self, label: Label) -> tuple[Label, ...]:
        """The nodes from below the root down to where a label stands.

        Parameters
        ----------
        label : hashable
            A node, or a chunk label whose type is one.

        Returns
        -------
        tuple

        Examples
        --------
        >>> Hierarchy({"place": {"city": ["port"]}}).path("B-port")
        ('place', 'city', 'port')
        """
        if label in self._path:
            return self._path[label]
        if isinstance(label, str):
            kind = type_of(label)
            if kind is not None and kind in self._path:
                return self._path[kind]
            if label == OUTSIDE:
                return (label,)
        raise SeqpaError(
            f"label {label!r} is not in the hierarchy{did_you_mean(label, self._path)}"
        )

    def cost(self, a: Label, b: Label) -> float:
        """The length of the path between two labels: where no edge has one, their number.

        Parameters
        ----------
        a, b : hashable
            As `path` takes them.

        Returns
        -------
        float
            A whole number as an int.
        """
        if a == b:
            return 0
        return self._distance(self.path(a), self.path(b))

    def _distance(self, up: tuple[Label, ...], down: tuple[Label, ...]) -> float:
        """The cost of two different labels, from their paths."""
        if up == down:  # of one type, with different prefixes
            return 1
        shared = 0
        for x, y in zip(up, down, strict=False):
            if x != y:
                break
            shared += 1
        return sum(self._length.get(node, 1) for node in (*up[shared:], *down[shared:]))

    def matrix(self, labels: Sequence[Label]) -> NDArray[np.float64]:
        """The `cost` of every pair of labels.

        Parameters
        ----------
        labels : sequence
            As `path` takes them.

        Returns
        -------
        float64 (labels, labels)

        Examples
        --------
        >>> Hierarchy({"place": ["city", "river"], "person": None}).matrix(["city", "person"])
        array([[0., 3.],
               [3., 0.]])
        """
        paths = [self.path(label) for label in labels]
        numbers: dict[Label, int] = {}
        distance = np.zeros((len(labels), len(labels)))
        same = np.ones(distance.shape, dtype=bool)
        for level in range(max(map(len, paths), default=0)):
            # One number for each node of this level; a path that ends above it shares no more.
            row = np.array(
                [
                    numbers.setdefault(path[level], len(numbers)) if level < len(path) else -1 - i
                    for i, path in enumerate(paths)
                ]
            )
            edge = np.array(
                [self._length.get(path[level], 1) if level < len(path) else 0 for path in paths]
            )
            same &= row[:, None] == row[None, :]
            distance += np.where(same, 0.0, edge[:, None] + edge[None, :])
        distance[distance == 0.0] = 1.0  # of one type, with different prefixes
        np.fill_diagonal(distance, 0.0)
        return distance

    def __repr__(self) -> str:
        return f"Hierarchy of {len(self._path)} labels, {len(self.leaves)} of them leaves"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return False
        return self._path == other._path and self._length == other._length

    def __hash__(self) -> int:
        return hash(tuple(self._path))


Cost: TypeAlias = "Hierarchy | Mapping[Any, Any] | ArrayLike | Callable[[Any, Any], float]"


def cost_matrix(cost: Cost, labels: Sequence[Label]) -> NDArray[np.float64]:
    """ρ as an array; costs are finite and not negative, and zero on the diagonal.

    Parameters
    ----------
    cost : Hierarchy, mapping, array or callable
        A table is {right: {predicted: cost}} or {(right, predicted): cost}, and a missing pair of
        different labels costs 1; an array is square and in the order of `labels`; a function is
        called with (right, predicted).
    labels : sequence
        All labels.

    Returns
    -------
    float64 (labels, labels)
        Row y, column y'.

    Examples
    --------
    >>> cost_matrix({"spam": {"ham": 0.5}, "ham": {"spam": 10}}, ["ham", "spam", "news"])
    array([[ 0. , 10. ,  1. ],
           [ 0.5,  0. ,  1. ],
           [ 1. ,  1. ,  0. ]])
    >>> cost_matrix(lambda right, predicted: abs(right - predicted), [1, 2, 4])
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    n = len(labels)
    if isinstance(cost, Hierarchy):
        return cost.matrix(labels)
    if isinstance(cost, Mapping):
        rho = _from_table(cost, labels)
    elif callable(cost):
        rho = np.array([[_number(cost(a, b), a, b) for b in labels] for a in labels])
        rho = rho.reshape(n, n)
    else:
        try:
            rho = np.array(cost, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise SeqpaError(
                "a cost is a Hierarchy, a table, a square array or a function of two labels, "
                f"not {cost!r}"
            ) from None
        if rho.shape != (n, n):
            raise SeqpaError(f"the cost has shape {rho.shape}; {n} labels need {(n, n)}")
    for wrong, what in (
        (~np.isfinite(rho), "a cost is finite"),
        (rho < 0, "a cost is not negative"),
        (np.diag(np.diag(rho) != 0), "the right answer costs nothing"),
    ):
        if wrong.any():
            y, r = (int(k) for k in np.argwhere(wrong)[0])
            raise SeqpaError(
                f"the cost of predicting {labels[r]!r} for {labels[y]!r} is {rho[y, r]}; {what}"
            )
    return rho


def _from_table(table: Mapping[Any, Any], labels: Sequence[Label]) -> NDArray[np.float64]:
    place = {label: k for k, label in enumerate(labels)}

    def index(label: Label) -> int:
        if label not in place:
            hint = did_you_mean(label, place)
            raise SeqpaError(f"the cost names {label!r}, which is no label{hint}")
        return place[label]

    rho = 1.0 - np.eye(len(labels))
    for key, value in table.items():
        if isinstance(value, Mapping):
            for predicted, number in value.items():
                rho[index(key), index(predicted)] = _number(number, key, predicted)
        elif isinstance(key, tuple) and len(key) == 2:
            rho[index(key[0]), index(key[1])] = _number(value, *key)
        else:
            raise SeqpaError(
                f"the cost table's entry {key!r}: {value!r} is neither right: {{predicted: cost}} "
                "nor (right, predicted): cost"
            )
    return rho


def _number(value: Any, right: Label, predicted: Label) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SeqpaError(
            f"the cost of predicting {predicted!r} for {right!r} is {value!r}; a cost is a number"
        ) from None


def _python_nodes(tree: Any) -> Iterator[_Node]:
    """The labels of one level of a nested mapping, with what is below each."""
    if tree is None or tree == "":
        return
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield name, below if _is_length(below) else _python_nodes(below), ""
    elif isinstance(tree, list | tuple):
        for item in tree:
            if isinstance(item, Mapping):
                yield from _python_nodes(item)
            else:
                yield item, (), ""
    else:
        raise SeqpaError(f"below a label stands {_BELOW}, not {tree!r}")


def _is_length(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _number_of(text: Any) -> float | None:
    """The number that a YAML scalar is; None for anything else."""
    try:
        return float(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _yaml_nodes(text: str, file: str) -> Iterator[_Node]:
    """The same from YAML, read as it is written: `no` stays a label, a label given twice shows."""
    import yaml

    from seqpa.yaml_nodes import compose

    def where(node: Any) -> str:
        return f"{file}:{node.start_mark.line + 1}: "

    def level(node: Any) -> Iterator[_Node]:
        if isinstance(node, yaml.MappingNode):
            for key, below in node.value:
                length = _number_of(below.value)
                yield name(key), level(below) if length is None else length, where(key)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                if isinstance(item, yaml.MappingNode):
                    yield from level(item)
                else:
                    yield name(item), (), where(item)
        elif node.value not in ("", "null", "~"):
            raise SeqpaError(f"{where(node)}below a label stands {_BELOW}, not {node.value!r}")

    def name(node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise SeqpaError(f"{where(node)}a label is a name, not a list or a mapping")
        return str(node.value)

    root = compose(text, file)
    if not isinstance(root, yaml.MappingNode) or not root.value:
        first = 1 if root is None else root.start_mark.line + 1
        raise SeqpaError(
            f"{file}:{first}: a hierarchy is a mapping from labels to what is below them, "
            "such as `place: [city, river]`"
        )
    return level(root)
