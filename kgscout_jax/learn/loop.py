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

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Int

from kgscout_jax.batches import BatchReader, Tables, by_size, epoch_batches
from kgscout_jax.errors import UserError
from kgscout_jax.files import locked
from kgscout_jax.learn.checkpoints import RunFolder, check_leaves, flatten, unflatten
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.device_reward import DeviceReward
from kgscout_jax.learn.estimators import advantages
from kgscout_jax.learn.reward import HostReward
from kgscout_jax.learn.runs import check_encoder, load_policy
from kgscout_jax.learn.steps import State, Steps, optimizer
from kgscout_jax.policy.network import PolicyConfig, ScoutPolicy, ppr_statistics
from kgscout_jax.progress import progress
from kgscout_jax.shards import Shards, Split

logger = logging.getLogger("kgscout")

WINDOW = 16
"""Batches within which questions are sorted by size."""
LOG_EVERY = 10
"""Steps between rows of kind "step" in metrics.jsonl."""
MAY_CHANGE = ("run", "save_every", "shards")
"""Fields that may differ when a run is resumed; shards are compared by content."""
ONCE = {"reward": "host"}
"""What a run did that is older than the field."""


def train(config: TrainConfig) -> RunFolder:
    """The finished run.

    Raises:
        UserError: bad settings or shards, a run of other settings, a run that another
            process is writing, a non-finite loss.
    """
    run = RunFolder(config.run)
    with contextlib.ExitStack() as held:
        _train(config, run, held)
    return run


def _train(config: TrainConfig, run: RunFolder, held: contextlib.ExitStack) -> None:
    # --- data
    shards = Shards.open(config.shards)
    split = shards.split("train")
    rows = usable(split)
    if not len(rows):
        raise UserError(
            f"{config.shards}: no training question has an answer and a candidate in "
            "its subgraph"
        )
    reader = BatchReader(shards, split, config.path_direction)
    batch_count = math.ceil(min(len(rows), config.questions_per_epoch or len(rows))
                            / config.batch_size)  # fmt: skip
    total_steps = batch_count * config.epochs

    # --- policy
    policy_config = policy_of(config, shards, split)
    if config.init is not None:
        start = load_policy(config.init)
        check_encoder(start.about, shards, config.init)
        policy_config = start.policy.config
        policy = start.policy
    else:
        policy = ScoutPolicy(policy_config, rngs=nnx.Rngs(config.seed))

    # --- state: resume > init > fresh
    held.enter_context(locked(config.run, "training"))
    held.callback(run.close)  # waits for a save under way, whatever ends the loop
    claim(run, config, policy_config, shards)
    transform = optimizer(config, total_steps)
    device_reward = DeviceReward(split, config.reward_direction)
    steps = Steps(policy, config, transform, reader.n_nodes, device_reward)
    state = fresh_state(policy, transform)
    first = run.latest_step
    if first is not None:
        saved = run.load(first)
        check_leaves(config.run, saved, flatten(as_pure(state)))
        state = restored(state, saved)
        told = "resumed at" if first < total_steps else "finished, nothing left after"
        logger.info("%s: %s step %d of %d", config.run, told, first, total_steps)
    run.forget_after(first or 0)
    first = first or 0

    # --- evaluation after each epoch
    tables = Tables.of(shards)
    measures = {"train": Measure(shards, split, sample_rows(rows, 256), config)}
    if "dev" in shards.splits:
        dev = shards.split("dev")
        every = np.arange(len(dev), dtype=np.int64)
        dev_rows = sample_rows(every, config.dev_questions)
        if len(dev_rows):
            measures["dev"] = Measure(shards, dev, dev_rows, config)
    if "dev" not in measures:
        logger.info("no dev split: the latest checkpoint stands for the best")

    # --- loop
    host_reward = HostReward(split, config.reward_direction)
    key = jax.random.key(config.seed)
    step = first
    with progress(total_steps, "training", "steps") as bar:
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
            for chosen in batches[step - epoch * batch_count :]:
                if config.estimator == "closed_form":
                    state, shown = closed_form_step(
                        steps, state, tables, reader, chosen, config, step
                    )
                elif config.reward == "device":
                    state, shown = reinforce_on_device_step(
                        steps,
                        state,
                        tables,
                        reader,
                        chosen,
                        config,
                        jax.random.fold_in(key, step),
                        device_reward,
                    )
                else:
                    state, shown = reinforce_step(
                        steps,
                        state,
                        tables,
                        reader,
                        chosen,
                        config,
                        jax.random.fold_in(key, step),
                        host_reward,
                    )
                step += 1
                done += len(chosen)
                unchecked.append((step, shown))
                saves = step % config.save_every == 0
                logs = step % LOG_EVERY == 0 or step % batch_count == 0
                if saves or logs:  # the host waits for the device here only
                    check_finite(run, unchecked)
                    unchecked = []
                if logs:
                    log_step(run, bar, step, epoch, shown, done, started)
                else:
                    bar.update(1)
                if step % batch_count == 0:
                    break
                if saves:
                    run.save(step, as_pure(state), None)
            # --- end of the epoch: measure, log, save
            row: dict[str, Any] = {"kind": "epoch", "step": step, "epoch": epoch + 1}
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


