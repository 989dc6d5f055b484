"""What the estimators' parameters must satisfy, in code and in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seqpa.core.problems import CostSensitive
from seqpa.core.steps import USES_C, is_finite
from seqpa.errors import SeqpaError

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


def checked_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """The weights of n examples: numbers, 0 or above, and not all 0."""
    weight = np.array(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise SeqpaError(f"sample_weight has the shape {weight.shape}; there are {n} examples")
    if not (np.isfinite(weight).all() and (weight >= 0.0).all() and (weight > 0.0).any()):
        raise SeqpaError("sample_weight holds finite numbers, zero or above, and not only zeros")
    return weight


# What may change between calls of partial_fit; the learner is built with all the others.
_EACH_CALL = {"C", "class_weight", "max_iter", "tol", "shuffle", "random_state"}


@cache
def parameter_names(estimator: type) -> tuple[str, ...]:
    """The names of an estimator's parameters; kept, since reading a signature is slow."""
    return tuple(estimator._get_param_names())  # type: ignore[attr-defined]


@cache
def _getter(estimator: type) -> Callable[[dict[str, Any]], Any]:
    return itemgetter(*parameter_names(estimator))


def parameter_values(estimator: object) -> tuple[Any, ...]:
    """The values of an estimator's parameters, in the order of their names."""
    kind: type = type(estimator)
    values: tuple[Any, ...] = _getter(kind)(estimator.__dict__)
    return values


@cache
def lasting_names(estimator: type) -> tuple[str, ...]:
    """The parameters that must stay the same from the first call of partial_fit to the last."""
    return tuple(name for name in parameter_names(estimator) if name not in _EACH_CALL)
