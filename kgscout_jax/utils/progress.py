"""Progress of anything that takes over two seconds: a bar, or lines when piped."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

logger = logging.getLogger("kgscout")


class progress:
    """A progress bar on a terminal; elsewhere a log line every ten seconds.

    Both go to stderr. ``update(n, **shown)`` advances by n and shows the values.
    """

    def __init__(
        self, total: int, what: str, unit: str = "it", *, hidden: bool = False
    ) -> None:
        """``hidden``: another process tells of the same work."""
        self.total, self.what, self.unit = total, what, unit
        self.hidden = hidden
        self.done = 0

    def __enter__(self) -> progress:
        from tqdm import tqdm

        self._terminal = sys.stderr.isatty() and not self.hidden
        self._started = self._told = time.monotonic()
        self._bar = tqdm(
            total=self.total or None,
            desc=self.what,
            unit=f" {self.unit}",
            disable=not self._terminal,
            dynamic_ncols=True,
        )
        return self

    def update(self, n: int = 1, **shown: Any) -> None:
        """Advance by ``n``; ``shown`` are values to print beside the bar."""
        self.done += n
        if self._terminal:
            if shown:
                self._bar.set_postfix(shown, refresh=False)
            self._bar.update(n)
            return
        now = time.monotonic()
        if now - self._told >= 10 and not self.hidden:
            self._told = now
            rate = self.done / (now - self._started)
            values = "".join(f", {key} {value}" for key, value in shown.items())
            logger.info(
                "%s: %d%s, %.0f %s/s%s",
                *(self.what, self.done, f" of {self.total}" if self.total else ""),
                *(rate, self.unit, values),
            )

    def __exit__(self, *_: object) -> None:
        self._bar.close()
