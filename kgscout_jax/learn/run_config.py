"""Whose run a folder is: the settings and the shards it was started with."""

from __future__ import annotations

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.registry import config_to_json

PLACES = (
    "devices",
    "shard_tables",
    "coordinator",
    "processes",
    "process_id",
    "distributed",
)
"""Where a run computes: not what, but for rounding."""
MAY_CHANGE = ("run", "save_every", "shards", "log", *PLACES)
"""Fields that may differ when a run is resumed; shards are compared by content. With
stale steps ``save_every`` says which are."""
ONCE = {"staleness": 0}
"""What a run did that is older than the field; of others, the field's default."""


def claim(
    run: RunFolder, config: TrainConfig, policy: NetworkConfig, shards: Shards
) -> None:
    """Write ``config.json``, or check that a run to resume has the same settings."""
    about = {
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
        known = run.config
        may_change = {*MAY_CHANGE}
        if config.stale:
            may_change.remove("save_every")
        elif not config.samples_on_host:
            may_change.add("staleness")  # means nothing there
        usual = TrainConfig(shards=config.shards, run=config.run).to_dict() | ONCE
        for name, value in about["config"].items():
            before = known["config"].get(name, usual[name])
            if before != value and name not in may_change:
                flag = name.replace("_", "-")
                raise UserError(
                    f"{run.path}: was started with --{flag} {before}, found {value}; "
                    "choose another --run for other settings"
                )
        if known["shards"]["fingerprint"] != about["shards"]["fingerprint"]:
            raise UserError(
                f"{run.path}: was started on other shards "
                f"({known['shards']['source']}), found {config.shards}"
            )
    run.write_config(about)
