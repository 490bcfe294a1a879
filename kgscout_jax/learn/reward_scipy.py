"""The reward of subsets by scipy's sparse shortest paths: one call for a batch.

The same parts as ``HostReward``, computed as the thesis's implementation computes them.
Every subset of every question is a block of one block-diagonal graph, so that one
Dijkstra from all topics measures all distances. Coverage is a distance as well: in the
stored shortest-path DAG of a topic a selected hop costs 1, another 2; all paths from
the topic to a node of the DAG have the same number of hops d, so the cheapest one of
cost c has 2 d - c selected hops, the most of any. These DAGs are further blocks of the
same graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int, Int64
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from kgscout_jax.learn.reward_host import Reward, RewardParts


class Arcs(NamedTuple):
    """Arcs between nodes that are numbered through the batch; a node is a row."""

    source: Int64[np.ndarray, "m"]
    target: Int64[np.ndarray, "m"]
    cost: Float[np.ndarray, "m"]


@dataclass(frozen=True)
class ScipyReward(Reward):
    """Scores subsets with ``scipy.sparse.csgraph``; stateless and thread-safe."""

    def score(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> RewardParts:
        """The reward parts of g subsets for each of b questions.

        Arguments and result as of ``HostReward.score``.
        """
        rows, positions = np.asarray(rows), np.asarray(positions)
        b, g = len(rows), positions.shape[1]
        split, width = self.split, int(self.split.n_nodes[rows].max(initial=1))

        # --- graphs of the subsets: node v of subset (i, j) is (i * g + j) * width + v
        valid = (positions >= 0) & (positions < split.n_real[rows, None, None])
        question, subset, place = np.nonzero(valid)
        nodes = split.nodes[rows[question], positions[question, subset, place]]
        first = (question * g + subset) * width
        heads, tails = (first[:, None] + nodes.astype(np.int64)).T
        ones = np.ones(len(heads))
        selected = [Arcs(heads, tails, ones)]
        if self.direction == "both":
            selected.append(Arcs(tails, heads, ones))
        held = np.zeros(b * g * width, bool)
        held[heads] = held[tails] = True

        topics, answers = split.topics[rows], split.answers[rows]
        n_slots = topics.shape[1]
        roots = _of_subsets(topics, g, width)
        owner, golds = _with_owner(answers, g, width)

        # --- the DAGs: that of slot s is (s * b * g + i * g + j) blocks further on
        edge_of, edges = split.path_edges[self.direction].rows(rows)
        slot, u, v, depth = edges.astype(np.int64).reshape(-1, 4).T
        repeated = np.arange(len(u)).repeat(g)
        block = edge_of[repeated] * g + np.tile(np.arange(g), len(u))
        taken = _joined(heads, tails, self.direction, b * g * width)
        hop = _key(
            block * width + u[repeated],
            block * width + v[repeated],
            self.direction,
            b * g * width,
        )
        base = ((slot[repeated] + 1) * b * g + block) * width
        dag = Arcs(
            base + u[repeated],
            base + v[repeated],
            np.where(np.isin(hop, taken), 1.0, 2.0),
        )
        slot_roots = [
            (s + 1) * b * g * width + _of_subsets(topics[:, s : s + 1], g, width)
            for s in range(n_slots)
        ]

        cost = _distances(
            [*selected, dag],
            np.concatenate([roots, *slot_roots]),
            (1 + n_slots) * b * g * width,
        )

        # --- the parts, from distances at selected answers
        distance = np.where(held[golds], cost[golds], np.inf)
        nearest = np.full(b * g, np.inf)
        np.minimum.at(nearest, owner, distance)
        count = np.maximum((answers >= 0).sum(axis=1), 1)
        present = np.bincount(owner, weights=held[golds], minlength=b * g)
        reached = np.isfinite(nearest)
        beyond_first = np.where(reached, nearest, 0.0) - 1.0
        closeness = np.clip(1.0 - self.weights.decay * beyond_first, 0.0, 1.0)
        coverage = np.zeros(b * g)
        # An answer is the end of hops with the same depth: any of them tells d.
        hops = np.zeros(len(cost), np.int64)
        hops[dag.target] = depth[repeated] + 1
        for s in range(n_slots):
            ends = (s + 1) * b * g * width + golds
            on_dag = hops[ends] > 0
            share = 2.0 - cost[ends[on_dag]] / hops[ends[on_dag]]
            np.maximum.at(coverage, owner[on_dag], share)
        coverage[nearest == 0] = 1.0

        def part(values: Float[np.ndarray, "x"]) -> Float32[np.ndarray, "b g"]:
            return values.reshape(b, g).astype(np.float32)

        return RewardParts(
            presence=part(present / count.repeat(g)),
            connectivity=part(np.where(reached, closeness, 0.0)),
            efficiency=part(1.0 / (1.0 + nearest)),
            coverage=part(coverage),
        )

    def total(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> Float32[np.ndarray, "b g"]:
        """The weighted reward of g subsets for each of b questions, see ``score``."""
        return self.score(rows, positions).total(self.weights)


def _with_owner(
    local: Int[np.ndarray, "b c"], g: int, width: int
) -> tuple[Int64[np.ndarray, "x"], Int64[np.ndarray, "x"]]:
    """The subset that owns each node, and the node; -1 is padding."""
    question, column = np.nonzero(local >= 0)
    owner = (question[:, None] * g + np.arange(g)).reshape(-1)
    nodes = np.repeat(local[question, column].astype(np.int64), g)
    return owner, owner * width + nodes


def _of_subsets(
    local: Int[np.ndarray, "b c"], g: int, width: int
) -> Int64[np.ndarray, "x"]:
    """The nodes of all subsets."""
    return _with_owner(local, g, width)[1]


def _key(
    source: Int64[np.ndarray, "m"],
    target: Int64[np.ndarray, "m"],
    direction: str,
    count: int,
) -> Int64[np.ndarray, "m"]:
    """One number per pair of nodes, in order if paths are directed."""
    if direction == "both":
        source, target = np.minimum(source, target), np.maximum(source, target)
    return source * count + target


def _joined(
    heads: Int64[np.ndarray, "m"],
    tails: Int64[np.ndarray, "m"],
    direction: str,
    count: int,
) -> Int64[np.ndarray, "x"]:
    """The pairs of nodes that a selected triplet joins."""
    return np.unique(_key(heads, tails, direction, count))


def _distances(
    arcs: list[Arcs], roots: Int64[np.ndarray, "r"], count: int
) -> Float[np.ndarray, "n"]:
    """The least cost from any root to each node, inf where there is no path."""
    if not len(roots):
        return np.full(count, np.inf)
    source, target, cost = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    # Parallel arcs have equal costs; a sparse matrix would add them up.
    _, first = np.unique(source * count + target, return_index=True)
    graph = csr_array(
        (cost[first], (source[first], target[first])), shape=(count, count)
    )
    return dijkstra(graph, directed=True, indices=np.unique(roots), min_only=True)
