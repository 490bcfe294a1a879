"""A text in chunks: whole paragraphs, or whole sentences of a long one."""

from __future__ import annotations

import re

PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")


def ranges(separator: re.Pattern[str], text: str, start: int, end: int):
    """(first character, end) of the parts of ``text[start:end]``, in order."""
    first = start
    for match in separator.finditer(text, start, end):
        if match.start() > first:
            yield first, match.start()
        first = match.end()
    if end > first:
        yield first, end


def paragraphs(text: str) -> list[tuple[int, int]]:
    """(first character, end) of each paragraph."""
    return list(ranges(PARAGRAPH, text, 0, len(text)))


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(first character, end) of each sentence within a range, by punctuation."""
    parts = ranges(PARAGRAPH, text, start, end)
    return [each for a, b in parts for each in ranges(SENTENCE_END, text, a, b)]


def chunk_ranges(text: str, size: int) -> tuple[tuple[int, int], ...]:
    """(first character, end) of each chunk of at most about ``size`` characters.

    A sentence that is longer is a chunk of its own.
    """
    pieces = []
    for start, end in paragraphs(text):
        if end - start <= size:
            pieces.append((start, end))
        else:
            pieces += sentences(text, start, end)
    chunks: list[tuple[int, int]] = []
    for start, end in pieces:
        if not text[start:end].strip():
            continue
        if chunks and end - chunks[-1][0] <= size:
            chunks[-1] = chunks[-1][0], end
        else:
            chunks.append((start, end))
    return tuple(chunks)
