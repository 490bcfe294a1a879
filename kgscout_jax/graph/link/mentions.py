"""Mentions that a question marks itself: ``what films did [Tom Hanks] act in``."""

from __future__ import annotations

from collections.abc import Iterator


def bracketed(text: str) -> Iterator[tuple[int, int]]:
    """(start, stop) of what stands in each outermost pair of brackets."""
    depth = start = 0
    for at, letter in enumerate(text):
        if letter == "[":
            if depth == 0:
                start = at + 1
            depth += 1
        elif letter == "]" and depth:
            depth -= 1
            if depth == 0 and text[start:at].strip():
                yield start, at
