"""Triplets from a networkx graph, and triplets of a graph with some removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import NamedTriplets, match_rows
from kgscout_jax.types import Triplet, display_name

if TYPE_CHECKING:
    import networkx as nx


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


def networkx_triplets(graph: nx.Graph[Any], relation: str) -> Iterator[Triplet]:
    """The edges of a networkx graph as triplets.

    Raises:
        UserError: an edge has no relation.
    """
    multi = graph.is_multigraph()
    view: Any = graph.edges
    edges = view(keys=True, data=True) if multi else view(data=True)
    for edge in edges:
        head, tail, attributes = edge[0], edge[1], edge[-1]
        name = attributes.get(relation)
        if name is None and multi and isinstance(edge[2], str):
            name = edge[2]
        if name is None:
            names = ", ".join(map(repr, attributes)) or "none"
            raise UserError(
                f"edge {head!r} to {tail!r}: expected the attribute {relation!r}, "
                f"found {names}"
            )
        yield str(head), str(name), str(tail)


def checked_paths(path: object) -> list[Path]:
    """A path, or several, as a list.

    Raises:
        UserError: it is something else, or there is none.
    """
    paths = [path] if isinstance(path, str | Path) else path
    if not isinstance(paths, Sequence) or not paths:
        raise UserError(
            f"path: expected a GRAPH folder or triplet files, found {path!r:.80}"
        )
    for each in paths:
        if not isinstance(each, str | Path) or not str(each).strip():
            raise UserError(f"path: expected a path, found {each!r:.80}")
    return [Path(each) for each in paths]
