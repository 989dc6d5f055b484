"""CRFsuite's training parameters: names, defaults, help; and what each means to a `SequenceTagger`.

CRFsuite's online trainers have their twins here: `passive-aggressive`, `averaged-perceptron` and
`arow`. Its likelihood trainers, `lbfgs` (the default) and `l2sgd`, have none. In their place PA-I
is trained with loss-augmented updates, and their regularisation sets how carefully:

    C = 0.05 √(0.1/(c1 + c2)), at most 1

so that a search over c1 and c2 finds what it looks for: strong regularisation makes small steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqpa.errors import SeqpaError, did_you_mean

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}
LIKELIHOOD = ("lbfgs", "l2sgd")
NO_LIMIT = 2**31 - 1
# Epochs of the stand-in for the likelihood trainers, whose iterations are something else: more
# change the mean of the weights little.
_ENOUGH = 30


@dataclass(frozen=True)
class Parameter:
    """One parameter of a trainer.

    Parameters
    ----------
    name : str
        As CRFsuite has it.
    default : object
        Its value before it is set; the type decides what it can be.
    help : str
        What it does here.
    acts : bool, default True
        Whether it has any effect here.
    """

    name: str
    default: Any
    help: str
    acts: bool = True

    def read(self, value: Any) -> Any:
        """A value of the parameter's type.

        Parameters
        ----------
        value : object
            A number, a flag, or text that is one.

        Returns
        -------
        object
            The value.

        Examples
        --------
        >>> Parameter("c", 1.0, "").read("0.5"), Parameter("averaging", True, "").read(0)
        (0.5, False)
        """
        kind = type(self.default)
        try:
            if kind is bool:
                return bool(int(value))
            if kind is int:
                number = float(value)
                if number != math.floor(number):
                    raise ValueError
                return int(number)
            return kind(value)
        except (TypeError, ValueError, OverflowError):
            wanted = {bool: "0 or 1", int: "a whole number", float: "a number"}[kind]
            raise SeqpaError(f"parameter {self.name} = {value!r}: give {wanted}") from None


_GENERATION = (
    Parameter("feature.minfreq", 0.0, "Attributes that occur less often are left out."),
    Parameter("feature.possible_states", False, "Always so here: every label can have a weight."),
    Parameter("feature.possible_transitions", False, "Always so here: every pair can have one."),
)
_ONLINE = (
    Parameter("max_iterations", 100, "Epochs, at most."),
    Parameter("epsilon", 0.0, "Training ends when the mean loss of an epoch is below this."),
)
_C2 = Parameter("c2", 1.0, "Strength of the L2 regularisation: C = 0.05 √(0.1/(c1 + c2)).")


def _stopping(delta: float) -> tuple[Parameter, ...]:
    return (
        Parameter("period", 10, "Over so many epochs the loss must improve,"),
        Parameter("delta", delta, "by more than this share of it, or training ends."),
    )


def _inner(name: str, default: Any) -> Parameter:
    return Parameter(name, default, "Of the optimiser of CRFsuite; without effect here.", False)


PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "lbfgs": (
        *_GENERATION,
        Parameter("c1", 0.0, "Strength of the L1 regularisation: C = 0.05 √(0.1/(c1 + c2))."),
        _C2,
        Parameter("max_iterations", NO_LIMIT, f"Epochs, at most; never more than {_ENOUGH}."),
        _inner("num_memories", 6),
        Parameter("epsilon", 1e-5, "Training ends when the mean loss of an epoch is below this."),
        *_stopping(1e-5),
        _inner("linesearch", "MoreThuente"),
        _inner("max_linesearch", 20),
    ),
    "l2sgd": (
        *_GENERATION,
        _C2,
        Parameter("max_iterations", 1000, f"Epochs, at most; never more than {_ENOUGH}."),
        *_stopping(1e-6),
        _inner("calibration.eta", 0.1),
        _inner("calibration.rate", 2.0),
        _inner("calibration.samples", 1000.0),
        _inner("calibration.candidates", 10),
        _inner("calibration.max_trials", 20),
    ),
    "averaged-perceptron": (*_GENERATION, *_ONLINE),
    "passive-aggressive": (
        *_GENERATION,
        Parameter("type", 1, "The step: 0 for PA, 1 for PA-I, 2 for PA-II."),
        Parameter("c", 1.0, "Aggressiveness C of PA-I and PA-II."),
        Parameter("error_sensitive", True, "A sentence costs its wrong labels, else 1."),
        Parameter("averaging", True, "Tag with the mean of the weights, else with the last."),
        *_ONLINE,
    ),
    "arow": (
        *_GENERATION,
        Parameter("variance", 1.0, "The first variance of every weight; the same as 1/gamma."),
        Parameter("gamma", 1.0, "Regularisation r: how slowly weights move."),
        *_ONLINE,
    ),
}
# What each algorithm is called in the log.
TITLES = {
    "lbfgs": "Passive Aggressive, loss-augmented, in place of L-BFGS",
    "l2sgd": "Passive Aggressive, loss-augmented, in place of SGD",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}


def find(algorithm: str, name: str) -> Parameter:
    """The parameter of that name.

    Parameters
    ----------
    algorithm : str
        A key of `PARAMETERS`.
    name : str
        Of the parameter.

    Returns
    -------
    Parameter
        What is known of it.
    """
    for parameter in PARAMETERS[algorithm]:
        if parameter.name == name:
            return parameter
    names = [parameter.name for parameter in PARAMETERS[algorithm]]
    raise SeqpaError(f"{algorithm} has no parameter {name!r}{did_you_mean(name, names)}")


def epochs_of(algorithm: str, values: Mapping[str, Any]) -> int:
    """How many epochs there are at most.

    Parameters
    ----------
    algorithm : str
        A key of `PARAMETERS`.
    values : mapping
        Its parameters by name.

    Returns
    -------
    int
        Their number.
    """
    asked = int(values["max_iterations"])
    return max(1, min(asked, _ENOUGH) if algorithm in LIKELIHOOD else asked)


def tagger_parameters(algorithm: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a `SequenceTagger` that trains as these ask for.

    Parameters
    ----------
    algorithm : str
        A key of `PARAMETERS`.
    values : mapping
        Its parameters by name.

    Returns
    -------
    dict
        By name.

    Examples
    --------
    >>> values = {p.name: p.default for p in PARAMETERS["lbfgs"]} | {"c1": 0.3, "c2": 0.1}
    >>> tagger_parameters("lbfgs", values)["C"]
    0.025
    """
    made: dict[str, Any] = {
        "features": None,
        "cutoff": max(1, math.ceil(values["feature.minfreq"])),
        "epochs": epochs_of(algorithm, values),
    }
    if algorithm in LIKELIHOOD:
        strength = values.get("c1", 0.0) + values["c2"]
        if strength < 0:
            raise SeqpaError(f"c1 + c2 = {strength}: regularisation is 0 or above")
        C = min(1.0, 0.05 * math.sqrt(0.1 / strength)) if strength > 0 else 1.0
        return made | {"algorithm": "pa-i", "C": C, "update": "loss-augmented"}
    if algorithm == "averaged-perceptron":
        return made | {"algorithm": "perceptron"}
    if algorithm == "arow":
        if not (values["gamma"] > 0 and values["variance"] > 0):
            raise SeqpaError("gamma and variance of arow are numbers above 0")
        # Σ = v I at the start is Σ = I with r/v in place of r.
        return made | {"algorithm": "arow", "C": 0.5 * values["variance"] / values["gamma"]}
    steps = {0: "pa", 1: "pa-i", 2: "pa-ii"}
    if values["type"] not in steps:
        raise SeqpaError(f"type {values['type']} of pa: choose 0, 1 or 2 (PA, PA-I, PA-II)")
    return made | {
        "algorithm": steps[values["type"]],
        "C": values["c"],
        "update": "prediction-based",
        "cost": "hamming" if values["error_sensitive"] else "zero-one",
        "average": values["averaging"],
    }
