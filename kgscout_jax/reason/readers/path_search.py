"""Paths from topics to entities over a question's triplets: many, short, bounded.

All paths in a hundred triplets can be millions. What is asked for is less: for each
end and each sequence of relations the best path. So paths grow a hop at a time, those
with the same relations and the same end are merged into the best of them, and at most
a number of the best is carried on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

MAX_EXPANSIONS = 1 << 18
"""Most hops looked at per level; beyond it the worst paths are not carried on."""


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Paths of one length: p paths of h hops, each from a topic, none twice at a node.

    Shapes: p paths, h hops.
    """

    nodes: Int64[np.ndarray, "p h+1"]
    """The topic first, the end last."""
    triplets: Int64[np.ndarray, "p h"]
    forward: Bool[np.ndarray, "p h"]
    """Whether a hop goes from its triplet's head to its tail."""
    group: Int64[np.ndarray, "p"]
    """The same number where topic, relations and directions are the same."""
    value: Float64[np.ndarray, "p"]
    """Sum of the values of the triplets."""

    def __len__(self) -> int:
        return len(self.group)


def find_paths(
    heads: Int[np.ndarray, "m"],
    relations: Int[np.ndarray, "m"],
    tails: Int[np.ndarray, "m"],
    values: Float64[np.ndarray, "m"],
    topics: Sequence[int],
    *,
    hops: int,
    width: int,
) -> list[Paths]:
    """The best paths of 1, 2, ... ``hops`` hops; edges are followed both ways.

    Of paths with the same topic, relations, directions and end the one with the
    greatest sum of values stays, ties by the order of the triplets. Up to two hops this
    is exact as long as no level holds more than ``width`` paths. A longer path is
    missed where its beginning was merged into a path through one of its later nodes.

    Args:
        heads: node of each triplet's head, from 0 up.
        relations: number of each triplet's relation, from 0 up.
        tails: node of each triplet's tail.
        values: what a path gains by using the triplet.
        topics: nodes to start from; distinct.
        hops: the longest path.
        width: the most paths kept of each length, the best ones.
    """
    m = len(heads)
    if m == 0 or not topics:
        return []
    start, end = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    triplet = np.tile(np.arange(m), 2)
    forward = np.repeat([True, False], m)
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    triplet, forward = triplet[order], forward[order]
    n_nodes = int(max(start.max(), *topics)) + 1
    first = np.searchsorted(start, np.arange(n_nodes + 1))
    n_relations = int(relations.max()) + 1

    at = Paths(
        nodes=np.asarray(topics, np.int64)[:, None],
        triplets=np.zeros((len(topics), 0), np.int64),
        forward=np.zeros((len(topics), 0), bool),
        group=np.arange(len(topics)),
        value=np.zeros(len(topics)),
    )
    levels = []
    for _ in range(hops):
        last = at.nodes[:, -1]
        degree = first[last + 1] - first[last]
        # best first, so that what is cut off here is the worst
        fits = max(1, int((np.cumsum(degree) <= MAX_EXPANSIONS).sum()))
        last, degree = last[:fits], degree[:fits]
        path = np.repeat(np.arange(fits), degree)
        within = np.arange(len(path)) - np.repeat(np.cumsum(degree) - degree, degree)
        edge = first[last][path] + within
        fresh = ~(at.nodes[path] == end[edge][:, None]).any(axis=1)
        path, edge = path[fresh], edge[fresh]
        if not len(path):
            break
        value = at.value[path] + values[triplet[edge]]
        step = 2 * relations[triplet[edge]] + forward[edge]
        sequence = at.group[path] * (2 * n_relations) + step
        group = np.unique(sequence, return_inverse=True)[1].reshape(-1)
        ranked = np.lexsort((triplet[edge], -value, end[edge], group))
        same = (np.diff(group[ranked]) == 0) & (np.diff(end[edge][ranked]) == 0)
        best = ranked[np.concatenate([[True], ~same])]
        best = best[np.argsort(-value[best], kind="stable")[:width]]
        path, edge = path[best], edge[best]
        at = Paths(
            nodes=np.concatenate([at.nodes[path], end[edge][:, None]], axis=1),
            triplets=np.concatenate(
                [at.triplets[path], triplet[edge][:, None]], axis=1
            ),
            forward=np.concatenate([at.forward[path], forward[edge][:, None]], axis=1),
            group=group[best],
            value=value[best],
        )
        levels.append(at)
    return levels
