"""Personalized PageRank of many restarts over one graph that all of them share.

``pagerank`` walks disconnected blocks, one copy of the edges per question: right for
subgraphs, wasteful when every question walks the whole graph. Here the edges are stored
once and the ranks of a few questions are the columns of a dense array, so that a step
reads each edge once for all of them. The start and the rule for stopping, and with it
the bound on the error, are ``pagerank``'s.

Walked both ways, the step is similar to a symmetric matrix whose eigenvalues lie in
[-alpha, alpha], and Chebyshev's semi-iterative method (Golub and Van Loan, Matrix
Computations, section 11.2.8) needs a third of the steps. The stopping rule holds for
any estimate x: if one plain step changes it by c in L1, its result is off by at most
alpha / (1 - alpha) * c. Estimates in between may be slightly below 0; results never.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Float64, Int
from scipy.sparse import csr_array

from kgscout_jax.graph.walk.pagerank import _checked_weights

logger = logging.getLogger(__name__)

COLUMNS = 16
"""Questions that are walked together: more would not stay in a core's cache."""
CHECK_EVERY = 2
"""Steps between two looks at the change; a look costs less than half a step."""
FOLD = 64
"""Rows added up as one: numpy is slow at sums over rows of a few numbers."""
ROUNDING = 1e-6
"""L1 error that float32 may add to ranks that sum to 1, generously."""


class SharedWalk:
    """A random walk over one graph, prepared once; ``pagerank`` restarts it anywhere.

    Ranks are computed in float32 where its rounding cannot be told from the tolerance
    (graphs of more than a few hundred nodes), else in float64.
    """

    def __init__(
        self,
        n_nodes: int,
        heads: Int[np.ndarray, "m"],
        tails: Int[np.ndarray, "m"],
        *,
        direction: Literal["both", "directed"],
        alpha: float = 0.85,
        tolerance: float = 1e-6,
        edge_weight: Float[np.ndarray, "m"] | None = None,
    ) -> None:
        """Prepare the walk.

        Args:
            n_nodes: number of nodes.
            heads: head node of each triplet; parallel triplets add up.
            tails: tail node of each triplet.
            direction: "directed" walks head to tail; "both" adds the reverse of each
                triplet (of a self-loop too, which then counts twice).
            alpha: probability of walking on rather than restarting.
            tolerance: bound on the L1 error, per node.
            edge_weight: weight of each triplet, 1 if None; a node whose outgoing
                weights are all 0 is dangling.

        Raises:
            ValueError: a direction that is neither, an alpha outside [0, 1), or a
                weight that is negative or not finite.
        """
        if direction not in ("both", "directed"):
            raise ValueError(
                f"direction is {direction!r}, expected 'both' or 'directed'"
            )
        if not 0 <= alpha < 1:
            raise ValueError(f"alpha is {alpha}, expected 0 <= alpha < 1")
        heads, tails = heads.astype(np.int32), tails.astype(np.int32)
        weights = _checked_weights(len(heads), edge_weight)
        if direction == "both":
            heads, tails = np.r_[heads, tails], np.r_[tails, heads]
            weights = np.r_[weights, weights]
        out_weight = np.bincount(heads, weights=weights, minlength=n_nodes)
        self.n_nodes, self.alpha, self.direction = n_nodes, alpha, direction
        self._dangling = np.flatnonzero(out_weight == 0)
        self._limit = n_nodes * tolerance * (1 - alpha)
        self._dtype: Any = np.float32 if self._limit > 10 * ROUNDING else np.float64
        scale = alpha / np.where(out_weight == 0, 1.0, out_weight)
        # Transposed and times alpha, so that a step is one product.
        self._step = csr_array(
            ((weights * scale[heads]).astype(self._dtype), (tails, heads)),
            shape=(n_nodes, n_nodes),
        )
        self._step.sum_duplicates()

    def pagerank(
        self,
        restarts: Sequence[Int[np.ndarray, "r"]],
        *,
        max_iterations: int = 100,
    ) -> Float64[np.ndarray, "b n_nodes"]:
        """PageRank of every node for each question; a row sums to 1,
        but for the tolerance.

        A row is bit for bit the same whatever other questions are asked: columns never
        mix, and a question stands still once it has converged.

        Args:
            restarts: per question, the nodes its walk returns to; repeats count once,
                and a question without any gets zeros.
            max_iterations: a question that takes longer keeps its last estimate, with a
                warning; with the defaults it is then within 1e-6 in all.
        """
        out = np.zeros((len(restarts), self.n_nodes))
        late = 0
        for low in range(0, len(restarts), COLUMNS):
            part = [np.unique(nodes) for nodes in restarts[low : low + COLUMNS]]
            ranks, moving = self._walk(part, max_iterations)
            out[low : low + len(part)] = ranks
            late += moving
        if late:
            logger.warning(
                "PageRank: %d of %d questions did not converge in %d iterations",
                *(late, len(restarts), max_iterations),
            )
        return out

    def _walk(
        self, restarts: Sequence[Int[np.ndarray, "r"]], max_iterations: int
    ) -> tuple[Float[np.ndarray, "c n_nodes"], int]:
        """Ranks, a row per question, and how many are still moving."""
        columns = np.repeat(np.arange(len(restarts)), [len(r) for r in restarts])
        nodes = np.concatenate([*restarts, np.empty(0, np.int64)]).astype(np.int64)
        share = np.array([1 / max(len(r), 1) for r in restarts])[columns]
        # numpy sums a single column in another order than one of several.
        width = max(len(restarts), 2)
        x = np.zeros((self.n_nodes, width), self._dtype)
        x[nodes, columns] = share
        before = np.zeros_like(x)
        ranks = np.zeros((len(restarts), self.n_nodes), self._dtype)
        moving = np.zeros(width, bool)
        moving[columns] = True
        steady = np.ones(width, bool) if self.direction == "both" else ~moving
        steady[columns[np.isin(nodes, self._dangling)]] = False
        omega = np.ones(width)
        for i in range(1, max_iterations + 1):
            # What is lost in dangling nodes returns to the restart, as does 1 - alpha.
            lost = x[self._dangling].sum(axis=0, dtype=np.float64)
            back = self.alpha * lost + (1 - self.alpha)
            new = self._step @ x
            new[nodes, columns] += (back[columns] * share).astype(self._dtype)
            last = i == max_iterations
            if i % CHECK_EVERY == 0 or last:
                change = _column_sums(np.abs(new - x))
                settled = moving & (self.alpha * change < self._limit)
                done = (settled | moving) if last else settled
                if done.any():
                    ranks[done[: len(restarts)]] = np.maximum(new[:, done].T, 0)
                moving &= ~settled
                if last or not moving.any():
                    break
            # Chebyshev: the next estimate lies beyond ``new``, away from ``before``.
            new -= before
            new *= omega.astype(self._dtype)
            new += before
            before, x = x, new
            quarter = (self.alpha / 2) ** 2
            following = 1 / (1 - quarter * (omega if i > 1 else 2.0))
            omega = np.where(steady, following, 1.0)
        return ranks, int(moving.sum())


def _column_sums(array: Float[np.ndarray, "n c"]) -> Float64[np.ndarray, "c"]:
    """The sum of each column; many short rows are first added up as fewer long ones."""
    whole = len(array) // FOLD * FOLD
    folded = array[:whole].reshape(-1, FOLD * array.shape[1]).sum(axis=0)
    rest = array[whole:].sum(axis=0, dtype=np.float64)
    return folded.reshape(FOLD, -1).sum(axis=0, dtype=np.float64) + rest
