"""Calibrates a policy's logits: the probability of an answer among the K best."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int, Int32

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.retrieve.budget import (
    RANKS,
    Calibration,
    cross_fitted_presence,
    fit_calibration,
    thresholds,
)
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.protocol import holds_answer, top_k

QUESTIONS = 1000
"""The most questions of a calibration."""

TopCandidates = tuple[
    Float32[np.ndarray, "q k"],
    Float64[np.ndarray, "q"],
    Int32[np.ndarray, "q"],
    Bool[np.ndarray, "q k"],
]
"""Logits of the best candidates, thresholds, lengths, and True at answers."""


def calibrate(
    scout: KGScout, shards: Shards, split_name: str, *, questions: int = QUESTIONS
) -> Calibration:
    """The calibration of a policy on questions that it was not trained on.

    Args:
        scout: the policy.
        shards: the shards of the questions.
        split_name: name of the split; not the training split.
        questions: the most questions, sampled with a fixed seed.

    Raises:
        UserError: there is no such split, or no answer among the best candidates.
    """
    split = shards.split(split_name)
    rows = np.sort(np.random.default_rng(0).permutation(len(split))[:questions])
    scores, _ = scout.logits(shards, split, rows)
    return fit_calibration(*top_candidates(split, rows, scores), split=split_name)


def presence_of(
    split: Split,
    scores: Float[np.ndarray, "b n"],
    calibration: Calibration | None,
    k: int,
) -> Float64[np.ndarray, "b k"]:
    """The probability of an answer among the first 1, 2, ... k candidates per question.

    Args:
        split: the questions.
        scores: logits of all candidates.
        calibration: None to fit one on each half of the questions for the other.
        k: the most candidates.

    Raises:
        UserError: without a calibration, a half has no answer among its candidates.
    """
    rows = np.arange(len(split))
    best, threshold, lengths, holds = top_candidates(split, rows, scores, max(k, RANKS))
    if calibration is None:
        presence = cross_fitted_presence(
            best, threshold, lengths, holds, split=split.name
        )
    else:
        presence = calibration.presence(best, threshold, lengths)
    return presence[:, :k]


def top_candidates(
    split: Split,
    rows: Int[np.ndarray, "q"],
    scores: Float[np.ndarray, "q n"],
    k: int = RANKS,
) -> TopCandidates:
    """The ``k`` best candidates of questions: arguments of ``fit_calibration``."""
    ids = np.asarray(split.candidates[rows])
    real = ids >= 0
    best, lengths = top_k(scores, real, ids, k)
    at = np.maximum(best, 0)
    logits = np.take_along_axis(scores, at, axis=1)
    holds = np.take_along_axis(holds_answer(split, rows), at, axis=1) & (best >= 0)
    logits = np.where(best >= 0, logits, np.float32(0))
    threshold = thresholds(np.where(real, scores, -np.inf))
    return logits, threshold, lengths, holds
