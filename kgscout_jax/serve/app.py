"""The HTTP application: retrieval, answers, verdicts, health, metrics.

A request names a graph by a key, never by a path; the server opens, runs and logs
nothing of it. Characters, triplets, bytes, seconds and the queue are bounded, and a
refusal is one line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from kgscout_jax import __version__
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.reason.prompts import BudgetTooSmall
from kgscout_jax.serve.access import Access, read_keys
from kgscout_jax.serve.answers import Answers, ReaderFailed, ServedAnswer
from kgscout_jax.serve.batching import Batcher, QueueFull
from kgscout_jax.serve.graphs import Graphs, UnknownGraph, entity_matches
from kgscout_jax.serve.metrics import Metrics
from kgscout_jax.serve.middleware import RequestLimits
from kgscout_jax.serve.responses import Event, JsonReply, error_reply, event_stream
from kgscout_jax.serve.schemas import (
    AnswerReply,
    EntitiesReply,
    ErrorReply,
    QuestionRequest,
    RequestError,
    RetrieveReply,
    StatementRequest,
    VerifyReply,
    check_request,
    check_text,
    first_problem,
    selection_of,
)
from kgscout_jax.serve.settings import MAX_NAME_CHARS, MAX_TOPICS, ServiceSettings
from kgscout_jax.serve.verdicts import Verdicts

if TYPE_CHECKING:
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.inference.scout import Scout

FIELDS = ("head", "relation", "tail", "score")
logger = logging.getLogger("kgscout.serve")
PATHS = ("/retrieve", "/answer", "/verify", "/entities", "/healthz", "/metrics")
ASSETS = Path(__file__).parent / "assets"
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}
"""The pages load nothing from elsewhere, and no other page may hold them."""
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": description}
    for status, description in {
        401: "No valid key",
        404: "No graph of this name",
        413: "The body is too large",
        421: "Called by a name that is not served",
        422: "Not a request, or one that asks too much",
        429: "Too many requests of this caller; come again after Retry-After seconds",
        503: "The queue is full; come again after Retry-After seconds",
        504: "No reply in time",
    }.items()
}


def create_app(
    scout: Scout,
    graphs: Mapping[str, KnowledgeGraph],
    settings: ServiceSettings | None = None,
) -> FastAPI:
    """The application, to be run by any ASGI server, in one process.

    ``app.state.graphs.replace(name, graph)`` swaps a graph while requests are served,
    ``app.state.replace_scout(scout)`` the policy.

    Args:
        scout: the policy with its encoder.
        graphs: graphs by their names in requests; the first is the default.
        settings: limits, batching, the language model.

    Raises:
        UserError: no graph, invalid settings of the language model, or a form that
            needs an answer head and a policy without one.
    """
    settings = settings or ServiceSettings()
    service = _Service(scout, Graphs(graphs), settings)
    app = FastAPI(
        title="KG-Scout",
        version=__version__,
        description="The triplets of a knowledge graph that a question needs.",
        docs_url=None,  # it loads scripts from elsewhere; /docs is our own
        redoc_url=None,
        lifespan=service.lifespan,
        exception_handlers=EXCEPTION_HANDLERS,
    )
    app.state.graphs = service.graphs
    app.state.replace_scout = service.batcher.replace
    keys = read_keys(settings.api_key_file) if settings.api_key_file else ()
    app.add_middleware(Access, keys=keys, per_minute=settings.rate_limit)
    app.add_middleware(
        RequestLimits,
        metrics=service.metrics,
        timeout=settings.timeout,
        max_body_bytes=settings.max_body_bytes,
        paths=PATHS,
        hosts=settings.allow_host,
    )

    @app.post("/retrieve", response_model=RetrieveReply, responses=REFUSALS)
    async def retrieve(request: QuestionRequest) -> Response:
        """The best triplets for a question."""
        return JsonReply((await service.retrieve(request))[0])

    @app.post("/answer", response_model=AnswerReply, responses=REFUSALS)
    async def answer(request: QuestionRequest) -> Response:
        """The answers to a question, with the triplets behind them."""
        if request.stream:
            return await event_stream(service.answer_events(request))
        return JsonReply(await service.answer(request))

    @app.post("/verify", response_model=VerifyReply, responses=REFUSALS)
    async def verify(request: StatementRequest) -> Response:
        """Whether a graph supports or contradicts statements."""
        return JsonReply(await service.verify(request))

    @app.get("/entities", response_model=EntitiesReply, responses=REFUSALS)
    async def entities(
        q: Annotated[str, Query(max_length=MAX_NAME_CHARS, description="Any text.")],
        graph: Annotated[str | None, Query(max_length=MAX_NAME_CHARS)] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_TOPICS)] = 10,
    ) -> Response:
        """The entities that a text may name, the likeliest first."""
        return JsonReply(await service.entities(q, graph, limit))

    @app.post("/picture", responses=REFUSALS, response_class=HTMLResponse)
    async def picture(request: QuestionRequest) -> Response:
        """The triplets of a question as a page that draws them."""
        _, result = await service.retrieve(request)
        return HTMLResponse(result.to_page().encode("utf-8", "replace"))

    for path, name in (("/", "ask.html"), ("/docs", "docs.html")):
        page = HTMLResponse((ASSETS / name).read_bytes(), headers=PAGE_HEADERS)
        app.add_route(path, lambda _, page=page: page)

    @app.get("/healthz")
    async def healthz() -> Response:
        """Whether requests are served, and of which graphs."""
        return JsonReply(service.health())

    @app.get("/metrics")
    async def metrics() -> Response:
        """Figures in Prometheus's text format."""
        media_type = service.metrics.content_type
        return Response(service.metrics.text(), media_type=media_type)

    return app


