"""Reading answers out of what was found, in a few threads of their own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.reason.readers import make_reader
from kgscout_jax.reason.readers.protocol import Evidence, Reading
from kgscout_jax.serve.batching import Busy
from kgscout_jax.serve.settings import ServiceSettings

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import RetrievalResult

THREADS = 4
"""Answers that are read at a time: with a model, requests that it gets at a time."""


class ReaderFailed(Exception):
    """The language model gave no reply."""


class Answers:
    """Reads answers; as many may wait as may wait for retrieval."""

    def __init__(self, settings: ServiceSettings):
        """Choose the reader.

        Raises:
            UserError: the model's settings cannot work, or a library is missing.
        """
        self._reader = make_reader(
            settings.llm,
            settings.model,
            key_env=settings.key_env,
            timeout=settings.timeout,
            retries=1,
        )
        self._most = settings.max_queue + THREADS
        self._held = 0
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")
        self.name = self._reader.name

    async def read(self, found: RetrievalResult) -> Reading:
        """The answers to a question from its triplets.

        Raises:
            Busy: too many wait already.
            ReaderFailed: a model was asked in vain.
        """
        if self._held >= self._most:
            raise Busy
        self._held += 1
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, self._read, found.evidence()
        )
        work.add_done_callback(self._let_go)
        return await work

    def close(self) -> None:
        """End the threads; what they are at is finished."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _let_go(self, _: asyncio.Future[Reading]) -> None:
        self._held -= 1

    def _read(self, evidence: Evidence) -> Reading:
        try:
            (reading,) = self._reader.read([evidence])
        except UserError as error:
            raise ReaderFailed(str(error)) from None
        if reading.outcome == "error":
            raise ReaderFailed(reading.error or "no reply")
        return reading
