"""From a policy's scores of a split to the chance of an answer among the K best."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int, Int32

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.export.load import CONFIG, is_exported
from kgscout_jax.retrieve.budget import (
    RANKS,
    Calibration,
    crossed_presence,
    fit_calibration,
    thresholds,
)
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.protocol import holds_answer, top_k
from kgscout_jax.utils.io import read_json

QUESTIONS = 1000
"""How many questions, at most, a calibration is fitted on."""

Ranked = tuple[
    Float32[np.ndarray, "q k"],
    Float64[np.ndarray, "q"],
    Int32[np.ndarray, "q"],
    Bool[np.ndarray, "q k"],
]
"""Logits of the best candidates, thresholds, how many there are, which hold answers."""


def calibrate(
    scout: KGScout, shards: Shards, split_name: str, *, questions: int = QUESTIONS
) -> Calibration:
    """The calibration of a policy on questions that it has not learned from.

    Args:
        scout: the policy.
        shards: where the questions are.
        split_name: of which split; not the one it was trained on.
        questions: how many of them at most, drawn with a fixed seed.

    Raises:
        UserError: there is no such split, or no answer among the best candidates.
    """
    split = shards.split(split_name)
    drawn = np.random.default_rng(0).permutation(len(split))[:questions]
    rows = np.sort(drawn)
    scores, _ = scout.logits(shards, split, rows)
    return fit_calibration(*ranked(split, rows, scores), split=split_name)


def saved_calibration(path: Path) -> Calibration | None:
    """What an exported policy brings; None of a run, or where there is none.

    Raises:
        UserError: it is damaged.
    """
    if not is_exported(path):
        return None
    value = read_json(path / CONFIG).get("calibration")
    if value is None:
        return None
    return Calibration.from_dict(value, f"{path / CONFIG}: calibration")


def presence_of(
    split: Split,
    scores: Float[np.ndarray, "b n"],
    calibration: Calibration | None,
    k: int,
) -> Float64[np.ndarray, "b k"]:
    """The chance of an answer among the first 1, 2, ... k of each question of a split.

    Args:
        split: the questions.
        scores: logits of all candidates.
        calibration: None: each half of the questions by the other half's.
        k: the most that are kept.

    Raises:
        UserError: without a calibration: a half has no answer among its candidates.
    """
    rows = np.arange(len(split))
    best, threshold, lengths, holds = ranked(split, rows, scores, max(k, RANKS))
    if calibration is None:
        found = crossed_presence(best, threshold, lengths, holds, split=split.name)
    else:
        found = calibration.presence(best, threshold, lengths)
    return found[:, :k]


def ranked(
    split: Split,
    rows: Int[np.ndarray, "q"],
    scores: Float[np.ndarray, "q n"],
    k: int = RANKS,
) -> Ranked:
    """The ``k`` best candidates of questions, as ``fit_calibration`` takes them."""
    ids = np.asarray(split.candidates[rows])
    real = ids >= 0
    best, lengths = top_k(scores, real, ids, k)
    at = np.maximum(best, 0)
    logits = np.take_along_axis(scores, at, axis=1)
    holds = np.take_along_axis(holds_answer(split, rows), at, axis=1) & (best >= 0)
    logits = np.where(best >= 0, logits, np.float32(0))
    threshold = thresholds(np.where(real, scores, -np.inf))
    return logits, threshold, lengths, holds
