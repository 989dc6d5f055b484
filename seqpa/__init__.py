"""Sequence labelling with online passive-aggressive learning, on a complete PA core."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from seqpa.errors import SeqpaError

__version__ = "0.1.0"

if TYPE_CHECKING:
    pass

# Public name -> module. Loaded at first use, so that `import seqpa` and the command line's --help
# do not wait for scikit-learn or nltk.
_HOMES: dict[str, str] = {}

__all__ = ["SeqpaError", "__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'seqpa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
