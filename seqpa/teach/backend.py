"""What the addresses of both backends have in common: the guard, bodies, problems.

Programs ask here, not browsers: a page that asks is refused. Where the project has users, a request
must bear the token of one, as ``Authorization: Bearer TOKEN`` or as the password of Basic.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from seqpa import __version__
from seqpa.errors import SeqpaError
from seqpa.serve.bodies import Bodies, header
from seqpa.serve.guard import Application, Guard
from seqpa.serve.logs import Log
from seqpa.serve.problems import Problem, as_json
from seqpa.serve.settings import Limits, Settings
from seqpa.teach.app import NoMetrics, http_problem_answer, problem_answer
from seqpa.teach.store import NotKept
from seqpa.teach.team import Team

# A request to train sends whole documents.
LIMITS = replace(Limits(), body_bytes=2**26, held_bytes=2**28, body_seconds=60.0)


class Collides(SeqpaError):
    """What is asked does not go with what the project has."""


class Route(NamedTuple):
    """An address, and what answers there.

    Parameters
    ----------
    method, path : str
        As ``POST`` and ``/predict``.
    answer : function
        Of the body (None for GET); gives what is sent as JSON, or None for an empty answer.

    Examples
    --------
    >>> Route("GET", "/health", lambda body: {"status": "UP"}).path
    '/health'
    """

    method: str
    path: str
    answer: Callable[[Any], Any]


def create_app(
    routes: list[Route], tokens: Mapping[str, str], settings: Settings, log: Log
) -> Application:
    """Make an application of routes.

    Parameters
    ----------
    routes : list of Route
        What it answers.
    tokens : mapping of str to str
        The hash of each user's token; if there are none, everybody on this machine may ask.
    settings : Settings
        Where it listens, and limits.
    log : Log
        What happens.

    Returns
    -------
    ASGI application
    """
    app = FastAPI(title="seqpa teach", version=__version__, docs_url=None, redoc_url=None,
                  openapi_url=None)  # fmt: skip
    bodies = Bodies(settings.limits)
    for route in routes:
        app.add_api_route(route.path, _endpoint(route, bodies), methods=[route.method])
    app.add_exception_handler(Problem, problem_answer)
    app.add_exception_handler(HTTPException, http_problem_answer)
    team = Team(tokens)
    admits = (lambda given: _admitted(team, given)) if tokens else None
    names = {route.path: route.path.strip("/") or "health" for route in routes}
    return Guard(app, settings, names, frozenset({"health"}), NoMetrics(), log, admits)


def _endpoint(route: Route, bodies: Bodies) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        given = None
        if route.method == "POST":
            headers = request.scope["headers"]
            if header(headers, b"origin") is not None:
                raise Problem(403, "a web page sent this; programs ask here")
            kind = (header(headers, b"content-type") or b"").partition(b";")[0].strip().lower()
            if kind != b"application/json":
                raise Problem(415, "the header Content-Type must be application/json")
            body = await _read(bodies, request)
            try:
                given = await run_in_threadpool(_parsed, body)
            finally:
                bodies.free(body)
        try:
            answer = await run_in_threadpool(route.answer, given)
        except SeqpaError as error:
            kinds = ((NotKept, 507), (Collides, 409), (SeqpaError, 422))
            status = next(number for kind, number in kinds if isinstance(error, kind))
            raise Problem(status, str(error)) from None
        if answer is None:
            return Response(status_code=204)
        return Response(as_json(answer), media_type="application/json")

    return endpoint


async def _read(bodies: Bodies, request: Request) -> bytes:
    try:
        return await bodies.whole(request.scope, request.receive)
    except Problem as problem:
        if problem.status == 413:
            raise Problem(413, "the body is too long: send fewer documents at once") from None
        raise


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Problem(400, "the body is no JSON") from None
    if not isinstance(found, dict):
        raise Problem(422, "the body: must be a JSON object")
    return found


def _admitted(team: Team, given: bytes) -> bool:
    scheme, _, told = given.decode("latin-1").partition(" ")
    token = told.strip()
    if scheme.lower() == "basic":
        try:
            token = base64.b64decode(token, validate=True).decode("utf-8").partition(":")[2]
        except (binascii.Error, ValueError):
            return False
    elif scheme.lower() != "bearer":
        return False
    return team.user_of(token) is not None


def member(given: Any, name: str, kind: type, where: str = "the body") -> Any:
    """What an object has under a name, known to be of a type.

    Parameters
    ----------
    given : object
        What should be an object.
    name : str
        What is looked for.
    kind : type
        What it must be.
    where : str
        What an error calls the object.

    Returns
    -------
    object

    Examples
    --------
    >>> member({"tasks": []}, "tasks", list), member({"a": {"b": "c"}}, "a", dict)["b"]
    ([], 'c')
    >>> member({}, "tasks", list)
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: the body: tasks is missing, or no array
    """
    found = given.get(name) if isinstance(given, dict) else None
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        words = {list: "array", dict: "object", str: "string", int: "whole number"}
        raise SeqpaError(f"{where}: {name} is missing, or no {words.get(kind, kind.__name__)}")
    return found
