"""Changes of a graph in memory: its triplets with some removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import NamedTriplets, match_rows
from kgscout_jax.types import Triplet, display_name

if TYPE_CHECKING:
    from kgscout_jax.graph.merge.members import Members


def check_in_memory(members: Members | None, folder: Path | None) -> None:
    """Raise UserError for a graph that was merged, or that lies in a folder.

    Args:
        members: the graphs that it was merged of; None for any other graph.
        folder: the GRAPH folder; None in memory.
    """
    if members is not None:
        raise UserError(
            f"expected one graph, found {len(members.graphs)} merged ones: "
            "change one of them and merge them again"
        )
    if folder is not None:
        raise UserError(
            f"{folder}: expected a graph in memory; kgscout graph --add and "
            "--remove change a folder"
        )


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
