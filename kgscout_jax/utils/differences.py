"""What tells two sets of settings apart, as a message names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flag_difference(name: str, before: object, now: object) -> str:
    """The two values of a setting, as flags.

    >>> flag_difference("max_triplets", 12, None)
    '--max-triplets 12, found none'
    >>> flag_difference("limit", None, 5)
    'no --limit, found 5'
    >>> flag_difference("seed", 0, 1)
    '--seed 0, found 1'
    """
    flag = f"--{name.replace('_', '-')}"
    start = f"no {flag}" if _is_absent(before) else f"{flag} {shown(before)}"
    return f"{start}, found {'none' if _is_absent(now) else shown(now)}"


def _is_absent(value: object) -> bool:
    """Whether a flag with this value is not given; 0 is."""
    return value is None or value is False or value in ([], ())


def first_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first setting whose values differ, as flags; None if all are equal."""
    for name in {**now, **before}:
        if before.get(name) != now.get(name):
            return flag_difference(name, before.get(name), now.get(name))
    return None


def shown(value: object) -> str:
    """A value as it stands behind a flag."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return "given" if value is True else str(value)
