"""Coalesces concurrent calls of many threads into few calls of one function."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class _Call:
    items: list[Any]
    results: list[Any] | None = field(default=None)


class CallCoalescer:
    """Calls ``function`` on the items of all waiting threads at once.

    One thread runs at a time. The next thread to run takes the items of all waiting
    threads. A single caller never waits. If a joint call raises, each of its callers
    runs alone, so that an error only reaches its own caller.
    """

    def __init__(
        self,
        function: Callable[[list[Any]], Iterable[Any]],
        lock: AbstractContextManager[Any],
    ) -> None:
        """
        Args:
            function: maps items to as many results, in order.
            lock: held while ``function`` runs.
        """
        self._function, self._lock = function, lock
        self._guard = threading.Lock()
        self._waiting: list[_Call] = []

    def __call__(self, items: Sequence[Any]) -> list[Any]:
        """The result of each item.

        Raises:
            Exception: whatever ``function`` raises.
        """
        call = _Call(list(items))
        with self._guard:
            self._waiting.append(call)
        with self._lock:
            if call.results is None:
                self._run(call)
        assert call.results is not None
        return call.results

    def _run(self, own: _Call) -> None:
        """Run for all waiting calls, including ``own``."""
        with self._guard:
            calls, self._waiting = self._waiting, []
        if own not in calls:  # removed before, by a joint call that raised
            calls.append(own)
        try:
            results = list(
                self._function([item for call in calls for item in call.items])
            )
        except Exception:
            if len(calls) == 1:
                raise
            calls, results = [own], list(self._function(own.items))
        for call in calls:
            call.results = results[: len(call.items)]
            del results[: len(call.items)]
