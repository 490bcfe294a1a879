"""What a run survives: signals, a full disk, damaged checkpoints; what it refuses."""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from training import ROOT, command, final, rows, same_bits, tiny
from written_shards import write_shards

from kgscout_jax.cli.main import train_main
from kgscout_jax.cli.runner import parse
from kgscout_jax.errors import UserError
from kgscout_jax.learn import checkpoints
from kgscout_jax.learn.checkpoint_errors import DamagedCheckpoint
from kgscout_jax.learn.checkpoint_leaves import CHECKSUMS, changed_leaves, checksums
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.resume_command import resume_command
from kgscout_jax.learn.train import train
from kgscout_jax.learn.trained_policy import load_policy

pytestmark = pytest.mark.usefixtures("kgscout_cache")


# --- signals, through the command


@pytest.mark.slow
def test_the_command_that_sigterm_prints_resumes_the_run(shards, tmp_path):
    # More steps than the signal leaves time for; the line's command goes on.
    config = tiny(shards, tmp_path / "a run", epochs=10, save_every=7)
    args = command(config)
    process = subprocess.Popen(args, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (config.run / "metrics.jsonl").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    (line,) = [line for line in said.splitlines() if "stopped at step" in line]
    at, after = line.split(", saved; go on with: ")
    step = int(at.split("stopped at step ")[1].split()[0])
    assert 5 <= step < 50
    folder = RunFolder.existing(config.run)
    assert folder.latest_step == step
    folder.close()
    words = shlex.split(after)
    assert words[:2] == ["python", "train.py"]
    done = subprocess.run(
        [sys.executable, *words[1:]], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"resumed at step {step} of 50" in done.stderr
    folder = RunFolder.existing(config.run)
    assert folder.latest_step == 50
    folder.close()


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"estimator": "reinforce", "staleness": 0, "entropy_weight": 0.0},
        {"estimator": "reinforce", "learning_rate": 1e-3, "questions_per_epoch": 9},
        {"normalise_advantage": False, "tower_hidden": (8,), "init": Path("a run")},
    ],
)
def test_the_resume_command_gives_the_same_settings(more):
    config = TrainConfig(shards=Path("some shards"), run=Path("r"), **more)
    start, *words = shlex.split(
        resume_command(config.to_dict(), config.run).removeprefix("kgscout ")
    )
    assert start == "train"
    assert parse(TrainConfig, words, "train") == config
    assert len(words) <= 4 + 2 * len(more)


# --- a disk that is full


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=420k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, stderr=-3).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.extended
def test_a_full_disk_is_one_line_and_the_run_resumes(
    shards, finished, small_disk, capsys
):
    run = small_disk / "run"
    args = arguments(tiny(shards, run, save_every=2))
    assert train_main(args, "kgscout train") == 2
    (line,) = errors(capsys)
    assert f"{run}: the disk is full while saving" in line
    whole = [int(path.name) for path in (run / "checkpoints").iterdir()]
    assert whole  # some were completed before, and what was not is gone
    folder = RunFolder.existing(run)
    for step in whole:
        folder.load(step)
    folder.close()
    assert f"whole checkpoints: {', '.join(map(str, sorted(whole)))};" in line
    more = ["mount", "-o", "remount,size=100m", str(small_disk)]
    subprocess.run(more, check=True)
    assert train_main(args, "kgscout train") == 0
    same_bits(final(run), final(finished))
    assert rows(run) == rows(finished)


@pytest.mark.slow
def test_a_limit_on_file_sizes_is_one_line(shards, tmp_path):
    # Another way to have no room, which needs no rights: a limit on the size of files.
    config = tiny(shards, tmp_path / "run", gate_hidden=512)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        command(config),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,
        env=os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false"},
    )
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert "while saving; whole checkpoints: none" in line
    assert "Traceback" not in done.stderr


# --- damaged checkpoints


def data_file(run: Path, step: int) -> Path:
    """The file that holds a checkpoint's arrays."""
    folder = run / "checkpoints" / str(step)
    return max(folder.rglob("*"), key=lambda path: path.stat().st_size)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        pytest.param(truncate, marks=pytest.mark.extended),
        pytest.param(Path.unlink, marks=pytest.mark.extended),
    ],
)
def test_a_damaged_latest_checkpoint_is_set_aside(
    shards, finished, tmp_path, damage, caplog
):
    run = shutil.copytree(finished, tmp_path / "run")
    before = RunFolder(run).steps
    damage(data_file(run, 20))
    with caplog.at_level("WARNING"):
        train(tiny(shards, run))
    (record,) = caplog.records
    assert record.message.startswith(f"{run}: the checkpoint of step 20 is damaged (")
    assert record.message.endswith(f"the latest other is step {before[-2]}")
    assert "\n" not in record.message
    assert (run / "damaged" / "20").is_dir()
    same_bits(final(run), final(finished))
    assert rows(run) == rows(finished)


