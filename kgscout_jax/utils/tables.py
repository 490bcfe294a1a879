"""Tables for Markdown files, aligned for reading unrendered, and for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with padded columns; all but the first are right-aligned."""
    cells = [[_escape(cell) for cell in row] for row in [header, *rows]]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    rule = [":" + "-" * (widths[0] - 1)] + ["-" * (w - 1) + ":" for w in widths[1:]]
    lines = []
    for row in [cells[0], rule, *cells[1:]]:
        first, *others = zip(row, widths, strict=True)
        padded = [first[0].ljust(first[1])] + [cell.rjust(w) for cell, w in others]
        lines.append("| " + " | ".join(padded) + " |")
    return "\n".join(lines)


def figure(
    estimate: Mapping[str, Any],
    *,
    digits: int = 3,
    interval: bool = True,
    sign: str = "",
) -> str:
    """``0.760 [0.700, 0.815]``, or a dash without a value.

    Args:
        estimate: value (or difference), low and high.
        digits: after the decimal point.
        interval: whether to write low and high.
        sign: "+" writes the sign of positive numbers too.
    """
    value = estimate.get("value", estimate.get("difference"))
    if value is None:
        return "–"
    form = f"{sign}.{digits}f"
    text = format(value, form)
    if not interval:
        return text
    return f"{text} [{estimate['low']:{form}}, {estimate['high']:{form}}]"


def console_grid(
    title: str, header: Sequence[str], left: Sequence[int] = (0,)
) -> Table:
    """An empty table for the terminal; columns not in ``left`` are right-aligned."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for i, name in enumerate(header):
        justify = "left" if i in left else "right"
        table.add_column(name, justify=justify, no_wrap=True)
    return table


def _escape(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
