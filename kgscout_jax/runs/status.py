"""The status of a run: progress, best step, speed, and the command that resumes it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from kgscout_jax.learn.early_stopping import out_of_patience
from kgscout_jax.learn.network_kind import network_kind
from kgscout_jax.learn.resume_command import resume_command
from kgscout_jax.learn.shard_sets import set_folders
from kgscout_jax.runs.run_folder import (
    Row,
    StoredRun,
    best_epoch,
    dev_score,
    finite_number,
)
from kgscout_jax.utils.weighted_means import means

State = Literal["running", "finished", "stopped", "damaged"]
HIT = "dev_answer_hit@"
LOSSES = ("loss", "reward", "entropy", "grad_norm", "temperature")
"""Values of the last step that are shown, where there are."""


@dataclass(frozen=True, kw_only=True)
class DevMeasures:
    """Measures on the dev questions of one set."""

    dev: dict[str, float]
    """Of the policy, by name."""
    cosine: dict[str, float]
    """answer_hit@K of cosine on the same questions; {} where it is not known."""


@dataclass(frozen=True, kw_only=True)
class Best:
    """The step with the best dev reward."""

    step: int
    epoch: int
    dev: dict[str, float]
    """Its measures on dev questions, by name; of several sets, their means."""
    cosine: dict[str, float]
    """answer_hit@K of cosine on the same questions; {} where it is not known."""
    by_set: dict[str, DevMeasures]
    """The same for each of several sets, by its name; {} for one set."""
    kept: bool
    """Whether its checkpoint is there."""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """One run, as ``--json`` prints it. Times are in seconds; None: not known."""

    run: str
    """Its folder."""
    state: State
    problems: list[str]
    """What is damaged, a line each; some a run can live with."""
    policy: str | None
    """The kind of network; None where it is not known."""
    estimator: str | None
    k: int | None
    source: str | None
    """The data set of the shards."""
    shards: str | None
    """Their folder, or folders, when training began."""
    step: int
    """The last one that is known."""
    total_steps: int | None
    epoch: int
    """Counted from 1: the one under way, or the last."""
    epochs: int | None
    best: Best | None
    """None before the first epoch has ended, or without dev questions."""
    last: dict[str, float]
    """Values of the last logged step."""
    questions_per_second: float | None
    seconds_spent: float | None
    """Without steps that were lost and repeated."""
    seconds_left: float | None
    checkpoints: list[int]
    disk_bytes: int
    updated: float | None
    """When the last row was written, in seconds since 1970."""
    resume: str | None
    """The command that resumes an unfinished run."""
    resumes_at: int | None
    """The step after which it resumes."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinite numbers."""
        return _finite(dataclasses.asdict(self))


def state_of(run: StoredRun) -> RunState:
    """The state of what lies in a run's folder."""
    return _Status(run).state()


