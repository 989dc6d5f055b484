"""Training and tagging on several machines, with Dask.

The result depends on the data, the parameters and the number of shards, never on the cluster: not
on how many workers there are, which is done first, or whether some are lost on the way.

In reading order:

    sources     the training text in parts: files that workers read, lists, Dask bags
    mixing      what a shard learned in a round, and how the shards are mixed
    tasks       what workers do: pure functions of their arguments
    executors   who runs the tasks: a Dask cluster, or this very process
    corpora     the text, numbered and dealt to the shards
    tagger      `DaskSequenceTagger`: the rounds
    run         ``seqpa train --dask``: a configuration in, a model out
    tagging     ``seqpa tag --dask``: files in, files out
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqpa.cluster.sources import Files as Files
    from seqpa.cluster.tagger import DaskSequenceTagger as DaskSequenceTagger
    from seqpa.cluster.tagging import tag_files as tag_files

__all__ = ["DaskSequenceTagger", "Files", "tag_files"]

_HOMES = {"DaskSequenceTagger": "tagger", "Files": "sources", "tag_files": "tagging"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
