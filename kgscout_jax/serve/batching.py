"""Batching of concurrent questions, scored in a thread of each scout.

The queue is bounded: further questions are refused at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.selection import SelectionConfig

if TYPE_CHECKING:
    from kgscout_jax.export.load import Exported
    from kgscout_jax.inference.result import RetrievalResult

logger = logging.getLogger("kgscout.serve")


class Retriever(Protocol):
    """What finds the triplets of questions: a ``Scout``, or several in processes."""

    exported: Exported
    """The policy."""

    def retrieve_many(
        self,
        questions: Sequence[str],
        graphs: Sequence[KnowledgeGraph],
        k: Sequence[int],
        *,
        topics: Sequence[Sequence[str] | None],
        selection: SelectionConfig,
    ) -> list[RetrievalResult]:
        """The results of ``Scout.retrieve_many``."""
        ...


class QueueFull(Exception):
    """The queue is full, or the service is stopping."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """One waiting question."""

    question: str
    graph: KnowledgeGraph
    k: int
    topics: Sequence[str] | None = None
    """None: they are linked."""
    selection: SelectionConfig
    result: asyncio.Future[RetrievalResult] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Batcher:
    """Collects single questions and passes them to ``scout`` in batches.

    A failing question does not fail others. A question whose caller disconnects before
    its batch is not scored.
    """

    def __init__(
        self,
        scout: Retriever,
        *,
        max_batch: int,
        wait: float,
        max_queue: int,
        on_batch: Callable[[int], None] = lambda size: None,
        selection: SelectionConfig | None = None,
        at_once: int = 1,
    ):
        """Take the scout, which works on ``at_once`` batches at a time.

        ``wait``: seconds that the first of a batch waits.
        """
        self.scout, self.selection = scout, selection or SelectionConfig()
        self.max_batch, self.wait, self.max_queue = max_batch, wait, max_queue
        self.on_batch = on_batch
        self._waiting: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="scout")
        self._workers: list[asyncio.Task[None]] = []
        self._idle = at_once
        """How many workers have no batch."""
        self._gathering = asyncio.Lock()
        """Held by the worker that makes the next batch."""
        self._closing = False

    def __len__(self) -> int:
        return len(self._waiting)

    def replace(self, scout: Retriever) -> None:
        """Use ``scout`` from the next batch on."""
        self.scout = scout

    def start(self) -> None:
        """Start the workers in the running event loop."""
        self._workers = [asyncio.create_task(self._run()) for _ in range(self._idle)]

    async def close(self) -> None:
        """Refuse new questions, finish the waiting ones, and end the threads."""
        self._closing = True
        self._arrived.set()
        await asyncio.gather(*self._workers)
        self._threads.shutdown(wait=True)

    async def retrieve(
        self,
        question: str,
        graph: KnowledgeGraph,
        k: int,
        topics: Sequence[str] | None = None,
        selection: SelectionConfig | None = None,
    ) -> RetrievalResult:
        """The scout's result; without ``selection`` by the batcher's own.

        Raises:
            QueueFull: come again later.
            Exception: whatever the scout raises for this question.
        """
        if self._closing or len(self._waiting) >= self.max_queue:
            raise QueueFull
        job = Job(
            question=question,
            graph=graph,
            k=k,
            topics=topics,
            selection=selection or self.selection,
        )
        self._waiting.append(job)
        self._arrived.set()
        try:
            return await job.result
        except asyncio.CancelledError:
            if job in self._waiting:
                self._waiting.remove(job)
            raise

    async def _run(self) -> None:
        while True:
            async with self._gathering:
                while not self._waiting:
                    if self._closing:
                        return
                    self._arrived.clear()
                    await self._arrived.wait()
                await self._gather()
                # those without a batch share what waits
                share = -(-len(self._waiting) // self._idle)
                size = min(self.max_batch, share)
                jobs = [self._waiting.popleft() for _ in range(size)]
                self._idle -= 1
            if jobs:
                self.on_batch(size)
                await self._complete(jobs)
            self._idle += 1

    async def _gather(self) -> None:
        """Wait for more questions, until the batch is full or the wait ends."""
        try:
            async with asyncio.timeout(self.wait):
                while len(self._waiting) < self.max_batch and not self._closing:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            pass

    async def _complete(self, jobs: Sequence[Job]) -> None:
        """Set the result of each job; a batch that fails is repeated one by one."""
        loop = asyncio.get_running_loop()
        try:
            results = await loop.run_in_executor(self._threads, self._retrieve, jobs)
        except Exception as error:  # noqa: BLE001 (its caller gets it)
            if len(jobs) > 1:
                logger.info(
                    "a batch of %d failed: it is repeated one by one", len(jobs)
                )
                for job in jobs:
                    if not job.result.done():
                        await self._complete([job])
            elif not jobs[0].result.done():
                jobs[0].result.set_exception(error)
            return
        for job, result in zip(jobs, results, strict=True):
            if not job.result.done():
                job.result.set_result(result)

    def _retrieve(self, jobs: Sequence[Job]) -> list[RetrievalResult]:
        """In a thread: all jobs of a selection together."""
        results: dict[Job, RetrievalResult] = {}
        for selection in dict.fromkeys(job.selection for job in jobs):
            same = [job for job in jobs if job.selection == selection]
            found = self.scout.retrieve_many(
                [job.question for job in same],
                [job.graph for job in same],
                [job.k for job in same],
                topics=[job.topics for job in same],
                selection=selection,
            )
            results |= zip(same, found, strict=True)
        return [results[job] for job in jobs]
