"""Costs: hierarchies against a breadth-first search, every form of a cost table, and its errors."""

from __future__ import annotations

import json
import math
import pickle
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import PAClassifier, SequenceTagger
from seqpa.core.costs import Hierarchy, cost_matrix
from seqpa.errors import SeqpaError
from seqpa.sequence.costs import sequence_cost

TREE = {
    "place": {"city": ["port", "capital"], "river": None},
    "organisation": {"company": None, "team": {}},
    "person": None,
}


def edges_between(parents: dict[int, int | None], a: int, b: int) -> int:
    """The oracle: breadth-first search on the undirected tree, the root being None."""
    neighbours: dict[int | None, set[int | None]] = {None: set()}
    for child, parent in parents.items():
        neighbours.setdefault(child, set()).add(parent)
        neighbours.setdefault(parent, set()).add(child)
    distance: dict[int | None, int] = {a: 0}
    queue: deque[int | None] = deque([a])
    while queue:
        node = queue.popleft()
        for other in neighbours[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance[b]


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[int, int | None], dict[str, object]]:
    size = draw(st.integers(1, 12))
    parents = {k: draw(st.none() | st.integers(0, k - 1)) if k else None for k in range(size)}
    nested: dict[int | None, dict[str, object]] = {k: {} for k in (None, *parents)}
    for child, parent in parents.items():
        nested[parent][f"n{child}"] = nested[child]
    return parents, nested[None]


@given(trees())
def test_cost_is_the_number_of_edges_on_the_path(case: tuple) -> None:
    parents, tree = case
    hierarchy = Hierarchy(tree)
    assert set(hierarchy.labels) == {f"n{k}" for k in parents}
    assert set(hierarchy.leaves) == {f"n{k}" for k in parents if k not in parents.values()}
    labels = sorted(hierarchy.labels)
    matrix = hierarchy.matrix(labels)
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            expected = edges_between(parents, int(a[1:]), int(b[1:]))
            assert hierarchy.cost(a, b) == matrix[i, j] == expected


def test_chunk_labels_stand_at_their_type() -> None:
    hierarchy = Hierarchy(TREE)
    assert hierarchy.cost("B-port", "I-port") == 1
    assert hierarchy.cost("B-port", "port") == 1
    assert hierarchy.cost("B-port", "B-capital") == hierarchy.cost("S-port", "L-capital") == 2
    assert hierarchy.cost("E-city", "U-port") == 1
    assert hierarchy.cost("O", "B-person") == 2
    assert hierarchy.cost("O", "O") == 0
    labels = ["O", "B-port", "I-port", "B-person", "river", "S-team"]
    np.testing.assert_array_equal(
        hierarchy.matrix(labels), [[hierarchy.cost(a, b) for b in labels] for a in labels]
    )


def test_a_node_that_looks_like_a_chunk_label_is_a_node() -> None:
    hierarchy = Hierarchy({"city": {"B-city": None, "I-city": None}, "person": None})
    assert hierarchy.cost("B-city", "I-city") == 2
    assert hierarchy.cost("S-city", "B-city") == 1


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("prot", r"did you mean 'port'\?"),
        ("B-prot", r"did you mean 'port'\?"),
        (7, "there are place, "),
        (None, "there are place, "),
    ],
)
def test_unknown_labels_are_named_with_the_nearest(label: object, hint: str) -> None:
    with pytest.raises(SeqpaError, match=f"is not in the hierarchy; {hint}"):
        Hierarchy(TREE).cost("port", label)


def test_nearest_is_near() -> None:
    with pytest.raises(SeqpaError, match=r"'comapny' is not in the hierarchy; .* 'company'"):
        Hierarchy(TREE).matrix(["river", "comapny"])


@pytest.mark.parametrize(
    "tree", [{"a": {"b": None}, "c": ["b"]}, {"a": ["b", "b"]}, {"a": {"a": None}}]
)
def test_a_label_occurs_once(tree: dict) -> None:
    with pytest.raises(SeqpaError, match="occurs twice"):
        Hierarchy(tree)


@pytest.mark.parametrize("tree", [{}, [], "city", None, {"a": True}, {"a": {"b": "c"}}])
def test_what_is_no_tree(tree: object) -> None:
    with pytest.raises(SeqpaError, match="mapping"):
        Hierarchy(tree)  # type: ignore[arg-type]


def test_yaml_file_and_text_are_the_mapping(tmp_path) -> None:
    text = (
        "place:\n  city: [port, capital]\n  river:\n"
        "organisation:\n  - company\n  - team\nperson: ~\n"
    )
    path = tmp_path / "tree.yaml"
    path.write_text(text, encoding="utf-8")
    assert Hierarchy(TREE) == Hierarchy.from_yaml(text) == Hierarchy.from_yaml(path)
    assert Hierarchy.from_yaml(str(path)).labels == Hierarchy(TREE).labels


