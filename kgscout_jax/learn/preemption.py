"""A request to stop: SIGTERM, or Ctrl-C, heeded after the step under way."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.runs.resume_command import train_words


class Stop:
    """While entered, the first signal asks for a stop; a second Ctrl-C ends at once."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether the process was asked to stop."""
        return self._signal is not None

    def __enter__(self) -> Stop:
        # Python delivers signals to the main thread only, and lets no other set them.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and self.asked:
            raise KeyboardInterrupt
        self._signal = self._signal or number

    def end(self) -> None:
        """End the process: with 0 after SIGTERM, as interrupted after Ctrl-C."""
        if self._signal == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(0)


def command(config: TrainConfig) -> str:
    """The command that goes on with a run: what differs from the defaults."""
    script = sys.argv[0] if sys.argv else ""
    start = f"python {script}" if Path(script).name == "train.py" else "kgscout train"
    words = train_words(config.to_dict(), config.run)
    return f"{start} {shlex.join(words)}"
