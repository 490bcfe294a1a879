"""Checksums of the blocks of a memory-mapped file, compared when a block is first read.

A large file is neither read on opening nor trusted: whoever reads a range of it calls
``BlockChecksums.check`` first. A block costs microseconds, once per process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Int64, UInt32

from kgscout_jax.errors import UserError
from kgscout_jax.utils.ragged import ranges

BLOCK_BYTES = 1 << 13
"""Bytes of a block: two pages, so that reading one row reads little else."""
_BLOCKS_AT_ONCE = 1 << 10


def block_checksums(path: Path) -> UInt32[np.ndarray, "n"]:
    """The CRC-32 of each block of a file; the last one may be shorter."""
    sums = []
    with open(path, "rb") as handle:
        while chunk := handle.read(BLOCK_BYTES * _BLOCKS_AT_ONCE):
            view = memoryview(chunk)
            sums += [
                zlib.crc32(view[low : low + BLOCK_BYTES])
                for low in range(0, len(view), BLOCK_BYTES)
            ]
    return np.array(sums, np.uint32)


class BlockChecksums:
    """Compares the blocks of a file with their checksums, each once."""

    def __init__(self, path: Path, checksums: UInt32[np.ndarray, "n"]) -> None:
        """Map a file.

        Raises:
            UserError: the number of checksums is not that of the file's blocks.
        """
        size = path.stat().st_size
        if len(checksums) != -(-size // BLOCK_BYTES):
            raise UserError(
                f"{path}: damaged: {size} bytes, but checksums of {len(checksums)} "
                f"blocks of {BLOCK_BYTES}"
            )
        self.path, self.size = path, size
        self._checksums = checksums
        empty = np.empty(0, np.uint8)
        self._bytes = np.asarray(np.memmap(path, np.uint8, "r")) if size else empty
        self._good = np.zeros(len(checksums), bool)

    def check(self, starts: int | np.ndarray, stops: int | np.ndarray) -> None:
        """Compare the blocks of the byte ranges ``starts`` to ``stops``.

        Raises:
            UserError: a block is damaged.
        """
        if isinstance(starts, int) and isinstance(stops, int):
            blocks = slice(starts // BLOCK_BYTES, -(-stops // BLOCK_BYTES))
            if stops <= self.size and self._good[blocks].all():
                return
        low, high = np.atleast_1d(starts), np.atleast_1d(stops)
        real = high > low
        first = low[real] // BLOCK_BYTES
        last = (high[real] - 1) // BLOCK_BYTES
        if len(last) and (first.min() < 0 or last.max() >= len(self._good)):
            raise UserError(f"{self.path}: damaged: what refers to it points beyond it")
        for blocks in _pieces(first, last):
            for block in np.unique(blocks[~self._good[blocks]]).tolist():
                begin = block * BLOCK_BYTES
                raw = self._bytes[begin : begin + BLOCK_BYTES]
                if zlib.crc32(raw.tobytes()) != int(self._checksums[block]):
                    raise UserError(
                        f"{self.path}: damaged: bytes {begin} to {begin + len(raw)} "
                        "differ from their checksum; write the folder again"
                    )
                self._good[block] = True


def _pieces(first: np.ndarray, last: np.ndarray) -> Iterator[Int64[np.ndarray, "k"]]:
    """The blocks of ranges, a bounded number of ranges at once."""
    for low in range(0, len(first), 1 << 16):
        part = first[low : low + (1 << 16)].astype(np.int64)
        yield ranges(part, last[low : low + (1 << 16)] - part + 1)
