"""What a fit gained, for people: a page that needs no network, and a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.fit.measure import BASE, COSINE, FITTED, cells
from kgscout_jax.show import report_page

FOLDER = Path(__file__).parent / "templates"
COLUMNS = {
    COSINE: "cosine",
    BASE: "base policy",
    FITTED: "fitted policy",
    "difference": "gain",
}
SETS = {"synthetic": "Questions made from the graph", "real": "Real questions"}


def table(result: Mapping[str, Any], name: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the figures of one set, in percent."""
    names = [
        column for column in COLUMNS if result["gains"] or column in (COSINE, BASE)
    ]
    rows = [cells(row, names) for row in result["measured"][name]["rows"]]
    return ["", *(COLUMNS[column] for column in names)], rows


def heading(result: Mapping[str, Any], name: str) -> str:
    """The set, its split and its number of questions."""
    measured = result["measured"][name]
    held_out = {
        "test": "held out",
        "dev": "they chose the checkpoint"
        if name in result["trained_on"]
        else "held out",
    }[measured["split"]]
    return f"{SETS[name]}: {measured['questions']:,} of {measured['split']}, {held_out}"


def verdict(result: Mapping[str, Any]) -> str:
    """Whether anything was gained, in two sentences."""
    scores = [row["dev_score"] for row in result["epochs"]]
    best = max(scores[1:], default=scores[0])
    passes = f"{len(scores) - 1} pass" + "es" * (len(scores) != 2)
    if result["gains"]:
        return (
            f"The dev score rose from {scores[0]:.3f} (base policy) to {best:.3f} in "
            f"{passes}; the policy is the fitted one of step {result['step']}."
        )
    return (
        f"{result['base']} is as good on this graph: its dev score is {scores[0]:.3f}, "
        f"after {passes} of training {best:.3f}. The policy is the base policy, "
        "calibrated for this graph."
    )


def calibration_text(result: Mapping[str, Any]) -> str:
    """What the probabilities are calibrated on.

    >>> few = {"set": "synthetic", "real_questions": 12, "least_real_questions": 50}
    >>> calibration_text({"calibrated_on": 1000, "calibration": few})
    '1,000 synthetic dev questions (12 real ones are too few, expected at least 50)'
    """
    calibration = result.get("calibration", {})  # absent in earlier versions
    of_set = f"{calibration['set']} dev" if calibration else "dev"
    text = f"{result['calibrated_on']:,} {of_set} questions"
    real = calibration.get("real_questions")
    if real is not None and calibration["set"] != "real":
        least = calibration["least_real_questions"]
        text += f" ({real} real ones are too few, expected at least {least})"
    return text


def time_text(seconds: float) -> str:
    """``2 min 5 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def summary(result: Mapping[str, Any]) -> str:
    """The figures as aligned text, for a terminal."""
    lines = [verdict(result)]
    for name in result["measured"]:
        header, rows = table(result, name)
        header = [heading(result, name), *header[1:]]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        for first, *others in (header, *rows):
            padded = [text.rjust(w) for text, w in zip(others, widths[1:], strict=True)]
            lines.append("  ".join(["  " + first.ljust(widths[0]), *padded]))
    lines.append(f"Probabilities: calibrated on {calibration_text(result)}")
    spent = ", ".join(f"{n} {time_text(s)}" for n, s in result["seconds"].items())
    return "\n".join([*lines, f"Time: {spent}"])


def page(result: Mapping[str, Any]) -> str:
    """The page, one HTML file."""
    names = ", ".join(result["graph"]["files"])
    return report_page(
        FOLDER / "fit.html",
        title=f"A policy for {names}",
        style=FOLDER / "fit.css",
        result=result,
        verdict=verdict(result),
        sets={
            name: {
                "heading": heading(result, name),
                "table": table(result, name),
                "examples": measured["examples"],
            }
            for name, measured in result["measured"].items()
        },
        policies=[BASE, FITTED] if result["gains"] else [BASE],
        columns=COLUMNS,
        calibration=calibration_text(result),
        time_text=time_text,
    )
