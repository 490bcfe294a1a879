"""Reading answers out of what was found, in a few threads of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.reason.readers.protocol import Evidence, Reader, Reading
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
        self._new = reader_maker(settings)
        self._most = settings.max_queue + THREADS
        self._held = 0
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")
        self.name = self._new().name

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
        # a reader each: one for all would keep an account of every reply, for ever
        try:
            (reading,) = self._new().read([evidence])
        except UserError as error:
            raise ReaderFailed(str(error)) from None
        if reading.outcome == "error":
            raise ReaderFailed(reading.error or "no reply")
        return reading


def reader_maker(settings: ServiceSettings) -> Callable[[], Reader]:
    """What makes readers: of the model that is named, or without one."""
    if settings.llm is None or settings.model is None:
        from kgscout_jax.reason.readers.extractive import ExtractiveReader

        return ExtractiveReader
    from kgscout_jax.reason.completions import EndpointSettings
    from kgscout_jax.reason.prompt_settings import PromptSettings
    from kgscout_jax.reason.readers.model import ModelReader

    endpoint = EndpointSettings(
        url=settings.llm,
        model=settings.model,
        key_env=settings.key_env,
        timeout=settings.timeout,
        retries=1,
    )
    return lambda: ModelReader(endpoint, PromptSettings())
