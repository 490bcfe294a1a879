"""Errors of reading and of saving checkpoints."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError


class DamagedCheckpoint(UserError):
    """A checkpoint whose content differs from what was saved."""

    def __init__(self, run: Path, step: int, why: str) -> None:
        super().__init__(f"{run}: the checkpoint of step {step} is damaged ({why})")
        self.why = why


SETTLE = 0.2
"""Seconds in which reads that were under way come to their end."""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence what libraries log about an unreadable checkpoint: we report it."""
    before, told = logging.root.manager.disable, io.StringIO()
    logging.disable(logging.ERROR)
    try:
        # Reads under way print a traceback each once the loop that waits for them ends.
        with contextlib.redirect_stderr(told):
            try:
                yield
            except Exception:
                gc.collect()  # tasks with unread errors log them when collected
                time.sleep(SETTLE)
                told.truncate(0)
                raise
    finally:
        logging.disable(before)
        sys.stderr.write(told.getvalue())


def one_line(error: Exception) -> str:
    """The start of an error's first line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) <= 80 else lines[0][:77] + "..."
