"""Public names are documented in numpydoc's form, so that an API reference can be made of them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from seqpa.config import Config, Section

numpydoc = pytest.importorskip("numpydoc.validate")

# What users import from: each class and function also has an example. Add a module when it is done.
PUBLIC = [
    "seqpa.config",
    "seqpa.core",
    "seqpa.data",
    "seqpa.errors",
    "seqpa.estimators",
    "seqpa.evaluate",
    "seqpa.nltk",
    "seqpa.schemes",
    "seqpa.sequence.bounds",
    "seqpa.sklearn",
    "seqpa.sklearn_crfsuite",
    "seqpa.sklearn_crfsuite.metrics",
    "seqpa.sklearn_crfsuite.utils",
    "seqpa.tables",
]
# What stands behind them.
INSIDE = [
    "seqpa.pycrfsuite.crfsuite_file",
    "seqpa.pycrfsuite.importing",
    "seqpa.pycrfsuite.items",
    "seqpa.pycrfsuite.log",
    "seqpa.pycrfsuite.parameters",
    "seqpa.pycrfsuite.tagger",
    "seqpa.pycrfsuite.trainer",
    "seqpa.sklearn_crfsuite.eli5",
    "seqpa.sklearn_crfsuite.estimator",
    "seqpa.core.batch",
    "seqpa.core.bounds",
    "seqpa.core.costs",
    "seqpa.core.dual",
    "seqpa.core.ellipsoid",
    "seqpa.core.examples",
    "seqpa.core.feature_maps",
    "seqpa.core.hinge",
    "seqpa.core.kernels",
    "seqpa.core.learner",
    "seqpa.core.low_rank",
    "seqpa.core.mira",
    "seqpa.core.multiplicative",
    "seqpa.core.problems",
    "seqpa.core.rounds",
    "seqpa.core.single",
    "seqpa.core.steps",
    "seqpa.core.support",
    "seqpa.experiments",
    "seqpa.experiments.outcome",
    "seqpa.experiments.setup",
    "seqpa.files",
    "seqpa.sequence.affixes",
    "seqpa.sequence.attributes",
    "seqpa.sequence.batches",
    "seqpa.sequence.composed",
    "seqpa.sequence.constraints",
    "seqpa.sequence.costs",
    "seqpa.sequence.explain",
    "seqpa.sequence.presets",
    "seqpa.sequence.resources",
    "seqpa.sequence.templates",
    "seqpa.training_run",
]
# Modules whose names are not yet in this form, though one of the above or seqpa itself has them.
NOT_YET: tuple[str, ...] = ()

FAULTS = {
    "GL08",  # no docstring
    "SS03",  # the summary does not end with a period
    "SS06",  # it is longer than a line
    "PR01",  # a parameter is not documented
    "PR02",  # an unknown one is
    "PR03",  # they are in another order
    "PR10",  # not written "name : type"
    "RT01",  # what is returned is not documented
    "YD01",  # what is yielded is not documented
}


def public_names(module_name: str) -> list[str]:
    """Those of __all__, or the classes and functions that the module itself defines."""
    module = importlib.import_module(module_name)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module_name
    ]


def objects(module_names: list[str]) -> dict[str, Any]:
    """The classes and functions of modules, by where they are defined."""
    found = {}
    for module_name in module_names:
        for name in public_names(module_name):
            value = getattr(importlib.import_module(module_name), name)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if not value.__module__.startswith(NOT_YET):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


def methods(address: str, owner: type) -> Iterator[str]:
    """The public methods and properties that seqpa itself defines."""
    for name in dir(owner):
        member = inspect.getattr_static(owner, name)
        function = getattr(member, "__func__", getattr(member, "fget", member))
        if (
            not name.startswith("_")
            and inspect.isfunction(function)
            and name not in getattr(owner, "__dataclass_fields__", ())  # a default, not a method
            and (function.__module__ or "").startswith("seqpa")
        ):
            yield f"{address}.{name}"


def addresses() -> list[str]:
    found = []
    for address, value in objects(["seqpa", *PUBLIC, *INSIDE]).items():
        found.append(address)
        if inspect.isclass(value):
            found += methods(address, value)
    return found


def is_protocol(value: Any) -> bool:
    return getattr(value, "_is_protocol", False)


def is_section(value: Any) -> bool:
    """A section of the configuration: its docstring and its keys' descriptions are for users."""
    return inspect.isclass(value) and issubclass(value, Section)


def test_numpydoc_finds_no_fault() -> None:
    known = objects(["seqpa", *PUBLIC, *INSIDE])
    faults = []
    for address in addresses():
        # A protocol has no constructor of its own: numpydoc would ask for *args and **kwargs.
        value = known.get(address)
        wrong = FAULTS - {"PR01"} if is_protocol(value) or is_section(value) else FAULTS
        found = numpydoc.validate(address)["errors"]
        faults += [f"{address}: {code} {text}" for code, text in found if code in wrong]
    assert not faults, "\n".join(faults)


def with_examples() -> dict[str, Any]:
    """What users can call or make: not protocols, and not the sections of a configuration."""
    return {
        address: value
        for address, value in objects(["seqpa", *PUBLIC]).items()
        if not is_protocol(value) and not is_section(value)
    }


def test_every_public_name_has_an_example() -> None:
    found = with_examples()
    assert found
    without = [name for name in found if ">>>" not in (inspect.getdoc(found[name]) or "")]
    assert not without, f"an example is missing in {', '.join(without)}"


def test_every_key_of_the_configuration_is_described() -> None:
    for address, section in objects(["seqpa.config"]).items():
        if is_section(section) and section is not Config:  # whose keys are the sections
            for name, field in section.model_fields.items():
                assert field.description, f"{address}.{name}"
