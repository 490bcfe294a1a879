"""Long runs: memory stays flat, nothing is compiled twice, in one process or two."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training import REINFORCE, ROOT, tiny

from kgscout_jax.data.shards import Shards
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.train import train

pytestmark = pytest.mark.usefixtures("kgscout_cache")
COMPILED = "/jax/core/compile/backend_compile_duration"
STEPS = 40  # of an epoch: one question each


def resident() -> int:
    """Bytes of memory that this process holds now, less what is free to give back."""
    gc.collect()
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def watched(monkeypatch):
    """At the end of each epoch: functions compiled so far, and resident bytes."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    compiled, ends, log = [0], [], RunFolder.log

    def count(event: str, duration: float, **_: Any) -> None:
        compiled[0] += event == COMPILED

    def logged(self: RunFolder, row: dict[str, Any]) -> None:
        log(self, row)
        if row["kind"] == "epoch":
            ends.append((compiled[0], resident()))

    jax.monitoring.register_event_duration_secs_listener(count)
    monkeypatch.setattr(RunFolder, "log", logged)
    yield ends
    jax.monitoring.unregister_event_duration_listener(count)


def soak(shards: Shards, run: Path, ends: list[Any], epochs: int, **more: Any) -> int:
    """Train, check that nothing was compiled late; bytes by which memory grew."""
    train(tiny(shards, run, **more, batch_size=1, save_every=15, epochs=epochs))
    compiled, bytes_held = np.array(ends).T
    assert compiled[0] > 0
    # The first epoch measures, logs and saves: what comes later has been there before.
    assert set(compiled[1:]) == {compiled[1]}
    assert compiled[1] - compiled[0] <= 0
    warm = len(ends) // 2
    return int(np.median(bytes_held[-3:]) - np.median(bytes_held[warm - 1 : warm + 2]))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["closed_form", "reinforce"])
def test_hundreds_of_steps_compile_nothing_new_and_hold_their_memory(
    shards, watched, tmp_path, estimator
):
    more = REINFORCE if estimator == "reinforce" else {}
    grown = soak(shards, tmp_path, watched, epochs=8, **more)
    assert grown < 24e6  # the allocator's noise; a leak of the state shows above


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["host", "device"])
def test_thousands_of_steps_hold_their_memory(shards, watched, tmp_path, reward):
    more = {**REINFORCE, "reward": reward}
    grown = soak(shards, tmp_path, watched, epochs=100, **more)  # 4,000 steps
    assert grown < 16e6  # 8 KB a step over 2,000 of them


def test_saves_leave_neither_threads_nor_files_open(tmp_path):
    run = RunFolder(tmp_path / "run")

    def held_after(steps) -> tuple[int, int]:
        for step in steps:
            run.save(step, {"weight": jnp.zeros(3)}, float(step))
        gc.collect()  # loops of ended threads hold files until they are collected
        return threading.active_count(), len(os.listdir("/dev/fd"))

    threads, files = held_after(range(8))
    more_threads, more_files = held_after(range(8, 56))
    run.close()
    # The last save's own threads (10 of them) may not have ended at either count. A
    # leak of one thread and three files a save would be 48 and 144.
    assert more_threads < threads + 24 and more_files < files + 24


COUNTING = """
import json, sys
import jax
counts = {"cache_hits": 0, "cache_misses": 0}
def count(event, **_):
    name = event.rsplit("/", 1)[-1]
    if name in counts:
        counts[name] += 1
jax.monitoring.register_event_listener(count)
from kgscout_jax.cli.main import train_main
code = train_main(sys.argv[1:], "train")
print(json.dumps(counts | {"code": code}))
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing(shards, tmp_path):
    env = os.environ | {"KGSCOUT_CACHE": str(tmp_path / "cache")}
    env.pop("JAX_COMPILATION_CACHE_DIR", None)
    found = []
    for name in ("first", "second"):
        flags = {
            "--shards": shards.path, "--run": tmp_path / name, "--epochs": 1,
            "--batch-size": 8, "--k": 4, "--gate-hidden": 8, "--heads": 2,
            "--save-every": 2, "--estimator": "reinforce", "--samples": 4,
        }  # fmt: skip
        args = [str(word) for pair in flags.items() for word in pair]
        args += ["--tower-hidden", "8", "4"]
        done = subprocess.run(
            [sys.executable, "-c", COUNTING, *args],
            cwd=ROOT, env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.append(json.loads(done.stdout.splitlines()[-1]))
    first, second = found
    assert (first["code"], second["code"]) == (0, 0)
    assert first["cache_misses"] > 0
    assert second["cache_misses"] == 0
    assert second["cache_hits"] >= first["cache_misses"]
