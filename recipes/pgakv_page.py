"""The page of PG&AKV's figures, from the folders that recipes/pgakv.sh wrote.

python recipes/pgakv_page.py OUT [--into recipes/pgakv.md]
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from kgscout_jax.pseudo.draft import OUTCOMES
from kgscout_jax.utils.io import write_text
from kgscout_jax.utils.tables import figure, markdown_table

SETS = {"webqsp": "WebQSP, dev", "metaqa": "MetaQA, dev", "two": "Two graphs"}
OTHERS = {
    "webqsp_world": "WebQSP verified in the world graph",
    "two_sources": "Two graphs, verified in both without preparation as one",
}
METRICS = {"hit": "Hit", "accuracy": "Accuracy", "rouge_l": "ROUGE-L", "macro_f1": "F1"}
HEAD = """\
# PG&AKV with a small local model

    recipes/pgakv.sh OUT EXCERPT WEBQSP_SHARDS WEBQSP_RUN METAQA_SHARDS METAQA_RUN
    python recipes/pgakv_page.py OUT

Figures are percentages with 95% bootstrap intervals over questions; calls and tokens
are means per question, everything included."""


def report_of(out: Path, name: str) -> dict[str, Any] | None:
    """The figures of one folder; None if it was not run."""
    path = out / name / "metrics.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def ablation(report: dict[str, Any]) -> str:
    """The rows with their figures, calls and tokens."""
    k, rows = str(max(report["ks"])), []
    for name in report["retrievers"]:
        own = report["pseudo"]["rows"].get(name)
        spent = (
            own["per_question"] if own else report["spending"][name][k]["per_question"]
        )
        reading = report["spending"][name][k]["per_question"]
        calls = spent["calls"] if own else 1
        tokens = spent["prompt_tokens"] + spent["reply_tokens"]
        if name == "scout_pseudo":  # read by the usual prompt
            calls, tokens = (
                calls + 1,
                tokens + sum(reading[key] for key in ("prompt_tokens", "reply_tokens")),
            )
        figures = report["metrics"][name][k]
        cells = [figure(figures[metric], digits=1) for metric in METRICS]
        rows.append([name, *cells, f"{calls:.1f}", f"{tokens:.0f}"])
    return markdown_table(["", *METRICS.values(), "calls", "tokens"], rows)


def drafts(reports: dict[str, dict[str, Any]]) -> str:
    """How pseudo-graphs came out, a row a set and form."""
    rows = []
    for name, report in reports.items():
        found = report["pseudo"]
        n = found["questions"]
        shares = [f"{100 * found['outcomes'][each] / n:.0f}%" for each in OUTCOMES]
        causes = ", ".join(f"{k} {v}" for k, v in found["causes"].items()) or "none"
        left = found["causes_after_repair"]
        after = ", ".join(f"{k} {v}" for k, v in left.items()) or "none"
        rows.append([name, str(n), *shares, causes, after])
    header = ["", "n", *OUTCOMES.values(), "causes", "causes after the repair"]
    return markdown_table(header, rows)


def main() -> None:
    """Write the page, and the plots of the sweeps beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--into", type=Path, default=Path("recipes/pgakv.md"))
    args = parser.parse_args()
    parts, forms = [HEAD], {}
    for key, title in SETS.items():
        cypher = report_of(args.out, f"{key}_cypher")
        if cypher is None:
            parts += [f"## {title}", "Not run."]
            continue
        n = cypher["n"][str(max(cypher["ks"]))]
        parts += [f"## {title} ({n} questions)", ablation(cypher)]
        forms[f"{title}, Cypher"] = cypher
        if plain := report_of(args.out, f"{key}_triplets"):
            parts += ["Plain triplets instead of Cypher:", ablation(plain)]
            forms[f"{title}, triplets"] = plain
        if swept := report_of(args.out, f"{key}_sweep"):
            plot = args.into.parent / "figures" / f"pgakv_{key}.png"
            shutil.copyfile(args.out / f"{key}_sweep/pruning.png", plot)
            parts += ["Sweeps:", ablation(swept), f"![sweeps](figures/{plot.name})"]
    for folder, title in OTHERS.items():
        if other := report_of(args.out, folder):
            parts += [f"## {title}", ablation(other)]
    if forms:
        parts += ["## Pseudo-graphs that ran", drafts(forms)]
    write_text(args.into, "\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
