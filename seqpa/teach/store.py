"""The project file: one SQLite file, to which events are appended before they are acknowledged.

Four tables hold what was given and what was done: ``meta``, ``sentences``, ``events``, ``users``;
``blobs`` holds what can be computed again. Nothing in ``events`` is ever changed or removed: to
undo is an event too. The view ``labels`` has the labels that are valid now, one row a sentence and
reader; the view ``current`` has those that count, the latest of each sentence.

An event is valid unless one of these was undone: itself; its ``cause``, the event that made it
(of a bulk repair or a renamed label); its ``base``, the labelling whose labels it changes.

The file is in WAL mode with ``synchronous=FULL``: what `Store.append` returned is on the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from seqpa.errors import SeqpaError
from seqpa.file_locks import Lock
from seqpa.files import unreadable

# "seqp" in ASCII: by it `file` and readers know a project file from other SQLite files.
APPLICATION_ID = 0x73657170
VERSION = 1

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE meta (
    key TEXT PRIMARY KEY,           -- kind, labels, settings, seed, base
    value TEXT NOT NULL             -- JSON
);
CREATE TABLE sentences (
    id INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    position INTEGER NOT NULL,      -- within its document
    text TEXT NOT NULL,
    tokens TEXT NOT NULL,           -- JSON: list of str
    offsets TEXT NOT NULL,          -- JSON: list of [start, end], characters in text
    columns TEXT,                   -- JSON: further cells, or NULL
    given TEXT,                     -- JSON: the annotation that the file had, or NULL
    start INTEGER                   -- where the text begins in its document's, or NULL
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT UNIQUE,            -- made by the page: the same request twice is one event
    user TEXT NOT NULL,
    time REAL NOT NULL,             -- seconds since 1970, UTC
    kind TEXT NOT NULL,             -- see seqpa.teach.events
    sentence INTEGER REFERENCES sentences (id),
    annotation TEXT,                -- JSON: the labels, of the kinds accept, settle and relabel
    seconds REAL,                   -- how long it took
    keys INTEGER,                   -- how many keys were pressed
    clock INTEGER NOT NULL,         -- how many lessons the model had had
    undoes INTEGER UNIQUE REFERENCES events (id),
    cause INTEGER REFERENCES events (id),
    base INTEGER REFERENCES events (id),
    body TEXT NOT NULL              -- JSON: what else belongs to the kind
);
CREATE INDEX events_of_sentences ON events (sentence, id);
CREATE TABLE users (
    name TEXT PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,     -- the SHA-256 of the token, in hexadecimal digits
    time REAL NOT NULL
);
CREATE TABLE blobs (
    name TEXT PRIMARY KEY,
    event INTEGER NOT NULL,         -- the last event that it knows of
    version TEXT NOT NULL,          -- the version of seqpa that made it
    data BLOB NOT NULL
);
CREATE VIEW valid AS
    SELECT * FROM events AS e WHERE kind <> 'undo'
    AND NOT EXISTS (SELECT 1 FROM events AS u WHERE u.undoes = e.id)
    AND NOT EXISTS (SELECT 1 FROM events AS u WHERE u.undoes = e.cause)
    AND NOT EXISTS (SELECT 1 FROM events AS u WHERE u.undoes = e.base);
CREATE VIEW labels AS
    SELECT sentence, reader, max(event) AS event, annotation FROM (
        SELECT v.sentence, coalesce(b.user, v.user) AS reader, v.id AS event, v.annotation
        FROM valid AS v LEFT JOIN events AS b ON b.id = v.base
        WHERE v.annotation IS NOT NULL
    ) GROUP BY sentence, reader;
CREATE VIEW current AS
    SELECT sentence, max(event) AS event, annotation FROM labels GROUP BY sentence;
"""


class NotKept(SeqpaError):
    """The disk is full or fails: nothing of what was to be appended is kept."""


class Sentence(NamedTuple):
    """A sentence of a project.

    Parameters
    ----------
    id : int
        From 0, in the order of the files.
    document : str
        The name of the document.
    position : int
        Its number within the document.
    text : str
        As the file has it.
    tokens : list of str
        What is labelled.
    offsets : list of list of int
        Where each token begins and ends in the text, in characters.
    columns : list or None
        Further cells of the file.
    given : dict or None
        The annotation that the file had.
    start : int or None
        Where the text begins in that of its document, in characters; None where that is not known.

    Examples
    --------
    >>> sentence = Sentence(0, "a.txt", 0, "Ann left", ["Ann", "left"], [[0, 3], [4, 8]])
    >>> sentence.tokens[1], sentence.given
    ('left', None)
    """

    id: int
    document: str
    position: int
    text: str
    tokens: list[str]
    offsets: list[list[int]]
    columns: Any = None
    given: dict[str, Any] | None = None
    start: int | None = None


