"""``seqpa serve``: a model behind HTTP, and a page to try it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from seqpa.cli.inputs import AllowImports
from seqpa.cli.screen import is_terminal, screen
from seqpa.errors import SeqpaError


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Model files; NAME=FILE gives one a name. The first answers where a request "
            "names none.",
            metavar="MODEL...",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="SEQPA_TOKEN",
            help="What requests must bear. Others on this machine can see a command line: better "
            "a file, or the variable.",
            show_envvar=True,
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file whose first line is the token.")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes; each has the models in its memory.")
    ] = 1,
    language: Annotated[
        str, typer.Option(help="How text is cut: english, german, french, spanish, any.")
    ] = "english",
    max_body: Annotated[
        int, typer.Option(min=1024, metavar="BYTES", help="The longest body of a request.")
    ] = 2**20,
    max_sentences: Annotated[int, typer.Option(min=1, help="Sentences of one request.")] = 2_000,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens of one request.")] = 50_000,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, help="How long an answer may take, waiting included.")
    ] = 30.0,
    max_waiting: Annotated[
        int,
        typer.Option(min=1, help="Requests in work at a time; the next is told to come again."),
    ] = 256,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="A web site whose pages may ask from browsers."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name that this service is called by."),
    ] = None,
    allow_imports: AllowImports = False,
) -> None:
    """Serve models over HTTP, with a page to try them.

    POST /tag takes a text, tokens or sentences; POST /tag/stream takes JSON lines of any number;
    /openapi.json describes both. The page at / shows what the models make of a text, and why.

    A model file that is replaced is taken up while requests are answered; a damaged one is refused,
    and the old one goes on. Ctrl-C ends, after what was begun is finished.
    """
    from seqpa.data.languages import language_of
    from seqpa.serve.settings import Limits, Settings, check_token, named_models, read_token

    if token is not None and token_file is not None:
        raise SeqpaError("--token and --token-file: one of them is enough")
    if token_file is not None:
        token = read_token(token_file)
    check_token(token, host)
    language_of(language)
    settings = Settings(
        models=named_models(models),
        host=host,
        port=port,
        token=token,
        language=language,
        origins=tuple(allow_origin or ()),
        hosts=tuple(name.lower() for name in allow_host or ()),
        allow_imports=allow_imports,
        limits=Limits(
            body_bytes=max_body,
            sentences=max_sentences,
            tokens=max_tokens,
            request_seconds=max_seconds,
            waiting=max_waiting,
        ),
        workers=workers,
        quiet=screen().quiet or (is_terminal(sys.stderr) and not screen().verbose),
    )
    try:
        from seqpa.serve.running import run
    except ImportError as error:
        raise SeqpaError(
            f'serve needs {error.name}: pip install "seqpa[serve]" brings it'
        ) from None

    def ready(address: str) -> None:
        names = ", ".join(one.name for one in settings.models)
        screen().note(f"serving {names} at {address} (Ctrl-C ends)")

    run(settings, ready)
