"""Figures: metrics and answers against K, reward against epoch (thesis, 3.3, 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS
from kgscout_jax.utils.plotting import COLOURS, MARKERS, panel_grid, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CEILING = "#555555"
MAX_REWARD = 10


def metric_against_k(report: Mapping[str, Any], out_dir: Path) -> list[Path]:
    """The files written: ``metric_against_k`` as PNG, PDF and SVG, a panel per metric.

    Metrics with the same figures share a panel, which has the names of all.

    Args:
        report: the content of ``metrics.json``.
        out_dir: where to write.
    """
    names, ks = report["retrievers"], report["ks"]
    groups: dict[str, list[str]] = {}
    for metric in DEFINITIONS:
        if any(report[names[0]][metric][str(k)]["n"] for k in ks):
            same = str([report[name][metric] for name in names])
            groups.setdefault(same, []).append(metric)
    xlabel = "K, triplets kept"
    figure, panels = panel_grid(len(groups), 4, (3.3, 3.0), 0.9, xlabel)
    for (metric, *others), panel in zip(groups.values(), panels, strict=True):
        for i, name in enumerate(names):
            _curve(panel, report[name][metric], ks, name, i)
        n = {report[names[0]][metric][str(k)]["n"] for k in ks}
        title = "\nand ".join([metric, *others])
        panel.set_title(f"{title} (n = {', '.join(map(str, sorted(n)))})", fontsize=10)
        panel.set_xticks(ks, _tick_labels(ks))
        panel.set_ylim(top=min(1.02, panel.get_ylim()[1]), bottom=_bottom(panel))
    for panel in panels[::4]:
        panel.set_ylabel("mean over questions")
    _label(figure, panels[0], f"{_subject(report)}; bands", report["level"])
    path = out_dir / "metric_against_k.png"
    save_figure(figure, path)
    return [path.with_suffix(suffix) for suffix in (".png", ".pdf", ".svg")]


def reward_against_epoch(rows: Sequence[Mapping[str, Any]], out: Path) -> Path:
    """``out``, with the mean reward of train and dev per epoch drawn in it.

    Args:
        rows: of a run's ``metrics.jsonl``; those of kind ``epoch`` are used, with
            ``epoch``, ``train_reward`` and ``dev_reward`` (either may be absent).
        out: the PNG file.

    Raises:
        UserError: no row has a reward.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    if not has_rewards(rows):
        raise UserError(
            f"{out}: nothing to draw, found no row of kind 'epoch' with "
            "'train_reward' or 'dev_reward'"
        )
    # A resumed run may have written an epoch twice: the last row counts.
    epochs = {row["epoch"]: row for row in rows if row.get("kind") == "epoch"}
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    panel = figure.subplots()
    for i, split in enumerate(("train", "dev")):
        curve = list(_points(epochs, f"{split}_reward"))
        if not curve:
            continue
        xs, ys = zip(*curve, strict=True)
        marker = MARKERS[i] if len(xs) <= 60 else ""
        panel.plot(xs, ys, color=COLOURS[i], marker=marker, markersize=4, label=split)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("epoch")
    panel.set_ylabel(f"mean reward (of at most {MAX_REWARD})")
    panel.set_title("Reward against epoch", fontsize=11)
    panel.grid(alpha=0.25)
    panel.legend(frameon=False)
    save_figure(figure, out)
    return out


