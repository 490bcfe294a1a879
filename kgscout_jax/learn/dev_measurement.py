"""Measurement between epochs: the reward of the top candidates, on the host."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from kgscout_jax.data.batches import batch_outputs
from kgscout_jax.data.question_sampling import sample_rows
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.reward_host import HostReward
from kgscout_jax.learn.sharded_reader import ShardedReader, count_candidates
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.utils.ragged import Ragged

TRAIN_QUESTIONS = 256
"""Number of training questions that are measured, always the same ones."""


class Measurement:
    """The reward of the k best candidates on fixed questions of a split, and Hits@1."""

    def __init__(
        self,
        reader: ShardedReader,
        rows: Int[np.ndarray, "k"],
        config: TrainConfig,
    ) -> None:
        split = reader.split
        self.reader, self.devices, self.rows = reader, reader.devices, rows
        self.reward = HostReward(split, config.reward_direction)
        self.budgets = config.budgets
        self.paths: Ragged | None = None
        """Triplets on shortest paths, both ways as in evaluation; if they count."""
        if config.select == "path_triplet_recall":
            self.paths = split.path_triplets["both"]
        self.size = config.batch_size

    def __call__(self, steps: Steps, params: Any, tables: Tables) -> dict[str, float]:
        """Mean reward over budgets, and shares of questions.

        Those with an answer in k; of a policy with an answer head also those whose best
        node is an answer: hits@1.
        """
        rank = partial(steps.rank, params, tables, k=max(self.budgets))
        sums, right, hits, count = 0.0, 0.0, np.zeros(len(self.budgets)), 0
        recalls, with_path = 0.0, 0
        for rows, outputs in batch_outputs(rank, self.reader, self.rows, self.size):
            local = self.reader.local(rows, self.size)
            ranked, is_right = (
                self.devices.local_rows(out)[: len(local)] for out in outputs
            )
            place = np.arange(ranked.shape[1])
            positions = np.stack(
                [np.where(place < budget, ranked, -1) for budget in self.budgets],
                axis=1,
            )
            scores = self.reward.score(local, positions)
            sums += float(scores.total(self.reward.weights).mean(axis=1).sum())
            hits += (scores.presence > 0).sum(axis=0)
            right += float(is_right.sum())
            count += len(local)
            if self.paths is not None:
                recall = self._path_recall(local, positions)
                recalls += float(recall.sum())
                with_path += len(recall)
        if self.devices.processes > 1:
            totals = np.array([sums, right, count, recalls, with_path, *hits])
            sums, right, count, recalls, with_path, *hits = self.devices.sum(totals)
        out = {"reward": round(sums / count, 6)}
        if self.paths is not None:
            out["path_triplet_recall"] = round(recalls / max(with_path, 1), 6)
        if steps.has_answers:
            out["hits@1"] = round(right / count, 6)
        for budget, hit in zip(self.budgets, hits, strict=True):
            out[f"answer_hit@{budget}"] = round(float(hit) / count, 6)
        return out

    def _path_recall(
        self, rows: Int[np.ndarray, "b"], positions: Int[np.ndarray, "b g k"]
    ) -> Float[np.ndarray, "p"]:
        """path_triplet_recall of the p questions with a path, mean over subsets."""
        assert self.paths is not None
        owner, on_path = self.paths.rows(rows)
        count = np.bincount(owner, minlength=len(rows))
        candidates = self.reader.split.candidates[rows]
        ids = candidates[np.arange(len(rows))[:, None, None], positions]
        size = len(self.reader.relation_of)
        wanted = owner * size + on_path
        place = np.arange(len(rows))[:, None, None] * size + ids
        kept = np.isin(place, wanted) & (positions >= 0) & (ids >= 0)
        share = kept.sum(axis=2) / np.maximum(count, 1)[:, None]
        return share.mean(axis=1)[count > 0]


def measurements(
    training_set: TrainingSet, config: TrainConfig, devices: Devices
) -> dict[str, Measurement]:
    """Measurements by split: a sample of training questions, and dev if it exists."""
    reader = training_set.reader
    rows = sample_rows(training_set.rows, TRAIN_QUESTIONS)
    out = {"train": Measurement(reader, rows, config)}
    shards = training_set.shards
    if "dev" in shards.splits:
        dev = devices.synchronized(lambda: shards.split("dev"))
        count_candidates(dev, devices)
        rows = sample_rows(np.arange(len(dev)), config.dev_questions)
        if len(rows):
            of_dev = ShardedReader(
                shards,
                dev,
                devices=devices,
                offsets=reader.offsets,
                words=reader.reads_words,
            )
            out["dev"] = Measurement(of_dev, rows, config)
    return out
