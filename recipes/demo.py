"""The whole of KG-Scout on the built-in data set, in a few minutes on two cores.

Prepares real facts about the world, trains the policy with the closed-form gradient,
measures it on questions whose topics and wordings were never seen (their relation paths
were), answers them from the graph itself without a language model, and shows both.
Exits 1 unless KG-Scout beats cosine in answer_hit at K = 30.

Leaves out what a real run would add: more epochs, several seeds, a language model.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from kgscout_jax.reason.path_text import path_line

ROOT = Path(__file__).resolve().parent.parent
DEMO = Path("demo")
SHARDS, RUN, RESULTS = DEMO / "shards", DEMO / "run", DEMO / "results"
ANSWERS = DEMO / "answers"
STEPS = (
    ("prepare", "-m data_prep world", f"--out {SHARDS}"),
    (
        "train",
        "train.py",
        f"--shards {SHARDS} --run {RUN} --policy walk --candidates 256 --epochs 5",
    ),
    (
        "evaluate",
        "eval.py retrieval",
        f"--run {RUN} --shards {SHARDS} --split test --out {RESULTS}",
    ),
    (
        "answer",
        "eval.py answers",
        f"--run {RUN} --shards {SHARDS} --split test --k 30 "
        f"--retrievers cosine scout --out {ANSWERS}",
    ),
)


def main() -> int:
    """Run the commands, show five questions, compare; the exit code."""
    for name, program, flags in STEPS:
        print(f"\n=== {name}: python {program} {flags}", flush=True)
        start = time.monotonic()
        command = [sys.executable, *program.split(), *flags.split()]
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
        print(f"=== {name} took {time.monotonic() - start:.0f} s", flush=True)
    show_questions(ROOT / ANSWERS / "questions-scout-k30.jsonl", count=5, kept=6)
    metrics = json.loads((ROOT / RESULTS / "metrics.json").read_text("utf-8"))
    hops = metrics["counts"]["by_hop"]
    longer = 1 - hops.get("1", 0) / metrics["counts"]["questions"]
    easy = metrics["cosine"]["answer_hit"]["10"]["value"]
    print(f"\nTest questions of more than one hop: {longer:.1%}")
    print(f"Test questions with an answer in cosine's top 10: {easy:.1%}")
    print(f"\nPlots:  {RESULTS}/metric_against_k.png")
    print(f"        {RESULTS}/reward_against_epoch.png")
    print(f"Tables: {RESULTS}/table.md, {RESULTS}/metrics.json")
    print(f"Report: {ANSWERS}/report.html (every question, its triplets, its answer)")
    print(f"        {ANSWERS}/risk_coverage.png (accuracy without unsure answers)")
    ours, cosine = (
        metrics[name]["answer_hit"]["30"]["value"] for name in ("kgscout", "cosine")
    )
    print(f"\nanswer_hit@30: KG-Scout {ours:.3f}, cosine {cosine:.3f}")
    return 0 if ours > cosine else 1


def show_questions(file: Path, *, count: int, kept: int) -> None:
    """Print ``count`` questions, spread over the file: answers, a path, triplets."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 110)
    lines = file.read_text("utf-8").splitlines()
    for line in lines[:: max(len(lines) // count, 1)][:count]:
        record = json.loads(line)
        answers = {answer.lower() for answer in record["gold"]}
        gold = ", ".join(record["gold"][:4])
        table = Table(
            title=f"{escape(record['question'])}\n[dim]gold: {escape(gold)}[/dim]\n"
            f"{escape(answer_lines(record))}",
            title_justify="left",
            title_style="bold",
            box=None,
            padding=(0, 2, 0, 0),
        )
        for column in ("score", "head", "relation", "tail"):
            table.add_column(column, justify="right" if column == "score" else "left")
        for head, relation, tail, score in record["triplets"][:kept]:
            names = [
                f"[green]{escape(name)}[/green]"
                if name.lower() in answers
                else escape(name)
                for name in (head, relation, tail)
            ]
            table.add_row(f"{score:.2f}", *names)
        console.print()
        console.print(table)


def answer_lines(record: dict[str, Any]) -> str:
    """The answers with their probabilities, and the path to the best one."""
    pairs = zip(record["answers"][:4], record["probabilities"], strict=False)
    given = ", ".join(f"{name} ({p:.2f})" for name, p in pairs)
    if not record["answered"]:
        return f"not sure; best guess: {given}" if given else "not answered"
    path = path_line([tuple(one) for one in record["paths"][0]], record["answers"][0])
    return f"answered: {given}" + (f"\nbecause: {path}" if path else "")


if __name__ == "__main__":
    sys.exit(main())
