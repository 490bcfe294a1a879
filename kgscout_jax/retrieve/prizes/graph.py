"""A question's candidates as a graph with prizes (OKGQA, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int


@dataclass(frozen=True, kw_only=True)
class PrizeGraph:
    """The n candidate triplets of a question as edges between v nodes, with prizes."""

    nodes: Int[np.ndarray, "n 2"]
    """Head and tail of each edge."""
    ids: Int[np.ndarray, "n"]
    """Triplet ids: ties go to the lower one."""
    node_prizes: Float64[np.ndarray, "v"]
    edge_prizes: Float64[np.ndarray, "n"]
    edge_scores: Float[np.ndarray, "n"]
    """The scores behind the edges' prizes: edges of equal prizes are in their order."""

    @property
    def totals(self) -> Float64[np.ndarray, "n"]:
        """The prize of each triplet: of its head, its relation and its tail."""
        return self.node_prizes[self.nodes].sum(axis=1) + self.edge_prizes

    def best_first(
        self, scores: Float64[np.ndarray, "k"], edges: Int[np.ndarray, "k"]
    ) -> Int[np.ndarray, "k"]:
        """The order of ``edges``: by ``scores``, by their own scores, by triplet id."""
        return np.lexsort((self.ids[edges], -self.edge_scores[edges], -scores))


def rank_prizes(scores: Float[np.ndarray, "n"], top: int) -> Float64[np.ndarray, "n"]:
    """max(0, top - rank + 1) with the rank from 1 by descending score.

    Ties go to the lower position. Scores that are -inf or nan have no prize.
    """
    scores = np.where(np.isnan(scores), -np.inf, scores)
    order = np.argsort(-scores, kind="stable")[:top]
    prizes = np.zeros(len(scores))
    prizes[order] = np.arange(top, top - len(order), -1)
    prizes[np.isneginf(scores)] = 0
    return prizes


def triplet_order(
    graph: PrizeGraph, k: int
) -> tuple[Int[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """The k edges with the largest total prizes, and these prizes."""
    totals = graph.totals
    order = graph.best_first(totals, np.arange(len(totals)))[:k]
    return order, totals[order]
