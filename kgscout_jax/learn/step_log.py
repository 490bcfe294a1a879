"""The metrics of the steps of an epoch: read late, checked, and written.

Metrics of a dispatch are read while the device works on the next one: the device never
waits for a log.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np

from kgscout_jax.data.mixture import Mixture
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.update_steps import Metrics
from kgscout_jax.utils.progress import ProgressBar

LOG_EVERY = 10
"""Steps of a set between its rows of kind "step" in metrics.jsonl."""
KEPT = "reward_all_kept"
"""Reward of the questions of a step whose candidates are all selected."""


class Dispatch(NamedTuple):
    """A call of the device, and the metrics that it computes."""

    steps: range
    """The numbers of its steps, from 1."""
    metrics: Metrics
    """Of its step; of several the values of each, then some that stand for none."""
    questions: int
    """Of the epoch, up to its last step."""

    def rows(self) -> list[tuple[int, dict[str, float]]]:
        """The metrics of each step; waits for the device."""
        values = jax.device_get(self.metrics)
        columns = {name: np.atleast_1d(value) for name, value in values.items()}
        return [
            (step, {name: float(column[i]) for name, column in columns.items()})
            for i, step in enumerate(self.steps)
        ]


class StepLog:
    """The dispatches of an epoch whose metrics were not read yet."""

    def __init__(
        self,
        run: RunFolder,
        bar: ProgressBar,
        timeline: Timeline,
        mixture: Mixture,
        names: Sequence[str],
        batch_count: int,
    ) -> None:
        """
        Args:
            run: the run that is logged.
            bar: shows the values of logged steps.
            timeline: is told of waiting, and of bytes.
            mixture: gives the set of each step.
            names: of the sets.
            batch_count: steps of an epoch.
        """
        self.run, self.bar, self.timeline = run, bar, timeline
        self.mixture, self.names, self.batch_count = mixture, names, batch_count
        self.started, self.questions = time.monotonic(), 0
        self.unread: list[Dispatch] = []

    def add(self, steps: range, metrics: Metrics, questions: int) -> None:
        """Note a dispatch that was submitted; logs earlier ones if it is time to."""
        if any(self.is_logged(step) for each in self.unread for step in each.steps):
            self.read()
        self.questions += questions
        self.unread.append(Dispatch(steps, metrics, self.questions))
        self.bar.update(len(steps))

    def is_logged(self, step: int) -> bool:
        """Whether a step, from 1, has a row in metrics.jsonl."""
        turn = self.mixture.turns[step - 1] + 1
        return turn % LOG_EVERY == 0 or step % self.batch_count == 0

    def read(self) -> None:
        """Check the metrics of all dispatches, and log those of some steps.

        Raises:
            UserError: a loss or a gradient is not finite; names the step.
        """
        for each in self.unread:
            with self.timeline.waiting():
                rows = each.rows()
            received = sum(value.nbytes for value in each.metrics.values())
            self.timeline.count(bytes_out=received)
            rate = each.questions / max(time.monotonic() - self.started, 1e-9)
            for step, metrics in rows:
                self._check(step, metrics)
                if self.is_logged(step):
                    self._log(step, metrics, rate)
        self.unread = []

    def _check(self, step: int, metrics: Mapping[str, float]) -> None:
        for name in ("loss", "grad_norm"):
            value = metrics[name]
            if not math.isfinite(value):
                raise UserError(
                    f"{self.run.path}: {name} is {value} at step {step}; the latest "
                    "checkpoint is whole, lower --learning-rate or look at the data"
                )

    def _log(self, step: int, values: Mapping[str, float], rate: float) -> None:
        """Write the metrics of a step to metrics.jsonl and show them."""
        # A mean over no question is no number.
        values = {k: v for k, v in values.items() if k != KEPT or not math.isnan(v)}
        epoch = (step - 1) // self.batch_count + 1
        row = {"kind": "step", "step": step, "epoch": epoch}
        if len(self.names) > 1:
            row["set"] = self.names[self.mixture.sets[step - 1]]
        row |= {name: round(value, 6) for name, value in values.items()}
        self.run.log({**row, "questions_per_second": round(rate, 2)})
        reward = values.get("reward", -values["loss"])
        self.bar.update(
            0,
            reward=f"{reward:.3f}",
            entropy=f"{values['entropy']:.2f}",
            grad=f"{values['grad_norm']:.3f}",
            qps=f"{rate:.0f}",
        )
