"""Which candidates are among the K best triplets of a ranking."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int, Int64

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.retrieve.protocol import Rankings

CHUNK = 1024
"""Questions whose candidates are compared with rankings at a time."""


def kept_candidates(
    shards: Shards, split: Split, rankings: Rankings, k: int
) -> Bool[np.ndarray, "q n"]:
    """True at the candidates of each question that are among its ``k`` best triplets.

    Triplets of other systems that are no candidates of the question are left out.
    """
    ids = np.asarray(split.candidates)
    rows = triplet_rows(shards, rankings, k)
    kept = np.zeros(ids.shape, bool)
    m = len(shards.triplets)
    for low in range(0, len(ids), CHUNK):
        part = slice(low, low + CHUNK)
        question = np.arange(len(ids[part]), dtype=np.int64)[:, None] * m
        ranked = (question + rows[part])[rows[part] >= 0]
        kept[part] = np.isin(question + ids[part], ranked) & (ids[part] >= 0)
    return kept


def triplet_rows(
    shards: Shards, rankings: Rankings, k: int
) -> Int64[np.ndarray, "q k"]:
    """Rows of the shards' triplets of the ``k`` best; -1 for others and padding."""
    heads, relations, tails = (
        np.asarray(column[:, :k], np.int64)
        for column in (rankings.heads, rankings.relations, rankings.tails)
    )
    table = np.asarray(shards.triplets, np.int64)
    if not len(table):
        return np.full(heads.shape, -1, np.int64)
    # Pairs of entities first: three ids in one number might not fit into 64 bits.
    width = int(max(table.max(), heads.max(initial=0), tails.max(initial=0))) + 1
    pairs, pair = np.unique(table[:, 0] * width + table[:, 2], return_inverse=True)
    count = int(max(table[:, 1].max(), relations.max(initial=0))) + 1
    keys = pair * count + table[:, 1]
    order = np.argsort(keys, kind="stable")
    pair_of = lookup(pairs, heads * width + tails)
    place = lookup(keys[order], pair_of * count + relations)
    real = (np.arange(heads.shape[1]) < rankings.lengths[:, None]) & (heads >= 0)
    return np.where(real & (pair_of >= 0) & (place >= 0), order[place], -1)


def lookup(
    ordered: Int[np.ndarray, "m"], values: Int[np.ndarray, "*s"]
) -> Int[np.ndarray, "*s"]:
    """Positions of values in ascending numbers, the first of equals; -1 for none."""
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[place] == values, place, -1)
