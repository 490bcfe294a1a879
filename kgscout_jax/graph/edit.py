"""The triplets of a graph with some removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Int32

from kgscout_jax.graph.arrays import NamedTriplets, match_rows
from kgscout_jax.types import Triplet, display_name


def rows_without(
    graph: NamedTriplets,
    triplets: Iterable[Triplet],
    find: Callable[[str], int | None],
) -> Int32[np.ndarray, "n 3"]:
    """The rows of a graph's triplets, except ``triplets``.

    Args:
        graph: the graph; triplets that it does not hold are ignored.
        triplets: the triplets to remove, by name.
        find: returns the id of an entity by its name.
    """
    relations = {name: i for i, name in enumerate(graph.relations)}
    rows = set()
    for head, relation, tail in triplets:
        row = find(head), relations.get(display_name(relation)), find(tail)
        if None not in row:
            rows.add(row)
    if not rows:
        return graph.triplets
    excluded = np.array(sorted(rows), np.int32)
    return graph.triplets[match_rows(excluded, graph.triplets) < 0]
