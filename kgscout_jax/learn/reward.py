"""The reward of kept triplets, on the host (thesis, section 3.3.3).

Where the thesis is silent: gold answers are those in the question's subgraph after the
cut; a topic that is itself an answer scores 1 in connectivity, efficiency and coverage
as soon as its entity is kept; what is unreachable scores 0. Coverage takes the best
over all shortest paths and all (topic, answer) pairs by dynamic programming over the
stored shortest-path DAGs, so no path is ever enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Int, Int64

from kgscout_jax.graph.paths import hop_distances
from kgscout_jax.shards import DIRECTIONS, Split


@dataclass(frozen=True, kw_only=True)
class RewardWeights:
    """Weights of the four parts; the defaults are the thesis's, the maximum is 10."""

    presence: float = 2.0
    """Share of the gold answers among the kept entities."""
    connectivity: float = 4.0
    """A topic and an answer are connected, less for each hop beyond the first."""
    efficiency: float = 1.0
    """1 / (1 + hops) of the shortest connection."""
    coverage: float = 3.0
    """Best share of a true shortest path that is kept."""
    decay: float = 0.2
    """Connectivity lost per hop beyond the first (the thesis's lambda)."""

    def __post_init__(self) -> None:
        for name in ("presence", "connectivity", "efficiency", "coverage", "decay"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value}, expected a number >= 0")


@dataclass(frozen=True, kw_only=True)
class RewardParts:
    """The four parts, each in [0, 1]; b questions, g subsets of each."""

    presence: Float32[np.ndarray, "b g"]
    connectivity: Float32[np.ndarray, "b g"]
    efficiency: Float32[np.ndarray, "b g"]
    coverage: Float32[np.ndarray, "b g"]

    def total(self, weights: RewardWeights) -> Float32[np.ndarray, "b g"]:
        """The weighted sum (thesis, equation of section 3.3.3)."""
        return (
            np.float32(weights.presence) * self.presence
            + np.float32(weights.connectivity) * self.connectivity
            + np.float32(weights.efficiency) * self.efficiency
            + np.float32(weights.coverage) * self.coverage
        )


@dataclass(frozen=True)
class _Kept:
    """The kept triplets of a batch, flat: one entry per triplet that is there."""

    question: Int64[np.ndarray, "m"]
    """Position in the batch, 0 .. b - 1."""
    subset: Int64[np.ndarray, "m"]
    """Subset of that question, 0 .. g - 1."""
    heads: Int64[np.ndarray, "m"]
    """Local node ids."""
    tails: Int64[np.ndarray, "m"]


