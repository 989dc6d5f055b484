"""What a service is told when it starts: where it listens, its models, who may ask, how much."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seqpa.errors import SeqpaError


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for, and how many may wait; for each worker.

    Parameters
    ----------
    body_bytes : int
        The longest body; of a stream, the longest line.
    sentences, tokens : int
        In one request, or one line of a stream.
    detailed_tokens : int
        The same where more than the labels is wanted: n-best, probabilities, explanations.
    n_best : int
        The most readings of a sentence.
    head_bytes : int
        The longest request line with its headers.
    head_seconds, body_seconds : float
        How long a client may take to send them.
    request_seconds : float
        How long an answer may take, waiting included.
    idle_seconds : float
        How long a stream may stand still, and a connection stay open between two requests.
    waiting : int
        Requests that may be in work at a time; the next is told to come again.
    streams : int
        The same for streams.
    held_bytes : int
        What all bodies together may take that have not been answered.
    connections : int
        Open connections.
    shutdown_seconds : float
        How long what was begun may take when the service is told to end.
    """

    body_bytes: int = 2**20
    sentences: int = 2_000
    tokens: int = 50_000
    detailed_tokens: int = 5_000
    n_best: int = 20
    head_bytes: int = 2**16
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    request_seconds: float = 30.0
    idle_seconds: float = 30.0
    waiting: int = 256
    streams: int = 16
    held_bytes: int = 2**26
    connections: int = 1_000
    shutdown_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class ModelPath:
    """A model file and the name that requests call it by.

    Parameters
    ----------
    name : str
    path : Path
    """

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a service is told.

    Parameters
    ----------
    models : tuple of ModelPath
        The first is asked where a request names none.
    host : str
        The address to listen at.
    port : int
        0 takes one that is free.
    token : str or None
        What every request must bear.
    language : str
        How text is cut into words, where a request does not say it.
    origins : tuple of str
        Web pages of which addresses may ask from browsers, beside the service's own.
    hosts : tuple of str
        Further names that the service is called by.
    allow_imports : bool
        Whether the Python functions that a model names may be imported.
    limits : Limits
    workers : int
        Processes that share the work.
    watch_seconds : float
        How often model files are looked at; a new one is swapped in.
    quiet : bool
        Log no requests, only what is new or wrong.
    """

    models: tuple[ModelPath, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    language: str = "english"
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    allow_imports: bool = False
    limits: Limits = Limits()
    workers: int = 1
    watch_seconds: float = 1.0
    quiet: bool = False


def named_models(given: Sequence[str]) -> tuple[ModelPath, ...]:
    """Model files by name: ``NAME=FILE``, or a file that has its own name.

    A file called ``model``, as training writes it, is called by its folder.

    Parameters
    ----------
    given : sequence of str

    Returns
    -------
    tuple of ModelPath

    Examples
    --------
    >>> [one.name for one in named_models(["a=x/m.st", "models/ner/model.safetensors", "pos.st"])]
    ['a', 'ner', 'pos']
    """
    found: dict[str, ModelPath] = {}
    for one in given:
        name, sign, rest = one.partition("=")
        if not sign or "/" in name or "\\" in name:
            path = Path(one)
            name = path.stem if path.stem != "model" else path.absolute().parent.name
        else:
            path = Path(rest)
        if not name or not str(path) or (sign and not rest):
            raise SeqpaError(f"{one!r} names no model: say FILE, or NAME=FILE")
        if name in found:
            raise SeqpaError(
                f"{found[name].path} and {path} are both called {name!r}: say NAME=FILE"
            )
        found[name] = ModelPath(name, path)
    return tuple(found.values())


def read_token(path: Path) -> str:
    """The token in a file: its first line.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise SeqpaError(f"{path}: is no text: a token is one line of it") from None
    token = lines[0].strip() if lines else ""
    if not token:
        raise SeqpaError(f"{path}: its first line is empty: write the token there")
    return token


def check_token(token: str | None, host: str) -> None:
    """Raise a SeqpaError where a token is missing or could not be sent.

    Parameters
    ----------
    token : str or None
    host : str
        The address to listen at; others than this machine's own need a token.
    """
    if token is None:
        if not is_loopback(host):
            raise SeqpaError(
                f"--host {host}: others can reach it, so it needs a token: --token-file FILE, "
                "or the variable SEQPA_TOKEN"
            )
        return
    if len(token) < 8 or not token.isascii() or not token.isprintable() or " " in token:
        raise SeqpaError(
            "the token must have 8 or more letters, digits and signs, without spaces; to make one: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine itself reaches an address.

    Parameters
    ----------
    host : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost")
    (True, True, True)
    >>> is_loopback("0.0.0.0"), is_loopback("example.org")
    (False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
