"""Errors of reading and of saving checkpoints."""

from __future__ import annotations

import contextlib
import gc
import logging
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError


class DamagedCheckpoint(UserError):
    """A checkpoint whose content differs from what was saved."""

    def __init__(self, run: Path, step: int, why: str) -> None:
        super().__init__(f"{run}: the checkpoint of step {step} is damaged ({why})")
        self.why = why


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence what libraries log about an unreadable checkpoint: we report it."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    except Exception:
        gc.collect()  # tasks with unread errors log them when they are collected
        raise
    finally:
        logging.disable(before)


def one_line(error: Exception) -> str:
    """The start of an error's first line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) <= 80 else lines[0][:77] + "..."
