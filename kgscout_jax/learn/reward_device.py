"""The reward of selected triplets, on the device: the same parts as ``HostReward``.

Every array over nodes or hops has the subsets of a question as its last axis, so that a
step is a gather and a scatter-max of whole rows: one row per candidate, whatever the
number of subsets. Distances grow by one hop per round until no open subset reaches a
new node: hops are unbounded, as on the host (connectivity is 0 beyond 1 / decay hops,
efficiency never is). The host reads what does not depend on the subsets (the hop that a
candidate covers, the states of the shortest-path DAGs), see ``reward_inputs``.

All maxima are of flags (int8, 0 or 1) or counts: no result depends on the order of a
scatter. Flags are no booleans because XLA's CPU backend scatters those one by one,
thirty times slower than rows of int8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, Int32

from kgscout_jax.learn.reward_host import Reward, RewardParts
from kgscout_jax.learn.reward_inputs import RewardInputs, reward_inputs
from kgscout_jax.utils.buckets import bucket

FAR = np.int32(2**30)
"""The distance of unreachable nodes."""


@dataclass(frozen=True)
class DeviceReward(Reward):
    """Reads the inputs of a split's questions, and scores their subsets under jit."""

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
        return bucket(int(self.split.n_nodes.max(initial=1)))

    def read(
        self, rows: Int[np.ndarray, "k"], size: int | None = None, n: int | None = None
    ) -> RewardInputs:
        """The inputs of the questions ``rows``, on the device; see ``arrays``."""
        return jax.tree.map(jnp.asarray, self.arrays(rows, size, n))

    def arrays(
        self,
        rows: Int[np.ndarray, "k"],
        size: int | None = None,
        n: int | None = None,
        *,
        most_hops: int = 1,
    ) -> RewardInputs:
        """The inputs of the questions ``rows``, in numpy, padded to ``size`` questions.

        Args:
            rows: the questions, by their row in the split; repeats are legal.
            size: questions in the batch; None for as many as rows.
            n: candidates in the batch (its ``mask.shape[1]``), at least the n_real of
                each question; None for the width of the split.
            most_hops: the most hops of a question of the batch, if other processes read
                some of its questions.
        """
        width: int = self.split.candidates.shape[1] if n is None else n
        return reward_inputs(
            self.split,
            self.direction,
            np.asarray(rows),
            (len(rows) if size is None else size, width, self.n_nodes),
            most_hops,
        )

    def hops(self, rows: Int[np.ndarray, "k"]) -> int:
        """The most hops of a question of ``rows``; reads offsets only."""
        offsets = self.split.path_edges[self.direction].offsets
        return int((offsets[rows + 1] - offsets[rows]).max(initial=1))


def device_reward(
    inputs: RewardInputs,
    nodes: Int[Array, "b n 2"],
    answers: Int[Array, "b a"],
    indices: Int[Array, "b g k"],
    selected_mask: Bool[Array, "b g k"],
    decay: Float[Array, ""] | float,
    *,
    directed: bool,
) -> RewardParts:
    """The reward parts of g subsets for each of b questions.

    Pure: may be jitted (``directed`` static) and mapped. Equal to ``HostReward.score``
    within the rounding of float32.

    Args:
        inputs: of the same questions, from ``DeviceReward.read``.
        nodes: local node ids of head and tail of each candidate.
        answers: local node ids of the gold answers, -1 as padding.
        indices: the selected candidates; repeats count once. One that is negative or
            beyond the question's n_real selects nothing.
        selected_mask: False where an index selects nothing.
        decay: connectivity lost per hop beyond the first.
        directed: triplets connect from head to tail only, else both ways.
    """
    v, n = inputs.is_topic.shape[1], nodes.shape[1]
    real = selected_mask & (indices >= 0) & (indices < inputs.n_real[:, None, None])
    selected = jax.vmap(_selected, in_axes=(0, None))(jnp.where(real, indices, n), n)
    answer_mask = answers >= 0
    answers = jnp.maximum(answers, 0)
    present = jax.vmap(_present, in_axes=(0, 0, 0, 0, None))(
        selected, nodes, answers, answer_mask, v
    )
    count = jnp.maximum(answer_mask.sum(axis=1), 1)
    nearest = _nearest(inputs.is_topic, selected, nodes, answers, present, directed)
    hops = nearest.astype(jnp.float32)
    connected = nearest < FAR
    closeness = jnp.clip(1.0 - decay * (hops - 1.0), 0.0, 1.0)
    coverage = jnp.where(nearest == 0, 1.0, _coverage(inputs, selected, v))
    return RewardParts(
        presence=present.sum(axis=1, dtype=jnp.int32)
        / count[:, None].astype(jnp.float32),
        connectivity=jnp.where(connected, closeness, 0.0),
        efficiency=jnp.where(connected, 1.0 / (1.0 + hops), 0.0),
        coverage=coverage,
    )


