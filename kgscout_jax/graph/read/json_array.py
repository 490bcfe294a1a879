"""Streaming reader of a JSON array, whose values are decoded one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.options import MAX_LINE, excerpt

CHUNK_CHARS = 1 << 16
SPACE = " \t\r\n\ufeff"
_decode = json.JSONDecoder().raw_decode


def starts_array(handle: TextIO) -> bool:
    """Whether a text, of which the start is read, is one array, no array a line.

    An array that begins with text is a triplet.
    """
    start = handle.read(CHUNK_CHARS).lstrip(SPACE)
    return start.startswith("[") and not start[1:].lstrip(SPACE).startswith('"')


def array_values(path: Path, handle: TextIO) -> Iterator[tuple[int, Any]]:
    """(line number from 1, value) of the values of the array that a text is.

    Raises:
        UserError: (on iteration) the text is no array, goes on behind it, or holds a
            value over the limit.
    """
    text = JsonText(path, handle)
    yield from text.array()
    text.take("")


class JsonText:
    """The part of a text that is not decoded yet."""

    def __init__(self, path: Path, handle: TextIO) -> None:
        self.line = 1
        self._path, self._handle, self._rest = path, handle, ""

    def first(self) -> str:
        """The first character behind spaces; "" at the end."""
        while True:
            self._drop(len(self._rest) - len(self._rest.lstrip(SPACE)))
            if self._rest or not self._read(CHUNK_CHARS):
                return self._rest[:1]

    def array(self) -> Iterator[tuple[int, Any]]:
        """(line number, value) of the values of the array that begins here."""
        self.take("[")
        if self.first() != "]":
            yield self.line, self.value()
            while self.first() == ",":
                self.take(",")
                self.first()
                yield self.line, self.value()
        self.take("]")

    def members(self) -> Iterator[str]:
        """The keys of the object that begins here; the caller decodes each value."""
        self.take("{", "object")
        while self.first() == '"':
            key = self.value()
            self.take(":", "object")
            self.first()
            yield key
            if self.first() != ",":
                break
            self.take(",", "object")
        self.take("}", "object")

    def take(self, expected: str, of: str = "array") -> None:
        """Skip this character of an array or an object; "" is the end."""
        found = self.first()
        if found != expected:
            what = {"": "the end", "]": ", or ]", "}": ", or }"}.get(expected, expected)
            where = "the end" if found == "" else excerpt(found)
            problem = f"expected {what} of a JSON {of}, found {where}"
            raise UserError(f"{self._path}:{self.line}: {problem}")
        self._drop(len(found))

    def value(self) -> Any:
        """The value that begins here."""
        while True:
            try:
                value, end = _decode(self._rest)
            except RecursionError:
                raise UserError(f"{self._path}:{self.line}: nested too deep") from None
            except ValueError as error:
                # It may go on: twice as much is decoded next.
                if not self._read(max(len(self._rest), CHUNK_CHARS)):
                    line = self.line + getattr(error, "lineno", 1) - 1
                    problem = f"not valid JSON ({getattr(error, 'msg', error)})"
                    raise UserError(f"{self._path}:{line}: {problem}") from None
                if len(self._rest) > 4 * MAX_LINE:
                    raise UserError(
                        f"{self._path}:{self.line}: not valid JSON, or a value of more "
                        f"than {MAX_LINE:,} characters"
                    ) from None
            else:
                # The next characters may be digits of the same number.
                if end == len(self._rest) and self._read(CHUNK_CHARS):
                    continue
                self._drop(end)
                return value

    def _read(self, size: int) -> bool:
        more = self._handle.read(size)
        self._rest += more
        return bool(more)

    def _drop(self, count: int) -> None:
        self.line += self._rest.count("\n", 0, count)
        self._rest = self._rest[count:]
