"""The parameters of a tagger as JSON, as model files and training states hold them.

Nothing of it can run: a function is stored as "module:function", and imported only where the caller
allows it. What is read may come from a hostile file, so that every value is looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Set
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np

from seqpa.array_files import shortened
from seqpa.core.costs import Hierarchy
from seqpa.errors import SeqpaError

LARGEST_COUNT = 2**53  # of epochs, tokens, mistakes: JSON's readers keep whole numbers up to here

# Those that are arrays of a file, or folders that may be gone.
_INSIDE = ("resources", "taggers", "memory_folder")
# Parameters that may be anything of JSON's simple values; `check_parameters` of the tagger, and the
# learner, look at the values.
_SIMPLE = (type(None), bool, int, float, str)
# How deeply parameters are nested: lists of pairs in a mapping, as constraints are.
_MAX_DEPTH = 10
_MAX_LEVELS = 100  # of a hierarchy
_MAX_TEXT = 200
# A file must not ask for more threads than any machine has.
_MAX_JOBS = 256


def function_name(function: Callable[..., Any]) -> str | None:
    """The name "module:function" under which a function is found again, or None.

    None for a lambda, the method of an object, or a function whose name now stands for another.

    Parameters
    ----------
    function : callable

    Returns
    -------
    str or None

    Examples
    --------
    >>> from seqpa.sequence.costs import span
    >>> function_name(span)
    'seqpa.sequence.costs:span'
    >>> function_name(Hierarchy({"a": None}).cost) is None
    True
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or module == "__main__":
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    # Not "is": each look at a class method makes a new object.
    return f"{module}:{name}" if found == function else None


def import_function(name: str) -> Callable[..., Any]:
    """The function that "module:function" names.

    Parameters
    ----------
    name : str

    Returns
    -------
    callable

    Raises
    ------
    SeqpaError
        If it cannot be imported, or is no function.

    Examples
    --------
    >>> import_function("math:floor")(2.5)
    2
    """
    module, _, attribute = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise SeqpaError(f"the function {name!r} cannot be imported: {error}") from None
    if not callable(found):
        raise SeqpaError(f"{name!r} is not a function")
    return found


class UnloadedFunction:
    """Stands for a function that a file names and nobody allowed to import; calling it tells.

    Parameters
    ----------
    name : str or None
        "module:function", where the file tells it.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name

    def __call__(self, *_: Any) -> Any:
        """Refuse, and say what to do."""
        raise SeqpaError(
            f"the model's own function {self.name or '(a lambda or local one)'} was not imported: "
            f"load with allow_imports=True, or set the parameter again"
        )

    def __repr__(self) -> str:
        return f"UnloadedFunction({self.name!r})"


def _value_to_json(value: Any, name: str) -> Any:
    if isinstance(value, Hierarchy):
        paths = [list(value.path(label)) for label in value.labels]
        lengths = [[label, length] for label, length in value.lengths.items()]
        return {"hierarchy": {"paths": paths, "lengths": lengths} if lengths else paths}
    if isinstance(value, UnloadedFunction):
        return {"function": value.name}
    if type(value).__module__.startswith("numpy.random"):  # which tagging need not import
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return {"matrix": value.tolist()}
    if isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        return {"pairs": [[*key, _value_to_json(cost, name)] for key, cost in value.items()]}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): _value_to_json(item, name) for key, item in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_value_to_json(item, name) for item in value]
    if isinstance(value, Set):  # whose own order changes from run to run
        return sorted((_value_to_json(item, name) for item in value), key=json.dumps)
    if callable(value):
        return {"function": function_name(value)}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Real):
        return float(value)
    raise SeqpaError(f"the parameter {name} = {value!r} cannot be stored in a model file")


def _value_from_json(value: Any, allow_imports: bool, depth: int = 0) -> Any:
    if depth > _MAX_DEPTH:
        raise SeqpaError("is damaged: its parameters are nested too deeply")

    def inner(item: Any) -> Any:
        return _value_from_json(item, allow_imports, depth + 1)

    if isinstance(value, list):
        return [inner(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "hierarchy":
        return _hierarchy(content)
    if kind == "matrix":
        matrix = np.array(content)
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise SeqpaError("is damaged: a matrix among its parameters is no matrix of numbers")
        return matrix
    if kind == "pairs":
        return {tuple(pair[:-1]): pair[-1] for pair in content}
    if kind == "mapping":
        return {key: inner(item) for key, item in content.items()}
    if kind != "function" or not (content is None or isinstance(content, str)):
        raise SeqpaError(f"is damaged: it has a parameter of the kind {shortened(repr(kind))}")
    if content is not None and allow_imports:
        return import_function(content)
    return UnloadedFunction(content)


def _hierarchy(content: Any) -> Hierarchy:
    """From paths; where edges have lengths, from both."""
    tree: dict[str, Any] = {}
    nodes: dict[Any, dict[str, Any]] = {}
    paths, lengths = content, []
    if isinstance(content, dict):
        paths, lengths = content["paths"], content["lengths"]
    for path in paths:
        if not isinstance(path, list) or not {str}.issuperset(map(type, path)):
            raise SeqpaError("is damaged: its hierarchy has a label that is no string")
        if len(path) > _MAX_LEVELS:
            raise SeqpaError(f"is damaged: its hierarchy has more than {_MAX_LEVELS} levels")
        below = tree
        for label in path:
            below = nodes[label] = below.setdefault(label, {})
    for label, length in lengths:
        if label not in nodes or type(length) not in (int, float):
            raise SeqpaError("is damaged: its hierarchy has an edge of no length")
        nodes[label]["length"] = length
    return Hierarchy(tree)


def to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON can hold them, but those that a model file holds as such.

    Parameters
    ----------
    parameters : mapping
        Those of a `SequenceTagger`, by name.

    Returns
    -------
    dict

    Raises
    ------
    SeqpaError
        If one cannot be stored.

    Examples
    --------
    >>> import math
    >>> to_json({"epochs": 3, "cost": {("A", "B"): 2.0}, "features": math.floor})
    {'epochs': 3, 'cost': {'pairs': [['A', 'B', 2.0]]}, 'features': {'function': 'math:floor'}}
    """
    # Resources and taggers are inside the file; files of theirs may be gone, and so may folders.
    return {
        name: _value_to_json(value, name)
        for name, value in parameters.items()
        if name not in _INSIDE
    }


