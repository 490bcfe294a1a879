"""Recall of each cut: share of questions with an answer, and of answers, by hop.

    python benchmarks/cuts.py metaqa --input metaqa/ --limit 600
    python benchmarks/cuts.py kg --kg kg.tsv --input questions/ --split dev

Prepares the same questions once per kind of cut into a temporary folder (embeddings are
kept, so the second is quick) and prints one table. Takes the options of
``python -m data_prep`` but for --cut, --select, --out and --overwrite.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from data_prep.accounting import STAGES
from data_prep.driver import prepare
from data_prep.settings import PrepSettings
from kgscout_jax.cli.runner import guarded, parse

VARIANTS: dict[str, dict[str, Any]] = {
    "PPR, cosine (thesis)": {"cut": "ppr", "select": "cosine"},
    "PPR >= 1e-5, cosine": {
        "cut": "ppr", "select": "cosine", "ppr_threshold": 1e-5, "max_triplets": 0,
    },
    "PPR, hybrid": {"cut": "ppr", "select": "hybrid"},
    "guided, cosine": {"cut": "guided", "select": "cosine"},
    "guided, hybrid (default)": {"cut": "guided", "select": "hybrid"},
}  # fmt: skip


def measure(settings: PrepSettings, split: str) -> dict[str, Any]:
    """Per variant the survival of ``split``, by hop, and seconds a question."""
    out: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, (name, change) in enumerate(VARIANTS.items()):
            out_folder = Path(folder) / str(i)
            manifest = prepare(replace(settings, out=out_folder, **change)).manifest
            n = sum(entry["questions"] for entry in manifest["splits"].values())
            seconds = manifest["stages"]["cut subgraphs"]["worker_seconds"]
            out[name] = {
                "survival": manifest["splits"][split]["survival"],
                "ms_per_question": 1000 * seconds / n,
            }
    return out


def show(results: dict[str, Any], title: str) -> Table:
    """Rows: hop and variant; columns: recall after each stage."""
    table = Table(
        title=title, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left"
    )
    for name in ("hop", "n", "cut"):
        table.add_column(name, justify="left" if name == "cut" else "right")
    for stage in STAGES:
        table.add_column(f"answer\n{stage}", justify="right")
    for stage in STAGES[1:]:
        table.add_column(f"answers\n{stage}", justify="right")
    table.add_column("cut, ms\na question", justify="right")
    hops = list(next(iter(results.values()))["survival"])
    for hop in hops:
        for name, result in results.items():
            row = result["survival"].get(hop)
            if row is None:
                continue
            n, gold = max(row["questions"], 1), max(row["answers"]["in graph"], 1)
            table.add_row(
                hop,
                str(row["questions"]),
                name,
                *(f"{row['with_answer'][stage] / n:.3f}" for stage in STAGES),
                *(f"{row['answers'][stage] / gold:.3f}" for stage in STAGES[1:]),
                f"{result['ms_per_question']:.1f}" if hop == "all" else "",
            )
        table.add_section()
    return table


def main(args: Sequence[str]) -> int:
    """Print the table and one JSON line; returns the exit code."""
    args = list(args)
    split = "dev"
    if "--split" in args:
        at = args.index("--split")
        split = args[at + 1]
        del args[at : at + 2]

    def run() -> None:
        settings = parse(PrepSettings, [*args, "--out", "unused"], "benchmarks/cuts.py")
        results = measure(settings, split)
        console = Console(highlight=False, soft_wrap=True)
        console.width = max(console.width, 140)
        console.print(show(results, f"{settings.source}, {split}"))
        print(json.dumps({"benchmark": "cuts", "source": settings.source, **results}))

    return guarded(run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
