"""The curves of runs as a PNG, one colour a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgscout_jax.runs.curves import Curve, Panel
from kgscout_jax.utils.plotting import COLOURS, MARKERS, panel_grid, save_png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":", "-.")
MAX_MARKERS = 40
"""A line of more points has no markers."""


def draw_png(panels: Sequence[Panel], title: str, out: Path) -> None:
    """Write the panels to ``out``, whole or not at all."""
    from matplotlib.lines import Line2D

    runs = list(dict.fromkeys(curve.run for panel in panels for curve in panel.curves))
    figure, axes = panel_grid(len(panels), 3, (4.2, 2.9), 0.7, "step")
    for panel, at in zip(panels, axes, strict=True):
        _draw(at, panel, runs)
    if len(runs) > 1:
        figure.legend(
            [Line2D([], [], color=COLOURS[i % len(COLOURS)]) for i in range(len(runs))],
            [_escaped(run) for run in runs],
            loc="outside lower center",
            ncols=min(5, len(runs)),
            frameon=False,
        )
    figure.suptitle(_escaped(title), fontsize=11)
    save_png(figure, out)


def _draw(at: Axes, panel: Panel, runs: Sequence[str]) -> None:
    """One panel. The colour is the value's in the panel of one run, else the run's."""
    from matplotlib.lines import Line2D

    names = list(dict.fromkeys(curve.name for curve in panel.curves))
    handles = {}
    for curve in panel.curves:
        i = names.index(curve.name)
        single = len(runs) == 1
        style: dict[str, Any] = {
            "color": COLOURS[(i if single else runs.index(curve.run)) % len(COLOURS)],
            "linestyle": "-" if single else STYLES[i % len(STYLES)],
            "marker": MARKERS[i % len(MARKERS)],
            "markersize": 3.5,
        }
        grey: dict[str, Any] = {} if single else {"color": "#444444"}
        handles[curve.name] = Line2D([], [], **style | grey)
        _line(at, curve, **style)
    if len(names) > 1:
        at.legend(handles.values(), names, frameon=False, fontsize=8)
    at.set_title(f"{panel.title} ({panel.unit})", fontsize=10)


def _line(at: Axes, curve: Curve, **style: Any) -> None:
    n = len(curve.steps)
    if curve.noisy:
        faint = {"color": style["color"], "alpha": 0.25, "linewidth": 0.8}
        at.plot(curve.steps, curve.values, **faint)
    if n > 1 and (curve.noisy or n > MAX_MARKERS):
        style["marker"] = ""
    at.plot(curve.steps, curve.smooth(), linewidth=1.4, **style)


def _escaped(text: str) -> str:
    """Text in which matplotlib sees no formula, and nothing that it cannot draw."""
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable.replace("$", r"\$")
