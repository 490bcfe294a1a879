"""Triplets that state one fact in two schemas.

They join the same entities in the same direction, stand in different graphs, and their
relations mean the same: of the same words, or near by their embeddings. Either way the
facts must bear it out: of the entities that have both relations, most lead to the same
entity by both. So a place of birth is no place of death, though both often are one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int32, Int64
from scipy import sparse

from kgscout_jax.graph.merge.relation_meanings import Embed, cosines, last_words
from kgscout_jax.utils.ragged import ranges

FLOOR = 0.5
"""Cosine of two relations from which they may state the same (recipes/several_graphs.md
measures it)."""
AGREEMENT = 0.5
"""Share of the entities with two relations that both lead to the same entity."""


def equal_facts(
    triplets: Int32[np.ndarray, "m 3"],
    relations: Sequence[str],
    held: Bool[np.ndarray, "m g"],
    embed: Embed | None,
    floor: float = FLOOR,
) -> Int32[np.ndarray, "m"]:
    """The number of each triplet's fact: the lowest id of the triplets that state it.

    Args:
        triplets: of a merged graph.
        relations: their names.
        held: which graph holds each triplet.
        embed: embeds relations; None: only relations of the same words are compared.
        floor: cosine of two relations from which they may state the same.
    """
    m, rows = len(triplets), triplets.astype(np.int64)
    pairs = _parallel(rows, held)
    if not len(pairs):
        return np.arange(m, dtype=np.int32)
    joint, places = np.unique(rows[pairs, 1], axis=0, return_inverse=True)
    same = np.array(
        [
            last_words(relations[int(a)]) == last_words(relations[int(b)])
            for a, b in joint
        ]
    )
    if embed is not None:
        used, at = np.unique(joint, return_inverse=True)
        words = [relations[int(i)] for i in used]
        near = cosines(words, words, embed)
        at = at.reshape(-1, 2)
        same |= near[at[:, 0], at[:, 1]] >= floor
    for i in np.flatnonzero(same).tolist():
        same[i] = _agreement(rows, *joint[i].tolist()) >= AGREEMENT
    pairs = pairs[same[places.ravel()]]
    links = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (m, m))
    _, labels = sparse.csgraph.connected_components(links, directed=False)
    _, first = np.unique(labels, return_index=True)
    return first[labels].astype(np.int32)


def _parallel(
    rows: Int64[np.ndarray, "m 3"], held: Bool[np.ndarray, "m g"]
) -> Int64[np.ndarray, "p 2"]:
    """Pairs of triplets between the same entities that no graph holds both of."""
    order = np.lexsort((rows[:, 2], rows[:, 0]))
    ends = rows[order][:, [0, 2]]
    new = np.ones(len(order), bool)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    stops = np.append(starts[1:], len(order))[group]
    place = np.arange(len(order))
    counts = stops - place - 1
    a, b = np.repeat(place, counts), ranges(place + 1, counts)
    pairs = np.sort(np.stack([order[a], order[b]], axis=1), axis=1)
    apart = ~(held[pairs[:, 0]] & held[pairs[:, 1]]).any(axis=1)
    return pairs[apart]


def _agreement(rows: Int64[np.ndarray, "m 3"], first: int, second: int) -> float:
    """Of the heads and of the tails with both relations, the share where both agree.

    The lower of the two shares counts.
    """
    one, other = (rows[rows[:, 1] == each][:, [0, 2]] for each in (first, second))
    width = int(rows.max()) + 1
    both = np.intersect1d(
        one[:, 0] * width + one[:, 1], other[:, 0] * width + other[:, 1]
    )
    shares = []
    for column, ends in ((0, both // width), (1, both % width)):
        common = np.intersect1d(one[:, column], other[:, column])
        shares.append(len(np.unique(ends)) / max(len(common), 1))
    return min(shares)