class _Status:
    """The status of one run, worked out step by step."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run
        self.config: Mapping[str, Any] = run.metadata.get("config", {})
        self.steps, self.epochs = run.of_kind("step"), run.of_kind("epoch")
        self.problems = list(run.problems)

    @cached_property
    def shards(self) -> Any:
        from kgscout_jax.runs.shard_facts import shards_of

        return shards_of(self.run.metadata) if self.run.metadata else None

    @cached_property
    def epoch_steps(self) -> int | None:
        """Steps of an epoch: from the rows, else from the shards."""
        for row in self.epochs:
            if (epoch := _epoch_of(row)) and epoch > 0:
                return max(1, row["step"] // epoch)
        if self.shards is None or type(self.config.get("batch_size")) is not int:
            return None
        from kgscout_jax.runs.shard_facts import epoch_steps

        return epoch_steps(self.shards, self.config) or None

    def state(self) -> RunState:
        run, config = self.run, self.config
        epochs = config.get("epochs") if type(config.get("epochs")) is int else None
        step = max((row["step"] for row in run.rows), default=0)
        step = max([step, *run.checkpoints])
        total = epochs and self.epoch_steps and epochs * self.epoch_steps
        state = self._state(total)
        resumes = state in ("stopped", "damaged") and bool(config)
        latest = run.checkpoints[-1] if run.checkpoints else 0
        last = self.steps[-1] if self.steps else {}
        shards = run.metadata.get("shards")
        spent, pace = self._seconds()
        remaining = None
        if state == "finished":
            remaining = 0.0
        elif total and pace is not None:
            remaining = pace * max(0, total - (step if run.running else latest))
        return RunState(
            run=str(run.path),
            state=state,
            problems=self.problems,
            policy=network_kind(run.metadata) or _text(config.get("policy")),
            estimator=_text(config.get("estimator")),
            k=config.get("k") if type(config.get("k")) is int else None,
            source=_text(shards.get("source")) if isinstance(shards, dict) else None,
            shards=" ".join(map(str, set_folders(config))) or None,
            step=step,
            total_steps=total or None,
            epoch=self._epoch(step),
            epochs=epochs,
            best=self._best(),
            last={
                name: value
                for name in LOSSES
                if (value := finite_number(last.get(name))) is not None
            },
            questions_per_second=finite_number(last.get("questions_per_second")),
            seconds_spent=spent,
            seconds_left=remaining,
            checkpoints=run.checkpoints,
            disk_bytes=run.disk_bytes,
            updated=run.updated,
            resume=resume_command(config, run.path) if resumes else None,
            resumes_at=latest if resumes else None,
        )

    def _state(self, total: int | None) -> State:
        if self.run.running:
            return "running"
        if self.problems:
            return "damaged"
        complete = total is not None and total in self.run.checkpoints
        patience = self.config.get("patience")
        if type(patience) is int and self.epochs:
            scores = [dev_score(row) for row in self.epochs]
            is_saved = self.epochs[-1]["step"] in self.run.checkpoints
            complete |= is_saved and out_of_patience(scores, patience)
        return "finished" if complete else "stopped"

    def _epoch(self, step: int) -> int:
        """The epoch of a step, from 1."""
        if self.epoch_steps:
            return max(1, -(-step // self.epoch_steps))
        known = map(_epoch_of, self.run.rows[-1:])
        return next((epoch for epoch in known if epoch is not None), 1)

    def _best(self) -> Best | None:
        row = best_epoch(self.epochs)
        if row is None:
            return None
        dev: dict[str, dict[str, float]] = {}
        for name, value in row.items():
            key, _, name_of_set = name.partition("/")
            if key.startswith("dev_") and finite_number(value) is not None:
                dev.setdefault(name_of_set, {})[key.removeprefix("dev_")] = value
        together = dev.pop("", {})
        ks = [int(k) for n in row if (k := n.removeprefix(HIT)) != n and k.isdecimal()]
        cosine = self._cosine(ks)
        weights = {name: self.weights[name] for name in cosine}
        return Best(
            step=row["step"],
            epoch=_epoch_of(row) or 0,
            dev=together,
            cosine=means(cosine, weights),
            by_set={
                name: DevMeasures(dev=measures, cosine=cosine.get(name, {}))
                for name, measures in dev.items()
            },
            kept=row["step"] in self.run.checkpoints,
        )

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each set, by its name; "" is the only set's."""
        records = self.run.metadata.get("shard_sets")
        if not isinstance(records, list):
            return {"": 1.0}
        return {
            record["name"]: weight
            for record in records
            if isinstance(record, dict)
            and isinstance(record.get("name"), str)
            and (weight := finite_number(record.get("weight")))
        }

    def _cosine(self, ks: Sequence[int]) -> dict[str, dict[str, float]]:
        """answer_hit@K of cosine on the dev questions of each set, by its name."""
        from kgscout_jax.runs.shard_facts import cosine_hits

        out = {}
        for name, shards in zip(self.weights, self.shards or (), strict=False):
            if "dev" in shards.splits:
                hits = cosine_hits(shards.split("dev"), self.config, ks)
                out[name] = {f"answer_hit@{k}": value for k, value in hits.items()}
        return out

    def _seconds(self) -> tuple[float | None, float | None]:
        """(seconds spent, recent seconds of a step); None where they are not known.

        The row of an epoch holds its seconds since training was started, measuring
        included: only a part of an epoch that was resumed. For the rest there is the
        speed in the rows of its steps.
        """
        size = self.config.get("batch_size")
        length = self.epoch_steps
        if type(size) is not int or not (self.steps or self.epochs):
            return None, None
        seconds: dict[int, float] = {}
        steps: dict[int, int] = {}
        for row in self.steps:
            speed, epoch = (
                finite_number(row.get("questions_per_second")),
                _epoch_of(row),
            )
            if speed and epoch is not None:
                steps[epoch] = row["step"] - (epoch - 1) * (length or 0)
                seconds[epoch] = steps[epoch] * size / speed
        for row in self.epochs:
            epoch, logged = _epoch_of(row), finite_number(row.get("seconds"))
            if logged is not None and epoch is not None and length:
                steps[epoch] = length
                seconds[epoch] = max(seconds.get(epoch, 0.0), logged)
        if not seconds:
            return None, None
        latest = max(seconds)
        paced = max(
            (epoch for row in self.epochs if (epoch := _epoch_of(row)) in seconds),
            default=latest,
        )
        pace = seconds[paced] / steps[paced] if steps[paced] > 0 else None
        return sum(seconds.values()), pace


def _epoch_of(row: Row) -> int | None:
    """The epoch of a row; None where a damaged one has none."""
    epoch = row.get("epoch")
    return epoch if type(epoch) is int else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
