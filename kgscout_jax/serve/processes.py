"""Scouts in processes of their own, which share the questions of a service.

Threads of one process take turns at the interpreter, and so use little more than one
core besides the network and the encoder. Each process here loads the policy and the
graphs, and has its share of the cores.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.serve.settings import ServeSettings
from kgscout_jax.serve.startup import compile_for, load
from kgscout_jax.utils.engine import process_pool

if TYPE_CHECKING:
    from kgscout_jax.export.load import Exported
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.inference.scout import Scout

logger = logging.getLogger("kgscout.serve")


class ScoutProcesses:
    """Answers as a ``Scout`` does, in other processes; safe to use from threads.

    A process that dies, perhaps for want of memory, fails the call that it works on,
    and another one is started in its place.
    """

    def __init__(
        self,
        settings: ServeSettings,
        exported: Exported,
        graphs: Mapping[str, KnowledgeGraph],
    ) -> None:
        """Start ``settings.processes`` processes, and return once they have loaded.

        Args:
            settings: what each process loads.
            exported: the same policy in this process.
            graphs: the same graphs in this process, by their names in requests.

        Raises:
            UserError: a process ended while it loaded.
        """
        self.exported, self._settings = exported, settings
        self._names = {id(graph): name for name, graph in graphs.items()}
        self._pools = [self._start(i) for i in range(settings.processes)]
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        try:
            for i, each in enumerate([pool.submit(_ready) for pool in self._pools]):
                each.result()
                self._free.put(i)
        except BrokenProcessPool:
            self.close()
            raise UserError(
                "--processes: a process ended while it loaded, perhaps for want of "
                "memory, since each holds the policy, its encoder and the graphs"
            ) from None

    def __len__(self) -> int:
        return len(self._pools)

    def retrieve_many(
        self,
        questions: Sequence[str],
        graphs: Sequence[KnowledgeGraph],
        k: Sequence[int],
        *,
        topics: Sequence[Sequence[str] | None],
        selection: SelectionConfig,
    ) -> list[RetrievalResult]:
        """The results of ``Scout.retrieve_many``, from the next free process.

        Raises:
            BrokenProcessPool: the process died meanwhile.
            UserError: as ``Scout.retrieve_many``, or a graph is none of those loaded.
        """
        try:
            names = [self._names[id(graph)] for graph in graphs]
        except KeyError:
            raise UserError("graphs: found one that the processes lack") from None
        i = self._free.get()
        try:
            arguments = (questions, names, k, topics, selection)
            return self._pools[i].submit(_retrieve_many, *arguments).result()
        except BrokenProcessPool:
            logger.error("process %d died, and is started anew", i)
            self._pools[i] = self._start(i)
            self._pools[i].submit(_ready)  # it loads at once
            raise
        finally:
            self._free.put(i)

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)

    def _start(self, i: int) -> ProcessPoolExecutor:
        return process_pool(1, _load, self._settings, i)


# --- in each process

_loaded: tuple[Scout, dict[str, KnowledgeGraph]]


def _load(settings: ServeSettings, number: int) -> None:
    """Load the policy and the graphs, on this process's share of the cores."""
    global _loaded
    if hasattr(os, "sched_setaffinity"):
        cores = cores_of(number, settings.processes, os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores)
    _loaded = scout, graphs = load(settings)
    arguments = (scout, graphs.values(), settings.max_batch)
    threading.Thread(target=compile_for, args=arguments, daemon=True).start()


def cores_of(number: int, count: int, cores: set[int]) -> set[int]:
    """The share of ``cores`` of one of ``count`` processes; shared if they are fewer.

    >>> [cores_of(i, 2, {0, 1, 2, 5}) for i in range(2)]
    [{0, 1}, {2, 5}]
    >>> [cores_of(i, 3, {0, 1}) for i in range(3)]
    [{0}, {1}, {0}]
    """
    ordered = sorted(cores)
    if count > len(ordered):
        return {ordered[number % len(ordered)]}
    low, high = (i * len(ordered) // count for i in (number, number + 1))
    return set(ordered[low:high])


def _ready() -> None:
    """Nothing: a process that does it has loaded."""


def _retrieve_many(
    questions: Sequence[str],
    names: Sequence[str],
    k: Sequence[int],
    topics: Sequence[Sequence[str] | None],
    selection: SelectionConfig,
) -> list[RetrievalResult]:
    scout, graphs = _loaded
    named = [graphs[name] for name in names]
    return scout.retrieve_many(questions, named, k, topics=topics, selection=selection)
