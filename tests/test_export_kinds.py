"""Exports of the networks that look at places: the same logits in every form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from written_shards import ENCODER

from kgscout_jax.errors import UserError
from kgscout_jax.export.load import INPUTS, PLACES, STABLEHLO
from kgscout_jax.export.write import export_policy, load_exported, load_trained
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import config_to_json
from kgscout_jax.policy.walk import WalkConfig
from kgscout_jax.utils.io import read_json

D = 16
CONFIGS = {
    "walk": WalkConfig(
        dimension=D, width=12, hidden=6, walkers=3, steps=2, condition=8
    ),
    "mlp": MlpConfig(dimension=D, width=8),
}
SETTINGS = {"hops": 2, "max_triplets": 2000, "candidates": 50, "direction": "both"}


def trained(kind: str) -> TrainedPolicy:
    """A policy in which no parameter is 0, as ``load_policy`` gives it."""
    config = CONFIGS[kind]
    policy = nnx.eval_shape(lambda: Policy.initial(config, 0))
    graphdef, state = nnx.split(policy)
    g = np.random.default_rng(0)
    state = jax.tree.map(
        lambda leaf: jnp.asarray(g.normal(0, 0.3, leaf.shape), jnp.float32), state
    )
    asked = TrainConfig(shards=Path("/nowhere/s"), run=Path("/nowhere/r"), k=12)
    about: dict[str, Any] = {
        "config": asked.to_dict(),
        "policy": config_to_json(config),
        "encoder": ENCODER,
        "shards": {"source": "tiny", "fingerprint": "tiny", "settings": SETTINGS},
    }
    return TrainedPolicy(nnx.merge(graphdef, state), 7, about)


@pytest.fixture(scope="module", params=list(CONFIGS))
def made(request, tmp_path_factory, kgscout_cache):
    policy = trained(request.param)
    return policy, export_policy(policy, tmp_path_factory.mktemp("export") / "policy")


def test_every_form_gives_the_same_logits(made):
    policy, folder = made
    exported = load_exported(folder)
    assert exported.config == policy.policy.config
    golden = exported.golden
    assert len(golden.arguments) == len(INPUTS + PLACES)
    assert golden.topics is not None and golden.topics.any(axis=1).all()
    mask = golden.mask
    assert np.std(golden.logits[mask]) > 0.1
    for found in (
        policy.policy(golden.inputs),
        exported.policy(golden.inputs),
        exported.logits(golden.inputs),
        exported.stablehlo(*golden.arguments),
        load_trained(folder).policy(golden.inputs),
    ):
        np.testing.assert_allclose(
            np.asarray(found)[mask], golden.logits[mask], rtol=1e-4, atol=1e-5
        )


def test_the_call_takes_any_numbers(made):
    _, folder = made
    golden = load_exported(folder).golden
    call = jax.export.deserialize(bytearray((folder / STABLEHLO).read_bytes())).call
    few = [golden.question[1:2], *(x[1:2, :4] for x in golden.arguments[1:-1])]
    nodes = np.pad(golden.arguments[-1][1:2], ((0, 0), (0, 5)))  # more nodes
    found = np.asarray(call(*few, nodes))
    np.testing.assert_allclose(found, golden.logits[1:2, :4], rtol=1e-4, atol=1e-5)


def test_the_card_tells_the_arguments(made):
    _, folder = made
    card = (folder / "README.md").read_text()
    assert '"mask", "nodes", "topics")' in card
    assert "| `topics` | bool[b, v] |" in card
    code = card.split("```python")[2].split("```")[0]
    scope: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(code, scope)
    golden = load_exported(folder).golden
    real = np.asarray(scope["logits"])[golden.mask]
    np.testing.assert_allclose(real, golden.logits[golden.mask], rtol=1e-4, atol=1e-5)


def test_a_kind_nobody_knows(made, tmp_path):
    import shutil

    from kgscout_jax.utils.io import write_json

    _, folder = made
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    about = read_json(copy / "config.json")
    about["policy"]["kind"] = "forest"
    write_json(copy / "config.json", about)
    with pytest.raises(UserError, match=r"config\.json: policy\.kind: 'forest'"):
        load_exported(copy)
