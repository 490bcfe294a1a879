"""Exclusive use of a folder by one process, by ``flock`` on a file inside it.

The last holder removes the file. A process that opened it meanwhile would then hold a
lock on a file that nobody else can see: after each acquisition the inode under the name
is compared with the one that is held. Locks are advisory, and end with the process.
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
    """Hold ``folder``, made if need be, for this process.

    Args:
        folder: what is held.
        who: the program, for the message to others.
        name: the file that is locked; several locks in one folder are independent.
        shared: several processes may hold the lock together, and nobody else then.
        patience: seconds to wait for the present holder.

    Raises:
        UserError: another process (another ``who``) holds it, or it cannot be written.
    """
    file = folder / name
    deadline = time.monotonic() + patience
    while (handle := _acquired(folder, file, shared)) is None:
        if time.monotonic() >= deadline:
            raise UserError(f"{folder}: another {who} is writing here")
        time.sleep(0.05)
    try:
        yield
    finally:
        # Removed while it is held alone: holders of a shared lock leave it in place.
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        os.close(handle)


def is_locked(folder: Path, name: str = LOCK) -> bool:
    """Whether a process holds ``folder``; never creates the lock's file."""
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


def _acquired(folder: Path, file: Path, shared: bool) -> int | None:
    """A descriptor that holds the lock; None while somebody else holds it."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        if _is_same_file(handle, file):
            return handle
        os.close(handle)  # its last holder has just removed it: make a new one


def _is_same_file(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(file))
    except FileNotFoundError:
        return False
