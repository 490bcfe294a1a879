"""The report of ``eval robustness``: figures, table, plots (OKGQA, figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.evaluate.bootstrap import LEVEL, RESAMPLES, as_difference, estimates
from kgscout_jax.evaluate.robustness.settings import RobustnessSettings
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.plotting import COLOURS, MARKERS, save_figure
from kgscout_jax.utils.table_files import write_tables
from kgscout_jax.utils.tables import figure, markdown_table

METRICS = {
    "answer_hit": "answer_hit",
    "path_hit_undirected": "path_hit_undirected",
    "path_triplet_recall": "path_triplet_recall",
    "hits@1": "Hits@1 of the graph's own answers",
}
"""Metric -> its title."""
NAMES = {
    "rs": "relation swapping",
    "rr": "relation replacement",
    "er": "edge rewiring",
    "ed": "edge deletion",
}
SIMILARITIES = {"ats": "ATS", "sc2d": "SC2D", "sd2": "SD2"}


def report_of(
    settings: RobustnessSettings,
    values: Mapping[tuple[str, float, str], Any],
    similar: Mapping[tuple[str, float], Any],
    context: Mapping[str, Any],
) -> dict[str, Any]:
    """The content of ``metrics.json``.

    ``figures``, ``paired`` and ``against`` are metric -> row -> method -> level ->
    estimate. ``paired`` is the difference from the lowest level, ``against`` that from
    the reference at the same level, both question by question.

    Args:
        settings: of the measurement.
        values: by method, level and row, of each metric and question.
        similar: by method and level, the similarity to the right graph.
        context: what was measured.
    """
    levels = sorted(settings.levels)
    names = [*settings.retrievers, *settings.also_runs]
    reference = settings.reference or names[0]
    columns = {
        (metric, name, method, f"{level:g}"): np.array(one, np.float64)
        for (method, level, name), cell in values.items()
        for metric, one in cell.items()
    }
    changes = {
        key: one - columns[(*key[:3], f"{levels[0]:g}")] for key, one in columns.items()
    }
    against = {
        key: one - columns[other]
        for key, one in columns.items()
        if key[1] != reference and (other := (key[0], reference, *key[2:])) in columns
    }
    return {
        "figures": _nested(estimates(columns, seed=settings.seed)),
        "paired": _differences(changes, settings.seed),
        "against": _differences(against, settings.seed),
        "reference": reference,
        "similarity": _nested(
            {
                (name, method, f"{level:g}"): cell[name]
                for (method, level), cell in similar.items()
                for name in SIMILARITIES
            }
        ),
        "retrievers": names,
        "methods": list(settings.methods),
        "levels": [f"{level:g}" for level in levels],
        "k": settings.k,
        "split": settings.split,
        "seed": settings.seed,
        "resamples": RESAMPLES,
        "level": LEVEL,
        "context": dict(context),
    }


def _differences(
    columns: Mapping[tuple[str, ...], Float64[np.ndarray, "q"]], seed: int
) -> dict[str, Any]:
    """The nested estimates of differences by question."""
    found = estimates(columns, seed=seed)
    return _nested({key: as_difference(one) for key, one in found.items()})


def _nested(flat: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """A dict of dicts by the parts of the keys."""
    out: dict[str, Any] = {}
    for (*path, last), value in flat.items():
        place = out
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return out


def write_report(report: Mapping[str, Any], out: Path) -> None:
    """Write ``metrics.json``, ``table.md``, ``robustness.png``, ``similarity.png``."""
    write_tables(out, table_text(report))
    robustness_plot(report, out / "robustness.png")
    similarity_plot(report, out / "similarity.png")
    write_json(out / "metrics.json", report)
    print(table_text(report))
    print(f"wrote {out}")


def table_text(report: Mapping[str, Any]) -> str:
    """The table as Markdown."""
    context, levels = report["context"], report["levels"]
    lines = [
        f"# Mistakes in the graph: {context['measured_on']}, {report['split']}, "
        f"{context['questions']} questions",
        "",
        f"K = {report['k']}, {context['triplets']:,} triplets. Intervals: "
        f"{report['level']:.0%}, bootstrap over questions. The last column is the "
        "difference of the last level from the first, paired by question.",
    ]
    for metric, title in METRICS.items():
        if metric not in report["figures"]:
            continue
        rows = []
        for method in report["methods"]:
            label = NAMES[method]
            for name in report["retrievers"]:
                cells = report["figures"][metric][name][method]
                pair = report["paired"][metric][name][method][levels[-1]]
                texts = [figure(cells[level], interval=False) for level in levels]
                rows.append([label, name, *texts, figure(pair, sign="+")])
                label = ""
        head = ["mistakes", "retriever", *levels, "difference"]
        lines += ["", f"## {title}", "", markdown_table(head, rows)]
        if metric in report["against"]:
            lines += ["", *_against_lines(report, metric)]
    rows = [
        [name, NAMES[method], *(f"{cells[method][level]:.3f}" for level in levels)]
        for key, name in SIMILARITIES.items()
        for cells in [report["similarity"][key]]
        for method in report["methods"]
    ]
    head = ["similarity", "mistakes", *levels]
    lines += ["", "## Similarity to the original", "", markdown_table(head, rows), ""]
    return "\n".join(lines)


def _against_lines(report: Mapping[str, Any], metric: str) -> list[str]:
    """The table of differences from the reference, level by level."""
    rows = []
    for method in report["methods"]:
        label = NAMES[method]
        for name, methods in report["against"][metric].items():
            cells = methods[method]
            texts = [figure(cells[level], sign="+") for level in report["levels"]]
            rows.append([label, f"{name} − {report['reference']}", *texts])
            label = ""
    head = ["mistakes", "paired by question", *report["levels"]]
    return [markdown_table(head, rows)]


def robustness_plot(report: Mapping[str, Any], out: Path) -> None:
    """A panel for each metric and method: a line with its interval a retriever."""
    from matplotlib.figure import Figure

    metrics = [metric for metric in METRICS if metric in report["figures"]]
    methods, levels = report["methods"], report["levels"]
    xs = [float(level) for level in levels]
    size = 3.1 * len(methods) + 0.4, 2.6 * len(metrics) + 0.9
    drawing = Figure(figsize=size, layout="constrained")
    panels = drawing.subplots(
        len(metrics), len(methods), squeeze=False, sharex=True, sharey="row"
    )
    for row, metric in zip(panels, metrics, strict=True):
        for panel, method in zip(row, methods, strict=True):
            for i, name in enumerate(report["retrievers"]):
                cells = [report["figures"][metric][name][method][x] for x in levels]
                value, low, high = (
                    np.array([cell[key] for cell in cells], np.float64)
                    for key in ("value", "low", "high")
                )
                colour = COLOURS[i % len(COLOURS)]
                panel.plot(
                    xs,
                    value,
                    color=colour,
                    marker=MARKERS[i % len(MARKERS)],
                    markersize=4,
                    label=name,
                )
                panel.fill_between(xs, low, high, color=colour, alpha=0.1, linewidth=0)
            panel.grid(alpha=0.25)
            panel.set_ylim(0, 1.02)
        row[0].set_ylabel(metric.replace("hits@1", "Hits@1, own answers"), fontsize=9)
    for panel, method in zip(panels[0], methods, strict=True):
        panel.set_title(NAMES[method], fontsize=10)
    for panel in panels[-1]:
        panel.set_xlabel("share of triplets with a mistake")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    place = "outside lower center"
    drawing.legend(handles, labels, loc=place, ncols=min(7, len(labels)), frameon=False)
    context = report["context"]
    drawing.suptitle(
        f"{context['measured_on']}, {report['split']}, {context['questions']} "
        f"questions, K = {report['k']}: {report['level']:.0%} bootstrap intervals",
        fontsize=11,
    )
    save_figure(drawing, out)


def similarity_plot(report: Mapping[str, Any], out: Path) -> None:
    """A panel for each measure of similarity: a line a method."""
    from matplotlib.figure import Figure

    levels = report["levels"]
    drawing = Figure(figsize=(10, 3.3), layout="constrained")
    panels = drawing.subplots(1, len(SIMILARITIES))
    for panel, (key, title) in zip(panels, SIMILARITIES.items(), strict=True):
        for i, method in enumerate(report["methods"]):
            ys = [report["similarity"][key][method][level] for level in levels]
            panel.plot(
                [float(level) for level in levels],
                ys,
                color=COLOURS[i],
                marker=MARKERS[i],
                markersize=4,
                label=NAMES[method],
            )
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("share of triplets with a mistake")
        panel.set_ylim(0, 1.02)
        panel.grid(alpha=0.25)
    handles, labels = panels[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    save_figure(drawing, out)
