"""The reward on the device against the one on the host, by hand, and in training."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from split_factory import Case, build_split
from test_reward import CHAIN, PARTS, cases
from training import (
    Stopped,
    compilations,
    final,
    recorded,
    rows,
    same_bits,
    stop_after_saves,
    tiny,
)
from written_shards import planted, write_shards

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn import step_log
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimators import advantages
from kgscout_jax.learn.reward_device import DeviceReward, device_reward
from kgscout_jax.learn.reward_host import HostReward, RewardWeights
from kgscout_jax.learn.train import train

pytestmark = pytest.mark.usefixtures("kgscout_cache")
jitted = jax.jit(device_reward, static_argnames="directed")
BATCH, SUBSETS, BUDGET, WIDTH, ANSWERS = 4, 3, 9, 16, 3
"""Static shapes, so that hundreds of cases compile a handful of times."""


def arguments(split, direction, rows, positions, selected, size=None):
    """What the jitted function takes for questions of a split."""
    b = size or len(rows)

    def filled(array, value, width=None):
        array = np.asarray(array)
        room = [(0, b - len(array))] + [(0, 0)] * (array.ndim - 1)
        if width is not None:
            room[1] = (0, width - array.shape[1])
        return jnp.asarray(np.pad(array, room, constant_values=value), jnp.int32)

    return (
        DeviceReward(split, direction).read(np.asarray(rows), b),
        filled(split.nodes[rows], 0),
        filled(split.answers[rows], -1, max(ANSWERS, split.answers.shape[1])),
        filled(positions, 0),
        filled(selected, 0).astype(bool),
    )


def compare(split, direction, rows, positions, selected, decay=0.2, size=None):
    """Check every part against the host's; the device's parts."""
    host = HostReward(split, direction, RewardWeights(decay=decay))
    expected = host.score(rows, np.where(selected, positions, -1))
    inputs = arguments(split, direction, rows, positions, selected, size)
    found = jitted(*inputs, decay, directed=direction == "directed")
    for part in PARTS:
        values = np.asarray(getattr(found, part))
        assert values.dtype == np.float32
        np.testing.assert_allclose(
            values[: len(rows)], getattr(expected, part), atol=1e-6, err_msg=part
        )
        np.testing.assert_array_equal(values[len(rows) :], 0.0)
    return found


@pytest.mark.parametrize("direction", ["directed", "both"])
@given(data=st.data())
def test_equals_the_host_on_random_multigraphs(direction, data):
    batch = data.draw(st.lists(cases(), min_size=1, max_size=BATCH))
    split = build_split(batch, n=WIDTH).split
    rows = np.array(data.draw(st.permutations(range(len(batch)))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    # -1, repeats and positions beyond n_real and beyond the width are all among them.
    shape = (len(rows), SUBSETS, BUDGET)
    positions = rng.integers(-1, WIDTH + 1, shape)
    selected = rng.random(shape) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    decay = data.draw(st.sampled_from([0.2, 0.0, 0.6]))
    compare(split, direction, rows, positions, selected, decay, BATCH)


@pytest.mark.parametrize("direction", ["directed", "both"])
def test_equals_the_host_on_larger_graphs(direction):
    rng = np.random.default_rng(5)
    batch = []
    for _ in range(6):
        ends = rng.integers(0, 40, (90, 2))
        rows = {(f"e{h}", f"r{i % 3}", f"e{t}") for i, (h, t) in enumerate(ends)}
        topics, answers = [f"e{i}" for i in range(3)], [f"e{i}" for i in range(2, 30)]
        batch.append(Case(triplets=sorted(rows), topics=topics, answers=answers[:9]))
    chain = [(f"n{i}", "r", f"n{i + 1}") for i in range(45)]
    batch.append(Case(triplets=chain, topics=["n0"], answers=["n45", "n44"]))
    split = build_split(batch).split
    rows = np.array([6, 3, 1, 3, 5, 6])
    shape = (6, 5, 60)
    positions = np.argsort(rng.random((6, 5, split.candidates.shape[1])))[:, :, :60]
    selected = rng.random(shape) < rng.random((6, 5, 1))
    positions[0, 0, :45], selected[0, 0, :45] = np.arange(45), True
    found = compare(split, direction, rows, positions, selected)
    assert np.std(found.coverage) > 0.1
    assert np.std(found.connectivity) > 0.1
    # 44 hops: no bound on the search, and counts that need more than a few bits.
    assert found.connectivity[0, 0] == 0.0
    assert found.efficiency[0, 0] == pytest.approx(1 / 45)
    assert found.coverage[0, 0] == 1.0


UP = [("a", "r", "u"), ("u", "r", "v"), ("v", "r", "z")]
DOWN = [("a", "r", "m"), ("m", "r", "n"), ("n", "r", "z")]
FAR = [(f"n{i}", "r", f"n{i + 1}") for i in range(7)]
TWICE = [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "c"), ("b", "s", "c")]
LOOP = [*CHAIN, ("a", "r", "a")]
BACK = [("b", "r", "a")]
BY_HAND = [
    # d is 3 hops away; x, one hop away, is not kept, then is.
    (CHAIN, "a", "dx", CHAIN[:3], "directed", (0.5, 0.6, 0.25, 1.0)),
    (CHAIN, "a", "dx", CHAIN, "directed", (1.0, 1.0, 0.5, 1.0)),
    (CHAIN, "a", "d", [CHAIN[0], CHAIN[2]], "directed", (1.0, 0.0, 0.0, 2 / 3)),
    # Efficient still where connectivity has ended: 1 - 0.2 * 6 < 0.
    (FAR, ["n0"], ["n7"], FAR, "directed", (1.0, 0.0, 1 / 8, 1.0)),
    (BACK, "a", "b", BACK, "directed", (1.0, 0.0, 0.0, 0.0)),
    (BACK, "a", "b", BACK, "both", (1.0, 1.0, 0.5, 1.0)),
    # A topic that is an answer counts once it is kept, by a self-loop too.
    (LOOP, "a", "ac", [CHAIN[2]], "directed", (0.5, 0.0, 0.0, 0.0)),
    (LOOP, "a", "ac", [LOOP[4]], "directed", (0.5, 1.0, 1.0, 1.0)),
    # Parallel triplets cover the same hop.
    (TWICE, "a", "c", TWICE[:2], "directed", (0.0, 0.0, 0.0, 0.5)),
    (TWICE, "a", "c", TWICE[1:3], "directed", (1.0, 0.8, 1 / 3, 1.0)),
    # One path, not pieces of two.
    (UP + DOWN, "a", "z", [*UP[:2], DOWN[2]], "directed", (1.0, 0.0, 0.0, 2 / 3)),
    (UP + DOWN, "a", "z", [UP[0], DOWN[2]], "directed", (1.0, 0.0, 0.0, 1 / 3)),
    # Two topics, each with a path of its own: the nearer one connects.
    (CHAIN, "ac", "d", CHAIN[:3], "directed", (1.0, 1.0, 0.5, 1.0)),
    (CHAIN, "ca", "d", CHAIN[:2], "directed", (0.0, 0.0, 0.0, 2 / 3)),
    (CHAIN, "a", "d", [], "directed", (0.0, 0.0, 0.0, 0.0)),
    (CHAIN, "", "d", CHAIN, "directed", (1.0, 0.0, 0.0, 0.0)),
    (CHAIN, "a", "", CHAIN, "directed", (0.0, 0.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(
    ("triplets", "topics", "answers", "kept", "direction", "expected"), BY_HAND
)
def test_by_hand(triplets, topics, answers, kept, direction, expected):
    case = Case(triplets=triplets, topics=list(topics), answers=list(answers))
    built = build_split([case], n=WIDTH)
    everything = built.triplets(0, range(len(triplets)))
    positions = np.full((1, SUBSETS, BUDGET), -1)
    positions[:, :, : len(kept)] = [everything.index(triplet) for triplet in kept]
    found = compare(
        built.split, direction, np.array([0]), positions, positions >= 0, size=BATCH
    )
    got = [getattr(found, part)[0, 0] for part in PARTS]
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    total = found.total(RewardWeights())[0, 0]
    assert total == pytest.approx(np.dot([2, 4, 1, 3], expected), rel=1e-6)


def test_an_answer_named_twice_counts_twice_as_on_the_host():
    case = Case(triplets=CHAIN, topics=["a"], answers=["d", "x"])
    split = build_split([case], n=WIDTH).split
    d, x = split.answers[0]
    twice = dataclasses.replace(split, answers=np.array([[d, d, x]], np.int32))
    positions = np.zeros((1, SUBSETS, BUDGET), np.int64)
    positions[0, :, :4] = [[0, 1, 2, 3], [2, 2, 2, 2], [3, 3, 3, 3]]
    selected = np.arange(BUDGET) < np.full((1, SUBSETS, 1), 4)
    compare(twice, "directed", np.array([0]), positions, selected, size=BATCH)


def test_inputs_of_no_question_are_padding():
    split = build_split([Case(triplets=CHAIN, topics=["a"], answers=["d"])]).split
    inputs = DeviceReward(split).read(np.array([], int), 2, 8)
    assert inputs.pair_of_candidate.shape == (2, 8)
    assert not inputs.is_topic.any()
    assert not inputs.levels.any()
    with pytest.raises(ValueError, match="direction is 'up'"):
        DeviceReward(split, "up")  # pyright: ignore[reportArgumentType]


def test_one_shape_is_compiled_once_and_maps():
    rng = np.random.default_rng(0)
    batch = [planted(i, triplets=9 + i) for i in range(6)]
    split = build_split(batch, n=WIDTH).split
    counted = jax.jit(partial(device_reward, directed=False))
    calls = []
    for pair in ([0, 1], [5, 2], [3, 3]):
        positions = rng.integers(0, WIDTH, (2, 5, 4))
        calls.append(arguments(split, "both", pair, positions, positions >= 0))
    alone = [counted(*call, 0.2) for call in calls]
    assert counted._cache_size() == 1
    stacked = jax.tree.map(lambda *arrays: jnp.stack(arrays), *calls)
    together = jax.vmap(lambda *call: counted(*call, 0.2))(*stacked)
    for i, parts in enumerate(alone):
        for one, other in zip(parts, together, strict=True):
            np.testing.assert_array_equal(one, other[i])


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("baseline", ["greedy", "moving_average", "leave_one_out"])
def test_advantages_are_those_of_the_host(baseline, normalise):
    rng = np.random.default_rng(1)
    rewards = rng.random((5, 7)).astype(np.float32)
    greedy = rng.random(5).astype(np.float32)
    for weight in (np.array([1, 1, 0, 1, 0], np.float32), np.zeros(5, np.float32)):
        settings = {"baseline": baseline, "greedy": greedy, "normalise": normalise}
        expected = advantages(rewards, weight, average=0.3, **settings)
        found = jax.jit(partial(advantages, baseline=baseline,
                                normalise=normalise))(
            rewards, weight, greedy=greedy, average=jnp.float32(0.3)
        )  # fmt: skip
        np.testing.assert_allclose(found, expected, atol=1e-5)


# --- in training


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Shards:
    """Questions of which the last few keep everything."""
    train = [planted(i, triplets=30) for i in range(17)]
    train += [planted(i, triplets=3) for i in range(17, 20)]
    return write_shards(tmp_path_factory.mktemp("shards"), {"train": train})


def on_device(shards: Shards, run: Path, **more: Any) -> TrainConfig:
    more = {"samples": 4, "epochs": 2, "save_every": 2, **more}
    return tiny(shards, run, estimator="reinforce", **more)


@pytest.fixture
def every_step(monkeypatch) -> None:
    monkeypatch.setattr(step_log, "LOG_EVERY", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("every_step")
def test_training_gives_the_rewards_of_the_host(shards, tmp_path):
    for reward in ("host", "device"):
        more = {"reward": reward, "baseline": "greedy", "staleness": 0}
        steps_used = recorded(on_device(shards, tmp_path / reward, **more))
    host, device = rows(tmp_path / "host"), rows(tmp_path / "device")
    assert [set(row) for row in host] == [set(row) for row in device]
    steps = [row for row in host if row["kind"] == "step"]
    assert len(steps) == 6
    assert any("reward_all_kept" in row for row in steps)
    assert not all("reward_all_kept" in row for row in steps)
    for one, other in zip(host, device, strict=True):
        for name, value in one.items():
            assert other[name] == pytest.approx(value, abs=2e-3), name
        if one["kind"] == "step":
            assert other["reward"] == pytest.approx(one["reward"], abs=2e-6)
    # Nothing but the one step and the measuring between epochs, each compiled once.
    counts = compilations(steps_used)
    assert counts == {"reinforce_on_device": 1, "rank": 1}


@pytest.mark.slow
@pytest.mark.usefixtures("every_step")
def test_a_run_rewarded_on_the_device_resumes_bit_for_bit(
    shards, tmp_path, monkeypatch
):
    more = {"reward": "device", "baseline": "moving_average"}
    train(on_device(shards, tmp_path / "whole", **more))
    stop_after_saves(monkeypatch, 1)  # after step 2
    with pytest.raises(Stopped):
        train(on_device(shards, tmp_path / "stopped", **more))
    other = on_device(shards, tmp_path / "stopped", **more | {"reward": "host"})
    with pytest.raises(UserError, match="was started with --reward device, found host"):
        train(other)
    train(on_device(shards, tmp_path / "stopped", **more))
    assert rows(tmp_path / "stopped") == rows(tmp_path / "whole")
    whole = final(tmp_path / "whole")
    same_bits(final(tmp_path / "stopped"), whole)
    rewards = [row["reward"] for row in rows(tmp_path / "whole") if "loss" in row]
    average = rewards[0]
    for reward in rewards[1:]:
        average = 0.95 * average + 0.05 * reward
    assert whole["average"] == pytest.approx(average, abs=1e-5)


@pytest.mark.slow
def test_a_run_that_is_older_than_a_setting_resumes_with_its_default(shards, tmp_path):
    config = on_device(shards, tmp_path / "run", baseline="greedy")
    train(config)
    file = tmp_path / "run" / "config.json"
    about = json.loads(file.read_text())
    del about["config"]["reward"]
    file.write_text(json.dumps(about))
    before = rows(tmp_path / "run")
    train(config)
    assert rows(tmp_path / "run") == before
