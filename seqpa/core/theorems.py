"""The theorems: both sides of each, from what a run did and what a fixed comparator u would do.

All of them come from one observation (PA 2006, Lemma 1). A step w += τδ lowers the squared distance
‖w − u‖² by 2τ(u − w)·δ − τ²‖δ‖²; and u·δ >= margin − ℓ*, w·δ = margin − ℓ. Summed over the rounds,
the distances telescope:

    Σ τ (2ℓ − τ‖δ‖² − 2ℓ*)  <=  ‖u − w₁‖²

where ℓ is the learner's loss in a round, ℓ* the loss of the fixed u in the same round, and w₁ the
weights at the start (zero in PA 2006). Each theorem puts its own τ into this line.

What differs from the printed statements, always provable in the same lines:
- w₁ need not be zero: ‖u‖² becomes ‖u − w₁‖² (as in PA 2003).
- C may differ from round to round (class weights): C stands inside the sums.
- The margin m need not be 1: a mistake means ℓ >= m, so mistakes are counted m² times (Theorems 2,
  3, 5) and Theorem 4's factor is max{R²/m², 1/mC}.
- Theorem 3 asks for norms that equal 1; equal norms R do, with R‖u − w₁‖ for ‖u − w₁‖.
- Theorem 10 asks for norms of at most 1 and √ρ <= C; without them its proof gives the factor
  max{R², √ρ/C}, which Theorem 4 has too.

Other geometries keep the line and measure otherwise (see `multiplicative.py`, `ellipsoid.py`):
- on the simplex ‖u − w₁‖² is 2D(u‖w₁), ‖δ‖² the squared length of v's interval over 4;
- IELLIP measures with P: ‖δ‖² is δ'Pδ, and ‖u − w₁‖² is (u − w₁)'P₁⁻¹(u − w₁).
MIRA answers all constraints of an example in one step. Its gain is at least that of one constraint
alone, and τ(2ℓ − τ‖δ‖²) with the worst label's ℓ and ‖δ‖² is no more than its gain, so the theorems
hold as they stand, but for two that use τ = ℓ/‖δ‖² itself (Theorem 3, Eq. 17).

`rounds.py` has the arrays that a run leaves (`Rounds`) and one theorem's outcome (`Bound`); `check`
puts the former into the theorems.
"""

from __future__ import annotations

import numpy as np

from seqpa.core.rounds import LEMMA, Bound, Kind, Rounds, bound

__all__ = ["THEOREMS", "Bound", "Kind", "Rounds", "check"]


def lemma(run: Rounds) -> Bound:
    """PA 2006, Lemmas 1, 6, 7 and 9, for whatever step: Σ τ(2ℓ − τ‖δ‖² − 2ℓ*) <= ‖u − w₁‖².

    The proof only asks that there was a loss where there was a step, and no step back.
    """
    known = run.step in ("PA", "PA-I", "PA-II", "PA-LS", "perceptron", "hinge", "IELLIP")
    blamed = run.step == "perceptron" and run.together
    gain = 2.0 * run.taus * run.losses
    price = run.taus**2 * run.norms2 + 2.0 * run.taus * run.comparator_losses
    passive = not np.any((run.taus < 0.0) | ((run.taus > 0.0) & (run.losses == 0.0)))
    return bound(
        f"PA 2006, {LEMMA[run.kind]}",
        "Σ τ(2ℓ − τ‖δ‖² − 2ℓ*) <= ‖u − w₁‖²",
        float(np.sum(gain - price)),
        run.distance2,
        [
            (known, f"it is not about {run.step}"),
            (not blamed, "a blame shared by several labels has not the loss of one"),
            (passive, f"{run.step} stepped in a round without loss"),
        ],
        scale=float(np.sum(np.abs(gain) + np.abs(price))),
    )


