"""Which triplets of a cut subgraph become candidates: the better of two places."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Float64, Int, Int64


def places(
    blocks: Int[np.ndarray, "m"],
    ids: Int[np.ndarray, "m"],
    scores: Float[np.ndarray, "m"],
) -> Int64[np.ndarray, "m"]:
    """The place of each row in its block from 0, best score first, ties to lower id.

    ``blocks`` must be ascending.
    """
    order = np.lexsort((ids, -scores, blocks))
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
    """Scores that order each block by the better of two places, ties by the first.

    Whatever k, the best k hold the best k / 2 of either ranking.
    """
    a, b = places(blocks, ids, first), places(blocks, ids, second)
    return -(np.minimum(a, b) + a / (len(a) + 1.0))
