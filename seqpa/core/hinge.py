"""Subgradient descent on the hinge loss (Perceptron notes, slides 15-24).

This is what the perceptron optimises:

    min  ½λ‖w‖² + 1/N Σ_j max(0, margin − y_j w·x_j)

A subgradient of an example's loss is −y x where y w·x <= margin, and 0 beyond; at the kink, where
any mixture of the two would do, the slides take −y x. With a step size η

    stochastic  w ← (1 − ηλ) w + η [y w·x <= margin] y x              example after example
    batch       w ← (1 − ηλ) w + η/N Σ_j [y_j w·x_j <= margin] y_j x_j   once for each pass

The slides' hinge has the margin 0, where a loss begins with the mistake; that of support vector
machines 1. With margin 0, η = 1, λ = 0 the stochastic form is the perceptron (slide 23). Slide 22
writes the batch step without the 1/N of what it minimises; slide 23 has it, and so has this.
Several labels: y x becomes δ = Φ(x, y) − Φ(x, highest wrong label).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqpa._kernel import hinge as kernel
from seqpa._kernel import weights
from seqpa.core.examples import Examples
from seqpa.core.learner import Floats, Indices, Learner, Run
from seqpa.core.problems import Binary, Multiclass, Problem
from seqpa.core.single import new_constraint
from seqpa.errors import SeqpaError


class HingeLearner(Learner):
    """Weights that descend the regularised hinge loss.

    Parameters
    ----------
    problem : Binary or Multiclass
        Which loss, with its margin.
    step : str
        "perceptron", which is what the theorems ask about.
    n_features : int
        Columns of the examples.
    n_labels : int, default 1
        K; 1 for a binary problem.
    bias : bool, default False
        One more weight for each label, for the constant feature of the examples.
    average : bool, default False
        Keep what `mean_weights` needs.
    joint : bool, default False
        Not possible here: there is a weight vector for each label.
    start : array of shape (K, features) or None, default None
        w₁, the weights at the start; zero if None.
    eta : float, default 1.0
        η, the step size; C of `run` multiplies it, example by example.
    lam : float, default 0.0
        λ of the regularisation ½λ‖w‖²; ηλ must stay below 1.
    batch : bool, default False
        Take one step for each pass, from the sum over all its examples.

    Examples
    --------
    >>> X = Examples.from_array([[2.0, 0.0], [0.0, 1.0]])
    >>> learner = HingeLearner(Binary(), "perceptron", n_features=2, eta=0.5, batch=True)
    >>> run = learner.run(X, [1, -1])
    >>> learner.weights
    array([[ 0.5 , -0.25]])
    """

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
        eta: float = 1.0,
        lam: float = 0.0,
        batch: bool = False,
    ) -> None:
        if not isinstance(problem, Binary | Multiclass) or joint:
            raise SeqpaError("the hinge loss is one of Binary and multi-prototype Multiclass")
        if not (eta > 0.0 and lam >= 0.0 and eta * lam < 1.0):
            raise SeqpaError(f"eta={eta}, lam={lam}: eta > 0, lam >= 0 and eta·lam < 1 are needed")
        super().__init__(problem, step, n_features, n_labels, bias, average, joint, start)
        self.eta = eta
        self.lam = lam
        self.batch = batch
        self._past = np.zeros_like(self._acc)  # Σ of the weights that are averaged
        self._steps = 0  # how many they are
        self._sum: Floats | None = None  # of a batch's steps

    @property
    def mean_weights(self) -> Floats:
        """The mean of the weights after each example, or after each pass of a batch."""
        if not self.average:
            raise SeqpaError("the mean of the weights needs HingeLearner(average=True)")
        if self._steps == 0:
            return self.weights
        mean = self._past / self._steps
        return mean.T if self._by_feature else mean

    def run(self, *args: Any, **options: Any) -> Run:
        """One pass, as `Learner.run`; a batch counts its one step as one update.

        Parameters
        ----------
        *args : object
            As `Learner.run`.
        **options : object
            As `Learner.run`.

        Returns
        -------
        Run
            What the pass counted.
        """
        if not self.batch:
            run = super().run(*args, **options)
            self._steps += run.n_examples
            return run
        self._sum = None
        run = super().run(*args, **options)
        W = self._W
        W *= 1.0 - self.eta * self.lam
        if self._sum is not None:
            W += self._sum / run.n_examples
        if self.average:
            self._past += W
        self._steps += 1
        return dataclasses.replace(run, updates=int(run.updates > 0))

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        target = self.problem.kernel(target, self.n_labels)  # type: ignore[union-attr]
        w, past, shrink = self._kernel_weights(), self._past, 1.0 - self.eta * self.lam
        moved = w
        if self.batch:
            if self._sum is None:
                self._sum = np.zeros(self._W.shape)
            moved = weights.Weights(self._sum, self.n_labels, self._by_feature)
            past, shrink = _NONE, 1.0
        kernel.hinge_pass(
            examples.rows,
            target,
            run,
            examples.norms2,
            rows,
            self.eta,
            shrink,
            w,
            moved,
            past,
            new_constraint(self.n_labels),
        )

    def resize(self, n_features: int) -> None:
        """Weights for more features, or for fewer, as `Learner.resize`.

        Parameters
        ----------
        n_features : int
            Columns of the examples from now on.
        """
        if self.average:
            self._past = self._resized(self._past, n_features)
        super().resize(n_features)

    def relabel(self, problem: Problem, change: ArrayLike) -> None:
        """Weights for other labels, as `Learner.relabel`.

        Parameters
        ----------
        problem : Problem
            The problem with the new labels.
        change : array of shape (new K, K)
            The new vector of label k is Σ_j change[k, j] w_j.
        """
        if self.average:
            self._past = self._relabelled(self._past, np.asarray(change, dtype=np.float64))
        super().relabel(problem, change)
        if not self.average:
            self._past = np.zeros_like(self._acc)

    def _lay_out(self, by_feature: bool) -> None:
        if by_feature != self._by_feature:
            self._past = np.ascontiguousarray(self._past.T)
        super()._lay_out(by_feature)


_NONE = np.empty((0, 0))
