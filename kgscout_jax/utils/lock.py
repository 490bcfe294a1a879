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


@contextlib.contextmanager
def locked(
    folder: Path,
    who: str,
    *,
    name: str = LOCK,
    shared: bool = False,
    patience: float = 0.0,
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
        time.sleep(0.05)
    try:
        yield
    finally:
        # Only an exclusive holder removes the file; other shared holders still use it.
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        os.close(handle)


def is_locked(folder: Path, name: str = LOCK) -> bool:
    """Whether a process has locked ``folder``; does not create the lock file."""
    try:
        handle = os.open(folder / name, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


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
        if _is_same_file(handle, file):
            return handle
        os.close(handle)  # the last holder has just removed it: create a new file


def _is_same_file(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(file))
    except FileNotFoundError:
        return False
