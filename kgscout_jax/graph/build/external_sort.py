"""Sorting more keys than fit in memory: sorted runs on disk, then one merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import UInt64

STRIDE = 1024
"""One key in this many is sampled in memory, to locate cuts of a run."""


class Runs:
    """Unsigned 64-bit keys in sorted runs, one file each; ``merged`` sorts them all."""

    def __init__(self, folder: Path, name: str, rows: int) -> None:
        """``rows``: approximate number of keys of a merged block."""
        self._folder, self._name, self._rows = folder, name, rows
        self._stride = max(1, min(STRIDE, rows // 4))
        self._files: list[Path] = []
        self._sizes: list[int] = []
        self._samples: list[UInt64[np.ndarray, "s"]] = []

    def __len__(self) -> int:
        """The number of keys in all runs."""
        return sum(self._sizes)

    def add(self, keys: UInt64[np.ndarray, "n"]) -> None:
        """Sort ``keys`` (in place) and write them as a run."""
        if len(keys):
            keys.sort()
            self.add_sorted([keys])

    def add_sorted(self, blocks: Iterable[UInt64[np.ndarray, "n"]]) -> None:
        """Write blocks that ascend, within and across blocks, as one run."""
        path = self._folder / f"{self._name}-{len(self._files)}.run"
        size, samples = 0, []
        with open(path, "wb") as handle:
            for keys in blocks:
                handle.write(np.ascontiguousarray(keys).data)
                samples.append(
                    keys[self._stride - 1 - size % self._stride :: self._stride]
                )
                size += len(keys)
        self._files.append(path)
        self._sizes.append(size)
        self._samples.append(np.concatenate([*samples, np.empty(0, np.uint64)]))

    def merged(self) -> Iterator[UInt64[np.ndarray, "n"]]:
        """All keys, ascending, in blocks; equal keys are never in two blocks.

        A block is larger than ``rows`` if more keys than that are equal. Run files
        are deleted at the end.
        """
        samples = np.sort(np.concatenate([*self._samples, np.empty(0, np.uint64)]))
        step = max(1, self._rows // self._stride)
        pivots = np.unique(samples[step - 1 :: step])
        ends = [self._cuts(k, pivots) for k in range(len(self._files))]
        before = [0] * len(self._files)
        for i in range(len(pivots) + 1):
            blocks = []
            for k, stops in enumerate(ends):
                blocks.append(self._read(k, before[k], stops[i] - before[k]))
                before[k] = stops[i]
            block = np.concatenate([*blocks, np.empty(0, np.uint64)])
            if len(block):
                block.sort()
                yield block
        for path in self._files:
            path.unlink()

    def _read(self, k: int, start: int, count: int) -> UInt64[np.ndarray, "n"]:
        """Keys of a run. Opens the file per read: runs may outnumber file handles."""
        return np.fromfile(self._files[k], np.uint64, count, offset=8 * start)

    def _cuts(self, k: int, pivots: UInt64[np.ndarray, "p"]) -> list[int]:
        """The number of keys of run ``k`` up to each pivot; then its size."""
        out = []
        near = np.searchsorted(self._samples[k], pivots, side="right") * self._stride
        for pivot, start in zip(pivots, near.tolist(), strict=True):
            keys = self._read(k, start, self._stride)
            out.append(start + int(np.searchsorted(keys, pivot, side="right")))
        return [*out, self._sizes[k]]
