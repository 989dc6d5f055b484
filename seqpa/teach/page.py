"""The page of `seqpa teach`: its files, read once, served as they are."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI

from seqpa.serve.page import served

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FIRST = "teach.html"


def add_page(app: FastAPI) -> list[str]:
    """Add the page and what it loads.

    Parameters
    ----------
    app : FastAPI

    Returns
    -------
    list of str
        Their addresses.
    """
    found = {}
    for one in files("seqpa.teach").joinpath("assets").iterdir():
        ending = one.name.rpartition(".")[2]
        if ending in _TYPES:
            address = "/" if one.name == _FIRST else f"/assets/{one.name}"
            found[address] = served(one.read_bytes(), _TYPES[ending])
    for address, route in sorted(found.items()):
        app.add_api_route(address, route, methods=["GET", "HEAD"], include_in_schema=False)
    return sorted(found)