class Event(NamedTuple):
    """Something that was done.

    Parameters
    ----------
    kind : str
        See `seqpa.teach.events`.
    user : str
        Who did it.
    time : float
        When, in seconds since 1970.
    body : dict
        What else belongs to the kind.
    sentence : int or None
        The sentence it is about.
    annotation : dict or None
        The labels it gives the sentence.
    seconds : float or None
        How long it took.
    keys : int or None
        How many keys were pressed.
    clock : int
        How many lessons the model had had.
    undoes, base : int or None
        The event that it undoes; the labelling whose labels it changes.
    cause : int or None
        The event that made it; `Store.append` fills it in.
    request : str or None
        The page's own name for it.
    id : int
        Its number, which `Store.append` gives; 0 before.

    Examples
    --------
    >>> Event("skip", "ann", 0.0, {}, sentence=3).sentence
    3
    """

    kind: str
    user: str
    time: float
    body: dict[str, Any]
    sentence: int | None = None
    annotation: dict[str, Any] | None = None
    seconds: float | None = None
    keys: int | None = None
    clock: int = 0
    undoes: int | None = None
    base: int | None = None
    cause: int | None = None
    request: str | None = None
    id: int = 0


_COLUMNS = ", ".join(Event._fields)
_NEW_SENTENCE = f"INSERT INTO sentences VALUES ({', '.join('?' * len(Sentence._fields))})"


