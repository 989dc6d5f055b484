"""The backends that `seqpa teach` can be, and how they are served."""

from __future__ import annotations

from collections.abc import Callable

from seqpa.serve.logs import Log
from seqpa.serve.running import address_of, bound, serve_app
from seqpa.serve.settings import Settings
from seqpa.teach import inception, label_studio
from seqpa.teach.suggesting import Suggester

BACKENDS = {
    "label-studio": label_studio.create_backend_app,
    "inception": inception.create_backend_app,
}


def run(
    kind: str,
    suggester: Suggester,
    tokens: dict[str, str],
    settings: Settings,
    language: str,
    on_ready: Callable[[str], None],
) -> None:
    """Serve a project until a signal says to end.

    Parameters
    ----------
    kind : str
        One of `BACKENDS`.
    suggester : Suggester
        The project; it is closed at the end.
    tokens : dict of str to str
        The hash of each user's token, if there are any.
    settings : Settings
        Where it listens.
    language : str
        How texts are cut.
    on_ready : function of str
        Called with the address once requests are taken.
    """
    create = BACKENDS[kind]
    try:
        with bound(settings) as listener:
            log = Log(quiet=settings.quiet)
            app = create(suggester, tokens, settings, log, language)
            serve_app(app, settings.limits, listener, log, lambda: on_ready(address_of(listener)))
    finally:
        suggester.close()
