"""Batches that are gathered on the device against those that are read on the host."""

from __future__ import annotations

import json
from pathlib import Path

import jax
import numpy as np
import pytest
from shards_factory import memory_shards
from split_factory import build_split
from test_batches import random_cases
from training import Stopped, final, rows, same_bits, stop_after_saves, tiny
from written_shards import planted, write_shards

from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.resident import resident_arrays
from kgscout_jax.learn.devices import Devices
from kgscout_jax.learn.estimator_updates import Pipeline
from kgscout_jax.learn.resident_sets import (
    read_resident,
    resident_sets,
    step_numbers,
)
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.sharded_reader import share_widths
from kgscout_jax.learn.train import train
from kgscout_jax.learn.training_set import TrainingSet

pytestmark = pytest.mark.usefixtures("kgscout_cache")


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize("seed", range(3))
def test_a_gathered_batch_is_the_batch_that_is_read(seed, backend, monkeypatch):
    # Classes of widths are those of an accelerator, one for all; the device is the CPU.
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    # Two splits, one below the other; a batch with empty questions at its end.
    sizes = [[0, 1, 70, 5, 33], [12, 0, 25, 40]]
    built = [build_split(random_cases(seed + 10 * i, s)) for i, s in enumerate(sizes)]
    readers = [BatchReader(memory_shards(each), each.split) for each in built]
    share_widths(readers)
    arrays = jax.tree.map(jax.device_put, resident_arrays(readers))
    for number, reader in enumerate(readers):
        for chosen in ([2, 0, 3], [1], [3, 2]):
            widths = reader.widths_of(np.array(chosen))
            expected = reader.arrays(np.array(chosen), 4)
            ids = np.full(4, 9, np.int32)
            ids[: len(chosen)] = np.array(chosen) + 5 * number
            found = jax.jit(type(arrays).batch, static_argnums=2)(arrays, ids, widths)
            for name, value in expected._asdict().items():
                assert (getattr(found, name) is None) == (value is None), name
                if value is not None:
                    gathered = np.asarray(getattr(found, name))
                    assert gathered.dtype == value.dtype, name
                    np.testing.assert_array_equal(gathered, value, err_msg=name)


