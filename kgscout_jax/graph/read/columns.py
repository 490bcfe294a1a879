"""Exact readers of TSV and CSV files: three columns with an optional header."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.streams import open_text
from kgscout_jax.types import Triplet

HEADERS = (("head", "relation", "tail"), ("subject", "predicate", "object"))
"""Column names of a header, in any case and order."""


def column_order(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Positions of head, relation and tail if these cells name them, else None."""
    lowered = [cell.strip().lower() for cell in cells]
    for header in HEADERS:
        if all(name in lowered for name in header):
            head, relation, tail = map(lowered.index, header)
            return head, relation, tail
    return None


def read_tsv(path: Path) -> Iterator[Triplet]:
    """The triplets of a tab-separated file; quotes are ordinary letters."""
    return _triplets(path, "\t", "tab-separated")


def read_csv(path: Path) -> Iterator[Triplet]:
    """The triplets of a comma-separated file, quoted as spreadsheets do."""
    return _triplets(path, ",", "comma-separated")


def numbered_rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of the rows of a text table, without blank lines.

    Comma-separated cells may be quoted. A byte order mark is removed.

    Raises:
        UserError: (on iteration) the file is missing, not text or not valid CSV.
    """
    with open_text(path) as handle:
        if separator == ",":
            csv.field_size_limit(sys.maxsize)  # a cell may be a long text
            reader = csv.reader(handle, strict=True)
            rows = ((reader.line_num, row) for row in reader if row)
        else:
            reader = None
            rows = (
                (number, line.rstrip("\n").split(separator))
                for number, line in enumerate(handle, start=1)
                if line.strip()
            )
        first = True
        try:
            for number, cells in rows:
                if first:
                    cells[0], first = cells[0].removeprefix("\ufeff"), False
                yield number, cells
        except csv.Error as error:
            line = reader.line_num if reader else 0
            raise UserError(f"{path}:{line}: not valid CSV ({error})") from None


def _triplets(path: Path, separator: str, separation: str) -> Iterator[Triplet]:
    """Rows as head, relation, tail; a header is skipped."""
    h, r, t = 0, 1, 2
    first, empty = True, True
    for number, cells in numbered_rows(path, separator):
        if len(cells) != 3:
            raise UserError(
                f"{path}:{number}: expected 3 {separation} columns, found {len(cells)}"
            )
        order = column_order(cells) if first else None
        first = False
        if order:
            h, r, t = order
            continue
        head, relation, tail = cells[h], cells[r], cells[t]
        if not (head.strip() and relation.strip() and tail.strip()):
            raise UserError(f"{path}:{number}: {_blank(head, relation)} is empty")
        empty = False
        yield head, relation, tail
    if empty:
        raise UserError(f"{path}: holds no triplets")


def _blank(head: str, relation: str) -> str:
    """The name of the blank one of the three."""
    if not head.strip():
        return "the head"
    return "the tail" if relation.strip() else "the relation"
