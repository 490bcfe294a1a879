"""The page of PG&AKV's figures, from the folders that recipes/pgakv.sh wrote.

    python recipes/pgakv_page.py collect OUT  # into recipes/figures/pgakv.json
    python recipes/pgakv_page.py write        # recipes/pgakv.md

The page is what ``write`` gives for the committed figures; a test compares them. Its
prose stands in ``pgakv.md.jinja``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.pseudo.draft import OUTCOMES
from kgscout_jax.utils.io import read_json, write_text
from kgscout_jax.utils.tables import figure, markdown_table
from kgscout_jax.utils.templates import text_from_template

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures" / "pgakv.json"
PAGE = HERE / "pgakv.md"
TEMPLATE = HERE / "pgakv.md.jinja"
SETS = {
    "webqsp": "WebQSP questions, dev",
    "metaqa": "MetaQA, dev",
    "two": "Questions that need two graphs",
    "webqsp_world": "WebQSP questions verified in the world graph",
    "two_sources": "Two graphs that keep their own schemas",
}
FORMS = {"cypher": "Cypher", "triplets": "plain triplets", "sweep": "sweep"}
METRICS = {"hit": "Hit", "accuracy": "Accuracy", "rouge_l": "ROUGE-L", "macro_f1": "F1"}
VERDICTS = ("kept", "corrected", "removed", "unsupported")
ESTIMATE = ("value", "low", "high")


def collect(out: Path) -> dict[str, Any]:
    """Folder -> the figures of the page, of every folder in ``out`` that is complete.

    Raises:
        UserError: no folder is.
    """
    folders = [
        name for key in SETS for name in (key, *(f"{key}_{form}" for form in FORMS))
    ]
    paths = {name: out / name / "metrics.json" for name in folders}
    found = {
        name: figures_of(read_json(path))
        for name, path in paths.items()
        if path.exists()
    }
    if not found:
        raise UserError(f"{out}: no folder of recipes/pgakv.sh with a metrics.json")
    return found


def figures_of(report: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of one metrics.json."""
    k, pseudo = str(max(report["ks"])), report["pseudo"]
    rows = {}
    for name in report["retrievers"]:
        metrics = report["metrics"][name][k]
        rows[name] = {
            "metrics": {
                metric: [round(metrics[metric][end], 3) for end in ESTIMATE]
                for metric in METRICS
            },
            **spending(report, name, k),
            "verdicts": pseudo["rows"].get(name, {}).get("verdicts", {}),
        }
    parts = ("form", "questions", "outcomes", "causes", "causes_after_repair", "sweep")
    return {
        "n": report["n"][k],
        "k": int(k),
        "reader": report["context"]["reader"],
        "policy": report["context"].get("run"),  # None without one among the rows
        "rows": rows,
        "pseudo": {key: pseudo[key] for key in parts if key in pseudo},
    }


def spending(report: dict[str, Any], name: str, k: str) -> dict[str, float]:
    """Calls and tokens of a row per question, those of its reader included."""
    own = report["pseudo"]["rows"].get(name)
    reading = report["spending"][name][k]["per_question"]
    tokens = sum(reading[key] for key in ("prompt_tokens", "reply_tokens"))
    if own is None:
        return {"calls": 1.0, "tokens": round(tokens, 1)}
    spent = own["per_question"]
    calls, all_tokens = spent["calls"], spent["prompt_tokens"] + spent["reply_tokens"]
    if name == "scout_pseudo":  # whose reader is the usual one, and counted apart
        calls, all_tokens = calls + 1, all_tokens + tokens
    return {"calls": round(calls, 2), "tokens": round(all_tokens, 1)}


def ablation(figures: dict[str, Any]) -> str:
    """The rows with their figures, calls and tokens."""
    rows = []
    for name, one in figures["rows"].items():
        cells = [
            figure(dict(zip(ESTIMATE, one["metrics"][metric], strict=True)), digits=1)
            for metric in METRICS
        ]
        rows.append([name, *cells, f"{one['calls']:.1f}", f"{one['tokens']:.0f}"])
    return markdown_table(["", *METRICS.values(), "calls", "tokens"], rows)


def pseudo_graphs(found: dict[str, Any]) -> str:
    """How pseudo-graphs came out, a row a set and form."""
    rows = []
    for folder, one in found.items():
        name, _, form = folder.rpartition("_")
        if form not in ("cypher", "triplets"):
            continue
        pseudo = one["pseudo"]
        n = pseudo["questions"]
        shares = [f"{100 * pseudo['outcomes'][each] / n:.0f}%" for each in OUTCOMES]
        causes = [
            ", ".join(f"{cause} {count}" for cause, count in counts.items()) or "none"
            for counts in (pseudo["causes"], pseudo["causes_after_repair"])
        ]
        rows.append([SETS[name], FORMS[form], str(n), *shares, *causes])
    header = ["", "form", "n", *OUTCOMES.values(), "causes", "causes after the repair"]
    return markdown_table(header, rows)


def verdicts(found: dict[str, Any]) -> str:
    """What became of the pseudo-triplets, a row a set, form and method."""
    rows = [
        [SETS[name], FORMS[form], row, *(str(one["verdicts"][v]) for v in VERDICTS)]
        for folder, figures in found.items()
        for name, _, form in [folder.rpartition("_")]
        if form in ("cypher", "triplets")
        for row, one in figures["rows"].items()
        if one["verdicts"]
    ]
    return markdown_table(["", "form", "", *VERDICTS], rows)


def pruning(found: dict[str, Any], setting: str) -> str:
    """Per value of ``setting``, the share of questions whose facts hold an answer."""
    sweeps = {
        SETS[name]: found[f"{name}_cypher"]["pseudo"]["sweep"][setting]
        for name in SETS
        if "sweep" in found.get(f"{name}_cypher", {}).get("pseudo", {})
    }
    rows = [
        [f"{points[0]['value']:g}"]
        + [f"{one['holds']:.0f}%, {one['facts']:.1f} facts" for one in points]
        for points in zip(*sweeps.values(), strict=True)
    ]
    return markdown_table([setting, *sweeps], rows)


def page(found: dict[str, Any]) -> str:
    """The page of the figures ``found``."""
    some = next(one for one in found.values() if one["policy"])
    ablations = []
    for folder, one in found.items():
        name, _, form = folder.rpartition("_")
        title = SETS[folder] if folder in SETS else f"{SETS[name]}, {FORMS[form]}"
        ablations.append((title, one["n"], ablation(one)))
    return text_from_template(
        TEMPLATE.read_text("utf-8"),
        **{key: some[key] for key in ("k", "policy", "reader")},
        ablations=ablations,
        pseudo_graphs=pseudo_graphs(found),
        verdicts=verdicts(found),
        threshold=pruning(found, "threshold"),
        entities=pruning(found, "entities"),
    )


def main(arguments: list[str] | None = None) -> None:
    """Collect the figures, or write the page of those that are collected."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("collect").add_argument("out", type=Path)
    commands.add_parser("write")
    args = parser.parse_args(arguments)
    if args.command == "collect":
        write_text(FIGURES, json.dumps(collect(args.out), indent=1) + "\n")
    else:
        write_text(PAGE, page(read_json(FIGURES)))


if __name__ == "__main__":
    main()
