"""The inputs of the reward on the device, gathered there from a split's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from kgscout_jax.data.batches import Batch
from kgscout_jax.data.resident import CHUNK, Windows, filled, with_row
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.reward_inputs import RewardInputs

HOP_BYTES, CANDIDATE_BYTES = 16, 4
"""Of each hop of a shortest path, and of each candidate."""


class RewardArrays(NamedTuple):
    """The inputs of q questions, the last one empty; -1 where an index is none."""

    pair_of_candidate: Windows
    hops: Windows
    """(pair, source, target, length)"""
    levels: Int[Array, "q"]

    def inputs(self, rows: Int[Array, "b"], batch: Batch, hops: int) -> RewardInputs:
        """The inputs of these questions, for use under jit.

        ``batch``: of the same questions; ``hops``: the width.
        """
        pairs, real = self.pair_of_candidate.read(rows, batch.mask.shape[1])
        pairs = filled(pairs, real, -1)
        (pair, source, target, length), real = self.hops.read(rows, hops)
        source = filled(source, real, -1)
        return RewardInputs(
            n_real=batch.mask.sum(axis=1, dtype=jnp.int32),
            is_topic=batch.topics,
            pair_of_candidate=jnp.where(pairs < 0, hops, pairs),
            pair=filled(pair, real),
            source=jnp.where(source < 0, hops, source),
            target=filled(target, real, hops + 1),
            length=filled(length, real),
            levels=self.levels[rows],
        )


def reward_arrays(
    rewards: Sequence[DeviceReward], candidates: int, hops: int
) -> RewardArrays:
    """The arrays, in numpy, of the splits of ``rewards``, one below the other.

    Args:
        rewards: of each split.
        candidates: the widest window of candidates.
        hops: the widest window of hops.
    """
    parts = []
    for reward in rewards:
        split = reward.split
        offsets = split.path_edges[reward.direction].offsets
        for low in range(0, len(split), CHUNK):
            rows = np.arange(low, min(low + CHUNK, len(split)))
            inputs = reward.arrays(rows)
            p = inputs.pair.shape[1]
            counts = offsets[rows + 1] - offsets[rows]
            real = np.arange(p) < counts[:, None]
            on_path = np.asarray(inputs.pair_of_candidate)
            mask = split.candidates[rows] >= 0
            source = np.asarray(inputs.source)
            parts.append(
                (
                    np.where(on_path == p, -1, on_path)[mask],
                    mask.sum(axis=1),
                    np.asarray(inputs.pair)[real],
                    np.where(source == p, -1, source)[real],
                    np.asarray(inputs.target)[real],
                    np.asarray(inputs.length)[real],
                    counts,
                    np.asarray(inputs.levels),
                )
            )
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
    pair_of_candidate, n_real, *of_hops, counts, levels = columns
    return RewardArrays(
        Windows.of(pair_of_candidate, n_real, candidates),
        Windows.of(tuple(of_hops), counts, hops),
        with_row(levels),  # pyright: ignore[reportArgumentType]
    )
