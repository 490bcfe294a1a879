"""Verdicts of the service: statements judged by one of its graphs.

A graph's verifier is made at its first statement and kept as long as the graph is.
Statements are judged one after the other, in a thread of their own.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from kgscout_jax.serve.batching import QueueFull
from kgscout_jax.utils.progress import slow_step

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.graph.link.linker import Linker
    from kgscout_jax.text.encoder import SentenceEncoder
    from kgscout_jax.utils.once import Once
    from kgscout_jax.verify.verifier import Verifier


class Verdicts:
    """Judges statements; its queue has at most ``max_queue`` of them."""

    def __init__(self, encoder: SentenceEncoder, max_queue: int) -> None:
        self._encoder, self._max_queue = encoder, max_queue
        self._pending = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="verify")
        # A graph has no hash; its linker lives and dies with it.
        self._verifiers: WeakKeyDictionary[Once[Linker], Verifier] = WeakKeyDictionary()

    async def claims(
        self, statement: str, graph: KnowledgeGraph
    ) -> list[dict[str, Any]]:
        """The verdict on each claim of a statement, as JSON fields.

        Raises:
            QueueFull: too many statements wait already.
        """
        if self._pending >= self._max_queue:
            raise QueueFull
        self._pending += 1
        task = asyncio.get_running_loop().run_in_executor(
            self._thread, self._claims, statement, graph
        )
        task.add_done_callback(self._release)
        return await task

    def close(self) -> None:
        """End the thread after its current statement."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _release(self, _: asyncio.Future[list[dict[str, Any]]]) -> None:
        self._pending -= 1

    def _claims(self, statement: str, graph: KnowledgeGraph) -> list[dict[str, Any]]:
        with slow_step("checking a statement, the first of a graph takes longest"):
            # Not before a statement comes: it takes seconds, and may bring PyTorch
            # along.
            from kgscout_jax.verify.verifier import Verifier

            verifier = self._verifiers.get(graph.linker)
            if verifier is None or verifier.graph is not graph:
                verifier = Verifier(graph, self._encoder)
                self._verifiers[graph.linker] = verifier
            return [claim.to_json() for claim in verifier.verify(statement)]
