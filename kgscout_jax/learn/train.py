"""The training loop, read from top to bottom.

Order of preference for where to start: resume this run's latest checkpoint, else the
parameters of ``--init``, else fresh ones from ``--seed``. Everything random is a
function of (seed, step) or (seed, epoch), so a killed run that is started again ends
with the same bits as one never killed (same machine, versions and devices).
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from typing import Any

import numpy as np

from kgscout_jax.data.batches import BatchReader, epoch_batches
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder, check_leaves, flatten
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.dev_measurement import measures_of
from kgscout_jax.learn.devices import Devices, devices_of
from kgscout_jax.learn.estimator_updates import updates_of
from kgscout_jax.learn.loggers import check_loggers
from kgscout_jax.learn.preemption import Stop, command
from kgscout_jax.learn.question_sampling import epoch_rows, sample_rows, usable
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.run_config import claim
from kgscout_jax.learn.sharded_reader import SpreadReader, count_candidates, tables_of
from kgscout_jax.learn.shared_run_folder import run_of, shared_policy
from kgscout_jax.learn.step_logging import check_finite, log_step
from kgscout_jax.learn.step_pipeline import Pipeline, is_stale
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train_state import as_pure, fresh_state, restored
from kgscout_jax.learn.trained_policy import check_encoder
from kgscout_jax.learn.update_steps import Steps, optimizer
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import ppr_statistics
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.walk import WalkConfig
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import progress

logger = logging.getLogger("kgscout")

WINDOW = 16
"""Batches within which questions are sorted by size."""
LOG_EVERY = 10
"""Steps between rows of kind "step" in metrics.jsonl."""


def train(config: TrainConfig) -> RunFolder:
    """The finished run.

    Raises:
        UserError: bad settings or shards, a run of other settings, a run that another
            process is writing, a non-finite loss.
    """
    devices = devices_of(config)
    devices.told(lambda: check_loggers(config.log))
    run = run_of(config.run, devices)
    with contextlib.ExitStack() as held:
        _train(config, run, devices, held)
    return run


def _train(
    config: TrainConfig, run: RunFolder, devices: Devices, held: contextlib.ExitStack
) -> None:
    # --- data
    shards = devices.together(lambda: Shards.open(config.shards))
    split = devices.together(lambda: shards.split("train"))
    count_candidates(split, devices)
    rows = usable(split)
    if not len(rows):
        raise UserError(
            f"{config.shards}: no training question has an answer and a candidate in "
            "its subgraph"
        )
    reader = SpreadReader(BatchReader(shards, split, config.path_direction), devices)
    batch_count = math.ceil(min(len(rows), config.questions_per_epoch or len(rows))
                            / config.batch_size)  # fmt: skip
    total_steps = batch_count * config.epochs

    # --- policy
    policy_config = policy_of(config, shards, split)
    if config.init is not None:
        start = shared_policy(config.init, devices)
        check_encoder(start.about, shards, config.init)
        policy_config = start.policy.config
        policy = start.policy
    else:
        policy = Policy.initial(policy_config, config.seed)

    # --- state: resume > init > fresh
    lock = locked(config.run, "training")
    devices.told(lambda: held.enter_context(lock))
    held.callback(run.close)  # waits for a save under way, whatever ends the loop
    devices.told(lambda: claim(run, config, policy_config, shards))
    transform = optimizer(config, total_steps)
    device_reward = DeviceReward(split, config.reward_direction)
    steps = Steps(
        policy, config, transform, reader.n_nodes, device_reward, devices.mesh
    )
    state = fresh_state(policy, transform)
    first, behind = 0, None
    if (found := run.latest_whole()) is not None:
        first, saved = found
        # Stopped where a step was ahead: the next one needs the older parameters.
        stale = is_stale(config, first, batch_count)
        wanted = as_pure(state, state.params if stale else None)
        check_leaves(config.run, saved, flatten(wanted))
        state, behind = restored(state, saved, stale)
        told = "resumed at" if first < total_steps else "finished, nothing left after"
        logger.info("%s: %s step %d of %d", config.run, told, first, total_steps)
    run.forget_after(first)
    devices.told(lambda: run.show_in(config.log))
    state, behind = devices.copied((state, behind))

    # --- what a step does, and what an epoch ends with
    tables = tables_of(shards, devices, by_rows=config.shard_tables)
    timeline = Timeline()
    held.callback(timeline.close)
    updates = updates_of(config, steps, tables, reader, device_reward, timeline)
    measures = measures_of(shards, split, rows, config, devices)
    if "dev" not in measures:
        logger.info("no dev split: the latest checkpoint stands for the best")

    # --- loop
    step = first
    hidden = not devices.first
    shown_steps = progress(total_steps, "training", "steps", hidden=hidden)
    with Stop() as stop, shown_steps as bar:
        bar.update(step)
        for epoch in range(step // batch_count, config.epochs):
            batches = epoch_batches(
                split.n_real,
                epoch_rows(rows, config, epoch),
                batch_size=config.batch_size,
                window=WINDOW,
                seed=config.seed,
                epoch=epoch,
            )
            started, done = time.monotonic(), 0
            unchecked: list[tuple[int, dict[str, Any]]] = []
            pipeline = Pipeline(updates, config, batches, step, behind)
            timeline.restart()
            for chosen in batches[step - epoch * batch_count :]:
                stopping = devices.asked(stop.asked, step)
                state, shown = pipeline(state, last=stopping)
                step += 1
                done += len(chosen)
                unchecked.append((step, shown))
                saves = step % config.save_every == 0
                logs = step % LOG_EVERY == 0 or step % batch_count == 0
                if saves or logs or stopping:
                    with timeline.waiting():
                        check_finite(run, unchecked)
                    unchecked = []
                if logs:
                    log_step(run, bar, step, epoch, shown, done, started)
                else:
                    bar.update(1)
                if step % batch_count == 0:
                    break
                if saves or stopping:
                    run.save(step, as_pure(state, pipeline.behind), None)
                if stopping:
                    break
            if step % batch_count:
                break  # stopped
            behind = None
            # --- end of the epoch: measure, log, save
            row: dict[str, Any] = {"kind": "epoch", "step": step, "epoch": epoch + 1}
            row |= timeline.shares()
            for name, measure in measures.items():
                row |= {
                    f"{name}_{key}": value
                    for key, value in measure(steps, state.params, tables).items()
                }
            row["seconds"] = round(time.monotonic() - started, 2)
            run.log(row)
            run.save(step, as_pure(state), row.get("dev_reward"))
            logger.info(
                "epoch %d: %s",
                epoch + 1,
                ", ".join(f"{k} {v:.3f}" for k, v in row.items() if "_" in k),
            )
            if devices.any(stop.asked):
                break
    devices.told(run.close)
    if step < total_steps:
        told = "%s: stopped at step %d of %d, saved; go on with: %s"
        logger.info(told, config.run, step, total_steps, command(config))
        stop.end()


def policy_of(config: TrainConfig, shards: Shards, split: Split) -> NetworkConfig:
    """The network's config: sizes as asked, PPR statistics of the training split."""
    dimension = int(shards.encoder["dimension"])
    if config.policy == "mlp":
        return MlpConfig(dimension=dimension, compute_dtype=config.dtype)
    part = sample_rows(np.arange(len(split)), 2000)
    mean, std = ppr_statistics(split.ppr_of(part), split.candidates[part] >= 0)
    if config.policy == "walk":
        return WalkConfig(
            dimension=dimension,
            width=config.width,
            walkers=config.walkers,
            steps=config.walk_steps,
            ppr_mean=mean,
            ppr_std=std,
            compute_dtype=config.dtype,
        )
    return DualTowerConfig(
        dimension=dimension,
        heads=config.heads,
        tower_hidden=config.tower_hidden,
        gate_hidden=config.gate_hidden,
        combiner_hidden=config.combiner_hidden,
        ppr_mean=mean,
        ppr_std=std,
        compute_dtype=config.dtype,
    )
