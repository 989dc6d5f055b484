"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import seqpa

MODULES = [
    info.name
    for info in pkgutil.walk_packages(seqpa.__path__, "seqpa.")
    if not info.name.endswith("__main__")
]


# Faces of packages that not everybody has.
NEEDS = {"seqpa.river": "river", "seqpa.spacy": "spacy"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path, monkeypatch) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    module = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(module).failed == 0
