"""Batches of triplets as arrow columns, for large graphs.

Arrow decodes TSV, CSV and parquet where it agrees with the exact readers. Elsewhere (a
quote, a damaged line, a file that arrow refuses) the exact reader continues from the
current row. It decodes the row or names the line with the error.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.read.dialect import TABLES
from kgscout_jax.graph.read.formats import file_format
from kgscout_jax.graph.read.options import MAX_NAME, MISSING, tell_missing
from kgscout_jax.graph.read.parquet import batches, open_parquet
from kgscout_jax.graph.read.streams import BROKEN, open_bytes
from kgscout_jax.graph.read.table_terms import (
    BELIEFS,
    TAGGED,
    is_naming,
    is_rdf_relation,
)
from kgscout_jax.graph.read.triplets import TripletFiles

ROWS = 1 << 16
"""Rows per batch of the exact readers."""

BLOCK_BYTES = 1 << 23
"""Bytes of a text table that are decoded at once."""

Columns = tuple[Any, Any, Any]
"""Heads, relations, tails: arrow large_string arrays of one length, without nulls."""


class _NeedsExactReader(Exception):
    """Arrow may decode this file differently from the exact reader."""


def triplet_batches(
    path: Path, files: TripletFiles | None = None, *, exact: bool = False
) -> Iterator[Columns]:
    """The triplets of one file in batches: the rows of ``TripletFiles.rows``.

    Names that are blank but not empty are not refused here. The caller detects them
    when it derives identities, and can run the exact reader to name the line.

    Args:
        path: see ``TripletFiles.rows``.
        files: the options and counts of the graph's files.
        exact: do not use arrow's decoders.

    Raises:
        UserError: (on iteration) as ``TripletFiles.rows``.
    """
    files = TripletFiles(files=[path]) if files is None else files
    suffix = file_format(path)
    rows_read = 0
    if not exact and (suffix in TABLES or suffix == ".parquet"):
        fast = _parquet(path, files) if suffix == ".parquet" else _table(path, files)
        try:
            for columns in fast:
                yield columns
                rows_read += len(columns[0])
            if rows_read:
                return
        except _NeedsExactReader:
            pass
    yield from _of_rows(itertools.islice(files.rows(path), rows_read, None))


def _of_rows(rows: Iterator[tuple[str, str, str]]) -> Iterator[Columns]:
    """Batches of single rows."""
    batch: list[tuple[str, str, str]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row[0]) + len(row[2])
        if len(batch) == ROWS or size > BLOCK_BYTES:
            yield _columns(batch)
            batch, size = [], 0
    if batch:
        yield _columns(batch)


def _columns(batch: list[tuple[str, str, str]]) -> Columns:
    """Rows as columns."""
    import pyarrow as pa

    heads, relations, tails = zip(*batch, strict=True)
    type_ = pa.large_string()
    return pa.array(heads, type_), pa.array(relations, type_), pa.array(tails, type_)


def _table(path: Path, files: TripletFiles) -> Iterator[Columns]:
    """The rows of a text table without quotes; else raises _NeedsExactReader."""
    import pyarrow as pa
    from pyarrow import csv

    pc = compute()
    try:
        layout = files.layout(path)
        plain = files.is_plain_table(path)
    except UserError:
        raise _NeedsExactReader from None
    if not plain or layout.constant or files.edge_properties(path):
        raise _NeedsExactReader
    if layout.named:
        raise _NeedsExactReader
    names = [str(i) for i in range(layout.width)]
    used = [str(i) for i in (layout.head, layout.relation, layout.tail)]
    # A quote in any column could hide a separator.
    checked = names if layout.dialect.quoted else used
    skip = layout.skip_first
    first = True
    missing, left_out = pa.array(sorted(MISSING), pa.large_string()), Counter[str]()
    try:
        with open_bytes(path) as handle:
            reader = csv.open_csv(
                handle,
                csv.ReadOptions(column_names=names, block_size=BLOCK_BYTES),
                csv.ParseOptions(delimiter=layout.dialect.separator, quote_char=False),
                csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.large_string()),
                    null_values=[],
                    strings_can_be_null=False,
                    include_columns=list(dict.fromkeys(checked)),
                ),
            )
            for batch in reader:
                if first and batch.num_rows:
                    if batch.column(0)[0].as_py().startswith("\ufeff"):
                        raise _NeedsExactReader
                    first = False
                if skip and batch.num_rows:
                    for name in batch.schema.names:
                        cell = batch.column(name)[0].as_py().strip()
                        if cell != layout.header[int(name)]:
                            raise _NeedsExactReader  # blank lines before the header
                    batch, skip = batch.slice(1), False
                if not batch.num_rows:
                    continue
                if layout.dialect.quoted and any(
                    pc.any(pc.match_substring(column, '"')).as_py()
                    for column in batch.columns
                ):
                    raise _NeedsExactReader
                columns = tuple(batch.column(name) for name in used)
                if _has_terms(*columns, named=files.labels is not None):
                    raise _NeedsExactReader
                for column in columns:
                    sizes = pc.min_max(pc.binary_length(column))
                    if not sizes["min"].as_py() or sizes["max"].as_py() > MAX_NAME:
                        raise _NeedsExactReader
                for end in (0, 2):
                    mask = pc.is_in(columns[end], missing)
                    if pc.any(mask).as_py():
                        left_out.update(columns[end].filter(mask).to_pylist())
                        columns = tuple(
                            each.filter(pc.invert(mask)) for each in columns
                        )
                if len(columns[0]):
                    yield columns
    except (UserError, ValueError, OSError, *BROKEN):
        raise _NeedsExactReader from None
    tell_missing(path, left_out)


def _has_terms(heads: Any, relations: Any, tails: Any, *, named: bool) -> bool:
    """Whether rows hold RDF terms, or (``named``) may name identifiers."""
    pc = compute()
    kinds = [each for each in pc.unique(relations).to_pylist() if each is not None]
    if any(map(is_rdf_relation, kinds)) or (named and any(map(is_naming, kinds))):
        return True
    quoted = tails.filter(pc.starts_with(tails, '"'))
    if pc.any(pc.match_substring_regex(quoted, TAGGED)).as_py():
        return True
    beliefs = pc.starts_with(heads, BELIEFS)
    return bool(pc.any(pc.or_(pc.starts_with(heads, "<"), beliefs)).as_py())


def _parquet(path: Path, files: TripletFiles) -> Iterator[Columns]:
    """The rows of a parquet file; _NeedsExactReader if a name is null or empty."""
    import pyarrow as pa

    pc = compute()
    layout = files.layout(path)
    if not files.is_plain_table(path) or layout.constant:
        raise _NeedsExactReader
    if files.edge_properties(path):
        raise _NeedsExactReader
    file = open_parquet(path)
    all_names = file.schema_arrow.names
    names = [all_names[i] for i in (layout.head, layout.relation, layout.tail)]
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
            if len(column) and pc.max(pc.binary_length(column)).as_py() > MAX_NAME:
                raise _NeedsExactReader
            columns.append(column)
        if len(columns[0]):
            yield columns[0], columns[1], columns[2]
