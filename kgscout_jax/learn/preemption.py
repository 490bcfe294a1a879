"""Requests to stop, by SIGTERM or Ctrl-C; training stops after the current step."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Preemption:
    """Context in which the first signal requests a stop; a second Ctrl-C interrupts."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._handlers: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether a stop has been requested."""
        return self._signal is not None

    def __enter__(self) -> Preemption:
        # Only Python's main thread may set signal handlers.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._handlers[number] = signal.signal(number, self._request)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _request(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and self.requested:
            raise KeyboardInterrupt
        self._signal = self._signal or number

    def exit(self) -> None:
        """End the process: with 0 after SIGTERM, as interrupted after Ctrl-C."""
        if self._signal == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(0)
