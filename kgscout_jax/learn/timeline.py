"""Who waits for whom: shares of wall time, from timestamps of real work.

The device works through what it is given in order. A thread waits for each piece in
turn and notes when it was done, so a piece has run since it was given or since the one
before it was done, whichever is later; what remains of the time is the device's
waiting. Nobody else waits for that thread. It needs the interpreter for an instant to
note the time: a note is late by as long as the host stays within one call of numpy or
scipy, and the device's waiting is then told too short, never too long.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator

import jax


class Timeline:
    """Counts from one ``shares()`` to the next; close it to end its thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[jax.Array, float] | threading.Event | None]
        self._queue = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self._restart()

    def _restart(self) -> None:
        self._busy = 0.0
        self._host_waited = 0.0
        self._started = self._done = time.perf_counter()

    def add(self, result: jax.Array) -> None:
        """The device was just given work that ``result`` comes from.

        ``result`` must never be donated: it is looked at later.
        """
        self._queue.put((result, time.perf_counter()))

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """The host does nothing here but wait for the device."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._host_waited += time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Shares of wall time since the last call; waits for all that was given."""
        reached = threading.Event()
        with self.waiting():
            self._queue.put(reached)
            reached.wait()
        wall = max(self._done - self._started, 1e-9)
        out = {
            "device_wait_share": round(max(1 - self._busy / wall, 0.0), 4),
            "host_wait_share": round(min(self._host_waited / wall, 1.0), 4),
        }
        self._restart()
        return out

    def restart(self) -> None:
        """Forget what was so far, measuring between epochs for example."""
        self.shares()

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _watch(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
                continue
            result, given = item
            # An error is raised where the loop looks at the result, too.
            with contextlib.suppress(Exception):
                result.block_until_ready()
            del item
            done = time.perf_counter()
            self._busy += done - max(given, self._done)
            self._done = done