@dataclass(frozen=True)
class HostReward:
    """Scores subsets of a split's candidates; holds no state, safe in a thread."""

    split: Split
    direction: Literal["directed", "both"] = "directed"
    """Whether triplets connect from head to tail only (the thesis) or both ways."""
    weights: RewardWeights = RewardWeights()
    """Of these, ``score`` needs the decay only."""

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ValueError(
                f"direction is {self.direction!r}, expected one of {DIRECTIONS}"
            )

    def score(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> RewardParts:
        """The reward parts of g subsets for each of b questions.

        Args:
            rows: the questions, by their row in the split; repeats are legal.
            positions: the kept candidates, by their position in the question's list;
                repeats count once. A position that is -1, or beyond the question's
                n_real, keeps nothing.

        Returns:
            Arrays [b, g]. All 0 for a question without a gold answer in its subgraph.
        """
        split = self.split
        rows = np.asarray(rows)
        g = positions.shape[1]
        sizes = split.n_nodes[rows].astype(np.int64)
        kept = self._kept(rows, positions)

        # One block of nodes per subset: those of question i start at
        # start[i] and follow each other, one copy of its nodes after the other.
        start = np.cumsum(sizes * g) - sizes * g
        n_nodes = max(int((sizes * g).sum()), 1)  # padding points at node 0
        block = start[kept.question] + kept.subset * sizes[kept.question]
        heads, tails = block + kept.heads, block + kept.tails

        present = np.zeros(n_nodes, bool)
        present[heads] = True
        present[tails] = True
        blocks = start[:, None] + np.arange(g) * sizes[:, None]  # [b, g]
        topics, topic_mask = _in_blocks(split.topics[rows], blocks)
        answers, answer_mask = _in_blocks(split.answers[rows], blocks)

        answer_mask &= present[answers]  # [b, g, a]: kept answers
        n_answers = np.maximum((split.answers[rows] >= 0).sum(axis=1), 1)
        presence = answer_mask.sum(axis=2) / n_answers[:, None]

        hops = hop_distances(
            n_nodes,
            heads,
            tails,
            topics[topic_mask],
            directed=self.direction == "directed",
        )[answers]
        # Both parts fall with distance, so the nearest kept answer decides. A topic is
        # at distance 0 of itself whether kept or not: answer_mask asks for kept.
        reached = answer_mask & (hops >= 0)
        nearest = np.where(reached, hops, np.iinfo(np.int32).max).min(
            axis=2, initial=np.iinfo(np.int32).max
        )
        connected = reached.any(axis=2)
        closeness = 1.0 - self.weights.decay * (nearest - 1.0)
        connectivity = np.where(connected, np.clip(closeness, 0.0, 1.0), 0.0)
        efficiency = np.where(connected, 1.0 / (1.0 + nearest), 0.0)

        coverage = self._coverage(rows, kept, g, sizes)
        coverage[connected & (nearest == 0)] = 1.0
        return RewardParts(
            presence=presence.astype(np.float32),
            connectivity=connectivity.astype(np.float32),
            efficiency=efficiency.astype(np.float32),
            coverage=coverage,
        )

    def total(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> Float32[np.ndarray, "b g"]:
        """The weighted reward of g subsets for each of b questions, see ``score``."""
        return self.score(rows, positions).total(self.weights)

    def _kept(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> _Kept:
        """The triplets at ``positions``, those that are there."""
        n_real = (self.split.candidates[rows] >= 0).sum(axis=1)
        there = (positions >= 0) & (positions < n_real[:, None, None])
        question, subset, _ = np.nonzero(there)
        # Two steps: rows of the memory map first, so that it is read in order.
        nodes = np.asarray(self.split.nodes[rows])[question, positions[there]]
        nodes = nodes.astype(np.int64)
        return _Kept(question, subset, nodes[:, 0], nodes[:, 1])

    def _coverage(
        self,
        rows: Int[np.ndarray, "b"],
        kept: _Kept,
        g: int,
        sizes: Int64[np.ndarray, "b"],
    ) -> Float32[np.ndarray, "b g"]:
        """Best share of the hops of a shortest topic-answer path that is kept.

        Walks the DAGs of all questions, topics and subsets together, one level of hops
        at a time: the best count of kept hops on the way to v is the best over the hops
        (u, v) of the count at u plus one if that hop is kept.
        """
        b = len(rows)
        coverage = np.zeros((b, g), np.float32)
        question, edges = self.split.path_edges[self.direction].rows(rows)
        if len(edges) == 0:
            return coverage
        slot, u, v, depth = edges.T.astype(np.int64)
        covered = self._covered(kept, g, sizes, question, u, v)  # [e, g]

        is_answer = np.zeros(int(sizes.sum()), bool)
        first = np.cumsum(sizes) - sizes
        answers = np.asarray(self.split.answers[rows])
        owner, _ = np.nonzero(answers >= 0)
        is_answer[first[owner] + answers[answers >= 0]] = True

        # A state is (slot, question, node); the states of a level are those of its v.
        state_u = slot * len(is_answer) + first[question] + u
        state_v = slot * len(is_answer) + first[question] + v
        order = np.lexsort((state_v, depth))
        bounds = np.searchsorted(depth[order], np.arange(depth.max() + 2))
        states = np.empty(0, np.int64)
        best = np.empty((0, g), np.float32)
        for d in range(len(bounds) - 1):
            level = order[bounds[d] : bounds[d + 1]]
            count = covered[level]
            if d > 0:
                # Every u beyond the topic is the v of a hop one level earlier.
                count = count + best[np.searchsorted(states, state_u[level])]
            starts = np.flatnonzero(np.diff(state_v[level], prepend=-1))
            groups = level[starts]
            states = state_v[groups]
            best = np.maximum.reduceat(count, starts, axis=0)
            at_answer = is_answer[states % len(is_answer)]
            np.maximum.at(
                coverage,
                question[groups[at_answer]],
                best[at_answer] / np.float32(d + 1),
            )
        return coverage

    def _covered(
        self,
        kept: _Kept,
        g: int,
        sizes: Int64[np.ndarray, "b"],
        question: Int64[np.ndarray, "e"],
        u: Int64[np.ndarray, "e"],
        v: Int64[np.ndarray, "e"],
    ) -> Float32[np.ndarray, "e g"]:
        """1 where a subset keeps a triplet between the ends of a hop, else 0."""
        width = int(sizes.max())
        first = np.cumsum(sizes) - sizes

        def key(
            owner: Int64[np.ndarray, "n"],
            source: Int64[np.ndarray, "n"],
            target: Int64[np.ndarray, "n"],
        ) -> Int64[np.ndarray, "n"]:
            if self.direction == "both":
                source, target = np.minimum(source, target), np.maximum(source, target)
            return (first[owner] + source) * width + target

        hops, hop_of_edge = np.unique(key(question, u, v), return_inverse=True)
        # Few kept triplets join two nodes of a path: the rest needs no search.
        on_path = np.zeros(int(sizes.sum()), bool)
        on_path[first[question] + u] = True
        on_path[first[question] + v] = True
        owner_first = first[kept.question]
        near: Bool[np.ndarray, "m"] = (
            on_path[owner_first + kept.heads] & on_path[owner_first + kept.tails]
        )
        keys = key(kept.question[near], kept.heads[near], kept.tails[near])
        found = np.minimum(np.searchsorted(hops, keys), len(hops) - 1)
        exact = hops[found] == keys
        covered = np.zeros((len(hops), g), np.float32)
        covered[found[exact], kept.subset[near][exact]] = 1.0
        return covered[hop_of_edge]


def _in_blocks(
    local: Int[np.ndarray, "b c"], blocks: Int64[np.ndarray, "b g"]
) -> tuple[Int64[np.ndarray, "b g c"], Bool[np.ndarray, "b g c"]]:
    """Node ids of padded local ids in each block, 0 for padding; and the mask."""
    mask = np.broadcast_to(
        (local >= 0)[:, None, :], (*blocks.shape, local.shape[1])
    ).copy()
    return np.where(mask, blocks[:, :, None] + local[:, None, :], 0), mask
