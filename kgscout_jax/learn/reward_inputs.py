"""Inputs of the reward on the device, made on the host in numpy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Int, Int32, Int64

from kgscout_jax.data.shards import Split
from kgscout_jax.utils.buckets import bucket


class RewardInputs(NamedTuple):
    """Inputs of the reward beside a ``Batch``: b questions, v nodes, p hops, padded.

    A hop is a row of ``Split.path_edges``. A state is an end (topic slot, node) of one
    or more of them; a question has at most as many states as hops, p bounds both.
    """

    n_real: Int[Array, "b"]
    is_topic: Bool[Array, "b v"]
    pair_of_candidate: Int[Array, "b n"]
    """The pair of nodes of a hop that this candidate joins too; p for none."""
    pair: Int[Array, "b p"]
    """The pair of nodes that each hop joins."""
    source: Int[Array, "b p"]
    """The state each hop starts from; p at a topic."""
    target: Int[Array, "b p"]
    """The state each hop leads to; p + 1 as padding."""
    length: Int[Array, "b p"]
    """Hops from the topic to each state if that is an answer, else 0."""
    levels: Int[Array, "b"]
    """Length of the longest of each question's shortest paths."""


def reward_inputs(
    split: Split,
    direction: str,
    rows: Int[np.ndarray, "k"],
    shape: tuple[int, int, int],
    most_hops: int,
) -> RewardInputs:
    """The inputs of the questions ``rows``, padded to ``shape``: b, n and v.

    ``most_hops`` is the minimum width of hops, before rounding up.
    """
    b, n, v = shape
    n_real = np.zeros(b, np.int32)
    n_real[: len(rows)] = split.n_real[rows]
    is_answer = _node_mask(np.asarray(split.answers[rows]), b, v)

    def pair_key(
        question: Int64[np.ndarray, "..."],
        source: Int64[np.ndarray, "..."],
        target: Int64[np.ndarray, "..."],
    ) -> Int64[np.ndarray, "..."]:
        """One number per pair of nodes that a hop joins; ascending by question."""
        if direction == "both":
            source, target = np.minimum(source, target), np.maximum(source, target)
        return (question * v + source) * v + target

    question, edges = split.path_edges[direction].rows(rows)
    slot, start, end, depth = edges.T.astype(np.int64)
    hops = np.bincount(question, minlength=b)
    # Buckets grow four-fold: few widths, few compilations.
    p = bucket(int(hops.max(initial=most_hops)), factor=4)

    pairs, pair = np.unique(pair_key(question, start, end), return_inverse=True)
    pair_place = _place(pairs // v**2)

    # Within a slot a node has one distance, so all hops that end there share a state.
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

    # A self-loop is on no path, so it is no pair, nor is (0, 0) beyond n_real.
    pair_of_candidate = np.full((b, n), p, np.int32)
    if len(pairs):
        nodes = np.asarray(split.nodes[rows, :n]).astype(np.int64)
        keys = pair_key(np.arange(len(rows))[:, None], nodes[..., 0], nodes[..., 1])
        nearest = np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)
        pair_of_candidate[: len(rows), : keys.shape[1]] = np.where(
            pairs[nearest] == keys, pair_place[nearest], p
        )

    hop_place = _place(question)

    def per_hop(values: Int[np.ndarray, "e"], filler: int) -> Int32[np.ndarray, "b p"]:
        out = np.full((b, p), filler, np.int32)
        out[question, hop_place] = values
        return out

    arrays: Any = (
        n_real,
        _node_mask(np.asarray(split.topics[rows]), b, v),
        pair_of_candidate,
        per_hop(pair_place[pair], 0),
        per_hop(np.where(depth > 0, state_place[source], p), p),
        per_hop(state_place[target], p + 1),
        length,
        levels,
    )
    return RewardInputs(*arrays)


def _node_mask(
    local: Int[np.ndarray, "k c"], b: int, v: int
) -> Bool[np.ndarray, "b v"]:
    """True at the local node ids of each question; -1 is padding."""
    out = np.zeros((b, v), bool)
    question, column = np.nonzero(local >= 0)
    out[question, local[question, column]] = True
    return out


def _place(owner: Int64[np.ndarray, "e"]) -> Int64[np.ndarray, "e"]:
    """The position of each element among those of its owner; owners ascend."""
    return np.arange(len(owner)) - np.searchsorted(owner, owner)
