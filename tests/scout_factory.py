"""A tiny world for scouts: a graph, its questions as shards, a policy and its export.

The policy is drawn at random (``test_export.make_policy`` at the encoder's size): what
it prefers does not matter where two ways must lead to the same scores.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import json
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from policy_factory import random_policy, small_config, trained_policy
from prep_factory import settings_for, write_input

from data_prep.driver import prepare
from kgscout_jax import Scout
from kgscout_jax.data.shards import Shards
from kgscout_jax.export.write import export_policy
from kgscout_jax.learn.trained_policy import TrainedPolicy


def policy_for(shards: Shards, seed: int = 0, kind: str = "thesis") -> TrainedPolicy:
    """A policy of random parameters, as ``load_policy`` gives one trained on them."""
    network = "walk" if kind == "general" else kind
    dimension = shards.encoder["dimension"]
    config = small_config(network, dimension, (-3.0, -3.0), (2.0, 2.0))
    if kind == "general":
        config = dataclasses.replace(config, without=("absolute",))
    manifest = shards.manifest
    names = ("source", "fingerprint", "settings")
    return trained_policy(
        random_policy(config, seed),
        shards.encoder,
        step=3,
        **{name: manifest[name] for name in names},
    )


CUTS = {
    "guided": {"cut": "guided", "select": "hybrid", "max_triplets": 30},
    "thesis": {"cut": "ppr", "select": "cosine", "direction": "directed"},
    "pruned": {"cut": "ppr", "select": "hybrid", "ppr_threshold": 1e-3, "hops": 3},
}
"""How subgraphs are cut in each of the worlds that tests share."""


KINDS = {"walk": "walk", "mlp": "mlp", "general": "general"}
"""Worlds, cut as by default, whose policy is of another kind than the thesis's;
"general" is a walk policy for any graph."""


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
    export_policy(policy_for(shards, kind=kind), folder / "policy", stablehlo=False)
    return source / "graph.tsv", shards, folder / "policy"


def lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
