"""The steps by name: how far to move along δ. The one-line formulas stand in `_kernel/steps.py`.

PA          PA 2006, Eq. 3: all the way to the constraint
PA-I        PA 2006, Eq. 8: the same, but never further than C
PA-II       PA 2006, Eq. 8: the same, shortened smoothly by 1/2C
PA-LS       Mini-batch PA, Eq. 9: least squares; also backwards, from beyond the margin
perceptron  1 after a mistake, whatever the loss
"""

from __future__ import annotations

import math
from typing import Any

from seqpa._kernel import steps as kernel
from seqpa.errors import SeqpaError

STEPS: tuple[str, ...] = tuple(kernel.CODES)
USES_C = ("PA-I", "PA-II", "PA-LS")


def code(name: str) -> int:
    """The kernel's number of a step.

    Parameters
    ----------
    name : str
        One of `STEPS`.

    Returns
    -------
    int
        The number by which the compiled loop knows it.

    Examples
    --------
    >>> code("PA III")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: 'PA III' is no step; there are: perceptron, PA, PA-I, PA-II, PA-LS
    """
    if name not in kernel.CODES:
        raise SeqpaError(f"{name!r} is no step; there are: {', '.join(STEPS)}")
    return int(kernel.CODES[name])


def is_finite(value: Any) -> bool:
    """Whether a number, as a float, is finite: a whole number may be larger than any float.

    Parameters
    ----------
    value : number
        Any real number.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_finite(3), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def step_size(name: str, r: float, score: float, norm2: float, C: float = 1.0) -> float:
    """The length τ of a step for a constraint w·δ >= margin.

    Parameters
    ----------
    name : str
        The step, one of `STEPS`.
    r : float
        margin − w·δ: how much is missing.
    score : float
        w·δ, which the perceptron looks at.
    norm2 : float
        ‖δ‖².
    C : float, default 1.0
        The aggressiveness.

    Returns
    -------
    float
        τ.

    Examples
    --------
    >>> [step_size(name, r=1.5, score=-0.5, norm2=4.0, C=0.25) for name in ("PA", "PA-I", "PA-II")]
    [0.375, 0.25, 0.25]
    """
    return float(kernel.step_size(code(name), r, score, norm2, C))
