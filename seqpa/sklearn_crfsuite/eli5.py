"""What eli5 explains of a `CRF`: its weights, label by label, and its transitions.

eli5 is told of `CRF` when both are there: at once where eli5 is imported already, else when it is.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

_HOME = "eli5.explain"  # where eli5 has the function that others extend


def register(estimator: type) -> None:
    """Let ``eli5.explain_weights`` know this class.

    Parameters
    ----------
    estimator : type
        `CRF`.
    """
    if _HOME in sys.modules:
        _tell(sys.modules[_HOME], estimator)
    else:
        sys.meta_path.insert(0, _WhenImported(estimator))


def _tell(module: ModuleType, estimator: type) -> None:
    module.explain_weights.register(estimator, explain_weights)


class _WhenImported(MetaPathFinder):
    """Waits for the import of eli5, and is gone after it."""

    def __init__(self, estimator: type) -> None:
        self._estimator = estimator

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, with a loader that tells eli5 of the class."""
        if fullname != _HOME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._estimator)
        return spec


class _Loader(Loader):
    """Another loader, and then one thing more."""

    def __init__(self, loader: Loader, estimator: type) -> None:
        self._loader = loader
        self._estimator = estimator

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the other loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """As the other loader does, and then the class is told."""
        self._loader.exec_module(module)
        _tell(module, self._estimator)


def explain_weights(
    crf: Any,
    top: int | tuple[int, int] | None = 20,
    target_names: Any = None,
    targets: Sequence[str] | None = None,
    feature_re: str | None = None,
    feature_filter: Callable[..., bool] | None = None,
) -> Any:
    """The weights of a trained `CRF` as eli5 shows them.

    Parameters
    ----------
    crf : CRF
        Trained.
    top : int, (int, int) or None, default 20
        How many features of each label: the largest, or so many positive and negative ones.
    target_names : dict, list or None, default None
        Other names for the labels: by label, or for all of them in order.
    targets : list of str or None, default None
        Which labels, in which order.
    feature_re : str or None, default None
        Only features that it finds something in.
    feature_filter : function or None, default None
        Only features for which it is True.

    Returns
    -------
    eli5.base.Explanation
        With targets and transition features.
    """
    from eli5.base import Explanation, TargetExplanation, TransitionFeatureWeights

    labels = list(crf.classes_)
    chosen = _in_order(labels) if targets is None else list(targets)
    shown = dict(zip(labels, labels, strict=True))
    if isinstance(target_names, dict):
        shown |= target_names
    elif target_names is not None:
        shown = dict(zip(labels, target_names, strict=True))
    weights: dict[str, list[tuple[str, float]]] = {label: [] for label in labels}
    for (feature, label), weight in crf.state_features_.items():
        if feature_re is not None and not re.search(feature_re, feature):
            continue
        if feature_filter is not None and not feature_filter(feature):
            continue
        weights[label].append((feature, weight))
    steps = crf.transition_features_
    return Explanation(
        targets=[
            TargetExplanation(target=shown[label], feature_weights=_largest(weights[label], top))
            for label in chosen
        ],
        transition_features=TransitionFeatureWeights(
            class_names=[shown[label] for label in chosen],
            coef=np.array([[steps.get((p, y), 0.0) for y in chosen] for p in chosen]),
        ),
        estimator=repr(crf),
        method="CRF",
    )


def _in_order(labels: Sequence[str]) -> list[str]:
    """O and its like first, then the labels of each kind of entity together.

    >>> _in_order(["B-ORG", "B-LOC", "I-LOC", "O"])
    ['O', 'B-LOC', 'I-LOC', 'B-ORG']
    """
    return sorted(labels, key=lambda label: (label.partition("-")[2], label))


def _largest(weights: list[tuple[str, float]], top: int | tuple[int, int] | None) -> Any:
    from eli5.base import FeatureWeight, FeatureWeights

    ups = sorted((w for w in weights if w[1] > 0), key=lambda w: -w[1])
    downs = sorted((w for w in weights if w[1] < 0), key=lambda w: w[1])
    if isinstance(top, tuple):
        n_up, n_down = top
    elif top is None:
        n_up, n_down = len(ups), len(downs)
    else:
        both = sorted([*ups, *downs], key=lambda w: -abs(w[1]))[:top]
        n_up = sum(weight > 0 for _, weight in both)
        n_down = len(both) - n_up
    return FeatureWeights(
        pos=[FeatureWeight(feature=name, weight=weight) for name, weight in ups[:n_up]],
        neg=[FeatureWeight(feature=name, weight=weight) for name, weight in downs[:n_down]],
        pos_remaining=len(ups) - min(n_up, len(ups)),
        neg_remaining=len(downs) - min(n_down, len(downs)),
    )