# --- one step of each estimator


def closed_form_step(
    steps: Steps,
    state: State,
    tables: Tables,
    reader: BatchReader,
    rows: Int[np.ndarray, "k"],
    config: TrainConfig,
    step: int,
) -> tuple[State, dict[str, Any]]:
    """An update with a budget drawn log-uniformly from [k_low, k]."""
    low, high = math.log(min(config.k_low, config.k)), math.log(config.k)
    draw = np.random.default_rng([config.seed, step, 2]).random()
    k = math.exp(low + (high - low) * draw)
    batch = reader.read(rows, config.batch_size)
    weight = np.zeros(config.batch_size, np.float32)
    weight[: len(rows)] = reader.split.n_real[rows] > k
    state, shown = steps.update_closed_form(state, tables, batch, weight, np.float32(k))
    return state, {"k": k, **shown}


def reinforce_step(
    steps: Steps,
    state: State,
    tables: Tables,
    reader: BatchReader,
    rows: Int[np.ndarray, "k"],
    config: TrainConfig,
    key: jax.Array,
    host_reward: HostReward,
) -> tuple[State, dict[str, Any]]:
    """An update from sampled subsets, scored on the host."""
    batch = reader.read(rows, config.batch_size)
    proposal = steps.propose(state.params, tables, batch, key)
    n = len(rows)
    sampled = np.where(proposal.selected_mask, proposal.indices, -1)[:n]
    greedy = np.asarray(proposal.greedy)[:n, None]
    positions = sampled
    if config.baseline == "greedy":
        positions = np.concatenate([sampled, greedy], axis=1)
    parts = host_reward.score(rows, positions)
    total = parts.total(host_reward.weights)
    rewards = total[:, : config.samples]
    learns = (reader.split.n_real[rows] > config.k).astype(np.float32)
    average = float(state.average)
    advantage = np.zeros((config.batch_size, config.samples), np.float32)
    advantage[:n] = advantages(
        rewards,
        learns,
        baseline=config.baseline,
        greedy=total[:, -1] if config.baseline == "greedy" else None,
        average=average,
        normalise=config.normalise_advantage,
    )
    weight = np.zeros(config.batch_size, np.float32)
    weight[:n] = learns
    mean = float(rewards[learns > 0].mean()) if learns.any() else average
    average = mean if int(state.step) == 0 else 0.95 * average + 0.05 * mean
    state, shown = steps.update_reinforce(
        state, batch, weight, proposal, advantage, np.float32(average)
    )
    shown = {"reward": mean, **shown}
    if not learns.all():
        shown["reward_all_kept"] = float(rewards[learns == 0].mean())
    return state, shown


def reinforce_on_device_step(
    steps: Steps,
    state: State,
    tables: Tables,
    reader: BatchReader,
    rows: Int[np.ndarray, "k"],
    config: TrainConfig,
    key: jax.Array,
    device_reward: DeviceReward,
) -> tuple[State, dict[str, Any]]:
    """The same update, scored on the device: the host reads, and waits for nothing."""
    batch = reader.read(rows, config.batch_size)
    inputs = device_reward.read(rows, config.batch_size, batch.mask.shape[1])
    learns, all_kept = np.zeros((2, config.batch_size), np.float32)
    learns[: len(rows)] = reader.split.n_real[rows] > config.k
    all_kept[: len(rows)] = reader.split.n_real[rows] <= config.k
    state, shown = steps.reinforce_on_device(
        state, tables, batch, inputs, learns, all_kept, key
    )
    if not all_kept.any():
        del shown["reward_all_kept"]
    return state, shown


# --- pieces


def usable(split: Split) -> Int[np.ndarray, "k"]:
    """Rows of the questions that can be learned from: an answer, and a candidate."""
    has_answer = (split.answers >= 0).any(axis=1)
    return np.flatnonzero(has_answer & (split.n_real > 0))


def sample_rows(rows: Int[np.ndarray, "k"], size: int) -> Int[np.ndarray, "j"]:
    """At most ``size`` of ``rows``, spread evenly: the same ones in every run."""
    if size >= len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.int64)]


def epoch_rows(
    rows: Int[np.ndarray, "k"], config: TrainConfig, epoch: int
) -> Int[np.ndarray, "j"]:
    """The questions of one epoch: all, or a draw that depends on (seed, epoch)."""
    size = config.questions_per_epoch
    if size is None or size >= len(rows):
        return rows
    rng = np.random.default_rng([config.seed, epoch, 1])
    return np.sort(rng.choice(rows, size, replace=False))


