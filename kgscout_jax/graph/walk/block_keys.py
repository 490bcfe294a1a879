"""Sets of int64 keys block * width + id below a known bound.

If the bound is small enough, tables replace sorting and searching, which is several
times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int32, Int64

BITMAP_CELLS = 1 << 27
"""Up to this many possible keys a bitmap (128 MB) is used, else a sort."""
CELLS_PER_KEY = 64
"""With more possible keys per key than this, sorting is faster."""


def node_keys(
    nodes: Sequence[Int32[np.ndarray, "t"]], n_entities: int
) -> Int64[np.ndarray, "k"]:
    """Keys block * n_entities + entity of each block's ``nodes``, in order."""
    blocks = np.repeat(np.arange(len(nodes)), [len(row) for row in nodes])
    flat = np.concatenate([*nodes, np.empty(0, np.int32)]).astype(np.int64)
    return blocks * n_entities + flat


def unique_keys(keys: Int64[np.ndarray, "n"], cells: int) -> Int64[np.ndarray, "k"]:
    """The distinct keys, ascending; all keys are below ``cells``."""
    if cells <= min(BITMAP_CELLS, CELLS_PER_KEY * len(keys)):
        present = np.zeros(cells, bool)
        present[keys] = True
        return np.flatnonzero(present)
    ranked = np.sort(keys)
    new = np.ones(len(ranked), bool)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    return ranked[new]


def positions(
    sorted_keys: Int64[np.ndarray, "k"], keys: Int64[np.ndarray, "*n"], cells: int
) -> Int64[np.ndarray, "*n"]:
    """The position of each key in ``sorted_keys``, which must contain all of them."""
    if cells <= min(BITMAP_CELLS // 8, CELLS_PER_KEY * len(keys)):
        table = np.empty(cells, np.int64)
        table[sorted_keys] = np.arange(len(sorted_keys))
        return table[keys]
    return np.searchsorted(sorted_keys, keys)


def blocks_of(
    keys: Int64[np.ndarray, "n"], n_blocks: int, width: int
) -> Int64[np.ndarray, "n"]:
    """The block of each ascending key block * width + id, without a division."""
    bounds = np.searchsorted(keys, np.arange(n_blocks + 1) * width)
    return np.repeat(np.arange(n_blocks), np.diff(bounds))
