"""Byte and text streams over plain and compressed files, with one-line errors."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TextIO, cast

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.options import MAX_LINE
from kgscout_jax.utils.encodings import not_utf8

COMPRESSED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
"""Last suffix of a file -> its compression."""

_PAGE_ID = re.compile(r"(?<=\w) [0-9a-f]{32}(?:_all)?$")
"""Behind the name of a database of Notion."""

BROKEN = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError)
"""Errors of the decompressors on damaged data, besides OSError and ValueError."""


def inner_name(path: Path) -> str:
    """The file's name in lower case, without the suffix of its compression."""
    return _inner_name(path).lower()


def table_name(path: Path) -> str:
    """What a file is called without its suffixes, and the id of an export's page
    (Notion): ``OrderDetails``."""
    return _PAGE_ID.sub("", Path(_inner_name(path)).stem)


def _inner_name(path: Path) -> str:
    """The file's name without the suffix of its compression."""
    for suffix in COMPRESSED:
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.name


def file_scope(path: Path) -> str:
    """A file's folder and name without suffixes, for names that are its own."""
    stem = inner_name(path).partition(".")[0]
    return re.sub(r"\s", "_", f"{path.resolve().parent.name}/{stem}")


def one_line(error: BaseException) -> str:
    """An exception's text with line breaks and runs of spaces removed."""
    return " ".join(str(error).split()) or type(error).__name__


@contextlib.contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """A binary handle on the content of a plain or compressed file.

    Raises:
        UserError: the file is missing, unreadable or incomplete, now or while reading.
    """
    compression = COMPRESSED.get(path.suffix.lower())
    try:
        with _open(path, compression) as handle:
            yield handle
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        with open_bytes(path) as handle:  # what is damaged may fail here too
            raise not_utf8(path, handle) from None
    except BROKEN as error:
        raise UserError(
            f"{path}: not a whole {compression} file ({one_line(error)})"
        ) from None
    except OSError as error:
        if (
            compression and error.errno is None
        ):  # bz2 and pyarrow raise OSError("Invalid data")
            raise UserError(
                f"{path}: not a whole {compression} file ({one_line(error)})"
            ) from None
        problem = error.strerror or one_line(error)
        raise UserError(f"{path}: cannot be read ({problem})") from None


def _open(
    path: Path, compression: str | None
) -> contextlib.AbstractContextManager[Any]:
    """The handle; raises the libraries' own exceptions."""
    if compression == "gzip":
        return gzip.open(path, "rb")
    if compression == "bzip2":
        return bz2.open(path, "rb")
    if compression == "xz":
        return lzma.open(path, "rb")
    if compression == "zstd":
        import pyarrow as pa

        path.stat()  # raises FileNotFoundError, unlike pyarrow
        return pa.input_stream(str(path), compression="zstd", buffer_size=1 << 20)
    return open(path, "rb")


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text handle on the content of a plain or compressed file.

    Raises:
        UserError: as ``open_bytes``, or the text is not UTF-8.
    """
    with (
        open_bytes(path) as raw,
        io.TextIOWrapper(cast("IO[bytes]", raw), "utf-8") as handle,
    ):
        yield handle


def bounded_lines(path: Path, handle: TextIO) -> Iterator[str]:
    """The lines of a text without a byte order mark.

    Raises:
        UserError: (on iteration) a line is longer than the limit; it is not read whole.
    """
    readline = handle.readline
    number = 0
    while line := readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise UserError(
                f"{path}:{number}: a line of more than {MAX_LINE:,} characters"
            )
        yield line if number > 1 else line.removeprefix("\ufeff")
