"""Shares of wall time that device and host wait for each other.

The device executes tasks in order. A thread waits for each task in turn and records
when it completes. So a task has run since its submission or since the completion of the
task before it, whichever is later; the rest of the time the device waits. Nothing else
waits for that thread. It needs the interpreter to record the time: a record is late by
as long as the host stays within one call of numpy or scipy. The device's wait is then
reported too short, never too long.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator

import jax


class Timeline:
    """Measures from one ``shares()`` to the next; ``close`` ends its thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[jax.Array, float] | threading.Event | None]
        self._queue = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self._restart()

    def _restart(self) -> None:
        self._busy = 0.0
        self._host_waited = 0.0
        self._started = self._completed = time.perf_counter()

    def add(self, result: jax.Array) -> None:
        """Record the submission of the task that computes ``result``.

        ``result`` must never be donated: it is read later.
        """
        self._queue.put((result, time.perf_counter()))

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Context in which the host only waits for the device."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._host_waited += time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Shares of wall time since the last call; waits for all submitted tasks."""
        reached = threading.Event()
        with self.waiting():
            self._queue.put(reached)
            reached.wait()
        wall = max(self._completed - self._started, 1e-9)
        out = {
            "device_wait_share": round(max(1 - self._busy / wall, 0.0), 4),
            "host_wait_share": round(min(self._host_waited / wall, 1.0), 4),
        }
        self._restart()
        return out

    def restart(self) -> None:
        """Start a new measurement; drops the time since the last call."""
        self.shares()

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _watch(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            result, submitted = item
            # The training loop raises the same error when it reads the result.
            with contextlib.suppress(Exception):
                result.block_until_ready()
            del item
            completed = time.perf_counter()
            self._busy += completed - max(submitted, self._completed)
            self._completed = completed
