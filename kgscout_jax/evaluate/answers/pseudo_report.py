"""Tables and the plot of PG&AKV's rows in a batch of answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.pseudo.draft import OUTCOMES
from kgscout_jax.utils.plotting import COLOURS, save_figure
from kgscout_jax.utils.tables import markdown_table

NOTE = (
    "Verdicts are counts over all pseudo-triplets. Facts: those that the model "
    "compared with a pseudo-graph, and those of the verified graph; calls, tokens and "
    "dollars: pseudo-graph, edit and answers at every K (those of scout_pseudo stand "
    "above); all are means per question."
)


def pseudo_parts(report: Mapping[str, Any]) -> list[str]:
    """The part of ``table.md`` on pseudo-graphs; [] without any."""
    if (found := report.get("pseudo")) is None:
        return []
    n = found["questions"]
    outcomes = "; ".join(
        f"{text} {found['outcomes'][name]} ({100 * found['outcomes'][name] / n:.1f}%)"
        for name, text in OUTCOMES.items()
    )
    first, second = (
        ", ".join(f"{name} {count}" for name, count in found[key].items()) or "none"
        for key in ("causes", "causes_after_repair")
    )
    header = [
        "row", "kept", "corrected", "removed", "unsupported", "added",
        "malformed edits", "facts compared", "facts kept", "calls", "prompt tokens",
        "reply tokens", "cost, $",
    ]  # fmt: skip
    rows = []
    for name, one in found["rows"].items():
        each = one["per_question"]
        edited = bool(one["verdicts"])
        counts = [*one["verdicts"].values(), one["added"], one["malformed"]]
        means = [f"{one['compared_with']:.1f}", f"{one['facts']:.1f}"]
        rows.append(
            [
                name,
                *([*map(str, counts), *means] if edited else ["–"] * 8),
                f"{each['calls']:.2f}",
                f"{each['prompt_tokens']:.0f}",
                f"{each['reply_tokens']:.0f}",
                f"{each['cost']:.5f}" if each["cost"] else "–",
            ]
        )
    return [
        "## Pseudo-graphs",
        f"Written as {found['form']}, {found['triplets']:.1f} triplets a question. Of "
        f"{n}: {outcomes}. Causes of failure: {first}; after the repair: {second}.",
        NOTE,
        markdown_table(header, rows),
    ]


def sweep_plot(report: Mapping[str, Any], out: Path) -> bytes:
    """Threshold and number of entities against evidence and Hit; ``out`` as a PNG."""
    from matplotlib.figure import Figure

    sweeps = report["pseudo"]["sweep"]
    hits = hit_points(report)
    figure = Figure(figsize=(9.2, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, squeeze=False)[0]
    labels = {"threshold": "threshold of the mean cosine", "entities": "entities, k"}
    handles: list[Any] = []
    for panel, (name, label) in zip(panels, labels.items(), strict=True):
        xs = [point["value"] for point in sweeps[name]]
        panel.plot(
            xs, [point["holds"] for point in sweeps[name]], "-o", color=COLOURS[0],
            markersize=4, label="facts hold an answer",
        )  # fmt: skip
        points = hits[name]
        values = np.array([one["value"] for _, one in points])
        ends = np.array([[one["low"], one["high"]] for _, one in points]).T
        panel.errorbar(
            [x for x, _ in points], values, yerr=np.abs(ends - values), fmt="s",
            color=COLOURS[1], capsize=2.5, label="Hit of the answers",
        )  # fmt: skip
        other = panel.twinx()
        other.plot(
            xs, [point["facts"] for point in sweeps[name]], ":", color=COLOURS[2],
            label="facts left",
        )  # fmt: skip
        other.set_ylabel("facts left, mean")
        handles += [panel.get_lines()[0], panel.containers[0], other.get_lines()[0]]
        panel.set_xlabel(label)
        panel.set_ylabel("% of questions")
        panel.set_ylim(0, 100)
        panel.grid(alpha=0.25)
        if name == "entities":
            panel.set_xscale("log")
            panel.set_xticks(xs, [f"{x:g}" for x in xs])
    place = "outside lower center"
    figure.legend(handles=handles[:3], loc=place, ncols=3, frameon=False)
    level = f"{report['level']:.0%}"
    figure.suptitle(f"Pruning; bars: {level} bootstrap intervals", fontsize=11)
    return save_figure(figure, out)


def hit_points(report: Mapping[str, Any]) -> dict[str, list[tuple[float, Any]]]:
    """Setting -> (value, estimate of Hit) of its rows, at the largest K."""
    settings, k = report["settings"], str(max(report["ks"]))
    rows = {
        "threshold": [f"verified, threshold {x:g}" for x in settings["threshold"]],
        "entities": [f"verified, {x} entities" for x in settings["entities"]],
    }
    return {
        name: sorted(
            (
                (value, report["metrics"]["verified" if i == 0 else row][k]["hit"])
                for i, (value, row) in enumerate(
                    zip(settings[name], rows[name], strict=True)
                )
            ),
            key=lambda point: point[0],
        )
        for name in rows
    }