def answers_against_k(
    report: Mapping[str, Any], metrics: Mapping[str, str], title: str, out: Path
) -> bytes:
    """The sweep over K as SVG, for a page; ``out`` is the same as a PNG.

    Args:
        report: the content of an answer batch's ``metrics.json``.
        metrics: those to draw, a panel each, with the panel's title.
        title: above the figure.
        out: the PNG file.
    """
    from matplotlib.figure import Figure

    names, ks = report["retrievers"], report["ks"]
    figure = Figure(figsize=(4.2 * len(metrics), 3.7), layout="constrained")
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for panel, (metric, label) in zip(panels, metrics.items(), strict=True):
        for i, name in enumerate(names):
            points = [report["metrics"][name][str(k)][metric] for k in ks]
            values = np.array([point["value"] for point in points])
            ends = np.array([[point["low"], point["high"]] for point in points]).T
            # side by side, so that bars do not overlap
            shift = (i - (len(names) - 1) / 2) * 0.06
            panel.errorbar(
                np.arange(len(ks)) + shift,
                values,
                yerr=np.abs(ends - values),
                color=COLOURS[i % len(COLOURS)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=5,
                linestyle="--" if name == "none" else "-",
                capsize=2.5,
                elinewidth=1,
                label=name,
            )
        ticks = [f"{k}\nn = {report['n'][str(k)]}" for k in ks]
        panel.set_xticks(range(len(ks)), ticks)
        panel.set_xlim(-0.5, len(ks) - 0.5)
        panel.set_xlabel("K, triplets kept")
        panel.set_ylabel("% of questions" if metric == "hit" else "mean, %")
        panel.set_title(label, fontsize=10)
        panel.set_ylim(0, min(102.0, max(5.0, panel.get_ylim()[1])))
        panel.grid(alpha=0.25)
    _label(figure, panels[0], f"{title}; bars", report["level"])
    return save_figure(figure, out)


def has_rewards(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether ``reward_against_epoch`` has anything to draw in these rows."""
    return any(
        isinstance(row.get(key), int | float)
        for row in rows
        if row.get("kind") == "epoch"
        for key in ("train_reward", "dev_reward")
    )


def _curve(
    panel: Axes, figures: Mapping[str, Any], ks: Sequence[int], name: str, i: int
) -> None:
    """One retriever's line with its band; the ceiling is a dashed line without one."""
    xs = [k for k in ks if figures[str(k)]["value"] is not None]
    values = [figures[str(k)]["value"] for k in xs]
    if name == "ceiling":
        panel.plot(xs, values, "--", color=CEILING, label=name, zorder=1)
        return
    colour = COLOURS[i % len(COLOURS)]
    marker = MARKERS[i % len(MARKERS)]
    low = [figures[str(k)]["low"] for k in xs]
    high = [figures[str(k)]["high"] for k in xs]
    panel.plot(xs, values, color=colour, marker=marker, markersize=4, label=name)
    panel.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)


def _bottom(panel: Axes) -> float:
    """The lower end of the y axis: 0 if that wastes less than half of the panel."""
    low, high = panel.get_ylim()
    return 0.0 if low < high / 2 else low


def _tick_labels(ks: Sequence[int]) -> list[str]:
    """Labels of the K, empty where they would overlap the previous label."""
    spacing = (ks[-1] - ks[0]) / 12
    labels: list[str] = []
    last = float("-inf")
    for k in ks:
        crowded = k - last < spacing
        labels.append("" if crowded else str(k))
        last = last if crowded else k
    return labels


def _points(
    epochs: Mapping[int, Mapping[str, Any]], key: str
) -> Iterator[tuple[int, float]]:
    for epoch in sorted(epochs):
        value = epochs[epoch].get(key)
        if isinstance(value, int | float):
            yield epoch, value


def _subject(report: Mapping[str, Any]) -> str:
    measured = report["context"].get("measured_on")
    return f"{measured}, {report['split']}" if measured else f"{report['split']} split"


def _label(figure: Figure, panel: Axes, title: str, level: float) -> None:
    """The title, and a legend of one panel's lines below all of them."""
    handles, labels = panel.get_legend_handles_labels()
    columns = min(6, len(labels))
    place = "outside lower center"
    figure.legend(handles, labels, loc=place, ncols=columns, frameon=False)
    figure.suptitle(f"{title}: {level:.0%} bootstrap intervals", fontsize=11)
