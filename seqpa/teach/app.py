"""The HTTP of `seqpa teach`, as thin as may be: bodies are checked, `Session` is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from seqpa import __version__
from seqpa.errors import SeqpaError
from seqpa.serve.bodies import Bodies, Headers, Scope, header
from seqpa.serve.guard import Application, Guard
from seqpa.serve.logs import Log
from seqpa.serve.metrics import Metrics
from seqpa.serve.problems import MEDIA_TYPE, Problem, as_json, invalid, shortened, title
from seqpa.serve.settings import Settings
from seqpa.teach import messages
from seqpa.teach.ledger import Collision
from seqpa.teach.page import add_page
from seqpa.teach.session import Session
from seqpa.teach.store import NotKept
from seqpa.teach.tasks import NoSuchSentence
from seqpa.teach.training import Training

_Body = TypeVar("_Body", bound=BaseModel)
_HIDDEN = {"cache-control": "no-store"}
_STATUSES: tuple[tuple[type[SeqpaError], int], ...] = (
    (NotKept, 507),
    (Collision, 409),
    (NoSuchSentence, 404),
    (SeqpaError, 422),
)


class NoMetrics(Metrics):
    """Nobody asks for counts where a few people work."""

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count nothing."""

    def add(self, name: str, amount: float = 1.0) -> None:
        """Count nothing."""


def create_app(
    session: Session, training: Training, user: str, settings: Settings, log: Log
) -> Application:
    """Make the application.

    Parameters
    ----------
    session : Session
    training : Training
        Full trainings in the background.
    user : str
        Who works alone; in a team, who asks is told by the token that a request bears.
    settings : Settings
        Where it listens, and limits.
    log : Log

    Returns
    -------
    ASGI application
    """
    app = FastAPI(title="seqpa teach", version=__version__, docs_url=None, redoc_url=None,
                  openapi_url=None)  # fmt: skip
    pages = add_page(app)
    routes = _Routes(session, training, user, settings)
    _add_routes(app, routes)
    app.add_exception_handler(Problem, problem_answer)
    app.add_exception_handler(HTTPException, http_problem_answer)
    admits = routes.admits if session.team.names else None
    names = dict.fromkeys(pages, "page")
    return Guard(app, settings, names, frozenset({"page"}), NoMetrics(), log, admits)


class _Routes:
    """What the routes share: who asks, the body, the answer."""

    def __init__(self, session: Session, training: Training, user: str, settings: Settings) -> None:
        self.session = session
        self.training = training
        self._alone = user
        self._bodies = Bodies(settings.limits)

    def admits(self, authorization: bytes) -> bool:
        return self._user(authorization) is not None

    def user(self, request: Request) -> str:
        found = self._user(header(request.scope["headers"], b"authorization") or b"")
        assert found is not None  # the guard has looked
        return found

    def _user(self, authorization: bytes) -> str | None:
        if not self.session.team.names:
            return self._alone
        scheme, _, token = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        return self.session.team.user_of(token.decode("latin-1"))

    async def read(self, request: Request, kind: type[_Body]) -> _Body:
        _check_sender(request.scope)
        body = await self._bodies.whole(request.scope, request.receive)
        try:
            return kind.model_validate_json(body)
        except ValidationError as error:
            raise invalid(error, kind.model_fields) from None
        finally:
            self._bodies.free(body)

    async def told(self, work: Callable[..., Any], *args: Any, **more: Any) -> Response:
        return _json(await _done(work, *args, **more))


