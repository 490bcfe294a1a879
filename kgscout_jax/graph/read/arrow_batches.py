"""Batches of triplets as arrow columns, for large graphs.

Arrow decodes TSV, CSV and parquet where it agrees with the exact readers. Elsewhere (a
quote, a damaged line, a file that arrow refuses) the exact reader continues from the
current row. It decodes the row or names the line with the error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.read.columns import column_order
from kgscout_jax.graph.read.parquet import batches, open_parquet, triplet_columns
from kgscout_jax.graph.read.streams import BROKEN, open_bytes
from kgscout_jax.graph.read.triplets import TABLES, file_format, read_triplets

ROWS = 1 << 16
"""Rows per batch of the exact readers."""

BLOCK_BYTES = 1 << 23
"""Bytes of a text table that are decoded at once."""

Columns = tuple[Any, Any, Any]
"""Heads, relations, tails: arrow large_string arrays of one length, without nulls."""


class _NeedsExactReader(Exception):
    """Arrow may decode this file differently from the exact reader."""


def triplet_batches(
    path: Path,
    notes: dict[str, int] | None = None,
    language: str | None = None,
    *,
    exact: bool = False,
) -> Iterator[Columns]:
    """The triplets of one file in batches: the rows of ``read_triplets``.

    Names that are blank but not empty are not refused here. The caller detects them
    when it derives identities, and can run ``read_triplets`` to name the line.

    Args:
        path: see ``read_triplets``; also notes and language.
        exact: do not use arrow's decoders.

    Raises:
        UserError: (on iteration) as ``read_triplets``.
    """
    notes = {} if notes is None else notes
    suffix = file_format(path)
    rows_read = 0
    if not exact and (suffix in TABLES or suffix == ".parquet"):
        parquet = suffix == ".parquet"
        fast = _parquet(path) if parquet else _table(path, TABLES[suffix])
        try:
            for columns in fast:
                yield columns
                rows_read += len(columns[0])
            if rows_read:
                return
        except _NeedsExactReader:
            pass
    rows = itertools.islice(read_triplets(path, notes, language), rows_read, None)
    yield from _of_rows(rows)


def _of_rows(rows: Iterator[tuple[str, str, str]]) -> Iterator[Columns]:
    """Batches of single rows."""
    import pyarrow as pa

    while batch := list(itertools.islice(rows, ROWS)):
        heads, relations, tails = zip(*batch, strict=True)
        type_ = pa.large_string()
        yield pa.array(heads, type_), pa.array(relations, type_), pa.array(tails, type_)


def _table(path: Path, delimiter: str) -> Iterator[Columns]:
    """The rows of a TSV or CSV file without quotes; else raises _NeedsExactReader."""
    import pyarrow as pa
    from pyarrow import csv

    pc = compute()
    names = ["head", "relation", "tail"]
    order: tuple[int, int, int] | None = None
    try:
        with open_bytes(path) as handle:
            reader = csv.open_csv(
                handle,
                csv.ReadOptions(column_names=names, block_size=BLOCK_BYTES),
                csv.ParseOptions(delimiter=delimiter, quote_char=False),
                csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.large_string()),
                    null_values=[],
                    strings_can_be_null=False,
                ),
            )
            for batch in reader:
                columns = batch.columns
                if order is None and batch.num_rows:
                    cells = [column[0].as_py() for column in columns]
                    if cells[0].startswith("\ufeff"):
                        raise _NeedsExactReader
                    order = column_order(cells)
                    if order:
                        columns = [column.slice(1) for column in columns]
                    else:
                        order = (0, 1, 2)
                if order is None or not len(columns[0]):
                    continue
                for column in columns:
                    shortest = pc.min(pc.binary_length(column)).as_py()
                    if not shortest or (
                        delimiter == ","
                        and pc.any(pc.match_substring(column, '"')).as_py()
                    ):
                        raise _NeedsExactReader
                yield columns[order[0]], columns[order[1]], columns[order[2]]
    except (UserError, ValueError, OSError, *BROKEN):
        raise _NeedsExactReader from None


def _parquet(path: Path) -> Iterator[Columns]:
    """The rows of a parquet file; _NeedsExactReader if a name is null or empty."""
    import pyarrow as pa

    pc = compute()
    file = open_parquet(path)
    names = triplet_columns(path, file)
    for batch in batches(path, file, names, ROWS):
        columns = []
        for name in names:
            column = batch.column(name)
            try:
                column = column.cast(pa.large_string())
                column.validate(full=True)  # parquet does not promise UTF-8
            except (ValueError, NotImplementedError):
                raise _NeedsExactReader from None
            if column.null_count or (
                len(column) and not pc.min(pc.binary_length(column)).as_py()
            ):
                raise _NeedsExactReader
            columns.append(column)
        if len(columns[0]):
            yield columns[0], columns[1], columns[2]
