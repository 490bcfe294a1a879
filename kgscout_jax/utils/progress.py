"""Progress reports of long operations: a bar, or log lines without a terminal."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

logger = logging.getLogger("kgscout")


SLOW = 2.0
"""Seconds from which a step is worth a line."""


@contextlib.contextmanager
def slow_step(label: str) -> Iterator[None]:
    """Log ``label`` once if the block takes longer than ``SLOW`` seconds."""
    timer = threading.Timer(SLOW, logger.info, (f"{label} ...",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def rate_text(rate: float) -> str:
    """A rate for people: whole from ten on, below that with two digits.

    >>> rate_text(34.6), rate_text(4.04), rate_text(0.333), rate_text(0)
    ('35', '4', '0.33', '0')
    """
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"


class ProgressBar:
    """A progress bar on a terminal; elsewhere a log line every ten seconds.

    Both go to stderr. ``update(n, **values)`` advances by n and shows the values.
    """

    def __init__(
        self, total: int, label: str, unit: str = "it", *, hidden: bool = False
    ) -> None:
        """``hidden``: no output, because another process reports the same progress, as
        the parent of workers does.
        """
        self.total, self.label, self.unit = total, label, unit
        self.hidden = hidden or multiprocessing.parent_process() is not None
        self.count = 0

    def __enter__(self) -> ProgressBar:
        from tqdm import tqdm

        self._terminal = sys.stderr.isatty() and not self.hidden
        self._started = self._last_report = time.monotonic()
        self._bar = tqdm(
            total=self.total or None,
            desc=self.label,
            unit=f" {self.unit}",
            disable=not self._terminal,
            dynamic_ncols=True,
        )
        return self

    def update(self, n: int = 1, **values: Any) -> None:
        """Advance by ``n``; ``values`` are printed beside the bar."""
        self.count += n
        if self._terminal:
            if values:
                self._bar.set_postfix(values, refresh=False)
            self._bar.update(n)
            return
        now = time.monotonic()
        if now - self._last_report >= 10 and not self.hidden:
            self._last_report = now
            rate = self.count / (now - self._started)
            suffix = "".join(f", {key} {value}" for key, value in values.items())
            logger.info(
                "%s: %d%s, %s %s/s%s%s",
                *(self.label, self.count, f" of {self.total}" if self.total else ""),
                *(rate_text(rate), self.unit, self._left(rate), suffix),
            )

    def _left(self, rate: float) -> str:
        """The time that is left at ``rate`` units a second."""
        if not self.total or not rate:
            return ""
        minutes, seconds = divmod(round((self.total - self.count) / rate), 60)
        return f", about {minutes}:{seconds:02d} left"

    def __exit__(self, *_: object) -> None:
        self._bar.close()
