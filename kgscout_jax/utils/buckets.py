"""Static widths for shapes that vary, so that a jitted function compiles seldom."""

from __future__ import annotations

SMALLEST = 32
"""The narrowest bucket."""


def bucket(size: int, largest: int) -> int:
    """The next power of two from ``SMALLEST`` up, but at most ``largest``."""
    width = SMALLEST
    while width < size:
        width *= 2
    return max(min(width, largest), 1)
