"""The reward of kept triplets, on the device: the same four parts as ``HostReward``.

Every array over nodes or hops has the subsets of a question as its last axis, so that a
step is a gather and a scatter-max of whole rows: one row per candidate, whatever the
number of subsets. Distances grow by one hop per round until no open subset reaches
anything new: no bound on hops, hence no difference from the host (connectivity ends
after 1 / decay hops, but efficiency never does). What does not depend on the subsets
(which hop a candidate covers, the states of the shortest-path DAGs) the host reads
beside the batch.

All maxima are of marks (int8, 0 or 1) or counts: no result depends on the order of a
scatter. Marks are no booleans because XLA's CPU backend scatters those one by one,
thirty times slower than rows of int8.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, Int32, Int64

from kgscout_jax.data.shards import DIRECTIONS, Split
from kgscout_jax.learn.reward_host import RewardWeights

SMALLEST = 32
"""The narrowest padding of nodes and hops."""
FAR = np.int32(2**30)
"""Stands for a distance that was not found."""


class RewardInputs(NamedTuple):
    """What the reward needs beside a ``Batch``: b questions, v nodes, p hops, padded.

    A hop is a row of ``Split.path_edges``. A state is an end (topic slot, node) of one
    or more of them; a question has at most as many states as hops, p bounds both.
    """

    n_real: Int[Array, "b"]
    is_topic: Bool[Array, "b v"]
    pair_of_candidate: Int[Array, "b n"]
    """The pair of nodes a hop joins that this candidate joins, too; p for none."""
    pair: Int[Array, "b p"]
    """The pair of nodes that each hop joins."""
    source: Int[Array, "b p"]
    """The state each hop starts from; p at a topic."""
    target: Int[Array, "b p"]
    """The state each hop leads to; p + 1 as padding."""
    length: Int[Array, "b p"]
    """Hops from the topic to each state if that is an answer, else 0."""
    levels: Int[Array, "b"]
    """The longest of the shortest paths of each question."""


class DeviceParts(NamedTuple):
    """The four parts, each in [0, 1]; b questions, g subsets of each."""

    presence: Float[Array, "b g"]
    connectivity: Float[Array, "b g"]
    efficiency: Float[Array, "b g"]
    coverage: Float[Array, "b g"]

    def total(self, weights: RewardWeights) -> Float[Array, "b g"]:
        """The weighted sum (thesis, equation of section 3.3.3)."""
        return (
            weights.presence * self.presence
            + weights.connectivity * self.connectivity
            + weights.efficiency * self.efficiency
            + weights.coverage * self.coverage
        )


@dataclass(frozen=True)
class DeviceReward:
    """Reads what a batch of a split's questions needs, and scores subsets under jit."""

    split: Split
    direction: Literal["directed", "both"] = "directed"
    """Whether triplets connect from head to tail only (the thesis) or both ways."""
    weights: RewardWeights = field(default_factory=RewardWeights)

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ValueError(
                f"direction is {self.direction!r}, expected one of {DIRECTIONS}"
            )

    def total(
        self,
        inputs: RewardInputs,
        nodes: Int[Array, "b n 2"],
        answers: Int[Array, "b a"],
        indices: Int[Array, "b g k"],
        selected_mask: Bool[Array, "b g k"],
    ) -> Float[Array, "b g"]:
        """The weighted reward of g subsets for each of b questions; pure, for jit."""
        parts = device_reward(
            inputs,
            nodes,
            answers,
            indices,
            selected_mask,
            self.weights.decay,
            directed=self.direction == "directed",
        )
        return parts.total(self.weights)

    @cached_property
    def n_nodes(self) -> int:
        """Static bound on local node ids, a power of two."""
        return _bucket(int(self.split.n_nodes.max(initial=1)), 2)

    def read(
        self, rows: Int[np.ndarray, "k"], size: int | None = None, n: int | None = None
    ) -> RewardInputs:
        """The inputs of the questions ``rows``; empty ones fill up to ``size``.

        Args:
            rows: the questions, by their row in the split; repeats are legal.
            size: questions in the batch; None for as many as rows.
            n: candidates in the batch (its ``mask.shape[1]``), at least the n_real of
                each question; None for the width of the split.
        """
        return jax.tree.map(jnp.asarray, self.arrays(rows, size, n))

    def hops(self, rows: Int[np.ndarray, "k"]) -> int:
        """The most hops that a question of ``rows`` has; reads no hop."""
        offsets = self.split.path_edges[self.direction].offsets
        return int((offsets[rows + 1] - offsets[rows]).max(initial=1))

    def arrays(
        self,
        rows: Int[np.ndarray, "k"],
        size: int | None = None,
        n: int | None = None,
        *,
        most_hops: int = 1,
    ) -> RewardInputs:
        """As ``read`` reads them, in numpy.

        ``most_hops`` is the most that a question of the batch has, if some of its
        questions are read elsewhere.
        """
        split = self.split
        rows = np.asarray(rows)
        b = len(rows) if size is None else size
        width: int = split.candidates.shape[1] if n is None else n
        v = self.n_nodes
        n_real = np.zeros(b, np.int32)
        n_real[: len(rows)] = split.n_real[rows]
        is_answer = _marked(np.asarray(split.answers[rows]), b, v)

        question, edges = self.split.path_edges[self.direction].rows(rows)
        slot, start, end, depth = edges.T.astype(np.int64)
        hops = np.bincount(question, minlength=b)
        # Four-fold steps: few widths, so few compilations.
        p = _bucket(int(hops.max(initial=most_hops)), 4)

        pairs, pair = np.unique(self._pair(question, start, end), return_inverse=True)
        pair_place = _place(pairs // v**2)

        # Within a slot a node has one distance: the state of every hop that ends there.
        owner = question * split.topics.shape[1] + slot
        states, target = np.unique(owner * v + end, return_inverse=True)
        source = np.searchsorted(states, owner * v + start)
        source = np.where(depth > 0, source, 0)  # a topic is no state
        state_question = states // (v * split.topics.shape[1])
        state_place = _place(state_question)
        state_depth = np.zeros(len(states), np.int32)
        state_depth[target] = depth + 1
        length = np.zeros((b, p), np.int32)
        length[state_question, state_place] = np.where(
            is_answer[state_question, states % v], state_depth, 0
        )
        levels = np.zeros(b, np.int32)
        np.maximum.at(levels, state_question, state_depth)

        hop_place = _place(question)

        def per_hop(
            values: Int[np.ndarray, "e"], filler: int
        ) -> Int32[np.ndarray, "b p"]:
            out = np.full((b, p), filler, np.int32)
            out[question, hop_place] = values
            return out

        arrays: Any = (
            n_real,
            _marked(np.asarray(split.topics[rows]), b, v),
            self._pair_of_candidate(rows, (b, width), pairs, pair_place, p),
            per_hop(pair_place[pair], 0),
            per_hop(np.where(depth > 0, state_place[source], p), p),
            per_hop(state_place[target], p + 1),
            length,
            levels,
        )
        return RewardInputs(*arrays)

    def _pair(
        self,
        question: Int64[np.ndarray, "..."],
        source: Int64[np.ndarray, "..."],
        target: Int64[np.ndarray, "..."],
    ) -> Int64[np.ndarray, "..."]:
        """One number per pair of nodes that a hop joins; ascending by question."""
        if self.direction == "both":
            source, target = np.minimum(source, target), np.maximum(source, target)
        return (question * self.n_nodes + source) * self.n_nodes + target

    def _pair_of_candidate(
        self,
        rows: Int[np.ndarray, "k"],
        shape: tuple[int, int],
        pairs: Int64[np.ndarray, "u"],
        pair_place: Int64[np.ndarray, "u"],
        none: int,
    ) -> Int32[np.ndarray, "b n"]:
        """Which of its question's pairs each candidate joins, else ``none``."""
        out = np.full(shape, none, np.int32)
        if len(pairs) == 0 or len(rows) == 0:
            return out
        n = min(shape[1], self.split.nodes.shape[1])
        nodes = np.asarray(self.split.nodes[rows, :n]).astype(np.int64)
        question = np.arange(len(rows))[:, None]
        keys = self._pair(question, nodes[..., 0], nodes[..., 1])
        found = np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)
        # Beyond n_real both nodes are 0; a self-loop is on no path, so it is no pair.
        out[: len(rows), :n] = np.where(pairs[found] == keys, pair_place[found], none)
        return out


