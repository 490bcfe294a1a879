"""The trained policy of a run or of an export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgscout_jax.errors import UserError
from kgscout_jax.export.bundled import folder_of
from kgscout_jax.export.format import is_exported
from kgscout_jax.export.load import load_exported

if TYPE_CHECKING:
    from kgscout_jax.learn.devices import Devices
    from kgscout_jax.learn.trained_policy import TrainedPolicy


def load_trained(
    path: Path, *, step: int | None = None, devices: Devices | None = None
) -> TrainedPolicy:
    """The policy of a run or of an exported folder, for evaluation and ``--init``.

    Args:
        path: the folder, or the name of the bundled policy.
        step: of a run; None for the best by dev reward.
        devices: as ``load_policy``.

    Raises:
        UserError: ``path`` is neither, or holds no such step.
    """
    from kgscout_jax.learn.trained_policy import TrainedPolicy, load_policy

    path = folder_of(path)
    if not is_exported(path):
        return load_policy(path, step=step, devices=devices)
    exported = load_exported(path)
    training = exported.metadata["training"]
    if step is not None and step != training["step"]:
        raise UserError(f"{path}: holds step {training['step']} only, not {step}")
    metadata: dict[str, Any] = {
        "config": training["settings"],
        "policy": exported.metadata["policy"],
        "encoder": exported.metadata["encoder"],
        "shards": {
            "source": training["source"],
            "fingerprint": training["fingerprint"],
            "settings": exported.metadata["preparation"],
        },
        "files": exported.metadata["files"],
    }
    if "sets" in training:
        metadata["shard_sets"] = training["sets"]
    return TrainedPolicy(exported.policy, training["step"], metadata)
