"""Engines that spread work: processes of this machine, or actors of a Ray cluster.

An engine maps a function over items and returns the results in order. Functions and
items are sent between processes, so they are small; a function that needs a policy or a
graph opens it in the other process and holds it there. The bytes of a result do not
depend on the process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol, TypeVar

from kgscout_jax.errors import UserError

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""Items submitted per worker before a result is awaited."""


class Engine(Protocol):
    """Runs tasks; a context manager that shuts down its processes.

    It is entered before JAX computes: what starts processes then may hang.
    """

    @property
    def is_remote(self) -> bool:
        """Whether other processes run the tasks and need their inputs in files."""
        ...

    @property
    def embeds(self) -> bool:
        """Whether embedding tasks run in other processes too."""
        ...

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """``function`` of each item, in order.

        Function and items must be picklable.
        """
        ...

    def __enter__(self) -> Engine: ...

    def __exit__(self, *_: object) -> None: ...


class LocalEngine:
    """Worker processes on this machine; one worker is this process itself.

    Workers are started from a fresh process (forkserver): one that is forked from a
    process with threads, as torch and jax start them, may hang.
    """

    embeds = False
    """The encoder uses all CPUs, or the GPU, from one process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    @property
    def is_remote(self) -> bool:
        return self.workers > 1

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """``function`` of each item, in their order."""
        is_single = isinstance(items, Sized) and len(items) <= 1
        if is_single or not self.is_remote:
            yield from map(function, items)
            return
        if self._pool is None:
            self._pool = process_pool(self.workers)
        pool = self._pool
        try:
            yield from _in_order(
                lambda item: pool.submit(function, item).result,
                items,
                AHEAD * self.workers,
            )
        except BrokenProcessPool:
            raise UserError(
                "a worker process died, perhaps for want of memory: give the same "
                "command again, with fewer --workers"
            ) from None

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


HERE = LocalEngine(1)
"""This process alone."""


def process_pool(
    workers: int, initializer: Callable[..., None] | None = None, *arguments: Any
) -> ProcessPoolExecutor:
    """Processes that end with this one; each first calls ``initializer``."""
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context(
        "forkserver" if "forkserver" in methods else "spawn"
    )
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload([__name__, "numpy", "scipy.sparse"])
    return ProcessPoolExecutor(
        workers, context, _start_worker, (initializer, *arguments)
    )


def _start_worker(initializer: Callable[..., None] | None, *arguments: Any) -> None:
    _follow_parent()
    if initializer is not None:
        initializer(*arguments)


def _follow_parent() -> None:
    """End this worker when its parent process ends, even if killed, and not before."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent as well
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _in_order(
    submit: Callable[[T], Callable[[], R]], items: Iterable[T], window: int
) -> Iterator[R]:
    """Results in order; at most ``window`` items are pending."""
    pending: deque[Callable[[], R]] = deque()
    for item in items:
        if len(pending) >= window:
            yield pending.popleft()()
        pending.append(submit(item))
    while pending:
        yield pending.popleft()()
