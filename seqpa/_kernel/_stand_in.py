"""What the kernel's sources need of the `cython` module when they run as plain Python.

Cython is needed to build seqpa, not to run it. Types appear in the sources only as annotations,
which are never evaluated; what is left are these decorators and functions, which do nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

compiled = False


def _unchanged(function: Any) -> Any:
    return function


def _option(*_values: Any, **_named: Any) -> Callable[[Any], Any]:
    return _unchanged


class _Nogil(nullcontext):  # type: ignore[type-arg]
    """Both `with cython.nogil:` and `@cython.nogil`."""

    def __call__(self, function: Any) -> Any:
        return function


def cast(kind: Callable[[Any], Any], value: Any) -> Any:
    """The value as the Python type that stands for the C one."""
    return kind(value)


def declare(_type: Any, value: Any = None) -> Any:
    """The initial value: Python needs no C type for it."""
    return value


ccall = cfunc = cclass = final = inline = _unchanged
exceptval = _option
nogil = _Nogil()
int = Py_ssize_t = longlong = int
float = double = float
