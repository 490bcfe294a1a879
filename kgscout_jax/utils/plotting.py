"""Figures: a common palette and markers, PNG files written atomically."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kgscout_jax.utils.io import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette is distinguishable with common colour blindness. Markers
# distinguish lines in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"


def panel_grid(
    n: int, columns: int, size: tuple[float, float], margin: float, xlabel: str
) -> tuple[Figure, list[Axes]]:
    """A figure of ``n`` panels with a shared x axis, and the panels.

    Args:
        n: number of panels.
        columns: the most columns.
        size: inches of a panel, width and height.
        margin: inches above and below all panels.
        xlabel: label of the lowest panel of each column.
    """
    from matplotlib.figure import Figure

    columns = min(columns, n)
    rows = -(-n // columns)
    inches = size[0] * columns, size[1] * rows + margin
    figure = Figure(figsize=inches, layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False, sharex=True).flat)
    for i, panel in enumerate(panels):
        panel.grid(alpha=0.25)
        if i >= n:
            panel.set_axis_off()
        elif i + columns >= n:
            panel.set_xlabel(xlabel)
            panel.tick_params(labelbottom=True)
    return figure, panels[:n]


def save_png(figure: Figure, path: Path) -> None:
    """Write the figure to ``path`` atomically."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    with whole_file(path, "wb") as handle:
        figure.savefig(handle, format="png", dpi=150)
