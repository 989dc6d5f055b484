"""Kernels: inner products K(x, z) = φ(x)·φ(z) of examples in a larger space, by one BLAS call.

    linear       x·z
    poly         (γ x·z + coef0)^degree
    rbf          exp(−γ ‖x − z‖²)
    a function   (A, B) -> array [rows of A, rows of B]
    precomputed  the examples are given by their inner products with the training examples

Everything that PA 2006 proves for inner products holds for these (§3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import blocks as kernel
from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
KernelFunction: TypeAlias = Callable[[Any, Any], Any]
NAMES = ("linear", "poly", "rbf", "precomputed")
_POWERS = np.append(np.exp(-np.arange(746.0)), 0.0), np.exp(-np.arange(2048.0) / 2048.0)


@dataclass(frozen=True)
class Kernel:
    """K(x, z) for all pairs of rows of two matrices, dense or CSR.

    Parameters
    ----------
    function : {"linear", "poly", "rbf", "precomputed"} or function
        Which kernel; a function makes of two matrices A, B an array [rows of A, rows of B].
    gamma : float, default 1.0
        γ of "poly" and "rbf".
    degree : int, default 3
        Degree of "poly".
    coef0 : float, default 0.0
        Constant of "poly".
    bias : bool, default False
        Add 1 to every inner product: a constant feature beside φ(x).

    Examples
    --------
    >>> import numpy as np
    >>> A, B = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 0.5]])
    >>> Kernel("poly", gamma=0.5, degree=2, coef0=1.0)(A, B)
    array([[9.    ],
           [1.5625]])
    >>> Kernel("rbf", gamma=0.1)(A, A).round(4)
    array([[1.    , 0.8187],
           [0.8187, 1.    ]])
    """

    function: str | KernelFunction
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    bias: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function) and self.function not in NAMES:
            raise SeqpaError(
                f"kernel={self.function!r}; it must be one of {', '.join(NAMES)}, "
                "or a function of two matrices"
            )

    @property
    def precomputed(self) -> bool:
        """Whether a row holds an example's inner products, and a support vector is a column."""
        return self.function == "precomputed"

    def __call__(self, A: Any, B: Any) -> Floats:
        """float64[rows of A, rows of B]; for a precomputed kernel B holds indices of columns."""
        K = self._without_bias(A, B)
        if self.bias:
            K += 1.0
        return K

    def gram(self, A: Any, own: Any) -> Floats:
        """K of all pairs of rows of A; K(x, x) is exact.

        Parameters
        ----------
        A : array or CSR matrix of shape (n, features)
            The rows.
        own : array or CSR matrix
            The same rows as support vectors: A itself, or their indices for a precomputed kernel.

        Returns
        -------
        array of shape (n, n)
            The inner products.
        """
        K = self(A, own)
        if not self.precomputed and not callable(self.function):
            np.fill_diagonal(K, self.diagonal(A))
        return K

    def _without_bias(self, A: Any, B: Any) -> Floats:
        if self.precomputed:
            return _dense(A[:, B])
        if callable(self.function):
            K = np.array(_dense(self.function(A, B)), dtype=np.float64)
            if K.shape != (A.shape[0], B.shape[0]) or not np.isfinite(K).all():
                raise SeqpaError(
                    f"the kernel function made an array of shape {K.shape} of {A.shape[0]} and "
                    f"{B.shape[0]} examples; it must make finite numbers, "
                    f"{A.shape[0]} × {B.shape[0]}"
                )
            return K
        K = _dense(A @ B.T)
        if self.function == "poly":
            K *= self.gamma
            K += self.coef0
            once = K.copy()
            for _ in range(self.degree - 1):  # many times faster than power
                K *= once
        elif self.function == "rbf":
            scale = 2048.0 * self.gamma
            a, b = scale * _squared_norms(A), scale * _squared_norms(B)
            kernel.gaussian(K, a, b, scale, *_POWERS, np.empty(len(b), dtype=np.intc))
        return K

    def diagonal(self, A: Any) -> Floats:
        """K(x, x) of every row.

        Parameters
        ----------
        A : array or CSR matrix of shape (n, features)
            The rows.

        Returns
        -------
        array of shape (n,)
            Their squared lengths in the kernel's space.

        Examples
        --------
        >>> import numpy as np
        >>> Kernel("poly", gamma=1.0, degree=2, bias=True).diagonal(np.array([[1.0, 2.0]]))
        array([26.])
        """
        if self.precomputed:
            raise SeqpaError("a precomputed kernel does not tell K(x, x) of new examples")
        if callable(self.function):
            small = range(0, A.shape[0], 64)
            parts = [np.diagonal(self(A[i : i + 64], A[i : i + 64])) for i in small]
            return np.concatenate([np.empty(0), *parts])
        if self.function == "rbf":
            own = np.ones(A.shape[0])
        else:
            own = _squared_norms(A)
            if self.function == "poly":
                own = (self.gamma * own + self.coef0) ** self.degree
        return own + 1.0 if self.bias else own


def _dense(K: Any) -> Floats:
    return np.ascontiguousarray(K.toarray() if hasattr(K, "toarray") else K)


def _squared_norms(A: Any) -> Floats:
    if isinstance(A, np.ndarray):
        return np.einsum("ij,ij->i", A, A)
    return np.asarray(A.multiply(A).sum(axis=1)).reshape(-1)
