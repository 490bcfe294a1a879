"""Exact readers of text tables: a triplet a row, with an optional header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.dialect import Dialect, comment_lines, is_comment
from kgscout_jax.graph.read.edge_rows import edge_row, named_ends
from kgscout_jax.graph.read.find_layout import table_layout
from kgscout_jax.graph.read.header_files import header_line
from kgscout_jax.graph.read.layout import Layout, property_name, wrong_width
from kgscout_jax.graph.read.options import (
    MAX_LINE,
    MAX_NAME,
    ReadOptions,
    check_name,
    tell_missing,
)
from kgscout_jax.graph.read.rdf_labels import LabelSink
from kgscout_jax.graph.read.streams import bounded_lines, open_text
from kgscout_jax.graph.read.table_terms import plain_term
from kgscout_jax.types import Triplet


def read_tsv(path: Path) -> Iterator[Triplet]:
    """The triplets of a tab-separated file with or without a canonical header."""
    yield from table_triplets(path, table_layout(path, ReadOptions()))


class _RowLines:
    """Lines for a CSV reader, which ends a row that grows without end."""

    def __init__(self, path: Path, lines: Iterable[str]) -> None:
        self._path, self._lines = path, iter(lines)
        self.number = self.size = 0

    def __iter__(self) -> _RowLines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self.size += len(line)
        if self.size > MAX_LINE:
            raise UserError(
                f"{self._path}:{self.number}: a row of more than {MAX_LINE:,} "
                "characters; a quote may be missing"
            )
        return line


def dialect_rows(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of the rows of a text table, without blank ones.

    A byte order mark is removed, and comments above the table. A header in a file of
    its own is line 0.

    Raises:
        UserError: (on iteration) the file is missing, not text, not valid CSV, or has
            a row over the limit.
    """
    header = header_line(path)
    first = 0 if header else 1
    with open_text(path) as handle:
        lines = chain([header] if header else [], bounded_lines(path, handle))
        lines, left_out = _without_comments(lines)
        first += left_out
        if dialect.quoted:
            rows = _quoted_rows(path, lines, dialect.separator)
            for number, cells in rows:
                if any(map(str.strip, cells)):
                    yield number - 1 + first, cells
        else:
            for number, line in enumerate(lines, start=first):
                if line.strip().strip(dialect.separator).strip():
                    for cells in dialect.cells(line):
                        yield number, cells


def _without_comments(lines: Iterator[str]) -> tuple[Iterator[str], int]:
    """The lines without the comments above a table, and the number of these."""
    marked: list[str] = []
    for line in lines:
        marked.append(line)
        if not is_comment(line):
            break
    count = comment_lines(marked)
    return chain(marked[count:], lines), count


def _quoted_rows(
    path: Path, lines: Iterable[str], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """Rows whose cells may be in quotes."""
    csv.field_size_limit(MAX_NAME)
    source = _RowLines(path, lines)
    reader = csv.reader(source, delimiter=separator, strict=True)
    first = 1
    try:
        for row in reader:
            source.size = 0
            first = reader.line_num + 1
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        problem = f"not valid CSV ({error})"
        if "field limit" in str(error):
            problem = f"a name of more than {MAX_NAME:,} characters"
        elif "unexpected end" in str(error):
            raise UserError(
                f"{path}:{first}: not valid CSV (a quote opens in this row and never "
                "closes)"
            ) from None
        raise UserError(f"{path}:{reader.line_num}: {problem}") from None


def numbered_rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows as ``dialect_rows``; comma-separated cells may be quoted."""
    return dialect_rows(path, Dialect(separator, separator == ","))


def table_triplets(
    path: Path,
    layout: Layout,
    *,
    properties: Sequence[int] = (),
    missing: Collection[str] = (),
    labels: LabelSink | None = None,
) -> Iterator[Triplet]:
    """Rows as head, relation, tail; a header is skipped.

    Below a header, a row without a tail has no value, which is left out as one of
    ``missing`` is.

    Args:
        path: the file.
        layout: its columns.
        properties: further columns that become triplets, see ``edge_row``.
        missing: values that stand for none; rows with one at an end are left out, and
            the log has their number.
        labels: receives the names of ids that stand in columns of their own; None: they
            take the places of the ids.
    """
    h, r, t, width = layout.head, layout.relation, layout.tail, layout.width
    constant = layout.constant
    skip, empty = layout.skip_first, True
    ends = named_ends(layout.header, h, t)
    left_out: Counter[str] = Counter()
    for number, cells in dialect_rows(path, layout.dialect):
        if len(cells) != width:
            problem = wrong_width(layout, number, len(cells))
            raise UserError(f"{path}:{number}: {problem}")
        if skip:
            skip = False
            continue
        head, relation, tail = cells[h], constant or cells[r], cells[t]
        no_value = bool(layout.header and not tail.strip())
        if not (head.strip() and relation.strip() and (tail.strip() or no_value)):
            raise UserError(f"{path}:{number}: {blank(head, relation)}")
        if len(head) + len(relation) + len(tail) > MAX_NAME:
            for name in (head, relation, tail):
                check_name(name, f"{path}:{number}")
        if layout.named:
            head, relation, tail = _named(layout, cells, (head, relation, tail), labels)
        empty = False
        if no_value or head in missing or tail in missing:
            left_out[head if head in missing else tail.strip() or "empty"] += 1
            continue
        yield head, relation, tail
        if properties:
            values = [
                (property_name(layout.header[i]), cells[i])
                for i in properties
                if cells[i] not in missing
            ]
            said = ("", relation) if layout.dated else ends
            yield from edge_row(path, number, said, (head, relation, tail), values)
    if empty:
        raise UserError(f"{path}: holds no triplets")
    tell_missing(path, left_out)


def _named(
    layout: Layout, cells: list[str], triplet: Triplet, labels: LabelSink | None
) -> Triplet:
    """A row of ids whose names stand in other columns, with those of relations.

    Ids of entities stay, and ``labels`` receives their names.
    """
    h, r, t = (
        "" if place is None else plain_term(cells[place]).strip()
        for place in layout.named
    )
    head, relation, tail = triplet[0], r or triplet[1], triplet[2]
    if labels is None:
        return h or head, relation, t or tail
    for id, name in ((head, h), (tail, t)):
        if name and name != id:
            labels(id, name, 0)
    return head, relation, tail


def blank(head: str, relation: str) -> str:
    """Which of the three is blank, for an error."""
    if not head.strip():
        return "the head is empty"
    if relation.strip():
        return "the tail is empty"
    return (
        "the relation is empty (--columns HEAD,=NAME,TAIL gives all rows one relation)"
    )
