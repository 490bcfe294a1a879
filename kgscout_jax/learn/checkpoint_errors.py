"""Errors of reading and of saving checkpoints."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError

NO_ROOM = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up",
           errno.EFBIG: "the file would be larger than allowed"}  # fmt: skip


class DamagedCheckpoint(UserError):
    """A checkpoint whose content differs from what was saved."""

    def __init__(self, run: Path, step: int, why: str) -> None:
        super().__init__(f"{run}: the checkpoint of step {step} is damaged ({why})")
        self.why = why


def no_room(error: BaseException | None) -> str | None:
    """The reason if ``error`` or one of its causes is a lack of disk space, or None."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return NO_ROOM[error.errno]
        for number, reason in NO_ROOM.items():
            if os.strerror(number) in str(error):  # tensorstore raises ValueError
                return reason
        error = error.__cause__ or error.__context__
    return None


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
