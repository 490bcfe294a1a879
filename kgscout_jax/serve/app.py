"""The HTTP application: retrieval, answers, verdicts, health, metrics.

A request names a graph by a key, never by a path; the server opens, runs and logs
nothing of it. Characters, triplets, bytes, seconds and the queue are bounded, and a
refusal is one line of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, Query
from starlette.responses import HTMLResponse, Response

from kgscout_jax import __version__
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.serve.access import Access, read_keys
from kgscout_jax.serve.graphs import Graphs
from kgscout_jax.serve.middleware import RequestLimits
from kgscout_jax.serve.refusals import (
    EXCEPTION_HANDLERS,
    MODEL_REFUSALS,
    QUERY_REFUSALS,
    REFUSALS,
)
from kgscout_jax.serve.responses import JsonReply, event_stream
from kgscout_jax.serve.schemas import (
    AnswerReply,
    AnswerRequest,
    EntitiesReply,
    QuestionRequest,
    RetrieveReply,
    StatementRequest,
    VerifyReply,
)
from kgscout_jax.serve.service import Service
from kgscout_jax.serve.settings import MAX_NAME_CHARS, MAX_TOPICS, ServiceSettings

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import Scout
    from kgscout_jax.serve.processes import ScoutProcesses

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


def create_app(
    scout: Scout,
    graphs: Mapping[str, KnowledgeGraph],
    settings: ServiceSettings | None = None,
    processes: ScoutProcesses | None = None,
) -> FastAPI:
    """The application, to be run by any ASGI server, in one process.

    ``app.state.graphs.replace(name, graph)`` swaps a graph while requests are served,
    ``app.state.replace_scout(scout)`` the policy; neither reaches ``processes``.

    Args:
        scout: the policy with its encoder.
        graphs: graphs by their names in requests; the first is the default.
        settings: limits, batching, the language model.
        processes: retrieve instead of ``scout``, from the same graphs.

    Raises:
        UserError: no graph, invalid settings of the language model, or a form that
            needs an answer head and a policy without one.
    """
    settings = settings or ServiceSettings()
    service = Service(scout, Graphs(graphs), settings, processes)
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

    @app.post("/answer", response_model=AnswerReply, responses=MODEL_REFUSALS)
    async def answer(request: AnswerRequest) -> Response:
        """The answers to a question, with the triplets behind them."""
        if request.stream:
            return await event_stream(service.answer_events(request))
        return JsonReply(await service.answer(request))

    @app.post("/verify", response_model=VerifyReply, responses=REFUSALS)
    async def verify(request: StatementRequest) -> Response:
        """Whether a graph supports or contradicts statements."""
        return JsonReply(await service.verify(request))

    @app.get("/entities", response_model=EntitiesReply, responses=QUERY_REFUSALS)
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