def test_the_sets_of_an_accelerator_share_their_widths(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    sizes = [[0, 1, 70, 5, 33], [12, 0, 25, 40]]
    built = [build_split(random_cases(i, s)) for i, s in enumerate(sizes)]
    readers = [BatchReader(memory_shards(each), each.split) for each in built]
    own = [reader.widths[0] for reader in readers]
    assert own[0] != own[1]
    before = [reader.arrays(np.arange(4)) for reader in readers]
    share_widths(readers)
    for reader, narrow in zip(readers, before, strict=True):
        assert [*reader.widths.classes] == [tuple(map(max, *own))]
        wide = reader.arrays(np.arange(4))
        n = narrow.mask.shape[1]
        np.testing.assert_array_equal(wide.mask[:, :n], narrow.mask)
        assert not wide.mask[:, n:].any()


def test_gathered_inputs_of_the_reward_are_those_that_are_read(mixed, tmp_path):
    config = tiny(mixed, tmp_path, estimator="reinforce", reward="device")
    training_set = TrainingSet.of(mixed, config, Devices())
    found = resident_sets(config, [training_set])
    assert found is not None
    (resident,) = found
    chosen, widths = np.array([1, 0, 5]), training_set.reader.widths
    kind = resident.kinds[widths.index(60)]
    numbers = step_numbers(0, 4.0, resident.questions(chosen, 4))
    batch, inputs = read_resident(resident.sets, jax.device_put(numbers), kind)
    reward = DeviceReward(training_set.split, config.reward_direction)
    expected = reward.arrays(chosen, 4, batch.mask.shape[1])
    assert inputs is not None
    for name, value in expected._asdict().items():
        gathered = np.asarray(getattr(inputs, name))
        if name == "is_topic":  # read ones are as wide as the split's widest
            gathered, rest = np.split(gathered, [value.shape[1]], axis=1)
            assert not rest.any()
        np.testing.assert_array_equal(gathered, value, err_msg=name)


# --- training

RESIDENT = {"streamed": 0.0, "single": None, "several": None}
"""Settings of --resident-gb; several: steps of a dispatch."""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Shards whose questions are of two sizes, so that steps are of two classes."""
    cases = {
        "train": [planted(i, triplets=(30, 60)[i % 2]) for i in range(38)],
        "dev": [planted(i) for i in range(38, 42)],
    }
    return write_shards(tmp_path_factory.mktemp("mixed"), cases)


@pytest.fixture(autouse=True)
def guarded(monkeypatch):
    """Steps may transfer nothing that they do not name."""
    call = Pipeline.__call__

    def without_implicit_transfers(self: Pipeline, state, **more):
        with jax.transfer_guard("disallow"):
            return call(self, state, **more)

    monkeypatch.setattr(Pipeline, "__call__", without_implicit_transfers)


def trained(shards, run: Path, kind: str, **more) -> dict[str, np.ndarray]:
    """A run of 38 questions, five steps an epoch, saved after each third."""
    steps = 4 if kind == "several" else 1
    settings = {"resident_gb": RESIDENT[kind], "steps_per_dispatch": steps}
    train(tiny(shards, run, **{"epochs": 2, "save_every": 3, **more, **settings}))
    return final(run)


def traffic(run: Path) -> list[tuple[int, int]]:
    """Dispatches of each epoch, and the bytes that they take to the device."""
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    names = "dispatches_per_question", "bytes_in_per_question"
    return [
        tuple(round(38 * row[name]) for name in names)
        for row in lines
        if row["kind"] == "epoch"
    ]


def test_the_guard_sees_what_a_step_does_not_name():
    with (
        jax.transfer_guard("disallow"),
        pytest.raises(Exception, match="Disallowed host-to-device"),
    ):
        jax.jit(lambda x: x + 1)(np.ones(3, np.float32))


@pytest.mark.extended
@pytest.mark.parametrize(
    "more",
    [
        {},
        pytest.param(
            {"policy": "walk", "walkers": 2, "width": 8, "question_hidden": 4},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"estimator": "reinforce", "samples": 4, "reward": "device"},
            marks=pytest.mark.slow,
        ),
        pytest.param({"estimator": "bce"}, marks=pytest.mark.slow),
        pytest.param({"estimator": "reinforce", "samples": 4}, marks=pytest.mark.slow),
    ],
    ids=["closed_form", "walk", "device reward", "bce", "host reward"],
)
def test_resident_questions_give_the_bits_of_streamed_ones(mixed, tmp_path, more):
    same_bits(
        trained(mixed, tmp_path / "resident", "single", **more),
        trained(mixed, tmp_path / "streamed", "streamed", **more),
    )
    assert rows(tmp_path / "resident") == rows(tmp_path / "streamed")


@pytest.mark.extended
@pytest.mark.parametrize(
    "more",
    [
        {},
        pytest.param(
            {"estimator": "reinforce", "samples": 4, "reward": "device"},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["closed_form", "device reward"],
)
def test_several_steps_of_a_dispatch(mixed, tmp_path, monkeypatch, more):
    whole = trained(mixed, tmp_path / "several", "several", **more)
    stop_after_saves(monkeypatch, 1)
    with pytest.raises(Stopped):
        trained(mixed, tmp_path / "stopped", "several", **more)
    monkeypatch.undo()
    same_bits(trained(mixed, tmp_path / "stopped", "several", **more), whole)
    trained(mixed, tmp_path / "single", "single", **more)
    for one, other in zip(
        rows(tmp_path / "several"), rows(tmp_path / "single"), strict=True
    ):
        assert one == pytest.approx(other, abs=2e-3)
    # By hand: the number of a step, its budget and 8 questions, 4 bytes each; of
    # several steps also their class, for 4 steps whatever is taken of them.
    assert traffic(tmp_path / "single") == [(10, 5 * 40)] * 2
    assert traffic(tmp_path / "several") == [(2, 2 * 176), (3, 3 * 176)]
