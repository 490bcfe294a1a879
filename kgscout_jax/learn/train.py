"""The training loop, read from top to bottom.

Training starts from this run's latest checkpoint, else from the parameters of
``--init``, else from fresh ones of ``--seed``. Random numbers are a function of
(seed, step) or (seed, epoch), so a run that was killed and resumed ends with the same
bits as an uninterrupted one (same machine, versions and devices).
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from pathlib import Path
from typing import Any

from kgscout_jax.data.batches import epoch_batches
from kgscout_jax.data.question_sampling import epoch_rows, trainable_rows
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoint_leaves import check_leaves, flatten
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.dev_measurement import measurements
from kgscout_jax.learn.devices import Devices, devices_of
from kgscout_jax.learn.estimator_updates import Pipeline, is_stale, update_class
from kgscout_jax.learn.loggers import check_loggers
from kgscout_jax.learn.preemption import Preemption
from kgscout_jax.learn.resume_command import command_line_program, resume_command
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.run_config import network_config, write_or_check_config
from kgscout_jax.learn.sharded_reader import (
    ShardedReader,
    count_candidates,
    device_tables,
)
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train_state import (
    initial_state,
    optimizer,
    restored_state,
    state_to_tree,
)
from kgscout_jax.learn.trained_policy import (
    TrainedPolicy,
    check_encoder,
    read_leaves,
    restore_policy,
)
from kgscout_jax.learn.update_steps import Metrics, Steps
from kgscout_jax.policy.module import Policy
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")

WINDOW = 16
"""Batches within which questions are sorted by size."""
LOG_EVERY = 10
"""Steps between rows of kind "step" in metrics.jsonl."""


def train(config: TrainConfig) -> RunFolder:
    """Train, or resume training; returns the finished run.

    Raises:
        UserError: bad settings or shards, a run of other settings, a run that another
            process is writing, a non-finite loss.
    """
    devices = devices_of(config)
    devices.broadcast(lambda: check_loggers(config.log))
    run = RunFolder(config.run, devices)
    with contextlib.ExitStack() as resources:
        _train(config, run, devices, resources)
    return run


def _train(
    config: TrainConfig,
    run: RunFolder,
    devices: Devices,
    resources: contextlib.ExitStack,
) -> None:
    # --- data
    shards = devices.synchronized(lambda: Shards.open(config.shards))
    split = devices.synchronized(lambda: shards.split("train"))
    count_candidates(split, devices)
    rows = trainable_rows(split)
    if not len(rows):
        raise UserError(
            f"{config.shards}: no training question has an answer and a candidate in "
            "its subgraph"
        )
    reader = ShardedReader(shards, split, config.path_direction, devices)
    batch_count = math.ceil(min(len(rows), config.questions_per_epoch or len(rows))
                            / config.batch_size)  # fmt: skip
    total_steps = batch_count * config.epochs

    # --- policy
    policy_config = network_config(config, shards, split)
    if config.init is not None:
        initial = initial_policy(config.init, devices)
        check_encoder(initial.metadata, shards, config.init)
        policy = initial.policy
        policy_config = policy.config
    else:
        policy = Policy.initial(policy_config, config.seed)

    # --- state: resume > init > fresh
    lock = locked(config.run, "training")
    devices.broadcast(lambda: resources.enter_context(lock))
    resources.callback(run.close)  # waits for a save in progress, also after an error
    devices.broadcast(lambda: write_or_check_config(run, config, policy_config, shards))
    transform = optimizer(config, total_steps)
    reward = DeviceReward(split, config.reward_direction)
    steps = Steps(policy, config, transform, reader.n_nodes, reward, devices.mesh)
    state = initial_state(policy, transform)
    first, stale_params = 0, None
    if (checkpoint := run.latest_whole()) is not None:
        first, leaves = checkpoint
        # The run stopped before a stale step, which needs the older parameters.
        stale = is_stale(config, first, batch_count)
        expected = state_to_tree(state, state.params if stale else None)
        check_leaves(config.run, leaves, flatten(expected))
        state, stale_params = restored_state(state, leaves, stale)
        state_text = (
            "resumed at" if first < total_steps else "finished, nothing left after"
        )
        logger.info("%s: %s step %d of %d", config.run, state_text, first, total_steps)
    run.drop_rows_after(first)
    devices.broadcast(lambda: run.open_loggers(config.log))
    state, stale_params = devices.replicate((state, stale_params))

    # --- updates and measurements
    tables = device_tables(shards, devices, shard_rows=config.shard_tables)
    timeline = Timeline()
    resources.callback(timeline.close)
    update = update_class(config)(config, steps, tables, reader, timeline)
    measures = measurements(shards, split, rows, config, devices)
    if "dev" not in measures:
        logger.info("no dev split: the latest checkpoint stands for the best")

    # --- loop
    step = first
    hidden = not devices.is_first
    progress = ProgressBar(total_steps, "training", "steps", hidden=hidden)
    with Preemption() as preemption, progress as bar:
        bar.update(step)
        for epoch in range(step // batch_count, config.epochs):
            size, seed = config.questions_per_epoch, config.seed
            batches = epoch_batches(
                split.n_real,
                epoch_rows(rows, size, seed=seed, epoch=epoch),
                batch_size=config.batch_size,
                window=WINDOW,
                seed=seed,
                epoch=epoch,
            )
            started, questions = time.monotonic(), 0
            unchecked: list[tuple[int, Metrics]] = []
            pipeline = Pipeline(update, batches, step, stale_params)
            timeline.restart()
            for batch in batches[step - epoch * batch_count :]:
                stopping = devices.stop_requested(preemption.requested, step)
                state, metrics = pipeline(state, last=stopping)
                step += 1
                questions += len(batch)
                unchecked.append((step, metrics))
                ends = step % batch_count == 0
                saves = step % config.save_every == 0
                logs = step % LOG_EVERY == 0 or ends
                if saves or logs or stopping:
                    with timeline.waiting():
                        check_finite(config.run, unchecked)
                    unchecked = []
                if logs:
                    rate = questions / max(time.monotonic() - started, 1e-9)
                    log_step(run, bar, step, epoch, metrics, rate)
                else:
                    bar.update(1)
                if ends:
                    break
                if saves or stopping:
                    run.save(step, state_to_tree(state, pipeline.stale_params), None)
                if stopping:
                    break
            if step % batch_count:
                break  # stopped
            stale_params = None
            # --- end of the epoch: measure, log, save
            row: dict[str, Any] = {"kind": "epoch", "step": step, "epoch": epoch + 1}
            row |= timeline.shares()
            for name, measure in measures.items():
                measured = measure(steps, state.params, tables)
                row |= {f"{name}_{key}": value for key, value in measured.items()}
            score = dev_score(row)
            row |= {} if score is None else {"dev_score": score}
            row["seconds"] = round(time.monotonic() - started, 2)
            run.log(row)
            run.save(step, state_to_tree(state), score)
            values = ", ".join(f"{k} {v:.3f}" for k, v in row.items() if "_" in k)
            logger.info("epoch %d: %s", epoch + 1, values)
            if devices.any(preemption.requested):
                break
    devices.broadcast(run.close)
    if step < total_steps:
        command = resume_command(config.to_dict(), config.run, command_line_program())
        message = "%s: stopped at step %d of %d, saved; go on with: %s"
        logger.info(message, config.run, step, total_steps, command)
        preemption.exit()


def dev_score(row: dict[str, Any]) -> float | None:
    """What the best checkpoint has most of: dev reward, plus Hits@1 with a head."""
    if "dev_reward" not in row:
        return None
    return round(row["dev_reward"] + row.get("dev_hits@1", 0.0), 6)


def initial_policy(path: Path, devices: Devices) -> TrainedPolicy:
    """The best policy of another run; only the first process reads it."""
    metadata = devices.broadcast(lambda: RunFolder.existing(path).config)
    leaves = devices.broadcast(lambda: read_leaves(RunFolder(path, devices), None)[1])
    return restore_policy(path, metadata, int(leaves["step"]), leaves)


def log_step(
    run: RunFolder,
    bar: ProgressBar,
    step: int,
    epoch: int,
    metrics: Metrics,
    rate: float,
) -> None:
    """Write a row to metrics.jsonl and show it; ``rate``: questions per second."""
    values = {name: float(value) for name, value in metrics.items()}
    row = {"kind": "step", "step": step, "epoch": epoch + 1}
    row |= {name: round(value, 6) for name, value in values.items()}
    run.log({**row, "questions_per_second": round(rate, 2)})
    reward = values.get("reward", -values["loss"])
    bar.update(
        1,
        reward=f"{reward:.3f}",
        entropy=f"{values['entropy']:.2f}",
        grad=f"{values['grad_norm']:.3f}",
        qps=f"{rate:.0f}",
    )


def check_finite(path: Path, steps: list[tuple[int, Metrics]]) -> None:
    """Raise UserError at the first step whose loss or gradient is not finite."""
    for step, metrics in steps:
        for name in ("loss", "grad_norm"):
            value = float(metrics[name])
            if not math.isfinite(value):
                raise UserError(
                    f"{path}: {name} is {value} at step {step}; the latest "
                    "checkpoint is whole, lower --learning-rate or look at the data"
                )
