"""A trained policy out of a run's folder, for evaluation, export or another start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
from flax import nnx

from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder, check_leaves, flatten, unflatten
from kgscout_jax.policy.network import PolicyConfig, ScoutPolicy
from kgscout_jax.shards import Shards

PARAMS = "params"


@dataclass(frozen=True)
class TrainedPolicy:
    """A policy with its parameters and where it came from."""

    policy: ScoutPolicy
    step: int
    about: dict[str, Any]
    """The run's ``config.json``: config, policy, encoder, shards."""


def load_policy(path: Path, *, step: int | None = None) -> TrainedPolicy:
    """The policy of a run, at ``step`` or at its best by dev reward.

    Raises:
        UserError: there is no run, no checkpoint, or one that does not fit.
    """
    run = RunFolder.existing(path)
    try:
        step = run.best_step if step is None else step
        if step is None:
            raise UserError(f"{path}: no checkpoint yet")
        if step not in run.steps:
            raise UserError(
                f"{path}: no checkpoint of step {step}, there are: "
                f"{', '.join(map(str, run.steps)) or 'none'}"
            )
        leaves = run.load(step)
    finally:
        run.close()
    about = run.config
    policy = ScoutPolicy(PolicyConfig.from_dict(about["policy"]), rngs=nnx.Rngs(0))
    graphdef, params = nnx.split(policy, nnx.Param)
    wanted = flatten({PARAMS: nnx.to_pure_dict(params)})
    saved = {k: v for k, v in leaves.items() if k.split("/")[0] == PARAMS}
    check_leaves(path, saved, wanted)
    pure = unflatten({PARAMS: nnx.to_pure_dict(params)}, saved)[PARAMS]
    nnx.replace_by_pure_dict(params, jax.tree.map(jax.numpy.asarray, pure))
    return TrainedPolicy(nnx.merge(graphdef, params), step, about)


def check_encoder(about: dict[str, Any], shards: Shards, path: Path) -> None:
    """Raise UserError unless ``shards`` were embedded by the run's encoder."""
    ours, theirs = about["encoder"], shards.encoder
    for field in ("weights_sha256", "dimension", "text_version"):
        if ours[field] != theirs[field]:
            raise UserError(
                f"{shards.path}: encoder {theirs['name']} with {field} "
                f"{str(theirs[field])[:12]}, expected {ours['name']} with "
                f"{str(ours[field])[:12]} as in run {path}"
            )
