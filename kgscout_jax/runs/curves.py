"""The curves of runs: which values are drawn in which panel, against the step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from kgscout_jax.runs.run_folder import Row, StoredRun
from kgscout_jax.utils.short_names import short_names

HIT = "dev_answer_hit@"
BY_SET = "dev_reward/"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line: a value of one run against the step."""

    run: str
    name: str
    """Of the value, where a panel holds several; "" for the panel's only one."""
    steps: Float64[np.ndarray, "p"]
    values: Float64[np.ndarray, "p"]
    noisy: bool
    """One value a batch, best seen as a running mean."""

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


REWARDS = (
    ("dev_reward", "epoch", "dev"),
    ("train_reward", "epoch", "train"),
    ("reward", "step", "sampled"),
)
PANELS = (
    ("Loss", "per question", (("loss", "step", ""),)),
    ("Reward", "mean, of at most 10", REWARDS),
    ("Entropy", "nats", (("entropy", "step", ""),)),
    ("Gradient norm", "before clipping", (("grad_norm", "step", ""),)),
    ("Temperature", "tau", (("temperature", "step", ""),)),
)
"""(title, unit, ((key in the rows, kind of row, name of the curve), ...))."""


def panels_of(runs: Sequence[StoredRun]) -> list[Panel]:
    """The panels that any of the runs has values for; runs by their shortest names."""
    run_names = short_names([str(run.path) for run in runs])
    ks = sorted({k for run in runs for k in budgets(run.of_kind("epoch"))})
    hits = tuple((f"{HIT}{k}", "epoch", f"K = {k}") for k in ks)
    keys = dict.fromkeys(k for run in runs for r in run.of_kind("epoch") for k in r)
    by_set = tuple(
        (key, "epoch", key.removeprefix(BY_SET))
        for key in sorted(keys)  # as in the other panels: one colour a set
        if key.startswith(BY_SET)
    )
    panels = [
        Panel(
            title=title,
            unit=unit,
            curves=[
                curve
                for run_name, run in zip(run_names, runs, strict=True)
                for key, kind, name in values
                for curve in curves_of(run.of_kind(kind), key, run_name, name)
            ],
        )
        for title, unit, values in (
            *PANELS,
            ("answer_hit@K, dev", "share of questions", hits),
            ("Dev reward", "by set", by_set),
        )
    ]
    return [panel for panel in panels if panel.curves]


def curves_of(rows: Sequence[Row], key: str, run: str, name: str) -> Iterator[Curve]:
    """The curve of one key; one for each set, if steps are of several sets."""
    sets = {row["set"] for row in rows if isinstance(row.get("set"), str)}
    for each in sorted(sets) or [None]:
        of_set = [row for row in rows if row.get("set") == each]
        of_name = " ".join(filter(None, (name, each)))
        if curve := curve_of(of_set, key, run, of_name):
            yield curve


def curve_of(rows: Iterable[Row], key: str, run: str, name: str) -> Curve | None:
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
        name=name,
        steps=np.array(steps, np.float64),
        values=np.array(values, np.float64),
        noisy=kinds[0] == "step",
    )


def budgets(rows: Iterable[Row]) -> list[int]:
    """The K at which dev questions were measured, ascending."""
    keys = {key.removeprefix(HIT) for row in rows for key in row if key.startswith(HIT)}
    return sorted(int(key) for key in keys if key.isdecimal())