def device_reward(
    inputs: RewardInputs,
    nodes: Int[Array, "b n 2"],
    answers: Int[Array, "b a"],
    indices: Int[Array, "b g k"],
    selected_mask: Bool[Array, "b g k"],
    decay: Float[Array, ""] | float,
    *,
    directed: bool,
) -> DeviceParts:
    """The reward parts of g subsets for each of b questions.

    Pure: may be jitted (``directed`` static) and mapped. Equal to ``HostReward.score``
    within the rounding of float32.

    Args:
        inputs: of the same questions, from ``DeviceReward.read``.
        nodes: local node ids of head and tail of each candidate.
        answers: local node ids of the gold answers, -1 as padding.
        indices: the kept candidates; repeats count once. One that is negative or
            beyond the question's n_real keeps nothing.
        selected_mask: False where an index keeps nothing.
        decay: connectivity lost per hop beyond the first.
        directed: triplets connect from head to tail only, else both ways.
    """
    v, n = inputs.is_topic.shape[1], nodes.shape[1]
    real = selected_mask & (indices >= 0) & (indices < inputs.n_real[:, None, None])
    kept = jax.vmap(_kept, in_axes=(0, None))(jnp.where(real, indices, n), n)
    answer_mask = answers >= 0
    answers = jnp.maximum(answers, 0)
    present = jax.vmap(_present, in_axes=(0, 0, 0, 0, None))(
        kept, nodes, answers, answer_mask, v
    )
    count = jnp.maximum(answer_mask.sum(axis=1), 1)
    nearest = _nearest(inputs.is_topic, kept, nodes, answers, present, directed)
    hops = nearest.astype(jnp.float32)
    connected = nearest < FAR
    closeness = jnp.clip(1.0 - decay * (hops - 1.0), 0.0, 1.0)
    coverage = jnp.where(nearest == 0, 1.0, _coverage(inputs, kept, v))
    return DeviceParts(
        presence=present.sum(axis=1, dtype=jnp.int32)
        / count[:, None].astype(jnp.float32),
        connectivity=jnp.where(connected, closeness, 0.0),
        efficiency=jnp.where(connected, 1.0 / (1.0 + hops), 0.0),
        coverage=coverage,
    )


