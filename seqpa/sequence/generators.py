"""The states of NumPy's random generators, as a file can hold them.

NumPy believes what it is told: a position behind the end of a generator's buffer makes it read
there, and a generator that always gives the same number never ends a shuffle. So every field is
checked before NumPy sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqpa.errors import SeqpaError

# The fields of each generator: a number below this, or a list of so many numbers below that.
_Fields = dict[str, "int | tuple[int, int]"]
_WORD, _LONG, _HUGE = 2**32, 2**64, 2**128
_HALF: _Fields = {"has_uint32": 2, "uinteger": _WORD}  # a number of 64 bits is used in two halves
_INNER: dict[str, _Fields] = {
    "PCG64": {"state": _HUGE, "inc": _HUGE},
    "PCG64DXSM": {"state": _HUGE, "inc": _HUGE},
    "MT19937": {"key": (624, _WORD), "pos": 625},
    "Philox": {"counter": (4, _LONG), "key": (2, _LONG)},
    "SFC64": {"state": (4, _LONG)},
}
_OUTER: dict[str, _Fields] = {
    "PCG64": _HALF,
    "PCG64DXSM": _HALF,
    "MT19937": {},
    "Philox": {"buffer": (4, _LONG), "buffer_pos": 5, **_HALF},
    "SFC64": _HALF,
}


def plain_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's state without NumPy's types, so that JSON can hold it.

    >>> state = plain_state(np.random.Generator(np.random.SFC64(1)))
    >>> state["bit_generator"], len(state["state"]["state"]), state["has_uint32"]
    ('SFC64', 4, 0)
    """
    return _plain(dict(rng.bit_generator.state))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def restored(state: Any) -> np.random.Generator:
    """The generator in this state, if it is one that the generator can be in.

    >>> rng = np.random.default_rng(1)
    >>> restored(plain_state(rng)).random() == rng.random()
    True
    """
    if not isinstance(state, Mapping) or state.get("bit_generator") not in tuple(_INNER):
        raise SeqpaError("is damaged: it names no random generator of NumPy's")
    name: str = state["bit_generator"]
    inner = _checked(state.get("state"), _INNER[name], name)
    stuck = (
        inner["inc"] % 2 == 0
        if "inc" in inner
        # Of the first word only the highest bit counts.
        else not (any(inner["key"][1:]) or inner["key"][0] >= 2**31)
        if name == "MT19937"
        else False
    )
    if stuck:
        raise SeqpaError(f"is damaged: its random generator {name} always gives the same number")
    generator = getattr(np.random, name)()
    generator.state = {
        "bit_generator": name,
        "state": {key: _numbers(value) for key, value in inner.items()},
        **{key: _numbers(value) for key, value in _checked(state, _OUTER[name], name).items()},
    }
    return np.random.Generator(generator)


def _checked(state: Any, wanted: _Fields, name: str) -> dict[str, Any]:
    """The wanted fields, each of which is of its kind."""
    found = {key: state.get(key) for key in wanted} if isinstance(state, Mapping) else {}
    for key, kind in wanted.items():
        value = found.get(key)
        cells, below = ([value], kind) if isinstance(kind, int) else (value, kind[1])
        if (
            not isinstance(cells, list)
            or (isinstance(kind, tuple) and len(cells) != kind[0])
            or not all(type(cell) is int and 0 <= cell < below for cell in cells)
        ):
            raise SeqpaError(f"is damaged: {key!r} of its random generator {name} is not right")
    return found


def _numbers(value: int | list[int]) -> Any:
    return np.array(value, np.uint64) if isinstance(value, list) else value