def from_json(stored: Mapping[str, Any], allow_imports: bool = False) -> dict[str, Any]:
    """Parameters from what `to_json` made of them; they are checked, as a file may be hostile.

    Parameters
    ----------
    stored : mapping
    allow_imports : bool, default=False
        Import the functions that they name; without it they are each an `UnloadedFunction`.

    Returns
    -------
    dict

    Raises
    ------
    SeqpaError
        If a parameter is none that a tagger can have; or if its features are a function, which is
        not to be imported.

    Examples
    --------
    >>> from_json({"cost": {"function": "math:dist"}, "epochs": 3})
    {'cost': UnloadedFunction('math:dist'), 'epochs': 3}
    """
    features = stored.get("features")
    if isinstance(features, dict) and "function" in features and not allow_imports:
        raise SeqpaError(
            f"the model needs the feature function {features['function']!r}: if you trust it, "
            f"load with allow_imports=True"
        )
    found = {name: _value_from_json(value, allow_imports) for name, value in stored.items()}
    for name, value in found.items():
        if not _is_right(name, value):
            told = shortened(repr(stored[name]))
            raise SeqpaError(f"is damaged: its parameter {shortened(name)} is {told}")
    return found


def _is_right(name: str, value: Any) -> bool:
    """Whether a parameter is of a kind that a tagger can have."""
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        return False
    texts = isinstance(value, list) and {str}.issuperset(map(type, value))
    if name == "features":
        return value is None or isinstance(value, str) or texts or callable(value)
    if name == "columns":
        return texts
    if name == "jackknife":
        counts = value.values() if isinstance(value, dict) else [value]
        return all(type(count) is int and 0 <= count <= LARGEST_COUNT for count in counts)
    if name == "cost":
        return isinstance(value, (str, Hierarchy, dict, np.ndarray)) or callable(value)
    if name == "constraints":
        return value is None or isinstance(value, (str, dict))
    if name == "random_state":
        several = value if isinstance(value, list) else [value]
        return all(seed is None or type(seed) is int for seed in several)
    if name == "n_jobs" and isinstance(value, int) and value > _MAX_JOBS:
        return False
    return isinstance(value, _SIMPLE) and not (
        isinstance(value, int) and abs(value) > LARGEST_COUNT
    )
