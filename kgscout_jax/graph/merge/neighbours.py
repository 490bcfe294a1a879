"""What the entities of a pair have around them: neighbours, and kinds of relations."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int, Int64
from scipy import sparse

from kgscout_jax.graph.merge.named_graph import NamedGraph, Side

LEAST_EXPECTED = 3.0
"""How many certain pairs with two relations chance would give where the lack of any
tells two kinds."""
MOST_MEDIATED = 100
"""Degree of an unnamed neighbour up to which its neighbours count."""


def shared_weight(
    left: Side, right: Side, pairs: Int64[np.ndarray, "p 2"]
) -> Float64[np.ndarray, "p"]:
    """The weight of the neighbours that the entities of each pair share."""
    width = int(max(left.near.max(initial=0), right.near.max(initial=0))) + 1
    around = [_neighbours(side, width) for side in (left, right)]
    degrees = np.maximum(*(np.asarray(each.sum(axis=0)).ravel() for each in around))
    weights = 1 / np.log2(1 + np.maximum(degrees, 1))
    both = around[0][pairs[:, 0]].multiply(around[1][pairs[:, 1]])
    return np.asarray(both @ weights).ravel()


def _neighbours(side: Side, width: int) -> sparse.csr_array:
    """Of each entity the names around it, through unnamed neighbours too.

    Shape [e, width], with 1 for a neighbour.
    """
    rows = np.asarray(side.graph.triplets).astype(np.int64)
    start = np.concatenate([rows[:, 0], rows[:, 2]])
    end = np.concatenate([rows[:, 2], rows[:, 0]])
    n = len(side.near)
    named = side.near[end] >= 0
    names = binary_matrix(start[named], side.near[end[named]], (n, width))
    degrees = np.bincount(start, minlength=n)
    mediated = ~named & (degrees[end] <= MOST_MEDIATED)
    if mediated.any():
        steps = binary_matrix(start[mediated], end[mediated], (n, n))
        names = names + steps @ names
        names.data[:] = 1
    return names


def other_kinds(
    sides: tuple[Side, Side],
    pairs: Int64[np.ndarray, "p 2"],
    certain: Int64[np.ndarray, "c 2"],
) -> Float64[np.ndarray, "p"]:
    """1 where the relations of a pair never meet in the certain pairs, else 0."""
    arcs = [_arcs(side.graph) for side in sides]
    out = np.zeros(len(pairs))
    for i, j in ((0, 1), (1, 0)):
        known, other = arcs[i][certain[:, i]], arcs[j][certain[:, j]]
        met = known.T @ other  # how many certain pairs have both
        own, of = arcs[i][pairs[:, i]], arcs[j][pairs[:, j]].tocoo()
        counts = np.asarray(known.sum(axis=0)).ravel()
        mean = (own @ counts) / np.maximum(np.diff(own.indptr), 1)
        rows, columns = of.coords
        totals = np.asarray(other.sum(axis=0)).ravel()
        expected = mean[rows] * totals[columns] / max(len(certain), 1)
        seen = (own @ met).multiply(of).tocoo()
        width = of.shape[1]
        never = ~np.isin(
            rows.astype(np.int64) * width + columns,
            seen.coords[0].astype(np.int64) * width + seen.coords[1],
        )
        out[rows[never & (expected >= LEAST_EXPECTED)]] = 1
    return out


def _arcs(graph: NamedGraph) -> sparse.csr_array:
    """Of each entity its relations, out of it and into it; [e, 2 r]."""
    rows = np.asarray(graph.triplets).astype(np.int64)
    n = int(rows[:, 1].max(initial=0)) + 1
    owner = np.concatenate([rows[:, 0], rows[:, 2]])
    arcs = np.concatenate([rows[:, 1], rows[:, 1] + n])
    return binary_matrix(owner, arcs, (len(graph.names), 2 * n))


def binary_matrix(
    rows: Int[np.ndarray, "k"], columns: Int[np.ndarray, "k"], shape: tuple[int, int]
) -> sparse.csr_array:
    """The matrix with 1 at these places."""
    values = np.ones(len(rows), np.float32)
    matrix = sparse.coo_array((values, (rows, columns)), shape).tocsr()
    matrix.data[:] = 1
    return matrix
