"""``config.json`` of a run: its settings, network, encoder and shards."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32

from kgscout_jax.data.question_sampling import sample_rows
from kgscout_jax.data.shards import Split
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.shard_sets import set_names, shards_records
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import PPR_FLOOR, ppr_statistics
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.registry import config_to_json
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.utils.differences import flag_difference

PLACES = (
    "resident_gb",
    "steps_per_dispatch",
    "batch_per_device",
    "remat",
    "devices",
    "shard_tables",
    "coordinator",
    "processes",
    "process_id",
    "distributed",
)
"""Settings of the hardware; they change results by rounding only."""
MAY_CHANGE = ("run", "save_every", "shards", "log", *PLACES)
"""Settings that may differ when a run is resumed; shards are compared by content.
``save_every`` may not differ if it decides which steps are stale."""

EARLIER = {
    "answer_width": 0,
    "question_hidden": 0,
    "question_noise": 0.0,
    "word_rank": 0,
}
"""What runs did that were started before these settings existed."""


def write_or_check_config(
    run: RunFolder,
    config: TrainConfig,
    policy: NetworkConfig,
    sets: Sequence[TrainingSet],
) -> list[str]:
    """Write ``config.json``, or check that a run to resume has the same settings.

    Returns:
        The names of the sets: those of their folders when training began.
    """
    manifests = [each.shards.manifest for each in sets]
    current: dict[str, Any] = {
        "config": config.to_dict(),
        "policy": config_to_json(policy),
        "encoder": sets[0].shards.encoder,
        "started_in": os.getcwd(),
        **shards_records(config.shards, manifests, config.weights),
    }
    if run.config_file.exists():
        saved = run.config
        may_change = {*MAY_CHANGE}
        if config.stale:
            may_change.remove("save_every")
        elif not config.samples_on_host:
            may_change.add("staleness")  # has no effect
        # A setting that is newer than the run had its default, or another value.
        defaults = TrainConfig(shards=config.shards, run=config.run).to_dict()
        for name, value in current["config"].items():
            before = saved["config"].get(name, {**defaults, **EARLIER}[name])
            if before != value and name not in may_change:
                found = flag_difference(name, before, value)
                raise UserError(
                    f"{run.path}: was started with {found}; "
                    "choose another --run for other settings"
                )
        if saved["shards"]["fingerprint"] != current["shards"]["fingerprint"]:
            raise UserError(
                f"{run.path}: was started on other shards "
                f"({saved['shards']['source']}), found "
                f"{' '.join(map(str, config.shards))}"
            )
        if "shard_sets" in saved:
            current["shard_sets"] = saved["shard_sets"]
    run.write_config(current)
    return set_names(current)


def network_config(config: TrainConfig, sets: Sequence[TrainingSet]) -> NetworkConfig:
    """The network's config: sizes of the settings, PPR statistics of the sets."""
    dimension = int(sets[0].shards.encoder["dimension"])
    if config.policy == "mlp":
        return MlpConfig(dimension=dimension, compute_dtype=config.dtype)
    mean, std = mixed_ppr_statistics([each.split for each in sets], config.weights)
    if config.policy == "walk":
        return WalkConfig(
            dimension=dimension,
            width=config.width,
            walkers=config.walkers,
            steps=config.walk_steps,
            question_hidden=config.question_hidden,
            answers=config.answer_width,
            word_rank=config.word_rank,
            without=config.without,
            ppr_mean=mean,
            ppr_std=std,
            compute_dtype=config.dtype,
        )
    return DualTowerConfig(
        dimension=dimension,
        heads=config.heads,
        tower_hidden=config.tower_hidden,
        gate_hidden=config.gate_hidden,
        combiner_hidden=config.combiner_hidden,
        ppr_mean=mean,
        ppr_std=std,
        compute_dtype=config.dtype,
    )


def mixed_ppr_statistics(
    splits: Sequence[Split], weights: Sequence[float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean and standard deviation of log PPR over the candidates of several splits.

    A split counts by its weight, not by its size: as the network sees it in training.
    """
    if len(splits) == 1:
        return ppr_statistics(*sampled_ppr(splits[0]))
    logs = [
        np.log(ppr[mask].astype(np.float64) + PPR_FLOOR)
        for ppr, mask in map(sampled_ppr, splits)
    ]
    means = np.stack([each.mean(axis=0) for each in logs])
    mean = np.average(means, axis=0, weights=weights)
    variances = np.stack([each.var(axis=0) for each in logs]) + (means - mean) ** 2
    std = np.sqrt(np.average(variances, axis=0, weights=weights))
    std = np.where(std > 1e-6, std, 1.0)
    return (float(mean[0]), float(mean[1])), (float(std[0]), float(std[1]))


def sampled_ppr(
    split: Split,
) -> tuple[Float32[np.ndarray, "b n 2"], Bool[np.ndarray, "b n"]]:
    """PPR of the candidates of at most 2,000 questions, and the mask of real ones."""
    rows = sample_rows(np.arange(len(split)), 2000)
    return split.ppr_of(rows), split.candidates[rows] >= 0
