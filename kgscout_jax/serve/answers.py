"""Answers of the service: from the graph itself, or from a language model.

A model answers in its own thread pool. With ``ask_below`` it is asked only where the
graph's best answer is less probable than that: a budget of calls goes where it helps.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.reason.path_text import path_line
from kgscout_jax.serve.batching import QueueFull
from kgscout_jax.serve.settings import ServiceSettings

if TYPE_CHECKING:
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.reason.readers.protocol import Evidence, Reading

logger = logging.getLogger("kgscout.serve")
THREADS = 4
"""Concurrent requests to a model."""
GRAPH = "graph"
"""Reader and outcome of answers from the graph."""
EVIDENCE_ONLY = "this policy gives evidence only: it was trained without answers"


class ReaderFailed(Exception):
    """The language model gave no reply."""


@dataclass(frozen=True, kw_only=True)
class ServedAnswer:
    """What the service answers."""

    answers: tuple[str, ...]
    """Best first."""
    outcome: str
    reader: str
    why: str | None
    """The path to the best answer, or the model's reply."""
    note: str = ""
    """That the model's reply was cut."""


class Answers:
    """Answers questions; the queue of a model is as long as that of retrieval."""

    def __init__(self, settings: ServiceSettings):
        """Choose who answers.

        Raises:
            UserError: the model's settings are invalid, or a library is missing.
        """
        self._model = None
        if settings.llm is not None and settings.model is not None:
            from kgscout_jax.reason.completions import EndpointSettings
            from kgscout_jax.reason.readers.model import ModelReader
            from kgscout_jax.reason.selection import PromptSettings

            endpoint = EndpointSettings(
                url=settings.llm,
                model=settings.model,
                key_env=settings.key_env,
                timeout=settings.timeout,
                retries=1,
            )
            self._model = ModelReader(endpoint, PromptSettings())
        self._ask_below = settings.ask_below
        self._capacity = settings.max_queue + THREADS
        self._pending = 0
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")

    async def read(
        self, result: RetrievalResult, on_text: Callable[[str], None] | None = None
    ) -> ServedAnswer:
        """The answers to a question.

        Args:
            result: the triplets of the question.
            on_text: called, in another thread, with each piece of a model's reply.

        Raises:
            QueueFull: too many requests wait for the model already.
            ReaderFailed: the model gave no reply.
        """
        sure = self._ask_below is not None and result.confidence >= self._ask_below
        if self._model is None or (sure and result.answers):
            return graph_answer(result)
        if self._pending >= self._capacity:
            raise QueueFull
        self._pending += 1
        task = asyncio.get_running_loop().run_in_executor(
            self._threads, self._read, result.evidence(), on_text
        )
        task.add_done_callback(self._release)
        reading = await task
        return ServedAnswer(
            answers=reading.answers,
            outcome=reading.outcome,
            reader=self._model.name,
            why=reading.raw,
            note=reading.note,
        )

    def close(self) -> None:
        """End the threads after their current answers."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _release(self, _: asyncio.Future[Reading]) -> None:
        self._pending -= 1

    def _read(
        self, evidence: Evidence, on_text: Callable[[str], None] | None
    ) -> Reading:
        assert self._model is not None
        try:
            (reading,) = self._model.read([evidence], on_text)
        except UserError as error:
            raise ReaderFailed(str(error)) from None
        except Exception as error:
            logger.exception("the reader failed")
            raise ReaderFailed(f"internal error ({type(error).__name__})") from error
        if reading.outcome == "error":
            raise ReaderFailed(reading.error or "no reply")
        return reading


def graph_answer(result: RetrievalResult) -> ServedAnswer:
    """The answers of the graph, or why there are none."""
    outcome, why = GRAPH, None
    if result.answers:
        best = result.answers[0]
        why = path_line(best.path, best.name) or None
    elif result.abstained:
        outcome, why = "abstained", result.abstention_note or None
    else:
        outcome, why = "evidence_only", EVIDENCE_ONLY
    names = tuple(answer.name for answer in result.answers)
    return ServedAnswer(answers=names, outcome=outcome, reader=GRAPH, why=why)
