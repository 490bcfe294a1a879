"""The neighbourhood of entities in a graph, pruned by PageRank (OKGQA, 3.1 and A.5)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int32

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.subgraph import cut_subgraphs

THRESHOLD = 1e-5
"""PageRank below which the paper leaves entities out."""


def neighbourhood(
    graph: KnowledgeGraph,
    entities: Int32[np.ndarray, "t"],
    *,
    hops: int = 2,
    keep: int | None = None,
    threshold: float = THRESHOLD,
    hub_degree: int | None = None,
) -> Int32[np.ndarray, "m"]:
    """Ids of the triplets within ``hops`` steps of ``entities``, ascending.

    Edges are followed both ways, as in ``balls``. PageRank returns to ``entities`` with
    probability 0.15.

    Args:
        graph: the graph.
        entities: ids of the central entities.
        hops: radius of the neighbourhood.
        keep: the most triplets: those with the largest PageRank of head and tail.
        threshold: triplets with an end of less PageRank are left out.
        hub_degree: entities with more triplets are reached, not walked through.
    """
    cut = cut_subgraphs(
        graph,
        [np.asarray(entities, np.int32)],
        hops=hops,
        max_triplets=keep,
        ppr_threshold=threshold,
        hub_degree=hub_degree,
    )
    return cut.triplet_ids
