"""How similar a perturbed graph is to the original (OKGQA A.7, Raman et al. 2020).

ATS is the mean score of the perturbed triplets by a scorer trained on the original,
SC2D and SD2 compare the mean local clustering coefficients and degrees of all entities,
over the graphs of one relation each. These are undirected and simple, as
``networkx.Graph`` has them: parallel triplets are one edge, and a self-loop counts
twice for the degree and not for the clustering. Means are over the relations that have
a triplet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int32
from scipy.sparse import csr_array

from kgscout_jax.perturb.link_scorer import LinkScorer

BLOCK = 1 << 15
"""Rows of a product of sparse matrices that are computed at once."""


@dataclass(frozen=True, kw_only=True)
class StructureMeans:
    """Means over relations, for each entity."""

    clustering: Float64[np.ndarray, "e"]
    degree: Float64[np.ndarray, "e"]


def aggregated_triple_score(
    scorer: LinkScorer, triplets: Int32[np.ndarray, "m 3"]
) -> float:
    """ATS: the mean score of the triplets; 0 without any."""
    if not len(triplets):
        return 0.0
    return float(scorer.scores(triplets).mean(dtype=np.float64))


def structure_means(
    triplets: Int32[np.ndarray, "m 3"], n_entities: int
) -> StructureMeans:
    """The mean clustering coefficient and degree of each entity over relations."""
    heads, relations, tails = np.asarray(triplets, np.int64).T
    n_used = max(1, len(np.unique(relations)))
    # All relations as one graph: its nodes are the pairs of relation and entity.
    ends = np.concatenate([relations * n_entities + e for e in (heads, tails)])
    nodes, ends = np.unique(ends, return_inverse=True)
    entity = nodes % n_entities
    pairs = np.unique(np.sort(ends.reshape(2, -1), axis=0), axis=1)
    loop = pairs[0] == pairs[1]
    low, high = pairs[:, ~loop]
    n = len(nodes)
    neighbours = np.bincount(low, minlength=n) + np.bincount(high, minlength=n)
    triangles = _triangles(low, high, neighbours, n)
    possible = neighbours * (neighbours - 1.0)
    clustering = 2 * triangles / np.maximum(possible, 1)
    degree = neighbours + 2.0 * np.bincount(pairs[0, loop], minlength=n)
    return StructureMeans(
        clustering=np.bincount(entity, clustering, n_entities) / n_used,
        degree=np.bincount(entity, degree, n_entities) / n_used,
    )


def similarity(one: Float64[np.ndarray, "e"], two: Float64[np.ndarray, "e"]) -> float:
    """1 - distance / (distance + 1): SC2D of clustering, SD2 of degrees."""
    distance = float(np.linalg.norm(one - two))
    return 1 - distance / (distance + 1)


def _triangles(
    low: np.ndarray, high: np.ndarray, degrees: np.ndarray, n: int
) -> Float64[np.ndarray, "n"]:
    """The number of triangles through each node of a simple graph.

    Edges point to the node of the higher degree, so that no node has more than the root
    of twice the number of edges, hubs included.
    """
    swap = (degrees[low] > degrees[high]) | (
        (degrees[low] == degrees[high]) & (low > high)
    )
    start, end = np.where(swap, high, low), np.where(swap, low, high)
    arcs = csr_array((np.ones(len(start)), (start, end)), shape=(n, n))
    back = arcs.T.tocsr()
    out = np.zeros(n)
    for first in range(0, n, BLOCK):
        rows = slice(first, first + BLOCK)
        # Triangles a > b > c: seen from a and c over b, and from b over a.
        outer = (arcs[rows] @ arcs).multiply(arcs[rows]).tocsr()
        out[rows] += outer.sum(axis=1)
        out += np.asarray(outer.sum(axis=0)).ravel()
        out[rows] += (back[rows] @ arcs).multiply(arcs[rows]).sum(axis=1)
    return out
