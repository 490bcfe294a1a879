"""Paths of the largest score by a priority queue (OKGQA, section 4.1 and A.6).

A path is simple. It starts at one of the nodes with the largest prizes, walks edges
both ways, and ends where it has the maximum length or every neighbour is on it. Its
score is the sum of its nodes' and edges' prizes minus the costs of its edges.

The paper's queue is ordered by the score so far, so that a limit on the number of paths
may lose better ones. This one is ordered by the score so far plus a bound on what is
still possible (A*): the first paths that are complete are the best. The bound is exact
for walks that do not turn back at once.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int, Int64

from kgscout_jax.retrieve.prizes.graph import PrizeGraph

MAX_STEPS = 20_000
"""The most paths that are taken from the queue for one question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrizePath:
    """A path: its edges in the order of the walk, and its score."""

    edges: tuple[int, ...]
    score: float


@dataclass(frozen=True, kw_only=True)
class _Arcs:
    """Each edge both ways, grouped by its origin; order r is for r more edges."""

    target: Int[np.ndarray, "a"]
    edge: Int[np.ndarray, "a"]
    gain: Float64[np.ndarray, "a"]
    offsets: Int64[np.ndarray, "v+1"]
    bounds: list[Float64[np.ndarray, "a"]]
    """bounds[r]: the most that a walk of up to r + 1 edges gains from an arc on."""
    orders: list[Int[np.ndarray, "a"]]
    """orders[r]: arcs by origin, then by descending bounds[r]."""


def prize_paths(
    graph: PrizeGraph, *, starts: int, length: int, number: int, cost: float = 1.0
) -> list[PrizePath]:
    """The ``number`` best paths, best first; of a path and its reverse one.

    Args:
        graph: the edges and prizes.
        starts: number of nodes at which paths start: those with the largest prizes.
        length: the most edges of a path.
        number: the most paths.
        cost: of an edge.
    """
    if not len(graph.nodes):
        return []
    arcs = _arcs(graph, length, cost)
    prizes = graph.node_prizes
    roots = np.argsort(-prizes, kind="stable")[:starts]
    roots = roots[prizes[roots] > 0].tolist()
    columns = arcs.target, arcs.edge, arcs.gain, arcs.offsets
    target, edge, gain, offsets = (column.tolist() for column in columns)
    bounds = [bound.tolist() for bound in arcs.bounds]
    orders = [order.tolist() for order in arcs.orders]
    # (-bound, -edges so far, number of the entry, path, slot); a path is (nodes,
    # edges, score). Slot None: the path is complete. Otherwise the entry stands for
    # the path's extensions from this slot of its arcs on, whose bounds descend.
    queue: list[tuple[float, int, int, tuple, int | None]] = []
    pushed = 0

    def push(path: tuple, slot: int) -> bool:
        """Queue the path's next extension; False if no neighbour is left."""
        nonlocal pushed
        nodes, edges, score = path
        order, bound = orders[length - len(edges) - 1], bounds[length - len(edges) - 1]
        for at in range(slot, offsets[nodes[-1] + 1]):
            arc = order[at]
            if target[arc] not in nodes:
                entry = (-score - bound[arc], -len(edges), pushed, path, at)
                heapq.heappush(queue, entry)
                pushed += 1
                return True
        return False

    for root in roots:
        push(((root,), (), float(prizes[root])), offsets[root])
    found: dict[frozenset[int], PrizePath] = {}
    steps = 0
    while queue and len(found) < number and steps < MAX_STEPS:
        steps += 1
        negative, _, _, path, slot = heapq.heappop(queue)
        nodes, edges, score = path
        if slot is None:
            found.setdefault(frozenset(edges), PrizePath(edges=edges, score=-negative))
            continue
        push(path, slot + 1)
        arc = orders[length - len(edges) - 1][slot]
        longer = (*nodes, target[arc]), (*edges, edge[arc]), score + gain[arc]
        more = len(longer[1]) < length
        if not (more and push(longer, offsets[target[arc]])):
            entry = (-longer[2], -len(longer[1]), pushed, longer, None)
            heapq.heappush(queue, entry)
            pushed += 1
    return list(found.values())


def path_order(
    graph: PrizeGraph, k: int, *, starts: int, length: int, number: int, cost: float
) -> tuple[Int[np.ndarray, "j"], Float64[np.ndarray, "j"]]:
    """At most ``k`` edges of the best paths, path by path, with their path's score."""
    paths = prize_paths(graph, starts=starts, length=length, number=number, cost=cost)
    scores: dict[int, float] = {}
    for path in paths:
        for edge in path.edges:
            scores.setdefault(edge, path.score)
    order = np.fromiter(scores, np.int64, len(scores))[:k]
    return order, np.fromiter(scores.values(), np.float64, len(scores))[:k]


def _arcs(graph: PrizeGraph, length: int, cost: float) -> _Arcs:
    heads, tails = graph.nodes[:, 0], graph.nodes[:, 1]
    loop = heads == tails
    n, v = len(heads), len(graph.node_prizes)
    edge = np.concatenate([np.arange(n)[~loop]] * 2)
    origin = np.concatenate([heads[~loop], tails[~loop]]).astype(np.int64)
    target = np.concatenate([tails[~loop], heads[~loop]]).astype(np.int64)
    gain = graph.node_prizes[target] + graph.edge_prizes[edge] - cost
    offsets = np.searchsorted(np.sort(origin), np.arange(v + 1))
    bounds, orders = [], []
    later = np.zeros(len(edge))
    for r in range(length):
        if r:
            later = _best_onward(origin, target, bounds[-1], v)
        bounds.append(gain + later)
        orders.append(np.lexsort((graph.ids[edge], -bounds[-1], origin)))
    return _Arcs(
        target=target,
        edge=edge,
        gain=gain,
        offsets=offsets,
        bounds=bounds,
        orders=orders,
    )


def _best_onward(
    origin: Int64[np.ndarray, "a"],
    target: Int64[np.ndarray, "a"],
    bound: Float64[np.ndarray, "a"],
    v: int,
) -> Float64[np.ndarray, "a"]:
    """The best bound of an arc behind each arc that does not turn back; at least 0."""
    best = np.full(v, -np.inf)
    np.maximum.at(best, origin, bound)
    # The best target of each node, and the best bound towards any other.
    at_best = np.zeros(v, np.int64)
    is_best = bound == best[origin]
    at_best[origin[is_best]] = target[is_best]
    second = np.full(v, -np.inf)
    other = target != at_best[origin]
    np.maximum.at(second, origin[other], bound[other])
    turns_back = at_best[target] == origin
    onward = np.where(turns_back, second[target], best[target])
    return np.maximum(onward, 0)
