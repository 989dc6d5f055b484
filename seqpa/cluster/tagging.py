"""Tagging many files on a cluster: files in, files out.

A file is one task. It appears whole or not at all, under its own name, so that work which was
stopped goes on where it stood: an output that is younger than its input and the model is left as
it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from seqpa.cluster.executors import Executor
from seqpa.data import MAX_SENTENCE_TOKENS, Corpus, read_chunks, write_tagged
from seqpa.data.remote import is_address, modified
from seqpa.data.sink import open_sink, packed_ending
from seqpa.errors import SeqpaError
from seqpa.files import check_apart, check_folder, unreadable
from seqpa.sequence.column_text import tagged_columns
from seqpa.sequence.streams import in_context
from seqpa.sequence.tagger import SequenceTagger

_LOADED: dict[str, tuple[tuple[int, int], SequenceTagger]] = {}  # one model in each process
_LOADING = Lock()
_DEFAULTS: dict[str, Any] = {
    "format": "conll",
    "columns": None,
    "label": None,
    "encoding": "utf-8",
    "max_sentence_tokens": MAX_SENTENCE_TOKENS,
}


@dataclass(frozen=True, slots=True)
class TaggingOptions:
    """How files are read and written.

    Attributes
    ----------
    reading : mapping
        What `seqpa.data.read_chunks` is told.
    to : str or None
        Format of the output, if not that of the input.
    label : str
        The field of CoNLL-U that the label goes to.
    encoding : str
        Of the output.
    allow_imports : bool
        Import the functions that the model names.
    n_jobs : int
        Threads for each file.
    """

    reading: Mapping[str, Any]
    to: str | None = None
    label: str = "upos"
    encoding: str = "utf-8"
    allow_imports: bool = False
    n_jobs: int = 1


def tag_file(model: str, input: str, output: str, options: TaggingOptions) -> int:
    """Tag one file, where the task runs; how many tokens it has."""
    tagger = _loaded(model, options.allow_imports)
    tokens = 0
    how = {**_DEFAULTS, **options.reading}
    if options.to is None and how["format"] == "conll":
        pieces = tagged_columns(
            tagger.trained_.tagging, tagger.input_columns, input, how, options.n_jobs
        )
        if pieces is not None:  # as fast as `seqpa tag` is
            with open_sink(output, options.encoding) as sink:
                for piece in pieces:
                    sink.write(piece.text)
                    tokens += piece.n_tokens
            return tokens

    def tagged() -> Iterator[tuple[Corpus, list[str]]]:
        nonlocal tokens
        chunks = read_chunks(input, **options.reading, with_labels=False, keep_layout=True)
        for corpus, around, own in in_context(chunks, *tagger.hops_):
            found = tagger.trained_.predict(around, options.n_jobs)[own] if len(corpus) else []
            tokens += corpus.n_tokens
            yield corpus, [label for sentence in found for label in sentence]

    write_tagged(
        output, tagged(), format=options.to, label=options.label, encoding=options.encoding
    )
    return tokens


def _loaded(path: str, allow_imports: bool) -> SequenceTagger:
    """The model, which a process reads once."""
    try:
        stamp = _stamp(Path(path))
    except OSError as error:
        raise unreadable(path, error) from None
    with _LOADING:
        known = _LOADED.get(path)
        if known is None or known[0] != stamp:
            _LOADED.clear()
            known = _LOADED[path] = stamp, SequenceTagger.load(path, allow_imports=allow_imports)
        return known[1]


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def outputs_of(inputs: Sequence[str], folder: Path, to: str | None) -> list[Path]:
    """Where each input's output goes: under its own name, with another ending for another format.

    Parameters
    ----------
    inputs : sequence of str
    folder : Path
    to : str or None
        Format of the output, if not that of the input.

    Returns
    -------
    list of Path

    Examples
    --------
    >>> [str(path) for path in outputs_of(["in/a.conll.gz"], Path("out"), None)]
    ['out/a.conll.gz']
    >>> [str(path) for path in outputs_of(["in/a.conll.gz"], Path("out"), "jsonl")]
    ['out/a.jsonl.gz']
    """
    found = []
    for name in inputs:
        path = Path(name)
        if to is not None:
            packed = packed_ending(path.name)
            path = Path(Path(path.name.removesuffix(packed)).stem + f".{to}{packed}")
        found.append(folder / path.name)
        if found[-1] in found[:-1]:
            raise SeqpaError(
                f"{name}: another input has the same name, and so would their outputs in {folder}"
            )
    return found


def tag_files(
    executor: Executor,
    model: str | Path,
    inputs: Sequence[str],
    folder: str | Path,
    options: TaggingOptions,
    done: Callable[[str, int], None] | None = None,
) -> tuple[int, int]:
    """Tag many files.

    Parameters
    ----------
    executor : Executor
        Who runs the tasks.
    model : str or Path
        A file that all workers see under this name.
    inputs : sequence of str
        Likewise.
    folder : str or Path
        Where the outputs go; it is made if it is not there.
    options : TaggingOptions
    done : callable, optional
        Is told each file that is tagged, and how many tokens it has.

    Returns
    -------
    tagged, left : int
        How many files were tagged, and how many were there already.
    """
    folder, model = Path(folder).absolute(), Path(model).absolute()
    inputs = [name if is_address(name) else str(Path(name).absolute()) for name in inputs]
    outputs = outputs_of(inputs, folder, options.to)
    for name, output in zip(inputs, outputs, strict=True):
        read = {"the model": model} | ({} if is_address(name) else {"the input": name})
        check_apart(read, {"the output": output})
    if folder.exists():
        check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    work = [
        (name, str(output))
        for name, output in zip(inputs, outputs, strict=True)
        if not _is_made(output, name, model)
    ]
    executor.check()
    handles = [
        executor.submit(tag_file, str(model), name, output, options) for name, output in work
    ]

    def ended(i: int) -> None:
        if done is not None:
            done(work[i][0], i)

    executor.results(handles, ended)
    return len(work), len(inputs) - len(work)


def _is_made(output: Path, input: str, model: Path) -> bool:
    """Whether an output is there that is younger than all that it is made of."""
    try:
        made = output.stat().st_mtime_ns
        if made < model.stat().st_mtime_ns:
            return False
        if is_address(input):
            changed = modified(input)
            return changed is not None and made >= changed * 1e9
        return made >= Path(input).stat().st_mtime_ns
    except OSError:
        return False
