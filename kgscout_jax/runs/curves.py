"""The curves of a run: which values are drawn, in which panel, against the step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64

from kgscout_jax.runs.run_folder import Row, RunOnDisk

HIT = "dev_answer_hit@"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line: a value of one run against the step."""

    run: str
    what: str
    """What it is, where a panel holds several; "" for the panel's only one."""
    steps: Float64[np.ndarray, "p"]
    values: Float64[np.ndarray, "p"]
    noisy: bool
    """One value a batch: people look at the running mean."""

    def smooth(self) -> Float64[np.ndarray, "p"]:
        """The running mean, centred; over fewer points at the ends."""
        n = len(self.values)
        half = max(2, n // 25)
        if not self.noisy or n < 4 * half:
            return self.values
        sums = np.concatenate([[0.0], np.cumsum(self.values)])
        low = np.maximum(np.arange(n) - half, 0)
        high = np.minimum(np.arange(n) + half + 1, n)
        return (sums[high] - sums[low]) / (high - low)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Curves that share axes."""

    title: str
    unit: str
    curves: Sequence[Curve]


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """Which values go into a panel."""

    title: str
    unit: str
    names: tuple[tuple[str, Literal["step", "epoch"], str], ...]
    """(key in the rows, kind of row, what to call it)."""


PANELS = (
    _Drawn(title="Loss", unit="per question", names=(("loss", "step", ""),)),
    _Drawn(
        title="Reward",
        unit="mean, of at most 10",
        names=(
            ("dev_reward", "epoch", "dev"),
            ("train_reward", "epoch", "train"),
            ("reward", "step", "sampled"),
        ),
    ),
    _Drawn(title="Entropy", unit="nats", names=(("entropy", "step", ""),)),
    _Drawn(
        title="Gradient norm",
        unit="before clipping",
        names=(("grad_norm", "step", ""),),
    ),
    _Drawn(title="Temperature", unit="tau", names=(("temperature", "step", ""),)),
)


def panels_of(runs: Sequence[RunOnDisk]) -> list[Panel]:
    """The panels that any of the runs has values for; runs by their shortest names."""
    names = short_names([str(run.path) for run in runs])
    panels = [
        Panel(
            title=drawn.title,
            unit=drawn.unit,
            curves=[
                curve
                for name, run in zip(names, runs, strict=True)
                for key, kind, what in drawn.names
                if (curve := curve_of(run.of_kind(kind), key, name, what))
            ],
        )
        for drawn in PANELS
    ]
    hits = [
        curve
        for name, run in zip(names, runs, strict=True)
        for k in budgets(run.of_kind("epoch"))
        if (curve := curve_of(run.of_kind("epoch"), f"{HIT}{k}", name, f"K = {k}"))
    ]
    title, unit = "answer_hit@K, dev", "share of questions"
    panels.append(Panel(title=title, unit=unit, curves=hits))
    return [panel for panel in panels if panel.curves]


def curve_of(rows: Iterable[Row], key: str, run: str, what: str) -> Curve | None:
    """The finite values of one key, ascending by step; None if there are none."""
    points = sorted(
        (row["step"], row[key], row["kind"])
        for row in rows
        if isinstance(row.get(key), int | float)
        and not isinstance(row[key], bool)
        and math.isfinite(row[key])
    )
    if not points:
        return None
    steps, values, kinds = zip(*points, strict=True)
    return Curve(
        run=run,
        what=what,
        steps=np.array(steps, np.float64),
        values=np.array(values, np.float64),
        noisy=kinds[0] == "step",
    )


def budgets(rows: Iterable[Row]) -> list[int]:
    """The K at which dev questions were measured, ascending."""
    keys = {key.removeprefix(HIT) for row in rows for key in row if key.startswith(HIT)}
    return sorted(int(key) for key in keys if key.isdecimal())


def short_names(paths: Sequence[str]) -> list[str]:
    """The last parts of paths, as many as tell them apart."""
    split = [path.rstrip("/").split("/") for path in paths]
    for n in range(1, max(map(len, split), default=1) + 1):
        names = ["/".join(parts[-n:]) for parts in split]
        if len(set(names)) == len(names):
            return names
    return list(paths)
