"""Layouts of tables that published graphs come in, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgscout_jax.graph.read.dialect import Dialect
from kgscout_jax.graph.read.header import Roles, plain
from kgscout_jax.graph.read.key_columns import is_numeric
from kgscout_jax.graph.read.layout import Layout
from kgscout_jax.text.values import is_date

_FACT_ID = re.compile(r"<id_\S+>")
_FACT_WIDTHS = (4, 5)
_TERM = re.compile(r'<[^\s<>]+>|"|\w+:\w')
"""The beginning of an RDF term."""
_ASSERTION = re.compile(r"/a/\[/r/.*\]")
_TIMES = ("date", "end_date")
"""What the columns behind a triplet are called that say when it was so."""
_SHARE = re.compile(r"0|1|0?\.\d+|1\.0+")
_YEAR = re.compile(r"[12]\d{3}")
_NAME_COLUMNS = (
    "{};label",  # KGTK
    "best_{}_literal_string",  # NELL
    "{}_label",
    "{}_name",
)
"""What columns are called that hold the names of the ids in another."""


def known_layout(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of a table of a published graph; None for another table.

    Args:
        dialect: of the table.
        rows: its first rows.
    """
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        return None
    found = _fact_columns(dialect, rows) or _assertion_columns(dialect, rows)
    found = found or _dated_columns(dialect, rows)
    return found or _scored_columns(dialect, rows)


def name_columns(header: Sequence[str], roles: Roles) -> tuple[int | None, ...]:
    """The columns with the names of heads, relations and tails; () where none has.

    >>> name_columns(["node1", "label", "node2", "node2;label"], Roles(0, 1, 2))
    (None, None, 3)
    """
    names = [*map(plain, header)]
    used = (roles.head, roles.relation, roles.tail)
    places = []
    for place in used:
        wanted = [pattern.format(names[place]) for pattern in _NAME_COLUMNS]
        found = (names.index(name) for name in wanted if name in names)
        places.append(next((i for i in found if i not in used), None))
    return () if places == [None] * 3 else (*places,)


def _fact_columns(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of a table of YAGO: a fact's id, the fact, and often its value."""
    width = len(rows[0])
    if width not in _FACT_WIDTHS:
        return None
    terms = all(not row[0] or _FACT_ID.fullmatch(row[0]) for row in rows) and all(
        _TERM.match(cell) for row in rows for cell in row[1:4]
    )
    return Layout(dialect, 1, 2, 3, width=width, sample=list(rows)) if terms else None


def _assertion_columns(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of a table of ConceptNet: an assertion, its relation, its two ends."""
    if len(rows[0]) != 5 or not all(_ASSERTION.fullmatch(row[0]) for row in rows):
        return None
    return Layout(dialect, 2, 1, 3, width=5, sample=list(rows))


def _dated_columns(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of triplets with a date, or two, as temporal graphs have them."""
    times = len(rows[0]) - 3
    if times not in (1, 2) or len(rows) < 2:
        return None
    cells = [cell.strip() for row in rows for cell in row[3:] if cell.strip(" -#")]
    days = all(map(is_date, cells))
    if not cells or not (days or all(map(_YEAR.fullmatch, cells))):
        return None
    repeated = 2 * len({row[1] for row in rows}) <= len(rows)
    words = not any(map(is_numeric, list(zip(*rows, strict=True))[:3]))
    if not words or not (days or repeated):
        return None
    header = ("", "", "", *_TIMES[:times])
    return Layout(
        dialect, header=header, width=3 + times, dated=True, sample=list(rows[:4])
    )


def _scored_columns(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of triplets behind or before how sure they are: of Open IE."""
    if len(rows[0]) != 4:
        return None
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    for score, first in ((0, 1), (3, 0)):
        shares = columns[score]
        scored = all(map(_SHARE.fullmatch, shares)) and any("." in s for s in shares)
        if scored and not any(map(is_numeric, columns[first : first + 3])):
            return Layout(
                dialect, first, first + 1, first + 2, width=4, sample=list(rows[:4])
            )
    return None
