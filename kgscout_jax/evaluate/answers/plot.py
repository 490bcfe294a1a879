"""The sweep over K as a figure: Hit and Macro-F1, one line per retriever."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgscout_jax.evaluate.answers.cells import METRICS
from kgscout_jax.evaluate.answers.tables import MAIN, title
from kgscout_jax.utils.plotting import COLOURS, MARKERS, save_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def answers_against_k(report: Mapping[str, Any], out: Path) -> bytes:
    """The figure as SVG, for a page; ``out`` is the same as a PNG."""
    figure = _draw(report)
    save_png(figure, out)
    # laid out once is enough
    figure.set_layout_engine("none")
    buffer = io.BytesIO()
    # no date in it: the same figures give the same page
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _draw(report: Mapping[str, Any]) -> Figure:
    from matplotlib.figure import Figure

    names, ks = report["retrievers"], report["ks"]
    figure = Figure(figsize=(4.2 * len(MAIN), 3.7), layout="constrained")
    panels = figure.subplots(1, len(MAIN), squeeze=False)[0]
    for panel, metric in zip(panels, MAIN, strict=True):
        for i, name in enumerate(names):
            entries = [report["metrics"][name][str(k)][metric] for k in ks]
            values = [entry["value"] for entry in entries]
            colour = COLOURS[i % len(COLOURS)]
            below = [entry["value"] - entry["low"] for entry in entries]
            above = [entry["high"] - entry["value"] for entry in entries]
            # side by side, or the bars of one hide those of another
            shift = (i - (len(names) - 1) / 2) * 0.06
            panel.errorbar(
                [at + shift for at in range(len(ks))],
                values,
                yerr=[below, above],
                color=colour,
                marker=MARKERS[i % len(MARKERS)],
                markersize=5,
                linestyle="--" if name == "none" else "-",
                capsize=2.5,
                elinewidth=1,
                label=name,
            )
        labels = [f"{k}\nn = {report['n'][str(k)]}" for k in ks]
        panel.set_xticks(range(len(ks)), labels)
        panel.set_xlim(-0.5, len(ks) - 0.5)
        panel.set_xlabel("K, triplets kept")
        panel.set_ylabel("% of questions" if metric == "hit" else "mean, %")
        panel.set_title(METRICS[metric], fontsize=10)
        panel.set_ylim(0, min(102.0, max(5.0, panel.get_ylim()[1])))
        panel.grid(alpha=0.25)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(6, len(labels)),
        frameon=False,
    )
    figure.suptitle(
        f"{title(report)}; bars: {report['level']:.0%} bootstrap intervals", fontsize=11
    )
    return figure
