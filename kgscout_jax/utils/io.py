"""Atomic file writers, and readers whose errors name the line."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TextIO, cast

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.utils.disk_space import no_room, room_for
from kgscout_jax.utils.encodings import not_utf8

NPY_DAMAGE = (
    ValueError, EOFError, OSError, KeyError, TypeError, SyntaxError, OverflowError,
    MemoryError, tokenize.TokenError,
)  # fmt: skip
"""What numpy raises for a damaged .npy file."""
NPY_HEADERS = threading.Lock()
"""Held while numpy reads headers. It parses them as Python, which CPython 3.11 does in
one thread at a time: another one ends with a SystemError now and then."""
NPZ_DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, *NPY_DAMAGE)
"""What numpy raises for a damaged .npz file."""


class WriteError(UserError, OSError):
    """A file that cannot be made."""


@contextlib.contextmanager
def _made(path: Path) -> Iterator[None]:
    """Errors of making ``path``, such as no right to, in one line."""
    try:
        yield
    except OSError as error:
        if no_room(error) is not None:
            raise
        problem = error.strerror or error
        raise WriteError(f"{short_path(path)}: cannot be written ({problem})") from None


def short_path(path: Path | str) -> str:
    """A path for a message; a long one is cut."""
    text = str(path)
    return text if len(text) <= 300 else f"{text[:200]}...{text[-60:]}"


@contextlib.contextmanager
def whole_file(
    path: Path, mode: str = "w", *, size: int | None = None
) -> Iterator[Any]:
    """A handle that writes ``path``, which appears only when complete.

    The data are written to a temporary file in the same folder, flushed to disk and
    renamed. An exception leaves the previous file in place.

    Args:
        path: the file.
        mode: "w" or "wb".
        size: bytes to be written, where known, for the message of a full disk.

    Raises:
        NoRoomError: the disk is full.
        WriteError: the file cannot be made there.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    encoding = None if "b" in mode else "utf-8"
    with room_for(path, size):
        with _made(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            opened = open(aside, mode, encoding=encoding)  # noqa: SIM115
        try:
            with opened as handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
            with _made(path):
                os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, whole or not at all."""
    with whole_file(path, size=len(text)) as handle:
        handle.write(text)


def json_value(value: Any) -> Any:
    """A setting as a JSON value: a path is a string, a tuple a list."""
    if isinstance(value, Path):
        return str(value)
    return [json_value(each) for each in value] if isinstance(value, tuple) else value


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write one line per item, whole or not at all."""
    with whole_file(path) as handle:
        for line in lines:
            handle.write(line)
            handle.write("\n")


def write_array(path: Path, array: np.ndarray) -> None:
    """Write ``array`` as .npy, whole or not at all."""
    with whole_file(path, "wb", size=array.nbytes) as handle:
        np.save(handle, array, allow_pickle=False)


def read_array(path: Path, *, mmap: bool = False) -> np.ndarray:
    """The array in a .npy file, optionally memory-mapped.

    Raises:
        UserError: the file is missing, truncated or not an .npy file.
    """
    try:
        with NPY_HEADERS:
            return np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except NPY_DAMAGE as error:
        problem = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: not a whole .npy file ({problem})") from None


def read_arrays(path: Path, keys: Iterable[str] = ()) -> dict[str, np.ndarray]:
    """The arrays in an .npz file: all, or those of ``keys``.

    Raises:
        FileNotFoundError: there is no such file.
        NPZ_DAMAGE: it is truncated, or a checksum in it differs.
    """
    with NPY_HEADERS, np.load(path, allow_pickle=False) as opened:
        return {name: opened[name] for name in tuple(keys) or opened.files}


def read_json(path: Path) -> Any:
    """The JSON value in a file; raises UserError if there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text handle on a plain or .gz file, behind a byte-order mark.

    Raises:
        UserError: the file is missing, unreadable, not UTF-8 or not gzip.
    """
    try:
        if path.suffix == ".gz":
            with (
                gzip.open(path, "rb") as raw,
                io.TextIOWrapper(raw, "utf-8-sig") as handle,
            ):
                yield handle
        else:
            with open(path, encoding="utf-8-sig") as handle:
                yield handle
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise _undecodable(path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: not a whole gzip file ({error})") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None


def _undecodable(path: Path) -> UserError:
    """The error for a plain or .gz file that is not UTF-8."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as handle:
            return not_utf8(path, cast("IO[bytes]", handle))
    except (EOFError, zlib.error, OSError):
        return UserError(f"{path}: not UTF-8 text, and damaged")


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, object) of each line that is not blank.

    Raises:
        UserError: a line is not a JSON object; it names the file and the line.
    """
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}:{number}: not valid JSON ({error})") from None
            if not isinstance(value, dict):
                actual = type(value).__name__
                raise UserError(
                    f"{path}:{number}: expected a JSON object, got {actual}"
                )
            yield number, value


def sha256_file(path: Path) -> str:
    """The hex sha256 of a file's bytes."""
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
