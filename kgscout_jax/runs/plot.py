"""The curves of runs as a PNG, one colour a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgscout_jax.evaluate.plots import COLOURS, MARKERS
from kgscout_jax.runs.curves import Curve, Panel
from kgscout_jax.utils.io import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")
COLUMNS = 3
POINTS = 40
"""Beyond so many points, a line has no markers."""


def draw_png(panels: Sequence[Panel], title: str, out: Path) -> None:
    """Write the panels to ``out``, whole or not at all."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    runs = list(dict.fromkeys(curve.run for panel in panels for curve in panel.curves))
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 2.9 * rows + 0.7), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for i, (panel, at) in enumerate(zip(panels, axes.flat, strict=False)):
        _draw(at, panel, runs)
        if i + columns >= len(panels):
            at.set_xlabel("step")
            at.tick_params(labelbottom=True)
    for at in axes.flat[len(panels) :]:
        at.set_axis_off()
    if len(runs) > 1:
        from matplotlib.lines import Line2D

        figure.legend(
            [Line2D([], [], color=COLOURS[i % len(COLOURS)]) for i in range(len(runs))],
            [_plain(run) for run in runs],
            loc="outside lower center",
            ncols=min(5, len(runs)),
            frameon=False,
        )
    figure.suptitle(_plain(title), fontsize=11)
    with whole_file(out, "wb") as handle:
        figure.savefig(handle, format="png", dpi=150)


def _draw(at: Axes, panel: Panel, runs: Sequence[str]) -> None:
    """One panel. Of one run, colours tell what a curve is; of several, which run's."""
    whats = list(dict.fromkeys(curve.what for curve in panel.curves))
    for curve in panel.curves:
        what = whats.index(curve.what)
        of_run = len(runs) > 1
        colour = COLOURS[(runs.index(curve.run) if of_run else what) % len(COLOURS)]
        style = STYLES[what % len(STYLES)] if of_run else "-"
        _line(at, curve, colour, style, MARKERS[what % len(MARKERS)])
    if len(whats) > 1:
        from matplotlib.lines import Line2D

        single = len(runs) == 1
        handles = [
            Line2D(
                [],
                [],
                color=COLOURS[i % len(COLOURS)] if single else "#444444",
                linestyle="-" if single else STYLES[i % len(STYLES)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=3.5,
            )
            for i in range(len(whats))
        ]
        at.legend(handles, whats, frameon=False, fontsize=8)
    at.set_title(f"{panel.title} ({panel.unit})", fontsize=10)
    at.grid(alpha=0.25)


def _line(at: Axes, curve: Curve, colour: str, style: str, marker: str) -> None:
    if curve.noisy:
        at.plot(curve.steps, curve.values, color=colour, alpha=0.25, linewidth=0.8)
    shown = marker if not curve.noisy and len(curve.steps) <= POINTS else ""
    if len(curve.steps) == 1:
        shown = marker
    at.plot(
        curve.steps,
        curve.smooth(),
        color=colour,
        linestyle=style,
        marker=shown,
        markersize=3.5,
        linewidth=1.4,
    )


def _plain(text: str) -> str:
    """Text in which matplotlib sees no formula, and nothing that it cannot draw."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown.replace("$", r"\$")
