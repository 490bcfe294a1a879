"""From a run's shards: the number of its steps, and what cosine retrieves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from kgscout_jax.data.question_sampling import epoch_length, sample_rows, trainable_rows
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.learn.shard_sets import set_folders, set_records


def shards_of(metadata: Mapping[str, Any]) -> list[Shards] | None:
    """The shards that a run trains on; None where any is gone or was replaced."""
    try:
        shards = [Shards.open(folder) for folder in set_folders(metadata["config"])]
        expected = [record["fingerprint"] for record in set_records(metadata)]
    except (UserError, OSError, KeyError, TypeError):
        return None
    found = [each.manifest["fingerprint"] for each in shards]
    return shards if found == expected else None


def epoch_steps(shards: Sequence[Shards], config: Mapping[str, Any]) -> int:
    """Steps of an epoch, as training counts them."""
    questions = [
        len(trainable_rows(each.split("train"))) if "train" in each.splits else 0
        for each in shards
    ]
    sample = config.get("questions_per_epoch")
    sample = sample if type(sample) is int else None
    return epoch_length(questions, config["batch_size"], sample)


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
