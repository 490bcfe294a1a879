"""From a run's shards: the number of its steps, and what cosine retrieves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from kgscout_jax.data.question_sampling import sample_rows, trainable_rows
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError


def shards_of(metadata: Mapping[str, Any]) -> Shards | None:
    """The shards that a run trains on; None where they are gone or were replaced."""
    try:
        shards = Shards.open(Path(str(metadata["config"].get("shards"))))
    except (UserError, OSError):
        return None
    recorded = metadata.get("shards")
    expected = recorded.get("fingerprint") if isinstance(recorded, dict) else None
    return shards if shards.manifest["fingerprint"] == expected else None


def epoch_steps(shards: Shards, config: Mapping[str, Any]) -> int:
    """Steps of an epoch, as training counts them."""
    n = len(trainable_rows(shards.split("train"))) if "train" in shards.splits else 0
    sample = config.get("questions_per_epoch")
    n = min(n, sample) if type(sample) is int else n
    return math.ceil(n / config["batch_size"])


def cosine_hits(
    dev: Split, config: Mapping[str, Any], ks: Sequence[int]
) -> dict[int, float]:
    """answer_hit@K of cosine on the dev questions that training measures.

    Candidates are stored in descending order of cosine: the first K are its choice.
    """
    size = config.get("dev_questions")
    if type(size) is not int or size < 1 or not len(dev):
        return {}
    rows = sample_rows(np.arange(len(dev), dtype=np.int64), size)
    first = np.stack([first_hit(dev, row) for row in rows])
    return {k: round(float((first < k).mean()), 6) for k in ks}


def first_hit(split: Split, row: int) -> Int[np.ndarray, ""]:
    """Position of the first candidate with an answer in it; beyond all if none has."""
    answers = split.answers[row]
    nodes = np.asarray(split.nodes[row, : split.n_real[row]])
    holds = np.isin(nodes, answers[answers >= 0]).any(axis=1)
    return np.asarray(holds.argmax() if holds.any() else np.iinfo(np.int64).max)
