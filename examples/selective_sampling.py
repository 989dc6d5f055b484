"""Selective sampling: ask for a label only where the ellipsoid's classifiers disagree (Ellipsoid).

Examples arrive one by one. The learner keeps a centre w and a shape P, and the classifiers of the
ellipsoid around w disagree on an example whose score is small against √(x'Px): there `uncertainty`
is above 1 and the label is asked for; elsewhere it is not needed. `scale` sets the ellipsoid's size
(IELLIP's weights do not depend on it): here a part of the margin that the weights are trained for.
As many labels, asked for at random, find fewer mistakes to learn from.

    python examples/selective_sampling.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize
from sklearn.utils import shuffle

from seqpa import EllipsoidClassifier

MARGIN = 0.1


def learn(
    X: np.ndarray,
    y: np.ndarray,
    reach: float,
    ask: Callable[[EllipsoidClassifier, np.ndarray], bool],
) -> tuple[EllipsoidClassifier, int]:
    """One pass over the examples; the labels for which `ask` says yes are the only ones seen."""
    model = EllipsoidClassifier(margin=MARGIN, scale=(reach * MARGIN) ** 2, average=True)
    model.partial_fit(X[:1], y[:1], classes=np.unique(y))
    asked = 1
    for i in range(1, len(y)):
        if ask(model, X[i : i + 1]):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
            asked += 1
    return model, asked


def compare(name: str, X: np.ndarray, y: np.ndarray, reach: float) -> None:
    """Every label, those of the region of disagreement, and as many at random; half is for test."""
    half = len(y) // 2
    rng = np.random.default_rng(1)
    chance = 1.0
    questions = {
        "every label": lambda model, x: True,
        "in the region of disagreement": lambda model, x: bool(model.uncertainty(x)[0] > 1.0),
        "as many at random": lambda model, x: bool(rng.random() < chance),
    }
    print(f"{name:32} {'labels':>7} {'mistakes':>9} {'test error':>11}")
    for question, ask in questions.items():
        model, asked = learn(X[:half], y[:half], reach, ask)
        error = 1.0 - model.score(X[half:], y[half:])
        print(f"  {question:30} {asked:7} {model.n_updates_:9} {error:11.3f}")
        chance = asked / half


def main() -> None:
    """A halfspace that has to be found, and odd digits to be told from even ones."""
    rng = np.random.default_rng(0)
    X = normalize(rng.normal(size=(3000, 30)))
    compare("a halfspace", X, (X @ rng.normal(size=30) > 0).astype(int), reach=0.3)
    X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
    compare("odd and even digits", normalize(X), y % 2, reach=0.5)


if __name__ == "__main__":
    main()
