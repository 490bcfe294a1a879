"""TSV and CSV files: three columns, perhaps a header; exact, a line at a time."""

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
    with open_text(path) as handle:
        rows = (
            (number, line.rstrip("\n").split("\t"))
            for number, line in enumerate(handle, start=1)
            if line.strip()
        )
        yield from _three_columns(path, rows, "tab-separated")


def read_csv(path: Path) -> Iterator[Triplet]:
    """The triplets of a comma-separated file, quoted as spreadsheets do."""
    csv.field_size_limit(sys.maxsize)  # a long text is no mistake
    with open_text(path) as handle:
        reader = csv.reader(handle, strict=True)
        rows = ((reader.line_num, row) for row in reader if row)
        try:
            yield from _three_columns(path, rows, "comma-separated")
        except csv.Error as error:
            raise UserError(
                f"{path}:{reader.line_num}: not valid CSV ({error})"
            ) from None


def _three_columns(
    path: Path, rows: Iterator[tuple[int, list[str]]], separation: str
) -> Iterator[Triplet]:
    """Rows of three names in the order head, relation, tail; a header is left out."""
    h, r, t = 0, 1, 2
    first, empty = True, True
    for number, cells in rows:
        if len(cells) != 3:
            raise UserError(
                f"{path}:{number}: expected 3 {separation} columns, found {len(cells)}"
            )
        if first:
            first = False
            cells[0] = cells[0].removeprefix("\ufeff")
            if order := column_order(cells):
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
