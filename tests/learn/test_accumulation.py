"""Updates in turns, and with activations computed again: the update at once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from training import tiny

from kgscout_jax.data.tables import Tables
from kgscout_jax.errors import UserError
from kgscout_jax.learn.accumulation import turns_of
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.resident_sets import step_numbers
from kgscout_jax.learn.run_config import network_config
from kgscout_jax.learn.train_state import initial_state
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.module import Policy

WALK = {"policy": "walk", "walkers": 2, "width": 8, "question_hidden": 4}


def update(shards, **more: Any) -> tuple[Any, dict[str, Any]]:
    """Parameters and metrics after a step of plain descent: 6 questions of 8 places."""
    config = tiny(shards, Path("nowhere"), **WALK, word_rank=0, **more)
    training_set = TrainingSet.of(shards, config, Devices())
    policy = Policy.initial(network_config(config, [training_set]), 0)
    transform = optax.sgd(1.0)
    steps = Steps(policy, config, transform)
    state = jax.tree.map(jnp.copy, initial_state(policy, transform))
    batch = training_set.reader.read(np.arange(6), 8)
    step = getattr(steps, f"update_{config.estimator}")
    state, metrics = step(
        state, Tables.of(shards), batch, jnp.asarray(step_numbers(0, 3.0))
    )
    return jax.tree.leaves(state.params), metrics


@pytest.mark.extended
@pytest.mark.parametrize(
    ("estimator", "more"),
    [
        ("closed_form", {"batch_per_device": 3, "remat": True}),
        pytest.param("bce", {"batch_per_device": 3}, marks=pytest.mark.slow),
        pytest.param("closed_form", {"batch_per_device": 3}, marks=pytest.mark.slow),
        pytest.param("closed_form", {"remat": True}, marks=pytest.mark.slow),
    ],
)
def test_the_update_is_the_same(shards, kgscout_cache, estimator, more):
    expected, told = update(shards, estimator=estimator)
    found, metrics = update(shards, estimator=estimator, **more)
    assert set(metrics) == set(told)
    for name, value in told.items():
        assert float(metrics[name]) == pytest.approx(float(value), rel=1e-4), name
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("questions", "most", "devices", "turns"),
    [(16, None, 1, 1), (16, 16, 1, 1), (16, 5, 1, 4), (16, 5, 2, 2), (7, 3, 1, 7)],
)
def test_turns_are_the_fewest_of_equal_size(questions, most, devices, turns):
    config: Any = SimpleNamespace(batch_per_device=most)
    mesh: Any = None if devices == 1 else SimpleNamespace(size=devices)
    assert turns_of(config, questions, mesh) == turns


def test_reinforce_has_no_turns(shards):
    with pytest.raises(UserError, match="batch-per-device: found 4, expected it with"):
        tiny(shards, Path("nowhere"), estimator="reinforce", batch_per_device=4)
