"""The HTTP application: retrieval, answers, health, metrics.

A request names a graph by a key, never by a path; nothing that it holds is opened,
run or logged. Everything it may take (characters, triplets, bytes, seconds, a place in
the queue) is bounded, and what is refused is told in one line of JSON.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kgscout_jax import __version__
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.serve.answers import Answers, ReaderFailed
from kgscout_jax.serve.batching import Batcher, Busy
from kgscout_jax.serve.graphs import Graphs, UnknownGraph
from kgscout_jax.serve.metrics import Metrics
from kgscout_jax.serve.middleware import Edge
from kgscout_jax.serve.responses import JsonReply, error_reply
from kgscout_jax.serve.schemas import (
    AnsweredBody,
    Asked,
    ErrorBody,
    RequestError,
    RetrievedBody,
    checked_k,
    first_problem,
)
from kgscout_jax.serve.settings import ServiceSettings

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import RetrievalResult, Scout

logger = logging.getLogger("kgscout.serve")
PATHS = ("/retrieve", "/answer", "/healthz", "/metrics")
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": what}
    for status, what in {
        404: "No graph of this name",
        413: "The body is too large",
        421: "Called by a name that is not served",
        422: "Not a request, or one that asks too much",
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
        scout: what retrieves.
        graphs: by the names that requests call them; the first is the default.
        settings: limits, batching, the language model.

    Raises:
        UserError: no graph, or a language model's settings that cannot work.
    """
    settings = settings or ServiceSettings()
    service = _Service(scout, Graphs(graphs), settings)
    app = FastAPI(
        title="KG-Scout",
        version=__version__,
        description="The triplets of a knowledge graph that a question needs.",
        docs_url=None,  # pages that load scripts from elsewhere
        redoc_url=None,
        lifespan=service.lifespan,
    )
    app.state.graphs = service.graphs
    app.state.replace_scout = service.batcher.replace
    app.add_middleware(
        Edge,
        metrics=service.metrics,
        timeout=settings.timeout,
        max_body_bytes=settings.max_body_bytes,
        paths=PATHS,
        hosts=settings.allow_host,
    )

    @app.post("/retrieve", response_model=RetrievedBody, responses=REFUSALS)
    async def retrieve(asked: Asked) -> Response:
        """The best triplets for a question."""
        return JsonReply((await service.retrieve(asked))[0])

    @app.post("/answer", response_model=AnsweredBody, responses=REFUSALS)
    async def answer(asked: Asked) -> Response:
        """The answers to a question, with the triplets they were read from."""
        return JsonReply(await service.answer(asked))

    @app.get("/healthz")
    async def healthz() -> Response:
        """Whether requests are served, and of which graphs."""
        return JsonReply(service.health())

    @app.get("/metrics")
    async def metrics() -> Response:
        """Figures in Prometheus's text format."""
        kind = service.metrics.content_type
        return Response(service.metrics.text(), media_type=kind)

    _tell_errors(app)
    return app


class _Service:
    """What the requests of one application share."""

    def __init__(self, scout: Scout, graphs: Graphs, settings: ServiceSettings):
        self.graphs, self.settings = graphs, settings
        self.answers = Answers(settings)
        self.metrics = Metrics(waiting=lambda: len(self.batcher))
        self.batcher = Batcher(
            scout,
            max_batch=settings.max_batch,
            wait=settings.batch_wait_ms / 1000,
            max_queue=settings.max_queue,
            on_batch=self.metrics.batch,
        )

    @contextlib.asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Work while the server runs; then finish what was taken on."""
        self.batcher.start()
        try:
            yield
        finally:
            await self.batcher.close()
            self.answers.close()

    async def retrieve(self, asked: Asked) -> tuple[dict[str, Any], RetrievalResult]:
        """The body of a reply, and what it was made of."""
        k = checked_k(asked, self.settings)
        started = time.perf_counter()
        name, graph = self.graphs.get(asked.graph)
        found = await self.batcher.retrieve(asked.question, graph, k, asked.topics)
        body = {
            "question": asked.question,
            "graph": name,
            **found.to_record("").extra,
            "triplets": scored(found),
            "seconds": round(time.perf_counter() - started, 6),
        }
        return body, found

    async def answer(self, asked: Asked) -> dict[str, Any]:
        """The body of a reply."""
        started = time.perf_counter()
        body, found = await self.retrieve(asked)
        reading = await self.answers.read(found)
        seconds = round(time.perf_counter() - started, 6)
        return {
            **body,
            "seconds": seconds,
            "answers": list(reading.answers),
            "outcome": reading.outcome,
            "reader": self.answers.name,
            "why": reading.raw,
        }

    def health(self) -> dict[str, Any]:
        """What is served."""
        graphs = {
            name: {"entities": len(graph.entities), "triplets": len(graph.triplets)}
            for name, graph in self.graphs.items()
        }
        return {"status": "ok", "version": __version__, "graphs": graphs}


def scored(found: RetrievalResult) -> list[list[Any]]:
    """[head, relation, tail, score]; without those whose score is no number."""
    return [
        [*triplet, float(score)]
        for triplet, score in zip(found.triplets, found.scores, strict=True)
        if math.isfinite(score)
    ]


def _tell_errors(app: FastAPI) -> None:
    """Have everything that goes wrong told in one line of JSON."""

    @app.exception_handler(RequestError)
    async def refused(_: Request, error: RequestError) -> Response:
        return error_reply(error.status, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        # without what was sent: it may be large, or nothing that JSON can say
        return error_reply(422, first_problem(error.errors()))

    @app.exception_handler(UnknownGraph)
    async def unknown(_: Request, error: UnknownGraph) -> Response:
        return error_reply(404, str(error))

    @app.exception_handler(UserError)
    async def damaged(_: Request, error: UserError) -> Response:
        # what a request may be was checked before: this is about a file of ours
        logger.error("a graph cannot be searched: %s", error)
        return error_reply(500, "the graph cannot be searched")

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> Response:
        told = "too many requests are waiting, come again later"
        return error_reply(503, told, {"Retry-After": "1"})

    @app.exception_handler(ReaderFailed)
    async def unread(_: Request, error: ReaderFailed) -> Response:
        logger.warning("the language model failed: %s", error)
        return error_reply(502, "the language model gave no reply")

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        headers = dict(error.headers) if error.headers else None
        return error_reply(error.status_code, str(error.detail), headers)

    @app.exception_handler(Exception)
    async def defect(_: Request, error: Exception) -> Response:
        # the server logs the traceback; the caller need not see it
        return error_reply(500, "internal error")
