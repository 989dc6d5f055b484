"""The training text in parts: files that workers read, lists, corpora, Dask bags.

Into which parts a text falls depends on the text and on the number of shards alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from seqpa.cluster.executors import Executor
from seqpa.cluster.tasks import Part, same
from seqpa.data import Corpus, read
from seqpa.data.labels import with_gaps
from seqpa.data.several import files_of
from seqpa.errors import SeqpaError
from seqpa.sequence.arguments import check_whole
from seqpa.sequence.inputs import check_sentences, documents_of, given_labels, in_documents


@dataclass(frozen=True)
class Files:
    """Training files that the workers read, all under the same names.

    Parameters
    ----------
    paths : str, Path or sequence of them
        Files, or patterns that are looked up here.
    reading : mapping
        What `seqpa.data.read` is told: format, columns, label, ...
    unlabelled : str or None
        What stands in the files in place of a label that is not known.

    Examples
    --------
    >>> Files(["a.conll", "b.conll"], {"columns": ["word", "label"]}).names()
    ['a.conll', 'b.conll']
    """

    paths: str | Path | Sequence[str | Path]
    reading: Mapping[str, Any] = field(default_factory=dict)
    unlabelled: str | None = None

    def names(self) -> list[str]:
        """The files, in order."""
        return files_of(self.paths)


def read_file(name: str, reading: Mapping[str, Any], unlabelled: str | None) -> Corpus:
    """Read a file, where the task runs."""
    return with_gaps(read(name, **reading), unlabelled)


def share_of(corpus: Any, i: int, of: int, name: str) -> Part:
    """Part i of a file that is cut into so many."""
    run = _cuts(corpus, of)[i]
    return Part(corpus[run], name=name)


def pairs_of(partition: Sequence[Any], name: str) -> Part:
    """A partition of a bag, whose items are (tokens, labels)."""
    try:
        X, y = [list(tokens) for tokens, _ in partition], [list(labels) for _, labels in partition]
    except (TypeError, ValueError):
        raise SeqpaError(f"{name}: an item of the bag must be a pair (tokens, labels)") from None
    return Part(X, y, name=name)


def parts_of(
    executor: Executor, X: Any, y: Any, sample_weight: Any, documents: Any, shards: int
) -> list[Any]:
    """The parts of a training text, as handles of tasks.

    Parameters
    ----------
    executor : Executor
    X : Files, dask.bag.Bag, list of sentences, or Corpus
    y : list of label lists
        For a list of sentences.
    sample_weight : None, or a number for each sentence
    documents : None, or a list
        For each sentence the name of its document; a document is not cut where it can be helped.
    shards : int
        So many parts are made at least, if there are enough sentences.

    Returns
    -------
    list of handles of `Part`
    """
    check_whole("shards", shards, 1)
    if isinstance(X, Files):
        names = X.names()
        each = -(-shards // len(names))
        parts = []
        for name in names:
            whole = executor.submit(read_file, name, dict(X.reading), X.unlabelled)
            parts += [executor.submit(share_of, whole, i, each, name) for i in range(each)]
        return parts
    if hasattr(X, "to_delayed"):
        delayed = X.to_delayed()
        return [
            executor.submit(pairs_of, own, f"partition {i + 1} of the bag")
            for i, own in enumerate(_computed(executor, delayed))
        ]
    X = in_documents(X, documents)
    check_sentences(X)
    given_labels(X, y)  # checked as a whole, where messages can number the sentences
    found = []
    for run in _cuts(X, shards):
        own_y = None if y is None else y[run]
        weights = None if sample_weight is None else list(sample_weight)[run]
        found.append(executor.submit(same, Part(X[run], own_y, weights)))
    return found


def _computed(executor: Executor, delayed: Sequence[Any]) -> list[Any]:
    """The partitions of a bag, where tasks can take them."""
    client = getattr(executor, "client", None)
    if client is None:
        return [own.compute(scheduler="synchronous") for own in delayed]
    return list(client.compute(list(delayed)))


def _cuts(X: Any, n: int) -> list[slice]:
    """Where sentences are cut into n parts: between documents, where these are known."""
    total = len(X)
    places = [total * i // n for i in range(n + 1)]
    documents = documents_of(X)
    if documents is not None:
        for k, place in enumerate(places[1:-1], 1):
            while place < total and documents[place] == documents[place - 1]:
                place += 1
            places[k] = max(place, places[k - 1])
    return [slice(a, b) for a, b in pairwise(places)]
