"""``config.json`` of a run: its settings, network, encoder and shards."""

from __future__ import annotations

import numpy as np

from kgscout_jax.data.question_sampling import sample_rows
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import ppr_statistics
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.registry import config_to_json
from kgscout_jax.policy.walk import WalkConfig

PLACES = (
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


def write_or_check_config(
    run: RunFolder, config: TrainConfig, policy: NetworkConfig, shards: Shards
) -> None:
    """Write ``config.json``, or check that a run to resume has the same settings."""
    current = {
        "config": config.to_dict(),
        "policy": config_to_json(policy),
        "encoder": shards.encoder,
        "shards": {
            "source": shards.manifest["source"],
            "fingerprint": shards.manifest["fingerprint"],
            "settings": shards.manifest["settings"],
        },
    }
    if run.config_file.exists():
        saved = run.config
        may_change = {*MAY_CHANGE}
        if config.stale:
            may_change.remove("save_every")
        elif not config.samples_on_host:
            may_change.add("staleness")  # has no effect
        # A setting that is newer than the run had its default.
        defaults = TrainConfig(shards=config.shards, run=config.run).to_dict()
        for name, value in current["config"].items():
            before = saved["config"].get(name, defaults[name])
            if before != value and name not in may_change:
                flag = name.replace("_", "-")
                raise UserError(
                    f"{run.path}: was started with --{flag} {before}, found {value}; "
                    "choose another --run for other settings"
                )
        if saved["shards"]["fingerprint"] != current["shards"]["fingerprint"]:
            raise UserError(
                f"{run.path}: was started on other shards "
                f"({saved['shards']['source']}), found {config.shards}"
            )
    run.write_config(current)


def network_config(config: TrainConfig, shards: Shards, split: Split) -> NetworkConfig:
    """The network's config: sizes of the settings, PPR statistics of the split."""
    dimension = int(shards.encoder["dimension"])
    if config.policy == "mlp":
        return MlpConfig(dimension=dimension, compute_dtype=config.dtype)
    rows = sample_rows(np.arange(len(split)), 2000)
    mean, std = ppr_statistics(split.ppr_of(rows), split.candidates[rows] >= 0)
    if config.policy == "walk":
        return WalkConfig(
            dimension=dimension,
            width=config.width,
            walkers=config.walkers,
            steps=config.walk_steps,
            question_hidden=config.question_hidden,
            answers=config.answer_width,
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
