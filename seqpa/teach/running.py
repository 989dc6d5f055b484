"""A project behind its page, until a signal says to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seqpa.serve.logs import Log
from seqpa.serve.running import address_of, bound, serve_app
from seqpa.serve.settings import Settings
from seqpa.teach.app import create_app
from seqpa.teach.session import Session
from seqpa.teach.training import Training


def run(session: Session, user: str, settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Serve a session.

    Parameters
    ----------
    session : Session
    user : str
        Who works alone.
    settings : Settings
        Where it listens.
    on_ready : function of str
        Called with the address once requests are taken.

    Raises
    ------
    SeqpaError
        If the address cannot be listened at.
    """
    path = session.store.path
    training = Training(path, Path(path).with_suffix(".safetensors"))
    try:
        with bound(settings) as listener:
            log = Log(quiet=settings.quiet)
            app = create_app(session, training, user, settings, log)
            serve_app(app, settings.limits, listener, log, lambda: on_ready(address_of(listener)))
    finally:
        training.close()
