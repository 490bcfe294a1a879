"""Engines that run the tasks: local processes or a Ray cluster.

An engine maps a function over items and returns the results in order. Results are sent
between processes, so they are small; arrays are written to shared files. The bytes of a
result do not depend on the process.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from kgscout_jax.errors import UserError

T = TypeVar("T")
R = TypeVar("R")

EngineName = Literal["local", "ray"]
AHEAD = 4
"""Items submitted per worker before a result is awaited."""


@dataclass(frozen=True)
class Partition:
    """The share of one process of a job array: the i-th of n, from 1."""

    i: int
    n: int

    def __str__(self) -> str:
        return f"{self.i}/{self.n}"

    @staticmethod
    def of(text: str) -> Partition:
        """The partition that "i/n" names; raises UserError unless 1 <= i <= n."""
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        partition = Partition(*map(int, match.groups())) if match else Partition(0, 0)
        if not 1 <= partition.i <= partition.n:
            raise UserError(f"--part: found {text!r}, expected i/n, from 1/n to n/n")
        return partition

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """Every n-th item, from the i-th on."""
        return items[self.i - 1 :: self.n]

    def rotated(self, items: Sequence[T]) -> Sequence[T]:
        """All items, beginning after the shares of the partitions before this one."""
        begin = (self.i - 1) * len(items) // self.n
        return [*items[begin:], *items[:begin]]


class Engine(Protocol):
    """Runs tasks; a context manager that shuts down its processes."""

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


def engine_of(
    name: EngineName, workers: int | None = None, address: str | None = None
) -> Engine:
    """The engine by its name.

    Args:
        name: local or ray.
        workers: processes of a local engine, at most so many items at once on Ray;
            None for one per CPU.
        address: of the Ray cluster, "auto" for the one on this machine; None: that in
            $RAY_ADDRESS, else a new one on this machine.

    Raises:
        UserError: Ray is not installed, or the cluster does not answer.
    """
    if name == "ray":
        return RayEngine(address, workers)
    return LocalEngine(workers or cpus())


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0))


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
            self._pool = _pool(self.workers)
        pool = self._pool
        try:
            yield from _in_order(
                lambda item: pool.submit(function, item).result,
                items,
                AHEAD * self.workers,
            )
        except BrokenProcessPool:
            raise UserError(
                "a worker process died, perhaps for want of memory; finished work is "
                "kept: give the same command again, with fewer --workers"
            ) from None

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _pool(workers: int) -> ProcessPoolExecutor:
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context(
        "forkserver" if "forkserver" in methods else "spawn"
    )
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(["data_prep.engine", "numpy", "scipy.sparse"])
    return ProcessPoolExecutor(workers, context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this worker when its parent process ends, even if killed."""
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


class RayEngine:
    """The workers of a Ray cluster, which must see the same files at the same paths.

    Ray replaces a worker that dies and repeats its item.
    """

    is_remote = True
    embeds = True

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address, self.workers = address, workers
        self._started = False

    def _ray(self) -> Any:
        """The ray module, connected to a cluster."""
        try:
            import ray
        except ImportError:
            raise UserError(
                "--engine ray: Ray is not installed; pip install 'kgscout-jax[ray]'"
            ) from None
        if not ray.is_initialized():
            # Ray hides GPUs from tasks that request none, but the encoder uses them.
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            address = self.address or os.environ.get("RAY_ADDRESS")
            own: dict[str, Any] = {"num_cpus": self.workers, "include_dashboard": False}
            try:
                ray.init(
                    address=address or "local",
                    log_to_driver=False,
                    logging_level=logging.WARNING,
                    **({} if address else own),
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                where = address or "a local cluster"
                raise UserError(
                    f"--engine ray: {where}: {_first_line(error)}"
                ) from None
            self._started = True
        return ray

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """``function`` of each item, in their order."""
        ray = self._ray()
        remote = ray.remote(_call)
        shared = ray.put(function)
        workers = self.workers or int(ray.cluster_resources().get("CPU", 1))
        window = self.workers or AHEAD * workers

        def submit(item: T) -> Callable[[], R]:
            reference = remote.remote(shared, item)
            return lambda: ray.get(reference)

        try:
            yield from _in_order(submit, items, window)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            raise UserError(
                f"--engine ray: {_first_line(error)}; finished work is kept: "
                "give the same command again"
            ) from None

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            with contextlib.suppress(ImportError):
                import ray

                ray.shutdown()
            self._started = False


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _call(function: Callable[[T], R], item: T) -> R:
    return function(item)