def policy_of(config: TrainConfig, shards: Shards, split: Split) -> PolicyConfig:
    """The network's config: sizes as asked, PPR statistics of the training split."""
    part = sample_rows(np.arange(len(split)), 2000)
    mean, std = ppr_statistics(split.ppr_of(part), split.candidates[part] >= 0)
    return PolicyConfig(
        dimension=int(shards.encoder["dimension"]),
        heads=config.heads,
        tower_hidden=config.tower_hidden,
        gate_hidden=config.gate_hidden,
        combiner_hidden=config.combiner_hidden,
        ppr_mean=mean,
        ppr_std=std,
        compute_dtype=config.dtype,
    )


def claim(
    run: RunFolder, config: TrainConfig, policy: PolicyConfig, shards: Shards
) -> None:
    """Write ``config.json``, or check that a run to resume has the same settings."""
    about = {
        "config": config.to_dict(),
        "policy": policy.to_dict(),
        "encoder": shards.encoder,
        "shards": {
            "source": shards.manifest["source"],
            "fingerprint": shards.manifest["fingerprint"],
            "settings": shards.manifest["settings"],
        },
    }
    if run.config_file.exists():
        known = run.config
        for name, value in about["config"].items():
            before = known["config"].get(name, ONCE.get(name))
            if before != value and name not in MAY_CHANGE:
                flag = name.replace("_", "-")
                raise UserError(
                    f"{run.path}: was started with --{flag} {before}, found {value}; "
                    "choose another --run for other settings"
                )
        if known["shards"]["fingerprint"] != about["shards"]["fingerprint"]:
            raise UserError(
                f"{run.path}: was started on other shards "
                f"({known['shards']['source']}), found {config.shards}"
            )
    run.write_config(about)


def fresh_state(policy: ScoutPolicy, transform: Any) -> State:
    """The state before the first step."""
    _, params = nnx.split(policy, nnx.Param)
    return State(
        params, transform.init(params), jnp.zeros((), jnp.int32), jnp.zeros(())
    )


def as_pure(state: State) -> dict[str, Any]:
    """The state as a pytree of plain containers and arrays."""
    return {
        "params": nnx.to_pure_dict(state.params),
        "opt_state": jax.tree.leaves(state.opt_state),
        "step": state.step,
        "average": state.average,
    }


def restored(like: State, leaves: dict[str, Any]) -> State:
    """The state that ``as_pure`` and ``flatten`` saved."""
    pure = jax.tree.map(jnp.asarray, unflatten(as_pure(like), leaves))
    nnx.replace_by_pure_dict(like.params, pure["params"])
    treedef = jax.tree.structure(like.opt_state)
    opt_state = jax.tree.unflatten(treedef, pure["opt_state"])
    return State(like.params, opt_state, pure["step"], pure["average"])


def log_step(
    run: RunFolder,
    bar: progress,
    step: int,
    epoch: int,
    shown: dict[str, Any],
    done: int,
    started: float,
) -> None:
    """Write a row to metrics.jsonl and show it."""
    values = {name: float(value) for name, value in shown.items()}
    rate = done / max(time.monotonic() - started, 1e-9)
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


def check_finite(run: RunFolder, steps: list[tuple[int, dict[str, Any]]]) -> None:
    """Raise UserError at the first step whose loss or gradient is not finite."""
    for step, shown in steps:
        for name in ("loss", "grad_norm"):
            value = float(shown[name])
            if not math.isfinite(value):
                raise UserError(
                    f"{run.path}: {name} is {value} at step {step}; the latest "
                    "checkpoint is whole, lower --learning-rate or look at the data"
                )


class Measure:
    """The reward of the k best candidates on fixed questions of a split."""

    def __init__(
        self,
        shards: Shards,
        split: Split,
        rows: Int[np.ndarray, "k"],
        config: TrainConfig,
    ) -> None:
        self.reader = BatchReader(shards, split)
        self.reward = HostReward(split, config.reward_direction)
        self.batches = list(by_size(split.n_real, rows, config.batch_size))
        self.budgets = config.budgets
        self.size = config.batch_size

    def __call__(self, steps: Steps, params: Any, tables: Tables) -> dict[str, float]:
        """Mean reward over budgets, and the share of questions with an answer kept."""
        k = max(self.budgets)
        sums, hits, count = 0.0, np.zeros(len(self.budgets)), 0
        for rows in self.batches:
            ranked = steps.rank(params, tables, self.reader.read(rows, self.size), k=k)
            ranked = np.asarray(ranked)[: len(rows)]
            place = np.arange(ranked.shape[1])
            positions = np.stack(
                [np.where(place < budget, ranked, -1) for budget in self.budgets],
                axis=1,
            )
            parts = self.reward.score(rows, positions)
            sums += float(parts.total(self.reward.weights).mean(axis=1).sum())
            hits += (parts.presence > 0).sum(axis=0)
            count += len(rows)
        out = {"reward": round(sums / count, 6)}
        for budget, hit in zip(self.budgets, hits, strict=True):
            out[f"answer_hit@{budget}"] = round(float(hit) / count, 6)
        return out