def test_yaml_labels_are_read_as_written() -> None:
    assert Hierarchy.from_yaml("no: [yes, 1.0, null]\n").labels == ("no", "yes", "1.0", "null")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [b]\nc: [d, b]\n", r"hierarchy:2: the label 'b' occurs twice"),
        ("a: b\na: 2\n", r"hierarchy:1: below a label"),
        ("a: 1\na: 2\n", r"hierarchy:2: the label 'a' occurs twice"),
        ("a:\n  length: 1\n  b: 2\n  length: 2\n", r"hierarchy:4: the edge above 'a' has two"),
        ("a: [b]\nlength: 2\n", r"hierarchy:2: there is no edge above the whole tree"),
        ("a:\nb: 0\n", r"hierarchy:2: the length of an edge is a number above 0, not 0"),
        ("a:\n  b: nan\n", r"hierarchy:2: the length of an edge is a number above 0, not nan"),
        ("a: -2\n", r"hierarchy:1: the length of an edge"),
        ("a:\nb:\na:\n", r"hierarchy:3: the label 'a' occurs twice"),
        ("a: [b\n", r"hierarchy:\d: "),
        ("- a\n- b\n", r"hierarchy:1: a hierarchy is a mapping"),
        ("? [a, b]\n: c\n", r"hierarchy:1: a label is a name"),
        ("\n\n", r"hierarchy:1: a hierarchy is a mapping"),
    ],
)
def test_yaml_errors_have_file_and_line(text: str, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        Hierarchy.from_yaml(text)


FAR = """
place:
  length: 3
  city: {length: 0.5, port: 2, capital: }
  river: 1.5
person: 4
length:
"""


def test_edges_have_lengths() -> None:
    tree = Hierarchy.from_yaml(FAR)
    assert tree.lengths == {"place": 3, "city": 0.5, "port": 2, "river": 1.5, "person": 4}
    assert "length" in tree.leaves  # without a number it is a label like any other
    for a, b, cost in (
        ("port", "capital", 3),
        ("port", "river", 4),
        ("river", "place", 1.5),
        ("B-capital", "I-person", 8.5),
        ("port", "O", 6.5),
        ("B-port", "I-port", 1),
        ("length", "person", 5),
    ):
        assert tree.cost(a, b) == tree.cost(b, a) == cost
    labels = [*tree.labels, "B-port", "I-port", "O"]
    expected = [[tree.cost(a, b) for b in labels] for a in labels]
    assert tree.matrix(labels).tolist() == expected
    as_mapping = {
        "place": {
            "length": 3,
            "city": {"length": 0.5, "port": 2, "capital": None},
            "river": 1.5,
        },
        "person": 4,
        "length": None,
    }
    assert Hierarchy(as_mapping) == tree != Hierarchy({**as_mapping, "person": 2})


def test_a_tree_too_deep_for_python() -> None:
    with pytest.raises(SeqpaError, match="hierarchy:1: nested more than 100 deep"):
        Hierarchy.from_yaml("a: " + "[" * 3000 + "]" * 3000 + "\n")
    tree: dict[str, Any] = {}
    for level in range(500, 0, -1):
        tree = {f"n{level}": tree}
    with pytest.raises(SeqpaError, match="a hierarchy has at most 100 levels; 'n1' has more"):
        Hierarchy(tree)
    with pytest.raises(SeqpaError, match=r"a label is a name, not \['b'\]"):
        Hierarchy({"a": [["b"]]})


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(SeqpaError, match=r"absent\.yaml: no such file"):
        Hierarchy.from_yaml(tmp_path / "absent.yaml")


def test_hierarchies_can_be_pickled_and_compared() -> None:
    hierarchy = Hierarchy(TREE)
    assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy
    assert hash(Hierarchy(TREE)) == hash(hierarchy)
    assert hierarchy != Hierarchy({"a": None})
    assert repr(hierarchy) == "Hierarchy of 9 labels, 6 of them leaves"


LABELS = ["x", "y", "z"]
RHO = np.array([[0, 2, 1], [0.5, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    "cost",
    [
        {"x": {"y": 2}, "y": {"x": 0.5}},
        {("x", "y"): 2, ("y", "x"): 0.5},
        {"x": {"y": 2}, ("y", "x"): 0.5},
        RHO,
        RHO.tolist(),
        lambda a, b: RHO[LABELS.index(a), LABELS.index(b)],
    ],
    ids=["rows", "pairs", "both", "array", "lists", "function"],
)
def test_every_form_of_a_cost_gives_the_same_matrix(cost: object) -> None:
    matrix = cost_matrix(cost, LABELS)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, RHO)


def test_a_hierarchy_is_a_cost() -> None:
    matrix = cost_matrix(Hierarchy(TREE), ["port", "capital", "team"])
    np.testing.assert_array_equal(matrix, [[0, 2, 5], [2, 0, 5], [5, 5, 0]])


def test_a_matrix_given_is_not_changed_or_shared() -> None:
    given_matrix = RHO.copy()
    cost_matrix(given_matrix, LABELS)[0, 1] = 99.0
    np.testing.assert_array_equal(given_matrix, RHO)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones((3, 3)), "predicting 'x' for 'x' is 1.0; the right answer costs nothing"),
        ({"y": {"y": 1}}, "the right answer costs nothing"),
        ({"y": {"x": -1}}, "predicting 'x' for 'y' is -1.0; a cost is not negative"),
        ({"y": {"x": float("nan")}}, "a cost is finite"),
        (lambda a, b: float("inf") if a != b else 0.0, "a cost is finite"),
        ({"y": {"x": "dear"}}, "is 'dear'; a cost is a number"),
        (lambda a, b: None, "is None; a cost is a number"),
        ({"w": {"x": 1}}, "the cost names 'w', which is no label; there are x, "),
        ({"x": 3}, "is neither"),
        (np.zeros((2, 2)), r"shape \(2, 2\); 3 labels need \(3, 3\)"),
        ("hamming", "a cost is a Hierarchy, a table, a square array or a function"),
    ],
)
def test_bad_costs_say_what_is_wrong(cost: object, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        cost_matrix(cost, LABELS)


def test_no_labels_cost_nothing() -> None:
    assert cost_matrix(Hierarchy(TREE), []).shape == (0, 0)
    assert cost_matrix({}, []).shape == (0, 0)
    assert cost_matrix(lambda a, b: 1, []).shape == (0, 0)


# Functions of the user's own, over whole label lists


def root_of(number: float) -> float:
    return math.sqrt(number)


def failing(gold: list[str], predicted: list[str]) -> float:
    return root_of(-1.0)


def failing_below(gold: list[str], predicted: list[str]) -> float:
    return json.loads("{")


@pytest.mark.parametrize(
    ("function", "line", "told"),
    [
        (failing, "    return math.sqrt(number)", "failing raised ValueError (math domain error)"),
        (failing_below, '    return json.loads("{")', "failing_below raised JSONDecodeError"),
    ],
)
def test_a_cost_that_raises_is_told_by_its_own_line(function: Any, line: str, told: str) -> None:
    source = Path(__file__).read_text(encoding="utf-8").split("\n")
    with pytest.raises(SeqpaError) as caught:
        SequenceTagger(["word[0]"], cost=function).fit([["a", "b"]], [["X", "Y"]])
    message = str(caught.value)
    assert message.startswith(f"{__file__}:{source.index(line) + 1}: the cost function {told}")
    assert "\n" not in message
    assert caught.value.__cause__ is not None  # Python's users see the rest


def test_a_cost_of_the_users_own_may_be_a_seqpa_error() -> None:
    def refusing(gold: list[str], predicted: list[str]) -> float:
        raise SeqpaError("not these")

    with pytest.raises(SeqpaError, match="not these"):
        SequenceTagger(["word[0]"], cost=refusing).fit([["a", "b"]], [["X", "Y"]])


def test_aggressiveness_beyond_all_floats() -> None:
    with pytest.raises(SeqpaError, match="C is 1000"):
        SequenceTagger(["word[0]"], C=10**400).fit([["a", "b"]], [["X", "Y"]])
    with pytest.raises(SeqpaError, match="C=1000"):
        PAClassifier(C=10**400).fit([[1.0], [2.0]], [0, 1])


def test_missed_spans_are_the_table_that_they_stand_for() -> None:
    labels = ["O", "B-PER", "I-PER", "missed"]
    table = {label: {"O": 3.0} for label in labels if label != "O"}
    one, two = sequence_cost({"missed": 3}, labels), sequence_cost(table, labels)
    np.testing.assert_array_equal(one.matrix, two.matrix)
    # A label may have that name; before any token is outside, nothing can be missed.
    assert sequence_cost({"missed": {"O": 2.0}}, labels)(["missed"], ["O"]) == 2.0
    assert sequence_cost({"missed": 3}, ["A", "B"])(["A"], ["B"]) == 1.0
    for wrong in ({"missed": "x"}, {"missed": True}, {"missed": 3, "O": {"B-PER": 1.0}}):
        with pytest.raises(SeqpaError, match="how many times"):
            sequence_cost(wrong, labels)
    with pytest.raises(SeqpaError, match="not negative"):
        sequence_cost({"missed": -1}, labels)


def test_missed_spans_learn_as_their_table_and_are_saved(tmp_path: Path) -> None:
    X = [["Ada", "met", "Bob"], ["so", "Bob", "left"], ["Ada", "won"], ["met", "so"]]
    y = [["B-PER", "O", "B-PER"], ["O", "B-PER", "O"], ["O", "O"], ["O", "O"]]
    table = {"B-PER": {"O": 4.0}}
    one, two = (
        SequenceTagger(["word[0]"], cost=cost, random_state=1, epochs=3).fit(X, y)
        for cost in ({"missed": 4}, table)
    )
    assert one.state_features_ == two.state_features_
    one.save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").cost == {"missed": 4}