def theorem_2(run: Rounds) -> Bound:
    """PA 2006, Theorem 2: PA, and a u without loss."""
    return bound(
        "PA 2006, Theorem 2",
        "Σℓ² <= R²‖u − w₁‖²",
        run.squared_loss,
        run.R2 * run.distance2,
        [run.is_step("PA"), run.realizable()],
    )


def theorem_3(run: Rounds) -> Bound:
    """PA 2006, Theorem 3: PA on directions of one length R, and any u."""
    lengths = run.norms2[run.losses > 0.0]
    equal = bool(np.allclose(lengths, run.R2, rtol=1e-9, atol=0.0))
    comparator = float(np.sqrt(np.sum(run.comparator_losses**2)))
    return bound(
        "PA 2006, Theorem 3",
        "Σℓ² <= (R‖u − w₁‖ + 2√Σℓ*²)²",
        run.squared_loss,
        (np.sqrt(run.R2 * run.distance2) + 2.0 * comparator) ** 2,
        [
            run.is_step("PA"),
            run.one_constraint(),
            (equal, "the directions δ differ in length"),
        ],
    )


def theorem_4(run: Rounds) -> Bound:
    """PA 2006, Theorem 4: PA-I's mistakes.

    Regression and uniclass know no mistakes; the rounds with ℓ >= 1 take their place, which is all
    that the proof uses.
    """
    counts_mistakes = run.kind == "classification"
    margin = run.margin if counts_mistakes else 1.0
    mistakes = run.costs > 0.0 if counts_mistakes else run.losses >= 1.0
    needs = [
        run.is_step("PA-I"),
        run.is_kind("classification", "regression", "uniclass"),
        (margin > 0.0, "a margin of at most 0 gives mistakes no loss"),
    ]
    factor = 0.0
    if margin > 0.0 and len(run.C):
        factor = max(run.R2 / margin**2, 1.0 / (margin * float(run.C.min())))
    return bound(
        "PA 2006, Theorem 4",
        "mistakes <= max{R², 1/C}(‖u − w₁‖² + 2CΣℓ*)",
        float(np.sum(mistakes)),
        factor * run.regret,
        needs,
    )


def theorem_5(run: Rounds) -> Bound:
    """PA 2006, Theorem 5, PA-II; with γ = 1/2C it is also PA 2003, Theorem 3."""
    factor = float((run.norms2 + 0.5 / run.C).max(initial=0.0))
    comparator = float(np.sum(run.C * run.comparator_losses**2))
    return bound(
        "PA 2006, Theorem 5",
        "Σℓ² <= (R² + 1/2C)(‖u − w₁‖² + 2CΣℓ*²)",
        run.squared_loss,
        factor * (run.distance2 + 2.0 * comparator),
        [run.is_step("PA-II")],
    )


def corollary_8(run: Rounds) -> Bound:
    """PA 2006, Corollary 8: Theorem 2 with R bounded by the features, ‖Φ(x, r)‖ <= R/2."""
    return bound(
        "PA 2006, Corollary 8",
        "Σℓ² <= (2 max‖Φ‖)²‖u − w₁‖²",
        run.squared_loss,
        4.0 * (run.feature_norm2 or 0.0) * run.distance2,
        [
            run.is_step("PA"),
            (run.feature_norm2 is not None, "it is about features Φ(x, r) of several labels"),
            run.realizable(),
        ],
    )


def theorem_10(run: Rounds) -> Bound:
    """PA 2006, Theorem 10: PA-I's cost, as it is printed; prediction-based and max-loss alike."""
    enough = bool(np.all(np.sqrt(run.costs) <= run.C))
    return bound(
        "PA 2006, Theorem 10",
        "Σρ <= ‖u − w₁‖² + 2CΣℓ*",
        float(np.sum(run.costs)),
        run.regret,
        [
            run.is_step("PA-I"),
            run.is_kind("cost-sensitive"),
            (run.R2 <= 1.0 + 1e-9, f"some ‖δ‖ exceeds 1 (R² = {run.R2:.4g})"),
            (enough, "some √ρ exceeds C"),
        ],
    )


