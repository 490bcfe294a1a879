"""Calls of many threads that are worked off in as few rounds as they allow."""

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
    """``work`` on a list of items, joined with those of threads that wait meanwhile.

    One thread works at a time. Whoever comes then waits, and the next to work takes the
    items of all that wait along. A single caller waits for nobody. Where a round
    raises, each of its callers works alone: those whose items are good get results.
    """

    def __init__(
        self,
        work: Callable[[list[Any]], Iterable[Any]],
        lock: AbstractContextManager[Any],
    ) -> None:
        """
        Args:
            work: from items to as many results, in their order.
            lock: held while it works.
        """
        self._work, self._lock = work, lock
        self._guard = threading.Lock()
        self._waiting: list[_Call] = []

    def __call__(self, items: Sequence[Any]) -> list[Any]:
        """The result of each item.

        Raises:
            Exception: whatever ``work`` raises.
        """
        call = _Call(list(items))
        with self._guard:
            self._waiting.append(call)
        with self._lock:
            if call.results is None:
                self._round(call)
        assert call.results is not None
        return call.results

    def _round(self, own: _Call) -> None:
        """Work for all that wait, ``own`` among them."""
        with self._guard:
            calls, self._waiting = self._waiting, []
        if own not in calls:  # taken along before, by a round that raised
            calls.append(own)
        try:
            results = list(self._work([item for call in calls for item in call.items]))
        except Exception:
            if len(calls) == 1:
                raise
            calls, results = [own], list(self._work(own.items))
        for call in calls:
            call.results = results[: len(call.items)]
            del results[: len(call.items)]
