"""The tables of open answers and of their judges."""

from __future__ import annotations

from extracts import OPEN_METRICS
from view import LABELS, Mean, View, facts

from kgscout_jax.okgqa.ladder import LABELS as PROMPTS
from kgscout_jax.utils.tables import figure, markdown_table


def open_answers(view: View) -> str:
    """Judgements of open answers: a row for each way to prompt, then differences."""
    (one,) = view.extracts
    (k,) = one["ks"]
    names, rows = view.chosen("metrics", OPEN_METRICS), view.rows(one)
    seeds = [seed["figures"] for seed in one["seeds"]]
    paired = [seed["paired"] for seed in one["seeds"]]
    names = [m for m in names if any(m in seed.get(rows[0], {}) for seed in seeds)]

    def label(row: str) -> list[str]:
        prompt, *triplets = row.split("/")
        return [", ".join(triplets) or "none", PROMPTS[prompt]]

    cells = []
    for row in rows:
        means = [Mean(seeds, row, metric, str(k)) for metric in names]
        words = Mean(seeds, row, "words", str(k)).value
        texts = [mean.text(low=view.low) for mean in means]
        cells.append([*label(row), *texts, f"{words:.0f}" if words else "–"])
    for row in view.chosen("paired", []):
        means = [Mean(paired, row, metric, str(k)) for metric in names]
        triplets, prompt = label(row)
        texts = [mean.text(low=True, sign="+") for mean in means]
        cells.append([f"{triplets} − none", prompt, *texts, ""])
    header = ["triplets", "prompt", *(LABELS.get(m, m) for m in names), "words"]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def judges(view: View) -> str:
    """What judges found of planted mistakes: a row for each judge."""
    (one,) = view.extracts
    cells = []
    for name, found in one["judges"].items():
        counts = (f"{found[key]:,}" for key in ("altered", "judged", "flagged"))
        rates = (figure(found[key], digits=2) for key in ("precision", "recall"))
        cells.append([LABELS.get(name, name), *counts, *rates])
    header = ["judge", "altered", "judged", "flagged", "precision", "recall"]
    line = f"{one['questions']} answers; in brackets: 95% intervals over them."
    return f"{line}\n\n{markdown_table(header, cells)}"
