"""The service itself: what its addresses answer.

`create_app` puts the parts together. The routes read bodies and write answers themselves, since
that is most of what a short request costs; FastAPI tells OpenAPI what they take and give.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from seqpa import __version__
from seqpa.data.languages import LANGUAGES
from seqpa.serve.bodies import Bodies, Receive, Scope, Send, header
from seqpa.serve.deadlines import Gate
from seqpa.serve.guard import Application, Guard
from seqpa.serve.lanes import Lanes
from seqpa.serve.logs import Log
from seqpa.serve.messages import (
    ModelCards,
    ProblemRecord,
    State,
    TagAnswer,
    TagRequest,
    request_body,
)
from seqpa.serve.metrics import Metrics
from seqpa.serve.models import Models
from seqpa.serve.page import PAGE_PATHS, add_page
from seqpa.serve.problems import MEDIA_TYPE, Fault, Problem, as_json, shortened, title
from seqpa.serve.settings import Settings
from seqpa.serve.streams import MEDIA_TYPE as LINES
from seqpa.serve.streams import TagStream

_ROUTES = {
    "/tag": "tag",
    "/tag/stream": "stream",
    "/model": "model",
    "/health": "health",
    "/ready": "ready",
    "/metrics": "metrics",
    "/openapi.json": "openapi",
    **dict.fromkeys(PAGE_PATHS, "page"),
}
_OPEN = frozenset({"health", "ready", "page"})
_PROBLEMS = {
    400: "The body is no JSON.",
    401: "The token is missing or wrong.",
    404: "There is no such model.",
    408: "The body came too slowly.",
    413: "More than a request may ask for.",
    415: "The body is of another media type.",
    422: "The request asks for what cannot be.",
    429: "Too much is in work already.",
    503: "The answer took too long, or the service has no room for it.",
}


def create_app(settings: Settings, models: Models, metrics: Metrics, log: Log) -> Application:
    """Make the service.

    Parameters
    ----------
    settings : Settings
    models : Models
    metrics : Metrics
    log : Log

    Returns
    -------
    ASGI application
    """
    limits = settings.limits
    lanes = Lanes(models.get, settings.language, limits)
    lanes.on_call = lambda requests: _count_call(metrics, requests)
    service = _Service(settings, models, lanes, metrics, log)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watch = asyncio.create_task(service.watch())
        yield
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch
        lanes.close()

    app = FastAPI(
        title="seqpa",
        version=__version__,
        summary="Labels for text: parts of speech, names, chunks.",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    add_routes(app, service)
    add_page(app)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _http_problem)
    app.openapi = lambda: _openapi(app, settings.token is not None)  # type: ignore[method-assign]
    guarded: Application = Guard(app, settings, _ROUTES, _OPEN, metrics, log)
    if settings.origins:
        guarded = CORSMiddleware(
            guarded,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    return guarded


def _count_call(metrics: Metrics, requests: int) -> None:
    metrics.add("gathered_calls_total")
    metrics.add("gathered_requests_total", requests)


class _Service:
    """What the routes answer with."""

    def __init__(
        self, settings: Settings, models: Models, lanes: Lanes, metrics: Metrics, log: Log
    ) -> None:
        self.settings = settings
        self.models = models
        self.lanes = lanes
        self.metrics = metrics
        self.log = log
        self.bodies = Bodies(settings.limits)
        self.requests = Gate(settings.limits.waiting, "requests")
        self.streams = Gate(settings.limits.streams, "streams")

    async def tag(self, request: Request) -> Response:
        scope = request.scope
        _check_type(scope, (b"application/json",))
        body = await self.bodies.whole(scope, request.receive)
        try:
            with self.requests:
                outcome = await self.lanes.answer(body)
        finally:
            self.bodies.free(body)
        if isinstance(outcome, Problem):
            if isinstance(outcome, Fault):
                self.log.fault(outcome.error)
            raise outcome
        self.count(outcome.sentences, outcome.tokens)
        scope["seqpa"].update(
            model=outcome.model, sentences=outcome.sentences, tokens=outcome.tokens
        )
        return Response(outcome.body, media_type="application/json")

    async def stream(self, request: Request) -> Response:
        _check_type(request.scope, (LINES.encode(), b"application/jsonl", b"application/json"))
        model = request.query_params.get("model")
        self.models.get(model)
        stream = TagStream(self.lanes, self.bodies, self.settings.limits, model)
        return _Streamed(stream, self)

    def count(self, sentences: int, tokens: int) -> None:
        self.metrics.add("sentences_total", sentences)
        self.metrics.add("tokens_total", tokens)

    async def watch(self) -> None:
        """Look at the model files now and then; a new one takes the place of the old."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "seqpa-watch") as thread:
            while True:
                await asyncio.sleep(self.settings.watch_seconds)
                for change in await loop.run_in_executor(thread, self.models.look):
                    if change.refused is None:
                        self.metrics.add("reloads_total")
                        self.log.info("model", model=change.model, version=change.version)
                    else:
                        self.metrics.add("reload_failures_total")
                        self.log.warning(
                            "model refused",
                            model=change.model,
                            version=change.version,
                            reason=change.refused,
                        )


