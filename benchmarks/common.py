"""What the benchmarks share: timing a peer fairly, tables, memory, the last line."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Seconds of the repeats of one piece of work."""

    laps: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest: what the work costs when nothing else is in the way."""
        return min(self.laps)


Clock = Literal["wall", "cpu"]
"""Time that passes, or processor time of all threads: what a machine that others use
as well can measure."""
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def timed(
    work: Callable[[], Any],
    *,
    repeats: int = 3,
    warm_up: bool = True,
    clock: Clock = "wall",
) -> Timing:
    """How long ``work`` takes, after a first run that is not counted."""
    return race({"": work}, repeats=repeats, warm_up=warm_up, clock=clock)[""]


def race(
    works: Mapping[str, Callable[[], Any]],
    *,
    repeats: int = 3,
    warm_up: bool = True,
    clock: Clock = "wall",
) -> dict[str, Timing]:
    """How long each of ``works`` takes, by name.

    They take turns, so that a machine that is busy for a while is busy for all. The
    garbage of one is collected before the next starts.
    """
    now = CLOCKS[clock]
    laps: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + warm_up):
        for name, work in works.items():
            gc.collect()
            start = now()
            work()
            if turn >= warm_up:
                laps[name].append(now() - start)
    return {name: Timing(laps=tuple(seconds)) for name, seconds in laps.items()}


def command_usage(
    command: Sequence[str], stdout: Any = subprocess.DEVNULL
) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak gigabytes of a command, in its own process.

    Raises:
        SystemExit: it fails.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=stdout)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if status:
        raise SystemExit(f"{' '.join(command)} failed: {status}")
    seconds = time.perf_counter() - start
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


def peak_memory() -> int:
    """The most bytes of memory this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table under its title, as Markdown."""
    from kgscout_jax.utils.tables import markdown_table

    print(f"\n{title}\n\n{markdown_table(header, rows)}", flush=True)


def seconds(value: float) -> str:
    """A duration with three digits: ``1.23 s``, ``4.56 ms``, ``78.9 us``."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * scale >= 1 or unit == "us":
            return f"{value * scale:.3g} {unit}"
    raise AssertionError


def last_line(benchmark: str, **figures: Any) -> None:
    """Print the figures as one JSON line, which scripts read; numbers to 4 digits."""
    print(json.dumps({"benchmark": benchmark, **_rounded(figures)}), flush=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    return value