class _Service:
    """The shared state of an application's requests."""

    def __init__(self, scout: Scout, graphs: Graphs, settings: ServiceSettings):
        self.graphs, self.settings = graphs, settings
        selection = SelectionConfig(form=settings.form)
        if settings.form != "lines":
            selection.check(scout.exported)
        self.answers = Answers(settings)
        self.verdicts = Verdicts(scout.encoder, settings.max_queue)
        self.metrics = Metrics(queue_length=lambda: len(self.batcher))
        self.batcher = Batcher(
            scout,
            max_batch=settings.max_batch,
            wait=settings.batch_wait_ms / 1000,
            max_queue=settings.max_queue,
            on_batch=self.metrics.batch_size.observe,
            selection=selection,
        )

    @contextlib.asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Work while the server runs; then finish the accepted requests."""
        self.batcher.start()
        try:
            yield
        finally:
            await self.batcher.close()
            self.answers.close()
            self.verdicts.close()

    async def retrieve(
        self, request: QuestionRequest
    ) -> tuple[dict[str, Any], RetrievalResult]:
        """The body of a reply, and its retrieval result."""
        k = check_request(request, self.settings)
        selection = selection_of(
            request, self.batcher.selection, self.batcher.scout.exported
        )
        started = time.perf_counter()
        name, graph = self.graphs.get(request.graph)
        try:
            result = await self.batcher.retrieve(
                request.question, graph, k, request.topics, selection
            )
        except BudgetTooSmall as error:
            raise RequestError(422, f"token_budget: {error}") from None
        # JSON has no nan
        rows = [row for row in result.scored if math.isfinite(row[-1])]
        objects = request.triplet_format == "objects"
        body = {
            "question": request.question,
            "graph": name,
            **result.to_record("").extra,
            "triplets": [dict(zip(FIELDS, row, strict=True)) for row in rows]
            if objects
            else rows,
            **({"text": prompt_text(result, selection)} if request.text else {}),
            "seconds": round(time.perf_counter() - started, 6),
        }
        return body, result

    async def answer(self, request: QuestionRequest) -> dict[str, Any]:
        """The body of a reply."""
        started = time.perf_counter()
        body, result = await self.retrieve(request)
        reading = await self.answers.read(result)
        return {**body, **answer_body(reading, started)}

    async def answer_events(self, request: QuestionRequest) -> AsyncIterator[Event]:
        """``evidence``, the body of /retrieve; ``text``, pieces of a model's reply;
        then ``answer``, or ``error`` where the model or the time fails."""
        started = time.perf_counter()
        body, result = await self.retrieve(request)
        yield "evidence", body
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(piece: str) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        task = asyncio.ensure_future(self.answers.read(result, put))
        task.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            # ends a little before the whole request is cut off
            left = 0.95 * self.settings.timeout - (time.perf_counter() - started)
            async with asyncio.timeout(left):
                while (piece := await pieces.get()) is not None:
                    yield "text", {"text": piece}
            yield "answer", answer_body(await task, started)
        except TimeoutError:
            yield "error", {"error": f"no reply within {self.settings.timeout:g} s"}
        except QueueFull:
            yield "error", {"error": BUSY}
        except ReaderFailed as error:
            logger.error("the language model failed: %s", error)
            yield "error", {"error": MODEL_FAILED}
        finally:
            task.cancel()

    async def verify(self, request: StatementRequest) -> dict[str, Any]:
        """The body of a reply."""
        check_text("statement", request.statement, self.settings)
        started = time.perf_counter()
        name, graph = self.graphs.get(request.graph)
        claims = await self.verdicts.claims(request.statement, graph)
        seconds = round(time.perf_counter() - started, 6)
        return {"graph": name, "claims": claims, "seconds": seconds}

    async def entities(
        self, text: str, graph: str | None, limit: int
    ) -> dict[str, Any]:
        """The body of a reply."""
        name, found = self.graphs.get(graph)
        return {
            "graph": name,
            "entities": await asyncio.to_thread(entity_matches, found, text, limit),
        }

    def health(self) -> dict[str, Any]:
        """The graphs that are served."""
        graphs = {
            name: {"entities": len(graph.entities), "triplets": len(graph.triplets)}
            for name, graph in self.graphs.items()
        }
        return {"status": "ok", "version": __version__, "graphs": graphs}


def answer_body(reading: ServedAnswer, started: float) -> dict[str, Any]:
    """The answers, with the seconds since the request came."""
    return {
        "seconds": round(time.perf_counter() - started, 6),
        "answers": list(reading.answers),
        "outcome": reading.outcome,
        "reader": reading.reader,
        "why": reading.why,
    }


def prompt_text(result: RetrievalResult, selection: SelectionConfig) -> str:
    """The triplets as text for a prompt, in the form of their selection."""
    return result.as_paths() if selection.form == "paths" else result.as_text()


def _handler(reply: Callable[[Any], Response], log: str | None = None) -> Any:
    """An exception handler that replies, and logs the exception where ``log`` says."""

    async def handle(_: Request, error: Exception) -> Response:
        if log is not None:
            logger.error(log, error)
        return reply(error)

    return handle


MODEL_FAILED = "the language model gave no reply"
BUSY = "too many requests are waiting, come again later"
EXCEPTION_HANDLERS: dict[Any, Any] = {
    RequestError: _handler(lambda error: error_reply(error.status, str(error))),
    # The message leaves out what was sent: it may be large, or not valid JSON.
    RequestValidationError: _handler(
        lambda error: error_reply(422, first_problem(error.errors()))
    ),
    UnknownGraph: _handler(lambda error: error_reply(404, str(error))),
    # Requests were checked before: this concerns a file of the server.
    UserError: _handler(
        lambda _: error_reply(500, "the graph cannot be searched"),
        "a graph cannot be searched: %s",
    ),
    QueueFull: _handler(lambda _: error_reply(503, BUSY, {"Retry-After": "1"})),
    ReaderFailed: _handler(
        lambda _: error_reply(502, MODEL_FAILED),
        "the language model failed: %s",
    ),
    HTTPException: _handler(
        lambda error: error_reply(
            error.status_code, str(error.detail), dict(error.headers or {})
        )
    ),
    # The server logs the traceback; callers do not see it.
    Exception: _handler(lambda _: error_reply(500, "internal error")),
}
