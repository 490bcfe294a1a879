"""Steps that propose ahead: which, with which gradient, and resumed bit for bit."""

from __future__ import annotations

import copy
import dataclasses
import os
import signal
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training import REINFORCE, epochs, final, rows, same_bits, tiny

from benchmarks.program_counts import equations
from kgscout_jax.data.tables import Tables
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.estimator_updates import (
    Pipeline,
    Update,
    is_stale,
    update_class,
)
from kgscout_jax.learn.run_config import network_config
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train import train
from kgscout_jax.learn.train_state import (
    STALE_PARAMS,
    initial_state,
    optimizer,
    state_to_tree,
)
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.module import Policy

pytestmark = pytest.mark.usefixtures("kgscout_cache")
MOVING = {**REINFORCE, "baseline": "moving_average", "epochs": 2}


def test_steps_are_stale_but_after_a_save_or_an_epoch(tmp_path):
    def stale(**more: Any) -> list[int]:
        config = TrainConfig(
            shards=tmp_path, run=tmp_path, estimator="reinforce", save_every=3, **more
        )
        return [step for step in range(11) if is_stale(config, step, batch_count=5)]

    assert stale() == [1, 2, 4, 7, 8]  # not at 0, 5, 10, nor after a save
    assert stale(staleness=0) == stale(reward="device") == []
    with pytest.raises(UserError, match="--staleness: found 2, expected 0 or 1"):
        stale(staleness=2)


# --- the gradient


@pytest.fixture(scope="module")
def parts(shards) -> tuple[TrainConfig, Update, Any, list[np.ndarray]]:
    """What the loop makes of a config; a function that makes a fresh state."""
    config = tiny(shards, Path("nowhere"), **MOVING, save_every=100)
    training_set = TrainingSet.of(shards, config, Devices())
    policy = Policy.initial(network_config(config, [training_set]), 0)
    transform = optimizer(config, 100)
    steps, tables = Steps(policy, config, transform), Tables.of(shards)
    update = update_class(config)(
        config, steps, tables, training_set.reader, Timeline()
    )

    def fresh():
        # Copies: updates write into these buffers.
        return jax.tree.map(jnp.copy, initial_state(policy, transform))

    batches = [np.arange(8) + 8 * i for i in range(5)]
    return config, update, fresh, batches


def test_matmuls_of_a_step_have_the_precision_of_their_operands(parts):
    _, update, fresh, batches = parts
    inputs, state = update.read(batches[0], 0), fresh()
    proposed = update.propose(state.params, inputs)
    jitted = [update.steps.propose, update.steps.update_scored]
    given = [
        (state.params, update.tables, inputs.batch, inputs.numbers),
        (state, inputs.batch, proposed.proposal, np.zeros((8, 8), np.float32)),
    ]
    found = [
        equation.params["precision"]
        for function, arguments in zip(jitted, given, strict=True)
        for equation, _ in equations(function.trace(*arguments).jaxpr.jaxpr)
        if equation.primitive.name == "dot_general"
    ]
    highest = jax.lax.Precision.HIGHEST
    assert len(found) > 8
    assert set(found) == {(highest, highest)}


def bits(state: Any) -> dict[str, np.ndarray]:
    leaves, _ = jax.tree.flatten_with_path(state_to_tree(state))
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def test_a_stale_update_uses_the_parameters_before(parts):
    # By hand: subsets of step t + 1 are drawn, and its gradient is taken, at the
    # parameters that the update of step t starts from.
    config, updates, fresh, batches = parts
    pipeline = Pipeline([updates], [(0, rows) for rows in batches], 0)
    state = fresh()
    for _ in range(5):
        state, _ = pipeline(state)
    found = bits(state)
    state = fresh()
    ahead = updates.propose(state.params, updates.read(batches[0], 0))
    for step in range(5):
        begun = ahead
        if step < 4:
            read = updates.read(batches[step + 1], step + 1)
            ahead = updates.propose(state.params, read)
        state, _ = updates.update(state, begun)
    same_bits(found, bits(state))

    state, never = fresh(), copy.copy(updates)
    never.config = dataclasses.replace(config, staleness=0)
    pipeline = Pipeline([never], [(0, rows) for rows in batches], 0)
    for _ in range(5):
        state, _ = pipeline(state)
    other = bits(state)
    assert any((other[name] != found[name]).any() for name in found)


@pytest.mark.slow
def test_saving_each_step_leaves_nothing_to_be_stale(shards, tmp_path):
    for staleness in (0, 1):
        config = {**MOVING, "epochs": 1, "save_every": 1, "staleness": staleness}
        train(tiny(shards, tmp_path / str(staleness), **config))
    same_bits(final(tmp_path / "0"), final(tmp_path / "1"))