class _Streamed(Response):
    """A stream as Starlette's answer."""

    def __init__(self, stream: TagStream, service: _Service) -> None:
        super().__init__()
        self._stream = stream
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._stream
        with self._service.streams:
            try:
                await stream.run(scope, receive, send)
            finally:
                self._service.count(stream.sentences, stream.tokens)
                scope["seqpa"].update(
                    lines=stream.lines,
                    problems=stream.problems,
                    sentences=stream.sentences,
                    tokens=stream.tokens,
                )


def add_routes(app: FastAPI, service: _Service) -> None:
    """Add what programs ask.

    Parameters
    ----------
    app : FastAPI
    service : _Service
    """
    models, settings, metrics = service.models, service.settings, service.metrics

    app.post(
        "/tag",
        summary="Tag a text, the tokens of a sentence, or many sentences",
        response_model=TagAnswer,
        responses=_problems(400, 401, 404, 408, 413, 415, 422, 429, 503),
        openapi_extra=request_body("application/json", "What to tag, and what is wanted of it."),
    )(service.tag)
    app.post(
        "/tag/stream",
        summary="Tag JSON lines of any number",
        description="A line holds what `POST /tag` takes; its answer is a line, in the same order. "
        "Read while you write: what is not read is not gone on with. A line that cannot be "
        "answered gets a problem with its number, and the others go on.",
        responses={
            200: {
                "description": "A line for each line.",
                "content": {LINES: {"schema": {"type": "string"}}},
            },
            **_problems(401, 404, 415, 429),
        },
        openapi_extra={
            **request_body(LINES, "Lines of JSON."),
            "parameters": [
                {
                    "name": "model",
                    "in": "query",
                    "required": False,
                    "schema": {"type": "string"},
                    "description": "The model of lines that name none.",
                }
            ],
        },
    )(service.stream)

    @app.get("/model", summary="The models, and the limits", response_model=ModelCards,
             responses=_problems(401))  # fmt: skip
    async def model() -> Response:
        told = {
            "default": models.default,
            "language": settings.language,
            "languages": list(LANGUAGES),
            "limits": asdict(settings.limits),
            "models": models.cards(),
        }
        return Response(as_json(told), media_type="application/json")

    @app.get("/health", summary="Whether the process lives", response_model=State)
    async def health() -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    @app.get("/ready", summary="Whether requests are answered", response_model=State)
    async def ready() -> Response:
        models.get(None)
        return Response(b'{"status":"ok"}', media_type="application/json")

    @app.get(
        "/metrics",
        summary="Counts, in Prometheus's text form",
        responses={
            200: {
                "description": "Counts.",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            **_problems(401),
        },
        response_class=Response,
    )
    async def counts() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")


def _check_type(scope: Scope, allowed: tuple[bytes, ...]) -> None:
    given = header(scope["headers"], b"content-type") or b""
    if given.partition(b";")[0].strip().lower() not in allowed:
        told = f", not {shortened(given.decode('latin-1'))!r}" if given else ""
        raise Problem(415, f"the header Content-Type must be {allowed[0].decode()}{told}")


# Problems and OpenAPI


async def _problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return Response(problem.body(), problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        told = "there is nothing at this address; see /openapi.json"
    elif error.status_code == 405:
        told = f"this address does not take {shortened(request.method)}"
    else:
        told = title(error.status_code)
    problem = Problem(error.status_code, told, headers=dict(error.headers or {}))
    return await _problem(request, problem)


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemRecord"}}}
    return {status: {"description": _PROBLEMS[status], "content": content} for status in statuses}


def _openapi(app: FastAPI, needs_token: bool) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.routes
        )
        parts = schema.setdefault("components", {}).setdefault("schemas", {})
        for model in (TagRequest, ProblemRecord):
            own = model.model_json_schema(ref_template="#/components/schemas/{model}")
            parts |= own.pop("$defs", {})
            parts[model.__name__] = own
        if needs_token:
            schema["components"]["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"}
            }
            schema["security"] = [{"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema
