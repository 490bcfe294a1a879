"""Figures: a common palette and markers, files written atomically."""

from __future__ import annotations

import io
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
            continue
        panel.tick_params(labelbottom=True)
        if i + columns >= n:
            panel.set_xlabel(xlabel)
    return figure, panels[:n]


def save_png(figure: Figure, path: Path) -> None:
    """Write the figure to ``path`` atomically."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    with whole_file(path, "wb") as handle:
        figure.savefig(handle, format="png", dpi=150)


def save_figure(figure: Figure, path: Path) -> bytes:
    """Write the figure as PNG to ``path``, as PDF and SVG beside it.

    Returns:
        The SVG. The same figures give the same files: they hold no date.
    """
    from matplotlib import rc_context

    save_png(figure, path)
    # in the layout of the PNG
    figure.set_layout_engine("none")
    with (
        rc_context({"svg.hashsalt": "kgscout"}),
        whole_file(path.with_suffix(".pdf"), "wb") as handle,
    ):
        figure.savefig(handle, format="pdf", metadata={"CreationDate": None})
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    with whole_file(path.with_suffix(".svg"), "wb") as handle:
        handle.write(buffer.getvalue())
    return buffer.getvalue()
