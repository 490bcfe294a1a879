"""An order of entities in which all kinds of a graph come up.

A kind is the set of relations that entities have, as heads and as tails. Most graphs
have a kind or two in which most of their entities are: airports, films, dates. In the
order, a kind of n entities has about sqrt(n) of the first ones.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int


def kinds_of(triplets: Int[np.ndarray, "n 3"], n_entities: int) -> Int[np.ndarray, "v"]:
    """The kind of each entity: equal numbers where the relations are the same ones."""
    heads, relations, tails = np.asarray(triplets, np.int64).T
    width = 2 * (int(relations.max(initial=-1)) + 1)
    pairs = np.concatenate([heads * width + 2 * relations,
                            tails * width + 2 * relations + 1])  # fmt: skip
    pairs = np.unique(pairs)
    words = np.random.default_rng(0).integers(2**63, size=max(width, 1), dtype=np.int64)
    # A kind is the sum of its relations' random words, as hashes of sets are.
    sums = np.zeros(n_entities, np.int64)
    if len(pairs):
        np.add.at(sums, pairs // width, words[pairs % width])
    return np.unique(sums, return_inverse=True)[1]


def varied_order(kinds: Int[np.ndarray, "v"], seed: int) -> Int[np.ndarray, "v"]:
    """Positions of ``kinds`` in the order, the same for the same seed.

    The j-th entity of a kind of n stands at (j + u) / sqrt(n), u uniform in [0, 1).
    """
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(kinds))
    by_kind = shuffled[np.argsort(kinds[shuffled], kind="stable")]
    sizes = np.bincount(kinds)
    starts = np.cumsum(sizes) - sizes
    ranks = np.empty(len(kinds), np.int64)
    ranks[by_kind] = np.arange(len(kinds)) - starts[kinds[by_kind]]
    places = (ranks + rng.random(len(kinds))) / np.sqrt(sizes[kinds])
    return np.argsort(places, kind="stable")
