"""The questions to train on: all trainable ones, or a sample for each epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from kgscout_jax.data.shards import Split


def trainable_rows(split: Split) -> Int[np.ndarray, "k"]:
    """Rows of the questions that have an answer and a candidate."""
    has_answer = (split.answers >= 0).any(axis=1)
    return np.flatnonzero(has_answer & (split.n_real > 0))


def sample_rows(rows: Int[np.ndarray, "k"], size: int) -> Int[np.ndarray, "j"]:
    """At most ``size`` of ``rows``, evenly spaced: the same ones in every run."""
    if size >= len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.int64)]


def epoch_rows(
    rows: Int[np.ndarray, "k"], size: int | None, *, seed: int, epoch: int
) -> Int[np.ndarray, "j"]:
    """The questions of one epoch: all, or ``size`` drawn by (seed, epoch) alone."""
    if size is None or size >= len(rows):
        return rows
    rng = np.random.default_rng([seed, epoch, 1])
    return np.sort(rng.choice(rows, size, replace=False))


def epoch_length(
    questions: Sequence[int], batch_size: int, questions_per_epoch: int | None
) -> int:
    """Steps of an epoch: a pass over every set, or as many as hold a sample.

    Args:
        questions: the number of trainable questions of each set.
        batch_size: questions per step.
        questions_per_epoch: the sample's size, of all sets together; None for all.
    """
    steps = sum(math.ceil(n / batch_size) for n in questions)
    if questions_per_epoch is None:
        return steps
    return min(steps, math.ceil(questions_per_epoch / batch_size))