def _kept(indices: Int[Array, "g k"], n: int) -> Int8[Array, "n g"]:
    """1 where a subset of one question keeps a candidate; index n keeps nothing."""
    g = indices.shape[0]
    subset = jnp.arange(g)[:, None]
    return jnp.zeros((n, g), jnp.int8).at[indices, subset].set(1, mode="drop")


def _present(
    kept: Int8[Array, "n g"],
    nodes: Int[Array, "n 2"],
    answers: Int[Array, "a"],
    answer_mask: Bool[Array, "a"],
    v: int,
) -> Int8[Array, "a g"]:
    """1 where a subset of one question keeps a triplet that holds an answer."""
    a = answers.shape[0]
    # An answer that is named twice has one of its places, and both look there.
    place = jnp.full(v, a).at[jnp.where(answer_mask, answers, v)]
    place = place.set(jnp.arange(a), mode="drop")
    found = jnp.zeros((a, kept.shape[1]), jnp.int8)
    for end in (0, 1):
        found = found.at[place[nodes[:, end]]].max(kept, mode="drop")
    return jnp.where(answer_mask[:, None], found[place[answers]], 0)


def _nearest(
    is_topic: Bool[Array, "b v"],
    kept: Int8[Array, "b n g"],
    nodes: Int[Array, "b n 2"],
    answers: Int[Array, "b a"],
    present: Int8[Array, "b a g"],
    directed: bool,
) -> Int32[Array, "b g"]:
    """Fewest hops from a topic to a kept answer over kept triplets; FAR if none."""

    def relax(
        reached: Int8[Array, "v g"], kept: Int8[Array, "n g"], nodes: Int[Array, "n 2"]
    ) -> Int8[Array, "v g"]:
        heads, tails = nodes[:, 0], nodes[:, 1]
        further = reached.at[tails].max(reached[heads] & kept)
        if not directed:
            further = further.at[heads].max(reached[tails] & kept)
        return further

    def arrived(reached: Int8[Array, "b v g"]) -> Bool[Array, "b g"]:
        return (jax.vmap(lambda r, at: r[at])(reached, answers) & present).any(axis=1)

    class Search(NamedTuple):
        hop: Int32[Array, ""]
        reached: Int8[Array, "b v g"]
        nearest: Int32[Array, "b g"]
        open: Bool[Array, "b g"]
        """Subsets that may still reach an answer."""

    def grow(search: Search) -> Search:
        # Over the batch inside one loop: a mapped loop would copy all it carries.
        reached = jax.vmap(relax)(search.reached, kept, nodes)
        grown = (reached != search.reached).any(axis=1)
        hop = search.hop + 1
        found = search.open & arrived(reached)
        nearest = jnp.where(found, hop, search.nearest)
        return Search(hop, reached, nearest, search.open & grown & ~found)

    shape = (*is_topic.shape, kept.shape[2])
    reached = jnp.broadcast_to(is_topic[:, :, None], shape).astype(jnp.int8)
    at_topic = arrived(reached)
    start = Search(
        jnp.int32(0),
        reached,
        jnp.where(at_topic, jnp.int32(0), FAR),
        present.any(axis=1) & ~at_topic,
    )
    return jax.lax.while_loop(lambda search: search.open.any(), grow, start).nearest


