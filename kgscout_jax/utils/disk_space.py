"""Lack of disk space: found before a file is mapped, reported in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError

NO_ROOM = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up",
           errno.EFBIG: "the file would be larger than allowed"}  # fmt: skip


TOFILE = r"\d+ requested and \d+ written"


class NoRoomError(UserError, OSError):
    """A file that does not fit on the disk."""


def no_room(error: BaseException | None) -> str | None:
    """The reason if ``error`` or one of its causes is a lack of disk space, or None."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return NO_ROOM[error.errno]
        text = str(error)
        for number, reason in NO_ROOM.items():
            if os.strerror(number) in text:  # tensorstore raises ValueError
                return reason
        # numpy's tofile does not pass the number on
        if isinstance(error, OSError) and re.fullmatch(TOFILE, text):
            return NO_ROOM[errno.ENOSPC]
        error = error.__cause__ or error.__context__
    return None


def no_room_error(
    path: Path, reason: str, needed: int | None = None, advice: str = ""
) -> NoRoomError:
    """The error that names a file, its size and the free space beside it.

    Args:
        path: what was to be written.
        reason: of ``no_room``.
        needed: its bytes, where known.
        advice: what the same command does; by default, that it goes on.
    """
    size = "" if needed is None else f"{amount(needed)} needed, "
    advice = advice or "make room, then the same command goes on"
    free = amount(free_bytes(path))
    return NoRoomError(f"{path}: {reason} ({size}{free} free there); {advice}")


@contextlib.contextmanager
def room_for(
    path: Path, needed: int | None = None, *, advice: str = ""
) -> Iterator[None]:
    """Turns a lack of disk space inside into ``no_room_error``.

    Raises:
        NoRoomError: the disk is full, or has less than ``needed`` bytes from the start.
    """
    if needed is not None and needed > free_bytes(path):
        raise no_room_error(path, NO_ROOM[errno.ENOSPC], needed, advice)
    try:
        yield
    except NoRoomError:
        raise
    except Exception as error:  # of the system, numpy, zipfile or a library
        if isinstance(error, UserError) or (reason := no_room(error)) is None:
            raise
        raise no_room_error(path, reason, needed, advice) from None


def allocate(path: Path, size: int) -> None:
    """Extend a file to ``size`` bytes that the disk really has.

    A sparse file can be mapped on a full disk, and the first write to it then ends the
    process (SIGBUS).

    Raises:
        NoRoomError: the disk has less; the file is as long as before.
    """
    with open(path, "ab") as handle:
        before = handle.tell()
        # What is allocated already costs nothing again: no comparison with ``size``.
        try:
            with room_for(path):
                _allocate(handle.fileno(), size)
        except NoRoomError:
            handle.truncate(before)
            raise no_room_error(path, NO_ROOM[errno.ENOSPC], size) from None


def _allocate(descriptor: int, size: int) -> None:
    try:
        os.posix_fallocate(descriptor, 0, size)
    except (AttributeError, OSError) as error:
        unable = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
        if isinstance(error, OSError) and error.errno not in unable:
            raise
        # A system without it: zeros take the room beyond the file's present end.
        zeros = bytes(1 << 20)
        place = os.fstat(descriptor).st_size
        while place < size:
            place += os.write(descriptor, zeros[: size - place])


def free_bytes(path: Path) -> int:
    """Bytes that this user may write beside ``path``, which need not exist.

    A file system without a size, such as /proc, sets no limit.
    """
    folder = path.absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        usage = shutil.disk_usage(folder)
        return usage.free if usage.total else sys.maxsize
    except OSError:
        return 0


def amount(size: int) -> str:
    """A number of bytes for a message: 4.2 MB."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size} bytes"
