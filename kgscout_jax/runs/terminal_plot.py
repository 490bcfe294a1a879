"""The curves of runs on a terminal, in Braille dots, one colour and digit a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.runs.curves import Curve, Panel

if TYPE_CHECKING:
    from rich.console import Console

COLOURS = ("bright_blue", "bright_yellow", "bright_green", "bright_magenta",
           "bright_cyan", "bright_red", "bright_white")  # fmt: skip
SIGNS = "123456789abcdefghijklmnopqrstuvwxyz"
HEIGHT = 9
"""Lines of a panel's plot."""
MIN_WIDTH = 46
"""Columns of a panel, at least, where two stand side by side."""
LABEL_WIDTH = 9
"""Columns before the plot."""


def draw_on_terminal(panels: Sequence[Panel], console: Console) -> None:
    """Print the panels, two side by side where there is room.

    Raises:
        UserError: the library that draws is not installed.
    """
    from rich.text import Text

    runs = list(dict.fromkeys(curve.run for panel in panels for curve in panel.curves))
    columns = 2 if console.width >= 2 * MIN_WIDTH + 2 and len(panels) > 1 else 1
    width = min(100, (console.width - 2 * (columns - 1)) // columns)
    coloured = console.is_terminal and not console.no_color
    blocks = [lines_of(panel, runs, width, coloured) for panel in panels]
    for i in range(0, len(blocks), columns):
        for line in zip(*blocks[i : i + columns], strict=True):
            console.print(Text("  ").join(line), soft_wrap=True)
        console.print()
    if len(runs) > 1:
        for i, run in enumerate(runs):
            console.print(Text(f"{_sign(i)} {run}", style=_colour(i)))


def lines_of(panel: Panel, runs: Sequence[str], width: int, coloured: bool) -> list:
    """A panel as lines of one width: title, plot, steps, what the curves are."""
    from rich.text import Text

    drawn = [(curve, curve.smooth()) for curve in panel.curves]
    low = min(float(values.min()) for _, values in drawn)
    high = max(float(values.max()) for _, values in drawn)
    right = max(float(curve.steps.max()) for curve, _ in drawn)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    canvas = _canvas(width - LABEL_WIDTH - 1, (0.0, low), (max(right, 1.0), high))
    names = list(dict.fromkeys(curve.name for curve in panel.curves))
    for curve, values in drawn:
        of_run = len(runs) > 1
        i = runs.index(curve.run) if of_run else names.index(curve.name)
        sign = _sign(i) if of_run or len(names) > 1 else None
        _line(canvas, curve, values, i if coloured else None, sign)
    rows = canvas.plot(linesep="\n").split("\n")
    out = [
        _fit(Text(f"{'':{LABEL_WIDTH}} {panel.title} ({panel.unit})", "bold"), width)
    ]
    for i, row in enumerate(rows):
        label = high if i == 0 else low if i == len(rows) - 1 else None
        text = f"{label:{LABEL_WIDTH}.4g}" if label is not None else " " * LABEL_WIDTH
        out.append(_fit(Text(f"{text}│").append_text(Text.from_ansi(row)), width))
    steps = f"{'0':{width - LABEL_WIDTH - 8}}{right:>7.0f}"
    out.append(_fit(Text(f"{'step':>{LABEL_WIDTH}} {steps}"), width))
    legend = [
        f"{'' if len(runs) > 1 else _sign(i) + ' '}{name}"
        for i, name in enumerate(names)
        if name
    ]
    out.append(_fit(Text(f"{'':{LABEL_WIDTH}} {', '.join(legend)}", "dim"), width))
    return out


def _canvas(width: int, low: tuple[float, float], high: tuple[float, float]):
    try:
        from plotille import Canvas
    except ModuleNotFoundError:
        raise UserError(
            "plotille is not installed: "
            "pip install 'kgscout-jax[train]' (or --plot FILE.png)"
        ) from None
    width = max(width, 8)
    # The upper ends lie outside: a dot further, so that the highest values are seen.
    across, up = 2 * width, 4 * HEIGHT
    return Canvas(
        width=width,
        height=HEIGHT,
        xmin=low[0],
        ymin=low[1],
        xmax=low[0] + (high[0] - low[0]) * across / (across - 1),
        ymax=low[1] + (high[1] - low[1]) * up / (up - 1),
        mode="names",
    )


def _line(canvas, curve: Curve, values: np.ndarray, i: int | None, sign: str | None):
    """Draw a curve; its sign stands at four places, for who sees no colours."""
    colour = None if i is None else _colour(i)
    # Plotille draws each dot of a line, also of those far outside of the canvas.
    steps = np.maximum(curve.steps, 0.0)
    points = list(zip(steps.tolist(), values.tolist(), strict=True))
    for (x0, y0), (x1, y1) in pairwise(points):
        canvas.line(x0, y0, x1, y1, color=colour)
    if len(points) == 1:
        canvas.point(*points[0], color=colour)
    if sign:
        for at in np.unique(np.linspace(0, len(points) - 1, 4).astype(int)).tolist():
            canvas.point(*points[at], color=colour, marker=sign)


def _fit(text, width: int):
    """The line cut or filled to ``width``."""
    text.truncate(width)
    text.pad_right(width - text.cell_len)
    return text


def _sign(i: int) -> str:
    return SIGNS[i % len(SIGNS)]


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]
