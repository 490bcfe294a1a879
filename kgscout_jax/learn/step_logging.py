"""What a run tells of its steps, and what ends it: a loss that is not finite."""

from __future__ import annotations

import math
import time
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.utils.progress import progress


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
