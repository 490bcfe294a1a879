"""Static widths for varying shapes, to limit recompilation of jitted functions."""

from __future__ import annotations

SMALLEST = 32
"""The narrowest bucket."""


def bucket(size: int, largest: int | None = None, *, factor: int = 2) -> int:
    """The first of ``SMALLEST`` times 1, ``factor``, ... that is at least ``size``.

    It is at most ``largest``. A larger ``factor`` gives fewer widths.
    """
    width = SMALLEST
    while width < size:
        width *= factor
    return width if largest is None else max(min(width, largest), 1)
