"""Figures of confidence: abstention, calibration, and routing to a language model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgscout_jax.utils.plotting import COLOURS, MARKERS, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIAGONAL = "#8a949e"
LARGEST = 90.0
"""Area of the marker of the fullest bin."""


def risk_coverage_plot(report: Mapping[str, Any], title: str, out: Path) -> bytes:
    """Accuracy against coverage and the reliability diagram as SVG; ``out`` as PNG.

    At the largest K. A ring marks where answers are withheld below the threshold.

    Args:
        report: the content of an answer batch's ``metrics.json``.
        title: above the figure.
        out: the PNG file.
    """
    from matplotlib.figure import Figure

    k = str(max(report["ks"]))
    figure = Figure(figsize=(9.2, 4.3), layout="constrained")
    curve, bins = figure.subplots(1, 2)
    lowest = 100.0
    for i, (name, by_k) in enumerate(report["confidence"].items()):
        one, style = by_k[k], {"color": COLOURS[i % len(COLOURS)]}
        curve.plot(one["coverage"], one["accuracy"], label=name, **style)
        lowest = min([lowest, *one["accuracy"]])
        held = one["abstention"]
        if held["hits@1"]["value"] is not None:
            curve.plot(
                held["coverage"], held["hits@1"]["value"], "o", markersize=8,
                markerfacecolor="white", markeredgewidth=1.8, zorder=3, **style,
            )  # fmt: skip
        _reliability(bins, one, name, i)
    curve.set_xlabel("coverage: share of questions answered, %")
    curve.set_ylabel("Hits@1 of the answered questions, %")
    curve.set_title("Abstention (ring: at the threshold)", fontsize=10)
    curve.set_xlim(0, 101)
    curve.set_ylim(0 if lowest < 50 else max(0.0, lowest - 5), 101)
    bins.plot([0, 1], [0, 1], "--", color=DIAGONAL, linewidth=1, zorder=1)
    bins.set_xlabel("probability of the best answer")
    bins.set_ylabel("share of right best answers")
    bins.set_title("Calibration (area: number of questions)", fontsize=10)
    bins.set_xlim(-0.02, 1.02)
    bins.set_ylim(-0.02, 1.02)
    bins.set_aspect("equal")
    for panel, place in ((curve, "best"), (bins, "upper left")):
        panel.grid(alpha=0.25)
        panel.legend(loc=place, frameon=False, fontsize=9)
    figure.suptitle(f"{title}, K = {k}", fontsize=11)
    return save_figure(figure, out)


def _reliability(panel: Axes, one: Mapping[str, Any], name: str, i: int) -> None:
    """The bins of one row: a line, and markers as large as the bins are full."""
    bins, colour = one["reliability"], COLOURS[i % len(COLOURS)]
    fullest = max(bins["size"], default=1)
    error = one["calibration_error"]["best"]
    panel.plot(bins["probability"], bins["share"], color=colour, alpha=0.5, linewidth=1)
    panel.scatter(
        bins["probability"],
        bins["share"],
        s=[8 + LARGEST * count / fullest for count in bins["size"]],
        color=colour,
        marker=MARKERS[i % len(MARKERS)],
        alpha=0.8,
        linewidths=0,
        label=f"{name}, error {error:.3f}",
        zorder=2,
    )


def routing_plot(report: Mapping[str, Any], title: str, out: Path) -> bytes:
    """Accuracy against the share of questions sent to the model as SVG, and a PNG.

    At the largest K. A ring marks the end, where all are sent or --route-below ends.

    Args:
        report: the content of an answer batch's ``metrics.json``.
        title: above the figure.
        out: the PNG file.
    """
    from matplotlib.figure import Figure

    k = str(max(report["ks"]))
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    panel = figure.subplots()
    for i, (name, by_k) in enumerate(report["routing"].items()):
        one, colour = by_k[k], COLOURS[i % len(COLOURS)]
        panel.plot(one["share"], one["hits@1"], color=colour, label=name)
        panel.plot(
            one["share"][-1], one["hits@1"][-1], "o", color=colour, markersize=8,
            markerfacecolor="white", markeredgewidth=1.8, zorder=3,
        )  # fmt: skip
    panel.set_xlim(-1, 101)
    panel.set_xlabel("share of questions sent to the model, least confident first, %")
    panel.set_ylabel("Hits@1 of all questions, %")
    panel.set_title(f"{title}, K = {k}", fontsize=11)
    panel.grid(alpha=0.25)
    panel.legend(frameon=False, fontsize=9)
    return save_figure(figure, out)
