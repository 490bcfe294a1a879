"""Tiny training runs, and what tests read of them."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from written_shards import GOOD

from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import Shards
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn import train as train_module
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.timeline import COUNTS
from kgscout_jax.learn.train import train
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.module import Policy

ROOT = Path(__file__).resolve().parents[2]
TINY: dict[str, Any] = {
    "policy": "mlp",
    "k": 4,
    "k_low": 2,
    "epochs": 4,
    "batch_size": 8,
    "learning_rate": 1e-2,
    "warmup_steps": 2,
    "tower_hidden": (8, 4),
    "gate_hidden": 8,
    "combiner_hidden": 4,
    "heads": 2,
    "save_every": 5,  # at the end of an epoch only: a save takes as long as ten steps
}
REINFORCE: dict[str, Any] = {
    "estimator": "reinforce",
    "samples": 8,
    "entropy_weight": 0.01,
}
# Settings that are constants of the compiled steps are the same in most tests, so that
# they share each other's, see ``shared_steps``.
STEPS = 5  # of an epoch: 40 questions


def tiny(shards: Shards, run: Path, **more: Any) -> TrainConfig:
    return TrainConfig(shards=shards.path, run=run, **{**TINY, **more})


def final(run: Path) -> dict[str, np.ndarray]:
    """Every array of the latest checkpoint."""
    folder = RunFolder.existing(run)
    assert folder.latest_step is not None
    leaves = folder.load(folder.latest_step)
    folder.close()
    return leaves


def same_bits(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype
        assert one[name].tobytes() == other[name].tobytes(), name


def rows(run: Path) -> list[dict[str, Any]]:
    """The rows of metrics.jsonl but for times and counts."""
    times = (
        *("seconds", "questions_per_second"),
        *("device_wait_share", "host_wait_share", "host_us_per_question"),
        "host_processor_us_per_question",
        *(f"{name}_per_question" for name in COUNTS),
    )
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [
        {key: value for key, value in json.loads(line).items() if key not in times}
        for line in lines
    ]


def epochs(run: Path) -> list[dict[str, Any]]:
    return [row for row in rows(run) if row["kind"] == "epoch"]


STEPS_OF: dict[Any, Steps] = {}


def shared_steps(
    policy: Policy, config: TrainConfig, *parts: Any, fresh: bool = False
) -> Steps:
    """The jitted functions of an earlier run of equal settings, traced and compiled.

    Stands for ``Steps`` in tests of training: tracing takes longer than a tiny run.
    """
    *_, mesh = parts
    if mesh is not None:
        return Steps(policy, config, *parts)
    not_compiled: dict[str, Any] = {"run": Path(), "init": None, "log": ()}
    not_compiled |= {"save_every": 1, "resident_gb": None, "steps_per_dispatch": 1}
    not_compiled |= {"staleness": 1, "patience": None, "select": "reward"}
    key = policy.config, dataclasses.replace(config, **not_compiled)
    if fresh or key not in STEPS_OF:
        STEPS_OF[key] = Steps(policy, config, *parts)
    return STEPS_OF[key]


def recorded(config: TrainConfig) -> Steps:
    """Train; the jitted functions that were used, which no other run has used."""
    made: list[Steps] = []

    def fresh(*parts: Any) -> Steps:
        made.append(shared_steps(*parts, fresh=True))
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_module, "Steps", fresh)
        train(config)
    (steps,) = made
    return steps


def compilations(steps: Steps) -> dict[str, int]:
    """How often each of the functions that were called was compiled."""
    counts = {
        name: function._cache_size()
        for name, function in vars(steps).items()
        if hasattr(function, "_cache_size")
    }
    return {name: count for name, count in counts.items() if count}


def place_of_good(policy: Policy, shards: Shards) -> float:
    """How many candidates score above the one that was planted; mean over dev."""
    dev = shards.split("dev")
    batch = BatchReader(shards, dev).read(np.arange(len(dev)))
    logits = np.asarray(jax.jit(policy)(batch.inputs(Tables.of(shards))))
    relation = shards.triplets[:, 1][dev.candidates]
    good = np.where(relation == shards.relations.index(GOOD), logits, -np.inf)
    return float((logits > good.max(axis=1, keepdims=True)).sum(axis=1).mean())


def command(config: TrainConfig) -> list[str]:
    """``python train.py`` with these settings."""
    out = [sys.executable, "train.py"]
    for name, value in config.to_dict().items():
        if name in ("shards", "run", *TINY, *REINFORCE, "baseline"):
            out.append("--" + name.replace("_", "-"))
            out += map(str, value) if isinstance(value, list) else [str(value)]
    return out


# Compiling takes most of the time, and optimising most of that.
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def simulated(count: int) -> dict[str, str]:
    """The environment of a process with so many devices."""
    flags = f"{QUICK} --xla_force_host_platform_device_count={count}"
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    return {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": paths}


class Stopped(Exception):
    """Stands for whatever ends a process."""


def stop_after_saves(monkeypatch: pytest.MonkeyPatch, *counts: int) -> None:
    """Training ends with ``Stopped`` once it has saved so often, at each count."""
    save, saves = RunFolder.save, []

    def stopping(self: RunFolder, *args: Any) -> None:
        save(self, *args)
        saves.append(args)
        if len(saves) in counts:
            self.close()
            raise Stopped

    monkeypatch.setattr(RunFolder, "save", stopping)
