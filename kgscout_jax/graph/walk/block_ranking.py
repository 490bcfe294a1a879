"""Rankings of rows within their blocks (questions)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Float64, Int, Int64, Num

from kgscout_jax.utils.stable_order import stable_argsort


def top_of_block(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    scores: Num[np.ndarray, "m"],
    k: int | None,
) -> Bool[np.ndarray, "m"]:
    """True at the k rows of each block with the highest scores, ties to the lower id.

    ``blocks`` must be ascending.
    """
    top = np.ones(len(blocks), bool)
    if k is None or not len(blocks):
        return top
    bounds = np.searchsorted(blocks, np.arange(int(blocks[-1]) + 2))
    for block in np.flatnonzero(np.diff(bounds) > k).tolist():
        here = slice(bounds[block], bounds[block + 1])
        # A partition is several times cheaper than a sort.
        worst = -scores[here]
        least = np.partition(worst, k - 1)[k - 1]
        better = worst < least
        ties = np.flatnonzero(worst == least)
        ties = ties[np.argsort(ids[here][ties], kind="stable")]
        better[ties[: k - np.count_nonzero(better)]] = True
        top[here] = better
    return top


def ranking(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    scores: Num[np.ndarray, "m"],
) -> Int64[np.ndarray, "m"]:
    """The rows by block, then best score first, ties to the lower id."""
    if (ids[1:] <= ids[:-1]).any():
        return np.lexsort((ids, -scores, blocks))
    order = stable_argsort(-scores)
    if len(blocks) and blocks.min() == blocks.max():
        return order
    return order[stable_argsort(blocks[order])]


def places(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    scores: Num[np.ndarray, "m"],
) -> Int64[np.ndarray, "m"]:
    """The rank of each row in its block from 0, best score first, ties to lower id."""
    order = ranking(blocks, ids, scores)
    starts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    out = np.empty(len(order), np.int64)
    out[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return out


def hybrid_scores(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    first: Float[np.ndarray, "m"],
    second: Float[np.ndarray, "m"],
) -> Float64[np.ndarray, "m"]:
    """Scores that order each block by the better of two ranks, ties by the first.

    For any k, the best k contain the best k / 2 of either ranking.
    """
    a, b = places(blocks, ids, first), places(blocks, ids, second)
    return -(np.minimum(a, b) + a / (len(a) + 1.0))