def _add_routes(app: FastAPI, routes: _Routes) -> None:
    session = routes.session

    @app.get("/api/project")
    async def project(request: Request) -> Response:
        return await routes.told(session.views.about, routes.user(request))

    @app.post("/api/next")
    async def next_task(request: Request) -> Response:
        body = await routes.read(request, messages.Asking)
        return await routes.told(session.next, routes.user(request), body.request)

    @app.post("/api/propose")
    async def propose(request: Request) -> Response:
        body = await routes.read(request, messages.Proposing)
        return await routes.told(session.propose, **body.model_dump())

    @app.post("/api/accept")
    async def accept(request: Request) -> Response:
        body = await routes.read(request, messages.Accepting)
        return await routes.told(session.accept, routes.user(request), **body.model_dump())

    @app.post("/api/partial")
    async def partial(request: Request) -> Response:
        body = await routes.read(request, messages.Leaving)
        return await routes.told(session.partial, routes.user(request), **body.model_dump())

    @app.post("/api/skip")
    async def skip(request: Request) -> Response:
        body = await routes.read(request, messages.Naming)
        return await routes.told(session.skip, routes.user(request), **body.model_dump())

    @app.post("/api/flag")
    async def flag(request: Request) -> Response:
        body = await routes.read(request, messages.Flagging)
        return await routes.told(session.flag, routes.user(request), **body.model_dump())

    @app.post("/api/undo")
    async def undo(request: Request) -> Response:
        body = await routes.read(request, messages.Asking)
        return await routes.told(session.undo, routes.user(request), body.request)

    @app.post("/api/labels")
    async def labels(request: Request) -> Response:
        body = await routes.read(request, messages.Relabelling)
        change = body.model_dump(exclude={"request"})
        return await routes.told(session.change_labels, routes.user(request), body.request, change)

    @app.post("/api/guidelines")
    async def guidelines(request: Request) -> Response:
        body = await routes.read(request, messages.Guiding)
        return await routes.told(session.guidelines, routes.user(request), **body.model_dump())

    @app.post("/api/strategy")
    async def strategy(request: Request) -> Response:
        body = await routes.read(request, messages.Choosing)
        return await routes.told(session.change_strategy, body.strategy)

    @app.post("/api/confirm")
    async def confirm(request: Request) -> Response:
        body = await routes.read(request, messages.Confirming)
        return await routes.told(session.change_confirm, body.confirm)

    @app.get("/api/sentences")
    async def sentences(request: Request) -> Response:
        try:
            asked = messages.Looking.model_validate(dict(request.query_params))
        except ValidationError as error:
            raise invalid(error, messages.Looking.model_fields) from None
        return await routes.told(session.views.rows, **asked.model_dump())

    @app.get("/api/sentences/{number}")
    async def sentence(request: Request, number: str) -> Response:
        if not number.isascii() or not number.isdigit() or len(number) > 9:
            raise Problem(404, f"there is no sentence {shortened(number)}")
        return await routes.told(session.sentence, routes.user(request), int(number))

    @app.post("/api/repair")
    async def repair(request: Request) -> Response:
        body = await routes.read(request, messages.Repairing)
        told = body.model_dump(by_alias=True)
        return await routes.told(session.repair, routes.user(request), **told)

    @app.get("/api/progress")
    async def progress(request: Request) -> Response:
        return await routes.told(session.views.progress)

    @app.get("/api/team")
    async def team(request: Request) -> Response:
        return await routes.told(session.views.about_team)

    @app.post("/api/settle")
    async def settle(request: Request) -> Response:
        body = await routes.read(request, messages.Settling)
        return await routes.told(session.settle, routes.user(request), **body.model_dump())

    @app.post("/api/train")
    async def train(request: Request) -> Response:
        body = await routes.read(request, messages.Asking)
        return await routes.told(routes.training.start, body.request)

    @app.get("/api/train")
    async def trained(request: Request) -> Response:
        return await routes.told(routes.training.state)

    @app.get("/api/export")
    async def export(request: Request) -> Response:
        format = request.query_params.get("format", "conll")
        parts = request.query_params.get("parts", "") == "yes"
        name, data, told = await _done(session.views.export, format, parts=parts)
        headers = {
            **_HIDDEN,
            "content-disposition": f"attachment; filename*=UTF-8''{quote(name)}",
            "x-exported": f"{told.sentences}, {told.left_out}",
        }
        return Response(data, headers=headers, media_type="application/octet-stream")

    @app.post("/api/release")
    async def release(request: Request) -> Response:
        body = await routes.read(request, messages.Releasing)
        return await routes.told(session.release, routes.user(request), body.sentence, body.loan)


async def _done(work: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """What a function of the session gives, in a thread; its errors as problems."""
    try:
        return await run_in_threadpool(work, *args, **more)
    except SeqpaError as error:
        status = next(number for kind, number in _STATUSES if isinstance(error, kind))
        raise Problem(status, str(error)) from None


def _check_sender(scope: Scope) -> None:
    """Raise unless the page itself sent it: another web page can send no JSON without asking, and
    bears its own origin."""
    headers: Headers = scope["headers"]
    given = header(headers, b"content-type") or b""
    if given.partition(b";")[0].strip().lower() != b"application/json":
        raise Problem(415, "the header Content-Type must be application/json")
    origin = header(headers, b"origin")
    if origin is not None:
        host = (header(headers, b"host") or b"").decode("latin-1")
        if urlsplit(origin.decode("latin-1")).netloc.lower() != host.lower():
            raise Problem(403, "another web page sent this; only the page of seqpa teach may")


def _json(answer: Any) -> Response:
    return Response(as_json(answer), headers=_HIDDEN, media_type="application/json")


async def problem_answer(_: Request, problem: Exception) -> Response:
    """A problem as an answer.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Response
    """
    assert isinstance(problem, Problem)
    headers = {**_HIDDEN, **problem.headers}
    return Response(problem.body(), problem.status, headers=headers, media_type=MEDIA_TYPE)


async def http_problem_answer(request: Request, error: Exception) -> Response:
    """An address or a method that there is not, as a problem.

    Parameters
    ----------
    request : Request
    error : HTTPException

    Returns
    -------
    Response
    """
    assert isinstance(error, HTTPException)
    told = title(error.status_code)
    if error.status_code == 404:
        told = "there is nothing at this address"
    elif error.status_code == 405:
        told = f"this address does not take {shortened(request.method)}"
    return await problem_answer(request, Problem(error.status_code, told))
