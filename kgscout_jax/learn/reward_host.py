"""The reward of subsets of candidates, on the host (thesis, section 3.3.3).

Choices that the thesis leaves open: gold answers are those in the question's subgraph
after the cut; a topic that is itself an answer scores 1 in connectivity, efficiency and
coverage if its entity is selected; an unreachable answer scores 0. Coverage takes the
best over all shortest paths and all (topic, answer) pairs by dynamic programming over
the stored shortest-path DAGs, so no path is enumerated.

All subsets of a question are scored at once: a triplet has one bit for each subset that
selects it (``subset_bits.py``), and one search covers all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Array, Float, Float32, Int, Int64, UInt

from kgscout_jax.data.shards import DIRECTIONS, Split
from kgscout_jax.learn.subset_bits import (
    SubsetTriplets,
    or_at,
    subset_triplets,
    unpack_bits,
)


@dataclass(frozen=True, kw_only=True)
class RewardWeights:
    """Weights of the four parts; the defaults are the thesis's, the maximum is 10."""

    presence: float = 2.0
    """Share of the gold answers among the selected entities."""
    connectivity: float = 4.0
    """A topic and an answer are connected, less for each hop beyond the first."""
    efficiency: float = 1.0
    """1 / (1 + hops) of the shortest connection."""
    coverage: float = 3.0
    """Best share of a true shortest path that is selected."""
    decay: float = 0.2
    """Connectivity lost per hop beyond the first (the thesis's lambda)."""

    def __post_init__(self) -> None:
        for name in ("presence", "connectivity", "efficiency", "coverage", "decay"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value}, expected a number >= 0")


class RewardParts(NamedTuple):
    """The four parts, each in [0, 1], numpy or JAX; b questions, g subsets of each."""

    presence: Float[Array | np.ndarray, "b g"]
    connectivity: Float[Array | np.ndarray, "b g"]
    efficiency: Float[Array | np.ndarray, "b g"]
    coverage: Float[Array | np.ndarray, "b g"]

    def total(self, weights: RewardWeights) -> Any:
        """The weighted sum (thesis, equation of section 3.3.3), [b, g] float32."""
        return (
            weights.presence * self.presence
            + weights.connectivity * self.connectivity
            + weights.efficiency * self.efficiency
            + weights.coverage * self.coverage
        )


@dataclass(frozen=True)
class Reward:
    """Settings of a reward: the split, the direction and the weights."""

    split: Split
    direction: Literal["directed", "both"] = "directed"
    """Whether triplets connect from head to tail only (the thesis) or both ways."""
    weights: RewardWeights = RewardWeights()

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ValueError(
                f"direction is {self.direction!r}, expected one of {DIRECTIONS}"
            )


