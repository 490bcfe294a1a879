"""Short names of paths."""

from __future__ import annotations

from collections.abc import Sequence


def short_names(paths: Sequence[str]) -> list[str]:
    """The last parts of paths, as many as tell them apart."""
    split = [path.rstrip("/").split("/") for path in paths]
    for n in range(1, max(map(len, split), default=1) + 1):
        names = ["/".join(parts[-n:]) for parts in split]
        if len(set(names)) == len(names):
            return names
    return list(paths)
