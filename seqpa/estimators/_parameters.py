"""What the estimators' parameters must satisfy, in code and in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from seqpa.core.problems import CostSensitive
from seqpa.core.steps import USES_C, is_finite

Rule: TypeAlias = tuple[Callable[[Any], bool], str]
VARIANTS = ("PA", *USES_C)


def above_zero(value: Any) -> bool:
    """Whether it is a finite number above 0."""
    return from_zero(value) and value > 0


def from_zero(value: Any) -> bool:
    """Whether it is a finite number, 0 or above."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and is_finite(value) and value >= 0


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, 1 or above."""
    return isinstance(value, Integral) and int(value) >= 1


def one_of(*names: str) -> Rule:
    """The rule of a parameter that is a name."""
    return (lambda value: isinstance(value, str) and value in names), f"one of {', '.join(names)}"


def _flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


WHOLE: Rule = (is_whole, "a whole number, 1 or above")

# Parameter -> what it must satisfy, in code and in words; each holds wherever the name occurs.
RULES: dict[str, Rule] = {
    "C": (above_zero, "a number above 0"),
    "margin": (above_zero, "a number above 0"),
    "epsilon": (from_zero, "a number, 0 or above"),
    "max_radius": (above_zero, "a number above 0"),
    "max_iter": WHOLE,
    "tol": (lambda tol: tol is None or from_zero(tol), "a number, 0 or above, or None"),
    "fit_intercept": (_flag, "True or False"),
    "learn_radius": (_flag, "True or False"),
    "shuffle": (_flag, "True or False"),
    "average": (_flag, "True or False"),
    "variant": one_of(*VARIANTS),
    "update": one_of(*CostSensitive.UPDATES),
    "init": one_of("zero", "first"),
    "multiclass": one_of("prototypes", "one-vs-rest"),
}


# What may change between calls of partial_fit; the learner is built with all the others.
_EACH_CALL = {"C", "class_weight", "max_iter", "tol", "shuffle", "random_state"}


@cache
def parameter_names(estimator: type) -> tuple[str, ...]:
    """The names of an estimator's parameters; kept, since reading a signature is slow."""
    return tuple(estimator._get_param_names())  # type: ignore[attr-defined]


@cache
def lasting_names(estimator: type) -> tuple[str, ...]:
    """The parameters that must stay the same from the first call of partial_fit to the last."""
    return tuple(name for name in parameter_names(estimator) if name not in _EACH_CALL)
