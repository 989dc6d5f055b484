"""The data sets of the papers, read from plain files; and what stands in for them.

NAME/NAME.csv  numbers between commas, the label last, no header
NAME/NAME.npz  arrays X_train, y_train, X_test, y_test
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.experiments.setup import Setup

Floats: TypeAlias = NDArray[np.float64]

_UCI = "UCI Machine Learning Repository"
_DELVE = "DELVE or KEEL repository (20 features)"
# Name -> what it is and who gives it out.
SOURCES: dict[str, str] = {
    "breast": f"Breast Cancer Wisconsin (Original) without incomplete rows, {_UCI}",
    "diabetes": f"Pima Indians Diabetes, {_UCI}",
    "heart": f"Heart Disease (Cleveland, disease or none), complete rows, {_UCI}",
    "ionosphere": f"Ionosphere, {_UCI}",
    "liver": f"Liver Disorders (BUPA), label = selector, {_UCI}",
    "sonar": f"Connectionist Bench (Sonar, Mines vs. Rocks), {_UCI}",
    "twonorm": f"Twonorm, {_DELVE}",
    "usps": "USPS handwritten digits, with the book The Elements of Statistical Learning",
    "mnist": "MNIST handwritten digits, LeCun, Cortes and Burges",
    "letter": f"Letter Recognition, {_UCI}",
    "isolet": f"ISOLET, parts 1 to 4 to train on and 5 to test, {_UCI}",
    "shuttle": f"Statlog (Shuttle), {_UCI}",
    "conll2000": "CoNLL-2000 shared task (chunking): train.txt and test.txt",
    "ptb-sample": "Penn Treebank sample, with NLTK: train.txt and test.txt, word TAB tag",
}
STAND_IN = "Stand-in data, not the paper's"


@dataclass(frozen=True)
class DataSet:
    """The examples of a data set.

    Parameters
    ----------
    name : str
        Its name.
    X : array of shape (n, d)
        The examples to learn from.
    y : array of int of shape (n,)
        Their labels, as places in the sorted labels.
    X_test : array or None
        The examples to test on, where the set has some of its own.
    y_test : array of int or None
        Their labels.
    """

    name: str
    X: Floats
    y: NDArray[np.intp]
    X_test: Floats | None = None
    y_test: NDArray[np.intp] | None = None

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.y.max()) + 1

    @property
    def all(self) -> tuple[Floats, NDArray[np.intp]]:
        """Every example, those to test on included."""
        if self.X_test is None or self.y_test is None:
            return self.X, self.y
        return np.vstack([self.X, self.X_test]), np.concatenate([self.y, self.y_test])


def folder_of(setup: Setup, names: tuple[str, ...], instead: str) -> Path | None:
    """The folder that holds all the named sets; None if a stand-in was asked for.

    Parameters
    ----------
    setup : Setup
        What the user chose.
    names : tuple of str
        The data sets that are needed.
    instead : str
        What `--stand-in` takes instead, for the message.

    Returns
    -------
    Path or None
        The folder.
    """
    if setup.stand_in:
        return None
    remedy = f"(docs/experiments/README.md has the formats), or say --stand-in to run on {instead}"
    if setup.data is None:
        raise SeqpaError(
            f"this needs data: {_wanted(names)}. Name their folder with --data DIR or SEQPA_DATA "
            + remedy
        )
    if not setup.data.is_dir():
        raise SeqpaError(f"{setup.data}: no such folder; --data DIR or SEQPA_DATA must name one")
    missing = tuple(name for name in names if _file(setup.data, name) is None)
    if missing:
        raise SeqpaError(
            f"{setup.data}: not there: {_wanted(missing)}. Get what is missing {remedy}"
        )
    return setup.data


@lru_cache(maxsize=8)
def load(name: str, folder: Path | None) -> DataSet:
    """A data set from the folder; without one, scikit-learn's "digits" or "breast cancer".

    Parameters
    ----------
    name : str
        Its name.
    folder : Path or None
        Where the data sets are.

    Returns
    -------
    DataSet
        The data set.
    """
    if folder is None:
        return _bundled(name)
    file = _file(folder, name)
    if file is None:
        raise SeqpaError(f"{folder / name}: no data there; {name} is {SOURCES[name]}")
    return _from_npz(name, file) if file.suffix == ".npz" else _from_csv(name, file)


def _bundled(name: str) -> DataSet:
    from sklearn.datasets import load_breast_cancer, load_digits

    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return DataSet(name, X, y.astype(np.intp))
    X, y = load_digits(return_X_y=True)
    if name == "digits, odd or even":
        return DataSet(name, X, (y % 2).astype(np.intp))
    cut = 3 * len(y) // 4
    y = y.astype(np.intp)
    return DataSet("digits", X[:cut], y[:cut], X[cut:], y[cut:])


def _file(folder: Path, name: str) -> Path | None:
    """The file of a set, or that of a corpus to train on if the one to test on is there too."""
    for file in (folder / name / f"{name}{ending}" for ending in (".npz", ".csv")):
        if file.is_file():
            return file
    train, test = (folder / name / f"{part}.txt" for part in ("train", "test"))
    return train if train.is_file() and test.is_file() else None


def _wanted(names: tuple[str, ...]) -> str:
    return "; ".join(f"{name} ({SOURCES[name]})" for name in names)


def _from_csv(name: str, file: Path) -> DataSet:
    rows, labels = [], []
    with file.open(newline="", encoding="utf-8") as lines:
        for number, cells in enumerate(csv.reader(lines), 1):
            if not cells:
                continue
            try:
                rows.append([float(cell) for cell in cells[:-1]])
            except ValueError as error:
                raise SeqpaError(
                    f"{file}:{number}: {error}; a line is numbers between commas, the label last"
                ) from None
            if len(rows[-1]) != len(rows[0]):
                raise SeqpaError(
                    f"{file}:{number}: {len(rows[-1])} numbers, but {len(rows[0])} in the first row"
                )
            labels.append(cells[-1].strip())
    if len(set(labels)) < 2:
        raise SeqpaError(f"{file}: fewer than two labels; the last cell of a line is its label")
    return DataSet(name, np.array(rows), _places(np.array(labels)))


def _from_npz(name: str, file: Path) -> DataSet:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            X, y, X_test, y_test = (
                arrays[key] for key in ("X_train", "y_train", "X_test", "y_test")
            )
    except (KeyError, ValueError, OSError) as error:
        raise SeqpaError(
            f"{file}: {error}; it must hold the arrays X_train, y_train, X_test and y_test"
        ) from None
    places = _places(np.concatenate([y, y_test]))
    return DataSet(name, _floats(X), places[: len(y)], _floats(X_test), places[len(y) :])


def _floats(X: Any) -> Floats:
    return np.asarray(X, dtype=np.float64).reshape(len(X), -1)


def _places(labels: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(labels, return_inverse=True)[1].reshape(-1)