@pytest.mark.extended
def test_a_run_without_a_whole_checkpoint_starts_again(
    shards, finished, tmp_path, caplog
):
    run = shutil.copytree(finished, tmp_path / "run")
    steps = RunFolder(run).steps
    for step in steps:
        flip(data_file(run, step))
    with caplog.at_level("WARNING"):
        train(tiny(shards, run))
    assert len(caplog.records) == len(steps)
    assert caplog.records[-1].message.endswith("; none is left")
    same_bits(final(run), final(finished))
    with pytest.raises(DamagedCheckpoint, match="step 20 is damaged"):
        flip(data_file(run, 20))
        load_policy(run, step=20)


def test_the_second_best_stands_for_a_damaged_best_checkpoint(
    finished, tmp_path, caplog
):
    run = shutil.copytree(finished, tmp_path / "run")
    folder = RunFolder(run)
    best, second, *_ = folder.best_first
    folder.close()
    flip(data_file(run, best))
    with caplog.at_level("WARNING"):
        assert load_policy(run).step == second
    (record,) = caplog.records
    assert f"step {best} is damaged" in record.message
    assert record.message.endswith(f"taking that of step {second}")
    assert (run / "checkpoints" / str(best)).is_dir()  # reading moves nothing


def test_a_checkpoint_with_damaged_metrics_is_set_aside(
    shards, finished, tmp_path, caplog
):
    run = shutil.copytree(finished, tmp_path / "run")
    truncate(run / "checkpoints" / "20" / "metrics" / "metrics")
    assert load_policy(run).step in RunFolder(run).steps
    with caplog.at_level("WARNING"):
        train(tiny(shards, run))
    assert "its metrics are not readable" in caplog.records[0].message
    same_bits(final(run), final(finished))


def test_a_save_that_was_never_completed_is_cleared(shards, finished, tmp_path):
    run = shutil.copytree(finished, tmp_path / "run")
    left = run / "checkpoints" / "25.orbax-checkpoint-tmp"
    shutil.copytree(run / "checkpoints" / "20", left)
    assert load_policy(run).step <= 20
    train(tiny(shards, run))
    assert not left.exists()


def test_a_checkpoint_without_checksums_is_read(tmp_path, monkeypatch):
    # As earlier versions wrote it.
    monkeypatch.setattr(checkpoints, "CHECKSUMS", "other")
    folder = RunFolder(tmp_path)
    folder.save(1, {"a": jnp.arange(3)}, None)
    folder.close()
    monkeypatch.undo()
    assert sorted(folder.load(1)) == ["a", "other"]
    folder.close()


@given(data=st.data())
def test_a_flipped_bit_changes_the_checksum_of_its_array(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    leaves = {
        "float32": rng.normal(size=(3, 5)).astype(np.float32),
        "bfloat16": np.asarray(jnp.asarray(rng.normal(size=7), jnp.bfloat16)),
        "int32": rng.integers(-9, 9, 4).astype(np.int32),
        "int8": rng.integers(-9, 9, 4).astype(np.int8),
        "bool": rng.integers(0, 2, 6).astype(bool),
        "scalar": np.float32(rng.normal()),
        "empty": np.zeros((0, 2), np.float32),
    }
    leaves = {name: np.asarray(leaf) for name, leaf in leaves.items()}
    seals = np.asarray(checksums(jax.tree.map(jnp.asarray, leaves)))
    assert CHECKSUMS not in leaves
    assert changed_leaves(leaves, seals) == []
    name = data.draw(st.sampled_from(sorted(leaves.keys() - {"bool", "empty"})))
    changed = bytearray(leaves[name].tobytes())
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    other = np.frombuffer(bytes(changed), leaves[name].dtype)
    assert changed_leaves(
        leaves | {name: other.reshape(leaves[name].shape)}, seals
    ) == [name]


# --- checkpoints of something else


def arguments(config: TrainConfig) -> list[str]:
    """The flags of ``command``."""
    return command(config)[2:]


def errors(capsys) -> list[str]:
    said = capsys.readouterr().err.splitlines()
    return [line for line in said if line.startswith("error: ")]


def test_other_sizes_shards_and_encoders_are_refused(
    shards, finished, tmp_path, capsys
):
    other = write_shards(tmp_path / "other", fingerprint="other")
    cases = [
        (tiny(shards, finished, tower_hidden=(8, 8)), "--tower-hidden 8 4, found"),
        (tiny(shards, finished, k=5), "was started with --k 4, found 5"),
        (tiny(other, finished), "was started on other shards (tiny), found"),
    ]
    for config, message in cases:
        assert train_main(arguments(config), "kgscout train") == 2
        (line,) = errors(capsys)
        assert message in line
        assert str(finished) in line


@pytest.mark.slow
def test_arrays_of_another_shape_are_named(shards, tmp_path):
    # The settings agree and the arrays don't: a folder that was put together.
    run, other = tmp_path / "run", tmp_path / "other"
    thesis = {"policy": "thesis", "epochs": 1}
    train(tiny(shards, run, **thesis))
    train(tiny(shards, other, **thesis | {"tower_hidden": (8, 8)}))
    shutil.rmtree(run / "checkpoints")
    shutil.copytree(other / "checkpoints", run / "checkpoints")
    with pytest.raises(UserError, match=r"shape .*expected .*: another encoder or"):
        train(tiny(shards, run, **thesis))
    with pytest.raises(UserError, match=r"shape .*expected .*: another encoder or"):
        load_policy(run)
    assert 5 in RunFolder(run).steps  # nothing is wrong with them