@dataclass(frozen=True)
class HostReward(Reward):
    """Scores subsets in numpy; stateless and thread-safe."""

    def score(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> RewardParts:
        """The reward parts of g subsets for each of b questions.

        Args:
            rows: the questions, by their row in the split; repeats are legal.
            positions: of the selected candidates in the question's list; repeats count
                once. A position that is -1, or beyond the question's n_real, selects
                nothing.

        Returns:
            Arrays [b, g]. All 0 for a question without a gold answer in its subgraph.
        """
        rows = np.asarray(rows)
        b, g = len(rows), positions.shape[1]
        sizes = self.split.n_nodes[rows].astype(np.int64)
        first = np.cumsum(sizes) - sizes  # nodes are numbered through the batch
        triplets = subset_triplets(self.split, rows, np.asarray(positions), first)
        owner, local = _unpadded(self.split.answers, rows)
        answers = first[owner] + local

        # The subsets that select a triplet of each node, and of each answer.
        present = np.zeros(
            (int(sizes.sum()), triplets.words.shape[1]), triplets.words.dtype
        )
        or_at(present, triplets.heads, triplets.words)
        or_at(present, triplets.tails, triplets.words)
        answer_words = present[answers]
        answer_counts = np.zeros((b, g), np.int64)
        np.add.at(answer_counts, owner, unpack_bits(answer_words, g))
        n_answers = np.bincount(owner, minlength=b)
        presence = answer_counts / np.maximum(n_answers, 1)[:, None]

        slot_owner, local = _unpadded(self.split.topics, rows)
        nearest = self._nearest(
            triplets,
            len(present),
            first[slot_owner] + local,
            owner,
            answers,
            answer_words,
            (b, g),
        )
        connected = nearest >= 0
        # Both fall with distance, so the nearest selected answer decides.
        closeness = np.clip(1.0 - self.weights.decay * (nearest - 1.0), 0.0, 1.0)
        connectivity = np.where(connected, closeness, 0.0)
        efficiency = np.where(connected, 1.0 / (1.0 + np.maximum(nearest, 0)), 0.0)

        coverage = self._coverage(rows, triplets, g, sizes)
        coverage[nearest == 0] = 1.0
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

    def _nearest(
        self,
        triplets: SubsetTriplets,
        n_nodes: int,
        topics: Int64[np.ndarray, "t"],
        owner: Int64[np.ndarray, "a"],
        answers: Int64[np.ndarray, "a"],
        answer_words: UInt[np.ndarray, "a w"],
        shape: tuple[int, int],
    ) -> Int64[np.ndarray, "b g"]:
        """Hops from the topics to the nearest selected answer, -1 if unreachable.

        One sweep over the triplets per hop, for all subsets at once, until each subset
        has reached an answer or reaches no new node. A topic is at distance 0 of
        itself, selected or not.
        """
        question, words = triplets.question, triplets.words
        sources, targets = triplets.heads, triplets.tails
        if self.direction == "both":
            sources, targets = np.r_[sources, targets], np.r_[targets, sources]
            question, words = np.r_[question, question], np.concatenate([words, words])
        frontier = np.zeros((n_nodes, words.shape[1]), words.dtype)
        frontier[topics] = ~words.dtype.type(0)
        reached = frontier.copy()
        out = np.full(shape, -1, np.int64)
        arrived = np.zeros((len(out), words.shape[1]), words.dtype)
        hops = 0
        while True:
            arrivals = np.zeros_like(arrived)
            or_at(arrivals, owner, frontier[answers] & answer_words)
            arrivals &= ~arrived
            if arrivals.any():
                out[unpack_bits(arrivals, out.shape[1])] = hops
                arrived |= arrivals
            new = frontier[sources] & words
            new &= ~(reached[targets] | arrived[question])
            rows = np.flatnonzero(new[:, 0] if new.shape[1] == 1 else new.any(axis=1))
            if not len(rows):
                return out
            frontier[:] = 0
            or_at(frontier, targets[rows], new[rows])
            reached |= frontier
            hops += 1

    def _coverage(
        self,
        rows: Int[np.ndarray, "b"],
        triplets: SubsetTriplets,
        g: int,
        sizes: Int64[np.ndarray, "b"],
    ) -> Float32[np.ndarray, "b g"]:
        """Best share of the hops of a shortest topic-answer path that is selected.

        Walks the DAGs of all questions, topics and subsets at once, level by level: the
        best count of selected hops on a path to v is the best over the hops (u, v) of
        the count at u, plus one if that hop is selected.
        """
        b = len(rows)
        coverage = np.zeros((b, g), np.float32)
        question, edges = self.split.path_edges[self.direction].rows(rows)
        if len(edges) == 0:
            return coverage
        slot, u, v, depth = edges.T.astype(np.int64)
        covered = self._covered(triplets, g, sizes, question, u, v)  # [e, g]

        is_answer = np.zeros(int(sizes.sum()), bool)
        first = np.cumsum(sizes) - sizes
        owner, local = _unpadded(self.split.answers, rows)
        is_answer[first[owner] + local] = True

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
        triplets: SubsetTriplets,
        g: int,
        sizes: Int64[np.ndarray, "b"],
        question: Int64[np.ndarray, "e"],
        u: Int64[np.ndarray, "e"],
        v: Int64[np.ndarray, "e"],
    ) -> Float32[np.ndarray, "e g"]:
        """1 where a subset has a triplet between the ends of a hop, else 0."""
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
        local = first[triplets.question]
        keys = key(triplets.question, triplets.heads - local, triplets.tails - local)
        position = np.minimum(np.searchsorted(hops, keys), len(hops) - 1)
        exact = hops[position] == keys
        words = np.zeros((len(hops), triplets.words.shape[1]), triplets.words.dtype)
        or_at(words, position[exact], triplets.words[exact])
        return unpack_bits(words, g).astype(np.float32)[hop_of_edge]


def _unpadded(
    padded: Int[np.ndarray, "q c"], rows: Int[np.ndarray, "b"]
) -> tuple[Int64[np.ndarray, "m"], Int64[np.ndarray, "m"]]:
    """Position in ``rows``, and value, of each element that is not padding."""
    of_rows = np.asarray(padded[rows])
    owner, place = np.nonzero(of_rows >= 0)
    return owner, of_rows[owner, place].astype(np.int64)
