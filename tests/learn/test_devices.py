"""Many devices: the same update as one, rows of split tables, what processes say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from training import simulated
from written_shards import write_shards

from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.devices import Devices, devices_of, from_bytes, to_bytes

HERE = Path(__file__).parent


def on_devices(shards: Path, out: Path, *cases: str) -> None:
    """Run cases in a process with eight simulated devices."""
    words = [sys.executable, str(HERE / "on_devices.py"), str(shards), str(out), *cases]
    done = subprocess.run(words, env=simulated(8), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Path:
    return write_shards(tmp_path_factory.mktemp("shards")).path


FREE = {"params/combiner/output/bias", "params/output/bias"}
"""Added to all logits alike: its gradient is rounding, which Adam makes a step of."""


def same_results(out: Path, one: str, other: str) -> None:
    with np.load(out / f"{one}.npz") as a, np.load(out / f"{other}.npz") as b:
        assert set(a.files) == set(b.files)
        assert any(name.startswith("params/") for name in a.files)
        for name in set(a.files) - FREE:
            # Adam's first steps are 1e-2 long, also where a gradient is near rounding,
            # as that of one in a thousand weights may be.
            far = ~np.isclose(a[name], b[name], 1e-4, 1e-4, equal_nan=True)
            assert far.mean() <= 1e-3, name
            np.testing.assert_allclose(a[name], b[name], 0, 1e-3, err_msg=name)


def check(shards: Path, out: Path, kind: str, *places: str) -> None:
    """The same updates of one kind on one device and on others."""
    one = f"{kind}-1"
    others = [f"{kind}-{place}" for place in places]
    on_devices(shards, out, one, *others)
    for other in others:
        same_results(out, one, other)


@pytest.mark.slow
def test_the_same_updates_on_four_devices(shards, tmp_path):
    # 6 questions on 4 devices, and 3: some have none. Host rewards, normalised over the
    # batch, and a moving average; the table is split.
    check(shards, tmp_path, "mlp-reinforce-host-moving_average", "4-rows")


@pytest.mark.extended
def test_the_default_network_on_eight_devices(shards, tmp_path):
    check(shards, tmp_path, "walk-closed_form-host-greedy", "8-rows")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "thesis-closed_form-host-greedy",
        "mlp-bce-host-greedy",
        "thesis-reinforce-host-greedy",
        "thesis-reinforce-host-leave_one_out",
        "thesis-reinforce-device-moving_average",
        "thesis-reinforce-device-greedy",
    ],
)
def test_the_same_updates_on_eight_devices(shards, tmp_path, kind):
    check(shards, tmp_path, kind, "8", "8-rows", "3")


@pytest.mark.slow
def test_the_same_updates_from_a_table_of_int8(tmp_path):
    shards = write_shards(tmp_path / "shards", table="int8").path
    check(shards, tmp_path, "thesis-closed_form-host-greedy", "8-rows")


ROWS = """
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from kgscout_jax.data.sharded_table import BLOCK, RowLayout

for count in (3, 8):
    mesh = Mesh(np.array(jax.devices()[:count]), ("data",))
    layout = RowLayout(mesh)
    split = NamedSharding(mesh, PartitionSpec("data"))
    fetch = jax.jit(layout.rows)
    rng = np.random.default_rng(count)
    b = 2 * count
    even = rng.integers(0, 2000, (b, 30))
    for length in (5, BLOCK * count + 1):
        table = rng.normal(size=(length, 3)).astype(np.float16)
        placed = layout.put(table), layout.put(table[:, 0])
        device, row = layout.place(np.arange(length))
        parts = np.asarray(placed[0]).reshape(count, -1, 3)
        np.testing.assert_array_equal(parts[device, row], table)
        for ids in (even % length, np.full_like(even, length - 1), even * 0):
            mask = rng.random(ids.shape) < 0.7
            ids, mask = jax.device_put((ids, mask), split)
            rows, first = fetch(placed, ids, mask)
            assert rows.sharding.spec == PartitionSpec("data")
            expected = np.where(np.asarray(mask)[..., None], table[ids], 0)
            np.testing.assert_array_equal(rows, expected)
            np.testing.assert_array_equal(first, expected[..., 0])
"""


@pytest.mark.extended
def test_rows_of_split_tables():
    # Even and most uneven wishes: all of one row, so that every round is full.
    words = [sys.executable, "-c", ROWS]
    done = subprocess.run(words, env=simulated(8), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


# --- which devices, and what processes tell


def config(**more) -> TrainConfig:
    return TrainConfig(shards=Path("shards"), run=Path("run"), **more)


def test_one_device_needs_no_mesh():
    assert devices_of(config(devices=1)) == Devices()
    assert Devices().padded_size(7) == 7
    assert Devices().local_slice(7) == slice(0, 7)


def test_more_devices_than_there_are():
    with pytest.raises(UserError, match="--devices: found 4096, expected at most"):
        devices_of(config(devices=4096))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"devices": 0}, "--devices: found 0, expected at least 1"),
        ({"processes": 2}, "--processes: found 2, expected --coordinator as well"),
        ({"coordinator": "here"}, "--coordinator: found here, expected HOST:PORT"),
        ({"coordinator": "a:1", "process_id": 0}, "--processes: found None, expected"),
        (
            {"coordinator": "a:1", "processes": 2, "process_id": 2},
            "--process-id: found 2, expected 0 to 1",
        ),
        (
            {
                "coordinator": "a:1",
                "processes": 1,
                "process_id": 0,
                "distributed": True,
            },
            "--distributed: found True",
        ),
    ],
)
def test_flags_are_checked(flags, message):
    with pytest.raises(UserError, match=message):
        config(**flags)


def test_a_broadcast_value_arrives_unchanged():
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.int32(7)}
    arrays["c"] = np.zeros((0, 2), bool)
    got = from_bytes(to_bytes(arrays, ""))
    assert list(got) == ["a", "b", "c"]
    for name, array in arrays.items():
        assert got[name].dtype == array.dtype
        np.testing.assert_array_equal(got[name], array)
    assert from_bytes(to_bytes(None, "")) is None
    assert from_bytes(to_bytes({"x": [1, "y"]}, "")) == {"x": [1, "y"]}
    with pytest.raises(UserError, match="the disk is full"):
        from_bytes(to_bytes(None, "the disk is full"))