def _selected(indices: Int[Array, "g k"], n: int) -> Int8[Array, "n g"]:
    """1 where a subset of one question selects a candidate; n selects nothing."""
    g = indices.shape[0]
    subset = jnp.arange(g)[:, None]
    return jnp.zeros((n, g), jnp.int8).at[indices, subset].set(1, mode="drop")


def _present(
    selected: Int8[Array, "n g"],
    nodes: Int[Array, "n 2"],
    answers: Int[Array, "a"],
    answer_mask: Bool[Array, "a"],
    v: int,
) -> Int8[Array, "a g"]:
    """1 where a subset of one question has a triplet that holds an answer."""
    a = answers.shape[0]
    # Duplicates of an answer share one place.
    place = jnp.full(v, a).at[jnp.where(answer_mask, answers, v)]
    place = place.set(jnp.arange(a), mode="drop")
    flags = jnp.zeros((a, selected.shape[1]), jnp.int8)
    for end in (0, 1):
        flags = flags.at[place[nodes[:, end]]].max(selected, mode="drop")
    return jnp.where(answer_mask[:, None], flags[place[answers]], 0)


def _nearest(
    is_topic: Bool[Array, "b v"],
    selected: Int8[Array, "b n g"],
    nodes: Int[Array, "b n 2"],
    answers: Int[Array, "b a"],
    present: Int8[Array, "b a g"],
    directed: bool,
) -> Int32[Array, "b g"]:
    """Fewest hops from a topic to a selected answer over selected triplets, or FAR."""

    def relax(
        reached: Int8[Array, "v g"],
        selected: Int8[Array, "n g"],
        nodes: Int[Array, "n 2"],
    ) -> Int8[Array, "v g"]:
        heads, tails = nodes[:, 0], nodes[:, 1]
        further = reached.at[tails].max(reached[heads] & selected)
        if not directed:
            further = further.at[heads].max(reached[tails] & selected)
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
        # One loop over the whole batch: a mapped loop would copy its state.
        reached = jax.vmap(relax)(search.reached, selected, nodes)
        grown = (reached != search.reached).any(axis=1)
        hop = search.hop + 1
        arrivals = search.open & arrived(reached)
        nearest = jnp.where(arrivals, hop, search.nearest)
        return Search(hop, reached, nearest, search.open & grown & ~arrivals)

    shape = (*is_topic.shape, selected.shape[2])
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
    inputs: RewardInputs, selected: Int8[Array, "b n g"], v: int
) -> Float[Array, "b g"]:
    """Best share of the hops of a shortest topic-answer path that is selected.

    All hops are relaxed at once, as often as the longest path is long: after d rounds
    the states d hops from their topic hold the best count of selected hops on the way.
    """
    b, _, g = selected.shape
    p = inputs.pair.shape[1]
    # A path has fewer hops than nodes; narrow counts move half the bytes.
    counts = jnp.int16 if v < 2**15 else jnp.int32

    def cover(
        selected: Int8[Array, "n g"],
        pair_of_candidate: Int[Array, "n"],
        pair: Int[Array, "p"],
    ) -> Int[Array, "p g"]:
        joined = (
            jnp.zeros((p, g), jnp.int8).at[pair_of_candidate].max(selected, mode="drop")
        )
        return joined[pair].astype(counts)

    def relax(
        best: Int[Array, "rows g"],
        covered: Int[Array, "p g"],
        source: Int[Array, "p"],
        target: Int[Array, "p"],
    ) -> Int[Array, "rows g"]:
        return best.at[target].max(best[source] + covered, mode="drop")

    covered = jax.vmap(cover)(selected, inputs.pair_of_candidate, inputs.pair)
    best = jax.lax.fori_loop(
        0,
        inputs.levels.max(initial=0),
        lambda _, best: jax.vmap(relax)(best, covered, inputs.source, inputs.target),
        jnp.zeros((b, p + 1, g), counts),  # row p stays 0: a topic
    )
    length = inputs.length[:, :, None]
    share = best[:, :p] / jnp.maximum(length, 1).astype(jnp.float32)
    return jnp.where(length > 0, share, 0.0).max(axis=1)