def theorem_10_scaled(run: Rounds) -> Bound:
    """Theorem 10 without its two assumptions: τℓ >= ρ / max{R², √ρ/C} in every round."""
    ratio = float((np.sqrt(run.costs) / run.C).max(initial=0.0))
    return bound(
        "PA 2006, Theorem 10, any norm and C",
        "Σρ <= max{R², √ρ/C}(‖u − w₁‖² + 2CΣℓ*)",
        float(np.sum(run.costs)),
        max(run.R2, ratio) * run.regret,
        [run.is_step("PA-I"), run.is_kind("cost-sensitive")],
    )


def equation_17(run: Rounds) -> Bound:
    """PA 2006, Eq. 17 and 57, on the way to Theorems 4 and 10: PA-I, every problem."""
    return bound(
        "PA 2006, Eq. 17",
        "Στℓ <= ‖u − w₁‖² + 2CΣℓ*",
        float(np.sum(run.taus * run.losses)),
        run.regret,
        [run.is_step("PA-I"), run.one_constraint()],
    )


def mistakes_cost_loss(run: Rounds) -> Bound:
    """PA 2006, §2 and Eq. 46: the squared loss bounds the cost, or the mistakes m² times."""
    weight = run.margin**2 if run.kind == "classification" else 1.0
    return bound(
        "PA 2006, Eq. 46",
        "Σρ <= Σℓ²" if run.kind == "cost-sensitive" else "mistakes·margin² <= Σℓ²",
        weight * float(np.sum(run.costs)),
        run.squared_loss,
        [
            run.is_kind("classification", "cost-sensitive"),
            (run.margin >= 0.0, "a margin below 0 gives mistakes no loss"),
        ],
    )


def theorem_1_of_pa_2003(run: Rounds) -> Bound:
    """PA 2003, Theorem 1: PA, and a u that exceeds every margin by at least ε − ε*.

    On the simplex it is PA 2003, Theorem 4, with R² = B/4 and 2D(u‖w₁) for ‖u − w₁‖².
    """
    surplus = run.surplus if run.surplus is not None else -1.0
    return bound(
        "PA 2003, Theorem 4" if run.simplex else "PA 2003, Theorem 1",
        f"Σℓ² + 2(ε − ε*)Σℓ <= {'½B·D(u‖w₁)' if run.simplex else 'R²‖u − w₁‖²'}",
        run.squared_loss + 2.0 * surplus * float(np.sum(run.losses)),
        run.R2 * run.distance2,
        [
            run.is_step("PA"),
            (run.surplus is not None, "the margins of u are not given"),
            (surplus >= 0.0, f"u misses a margin by {-surplus:.4g}"),
        ],
    )


def lemma_2_of_pa_2003(run: Rounds) -> Bound:
    """PA 2003, Lemma 2: w stays near its start.

    Its proof only asks that no step leads away from u, which is true of PA-I and PA-II as well.
    """
    return bound(
        "PA 2003, Lemma 2",
        "‖w − w₁‖ <= 2‖u − w₁‖",
        run.moved if run.moved is not None else np.nan,
        2.0 * float(np.sqrt(run.distance2)),
        [
            run.is_step("PA", "PA-I", "PA-II"),
            (run.moved is not None, "the last weights are not given"),
            run.realizable(),
        ],
    )


def batch_conversion(run: Rounds) -> Bound:
    """PA 2003, §4: how many examples PA is shown until every squared loss is at most tol."""
    return bound(
        "PA 2003, §4, batch conversion",
        "presented·tol <= R²‖u − w₁‖²",
        len(run.losses) * run.tol,
        run.R2 * run.distance2,
        [
            run.is_step("PA"),
            (run.tol > 0.0, "every example was presented (tol is 0)"),
            run.realizable(),
        ],
    )


