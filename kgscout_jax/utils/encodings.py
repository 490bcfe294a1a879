"""Where a file that should be UTF-8 is not."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import IO

from kgscout_jax.errors import UserError

CHUNK_BYTES = 1 << 16
MARKS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
"""What a file of another encoding begins with."""
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
"""What files of these formats begin with."""


def not_utf8(path: Path, handle: IO[bytes]) -> UserError:
    """The error of a file that is not UTF-8: what it is, or the first such line.

    Args:
        path: the name of the file.
        handle: its bytes, decompressed, from the start.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = io.IncrementalNewlineDecoder(decoder, translate=True)
    line, start = 1, True
    while True:
        chunk = handle.read(CHUNK_BYTES)
        if start and (found := _file_kind(path, chunk)):
            return UserError(f"{path}: {found}")
        start = False
        try:
            line += lines.decode(chunk, final=not chunk).count("\n")
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode("utf-8")
            line += before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
            return UserError(
                f"{path}:{line}: not UTF-8 text (byte 0x{error.object[error.start]:02x}"
                "); a table of Windows is converted by iconv -f WINDOWS-1252 -t UTF-8"
            )
        if not chunk:  # the file was changed meanwhile
            return UserError(f"{path}: not UTF-8 text")


def _file_kind(path: Path, start: bytes) -> str | None:
    """What a file is by its first bytes, and a remedy; None if it may be text."""
    if encoding := MARKS.get(start[:2]):
        return (
            f"{encoding} text, expected UTF-8; it is converted by iconv -f {encoding} "
            "-t UTF-8"
        )
    if start.startswith(GZIP):
        return f"a gzip file, expected UTF-8 text; rename it to {path.name}.gz"
    if start.startswith(ZIP):
        return "a zip or Excel file, expected UTF-8 text; export it as CSV"
    return "binary, expected UTF-8 text" if b"\0" in start else None
