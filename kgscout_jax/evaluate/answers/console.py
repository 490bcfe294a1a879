"""The table of answers for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgscout_jax.evaluate.answers.tables import MAIN, amount, percent, title
from kgscout_jax.utils.tables import console_grid

if TYPE_CHECKING:
    from rich.table import Table

SHORT = {"hallucination": "Halluc.", "groundedness": "Ground."}


def answers_console(report: Mapping[str, Any]) -> Table:
    """A table for the terminal: rows are K and retriever."""
    from rich.text import Text

    spending = [cell for by_k in report["spending"].values() for cell in by_k.values()]
    has_tokens = any(cell["prompt_tokens"] for cell in spending)
    has_cost = any(cell["cost"] for cell in spending)
    header = ["K", "n", "retriever", "Hit", "Hits@1", "Macro-F1", *SHORT.values()]
    header += ["tokens", "s"] * has_tokens + ["$"] * has_cost
    table = console_grid(title(report), header, left=(2,))
    for k in map(str, report["ks"]):
        for i, name in enumerate(report["retrievers"]):
            figures = report["metrics"][name][k]
            each = report["spending"][name][k]["per_question"]
            tokens = each["prompt_tokens"]
            if tokens is not None:
                tokens += each["reply_tokens"]
            table.add_row(
                k if i == 0 else "",
                str(report["n"][k]) if i == 0 else "",
                Text(name),
                percent(figures["hit"]),
                percent(figures["hits@1"], interval=False),
                percent(figures["macro_f1"]),
                *(percent(figures[metric], interval=False) for metric in SHORT),
                *[amount(tokens, ".0f"), amount(each["seconds"], ".2f")] * has_tokens,
                *[amount(each["cost"], ".5f")] * has_cost,
            )
        for name, by_k in report["paired"].items():
            hit, macro_f1 = (percent(by_k[k][metric], sign="+") for metric in MAIN)
            label = Text(f"{name} − {report['reference']}")
            table.add_row("", "", label, hit, "", macro_f1, style="dim")
        table.add_section()
    return table