def novikoff(run: Rounds) -> Bound:
    """Block's and Novikoff's theorem (Perceptron notes): a u with u·δ >= γ > 0 in every round."""
    gamma = run.margin + run.surplus if run.surplus is not None else 0.0
    return bound(
        "Perceptron notes, Novikoff",
        "mistakes <= R²‖u‖²/γ²",
        float(np.sum(run.costs)),
        run.R2 * run.distance2 / gamma**2 if gamma > 0.0 else np.nan,
        [
            run.is_step("perceptron"),
            run.is_kind("classification"),
            (run.from_zero, "it starts from zero weights"),
            (run.surplus is not None, "the margins of u are not given"),
            (gamma > 0.0, f"u does not separate the examples (γ = {gamma:.4g})"),
        ],
    )


def freund_schapire(run: Rounds) -> Bound:
    """Freund and Schapire's bound, quoted in PA 2006, §4: the perceptron's mistakes, and any u."""
    comparator = float(np.sqrt(np.sum(run.comparator_losses**2)))
    reach = np.sqrt(run.R2 * run.distance2) + comparator
    return bound(
        "PA 2006, §4, Freund and Schapire",
        "mistakes <= (R‖u‖ + √Σℓ*²)²/margin²",
        float(np.sum(run.costs)),
        (reach / run.margin) ** 2 if run.margin > 0.0 else np.nan,
        [
            run.is_step("perceptron"),
            run.is_kind("classification"),
            (run.from_zero, "it starts from zero weights"),
            (run.margin > 0.0, "a margin of at most 0 gives mistakes no loss"),
        ],
    )


def gentile(run: Rounds) -> Bound:
    """Gentile's bound, quoted in PA 2006, §4: the perceptron's mistakes, and any u.

    M mistakes raise u·w to mM − L or more, L = Σℓ* over them, and ‖w‖² to MR² or less, so that
    mM − L <= R‖u‖√M; √M is at most the larger root. PA 2006 sums ℓ* over all rounds, as here.
    """
    reach2 = run.R2 * run.distance2 / run.margin**2 if run.margin > 0.0 else np.nan
    L = float(np.sum(run.comparator_losses)) / run.margin if run.margin > 0.0 else np.nan
    return bound(
        "PA 2006, §4, Gentile",
        "mistakes <= R²‖u‖²/2 + Σℓ* + √(R²‖u‖²Σℓ* + (R²‖u‖²/2)²)",
        float(np.sum(run.costs)),
        0.5 * reach2 + L + float(np.sqrt(reach2 * L + 0.25 * reach2**2)),
        [
            run.is_step("perceptron"),
            run.is_kind("classification"),
            (run.from_zero, "it starts from zero weights"),
            (run.margin > 0.0, "a margin of at most 0 gives mistakes no loss"),
        ],
    )


def novikoff_with_margin(run: Rounds) -> Bound:
    """Novikoff's theorem for steps of the size η wherever w·δ <= m: hinge loss with a margin m.

    A step raises u·w by ηγ or more, and ‖w‖² by η²R² + 2ηm or less; with m = 0 it is Novikoff's.
    """
    gamma = run.margin + run.surplus if run.surplus is not None else 0.0
    eta = run.taus[run.taus > 0.0]
    one_size = len(eta) == 0 or bool(eta.min() == eta.max())
    reach = run.R2 + 2.0 * run.margin / (eta[0] if len(eta) else 1.0)
    return bound(
        "Perceptron notes, Novikoff with a margin",
        "steps <= (R² + 2·margin/η)‖u‖²/γ²",
        float(len(eta)),
        reach * run.distance2 / gamma**2 if gamma > 0.0 else np.nan,
        [
            run.is_step("hinge"),
            (one_size, "the steps differ in size"),
            (run.from_zero, "it starts from zero weights"),
            (run.surplus is not None, "the margins of u are not given"),
            (gamma > 0.0, f"u does not separate the examples (γ = {gamma:.4g})"),
        ],
    )


