"""What a step costs against candidates, questions and rows of the table, and a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from benchmarks.common import race, seconds, show
from benchmarks.train_ours import Ours
from benchmarks.train_settings import TrainBenchmark
from benchmarks.train_world import generated_world
from kgscout_jax.data.tables import Tables
from kgscout_jax.learn.resident_sets import step_numbers
from kgscout_jax.utils.io import whole_file

LIGHT = 4
"""Questions per step where their number does not vary."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Seconds of a closed-form step at several sizes of one thing."""

    title: str
    unit: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    expected: int
    """Degree of the polynomial that is claimed: 1 grows linearly, 0 not at all."""

    @property
    def exponent(self) -> float:
        """Slope of log seconds over log size: 1 is linear, 0 is constant; a linear cost
        beside a fixed one, that of the optimiser, lies between."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


def linear(settings: TrainBenchmark) -> dict[str, Any]:
    """Figures for the last line: the exponent of each sweep."""
    n, size = settings.candidates, max(settings.batch_size // 4, 1)
    sweeps = [
        over_candidates(settings, [n // 4, n // 2, n, 2 * n]),
        over_questions(settings, [size, 2 * size, 4 * size]),
        over_rows(settings, [10 * n, 100 * n, 1000 * n]),
    ]
    for sweep in sweeps:
        rows = [
            [f"{count:,}", seconds(value), seconds(value / count)]
            for count, value in zip(sweep.sizes, sweep.seconds, strict=True)
        ]
        header = [sweep.unit, "a step", f"a step / {sweep.unit}"]
        show(f"{sweep.title}: grows as power {sweep.exponent:.2f}", header, rows)
    if settings.plot is not None:
        draw(sweeps, settings.plot)
        print(f"\ndrawn: {settings.plot}")
    return {"exponents": {sweep.unit: sweep.exponent for sweep in sweeps}}


def measured(
    settings: TrainBenchmark, works: dict[int, Callable[[], None]]
) -> dict[str, tuple[Any, ...]]:
    """``sizes`` and ``seconds`` of a sweep, from a race of its steps."""
    named = {str(size): work for size, work in works.items()}
    laps = race(named, repeats=settings.rounds, clock=settings.clock)
    medians = tuple(float(np.median(lap.laps)) for lap in laps.values())
    return {"sizes": tuple(works), "seconds": medians}


def step_of(settings: TrainBenchmark, questions: int, **world: Any) -> Ours:
    """A contender over generated questions, all of which are one batch."""
    given = generated_world(
        questions, d=settings.dimension, seed=settings.seed, **world
    )
    config = settings.config(batch_size=questions, k=min(settings.k, world["n"] - 1))
    return Ours(given, config)


def over_candidates(settings: TrainBenchmark, sizes: Sequence[int]) -> Sweep:
    """A step of a few questions against their number of candidates."""
    works = {}
    for n in sizes:
        one = step_of(settings, LIGHT, n=n, table=10 * max(sizes))
        works[n] = lambda one=one: one.train(np.arange(LIGHT))
    return Sweep(
        title=f"Candidates, {LIGHT} questions a step",
        unit="candidates",
        expected=1,
        **measured(settings, works),
    )


def over_questions(settings: TrainBenchmark, sizes: Sequence[int]) -> Sweep:
    """A step against its number of questions."""
    n = settings.candidates
    works = {}
    for count in sizes:
        one = step_of(settings, count, n=n, table=10 * n)
        works[count] = lambda one=one, c=count: one.train(np.arange(c))
    return Sweep(
        title=f"Questions a step, {n} candidates each",
        unit="questions",
        expected=1,
        **measured(settings, works),
    )


def over_rows(settings: TrainBenchmark, sizes: Sequence[int]) -> Sweep:
    """A step of a few questions against the rows of the table they are gathered from.

    One network and one batch, whose indices are spread over each table; the tables are
    made on the device, since data is not what is measured.
    """
    n = settings.candidates
    one = step_of(settings, LIGHT, n=n, table=10 * n)
    batch = one.read(np.arange(LIGHT))
    numbers = jnp.asarray(step_numbers(0, min(10, n // 2)))
    rng = np.random.default_rng(settings.seed)
    works = {}
    for size in sizes:
        rows = jnp.resize(one.tables.triplets, (size, settings.dimension))
        tables = Tables(rows, one.tables.relations)
        spread = jnp.asarray(rng.integers(0, size, batch.candidates.shape), jnp.int32)
        given = batch._replace(candidates=spread)

        def step(tables: Tables = tables, given: Any = given) -> None:
            one.state, _ = one.steps.update_closed_form(
                one.state, tables, given, numbers
            )
            one.state.step.block_until_ready()

        works[size] = step
    return Sweep(
        title=f"Rows of the triplet table, {LIGHT} questions a step",
        unit="rows",
        expected=0,
        **measured(settings, works),
    )


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """Write one panel per sweep to a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(sweeps), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle("What a closed-form training step costs")
    for panel, sweep in zip(figure.subplots(1, len(sweeps)), sweeps, strict=True):
        sizes, values = np.array(sweep.sizes), 1e3 * np.array(sweep.seconds)
        panel.plot(sizes, values, "o-", color="#0072B2", label="measured")
        told = "a constant" if sweep.expected == 0 else "a straight line, fitted"
        claim = np.polyval(np.polyfit(sizes, values, sweep.expected), sizes)
        panel.plot(sizes, claim, "--", color="#555555", label=told)
        panel.set_title(
            f"{sweep.title}\ngrows as power {sweep.exponent:.2f}", fontsize=9
        )
        panel.set_xlabel(sweep.unit)
        panel.set_ylabel("milliseconds a step")
        if sweep.expected == 0:
            panel.set_xscale("log")
        panel.set_xlim(left=0 if sweep.expected else None)
        panel.set_ylim(0, 1.1 * values.max())
        panel.grid(alpha=0.25)
        panel.legend(fontsize=8)
    with whole_file(path, "wb") as handle:
        figure.savefig(handle, format="png", dpi=150)
