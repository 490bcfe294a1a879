"""The work behind each path of the service."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from kgscout_jax import __version__
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.reason.prompts import BudgetTooSmall
from kgscout_jax.serve.answers import Answers, ReaderFailed, ServedAnswer
from kgscout_jax.serve.batching import Batcher, QueueFull
from kgscout_jax.serve.graphs import Graphs, entity_matches
from kgscout_jax.serve.metrics import Metrics
from kgscout_jax.serve.refusals import BUSY, INTERNAL_ERROR, MODEL_FAILED
from kgscout_jax.serve.responses import Event
from kgscout_jax.serve.schemas import (
    QuestionRequest,
    RequestError,
    StatementRequest,
    check_request,
    check_text,
    selection_of,
)
from kgscout_jax.serve.settings import ServiceSettings
from kgscout_jax.serve.verdicts import Verdicts

if TYPE_CHECKING:
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.inference.scout import Scout
    from kgscout_jax.serve.processes import ScoutProcesses

FIELDS = ("head", "relation", "tail", "score")
logger = logging.getLogger("kgscout.serve")


class Service:
    """The shared state of an application's requests."""

    def __init__(
        self,
        scout: Scout,
        graphs: Graphs,
        settings: ServiceSettings,
        processes: ScoutProcesses | None = None,
    ):
        self.graphs, self.settings = graphs, settings
        selection = SelectionConfig(form=settings.form)
        if settings.form != "lines":
            selection.check(scout.exported)
        self.answers = Answers(settings)
        self.verdicts = Verdicts(scout.encoder, settings.max_queue)
        self.metrics = Metrics(queue_length=lambda: len(self.batcher))
        self.batcher = Batcher(
            processes or scout,
            at_once=len(processes) if processes else 1,
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
        then ``answer``, or ``error`` where there is none."""
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
        except Exception:
            logger.exception("a stream failed")
            yield "error", {"error": INTERNAL_ERROR}
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
        **({"note": reading.note} if reading.note else {}),
    }


def prompt_text(result: RetrievalResult, selection: SelectionConfig) -> str:
    """The triplets as text for a prompt, in the form of their selection."""
    return result.as_paths() if selection.form == "paths" else result.as_text()