def theorem_2_of_ellipsoid(run: Rounds) -> Bound:
    """Ellipsoid, Theorem 2, CELLIP, with the constants of `ellipsoid.py`.

    Measured by P₁: around u a ball of the radius r lies in the first ellipsoid, and all its points
    have the margin m = aγ in every round. In the slides' case r = (1 − a)γ/(1 + (1 − a)γ).
    """
    length = float(np.sqrt(run.first_norms2.max(initial=0.0)))
    surplus = run.surplus if run.surplus is not None else 0.0
    r = 1.0 - float(np.sqrt(run.distance2))
    if length > 0.0:
        r = min(r, surplus / length)
    shallow = 0.0 < run.margin < length
    return bound(
        "Ellipsoid, Theorem 2",
        "mistakes <= 2 log r/log(1 − m²/R²)",
        float(np.sum(run.taus > 0.0)),
        2.0 * np.log(r) / np.log1p(-((run.margin / length) ** 2)) if shallow and r > 0 else np.nan,
        [
            run.is_step("CELLIP"),
            (r > 0.0, "no ball around u is in the first ellipsoid and has the margin"),
            (shallow, "the margin is 0, or beyond the first ellipsoid's reach"),
        ],
    )


def theorem_3_of_ellipsoid(run: Rounds) -> Bound:
    """Ellipsoid, Theorem 3, IELLIP, as `ellipsoid.py` derives it; measured by P₁ like Theorem 2."""
    moved = run.taus > 0.0
    lengths, losses = run.first_norms2[moved], run.comparator_losses[moved]
    gamma = run.margin
    price = np.where(losses <= gamma, 2.0 * gamma * losses, gamma**2 + losses**2)
    growth = run.growth if run.growth is not None else np.nan
    factor = growth * float(lengths.max(initial=0.0)) / gamma**2 if gamma > 0.0 else np.nan
    return bound(
        "Ellipsoid, Theorem 3",
        "mistakes <= κR²/γ²·(‖u − w₁‖² + Σh(ℓ*)/‖δ‖²)",
        float(np.sum(moved)),
        factor * (run.distance2 + float(np.sum(price / lengths))),
        [
            run.is_step("IELLIP"),
            (run.growth is not None, "it asks for b + c < 1"),
            (gamma > 0.0, "it asks for a margin above 0"),
        ],
    )


THEOREMS = (
    lemma,
    theorem_2,
    theorem_3,
    theorem_4,
    theorem_5,
    corollary_8,
    theorem_10,
    theorem_10_scaled,
    equation_17,
    mistakes_cost_loss,
    theorem_1_of_pa_2003,
    lemma_2_of_pa_2003,
    batch_conversion,
    novikoff,
    novikoff_with_margin,
    freund_schapire,
    gentile,
    theorem_2_of_ellipsoid,
    theorem_3_of_ellipsoid,
)


def check(run: Rounds) -> list[Bound]:
    """Every theorem on these rounds, in the order of the papers.

    Parameters
    ----------
    run : Rounds
        What a run did beside a comparator.

    Returns
    -------
    list of Bound
        The outcome of each theorem, whether it applies or not.

    Examples
    --------
    PA on x₁ = (2, 0), x₂ = (1, 1), both of the class +1, beside u = (1, 0):

    >>> rounds = Rounds(kind="classification", step="PA", losses=[1.0, 0.5], taus=[0.25, 0.25],
    ...                 norms2=[4.0, 2.0], costs=[1, 0], comparator_losses=[0.0, 0.0],
    ...                 distance2=1.0)
    >>> [(b.name, b.left, b.right, b.holds) for b in check(rounds) if b.applies][:2]
    [('PA 2006, Lemma 1', 0.375, 1.0, True), ('PA 2006, Theorem 2', 1.25, 4.0, True)]
    """
    return [theorem(run) for theorem in THEOREMS]
