"""Checks of the settings of a training run: ranges, shards, processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_folder

if TYPE_CHECKING:
    from kgscout_jax.learn.config import TrainConfig

AT_LEAST_1 = ("k", "k_low", "samples", "epochs", "batch_size", "save_every")
AT_LEAST_0 = (
    "warmup_steps",
    "weight_decay",
    "entropy_weight",
    "connectivity_weight",
    "bce_weight",
    "positive_weight",
    "answer_width",
    "word_rank",
    "answer_weight",
    "question_hidden",
    "question_noise",
    "dev_questions",
    "resident_gb",
)
"""None is allowed too."""
ABOVE_0 = ("learning_rate", "clip_norm")
COUNTS = (
    "questions_per_epoch",
    "candidates",
    "patience",
    "steps_per_dispatch",
    "batch_per_device",
)
"""None, or at least 1."""


def check_train_config(config: TrainConfig) -> None:
    """Raise UserError unless the settings are in range and fit each other."""
    for name in AT_LEAST_1:
        _check(config, name, getattr(config, name) >= 1, "at least 1")
    for name in AT_LEAST_0:
        value = getattr(config, name)
        _check(config, name, value is None or value >= 0, "at least 0")
    for name in ABOVE_0:
        _check(config, name, getattr(config, name) > 0, "above 0")
    for name in COUNTS:
        value = getattr(config, name)
        _check(config, name, value is None or value >= 1, "above 0")
    if config.baseline == "leave_one_out" and config.estimator == "reinforce":
        good = config.samples >= 2
        _check(config, "samples", good, "at least 2 with leave_one_out")
    _check(config, "staleness", config.staleness in (0, 1), "0 or 1")
    _check_shards(config)
    if config.run.exists():
        check_folder(config.run, "folder of a run")
    alone = config.perturb is None or not (config.coordinator or config.distributed)
    _check(config, "perturb", alone, "it only with one process")
    if config.batch_per_device is not None:
        adds = config.estimator != "reinforce"
        _check(config, "batch_per_device", adds, "it with closed_form or bce only")
    if config.select == "hits@1":
        answers = config.policy == "walk" and config.answer_width > 0
        if config.init is not None:  # training checks the head of its network
            answers = config.policy in ("walk", None)
        _check(config, "select", answers, "it with a policy that answers only")
    if config.devices is not None:
        _check(config, "devices", config.devices >= 1, "at least 1")
    _check_processes(config)


def check_budget(config: TrainConfig, prepared: Mapping[Path, int | None]) -> None:
    """Raise UserError if no question can have ``--k`` candidates.

    The default is no more than a bound.

    Args:
        config: the settings.
        prepared: the candidates of a question, at most, by folder of shards.
    """
    if config.k == type(config).k:
        return
    for folder, most in prepared.items():
        limit = min(most or config.k, config.candidates or config.k)
        if config.k > limit:
            raise UserError(
                f"--k: found {config.k}, expected at most {limit}, the candidates of a "
                f"question of {folder}"
            )


def _check_shards(config: TrainConfig) -> None:
    """Raise UserError unless there are shards, each once, with a weight above 0."""
    if not config.shards:
        raise UserError("--shards: expected a folder of shards, found none")
    for i, folder in enumerate(config.shards):
        if folder.resolve() in [each.resolve() for each in config.shards[:i]]:
            raise UserError(f"--shards: found {folder} twice, expected it once")
    if config.mix and len(config.mix) != len(config.shards):
        raise UserError(
            f"--mix: found {len(config.mix)} weights, expected {len(config.shards)}, "
            "one for each of --shards"
        )
    for weight in config.mix:
        if not (math.isfinite(weight) and weight > 0):
            raise UserError(f"--mix: found {weight}, expected numbers above 0")


def _check_processes(config: TrainConfig) -> None:
    """Raise UserError unless the flags about processes are consistent."""
    numbers = ("processes", "process_id")
    if config.coordinator is None:
        for name in numbers:
            given = getattr(config, name) is not None
            _check(config, name, not given, "--coordinator as well")
        return
    host, _, port = config.coordinator.rpartition(":")
    good = bool(host) and port.isdigit() and 0 < int(port) < 65536
    _check(config, "coordinator", good, "HOST:PORT")
    _check(config, "distributed", not config.distributed, "False beside --coordinator")
    for name in numbers:
        _check(config, name, getattr(config, name) is not None, "a number")
    assert config.processes is not None and config.process_id is not None
    _check(config, "processes", config.processes >= 1, "at least 1")
    in_range = 0 <= config.process_id < config.processes
    _check(config, "process_id", in_range, f"0 to {config.processes - 1}")


def _check(config: TrainConfig, name: str, good: bool, expected: str) -> None:
    if not good:
        flag = name.replace("_", "-")
        value = getattr(config, name)
        raise UserError(f"--{flag}: found {value}, expected {expected}")
