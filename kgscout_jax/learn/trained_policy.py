"""Load a trained policy from a run's folder: for evaluation, export or ``--init``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoint_errors import DamagedCheckpoint
from kgscout_jax.learn.checkpoint_leaves import check_leaves, flatten, unflatten
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.shard_sets import with_found_shards
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import config_from_json, weight_shapes

logger = logging.getLogger("kgscout")

PARAMS = "params"


@dataclass(frozen=True)
class TrainedPolicy:
    """A policy with its parameters, its step and the run's config."""

    policy: Policy
    step: int
    metadata: dict[str, Any]
    """The run's ``config.json``: config, policy, encoder, shards."""


def load_policy(
    path: Path | str, *, step: int | None = None, devices: Devices | None = None
) -> TrainedPolicy:
    """The policy of a run, at ``step`` or at its best by dev reward.

    Args:
        path: the run's folder.
        step: one of its checkpoints; None for the best.
        devices: those of the training, where one of its processes alone reads.

    Raises:
        UserError: no run, no checkpoint, or one that does not fit the config.
    """
    path = Path(path)
    run = RunFolder.existing(path, devices)
    step, leaves = read_leaves(run, step)
    return restore_policy(path, with_found_shards(run.config, path), step, leaves)


def restore_policy(
    path: Path, metadata: dict[str, Any], step: int, leaves: dict[str, Any]
) -> TrainedPolicy:
    """The policy of the run in ``path`` with this ``config.json`` and these leaves."""
    config = config_from_json(metadata["policy"])
    shapes = {PARAMS: weight_shapes(config)}
    saved = {k: v for k, v in leaves.items() if k.split("/")[0] == PARAMS}
    check_leaves(path, saved, flatten(shapes))
    weights = jax.tree.map(jax.numpy.asarray, unflatten(shapes, saved)[PARAMS])
    return TrainedPolicy(Policy(config, weights), step, metadata)


def read_leaves(run: RunFolder, step: int | None) -> tuple[int, dict[str, Any]]:
    """The leaves of ``step``, or of the best step that is not damaged."""
    if step is not None:
        if step not in run.steps:
            raise UserError(
                f"{run.path}: no checkpoint of step {step}, there are: "
                f"{', '.join(map(str, run.steps)) or 'none'}"
            )
        return step, run.load(step)
    steps = run.best_first
    if not steps:
        raise UserError(f"{run.path}: no checkpoint yet")
    for place, best in enumerate(steps):
        try:
            return best, run.load(best)
        except DamagedCheckpoint as error:
            if place + 1 == len(steps):
                raise
            logger.warning("%s; taking that of step %d", error, steps[place + 1])
    raise AssertionError


def check_encoder(metadata: dict[str, Any], shards: Shards, path: Path) -> None:
    """Raise UserError unless ``shards`` were embedded by the run's encoder."""
    compare_encoders(metadata["encoder"], shards, f"run {path}")


def compare_encoders(expected: Mapping[str, Any], shards: Shards, where: str) -> None:
    """Raise UserError unless ``shards`` have the encoder that ``where`` has."""
    found = shards.encoder
    # A policy reads every text version.
    for field in ("weights_sha256", "dimension"):
        if expected[field] != found[field]:
            raise UserError(
                f"{shards.path}: encoder {found['name']} with {field} "
                f"{str(found[field])[:12]}, expected {expected['name']} with "
                f"{str(expected[field])[:12]} as in {where}"
            )
