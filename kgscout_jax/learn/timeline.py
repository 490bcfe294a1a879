"""Shares of wall time that device and host wait for each other, and what they do when.

The device executes tasks in order. A thread waits for each task in turn and records
when it completes. So a task has run since its submission or since the completion of the
task before it, whichever is later; the rest of the time the device waits. Nothing else
waits for that thread. It needs the interpreter to record the time: a record is late by
as long as the host stays within one call of numpy or scipy. The device's wait is then
reported too short, never too long.
"""

from __future__ import annotations

import collections
import contextlib
import queue
import threading
import time
from collections.abc import Iterator

import jax

from kgscout_jax.learn.timeline_file import Span

COUNTS = ("dispatches", "bytes_in", "bytes_out")
"""What is counted per question: calls of the device, and bytes to and from it."""
SPANS = 600
"""Spans that are kept: those of about a hundred steps."""


class Timeline:
    """Measures from one ``shares()`` to the next; ``close`` ends its thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[
            tuple[jax.Array, str, float] | threading.Event | None
        ]
        self._queue = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self.spans: collections.deque[Span] = collections.deque(maxlen=SPANS)
        """The latest, in the order in which they ended."""
        self._restart()

    def _restart(self) -> None:
        self._busy = 0.0
        self._host_waited = 0.0
        self._counts: collections.Counter[str] = collections.Counter()
        self._started = self._completed = time.perf_counter()
        self._processor = time.thread_time()

    def add(
        self, result: jax.Array, name: str = "step", submitted: float | None = None
    ) -> None:
        """Record the submission of the task that computes ``result``.

        Args:
            result: must never be donated: it is read later.
            name: of the task.
            submitted: when the call began, as ``host`` gives it. A GPU's call returns
                late where the program has loops: their ends are read by the host.
        """
        start = time.perf_counter() if submitted is None else submitted
        self._queue.put((result, name, start))

    def count(self, **counts: int) -> None:
        """Count questions, dispatches, bytes_in (to the device) or bytes_out."""
        self._counts.update(counts)

    @contextlib.contextmanager
    def host(self, name: str) -> Iterator[float]:
        """Context in which the host does what ``name`` says; gives its start."""
        start = time.perf_counter()
        try:
            yield start
        finally:
            self.spans.append(Span("host", name, start, time.perf_counter()))

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Context in which the host only waits for the device."""
        start = time.perf_counter()
        try:
            with self.host("wait"):
                yield
        finally:
            self._host_waited += time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Shares of wall time since the last call; waits for all submitted tasks.

        And the host's own microseconds, dispatches and bytes, per question. Those of
        the processor are of the calling thread alone, so that neither a device that is
        this very processor nor other programs on a busy machine count.
        """
        reached = threading.Event()
        with self.waiting():
            self._queue.put(reached)
            reached.wait()
        wall = max(self._completed - self._started, 1e-9)
        out = {
            "device_wait_share": round(max(1 - self._busy / wall, 0.0), 4),
            "host_wait_share": round(min(self._host_waited / wall, 1.0), 4),
        }
        if questions := self._counts["questions"]:
            own = max(time.perf_counter() - self._started - self._host_waited, 0.0)
            out["host_us_per_question"] = round(1e6 * own / questions, 2)
            own = time.thread_time() - self._processor
            out["host_processor_us_per_question"] = round(1e6 * own / questions, 2)
            for name in COUNTS:
                out[f"{name}_per_question"] = round(self._counts[name] / questions, 4)
        self._restart()
        return out

    def restart(self) -> None:
        """Start a new measurement; drops the time since the last call."""
        self.shares()
        self.spans.clear()

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _watch(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            result, name, submitted = item
            # The training loop raises the same error when it reads the result.
            with contextlib.suppress(Exception):
                result.block_until_ready()
            del item
            completed = time.perf_counter()
            start = max(submitted, self._completed)
            self._busy += completed - start
            self._completed = completed
            self.spans.append(Span("device", name, start, completed))
