"""Bit masks of the subsets that select a triplet: many subsets in one word."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Int64, UInt

from kgscout_jax.data.shards import Split


class SubsetTriplets(NamedTuple):
    """The triplets that any subset of a batch selects."""

    question: Int64[np.ndarray, "m"]
    """Position in the batch, 0 .. b - 1."""
    heads: Int64[np.ndarray, "m"]
    """Nodes, numbered through the batch."""
    tails: Int64[np.ndarray, "m"]
    words: UInt[np.ndarray, "m w"]
    """Bit j of a row is set if subset j of the question selects the triplet."""


def subset_triplets(
    split: Split,
    rows: Int[np.ndarray, "b"],
    positions: Int[np.ndarray, "b g k"],
    first: Int64[np.ndarray, "b"],
) -> SubsetTriplets:
    """The triplets at the valid ``positions``; repeats count once.

    ``first`` is the number of each question's first node.
    """
    b, g, _ = positions.shape
    n_real = split.n_real[rows]
    n = max(int(n_real.max(initial=0)), 1)
    dtype = _word_dtype(g)
    size = 8 * dtype.itemsize
    w = -(-g // size)
    valid = (positions >= 0) & (positions < n_real[:, None, None])
    cells = (np.arange(b)[:, None, None] * n + positions) * w
    cells += (np.arange(g) // size)[:, None]
    bit = (dtype.type(1) << (np.arange(g) % size).astype(dtype))[:, None]
    words = np.zeros(b * n * w, dtype)
    np.bitwise_or.at(words, cells[valid], np.broadcast_to(bit, valid.shape)[valid])
    words = words.reshape(b * n, w)
    used = np.flatnonzero(words[:, 0] if words.shape[1] == 1 else words.any(axis=1))
    question = used // n
    # Two steps: rows of the memory map first, so that it is read in order.
    nodes = np.asarray(split.nodes[rows, :n])[question, used % n].astype(np.int64)
    nodes += first[question, None]
    return SubsetTriplets(question, nodes[:, 0], nodes[:, 1], words[used])


def _word_dtype(g: int) -> np.dtype:
    """The smallest word that holds ``g`` bits, else the largest word."""
    return np.dtype(f"<u{next((n for n in (1, 2, 4) if g <= 8 * n), 8)}")


def unpack_bits(words: UInt[np.ndarray, "m w"], g: int) -> Bool[np.ndarray, "m g"]:
    """The first ``g`` bits of each row."""
    packed = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(packed, axis=1, count=g, bitorder="little").view(bool)


def or_at(
    out: UInt[np.ndarray, "n w"], rows: Int64[np.ndarray, "m"], words: Any
) -> None:
    """OR ``words`` into the ``rows`` of ``out``; rows may repeat."""
    w = out.shape[1]
    cells = rows if w == 1 else (rows[:, None] * w + np.arange(w)).reshape(-1)
    np.bitwise_or.at(out.reshape(-1), cells, words.reshape(-1))
