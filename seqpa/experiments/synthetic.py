"""The synthetic data of PA 2006, §10, and the best linear classifier on it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def gaussians(
    n: int, seed: int, instance_noise: float = 0.0, label_noise: float = 0.0
) -> tuple[Floats, Floats]:
    """n examples: labels ±1 at random, x from a Gaussian around y·(1, 1).

    Its variances are 0.2 and 2. `instance_noise` is the variance σ of noise added to each
    coordinate, `label_noise` the chance p that a label is flipped. The draws behind them depend on
    the seed alone, so that levels of noise are compared on the same examples.
    """
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    x = y[:, None] + rng.normal(size=(n, 2)) * np.sqrt([0.2, 2.0])
    x += np.sqrt(instance_noise) * rng.normal(size=(n, 2))
    return x, np.where(rng.random(n) < label_noise, -y, y)


def best_linear(x: Floats, y: Floats) -> tuple[int, Floats]:
    """The fewest mistakes that any w in the plane makes, and such a w with ‖w‖ = 1; exact.

    w is right about an example if y x lies within 90° of it. So the best w sees the most of the
    vectors y x in one half-plane, and it is enough to try the half-planes that begin at one.

    >>> best_linear(np.array([[2.0, 1.0], [0.0, 3.0], [1.0, -2.0], [1.0, 1.0]]),
    ...             np.array([1.0, 1.0, 1.0, -1.0]))[0]
    1
    """
    z = y[:, None] * x
    angles = np.sort(np.arctan2(z[:, 1], z[:, 0])[np.any(z != 0.0, axis=1)])
    if not len(angles):
        return len(y), np.array([1.0, 0.0])
    around = np.concatenate([angles, angles + 2 * np.pi])
    ends = np.searchsorted(around, angles + np.pi, side="left")
    right = ends - np.arange(len(angles))
    first = int(np.argmax(right))
    # In the middle of the range of directions that see all of them.
    middle = (around[ends[first] - 1] + around[first]) / 2
    return len(y) - int(right[first]), np.array([np.cos(middle), np.sin(middle)])
