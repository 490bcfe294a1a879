"""Parquet files in batches, with pyarrow imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError


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
    """The strings of an arrow array without nulls; equal ones are one object.

    Decoding each distinct string once is several times faster on triplets, and lets
    later look-ups reuse its hash.
    """
    encoded = array if is_dictionary(array.type) else array.dictionary_encode()
    try:
        distinct = encoded.dictionary.to_pylist()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason})") from None
    return [
        distinct[i] for i in encoded.indices.to_numpy(zero_copy_only=False).tolist()
    ]


def is_dictionary(kind: Any) -> bool:
    """Whether an arrow type is dictionary-encoded."""
    import pyarrow as pa

    return pa.types.is_dictionary(kind)


def is_string(kind: Any) -> bool:
    """Whether an arrow type holds strings, in any of their encodings."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def one_line(error: BaseException) -> str:
    """An exception's text with line breaks and runs of spaces removed."""
    return " ".join(str(error).split())
