"""Incremental writer of .npy files of unknown length."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np

_HEADER = 128
"""Bytes of the padded header, enough for any length."""


class ArrayWriter:
    """Writes an .npy file whose rows are appended; a context manager."""

    def __init__(self, path: Path, dtype: type | np.dtype, width: int = 0) -> None:
        """``width``: number of columns, or 0 for a one-dimensional array."""
        self.dtype, self.width, self.rows = np.dtype(dtype), width, 0
        self._handle = open(path, "wb")  # noqa: SIM115 (closed by __exit__)
        self._handle.write(bytes(_HEADER))

    def append(self, rows: np.ndarray) -> None:
        """Append rows of the array's type and width."""
        block = np.ascontiguousarray(rows, self.dtype)
        self._handle.write(block.reshape(-1).view(np.uint8).data)
        self.rows += len(block)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._handle:
            if error_type is None:
                shape = (self.rows, self.width) if self.width else (self.rows,)
                text = repr(
                    {
                        "descr": np.lib.format.dtype_to_descr(self.dtype),
                        "fortran_order": False,
                        "shape": shape,
                    }
                )
                filled = text.ljust(_HEADER - 11).encode("latin-1") + b"\n"
                size = (_HEADER - 10).to_bytes(2, "little")
                self._handle.seek(0)
                self._handle.write(b"\x93NUMPY\x01\x00" + size + filled)
