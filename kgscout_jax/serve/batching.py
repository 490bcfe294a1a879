"""Questions that arrive together are scored together, in one worker thread.

The queue is bounded: what does not fit is refused at once rather than kept waiting for
a reply that comes too late.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import RetrievalResult, Scout

logger = logging.getLogger("kgscout.serve")


class Busy(Exception):
    """The queue is full, or the service is stopping."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """One question to be retrieved for."""

    question: str
    graph: KnowledgeGraph
    k: int
    topics: tuple[str, ...] | None = None
    """None: they are linked."""
    done: asyncio.Future[RetrievalResult] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Batcher:
    """Takes questions one by one and hands them to ``scout`` in batches.

    A question that makes the scout fail fails alone. One whose caller has gone before
    its turn is not scored.
    """

    def __init__(
        self,
        scout: Scout,
        *,
        max_batch: int,
        wait: float,
        max_queue: int,
        on_batch: Callable[[int], None] = lambda size: None,
    ):
        """Take the scout; ``wait``: seconds that the first of a batch waits."""
        self.scout = scout
        self.max_batch, self.wait, self.max_queue = max_batch, wait, max_queue
        self.on_batch = on_batch
        self._waiting: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scout")
        self._worker: asyncio.Task[None] | None = None
        self._closing = False

    def __len__(self) -> int:
        return len(self._waiting)

    def replace(self, scout: Scout) -> None:
        """Have ``scout`` find from the next batch on; a batch has one scout."""
        self.scout = scout

    def start(self) -> None:
        """Begin to work, in the running event loop."""
        self._worker = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Take nothing more on, finish what waits, and end the thread."""
        self._closing = True
        self._arrived.set()
        if self._worker is not None:
            await self._worker
        self._thread.shutdown(wait=True)

    async def retrieve(
        self,
        question: str,
        graph: KnowledgeGraph,
        k: int,
        topics: Sequence[str] | None = None,
    ) -> RetrievalResult:
        """What the scout finds; of a larger k in the same batch, the first k.

        Raises:
            Busy: come again later.
            Exception: whatever the scout raises for this question.
        """
        if self._closing or len(self._waiting) >= self.max_queue:
            raise Busy
        job = Job(
            question=question,
            graph=graph,
            k=k,
            topics=None if topics is None else tuple(topics),
        )
        self._waiting.append(job)
        self._arrived.set()
        try:
            return await job.done
        except asyncio.CancelledError:
            # leaves its place in the queue to others
            if job in self._waiting:
                self._waiting.remove(job)
            raise

    async def _work(self) -> None:
        while True:
            if not self._waiting:
                if self._closing:
                    return
                self._arrived.clear()
                await self._arrived.wait()
                continue
            await self._gather()
            jobs = self._take()
            if jobs:
                self.on_batch(len(jobs))
                await self._run(jobs)

    async def _gather(self) -> None:
        """Wait a little for others, unless a batch is full already."""
        try:
            async with asyncio.timeout(self.wait):
                while len(self._waiting) < self.max_batch and not self._closing:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            pass

    def _take(self) -> list[Job]:
        """The next batch, in the order of arrival."""
        size = min(self.max_batch, len(self._waiting))
        return [self._waiting.popleft() for _ in range(size)]

    async def _run(self, jobs: Sequence[Job]) -> None:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._thread, self._retrieve, jobs)
        except Exception as error:  # noqa: BLE001 (its caller gets it)
            if len(jobs) > 1:
                logger.info("a batch of %d failed: again, one by one", len(jobs))
                for job in jobs:
                    if not job.done.done():
                        await self._run([job])
            elif not jobs[0].done.done():
                jobs[0].done.set_exception(error)
            return
        for job, each in zip(jobs, found, strict=True):
            if not job.done.done():
                job.done.set_result(each)

    def _retrieve(self, jobs: Sequence[Job]) -> list[RetrievalResult]:
        """In the worker thread: all jobs at the largest k among them."""
        found = self.scout.retrieve_many(
            [job.question for job in jobs],
            [job.graph for job in jobs],
            max(job.k for job in jobs),
            topics=[job.topics for job in jobs],
        )
        return [first(each, job.k) for each, job in zip(found, jobs, strict=True)]


def first(found: RetrievalResult, k: int) -> RetrievalResult:
    """The same with its ``k`` best triplets: what asking for ``k`` gives."""
    if len(found) <= k:
        return found
    return dataclasses.replace(
        found,
        triplets=found.triplets[:k],
        scores=found.scores[:k],
        relation_match=found.relation_match[:k],
    )
