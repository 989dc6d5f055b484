"""A run as the theorems see it (`Rounds`), and what one theorem says of it (`Bound`).

`Rounds` holds plain arrays and knows nothing of how they arose: passes over vectors (`bounds.py`
fills it from them), a sequence tagger's sentences, anything that moves w along δ. `theorems.py`
puts them into the theorems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa.errors import SeqpaError

Kind = Literal["classification", "regression", "uniclass", "cost-sensitive"]
Needs = Sequence[tuple[bool, str]]

LEMMA = {
    "classification": "Lemma 1",
    "regression": "Lemma 6",
    "uniclass": "Lemma 7",
    "cost-sensitive": "Lemma 9",
}
_ROUNDING = 1e-9  # relative to the size of the terms that are summed


@dataclass(frozen=True)
class Bound:
    """One theorem on one run: `left <= right` is what it promises.

    Parameters
    ----------
    name : str
        Where it stands, such as "PA 2006, Theorem 4".
    left : float
        Its left side; NaN where it does not apply.
    right : float
        Its right side; NaN where it does not apply.
    holds : bool
        Whether left <= right, up to rounding.
    applies : bool
        Whether its assumptions hold.
    why : str
        The inequality in symbols, or the assumption that is missing.

    Examples
    --------
    >>> Bound("PA 2006, Theorem 2", 5.0, 4.0, False, True, "Σℓ² <= R²‖u‖²").violated
    True
    """

    name: str
    left: float
    right: float
    holds: bool
    applies: bool
    why: str

    @property
    def violated(self) -> bool:
        """Whether it applies and is false: then the run is not the algorithm it claims to be."""
        return self.applies and not self.holds


class Rounds:
    """What a run did, round by round, beside what a fixed comparator u would have done.

    Parameters
    ----------
    kind : {"classification", "regression", "uniclass", "cost-sensitive"}
        Which problem; multiclass and multilabel are "classification".
    step : str
        "PA", "PA-I", "PA-II", "PA-LS" or "perceptron"; "hinge" for unregularised stochastic
        subgradient steps of one size; "IELLIP", "CELLIP"; any other name, such as "AROW" or
        "mini-batches of PA-I", for what no theorem is about.
    losses : array of shape (T,)
        ℓ of the learner, before its step.
    taus : array of shape (T,)
        τ of the step.
    norms2 : array of shape (T,)
        ‖δ‖² of the step (1 for uniclass).
    costs : array of shape (T,)
        ρ(y, ŷ), or 1 for a mistake and 0 otherwise.
    comparator_losses : array of shape (T,)
        ℓ* of u; for the cost-sensitive kind ℓ_ML (PA 2006, Eq. 52), whatever the update.
    distance2 : float
        ‖u − w₁‖².
    C : float or array of shape (T,), default 1.0
        The aggressiveness.
    margin : float, default 1.0
        What the classifier was told.
    tol : float, default 0.0
        Rounds whose squared loss is at most `tol` were not presented (batch conversion, PA 2003,
        §4), and are left out; 0 presents all.
    surplus : float or None, default None
        By how much u exceeds the margin in its worst round: ε − ε* of PA 2003.
    feature_norm2 : float or None, default None
        The largest ‖Φ(x, r)‖², for PA 2006, Corollary 8.
    moved : float or None, default None
        ‖w − w₁‖ after the last round, for PA 2003, Lemma 2.
    from_zero : bool, default True
        Whether w₁ is the zero vector, as the perceptron's bounds want it.
    together : bool, default False
        Whether a step answered several constraints of its example at once.
    simplex : bool, default False
        Whether the weights lie on the simplex; distance2 is then 2D(u‖w₁).
    first_norms2 : array of shape (T,) or None, default None
        δ'P₁δ of an ellipsoid.
    growth : float or None, default None
        κ of IELLIP: no direction of P grows by more.

    Examples
    --------
    >>> rounds = Rounds(kind="classification", step="PA", losses=[1.0, 0.5], taus=[0.25, 0.25],
    ...                 norms2=[4.0, 2.0], costs=[1, 0], comparator_losses=[0.0, 0.25],
    ...                 distance2=1.0)
    >>> rounds.R2, rounds.squared_loss, rounds.regret
    (4.0, 1.25, 1.5)
    """

    def __init__(
        self,
        *,
        kind: Kind,
        step: str,
        losses: ArrayLike,
        taus: ArrayLike,
        norms2: ArrayLike,
        costs: ArrayLike,
        comparator_losses: ArrayLike,
        distance2: float,
        C: ArrayLike = 1.0,
        margin: float = 1.0,
        tol: float = 0.0,
        surplus: float | None = None,
        feature_norm2: float | None = None,
        moved: float | None = None,
        from_zero: bool = True,
        together: bool = False,
        simplex: bool = False,
        first_norms2: ArrayLike | None = None,
        growth: float | None = None,
    ) -> None:
        if kind not in LEMMA:
            raise SeqpaError(f"kind is {kind!r}; it must be one of {', '.join(LEMMA)}")
        arrays = {
            "losses": losses,
            "taus": taus,
            "norms2": norms2,
            "costs": costs,
            "comparator_losses": comparator_losses,
            "first_norms2": norms2 if first_norms2 is None else first_norms2,
        }
        columns = {name: np.asarray(a, dtype=np.float64) for name, a in arrays.items()}
        shape = columns["losses"].shape
        for name, column in columns.items():
            if column.ndim != 1 or column.shape != shape:
                raise SeqpaError(
                    f"{name} has the shape {column.shape}; it must have one number for each of "
                    f"the rounds, as losses has: {shape}"
                )
        every_C = np.broadcast_to(np.asarray(C, dtype=np.float64), shape)
        presented = columns["losses"] ** 2 > tol if tol > 0 else np.ones(shape, dtype=bool)
        self.kind = kind
        self.step = step
        self.losses: NDArray[np.float64] = columns["losses"][presented]
        self.taus: NDArray[np.float64] = columns["taus"][presented]
        self.norms2: NDArray[np.float64] = columns["norms2"][presented]
        self.costs: NDArray[np.float64] = columns["costs"][presented]
        self.comparator_losses: NDArray[np.float64] = columns["comparator_losses"][presented]
        self.first_norms2: NDArray[np.float64] = columns["first_norms2"][presented]
        self.C: NDArray[np.float64] = every_C[presented]
        self.distance2 = float(distance2)
        self.margin = float(margin)
        self.tol = float(tol)
        self.surplus = surplus
        self.feature_norm2 = feature_norm2
        self.moved = moved
        self.from_zero = from_zero
        self.together = together
        self.simplex = simplex
        self.growth = growth

    @property
    def R2(self) -> float:
        """R²: the largest ‖δ‖²."""
        return float(self.norms2.max(initial=0.0))

    @property
    def squared_loss(self) -> float:
        """Σℓ²."""
        return float(np.sum(self.losses**2))

    @property
    def regret(self) -> float:
        """‖u − w₁‖² + 2ΣCℓ*: the right side of PA 2006, Theorems 4 and 10 (Eq. 17 and 57)."""
        return self.distance2 + 2.0 * float(np.sum(self.C * self.comparator_losses))

    def is_step(self, *names: str) -> tuple[bool, str]:
        """The assumption that the run's step is one of the names.

        Parameters
        ----------
        *names : str
            Names of steps.

        Returns
        -------
        tuple of bool and str
            Whether it holds, and what to say if it does not.
        """
        return self.step in names, f"it is about {' and '.join(names)}, the run's step: {self.step}"

    def is_kind(self, *kinds: str) -> tuple[bool, str]:
        """The assumption that the problem is one of the kinds.

        Parameters
        ----------
        *kinds : str
            Kinds of problems.

        Returns
        -------
        tuple of bool and str
            Whether it holds, and what to say if it does not.
        """
        return self.kind in kinds, f"it is about {' and '.join(kinds)}, not about {self.kind}"

    def one_constraint(self) -> tuple[bool, str]:
        """The assumption that a step answered one constraint.

        Returns
        -------
        tuple of bool and str
            Whether it holds, and what to say if it does not.
        """
        return not self.together, "its proof is about steps for one constraint"

    def realizable(self) -> tuple[bool, str]:
        """The assumption that u suffers no loss in any round.

        Returns
        -------
        tuple of bool and str
            Whether it holds, and what to say if it does not.
        """
        total = float(np.sum(self.comparator_losses))
        return total == 0.0, f"u suffers a loss (Σℓ* = {total:.4g})"


def bound(
    name: str, why: str, left: float, right: float, needs: Needs = (), scale: float = 0.0
) -> Bound:
    """`left <= right` up to rounding, as a `Bound`.

    Parameters
    ----------
    name : str
        Where the theorem stands.
    why : str
        Its inequality in symbols.
    left : float
        Its left side.
    right : float
        Its right side.
    needs : sequence of (bool, str)
        Its assumptions: whether each holds, and what to say if it does not.
    scale : float, default 0.0
        The size of the terms, where they cancel.

    Returns
    -------
    Bound
        The outcome.
    """
    for met, missing in needs:
        if not met:
            return Bound(name, np.nan, np.nan, holds=False, applies=False, why=missing)
    slack = _ROUNDING * max(scale, abs(left), abs(right)) + 1e-24
    return Bound(name, left, right, holds=bool(left <= right + slack), applies=True, why=why)