# --- stopping and resuming


@pytest.fixture(scope="module")
def whole(shards, tmp_path_factory) -> Path:
    """A run with stale steps that nobody disturbed."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    train(tiny(shards, run, **MOVING, save_every=3))
    return run


@pytest.fixture
def signalled(monkeypatch):
    """A function: this process gets a signal while a step is under way."""

    def at(step: int, number: int = signal.SIGTERM) -> None:
        call = Pipeline.__call__

        def signalling(self: Pipeline, state: Any, **more: Any) -> Any:
            if self.step == step:
                os.kill(os.getpid(), number)
            return call(self, state, **more)

        monkeypatch.setattr(Pipeline, "__call__", signalling)

    yield at
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.extended
@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=pytest.mark.slow) for step in (1, 4)] + [2],
)
def test_a_run_stopped_by_sigterm_resumes_bit_for_bit(
    shards, whole, tmp_path, signalled, step
):
    # The step under way ends, and one more if the signal came within it; the loop
    # then saves wherever it is: where a step was ahead, with the older parameters.
    config = tiny(shards, tmp_path, **MOVING, save_every=3)
    signalled(step)
    with pytest.raises(SystemExit) as ended:
        train(config)
    assert ended.value.code == 0
    folder = RunFolder.existing(tmp_path)
    latest = folder.latest_step
    assert latest is not None
    assert step < latest <= step + 2
    older = any(name.startswith(STALE_PARAMS) for name in folder.load(latest))
    folder.close()
    assert older == is_stale(config, latest, 5)
    signalled(-1)
    train(config)
    same_bits(final(tmp_path), final(whole))
    assert rows(tmp_path) == rows(whole)


def test_ctrl_c_saves_too(shards, tmp_path, signalled, caplog):
    config = tiny(shards, tmp_path, **MOVING)
    signalled(6, signal.SIGINT)
    with caplog.at_level("INFO", "kgscout"), pytest.raises(KeyboardInterrupt):
        train(config)
    assert "stopped at step 8 of 10, saved; go on with: kgscout train" in caplog.text
    folder = RunFolder.existing(tmp_path)
    assert folder.latest_step == 8
    folder.close()


def test_a_signal_in_the_last_epochs_end_changes_nothing(shards, tmp_path, signalled):
    signalled(9)
    train(tiny(shards, tmp_path, **MOVING))
    assert [row["step"] for row in epochs(tmp_path)] == [5, 10]


@pytest.mark.extended
def test_settings_that_decide_which_steps_are_stale_may_not_change(
    shards, whole, tmp_path
):
    for change, message in (
        ({"save_every": 2}, "--save-every 3, found 2"),
        ({"staleness": 0, "save_every": 3}, "--staleness 1, found 0"),
    ):
        with pytest.raises(UserError, match=message):
            train(tiny(shards, whole, **MOVING | change))
    # Where nothing can be stale, neither matters.
    train(tiny(shards, tmp_path, epochs=1))
    train(tiny(shards, tmp_path, epochs=1, staleness=0, save_every=3))


# --- the timeline


@pytest.mark.extended
def test_shares_of_a_device_that_is_slower_than_its_host():
    @jax.jit
    def work(x):
        return jax.lax.fori_loop(0, 200, lambda _, x: jnp.tanh(x @ x), x)

    x = jnp.eye(128)
    work(x).block_until_ready()
    timeline = Timeline()
    timeline.restart()
    for _ in range(5):
        x = work(x)
        timeline.add(x)
    shares = timeline.shares()
    assert shares["device_wait_share"] < 0.2
    assert shares["host_wait_share"] > 0.5
    for _ in range(5):
        x = work(x)
        timeline.add(x)
        with timeline.waiting():
            x.block_until_ready()
        time.sleep(0.2)  # the host's own work
    x = work(x)
    timeline.add(x)
    shares = timeline.shares()
    timeline.close()
    assert shares["device_wait_share"] > 0.3
    assert shares["device_wait_share"] + shares["host_wait_share"] == pytest.approx(
        1, abs=0.1
    )


def test_time_within_a_call_that_returns_late_is_the_devices():
    timeline = Timeline()
    timeline.restart()
    for _ in range(3):
        with timeline.host("update") as submitted:
            time.sleep(0.1)  # a GPU's loop: the host reads whether it has ended
            x = jnp.ones(1)
        timeline.add(x, "update", submitted)
    shares = timeline.shares()
    timeline.close()
    assert shares["device_wait_share"] < 0.2


def test_shares_are_logged(whole):
    for row in RunFolder(whole).metrics("epoch"):
        assert 0 <= row["device_wait_share"] <= 1
        assert 0 <= row["host_wait_share"] <= 1
