"""Parquet files in batches, with pyarrow imported on first use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.edge_rows import edge_row, named_ends
from kgscout_jax.graph.read.layout import Layout, property_name
from kgscout_jax.graph.read.options import MAX_NAME, check_name, tell_missing
from kgscout_jax.graph.read.streams import one_line
from kgscout_jax.types import Triplet

PARQUET_ROWS = 1 << 16
"""Rows decoded at once."""


def open_parquet(path: Path) -> Any:
    """A pyarrow.parquet.ParquetFile.

    Raises:
        UserError: the file is missing, no parquet, or pyarrow is not installed.
    """
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise UserError(
            f"{path}: reading parquet needs pyarrow (pip install pyarrow)"
        ) from None
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        with open(path, "rb") as handle:
            if handle.read(24).startswith(b"version https://git-lfs"):
                raise UserError(
                    f"{path}: a git-lfs pointer, not the parquet file itself (run "
                    "git lfs pull)"
                )
        return pq.ParquetFile(path)
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise UserError(f"{path}: not a parquet file ({one_line(error)})") from None


def batches(path: Path, file: Any, columns: Sequence[str], size: int) -> Iterator[Any]:
    """Record batches of at most ``size`` rows with these columns.

    Raises:
        UserError: the file is damaged.
    """
    iterator = file.iter_batches(batch_size=size, columns=list(columns))
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: damaged ({one_line(error)})") from None
        yield batch


def strings(path: Path, array: Any) -> list[str]:
    """An arrow array of names without nulls as text; equal names are one object.

    Decoding each distinct string once is several times faster on triplets, and later
    look-ups reuse its hash.
    """
    encoded = array if is_dictionary(array.type) else array.dictionary_encode()
    distinct = texts(path, encoded.dictionary)
    return [
        distinct[i] for i in encoded.indices.to_numpy(zero_copy_only=False).tolist()
    ]


def texts(path: Path, array: Any) -> list[str]:
    """The values of an arrow array as text; a null or NaN is empty."""
    return ["" if v is None or v != v else str(v) for v in _values(path, array)]


def _values(path: Path, array: Any) -> list[Any]:
    """The values of an arrow array."""
    try:
        return array.to_pylist()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason})") from None


def is_dictionary(type_: Any) -> bool:
    """Whether an arrow type is dictionary-encoded."""
    import pyarrow as pa

    return pa.types.is_dictionary(type_)


def is_name(type_: Any) -> bool:
    """Whether an arrow type can name a node: strings and integers."""
    import pyarrow as pa

    return is_string(type_) or pa.types.is_integer(type_)


def is_string(type_: Any) -> bool:
    """Whether an arrow type holds strings, in any of their encodings."""
    import pyarrow as pa

    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return (
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


def read_parquet(
    path: Path, layout: Layout, *, properties: Sequence[int] = ()
) -> Iterator[Triplet]:
    """The triplets of a parquet file; those whose tail is null are left out, and told.

    Args:
        path: the file.
        layout: its columns.
        properties: further columns that become triplets, see ``edge_row``.
    """
    file = open_parquet(path)
    names = file.schema_arrow.names
    extra = [names[i] for i in properties]
    columns = [names[i] for i in (layout.head, layout.relation, layout.tail)]
    ends, before = named_ends(names, layout.head, layout.tail), 0
    left_out: Counter[str] = Counter()
    for batch in batches(path, file, [*columns, *extra], PARQUET_ROWS):
        valid = batch.column(columns[2]).is_valid()
        numbers = np.flatnonzero(valid.to_numpy(zero_copy_only=False)) + before + 1
        before += batch.num_rows
        if len(numbers) < batch.num_rows:
            left_out["null"] += batch.num_rows - len(numbers)
            batch = batch.filter(valid)
        heads, relations, tails = (
            _cells(path, batch, column, numbers) for column in columns
        )
        if layout.constant:
            relations = [layout.constant] * batch.num_rows
        triplets = zip(heads, relations, tails, strict=True)
        if not extra:
            yield from triplets
            continue
        values = [texts(path, batch.column(name)) for name in extra]
        keys = [*map(property_name, extra)]
        rows = zip(triplets, zip(*values, strict=True), strict=True)
        for number, (triplet, row) in zip(numbers.tolist(), rows, strict=True):
            yield triplet
            pairs = zip(keys, row, strict=True)
            yield from edge_row(path, number, ends, triplet, pairs)
    if not before:
        raise UserError(f"{path}: holds no triplets")
    tell_missing(path, left_out)


def parquet_rows(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """(row, cells as text) of a parquet file.

    Cells are empty where the header of the layout is.
    """
    file = open_parquet(path)
    names = [name for name in layout.header if name]
    row = 0
    for batch in batches(path, file, names, PARQUET_ROWS):
        empty = [""] * batch.num_rows
        columns = [
            texts(path, batch.column(name)) if name else empty for name in layout.header
        ]
        for cells in zip(*columns, strict=True):
            row += 1
            yield row, list(cells)


def _cells(
    path: Path, batch: Any, column: str, numbers: Int[np.ndarray, "r"]
) -> list[str]:
    """The names in a column of a batch, whose rows have these numbers in the file."""
    array = batch.column(column)
    if array.null_count:
        row = numbers[array.is_null().to_pylist().index(True)]
        raise UserError(f"{path}: row {row}: column {column!r} is null")
    values = strings(path, array)
    if not all(map(str.strip, values)):
        row = numbers[next(i for i, v in enumerate(values) if not v.strip())]
        raise UserError(f"{path}: row {row}: column {column!r} is empty")
    if max(map(len, values), default=0) > MAX_NAME:
        row = next(i for i, v in enumerate(values) if len(v) > MAX_NAME)
        check_name(values[row], f"{path}: row {numbers[row]}")
    return values
