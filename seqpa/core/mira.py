"""Steps that move several labels' vectors at once (MIRA 2003).

These are MIRA, and the perceptron's uniform and proportional updates. MIRA chooses the smallest
change of the weights after which the right label beats all others, where the PA step of `Learner`
looks at the highest of them only:

    min ½‖W − W_t‖² + penalty(ξ)   s.t.   w_y·x − w_r·x >= margin − ξ   for every r ≠ y

    PA     no ξ: all margins are met
    PA-I   Cξ: that of MIRA 2003, with C = 1. It minimises the norm of the new weights,
           ½Σ_r‖w_r + τ_r x‖² under τ_r <= [r = y] and Σ_r τ_r = 0, which is the dual of this line:
           both are ½‖x‖²‖τ‖² + Σ_r τ_r w_r·x, and the bound 1 on τ_y is C. Its β is the margin
           here (0 in the plain form): with a margin of 0, C scales all weights and changes nothing.
    PA-II  Cξ²

For two labels each equals the PA step of its name. The bounds of PA 2006 hold for MIRA, with ℓ the
loss of the worst label: the best step under all constraints gains at least what one alone would
gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqpa._kernel import prototypes as kernel
from seqpa.core.examples import Examples
from seqpa.core.learner import Floats, Indices, Learner, Run
from seqpa.core.problems import Multiclass, Problem
from seqpa.core.single import new_constraint
from seqpa.errors import SeqpaError

RULES: tuple[str, ...] = tuple(kernel.RULES)


class PrototypeLearner(Learner):
    """A weight vector for each label, several of which move in one step.

    w_k += q_k x with Σ_k q_k = 0.

    Parameters
    ----------
    problem : Multiclass
        Which margin.
    step : str
        PA, PA-I or PA-II for the rule "all"; perceptron for the others.
    n_features : int
        Columns of the examples.
    n_labels : int, default 1
        K.
    bias : bool, default False
        One more weight for each label, for the constant feature of the examples.
    average : bool, default False
        Keep what `mean_weights` needs.
    joint : bool, default False
        Not possible here: there is a weight vector for each label.
    start : array of shape (K, features) or None, default None
        w₁, the weights at the start; zero if None.
    rule : {"all", "uniform", "proportional"}
        "all" is MIRA. "uniform" and "proportional" blame all labels that are not below the right
        one, alike or in proportion to how far they stand above it.

    Attributes
    ----------
    moves : array of shape (n, K)
        After a recorded pass, the q of every example in its order.

    Examples
    --------
    One example of the label 0, whose scores are 0 for all labels: MIRA lowers both others.

    >>> learner = PrototypeLearner(Multiclass(), "PA", n_features=2, n_labels=3, rule="all")
    >>> run = learner.run(Examples.from_array([[2.0, 1.0]]), [0])
    >>> learner.weights @ [2.0, 1.0]
    array([ 0.66666667, -0.33333333, -0.33333333])
    """

    moves: Floats

    def __init__(
        self,
        problem: Problem,
        step: str,
        n_features: int,
        n_labels: int = 1,
        bias: bool = False,
        average: bool = False,
        joint: bool = False,
        start: ArrayLike | None = None,
        *,
        rule: str,
    ) -> None:
        if rule not in kernel.RULES:
            raise SeqpaError(f"{rule!r} is no rule; there are: {', '.join(RULES)}")
        allowed = ("PA", "PA-I", "PA-II") if rule == "all" else ("perceptron",)
        if step not in allowed:
            raise SeqpaError(f"the rule {rule!r} is for the steps {', '.join(allowed)}, not {step}")
        if not isinstance(problem, Multiclass) or joint:
            raise SeqpaError("several labels can move at once in multi-prototype Multiclass only")
        super().__init__(problem, step, n_features, n_labels, bias, average, joint, start)
        self.rule = rule
        self.together = True  # a step answers several constraints

    def run(self, *args: Any, record: bool = False, **options: Any) -> Run:
        """One pass, as `Learner.run`; a recorded one also leaves `moves`.

        Parameters
        ----------
        *args : object
            As `Learner.run`.
        record : bool, default False
            Fill the arrays of `Run`, and `moves`.
        **options : object
            As `Learner.run`.

        Returns
        -------
        Run
            What the pass counted.
        """
        self._recorded: list[Floats] | None = [] if record else None
        run = super().run(*args, record=record, **options)
        if self._recorded is not None:
            self.moves = np.concatenate(self._recorded) if self._recorded else np.empty((0, 0))
            self._recorded = None
        return run

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        self._mean = None
        K = self.n_labels
        moves = np.zeros((len(rows) if self._recorded is not None else 0, K))
        kernel.prototype_pass(
            examples.rows,
            self.problem.kernel(target, K),  # type: ignore[union-attr]
            run,
            kernel.RULES[self.rule],
            examples.norms2,
            rows,
            self._kernel_weights(),
            moves,
            new_constraint(K),
        )
        if self._recorded is not None:
            self._recorded.append(moves)
