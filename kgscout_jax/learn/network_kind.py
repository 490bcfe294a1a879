"""The kind of network that a run trains: with ``--init``, that of its policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import PolicyKind, TrainConfig
from kgscout_jax.utils.io import read_json


def network_kind(metadata: Mapping[str, Any]) -> str | None:
    """The kind in the ``config.json`` of a run or of an export; None where unknown."""
    network = metadata.get("policy")
    if not isinstance(network, dict) or not network:
        return None
    kind = network.get("kind", "thesis")
    return kind if kind in get_args(PolicyKind) else None


def with_policy_of(config: TrainConfig, folder: Path) -> TrainConfig:
    """The settings with the kind of network in ``folder``, the one of ``--init``.

    They stay as they are where the folder cannot be read: the training says why.

    Raises:
        UserError: ``--policy`` names another kind.
    """
    try:
        metadata = read_json(folder / "config.json")
    except UserError:
        return config
    kind = network_kind(metadata) if isinstance(metadata, dict) else None
    return config if kind is None else with_policy(config, kind)


def with_policy(config: TrainConfig, kind: str) -> TrainConfig:
    """The settings with the kind of network of ``--init``.

    Raises:
        UserError: ``--policy`` names another kind.
    """
    if config.policy is None:
        return dataclasses.replace(config, policy=cast(PolicyKind, kind))
    if config.policy != kind:
        raise UserError(
            f"--policy: found {config.policy}, expected {kind}, the network of --init "
            f"{config.init}"
        )
    return config
