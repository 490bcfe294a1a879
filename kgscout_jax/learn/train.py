"""The training loop, read from top to bottom.

Training starts from this run's latest checkpoint, else from the parameters of
``--init``, else from fresh ones of ``--seed``. Random numbers are a function of
(seed, step) or (seed, epoch), so a run that was killed and resumed ends with the same
bits as an uninterrupted one (same machine, versions and devices). Parameters of
``--init`` are measured and saved as step 0: the best checkpoint is never worse on dev.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kgscout_jax.data.mixture import BatchStream, Mixture
from kgscout_jax.data.question_sampling import epoch_length
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoint_leaves import check_leaves, flatten
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.devices import Devices, devices_of
from kgscout_jax.learn.early_stopping import out_of_patience
from kgscout_jax.learn.estimator_updates import Pipeline, is_stale, update_class
from kgscout_jax.learn.loggers import check_loggers
from kgscout_jax.learn.network_kind import with_policy
from kgscout_jax.learn.preemption import Preemption
from kgscout_jax.learn.resident_sets import dispatch_steps, resident_sets
from kgscout_jax.learn.resume_command import command_line_program, resume_command
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.run_config import network_config, write_or_check_config
from kgscout_jax.learn.set_measurements import SetMeasurements
from kgscout_jax.learn.sharded_reader import (
    device_tables,
    share_widths,
    tables_are_shared,
)
from kgscout_jax.learn.step_log import StepLog
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.timeline_file import write_timeline
from kgscout_jax.learn.train_state import (
    initial_state,
    optimizer,
    restored_state,
    state_to_tree,
)
from kgscout_jax.learn.trained_policy import (
    PARAMS,
    TrainedPolicy,
    check_encoder,
    load_policy,
    restore_policy,
)
from kgscout_jax.learn.training_set import TrainingSet, open_sets
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import config_from_json, has_answers, needs_words
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")


class PolicyLoader(Protocol):
    """Loads the policy of ``--init``, as ``load_policy`` does."""

    def __call__(self, path: Path, *, devices: Devices) -> TrainedPolicy: ...


def train(
    config: TrainConfig,
    *,
    load: PolicyLoader = load_policy,
    resume: str | None = None,
) -> RunFolder:
    """Train, or resume training; returns the finished run.

    Args:
        config: the settings.
        load: loads ``config.init``; of a run, or with ``export.load_trained``
            also of an export.
        resume: how people resume a stopped run; None for ``kgscout train``.

    Raises:
        UserError: bad settings or shards, a run of other settings, a run that another
            process is writing, a non-finite loss, another process that is gone.
    """
    devices = devices_of(config)
    devices.broadcast(lambda: check_loggers(config.log))
    run = RunFolder(config.run, devices)
    with devices.lost_process(), contextlib.ExitStack() as resources:
        _train(config, run, devices, resources, load, resume)
    return run


def _train(
    config: TrainConfig,
    run: RunFolder,
    devices: Devices,
    resources: contextlib.ExitStack,
    load: PolicyLoader,
    resume: str | None,
) -> None:
    # --- data
    sets = open_sets(config, devices)
    batch_count = epoch_length(
        [len(each.rows) for each in sets], config.batch_size, config.questions_per_epoch
    )
    total_steps = batch_count * config.epochs
    mixture = Mixture(batch_streams(sets, config), config.weights, total_steps)

    # --- policy
    # A run keeps its network: a later version's has other parts by default.
    saved = devices.broadcast(lambda: run.config if run.config_file.exists() else None)
    if config.init is not None:
        initial = initial_policy(config.init, devices, load)
        check_encoder(initial.metadata, sets[0].shards, config.init)
        policy = initial.policy
        policy_config = policy.config
        config = initialised_config(config, policy_config, saved)
    else:
        policy_config = (
            config_from_json(saved["policy"]) if saved else network_config(config, sets)
        )
        policy = Policy.initial(policy_config, config.seed)

    # --- state: resume > init > fresh
    lock = locked(config.run, "training")
    devices.broadcast(lambda: resources.enter_context(lock))
    resources.callback(run.close)  # waits for a save in progress, also after an error
    names = devices.broadcast(
        lambda: write_or_check_config(run, config, policy_config, sets)
    )
    for each in sets:
        each.reader.reads_words = needs_words(policy_config)
    share_widths([each.reader for each in sets])
    transform = optimizer(config, total_steps)
    reward = DeviceReward(sets[0].split, config.reward_direction)
    steps = Steps(policy, config, transform, reward, devices.mesh)
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
    run.drop_rows_after(first if checkpoint else -1)
    devices.broadcast(lambda: run.open_loggers(config.log))
    state, stale_params = devices.replicate((state, stale_params))

    # --- updates and measurements
    tables = device_tables(
        [each.shards for each in sets], devices, shard_rows=config.shard_tables
    )
    timeline = Timeline()
    resources.callback(timeline.close)
    residents = [None] * len(sets)
    if first < total_steps and tables_are_shared([e.shards for e in sets], devices):
        residents = resident_sets(config, sets) or residents
    updates = [
        update_class(config)(config, steps, table, each.reader, timeline, resident)
        for table, each, resident in zip(tables, sets, residents, strict=True)
    ]
    measures = SetMeasurements(sets, tables, names, config, devices)
    if config.init is not None and checkpoint is None:
        about = {"kind": "epoch", "step": 0, "epoch": 0}
        score = log_epoch(run, about, measures.row(steps, state.params), config)
        run.save(0, state_to_tree(state), score)

    # --- loop
    step, run_out = first, False
    hidden = not devices.is_first
    progress = ProgressBar(total_steps, "training", "steps", hidden=hidden)
    with Preemption() as preemption, progress as bar:
        bar.update(step)
        for epoch in range(step // batch_count, config.epochs):
            if run_out := is_run_out(run, config, devices):
                break
            start = epoch * batch_count
            batches = mixture.batches(start, start + batch_count)
            pipeline = Pipeline(
                updates, batches, step, stale_params, dispatch_steps(config)
            )
            step_log = StepLog(run, bar, timeline, mixture, names, batch_count)
            timeline.restart()
            while step < start + batch_count:
                stopping = devices.stop_requested(preemption.requested, step)
                state, metrics = pipeline(state, last=stopping)
                taken = batches[step - start : pipeline.step - start]
                steps_taken = range(step + 1, pipeline.step + 1)
                step = pipeline.step
                step_log.add(steps_taken, metrics, sum(len(b) for _, b in taken))
                ends = step % batch_count == 0
                saves = step % config.save_every == 0
                if ends or saves or stopping:
                    step_log.read()
                if (saves or stopping) and not ends:
                    run.save(step, state_to_tree(state, pipeline.stale_params), None)
                if stopping:
                    break
            if step % batch_count:
                break  # stopped
            stale_params = None
            # --- end of the epoch: measure, log, save
            row: dict[str, Any] = {"kind": "epoch", "step": step, "epoch": epoch + 1}
            row |= timeline.shares()
            if devices.is_first:
                write_timeline(config.run, step, timeline.spans)
            measured = measures.row(steps, state.params)
            row["seconds"] = round(time.monotonic() - step_log.started, 2)
            score = log_epoch(run, row, measured, config)
            run.save(step, state_to_tree(state), score)
            if devices.any(preemption.requested):
                break
    devices.broadcast(run.close)
    if run_out:
        message = "%s: finished at step %d, no higher dev score in %d epochs"
        logger.info(message, config.run, step, config.patience)
    elif step < total_steps:
        program = command_line_program()
        resume = resume or resume_command(config.to_dict(), config.run, program)
        message = "%s: stopped at step %d of %d, saved; go on with: %s"
        logger.info(message, config.run, step, total_steps, resume)
        preemption.exit()


def batch_streams(
    sets: Sequence[TrainingSet], config: TrainConfig
) -> list[BatchStream]:
    """The batches of each set."""
    return [
        BatchStream(
            n_real=each.split.n_real,
            rows=each.rows,
            batch_size=config.batch_size,
            seed=config.seed,
            number=number,
            # Of several sets, an epoch takes the next part of each one's pass.
            sample=config.questions_per_epoch if len(sets) == 1 else None,
        )
        for number, each in enumerate(sets)
    ]


def is_run_out(run: RunFolder, config: TrainConfig, devices: Devices) -> bool:
    """Whether ``--patience`` ends the run here; from its rows, so a resumed run too."""
    if config.patience is None:
        return False
    return devices.broadcast(
        lambda: out_of_patience(
            [row.get("dev_score") for row in run.metrics("epoch")], config.patience
        )
    )


def dev_score(row: dict[str, Any], select: str = "reward") -> float | None:
    """What the best checkpoint has most of.

    The dev reward, plus Hits@1 with a head; or path_triplet_recall, or Hits@1.
    """
    if "dev_reward" not in row:
        return None
    if select != "reward":
        return row[f"dev_{select}"]
    return round(row["dev_reward"] + row.get("dev_hits@1", 0.0), 6)


def log_epoch(
    run: RunFolder,
    row: dict[str, Any],
    measures: dict[str, float],
    config: TrainConfig,
) -> float | None:
    """Write the row of an epoch with its measures and log it; returns the dev score."""
    row |= measures
    score = dev_score(row, config.select)
    row |= {} if score is None else {"dev_score": score}
    run.log(row)
    # Of several sets, the dev reward of each is enough to see.
    brief = {k: v for k, v in row.items() if "/" not in k or "dev_reward" in k}
    values = ", ".join(f"{k} {v:.3f}" for k, v in brief.items() if "_" in k)
    logger.info("epoch %d: %s", row["epoch"], values)
    return score


def initialised_config(
    config: TrainConfig, network: NetworkConfig, saved: Mapping[str, Any] | None
) -> TrainConfig:
    """The settings with the kind of network of ``--init``.

    A run that exists keeps what it was started with: earlier versions recorded
    ``--policy``, whatever the network.

    Args:
        config: the settings.
        network: that of ``--init``.
        saved: the run's ``config.json``; None for a new run.

    Raises:
        UserError: ``--policy`` names another kind, or ``--select`` needs answers that
            the network does not give.
    """
    if config.select == "hits@1" and not has_answers(network):
        raise UserError(
            "--select: found hits@1, expected it with a policy that answers only, "
            f"which --init {config.init} does not"
        )
    if saved is None:
        return with_policy(config, network.architecture)
    if config.policy is None:
        kind = saved["config"].get("policy", "thesis")
        return dataclasses.replace(config, policy=kind)
    return config


def initial_policy(path: Path, devices: Devices, load: PolicyLoader) -> TrainedPolicy:
    """The policy to start from; only the first process reads it."""
    read = functools.cache(lambda: load(path, devices=devices))
    step = devices.broadcast(lambda: read().step)
    metadata = devices.broadcast(lambda: read().metadata)

    def arrays() -> dict[str, np.ndarray]:
        leaves = flatten({PARAMS: read().policy.weights})
        return {name: np.asarray(leaf) for name, leaf in leaves.items()}

    return restore_policy(path, metadata, step, devices.broadcast(arrays))
