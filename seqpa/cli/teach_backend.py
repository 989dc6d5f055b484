"""``seqpa teach PROJECT --backend NAME``: suggestions for Label Studio or INCEpTION that learn."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from seqpa.cli.screen import is_terminal, screen
from seqpa.errors import SeqpaError, did_you_mean

_PORTS = {"label-studio": 9090, "inception": 9091}


def serve_backend(
    backend: str,
    files: Sequence[Path],
    labels: Sequence[str],
    kind: str | None,
    new_users: Sequence[str],
    host: str,
    port: int | None,
    hosts: Sequence[str],
    language: str,
    seed: int,
) -> None:
    """Serve a project to somebody else's page; make an empty one if it is not there.

    Parameters
    ----------
    backend : str
        ``label-studio`` or ``inception``.
    files : sequence of Path
        The project, alone.
    labels : sequence of str
        The first labels of a new project.
    kind : str or None
        Of a new project; spans if not given.
    new_users : sequence of str
        Who gets a token.
    host : str
        Where to listen.
    port : int or None
        None takes the backend's usual one, 0 any that is free.
    hosts : sequence of str
        Further names of this machine.
    language : str
        How texts are cut.
    seed : int
        Of a new project.
    """
    if backend not in _PORTS:
        hint = did_you_mean(backend, _PORTS, listed=False)
        raise SeqpaError(f"--backend {backend}: is none of {', '.join(_PORTS)}{hint}")
    if len(files) != 1:
        raise SeqpaError("a backend has one project: seqpa teach PROJECT.seqpa --backend NAME")
    from seqpa.serve.settings import Settings, is_loopback
    from seqpa.teach.backend import LIMITS
    from seqpa.teach.backends import run
    from seqpa.teach.store import Store
    from seqpa.teach.suggesting import Suggester, empty_project
    from seqpa.teach.team import hashed, new_token

    path = files[0]
    if path.exists():
        if labels or kind is not None:
            raise SeqpaError(f"{path}: is a project, which has its labels and kind; open it alone")
        store = Store.open(path)
    else:
        if not new_users and not is_loopback(host):  # before anything is made
            raise _needs_token(host, backend)
        store = empty_project(path, labels, kind or "spans", seed)
        screen().note(f"made the project {path}")
    try:
        if not new_users and not store.users() and not is_loopback(host):
            raise _needs_token(host, backend)
        for name in new_users:
            token = new_token()
            store.add_user(name, hashed(token), time.time())
            screen().note(f"the token for {name}, which is shown only now: {token}")
        tokens = store.users()
        suggester = Suggester(store)
    except BaseException:
        store.close()
        raise
    settings = Settings(
        models=(),
        host=host,
        port=_PORTS[backend] if port is None else port,
        hosts=tuple(hosts),
        limits=LIMITS,
        quiet=screen().quiet or (is_terminal(sys.stderr) and not screen().verbose),
    )

    def ready(address: str) -> None:
        own = f"{address}{path.stem}" if backend == "inception" else address.rstrip("/")
        screen().note(f"{path.name} is a backend for {backend} at {own} (Ctrl-C ends)")

    run(backend, suggester, tokens, settings, language, ready)


def _needs_token(host: str, backend: str) -> SeqpaError:
    return SeqpaError(
        f"--host {host}: others can reach it, so it needs a token: --add-user {backend}"
    )
