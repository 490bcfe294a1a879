"""Readers of answers from retrieved triplets, in their own thread pool."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.reason.readers import make_reader
from kgscout_jax.serve.batching import QueueFull
from kgscout_jax.serve.settings import ServiceSettings

if TYPE_CHECKING:
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.reason.readers.protocol import Evidence, Reading

THREADS = 4
"""Concurrent readers; with a model, concurrent requests to it."""


class ReaderFailed(Exception):
    """The language model gave no reply."""


class Answers:
    """Reads answers; its queue is as long as that of retrieval."""

    def __init__(self, settings: ServiceSettings):
        """Choose the reader.

        Raises:
            UserError: the model's settings are invalid, or a library is missing.
        """
        self._reader = make_reader(
            settings.llm,
            settings.model,
            key_env=settings.key_env,
            timeout=settings.timeout,
            retries=1,
        )
        self._capacity = settings.max_queue + THREADS
        self._pending = 0
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")
        self.name = self._reader.name

    async def read(self, result: RetrievalResult) -> Reading:
        """The answers to a question from its triplets.

        Raises:
            QueueFull: too many requests wait already.
            ReaderFailed: the model gave no reply.
        """
        if self._pending >= self._capacity:
            raise QueueFull
        self._pending += 1
        task = asyncio.get_running_loop().run_in_executor(
            self._threads, self._read, result.evidence()
        )
        task.add_done_callback(self._release)
        return await task

    def close(self) -> None:
        """End the threads after their current answers."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _release(self, _: asyncio.Future[Reading]) -> None:
        self._pending -= 1

    def _read(self, evidence: Evidence) -> Reading:
        try:
            (reading,) = self._reader.read([evidence])
        except UserError as error:
            raise ReaderFailed(str(error)) from None
        if reading.outcome == "error":
            raise ReaderFailed(reading.error or "no reply")
        return reading
