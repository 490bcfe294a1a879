"""The names of rows that have none: of a table of events, or of a list of edges."""

from __future__ import annotations

import re
from pathlib import Path

from kgscout_jax.graph.read.streams import inner_name

_ROW = re.compile(r"_:([^:]+):\d")


def row_id(path: Path, number: int | str) -> str:
    """The id of a row without a name, which is no name either.

    >>> row_id(Path("data/matches.csv.gz"), 2)
    '_:matches:2'
    """
    return f"_:{Path(inner_name(path)).stem}:{number}"


def table_of_row(name: str) -> str | None:
    """The table that the id of a row names; None for other names.

    >>> table_of_row("_:matches:2"), table_of_row("_:b0")
    ('matches', None)
    """
    match = _ROW.match(name)
    return match[1] if match else None
