"""The project file of `seqpa teach`, read as a corpus.

A project is one SQLite file, which `seqpa.teach.store` writes and describes: sentences, and events
that are only ever appended. Which labels count is told by views that are in the file itself, so
that it is said in one place: ``current`` has the labels of whole sentences, ``valid`` the events
that nobody took back.

Labels that nobody gave are not made up: a sentence that was skipped is left out; of one that is
half done, the tokens that were confirmed have a label, and the others None, which training does not
learn from. The file is only read, and trusted in nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.files import unreadable
from seqpa.schemes import check_scheme, write_spans

MAGIC = b"SQLite format 3\x00"
APPLICATION_ID = b"seqp"  # at byte 68 of the file
VERSION = 1
KINDS = ("spans", "tokens")
_SENTENCES = """
SELECT s.id, s.document, s.tokens, c.annotation
FROM sentences AS s LEFT JOIN current AS c ON c.sentence = s.id ORDER BY s.id
"""
_CONFIRMED = "SELECT sentence, body FROM valid WHERE kind = 'partial' ORDER BY id"
# A view in a file of somebody else's may go on for ever: so many steps of SQLite are enough.
_STEPS = 1_000
_MOST_STEPS = 20_000_000_000
Annotation: TypeAlias = dict[str, Any]
Confirmed: TypeAlias = list[list[Any]]


class Labelled(NamedTuple):
    """A sentence of a project, and what is known of its labels.

    Parameters
    ----------
    id : int
        Its number.
    document : str
        Where it is from.
    tokens : list of str
        Its words.
    annotation : dict or None
        The labels of the whole sentence: ``{"spans": [[start, end, label], ...]}`` in numbers of
        tokens, the end not included, or ``{"labels": [label or None, ...]}``.
    confirmed : list
        The pieces of a sentence that nobody has finished: ``[start, end, label or None]``; None is
        outside of any span.
    """

    id: int
    document: str
    tokens: list[str]
    annotation: Annotation | None
    confirmed: Confirmed


def label_column(
    n: int,
    kind: str,
    annotation: Annotation | None,
    confirmed: Sequence[Sequence[Any]] = (),
    scheme: str = "iob2",
) -> list[str | None] | None:
    """A label for each token, None for those that are not known.

    Parameters
    ----------
    n : int
        How many tokens the sentence has.
    kind : str
        ``spans`` or ``tokens``.
    annotation : dict or None
        The labels of the whole sentence.
    confirmed : sequence
        If there are none, what is confirmed of it.
    scheme : str
        How spans are written.

    Returns
    -------
    list of str or None, or None
        None if nothing is known.

    Examples
    --------
    >>> label_column(3, "spans", {"spans": [[0, 1, "PER"]]})
    ['B-PER', 'O', 'O']
    >>> label_column(3, "spans", None, [[0, 1, "PER"], [2, 3, None]])
    ['B-PER', None, 'O']
    """
    if annotation is not None:
        if kind == "tokens":
            return list(annotation["labels"])
        spans = [(label, start, end) for start, end, label in annotation["spans"]]
        return list(write_spans(spans, n, scheme))
    if not confirmed:
        return None
    known: list[str | None] = [None] * n
    for start, end, label in confirmed:
        if kind == "tokens" or label is None:
            known[start:end] = [label or "O"] * (end - start)
        else:
            known[start:end] = write_spans([(label, start, end)], n, scheme)[start:end]
    return known


def read_project(path: str | Path, with_labels: bool = True, scheme: str | None = None) -> Corpus:
    """The labelled sentences of a project, or all without labels.

    Parameters
    ----------
    path : str or Path
        The project file; it is not changed.
    with_labels : bool
        Whether the labels are read.
    scheme : str, optional
        How spans are written; iob2 if not given.

    Returns
    -------
    Corpus
        Those that are labelled, wholly or in part, in the order of the project. Documents are
        those of the files.
    """
    if scheme is not None:
        check_scheme(scheme)
    words: list[list[str]] = []
    labels: list[list[str]] = []
    documents: list[int] = []
    numbers: dict[str, int] = {}
    kind, sentences = load(path)
    for one in sentences:
        n = len(one.tokens)
        column = label_column(n, kind, one.annotation, one.confirmed, scheme or "iob2")
        if not n or (with_labels and (column is None or not any(column))):
            continue
        words.append(one.tokens)
        labels.append(cast("list[str]", column))
        documents.append(numbers.setdefault(one.document, len(numbers)))
    if with_labels and not words:
        raise SeqpaError(
            f"{path}: no sentence of it is labelled yet; label some with: seqpa teach {path}"
        )
    corpus = Corpus.from_sentences(words, labels if with_labels else None)
    corpus.documents = np.array(documents, np.int64)
    return corpus


# The file


def is_project(beginning: bytes) -> bool:
    """Whether a file that begins so is a project of `seqpa teach`.

    Parameters
    ----------
    beginning : bytes
        At least the first 72 bytes.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_project(b"SQLite format 3\\x00" + bytes(52) + b"seqp"), is_project(b"Ada NNP")
    (True, False)
    """
    return beginning.startswith(MAGIC) and beginning[68:72] == APPLICATION_ID


@contextmanager
def reading(path: str | Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, to a file that is known to be a project.

    Parameters
    ----------
    path : str or Path
        The project file.

    Yields
    ------
    sqlite3.Connection
        Every mistake in the block that SQLite finds is one `SeqpaError`.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            beginning = file.read(100)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if not beginning.startswith(MAGIC):
        raise SeqpaError(f"{path}: is no project of seqpa teach: it is no SQLite file")
    if not is_project(beginning):
        raise SeqpaError(f"{path}: is an SQLite file of some other program, no seqpa teach project")
    try:
        with closing(_opened(path)) as connection:
            steps = iter(range(_MOST_STEPS // _STEPS))
            connection.set_progress_handler(lambda: next(steps, None) is None, _STEPS)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise SeqpaError(
                    f"{path}: was written by a newer seqpa (version {version} of the project file, "
                    f"known are those up to {VERSION}); install it"
                )
            yield connection
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise SeqpaError(
            f"{path}: is damaged ({error}); take a copy that you have, or save what is left with: "
            f"sqlite3 {path} .recover"
        ) from None


def _opened(path: Path) -> sqlite3.Connection:
    address = path.resolve().as_uri()
    # Where nobody has the file open, SQLite makes a log and its index beside it; only a connection
    # that may write takes them away again. It is told to write nothing.
    alone = not path.with_name(f"{path.name}-wal").exists()
    connection = _connected(f"{address}?mode={'rw' if alone else 'ro'}")
    try:
        _look(connection)
    except sqlite3.OperationalError:
        connection.close()
        # In a folder that cannot be written, SQLite cannot make what it needs beside a file that
        # has a log; if there is no log, the file alone is all.
        if path.with_name(f"{path.name}-wal").exists():
            raise
        connection = _connected(f"{address}?mode=ro&immutable=1")
    return connection


def _connected(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=30)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _look(connection: sqlite3.Connection) -> None:
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def load(path: str | Path) -> tuple[str, list[Labelled]]:
    """Read a project, and check what is read.

    Parameters
    ----------
    path : str or Path
        The project file; it is not changed.

    Returns
    -------
    kind : str
        ``spans`` or ``tokens``.
    sentences : list of Labelled
        All of them.
    """
    with reading(path) as connection:
        connection.execute("BEGIN")  # one moment, whoever writes meanwhile
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        rows = connection.execute(_SENTENCES).fetchall()
        pieces = dict(connection.execute(_CONFIRMED))
    try:
        kind = json.loads(meta.get("kind", "null"))
        _need(kind in KINDS, f"its kind is {kind!r}")
        return kind, [_labelled(row, pieces.get(row[0]), kind) for row in rows]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SeqpaError(f"{path}: is damaged: {error}") from None


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _labelled(row: Sequence[Any], body: str | None, kind: str) -> Labelled:
    number, document, tokens, annotation = row
    where = f"sentence {number}"
    words = json.loads(tokens)
    right = isinstance(words, list) and all(isinstance(word, str) for word in words)
    _need(right and isinstance(document, str), f"{where}: its tokens are no list of strings")
    whole = None if annotation is None else json.loads(annotation)
    confirmed: Confirmed = []
    if whole is not None:
        check_annotation(whole, kind, len(words), where)
    elif body is not None:
        confirmed = json.loads(body)["confirmed"]
        _check_pieces(confirmed, len(words), where, optional=True)
    return Labelled(number, document, words, whole, confirmed)


def check_annotation(annotation: Any, kind: str, length: int, where: str) -> None:
    """Raise a ValueError if an annotation does not fit its sentence.

    Parameters
    ----------
    annotation : object
        What should be one.
    kind : str
        ``spans`` or ``tokens``.
    length : int
        How many tokens the sentence has.
    where : str
        What the error calls it.

    Examples
    --------
    >>> check_annotation({"spans": [[0, 9, "PER"]]}, "spans", 3, "sentence 7")
    Traceback (most recent call last):
        ...
    ValueError: sentence 7: spans overlap or are not in the sentence
    """
    _need(isinstance(annotation, dict), f"{where} has no annotation")
    if kind == "tokens":
        labels = annotation.get("labels")
        right = isinstance(labels, list) and len(labels) == length
        right = right and all(label is None or isinstance(label, str) for label in labels)
        _need(right, f"{where}: not a label for each token")
    else:
        _check_pieces(annotation.get("spans"), length, where, optional=False)


def _check_pieces(pieces: Any, length: int, where: str, optional: bool) -> None:
    _need(isinstance(pieces, list), f"{where} has no spans")
    end = 0
    for piece in pieces:
        _need(isinstance(piece, list) and len(piece) == 3, f"{where}: not start, end, label")
        start, stop, label = piece
        right = type(start) is int and type(stop) is int and end <= start < stop <= length
        _need(right, f"{where}: spans overlap or are not in the sentence")
        _need(isinstance(label, str) or (optional and label is None), f"{where}: no label")
        end = stop
