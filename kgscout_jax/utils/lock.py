"""Advisory locks of folders, by ``flock`` on a file inside.

The last holder removes the file. A process that opened it before then holds a lock on a
deleted file, so each acquisition compares the locked inode with that of the file name.
Locks end with the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError

LOCK = ".lock"
PROBE = 0.1
"""Seconds of patience by default: ``is_locked`` holds a shared lock for an instant."""


@contextlib.contextmanager
def locked(
    folder: Path,
    who: str,
    *,
    name: str = LOCK,
    shared: bool = False,
    patience: float = PROBE,
) -> Iterator[None]:
    """Lock ``folder`` for this process; creates it if necessary.

    Args:
        folder: the folder to lock.
        who: the program's name, for the error message of other processes.
        name: name of the lock file; several locks in one folder are independent.
        shared: whether several processes may share the lock; excludes exclusive use.
        patience: seconds to wait for the current holder.

    Raises:
        UserError: another process (another ``who``) holds it, or it cannot be written.
    """
    file = folder / name
    deadline = time.monotonic() + patience
    while (handle := _acquire(folder, file, shared)) is None:
        if time.monotonic() >= deadline:
            raise UserError(f"{folder}: another {who} is writing here")
        time.sleep(min(0.05, max(deadline - time.monotonic(), 0)))
    try:
        yield
    finally:
        _release(handle, file)


def is_locked(folder: Path, name: str = LOCK) -> bool:
    """Whether a process has locked ``folder``; does not create the lock file."""
    try:
        handle = os.open(folder / name, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(handle)
    return False


def _release(handle: int, file: Path) -> None:
    """Close the lock, and remove its file if no other process shares it.

    The conversion of a shared lock is not atomic: between its two halves another
    process may lock, remove and make the file anew. Only a file that is still the one
    locked here is removed.
    """
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(handle, file):
                file.unlink()
    finally:
        os.close(handle)


def _acquire(folder: Path, file: Path, shared: bool) -> int | None:
    """The descriptor of the acquired lock; None if another process holds it."""
    operation = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(handle, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError as error:  # a file system without locks
            os.close(handle)
            raise UserError(f"{file}: cannot be locked ({error.strerror})") from None
        if _is_same_file(handle, file):
            return handle
        os.close(handle)  # the last holder has just removed it: create a new file


def _is_same_file(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(file))
    except FileNotFoundError:
        return False
