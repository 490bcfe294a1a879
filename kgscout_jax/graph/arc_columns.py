"""A graph's triplets as columns, with what the guided walk needs of each arc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int, Int32, Int64

from kgscout_jax.graph.arrays import Adjacency


@dataclass(frozen=True, eq=False)
class ArcColumns:
    """Columns in canonical order, by (head, relation, tail); 28 bytes a triplet.

    An arc is a triplet that is crossed, from its head or from its tail. The arcs of an
    entity in one direction with one relation are a group.
    """

    offsets: Int32[np.ndarray, "e+1"]
    """Of the triplets of each head."""
    heads: Int32[np.ndarray, "m"]
    relations: Int32[np.ndarray, "m"]
    tails: Int32[np.ndarray, "m"]
    per_head: Float64[np.ndarray, "m"]
    """One over the size of the group of the arc from the head."""
    per_tail: Float64[np.ndarray, "m"]
    """One over the size of the group of the arc from the tail."""
    head_degrees: Int64[np.ndarray, "e"]
    """The number of triplets of each head."""
    tail_degrees: Int64[np.ndarray, "e"]
    """The number of triplets of each tail."""

    @staticmethod
    def of(
        triplets: Int32[np.ndarray, "m 3"], by_head: Adjacency, by_tail: Adjacency
    ) -> ArcColumns:
        """The columns of triplets in canonical order."""
        heads, relations, tails = np.ascontiguousarray(np.asarray(triplets).T)
        order = np.lexsort((relations, tails))
        per_tail = np.empty(len(order))
        per_tail[order] = one_over_group(tails[order], relations[order])
        return ArcColumns(
            offsets=by_head.offsets.astype(np.int32),
            heads=heads,
            relations=relations,
            tails=tails,
            per_head=one_over_group(heads, relations),
            per_tail=per_tail,
            head_degrees=np.diff(by_head.offsets),
            tail_degrees=np.diff(by_tail.offsets),
        )


def one_over_group(
    first: Int[np.ndarray, "m"], second: Int[np.ndarray, "m"]
) -> Float64[np.ndarray, "m"]:
    """One over the length of each run of equal pairs; equal pairs are neighbours."""
    if not len(first):
        return np.empty(0)
    new = np.ones(len(first), bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    lengths = np.diff(np.flatnonzero(new), append=len(first))
    return np.repeat(1.0 / lengths, lengths)
