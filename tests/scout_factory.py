"""A tiny world for scouts: a graph, its questions as shards, a policy and its export.

The policy is drawn at random (``test_export.make_policy`` at the encoder's size): what
it prefers does not matter where two ways must lead to the same scores.
"""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from prep_factory import settings_for, write_input

from data_prep.driver import prepare
from kgscout_jax import Scout
from kgscout_jax.data.shards import Shards
from kgscout_jax.export.write import export_policy
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.policy.dual_tower import PolicyConfig
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.modules import module_of
from kgscout_jax.policy.registry import AnyConfig, fields_of
from kgscout_jax.policy.walk import WalkConfig


def config_for(shards: Shards, kind: str) -> AnyConfig:
    """A small network of a kind."""
    d = shards.encoder["dimension"]
    ppr = {"ppr_mean": (-3.0, -3.0), "ppr_std": (2.0, 2.0)}
    if kind == "mlp":
        return MlpConfig(dimension=d, width=8)
    if kind == "walk":
        sizes = {"width": 12, "hidden": 6, "walkers": 3, "steps": 2, "condition": 8}
        return WalkConfig(dimension=d, **sizes, **ppr)
    sizes = {"tower_hidden": (8, 4), "gate_hidden": 8, "combiner_hidden": 4}
    return PolicyConfig(dimension=d, **sizes, **ppr)


def policy_for(shards: Shards, seed: int = 0, kind: str = "thesis") -> TrainedPolicy:
    """A policy of random parameters, as ``load_policy`` gives one trained on them."""
    config = config_for(shards, kind)
    policy = nnx.eval_shape(lambda: module_of(config, rngs=nnx.Rngs(0)))
    graphdef, state = nnx.split(policy)
    rng = np.random.default_rng(seed)

    def draw(leaf):
        size = leaf.shape[0] ** -0.5 if len(leaf.shape) == 2 else 0.3
        return jnp.asarray(size * rng.normal(size=leaf.shape), jnp.float32)

    about = {
        "config": TrainConfig(shards=shards.path, run=Path("/nowhere"), k=12).to_dict(),
        "policy": fields_of(config),
        "encoder": shards.encoder,
        "shards": {
            "source": shards.manifest["source"],
            "fingerprint": shards.manifest["fingerprint"],
            "settings": shards.manifest["settings"],
        },
    }
    merged = nnx.merge(graphdef, jax.tree.map(draw, state))
    return TrainedPolicy(merged, 3, about)


CUTS = {
    "guided": {"cut": "guided", "select": "hybrid", "max_triplets": 30},
    "thesis": {"cut": "ppr", "select": "cosine", "direction": "directed"},
    "pruned": {"cut": "ppr", "select": "hybrid", "ppr_threshold": 1e-3, "hops": 3},
}
"""How subgraphs are cut in each of the worlds that tests share."""


KINDS = {"walk": "walk", "mlp": "mlp"}
"""Worlds, cut as by default, whose policy is of another kind than the thesis's."""


@functools.cache
def shared_world(name: str) -> SimpleNamespace:
    """A world of ``CUTS`` or ``KINDS`` with its scout, made once in a process.

    $KGSCOUT_CACHE must be that of the tests (fixture ``kgscout_cache``).
    """
    folder = Path(tempfile.mkdtemp(prefix="kgscout-world-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file, shards, policy = world(
        folder,
        None,
        kind=KINDS.get(name, "thesis"),
        candidates=12,
        **CUTS.get(name, CUTS["guided"]),
    )
    scout = Scout.from_pretrained(policy)
    return SimpleNamespace(file=file, shards=shards, policy=policy, scout=scout)


def world(
    folder: Path, cache: Path | None, kind: str = "thesis", **settings: Any
) -> tuple[Path, Shards, Path]:
    """(triplet file, shards of questions about it, exported policy)."""
    source = write_input(folder / "input")
    shards = prepare(settings_for(source, folder / "shards", cache, **settings))
    export_policy(policy_for(shards, kind=kind), folder / "policy")
    return source / "graph.tsv", shards, folder / "policy"


def lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
