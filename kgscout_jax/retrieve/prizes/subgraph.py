"""The subgraph of the largest score: a prize-collecting Steiner tree (OKGQA, 4.1).

The score is the sum of the prizes of nodes and edges minus the costs of edges. What
follows from the prizes alone is decided before the solver runs, without loss: an edge
whose prize covers its cost joins its ends into one node, and so does an edge whose cost
is the lowest of all and no more than what either end brings. ``pcst_fast`` (Hegde,
Indyk and Schmidt 2015) solves the rest, approximately.
"""

from __future__ import annotations

import functools
from types import ModuleType

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.prizes.graph import PrizeGraph

ROOTS = 10
"""The solver runs without a root and with each of so many nodes of the largest prizes:
its approximations differ, and the best one counts."""


def steiner_edges(graph: PrizeGraph, cost: float = 1.0) -> Bool[np.ndarray, "n"]:
    """True at the edges of the connected subgraph with the largest score.

    Raises:
        UserError: ``pcst_fast`` is not installed.
    """
    pcst_fast = library()
    ends, v = np.asarray(graph.nodes, np.int64), len(graph.node_prizes)
    net = graph.edge_prizes - cost
    label = components(ends[net >= 0], v)
    prizes = np.bincount(label, graph.node_prizes, minlength=label.max(initial=-1) + 1)
    prizes += np.bincount(label[ends[net >= 0, 0]], net[net >= 0], len(prizes))
    kept = np.zeros(len(ends), bool)
    while True:
        pairs, edges, costs = _cheapest(label[ends], -net, graph.ids)
        low, high = prizes[pairs].min(axis=1), costs.min(initial=np.inf)
        joins = (costs == high) & (costs <= low)
        if not joins.any():
            break
        joined, tree = _join(pairs[joins], len(prizes))
        kept[edges[joins][tree]] = True
        prizes = np.bincount(joined, prizes)
        paid = joined[pairs[joins][tree, 0]]
        prizes -= np.bincount(paid, costs[joins][tree], len(prizes))
        label = joined[label]
    if not len(prizes):
        return kept
    chosen, tree = np.array([int(prizes.argmax())]), np.empty(0, np.int64)
    if len(pairs):
        best = -np.inf
        for root in (-1, *np.argsort(-prizes, kind="stable")[:ROOTS].tolist()):
            nodes, forest = pcst_fast.pcst_fast(
                pairs, prizes, costs, root, 1, "strong", 0
            )
            score = prizes[nodes].sum() - costs[forest].sum()
            if score > best:
                best, chosen, tree = score, nodes, forest
    inside = np.zeros(len(prizes), bool)
    inside[chosen] = True
    kept |= net >= 0
    kept &= inside[label[ends]].all(axis=1)
    kept[edges[np.asarray(tree, np.int64)]] = True
    return kept


def subgraph_order(
    graph: PrizeGraph, k: int, *, cost: float
) -> tuple[Int[np.ndarray, "j"], Float64[np.ndarray, "j"]]:
    """At most ``k`` edges of the subgraph by their total prizes, and these prizes."""
    edges = np.flatnonzero(steiner_edges(graph, cost))
    totals = graph.totals[edges]
    order = graph.best_first(totals, edges)[:k]
    return edges[order], totals[order]


def components(ends: Int64[np.ndarray, "n 2"], v: int) -> Int64[np.ndarray, "v"]:
    """The number of each node's connected component, from 0."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(v, v))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _cheapest(
    ends: Int64[np.ndarray, "n 2"],
    costs: Float64[np.ndarray, "n"],
    ids: Int[np.ndarray, "n"],
) -> tuple[Int64[np.ndarray, "p 2"], Int64[np.ndarray, "p"], Float64[np.ndarray, "p"]]:
    """Each pair of different nodes with an edge, its cheapest edge, and the cost."""
    edges = np.flatnonzero(ends[:, 0] != ends[:, 1])
    pairs = np.sort(ends[edges], axis=1)
    order = np.lexsort((ids[edges], costs[edges], pairs[:, 1], pairs[:, 0]))
    pairs, edges = pairs[order], edges[order]
    first = np.ones(len(pairs), bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[first], edges[first], costs[edges[first]]


def _join(
    pairs: Int64[np.ndarray, "p 2"], v: int
) -> tuple[Int64[np.ndarray, "v"], Int64[np.ndarray, "t"]]:
    """Components of the graph of ``pairs``, and the pairs of a spanning forest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    # Positions as weights: the forest is that of the first pairs.
    weights = np.arange(1, len(pairs) + 1, dtype=np.float64)
    graph = coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(v, v))
    forest = minimum_spanning_tree(graph.tocsr())
    return components(pairs, v), np.sort(forest.data).astype(np.int64) - 1


@functools.cache
def library() -> ModuleType:
    """``pcst_fast``; raises UserError where it is not installed, or does not work."""
    try:
        import pcst_fast
    except ModuleNotFoundError:
        raise UserError(
            "prize_subgraph: pcst_fast is not installed: "
            "pip install 'kgscout-jax[okgqa]'"
        ) from None
    nodes, _ = pcst_fast.pcst_fast(
        np.array([[0, 1]]), np.ones(2), np.zeros(1), -1, 1, "strong", 0
    )
    if sorted(nodes.tolist()) != [0, 1]:
        raise UserError(
            "prize_subgraph: this build of pcst_fast gives wrong results with NumPy 2: "
            "pip uninstall pcst_fast; pip install pcst-fast2"
        )
    return pcst_fast
