"""A request to stop: SIGTERM, or Ctrl-C, heeded after the step under way."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Preemption:
    """While entered, the first signal requests a stop; a second Ctrl-C ends at once."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._handlers: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether the process is to stop."""
        return self._signal is not None

    def __enter__(self) -> Preemption:
        # Python delivers signals to the main thread only, and lets no other set them.
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
