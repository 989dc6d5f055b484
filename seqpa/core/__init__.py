"""Passive-aggressive learning on vectors: Problem × Step × Geometry.

Every example, whatever the problem, asks for one linear constraint w·δ >= margin, and a step moves
w towards it, along δ:

    problem         margin    score now     direction δ
    Binary          1         y w·x         y x
    Regression      −ε        −|y − w·x|    sign(y − w·x) x
    Uniclass        −ε        −‖x − w‖      (x − w)/‖x − w‖
    OneVsRest       1         y_k w_k·x     y_k Φ(x, k), a constraint for each label k
    Multiclass,     1         w·δ           Φ(x, lowest relevant) − Φ(x, highest irrelevant)
    Multilabel
    CostSensitive   √ρ(y, ŷ)  w·δ           Φ(x, y) − Φ(x, ŷ), ŷ the label with the highest score,
                                            or the highest score + √ρ ("max-loss")

With r = margin − score and n² = ‖δ‖² the length of the step is

    PA  max(0, r)/n²    PA-I  min(C, PA)    PA-II  max(0, r)/(n² + 1/2C)
    PA-LS  r/(n² + 1/2C)    perceptron  1 where score <= 0

Φ(x, k) is x in the k-th of K blocks (multi-prototype: a weight vector for each label), or what a
feature map makes of x and the label (single-prototype). Weights move as w ← w + τδ, and their mean
over time comes with it.

In reading order: steps (how far), problems (which constraint), costs (what a mistake costs),
examples (what the kernel reads), single (one example at a time), learner (the passes), feature_maps
(label-dependent features), mira and hinge (other steps), batch (several examples, one step),
multiplicative, ellipsoid, low_rank and dual (other geometries), bounds (what the theorems promise,
and whether it held). docs/algorithms.md has all of them in a table.

Papers are cited by short names, such as "PA 2006, Theorem 4"; docs/references.md lists them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqpa.core.costs import Hierarchy, cost_matrix
    from seqpa.core.examples import Examples
    from seqpa.core.feature_maps import FeatureMap, LabelTfidf
    from seqpa.core.learner import Learner, Run, passes
    from seqpa.core.problems import (
        Binary,
        CostSensitive,
        Multiclass,
        Multilabel,
        OneVsRest,
        Problem,
        Regression,
        Uniclass,
    )
    from seqpa.core.steps import STEPS, step_size

# Name -> module, loaded at first use: the sequence taggers need only the costs, and should not have
# to load the learners on vectors and their kernels.
_HOMES: dict[str, str] = {
    "STEPS": "steps",
    "Binary": "problems",
    "CostSensitive": "problems",
    "Examples": "examples",
    "FeatureMap": "feature_maps",
    "Hierarchy": "costs",
    "LabelTfidf": "feature_maps",
    "Learner": "learner",
    "Multiclass": "problems",
    "Multilabel": "problems",
    "OneVsRest": "problems",
    "Problem": "problems",
    "Regression": "problems",
    "Run": "learner",
    "Uniclass": "problems",
    "cost_matrix": "costs",
    "passes": "learner",
    "step_size": "steps",
}

__all__ = [  # the names of _HOMES, written out for type checkers
    "STEPS",
    "Binary",
    "CostSensitive",
    "Examples",
    "FeatureMap",
    "Hierarchy",
    "LabelTfidf",
    "Learner",
    "Multiclass",
    "Multilabel",
    "OneVsRest",
    "Problem",
    "Regression",
    "Run",
    "Uniclass",
    "cost_matrix",
    "passes",
    "step_size",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"seqpa.core.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'seqpa.core' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