class Store:
    """An open project file. One process at a time has it.

    Made by `Store.create` or `Store.open`; calls may come from any thread.

    Parameters
    ----------
    path : Path
        The file.
    lock : Lock
        What keeps other processes away.
    connection : sqlite3.Connection
        To the file, within no transaction.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "names.seqpa"
    >>> sentences = [Sentence(0, "a.txt", 0, "Ann left", ["Ann", "left"], [[0, 3], [4, 8]])]
    >>> with Store.create(path, {"kind": "spans"}, sentences) as store:
    ...     store.append([Event("skip", "ann", 0.0, {}, sentence=0)])
    1
    >>> with Store.open(path) as store:
    ...     [event.kind for event in store.events()]
    ['skip']
    """

    _open: ClassVar[set[Path]] = set()

    def __init__(self, path: Path, lock: Lock, connection: sqlite3.Connection) -> None:
        self.path = path
        self._lock: Lock | None = lock
        self._connection = connection
        self._guard = threading.RLock()
        self._real = Path(os.path.realpath(path))
        Store._open.add(self._real)

    @classmethod
    def create(
        cls,
        path: str | Path,
        meta: dict[str, Any],
        sentences: Iterable[Sentence],
        blobs: Mapping[str, bytes] | None = None,
        events: Iterable[Event] = (),
    ) -> Store:
        """Make a project file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A file that is not there yet.
        meta : dict
            What is fixed for the project: its kind, first labels, settings.
        sentences : iterable of Sentence
            The sentences, with the numbers 0, 1, 2, ...
        blobs : mapping of str to bytes, optional
            What is kept from the beginning, as by `keep`.
        events : iterable of Event
            What was done already; none is the cause of another.

        Returns
        -------
        Store
            Open.

        Raises
        ------
        SeqpaError
            If there is such a file, or it cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "names.seqpa"
        >>> Store.create(path, {"kind": "spans"}, []).close()
        >>> path.exists()
        True
        """
        path = Path(path)
        lock = _taken(path)
        if path.exists():
            raise SeqpaError(
                f"{path}: is there already: go on with seqpa teach {path}, or name another file "
                "with --project"
            )
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            with _explained(path):
                connection = _connected(partial)
                try:
                    connection.executescript(SCHEMA)
                    connection.execute("BEGIN")
                    connection.executemany(
                        "INSERT INTO meta VALUES (?, ?)",
                        [(key, _json(value)) for key, value in meta.items()],
                    )
                    connection.executemany(
                        _NEW_SENTENCE,
                        (_sentence_row(i, sentence) for i, sentence in enumerate(sentences)),
                    )
                    connection.executemany(
                        "INSERT INTO blobs VALUES (?, 0, '', ?)", (blobs or {}).items()
                    )
                    for event in events:
                        _insert(connection, event)
                    connection.execute("COMMIT")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    connection.close()
                partial.replace(path)
        finally:
            for name in (partial.name, f"{partial.name}-wal", f"{partial.name}-shm"):
                partial.with_name(name).unlink(missing_ok=True)
        return cls(path, lock, _opened(path))

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open a project file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Store
            With all that was ever acknowledged.

        Raises
        ------
        SeqpaError
            If another process has it open, or it is no project file.

        Examples
        --------
        >>> Store.open("nothing.seqpa")
        Traceback (most recent call last):
            ...
        seqpa.errors.SeqpaError: nothing.seqpa: there is no such file
        """
        path = Path(path)
        if not path.is_file():
            raise SeqpaError(f"{path}: there is no such file")
        lock = _taken(path)
        return cls(path, lock, _opened(path))

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let others have it; what was acknowledged is there already.

        Examples
        --------
        >>> import tempfile
        >>> store = Store.create(Path(tempfile.mkdtemp()) / "names.seqpa", {}, [])
        >>> store.close()
        """
        with self._guard:
            self._connection.close()
            self._lock = None
            Store._open.discard(self._real)

    # What is asked

    def meta(self) -> dict[str, Any]:
        """What is fixed for the project.

        Returns
        -------
        dict
            Kind, first labels, settings.
        """
        with self._guard, _explained(self.path):
            rows = self._connection.execute("SELECT key, value FROM meta").fetchall()
            return {key: json.loads(value) for key, value in rows}

    def sentences(self) -> list[Sentence]:
        """All sentences.

        Returns
        -------
        list of Sentence
            In the order of their numbers.
        """
        with self._guard, _explained(self.path):
            rows = self._connection.execute("SELECT * FROM sentences ORDER BY id").fetchall()
            sentences = [
                Sentence(*row[:4], *map(_parsed, row[4:8]))._replace(start=row[8]) for row in rows
            ]
        if [sentence.id for sentence in sentences] != list(range(len(sentences))):
            raise SeqpaError(f"{self.path}: is damaged: sentences are missing")
        return sentences

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events, in their order.

        Parameters
        ----------
        after : int
            Only those with higher numbers.

        Yields
        ------
        Event
            One at a time.
        """
        with self._guard, _explained(self.path):
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM events WHERE id > ? ORDER BY id", (after,)
            ).fetchall()
        for row in rows:
            yield _event(row)

    def by_request(self, request: str) -> Event | None:
        """The event that a request made.

        Parameters
        ----------
        request : str
            The page's own name for it.

        Returns
        -------
        Event or None
            None if there was no such request.
        """
        with self._guard, _explained(self.path):
            row = self._connection.execute(
                f"SELECT {_COLUMNS} FROM events WHERE request = ?", (request,)
            ).fetchone()
        return row and _event(row)

    def labels(self) -> dict[tuple[int, str], dict[str, Any]]:
        """The labels that are valid now, as the file's view has them.

        Returns
        -------
        dict
            Annotations by sentence and reader.
        """
        with self._guard, _explained(self.path):
            rows = self._connection.execute(
                "SELECT sentence, reader, annotation FROM labels"
            ).fetchall()
        return {(sentence, reader): json.loads(text) for sentence, reader, text in rows}

    # What is written

    def append(self, events: Sequence[Event]) -> int:
        """Append events, all or none; they are on the disk when this returns.

        Parameters
        ----------
        events : sequence of Event
            The first one is the cause of the others.

        Returns
        -------
        int
            The number of the first event.

        Raises
        ------
        SeqpaError
            If the disk is full or fails; then nothing of it was kept.
        """
        with self._guard, self._transaction():
            first = 0
            for event in events:
                number = _insert(self._connection, event._replace(cause=first or None))
                first = first or number
        return first

    def extend(self, sentences: Sequence[Sentence]) -> None:
        """Append sentences, all or none; those that are there stay as they are.

        Parameters
        ----------
        sentences : sequence of Sentence
            Their numbers go on from the last one's.
        """
        with self._guard, self._transaction():
            first = self._connection.execute("SELECT count(*) FROM sentences").fetchone()[0]
            self._connection.executemany(
                _NEW_SENTENCE,
                [_sentence_row(first + i, sentence) for i, sentence in enumerate(sentences)],
            )

    def keep(self, name: str, event: int, version: str, data: bytes) -> None:
        """Keep something that can be computed again, in the place of what was kept before.

        Parameters
        ----------
        name : str
            What it is.
        event : int
            The last event that it knows of.
        version : str
            The version of seqpa that made it.
        data : bytes
            The thing itself.
        """
        with self._guard, self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?)", (name, event, version, data)
            )

    def kept(self, name: str) -> tuple[int, str, bytes] | None:
        """What was kept under a name.

        Parameters
        ----------
        name : str
            What it is.

        Returns
        -------
        tuple of int, str and bytes, or None
            The last event that it knows of, the version of seqpa, the thing itself.
        """
        with self._guard, _explained(self.path):
            row = self._connection.execute(
                "SELECT event, version, data FROM blobs WHERE name = ?", (name,)
            ).fetchone()
        return None if row is None else (row[0], row[1], bytes(row[2]))

    def add_user(self, name: str, token: str, time: float) -> None:
        """Let a user in by a token, or by another one than before.

        Parameters
        ----------
        name : str
            The user.
        token : str
            The token's SHA-256.
        time : float
            Now.
        """
        with self._guard, self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO users VALUES (?, ?, ?)", (name, token, time)
            )

    def users(self) -> dict[str, str]:
        """Who may come in.

        Returns
        -------
        dict
            The SHA-256 of tokens, by name.
        """
        with self._guard, _explained(self.path):
            return dict(self._connection.execute("SELECT name, token FROM users ORDER BY name"))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _taken(path: Path) -> Lock:
    """The lock of a project file, which neither another process nor this one has open."""
    try:
        lock = Lock.take(path.with_name(f"{path.name}.lock"))
    except OSError as error:
        raise SeqpaError(
            f"{path}: cannot be opened ({error.strerror}): a project needs a folder that is there "
            "and can be written"
        ) from error
    if lock is None or Path(os.path.realpath(path)) in Store._open:
        raise SeqpaError(f"{path}: is open in another process: go on there, or end that one first")
    return lock


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is checked to be a project."""
    try:
        with path.open("r+b") as file:  # what cannot be written is told now, not at the first label
            head = file.read(100)
    except PermissionError:
        raise SeqpaError(
            f"{path}: may not be read and written: change that, or go on with a copy"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    # Both were written once, when the file was made: they are not in the log alone.
    if head[:16] != b"SQLite format 3\0" or head[68:72] != APPLICATION_ID.to_bytes(4, "big"):
        raise SeqpaError(f"{path}: is damaged, or no project of seqpa teach")
    version = int.from_bytes(head[60:64], "big")
    if version != VERSION:
        raise SeqpaError(f"{path}: has format {version}, this seqpa reads {VERSION}: update seqpa")
    with _explained(path):
        connection = _connected(path)
        try:
            # Quicker than what comes next, and the only look at pages that are read much later.
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise SeqpaError(
                    f"{path}: is damaged: {found.splitlines()[-1]}; go on with a whole copy, or "
                    "with what sqlite3's .recover saves"
                )
            columns = connection.execute("PRAGMA table_info(sentences)").fetchall()
            if columns and columns[-1][1] != "start":  # an early project, which did not keep it
                connection.execute("ALTER TABLE sentences ADD COLUMN start INTEGER")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of SQLite and of damaged JSON as one clear line."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise SeqpaError(f"{path}: cannot take this: {error}") from error
    except sqlite3.ProgrammingError as error:
        raise SeqpaError(f"{path}: is closed") from error
    except sqlite3.OperationalError as error:
        if "decode" in str(error):  # text that is none
            raise SeqpaError(f"{path}: is damaged: {error}") from error
        if "full" in str(error):
            message = "the disk is full: nothing of this was kept; make room, then do it again"
        else:
            message = f"cannot be read or written, nothing of this was kept: {error}"
        raise NotKept(f"{path}: {message}") from error
    except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
        raise SeqpaError(f"{path}: is damaged, or no project of seqpa teach: {error}") from error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _sentence_row(number: int, sentence: Sentence) -> tuple[Any, ...]:
    if sentence.id != number:
        raise SeqpaError(f"sentence {number} has the number {sentence.id}: count from 0")
    cells = (sentence.columns, sentence.given)
    return (
        *sentence[:4],
        _json(sentence.tokens),
        _json(sentence.offsets),
        *(None if cell is None else _json(cell) for cell in cells),
        sentence.start,
    )


def _insert(connection: sqlite3.Connection, event: Event) -> int:
    row = event._asdict()
    del row["id"]
    row["body"] = _json(event.body)
    row["annotation"] = None if event.annotation is None else _json(event.annotation)
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    cursor = connection.execute(
        f"INSERT INTO events ({names}) VALUES ({marks})", tuple(row.values())
    )
    return int(cursor.lastrowid or 0)


def _event(row: tuple[Any, ...]) -> Event:
    event = Event(*row)
    return event._replace(
        body=_parsed(row[Event._fields.index("body")]),
        annotation=_parsed(row[Event._fields.index("annotation")]),
    )
