"""Personalized PageRank of many independent graphs at once.

The fixed point is that of ``networkx.pagerank`` on the multigraph of all triplets, with
``personalization`` uniform over the restart nodes and dangling mass sent back to them.
Two things differ from networkx's iteration, both to be nearer to that fixed point:

- It starts at the restart distribution, not at the uniform one. A node that the walk
  cannot reach is then exactly 0, instead of a remainder that depends on when the
  iteration stopped.
- It stops when ``alpha / (1 - alpha) * change < n * tolerance``, not at ``change <
  n * tolerance``. The step contracts by alpha in L1, so this bounds the error by
  ``n * tolerance`` instead of 5.7 times as much for alpha = 0.85.
"""

from __future__ import annotations

import logging
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float64, Int
from scipy.sparse import csr_array

logger = logging.getLogger(__name__)

SHRINK_BELOW = 0.75
"""Converged blocks leave the working set once less than this share of it moves."""


def pagerank(
    n_nodes: int,
    heads: Int[np.ndarray, "m"],
    tails: Int[np.ndarray, "m"],
    block: Int[np.ndarray, "n_nodes"],
    restart: Int[np.ndarray, "r"],
    *,
    direction: Literal["both", "directed"],
    alpha: float = 0.85,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    edge_weight: Float[np.ndarray, "m"] | None = None,
) -> Float64[np.ndarray, "n_nodes"]:
    """PageRank of each node within its block; each block with a restart node sums to 1.

    The result of a block is bit for bit the same whatever other blocks are in the
    batch: sums run in the order of a block's own nodes and edges, and a block stands
    still once it has converged. A block without a restart node is 0 throughout.

    Args:
        n_nodes: number of nodes of all blocks together.
        heads: head node of each triplet; parallel triplets add up.
        tails: tail node of each triplet, in the same block as its head.
        block: number of the block of each node, ascending; gaps are legal.
        restart: node ids the walk returns to, repeats count once.
        direction: "directed" walks head to tail; "both" adds the reverse of each
            triplet (of a self-loop too, which then counts twice).
        alpha: probability of walking on rather than restarting.
        tolerance: bound on a block's L1 error, per node of the block.
        max_iterations: a block that takes longer keeps its last estimate, with a
            warning; with the defaults it is then within 1e-6 in all.
        edge_weight: weight of each triplet, 1 if None; a node whose outgoing weights
            are all 0 is dangling.

    Raises:
        ValueError: a direction that is neither, an alpha outside [0, 1), blocks that do
            not ascend, a triplet between two blocks, or a weight that is negative or
            not finite.
    """
    if direction not in ("both", "directed"):
        raise ValueError(f"direction is {direction!r}, expected 'both' or 'directed'")
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha is {alpha}, expected 0 <= alpha < 1")
    if (block[1:] < block[:-1]).any():
        raise ValueError("block must ascend")
    if (block[heads] != block[tails]).any():
        raise ValueError("a triplet connects two blocks")
    rank = np.zeros(n_nodes)
    if n_nodes == 0 or len(restart) == 0:
        return rank
    heads, tails = heads.astype(np.int32), tails.astype(np.int32)
    weights = _checked_weights(len(heads), edge_weight)
    if direction == "both":
        heads, tails = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        weights = np.concatenate([weights, weights])

    # Blocks without gaps or numbers that nobody uses: 0 .. n_blocks - 1.
    block = np.cumsum(np.diff(block, prepend=block[:1]) != 0)
    n_blocks = int(block[-1]) + 1
    restart_mass = np.zeros(n_nodes)
    restart_mass[restart] = 1.0
    restarts = _sum_by(block, restart_mass, n_blocks)
    restart_mass /= np.maximum(restarts, 1.0)[block]

    out_weight = _sum_by(heads, weights, n_nodes)
    dangling = out_weight == 0
    weights = weights / np.where(dangling, 1.0, out_weight)[heads]
    # Transposed, so that a step is one product; scipy keeps the order of a row's
    # entries, which depends on the block alone.
    step = csr_array((weights, (tails, heads)), shape=(n_nodes, n_nodes))
    limit = np.bincount(block, minlength=n_blocks) * (tolerance * (1 - alpha))

    nodes = np.arange(n_nodes)  # those in the working set
    x = restart_mass.copy()
    moving = restarts > 0
    for _ in range(max_iterations):
        stay = moving[block]
        if stay.mean() < SHRINK_BELOW:
            rank[nodes] = x
            if not stay.any():
                return rank
            nodes, x, dangling = nodes[stay], x[stay], dangling[stay]
            restart_mass = restart_mass[stay]
            step = _square(step, stay)
            block = (np.cumsum(moving) - 1)[block[stay]]
            limit, moving = limit[moving], moving[moving]
        lost = _sum_by(block, np.where(dangling, x, 0.0), len(limit))
        back = alpha * lost + (1 - alpha)
        new = alpha * (step @ x) + back[block] * restart_mass
        change = _sum_by(block, np.abs(new - x), len(limit))
        x = np.where(moving[block], new, x)
        moving = moving & (alpha * change >= limit)
    rank[nodes] = x
    if moving.any():
        logger.warning(
            "PageRank: %d of %d graphs did not converge in %d iterations",
            int(moving.sum()),
            n_blocks,
            max_iterations,
        )
    return rank


def _checked_weights(
    count: int, edge_weight: Float[np.ndarray, "m"] | None
) -> Float64[np.ndarray, "m"]:
    """The weight of each triplet in float64; raises ValueError on a bad one."""
    if edge_weight is None:
        return np.ones(count)
    weights = np.asarray(edge_weight, np.float64)
    if weights.shape != (count,):
        raise ValueError(f"edge_weight has shape {weights.shape}, expected ({count},)")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("edge_weight must be finite and not negative")
    return weights


def _sum_by(
    group: Int[np.ndarray, "k"], values: Float64[np.ndarray, "k"], n_groups: int
) -> Float64[np.ndarray, "n_groups"]:
    """Sum of the values of each group, added up one by one in the order given.

    Not ``add.reduceat``, whose pairwise sums are not promised to ignore neighbours.
    """
    return np.bincount(group, weights=values, minlength=n_groups)


def _square(matrix: csr_array, stay: Bool[np.ndarray, "n"]) -> csr_array:
    """The square part of a block-diagonal matrix on whole blocks, order kept."""
    part = matrix[np.flatnonzero(stay)]
    columns = (np.cumsum(stay) - 1)[part.indices]
    return csr_array((part.data, columns, part.indptr), shape=(part.shape[0],) * 2)
