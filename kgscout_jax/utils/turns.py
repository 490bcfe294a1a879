"""One thread at a time runs Python, while others wait or compute outside of it.

The interpreter lets one thread run at a time anyway. Threads that ask for it in between
make it change hands thousands of times a question: sixteen that retrieve at once took
twice the processor time of one. So each has a turn, and ends it for native work.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_thread = threading.local()


@contextmanager
def interpreter_turn() -> Iterator[None]:
    """Wait for the turn of this thread, and hold it; a turn within a turn is one."""
    if _holds_turn():
        yield
        return
    with _lock:
        _thread.holds = True
        try:
            yield
        finally:
            _thread.holds = False


@contextmanager
def native_work() -> Iterator[None]:
    """Leave the turn, if this thread has it, to another thread meanwhile.

    For calls that do not hold the interpreter, or wait for something. Locks that a
    thread takes within it must be released within it, since others may wait for them in
    their turn.
    """
    if not _holds_turn():
        yield
        return
    _thread.holds = False
    _lock.release()
    try:
        yield
    finally:
        _lock.acquire()
        _thread.holds = True


def _holds_turn() -> bool:
    return getattr(_thread, "holds", False)
