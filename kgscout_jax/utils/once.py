"""A value that is computed on first use and then shared by all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Holds a value that ``get`` computes once, however many threads call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: list[T] = []

    def get(self, compute: Callable[[], T]) -> T:
        """The value, computed by the first call; an error leaves it uncomputed."""
        with self._lock:
            if not self._values:
                self._values.append(compute())
            return self._values[0]
