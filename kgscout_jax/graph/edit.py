"""Graphs in memory from other graphs: with triplets added or removed, from networkx."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.graph.fingerprint import matched
from kgscout_jax.graph.knowledge_graph import GraphBuilder, KnowledgeGraph
from kgscout_jax.types import Triplet, display_name

if TYPE_CHECKING:
    import networkx as nx


def changed(
    graph: KnowledgeGraph,
    *,
    add: Iterable[Triplet] = (),
    remove: Iterable[Triplet] = (),
) -> KnowledgeGraph:
    """The graph in memory with triplets removed, then others added.

    Entities and relations keep their ids, also those that lose their last triplet.
    Triplets to remove that are not there are no error.

    Raises:
        UserError: the graph is a folder, or a name is empty.
    """
    if graph.opened is not None:
        raise UserError(
            f"{graph.folder}: expected a graph in memory; kgscout graph --add and "
            "--remove change a folder"
        )
    left = dataclasses.replace(graph, triplets=without(graph, remove))
    builder = GraphBuilder.of(left)
    builder.add(add)
    out = builder.build()[0]
    # Not a chain of all that ever were: only who has embeddings to hand on.
    before = graph if graph.embedded else graph.kept.get("before")
    if before is not None:
        out.kept["before"] = before
    return out


def without(graph: KnowledgeGraph, triplets: Iterable[Triplet]) -> np.ndarray:
    """The triplets of ``graph`` that are none of these."""
    relations = {name: i for i, name in enumerate(graph.relations)}
    gone = set()
    for head, relation, tail in triplets:
        h, t = graph.find(head), graph.find(tail)
        r = relations.get(display_name(relation))
        if h is not None and r is not None and t is not None:
            gone.add((h, r, t))
    if not gone:
        return graph.triplets
    rows = np.array(sorted(gone), np.int32)
    return graph.triplets[matched(rows, graph.triplets) < 0]


def networkx_triplets(graph: nx.Graph[Any], relation: str) -> Iterator[Triplet]:
    """The edges of a networkx graph as triplets.

    Raises:
        UserError: an edge has no relation.
    """
    multi = graph.is_multigraph()
    view: Any = graph.edges
    edges = view(keys=True, data=True) if multi else view(data=True)
    for edge in edges:
        head, tail, about = edge[0], edge[1], edge[-1]
        name = about.get(relation)
        if name is None and multi and isinstance(edge[2], str):
            name = edge[2]
        if name is None:
            found = ", ".join(map(repr, about)) or "none"
            raise UserError(
                f"edge {head!r} to {tail!r}: expected the attribute {relation!r}, "
                f"found {found}"
            )
        yield str(head), str(name), str(tail)
