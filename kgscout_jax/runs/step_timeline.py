"""What host and device did in the latest steps of a run, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.learn.timeline_file import TIMELINE_FILE, Span
from kgscout_jax.runs.run_folder import StoredRun
from kgscout_jax.utils.io import read_json
from kgscout_jax.utils.plotting import COLOURS, save_png

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import Console

LANES = ("host", "device")
FIGURES = (
    ("device_wait_share", "of wall time the device waits"),
    ("host_wait_share", "of wall time the host waits"),
    ("host_us_per_question", "microseconds of the host a question"),
    ("host_processor_us_per_question", "of these the processor's, of one thread"),
    ("dispatches_per_question", "calls of the device a question"),
    ("bytes_in_per_question", "bytes to the device a question"),
    ("bytes_out_per_question", "bytes from the device a question"),
)
"""Values of an epoch's row, and what they are."""


@dataclass(frozen=True, kw_only=True)
class StepTimeline:
    """The spans of a run's latest steps, and the figures of its latest epoch."""

    run: str
    spans: Sequence[Span]
    figures: dict[str, float]

    @property
    def end(self) -> float:
        """Seconds from the first span's start to the last one's end."""
        return max(span.end for span in self.spans)

    @property
    def names(self) -> list[str]:
        """What is done, in the order in which it first is."""
        return list(dict.fromkeys(span.name for span in self.spans))


def timeline_of(run: StoredRun) -> StepTimeline:
    """The timeline of a run.

    Raises:
        UserError: the run has none: no epoch has ended, or it is damaged.
    """
    file = run.path / TIMELINE_FILE
    if not file.exists():
        raise UserError(
            f"{file}: not there; training writes it at the end of each epoch"
        )
    try:
        spans = [
            Span(str(lane), str(name), float(start), float(end))
            for lane, name, start, end in read_json(file)["spans"]
        ]
        good = bool(spans) and all(span.lane in LANES for span in spans)
    except (KeyError, TypeError, ValueError):
        good, spans = False, []
    if not good:
        raise UserError(f"{file}: damaged, expected spans of host and device")
    rows = run.of_kind("epoch")
    row: dict[str, Any] = next((r for r in reversed(rows) if "seconds" in r), {})
    figures = {name: float(row[name]) for name, _ in FIGURES if name in row}
    return StepTimeline(run=str(run.path), spans=spans, figures=figures)


def print_timeline(timeline: StepTimeline, console: Console) -> None:
    """Print the figures, and a line of letters for host and device."""
    for name, meaning in FIGURES:
        if name in timeline.figures:
            value = f"{timeline.figures[name]:.4g}"
            console.print(f"  {name:24}{value:>10}  {meaning}", soft_wrap=True)
    letters = letters_of(timeline.names)
    width = max(console.width - 10, 20)
    for lane in LANES:
        spans = [span for span in timeline.spans if span.lane == lane]
        line = text_line(spans, letters, timeline.end, width)
        console.print(f"  {lane:8}{line}", soft_wrap=True, markup=False)
    legend = ", ".join(f"{letter} {name}" for name, letter in letters.items())
    console.print(
        f"  {'':8}{legend}; {1e3 * timeline.end:.4g} ms in all", soft_wrap=True
    )


def letters_of(names: Sequence[str]) -> dict[str, str]:
    """A letter for each name: one of its own, else a digit; a dot for waiting."""
    out: dict[str, str] = {}
    for name in names:
        free = [c for c in name + "0123456789" if c not in out.values()]
        out[name] = "." if name == "wait" else free[0]
    return out


def text_line(
    spans: Sequence[Span], letters: dict[str, str], end: float, width: int
) -> str:
    """One lane: in each column what took most of its time, a blank for nothing."""
    share = np.zeros((len(letters) + 1, width))
    edges = np.linspace(0, end, width + 1)
    for span in spans:
        low = np.maximum(edges[:-1], span.start)
        overlap = np.minimum(edges[1:], span.end) - low
        share[list(letters).index(span.name)] += np.maximum(overlap, 0)
    share[-1] = end / width - share[:-1].sum(axis=0)
    signs = [*letters.values(), " "]
    return "".join(signs[i] for i in share.argmax(axis=0))


def draw_timelines(timelines: Sequence[StepTimeline], out: Path) -> None:
    """Write a picture of each run's steps to ``out``, one below the other."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    colours = colours_of([name for each in timelines for name in each.names])
    figure = Figure(figsize=(11, 0.9 + 1.6 * len(timelines)), layout="constrained")
    panels = figure.subplots(len(timelines), 1, squeeze=False)[:, 0]
    for timeline, at in zip(timelines, panels, strict=True):
        _draw(at, timeline, colours)
    figure.legend(
        [Patch(facecolor=colour) for colour in colours.values()],
        list(colours),
        loc="outside lower center",
        ncols=min(8, len(colours)),
        fontsize=8,
        frameon=False,
    )
    save_png(figure, out)


def colours_of(names: Sequence[str]) -> dict[str, str]:
    """A colour for each name, the same in all panels; grey for waiting."""
    known = list(dict.fromkeys(names))
    return {
        name: "#DDDDDD" if name == "wait" else COLOURS[i % len(COLOURS)]
        for i, name in enumerate(known)
    }


def _draw(at: Axes, timeline: StepTimeline, colours: dict[str, str]) -> None:
    for name in timeline.names:
        for y, lane in enumerate(LANES):
            bars = [
                (1e3 * span.start, 1e3 * (span.end - span.start))
                for span in timeline.spans
                if (span.lane, span.name) == (lane, name)
            ]
            at.broken_barh(bars, (y - 0.4, 0.8), facecolors=colours[name])
    at.set_yticks(range(len(LANES)), LANES)
    at.invert_yaxis()
    at.set_xlabel("milliseconds")
    shown = [f"{k} {v:.4g}" for k, v in list(timeline.figures.items())[:3]]
    at.set_title("  ".join([timeline.run, *shown]), fontsize=9)
