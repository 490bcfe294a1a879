"""Rows of spreadsheets that are no entity: units below the header, sums at the end.

And cells that are merged over several rows, which only the first of these holds:

    Day,Stage,Act
    Friday,Lake Stage,Tarn
    ,,Bellweather

Bellweather plays on the Lake Stage on Friday too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgscout_jax.graph.read.key_columns import is_numeric
from kgscout_jax.graph.read.layout import Layout

_TOTALS = frozenset("total totals sum subtotal gesamt summe somme totale".split()) | {
    "grand total"
}
_MOST_UNIT = 12
"""Characters of the longest unit."""
_LEAST_MERGED = 0.3
"""Share of blank cells in a column from which on they are parts of others."""


def units_row(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The row of units below the header; () without one.

    It names nothing, and has words only where there are numbers below.

    Args:
        rows: below the header.
    """
    if len(rows) < 3:
        return ()
    first, *others = rows
    if first[0].strip() or not any(map(str.strip, first)):
        return ()
    for i, cell in enumerate(first):
        if cell.strip():
            below = [row[i].strip() for row in others if row[i].strip()]
            short = len(cell.strip()) <= _MOST_UNIT and not is_numeric([cell.strip()])
            if not (short and below and is_numeric(below)):
                return ()
    return first


def merged_columns(rows: Sequence[Sequence[str]]) -> int:
    """How many columns at the start have cells that are merged over several rows.

    Each has a value in the first row and many blank cells, and where it has one, those
    behind it have too. The first one says each value once, and the next is filled.

    Args:
        rows: below the header.
    """
    width = len(rows[0])
    count = 0
    for i in range(width - 1):
        cells = [row[i].strip() for row in rows]
        blank = [not cell for cell in cells]
        before = [not row[i - 1].strip() for row in rows] if i else blank
        inner = all(b for a, b in zip(blank, before, strict=True) if a)
        said = [cell for cell in cells if cell]
        once = i > 0 or len({*said}) == len(said)
        many = sum(blank) >= _LEAST_MERGED * len(rows)
        if not (cells[0] and many and inner and once):
            break
        count = i + 1
    filled = all(row[count].strip() for row in rows)
    return count if filled else 0


def entity_rows(
    rows: Iterable[tuple[int, list[str]]], layout: Layout
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table of facts with merged cells filled, without units and sums.

    Args:
        rows: numbers and cells, with the header.
        layout: of the table.
    """
    called = None if layout.nodes is None else layout.nodes.called
    last = [""] * layout.merged
    held: tuple[int, list[str]] | None = None
    for number, cells in rows:
        if layout.units and tuple(cells) == layout.units:
            continue
        if held is not None:
            yield held
        if len(cells) == layout.width:
            cells = filled(cells, last)
            last = cells[: layout.merged]
        held = number, cells
    if held is not None:
        named = called is not None and len(held[1]) == layout.width
        name = (
            held[1][called].strip().casefold() if named and called is not None else ""
        )
        if name not in _TOTALS:
            yield held


def filled(cells: Sequence[str], last: Sequence[str]) -> list[str]:
    """A row with the cells of the one before where its first ones are blank.

    >>> filled(["", "Barn", "Tarn"], ["Friday", "Lake Stage"])
    ['Friday', 'Barn', 'Tarn']
    """
    first = [new if new.strip() else old for new, old in zip(cells, last, strict=False)]
    return [*first, *cells[len(first) :]]
