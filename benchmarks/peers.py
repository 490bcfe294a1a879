"""The preparation of a question as one would write it with NetworkX and plain Python.

Written to be read and fair: the same walk, the same cut, the same candidates, nothing
slow that would not be natural. The graph of all triplets is built once, untimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np


def multigraph(
    triplets: Iterable[Sequence[int]], *, both: bool = False
) -> nx.MultiDiGraph:
    """Triplets (head, relation, tail) as a multigraph; the key is the triplet's place.

    With ``both`` each has its reverse beside it, which PageRank then walks too.
    """
    graph = nx.MultiDiGraph()
    for i, (head, _, tail) in enumerate(triplets):
        graph.add_edge(head, tail, i)
        if both:
            graph.add_edge(tail, head, -1 - i)
    return graph


def rank_nodes(graph: nx.MultiDiGraph, topics: Sequence[int]) -> dict[int, float]:
    """Personalized PageRank by networkx, as it comes."""
    graph.add_nodes_from(topics)
    return nx.pagerank(graph, alpha=0.85, personalization=dict.fromkeys(topics, 1.0))


def ball(graph: nx.MultiDiGraph, topics: Sequence[int], hops: int) -> list[int]:
    """Ids of the triplets within ``hops`` steps of the topics, edges both ways."""
    visited = {topic for topic in topics if topic in graph}
    frontier = list(visited)
    triplet_ids: set[int] = set()
    for _ in range(hops):
        following = []
        for node in frontier:
            for _, other, i in graph.out_edges(node, keys=True):
                triplet_ids.add(i)
                if other not in visited:
                    visited.add(other)
                    following.append(other)
            for other, _, i in graph.in_edges(node, keys=True):
                triplet_ids.add(i)
                if other not in visited:
                    visited.add(other)
                    following.append(other)
        frontier = following
    return sorted(triplet_ids)


def candidates(
    graph: nx.MultiDiGraph,
    triplets: Sequence[Sequence[int]],
    topics: Sequence[int],
    question: np.ndarray,
    embeddings: Sequence[np.ndarray],
    *,
    hops: int,
    max_triplets: int,
    n_candidates: int,
) -> list[int]:
    """The candidates of one question: ball, PageRank, cut, cosine, best first."""
    ids = ball(graph, topics, hops)
    own = nx.MultiDiGraph()
    for i in ids:
        head, _, tail = triplets[i]
        own.add_edge(head, tail)
        own.add_edge(tail, head)
    rank = rank_nodes(own, topics) if topics else {}

    def mass(i: int) -> float:
        return rank.get(triplets[i][0], 0.0) + rank.get(triplets[i][2], 0.0)

    ids = sorted(ids, key=lambda i: (-mass(i), i))[:max_triplets]
    cosine = {i: float(np.dot(embeddings[i], question)) for i in ids}
    return sorted(ids, key=lambda i: (-cosine[i], i))[:n_candidates]