def _coverage(
    inputs: RewardInputs, kept: Int8[Array, "b n g"], v: int
) -> Float[Array, "b g"]:
    """Best share of the hops of a shortest topic-answer path that is kept.

    All hops are relaxed at once, as often as the longest path is long: after d rounds
    the states d hops from their topic hold the best count of kept hops on the way.
    """
    b, _, g = kept.shape
    p = inputs.pair.shape[1]
    # A path has fewer hops than there are nodes; narrow counts move half the bytes.
    counts = jnp.int16 if v < 2**15 else jnp.int32

    def cover(
        kept: Int8[Array, "n g"],
        pair_of_candidate: Int[Array, "n"],
        pair: Int[Array, "p"],
    ) -> Int[Array, "p g"]:
        joined = (
            jnp.zeros((p, g), jnp.int8).at[pair_of_candidate].max(kept, mode="drop")
        )
        return joined[pair].astype(counts)

    def relax(
        best: Int[Array, "p+1 g"],
        covered: Int[Array, "p g"],
        source: Int[Array, "p"],
        target: Int[Array, "p"],
    ) -> Int[Array, "p+1 g"]:
        return best.at[target].max(best[source] + covered, mode="drop")

    covered = jax.vmap(cover)(kept, inputs.pair_of_candidate, inputs.pair)
    best = jax.lax.fori_loop(
        0,
        inputs.levels.max(initial=0),
        lambda _, best: jax.vmap(relax)(best, covered, inputs.source, inputs.target),
        jnp.zeros((b, p + 1, g), counts),  # row p stays 0: a topic
    )
    length = inputs.length[:, :, None]
    share = best[:, :p] / jnp.maximum(length, 1).astype(jnp.float32)
    return jnp.where(length > 0, share, 0.0).max(axis=1)


def _bucket(size: int, factor: int) -> int:
    """The first of SMALLEST, SMALLEST * factor, ... that holds ``size``."""
    width = SMALLEST
    while width < size:
        width *= factor
    return width


def _marked(local: Int[np.ndarray, "k c"], b: int, v: int) -> Bool[np.ndarray, "b v"]:
    """True at the local node ids of each question; -1 marks nothing."""
    out = np.zeros((b, v), bool)
    question, column = np.nonzero(local >= 0)
    out[question, local[question, column]] = True
    return out


def _place(owner: Int64[np.ndarray, "e"]) -> Int64[np.ndarray, "e"]:
    """The place of each entry among those of the same owner; owners ascend."""
    return np.arange(len(owner)) - np.searchsorted(owner, owner)
