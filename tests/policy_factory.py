"""Policies of random parameters: small networks of every architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import PolicyWeights, config_to_json, weight_shapes
from kgscout_jax.policy.walk_config import WalkConfig

SETTINGS = {"hops": 2, "max_triplets": 2000, "candidates": 50, "direction": "both"}
"""How the shards of ``trained_policy`` were prepared."""


def small_config(
    architecture: str,
    dimension: int,
    ppr_mean: tuple[float, float] = (-8.0, -9.0),
    ppr_std: tuple[float, float] = (2.0, 3.0),
) -> NetworkConfig:
    """A small network of an architecture."""
    ppr = {"ppr_mean": ppr_mean, "ppr_std": ppr_std}
    if architecture == "mlp":
        return MlpConfig(dimension=dimension, width=8)
    if architecture == "walk":
        sizes = {"width": 12, "hidden": 6, "walkers": 3, "steps": 2, "condition": 8}
        sizes["word_rank"] = 3
        return WalkConfig(dimension=dimension, **sizes, **ppr)
    sizes = {"heads": 2, "gate_hidden": 8, "combiner_hidden": 4}
    return DualTowerConfig(dimension=dimension, tower_hidden=(8, 4), **sizes, **ppr)


def random_weights(
    config: NetworkConfig, seed: int = 0, gain: float = 1.0
) -> PolicyWeights:
    """Parameters drawn by numpy: no bias is 0, the temperature is not 1."""
    rng = np.random.default_rng(seed)

    def draw(leaf):
        size = gain * leaf.shape[0] ** -0.5 if len(leaf.shape) == 2 else 0.3
        return jnp.asarray(size * rng.normal(size=leaf.shape), jnp.float32)

    return jax.tree.map(draw, weight_shapes(config))


def random_policy(config: NetworkConfig, seed: int = 0, gain: float = 1.0) -> Policy:
    """A policy of ``random_weights``."""
    return Policy(config, random_weights(config, seed, gain))


def trained_policy(
    policy: Policy,
    encoder: dict[str, Any],
    *,
    step: int = 7,
    k: int = 12,
    **shards: Any,
) -> TrainedPolicy:
    """What ``load_policy`` returns; ``shards``: what the run says of its shards."""
    config = TrainConfig(shards=Path("/nowhere/shards"), run=Path("/nowhere/run"), k=k)
    metadata = {
        "config": config.to_dict(),
        "policy": config_to_json(policy.config),
        "encoder": encoder,
        "shards": {"source": "tiny", "fingerprint": "tiny", **shards},
    }
    return TrainedPolicy(policy, step, metadata)
