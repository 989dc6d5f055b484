"""The papers' figures and tables, drawn again from this code, and their claims checked.

Each experiment is a module with one function, `run(setup) -> Outcome`: numbers, figures to draw
and checks. `setup.py` says how to run it, `outcome.py` writes what came out, `data.py` reads the
vector sets; nothing here prints.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from seqpa.errors import SeqpaError, did_you_mean

if TYPE_CHECKING:
    from seqpa.experiments.outcome import Outcome
    from seqpa.experiments.setup import Setup

EXPERIMENTS: dict[str, str] = {
    "noise": "PA, PA-I and PA-II beside the best linear classifier, under two kinds of noise",
    "aggressiveness": "PA-I and PA-II as C grows, at three levels of label noise",
    "horizon": "PA-I and PA-II as the rounds go on, careful and aggressive",
    "multiclass": "PA-I, perceptrons and MIRA with polynomial kernels on handwritten digits",
    "minibatch": "mini-batch PA-I, PA-II and least squares on seven data sets",
    "ellipsoid": "IELLIP and CELLIP beside PA and MIRA, linear, many classes",
    "averaging": "which of the perceptron's vectors to report",
    "costs": "a tagger trained for one cost and measured under another",
    "active": "labels asked for beside labels drawn at random, vectors and taggers",
    "learning-curve": "taggers of every algorithm as sentences and epochs grow",
}


def find(name: str) -> Callable[[Setup], Outcome]:
    """The function that runs an experiment.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.

    Returns
    -------
    function
        Of a `Setup`; it returns an `Outcome`.

    Examples
    --------
    >>> find("nose")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: there is no experiment 'nose'; did you mean 'noise'?
    """
    if name not in EXPERIMENTS:
        raise SeqpaError(f"there is no experiment {name!r}{did_you_mean(name, EXPERIMENTS)}")
    run: Callable[[Setup], Outcome] = import_module(
        f"seqpa.experiments.{name.replace('-', '_')}"
    ).run
    return run
