"""The order of questions: batches of similar size, and those of an epoch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int


def by_size(
    n_real: Int[np.ndarray, "q"], rows: Int[np.ndarray, "k"], batch_size: int
) -> Iterator[Int[np.ndarray, "j"]]:
    """``rows`` in batches of questions of similar size, small ones first."""
    order = rows[np.argsort(n_real[rows], kind="stable")]
    for low in range(0, len(order), batch_size):
        yield order[low : low + batch_size]


def epoch_batches(
    n_real: Int[np.ndarray, "q"],
    rows: Int[np.ndarray, "k"],
    *,
    batch_size: int,
    window: int,
    seed: int,
    epoch: int,
    stream: int = 0,
) -> list[Int[np.ndarray, "j"]]:
    """The batches of one epoch: a function of (seed, epoch, stream) alone.

    Shuffled, then sorted by size within windows of ``window`` batches, so that a batch
    holds questions of similar size and padding costs little; then shuffled as batches.
    """
    rng = np.random.default_rng([seed, epoch, *([0, stream] if stream else [])])
    order = rng.permutation(rows)
    batches = []
    for low in range(0, len(order), batch_size * window):
        chunk = order[low : low + batch_size * window]
        batches += list(by_size(n_real, chunk, batch_size))
    return [batches[i] for i in rng.permutation(len(batches))]
