"""The page at ``/``: its files, read once, served as they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import sha256
from importlib.resources import files

from fastapi import FastAPI, Request, Response

# Addresses, and the files and media types behind them.
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/base.css": ("base.css", "text/css; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/node.js": ("node.js", "text/javascript; charset=utf-8"),
    "/reading.js": ("reading.js", "text/javascript; charset=utf-8"),
    "/why.js": ("why.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
PAGE_PATHS = tuple(_FILES)


def add_page(app: FastAPI) -> None:
    """Add the page and what it loads.

    Parameters
    ----------
    app : FastAPI
    """
    for path, (name, media_type) in _FILES.items():
        app.add_api_route(
            path,
            served(asset(name), media_type),
            methods=["GET", "HEAD"],
            include_in_schema=False,
        )


def asset(name: str) -> bytes:
    """A file of the package.

    Parameters
    ----------
    name : str

    Returns
    -------
    bytes
    """
    return files("seqpa.serve").joinpath("assets").joinpath(name).read_bytes()


def served(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """A route that answers with a file, or says that it is still the same.

    Parameters
    ----------
    content : bytes
    media_type : str

    Returns
    -------
    function
    """
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}

    async def route(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    return route
