"""Processes over loopback: they train, save and resume, alone or together."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from test_devices import FREE
from training import QUICK, ROOT, final, rows
from written_shards import write_shards

from kgscout_jax.learn.checkpoints import RunFolder

FLAGS = (
    "--estimator reinforce --baseline moving_average --samples 4 --k 4 "
    "--entropy-weight 0.01 --epochs 2 --batch-size 6 --questions-per-epoch 16 "
    "--learning-rate 0.01 --policy mlp --save-every 2 --shard-tables"
).split()
STEPS = 3  # of an epoch: two batches of 6 questions and one of 4


def environment(devices: int) -> dict[str, str]:
    flags = f"{QUICK} --xla_force_host_platform_device_count={devices}"
    return {**os.environ, "XLA_FLAGS": flags, "OMP_NUM_THREADS": "1"}


def start(devices: int, *words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "train.py", *words],
        cwd=ROOT,
        env={**environment(devices), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def pair(*words: str) -> list[subprocess.Popen[str]]:
    """Two processes with two devices each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    joined = ["--coordinator", f"127.0.0.1:{port}", "--processes", "2"]
    return [start(2, *words, *joined, "--process-id", str(i)) for i in range(2)]


def slurm(count: int, *words: str) -> list[subprocess.Popen[str]]:
    """Processes of one device each, with what srun tells them on one machine."""
    for job in range(os.getpid(), os.getpid() + 4096):
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", 61440 + job % 4096))  # where JAX looks for it
            break
    of_all = {"SLURM_JOB_ID": str(job), "SLURM_STEP_NODELIST": "localhost"}
    of_all |= {"SLURM_NTASKS": str(count), "SLURM_STEP_NUM_NODES": "1"}
    return [
        start(
            *(1, *words, "--distributed"),
            **{**of_all, "SLURM_PROCID": str(i), "SLURM_LOCALID": str(i)},
        )
        for i in range(count)
    ]


def ended(*processes: subprocess.Popen[str], code: int = 0) -> list[str]:
    """What each wrote to stderr."""
    try:
        said = [process.communicate(timeout=400)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    found = [process.returncode for process in processes]
    assert found == [code] * len(processes), "\n".join(said)[-6000:]
    return said


def wait_for_rows(run: Path, count: int) -> int:
    """The number of lines of metrics.jsonl, once there are so many, or in 5 minutes."""
    file, deadline = run / "metrics.jsonl", time.monotonic() + 300
    while True:
        lines = len(file.read_text().splitlines()) if file.exists() else 0
        if lines >= count or time.monotonic() > deadline:
            return lines
        time.sleep(0.1)


def kept(run: Path) -> dict[str, np.ndarray]:
    """Every array of the latest checkpoint, which must be of the last step."""
    assert RunFolder.existing(run).latest_step == 2 * STEPS
    return final(run)


def same_run(one: Path, other: Path) -> None:
    """The same parameters and metrics but for rounding."""
    a, b = kept(one), kept(other)
    assert a.keys() == b.keys()
    for name in a.keys() - FREE:
        np.testing.assert_allclose(a[name], b[name], 1e-4, 1e-5, err_msg=name)
    told, expected = rows(one), rows(other)
    assert [row["step"] for row in told] == [row["step"] for row in expected]
    for row, wanted in zip(told, expected, strict=True):
        assert row.keys() == wanted.keys()
        for name in row.keys() & {"loss", "reward", "dev_reward", "dev_answer_hit@4"}:
            assert row[name] == pytest.approx(wanted[name], rel=1e-4)


def without_last(run: Path, out: Path) -> Path:
    """The run as it was before its last step, and stopped there."""
    shutil.copytree(run, out)
    shutil.rmtree(out / "checkpoints" / str(2 * STEPS))
    return out


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> str:
    return str(write_shards(tmp_path_factory.mktemp("shards")).path)


@pytest.fixture(scope="module")
def both(shards, kgscout_cache, tmp_path_factory) -> Path:
    """The run of two processes with two devices each."""
    run = tmp_path_factory.mktemp("runs") / "both"
    first, second = ended(*pair("--shards", shards, "--run", str(run), *FLAGS))
    assert "epoch 2" in first
    assert "epoch" not in second
    return run


@pytest.mark.slow
def test_one_process_resumes_the_run_of_two(both, shards, tmp_path):
    run = without_last(both, tmp_path / "run")
    (said,) = ended(start(3, "--shards", shards, "--run", str(run), *FLAGS))
    assert "resumed at step 4 of 6" in said
    same_run(run, both)


@pytest.mark.slow
def test_two_processes_train_as_one_and_resume_its_run(both, shards, tmp_path):
    alone = tmp_path / "alone"
    ended(start(1, "--shards", shards, "--run", str(alone), *FLAGS))
    same_run(both, alone)
    run = without_last(alone, tmp_path / "run")
    said = ended(*pair("--shards", shards, "--run", str(run), *FLAGS))
    assert "resumed at step 4 of 6" in said[0]
    same_run(run, alone)


@pytest.mark.slow
def test_sigterm_to_one_process_stops_both(both, shards, tmp_path):
    flags = [*FLAGS, "--epochs", "2000"]
    run = tmp_path / "run"
    processes = pair("--shards", shards, "--run", str(run), *flags)
    wait_for_rows(run, 1)
    processes[1].send_signal(signal.SIGTERM)
    said = ended(*processes)
    assert "saved; go on with" in said[0]
    assert list((run / "checkpoints").iterdir())


@pytest.mark.slow
def test_four_processes_of_slurm_train_as_two(both, shards, tmp_path):
    # Batches of 6 and 4 questions: the last process has none of the first kind.
    run = tmp_path / "run"
    ended(*slurm(4, "--shards", shards, "--run", str(run), *FLAGS))
    same_run(run, both)


@pytest.mark.slow
def test_a_killed_process_ends_the_others_and_one_resumes(shards, tmp_path):
    run = tmp_path / "run"
    words = ["--shards", shards, "--run", str(run), *FLAGS, "--epochs", "2000"]
    processes = slurm(4, *words)
    wait_for_rows(run, 4)
    processes[2].kill()
    processes.pop(2).communicate()
    for said in ended(*processes, code=2):
        assert said.splitlines()[-1].startswith("error: another process of the run is")
    step, lines = RunFolder.existing(run).latest_step, wait_for_rows(run, 4)
    alone = start(3, *words)
    wait_for_rows(run, lines + 2)
    alone.send_signal(signal.SIGTERM)
    (said,) = ended(alone)
    assert f"resumed at step {step} of {2000 * STEPS}" in said


@pytest.mark.slow
def test_an_error_of_the_first_process_ends_both(both, shards, tmp_path):
    wrong = ["--shards", shards, "--run", str(tmp_path / "run"), *FLAGS]
    processes = pair(*wrong, "--init", str(tmp_path / "nowhere"))
    for said in ended(*processes, code=2):
        assert "no such run" in said
    assert not (tmp_path / "run").exists()
