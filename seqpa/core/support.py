"""Support vectors: the examples of which w is a sum, and their coefficients.

Rows are copied once, into arrays that grow by doubling, never beyond a budget. A CSR matrix of
support vectors is put together anew when some arrive: little beside the inner products with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.core.kernels import Floats, Kernel

Indices = NDArray[np.intp]
_AT_ONCE = 1 << 17  # inner products made at once: 1 MB, which the cache holds


class Growing:
    """A NumPy array that grows at its end, with room to spare up to `most` rows.

    >>> numbers = Growing(np.empty((0, 2)), most=3)
    >>> numbers.append(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> numbers.append(np.array([[5.0, 6.0]]))
    >>> numbers.keep(np.array([2, 0]))
    >>> numbers.rows, numbers.capacity
    (array([[5., 6.],
           [1., 2.]]), 3)
    """

    def __init__(self, empty: NDArray[Any], most: int | None = None) -> None:
        self._room = empty
        self._most = most
        self._used = 0

    @property
    def rows(self) -> NDArray[Any]:
        """What is in it: a view."""
        return self._room[: self._used]

    @property
    def capacity(self) -> int:
        """Rows for which memory is held."""
        return len(self._room)

    def append(self, rows: NDArray[Any]) -> None:
        """Copy the rows behind the last."""
        need = self._used + len(rows)
        if need > len(self._room):
            size = max(need, 2 * len(self._room), 16)
            size = min(size, max(need, self._most or size))
            room = np.empty((size, *self._room.shape[1:]), dtype=self._room.dtype)
            room[: self._used] = self.rows
            self._room = room
        self._room[self._used : need] = rows
        self._used = need

    def keep(self, chosen: Indices) -> None:
        """Only these rows stay, in this order."""
        self._room[: len(chosen)] = self.rows[chosen]
        self._used = len(chosen)


class Support:
    """Support vectors x_i with their coefficients: w_k = Σ_i coef[i, k] φ(x_i).

    vectors  the rows, as the examples are: dense or CSR; for a precomputed kernel, their indices
    coef     float64[m, K]
    acc      float64[m, K], the sum for the mean, or float64[m, 0]
    norms    K(x, x)
    source   the row of the present examples that it is, −1 where it is none of them
    """

    def __init__(self, kernel: Kernel, n_labels: int, average: bool, most: int | None) -> None:
        self.kernel = kernel
        self._most = most
        self._vectors: Any = None  # Growing, or a CSR matrix; the first examples tell
        self._coef = Growing(np.empty((0, n_labels)), most)
        self._acc = Growing(np.empty((0, n_labels if average else 0)), most)
        self._norms = Growing(np.empty(0), most)
        self._source = Growing(np.empty(0, dtype=np.intp), most)

    def __len__(self) -> int:
        return len(self.coef)

    @property
    def vectors(self) -> Any:
        """The rows."""
        return self._vectors.rows if isinstance(self._vectors, Growing) else self._vectors

    @property
    def coef(self) -> Floats:
        """The coefficients: a view."""
        return self._coef.rows

    @property
    def acc(self) -> Floats:
        """The averaging sums: a view."""
        return self._acc.rows

    @property
    def norms(self) -> Floats:
        """K(x, x)."""
        return self._norms.rows

    @property
    def source(self) -> Indices:
        """Rows of the present examples: a view."""
        return self._source.rows

    @property
    def nbytes(self) -> int:
        """The memory that is held for all this."""
        arrays = [self._coef, self._acc, self._norms, self._source]
        if isinstance(self._vectors, Growing):
            arrays.append(self._vectors)
        elif self._vectors is not None:
            matrix = self._vectors
            return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) + sum(
                one._room.nbytes for one in arrays
            )
        return sum(one._room.nbytes for one in arrays)

    def append(
        self, vectors: Any, coef: Floats, acc: Floats, norms: Floats, source: Indices
    ) -> None:
        """Take in new support vectors."""
        if self._vectors is None:
            self._vectors = vectors[:0]
            if isinstance(vectors, np.ndarray):
                self._vectors = Growing(
                    np.empty((0, *vectors.shape[1:]), vectors.dtype), self._most
                )
        if isinstance(self._vectors, Growing):
            self._vectors.append(vectors.toarray() if hasattr(vectors, "toarray") else vectors)
        else:
            from scipy import sparse

            self._vectors = sparse.vstack([self._vectors, sparse.csr_matrix(vectors)], format="csr")
        self._coef.append(coef)
        self._acc.append(acc)
        self._norms.append(norms)
        self._source.append(source)

    def keep(self, chosen: Indices) -> None:
        """Only these stay, in this order."""
        if isinstance(self._vectors, Growing):
            self._vectors.keep(chosen)
        elif self._vectors is not None:
            self._vectors = self._vectors[chosen]
        for one in (self._coef, self._acc, self._norms, self._source):
            one.keep(chosen)

    def scores(self, X: Any, coef: Floats) -> Floats:
        """Σ_i coef[i, k] K(x_i, x) for the rows x of X: float64[n, K]; a piece at a time."""
        scores = np.zeros((X.shape[0], coef.shape[1]))
        some = 256
        for i in range(0, X.shape[0], some):
            rows = X[i : i + some]
            size = max(1, _AT_ONCE // rows.shape[0])
            for j in range(0, len(self), size):
                K = self.kernel(rows, self.vectors[j : j + size])
                scores[i : i + some] += K @ coef[j : j + size]
        return scores

    def squared_norm(self, coef: Floats) -> float:
        """‖Σ_i coef[i] φ(x_i)‖² for one column of coefficients."""
        if len(self) == 0:
            return 0.0
        return float(coef[:, 0] @ self.scores(self.vectors, coef)[:, 0])
