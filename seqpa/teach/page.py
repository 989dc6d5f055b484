"""The page of `seqpa teach`: its files, read once, served as they are."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI

from seqpa.serve.page import asset, served

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FIRST = "teach.html"
# What the service's page has as well.
_SHARED = ("base.css", "node.js", "reading.js", "icon.svg")


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
    contents = {name: asset(name) for name in _SHARED}
    for one in files("seqpa.teach").joinpath("assets").iterdir():
        contents[one.name] = one.read_bytes()
    found = {}
    for name, content in contents.items():
        ending = name.rpartition(".")[2]
        if ending in _TYPES:
            address = "/" if name == _FIRST else f"/assets/{name}"
            found[address] = served(content, _TYPES[ending])
    for address, route in sorted(found.items()):
        app.add_api_route(address, route, methods=["GET", "HEAD"], include_in_schema=False)
    return sorted(found)
