"""From nothing to twenty answers about Debian's packages, timed, as a Markdown page.

    apt-get update
    python recipes/debian.py OUT [--policy kgscout-base]

Builds the graph of ``debian_graph.py``, inspects and embeds it, and asks the questions
of ``debian_questions.jsonl`` in one process. OUT holds debian.tsv, graph/ and
transcript.md: each question with the answers, their probabilities and paths, beside the
right answers, which ``debian_gold.py`` reads from the index. Nothing is edited, and the
policy has seen neither the graph nor the questions.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debian_gold import PackageIndex, is_right
from debian_graph import (
    PACKAGES,
    find_index,
    index_text,
    read_index,
    selected_packages,
    triplets_of,
)

from kgscout_jax.errors import UserError
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.types import Answer
from kgscout_jax.utils.io import sha256_file, write_lines, write_text

QUESTIONS = Path(__file__).with_name("debian_questions.jsonl")
K = 30
SHOWN = 10
"""Answers shown of each question."""
NAMES = 12
"""Right answers shown of each question."""


@dataclass(frozen=True)
class Reply:
    """The policy's reply to a question."""

    question: str
    gold: list[str]
    result: RetrievalResult
    seconds: float

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers, or the guesses where the policy is not sure."""
        return self.result.answers or self.result.best_guesses

    @property
    def verdict(self) -> str:
        """Whether the first answer is right, and whether the policy was sure."""
        first = [is_right(answer.name, self.gold) for answer in self.answers[:1]]
        word = "right" if first == [True] else "wrong"
        return f"{word}, not sure" if self.result.abstained else word


def build(out: Path, index: Path) -> PackageIndex:
    """Write OUT/debian.tsv and OUT/graph; what the right answers are read from.

    A graph of the same triplets stays, and with it what is embedded of it.
    """
    packages = read_index(index)
    file, folder = out / "debian.tsv", out / "graph"
    lines = ["\t".join(one) for one in triplets_of(packages, PACKAGES)]
    before = file.read_text("utf-8").splitlines() if file.exists() else []
    if lines != before or not folder.exists():
        write_lines(file, lines)
        command("graph", "--kg", file, "--out", folder, "--overwrite")
    return PackageIndex(index_text(index), selected_packages(packages, PACKAGES))


def command(*arguments: object) -> str:
    """What a kgscout command prints.

    Raises:
        UserError: it fails.
    """
    line = [str(Path(sys.executable).with_name("kgscout")), *map(str, arguments)]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise UserError(f"kgscout {arguments[0]}: exit code {done.returncode}")
    return done.stdout


def ask(scout: Scout, graph: Any, index: PackageIndex) -> list[Reply]:
    """The replies to all questions, one after the other."""
    selection = SelectionConfig(form="answers")
    replies = []
    for line in QUESTIONS.read_text("utf-8").splitlines():
        row = json.loads(line)
        start = time.monotonic()
        result = scout.retrieve(row["question"], graph, K, selection=selection)
        seconds = time.monotonic() - start
        gold = index.answers(row["query"])
        replies.append(Reply(row["question"], gold, result, seconds))
        print(f"{replies[-1].verdict}: {row['question']}", flush=True)
    return replies


def section(number: int, reply: Reply) -> list[str]:
    """The lines of a question in the transcript."""
    result, gold = reply.result, reply.gold
    topics = [f"{one.name} ({one.how}, {one.score:.2f})" for one in result.links]
    shown = [*reply.answers, *(() if result.kind == "set" else result.support)]
    right = sum(is_right(answer.name, gold) for answer in reply.answers)
    lines = [f"### {number}. {reply.question}", ""]
    lines += [f"**{reply.verdict}**: {right} of {len(gold)} right answers among "]
    lines[-1] += f"{len(reply.answers)} given, {reply.seconds:.2f} s"
    lines += [f"- topics: {', '.join(topics) or 'none'}"]
    more = f"; and {len(gold) - NAMES} more" if len(gold) > NAMES else ""
    lines += [f"- right answers: {'; '.join(gold[:NAMES])}{more}", ""]
    if not shown:
        return [*lines, "no answer", ""]
    lines += ["| answer | P | | path |", "|---|---|---|---|"]
    for place, answer in enumerate(shown[:SHOWN]):
        mark = "✓" if is_right(answer.name, gold) else ""
        if place >= len(reply.answers):
            mark = "counted" if result.kind == "count" else "behind it"
        path = "; ".join(" → ".join(triplet) for triplet in answer.path)
        cells = (answer.name, f"{answer.probability:.2f}", mark, path)
        lines += ["| " + " | ".join(one.replace("|", r"\|") for one in cells) + " |"]
    if len(shown) > SHOWN:
        lines += ["", f"and {len(shown) - SHOWN} more answers"]
    return [*lines, ""]


def page(replies: list[Reply], facts: dict[str, str], report: str) -> str:
    """The transcript."""
    right = [reply for reply in replies if reply.verdict.startswith("right")]
    sure = [reply for reply in replies if not reply.result.abstained]
    seconds = [reply.seconds for reply in replies]
    lines = [
        "# Debian's packages: twenty questions to a policy that has not seen them",
        "",
        "Written by `python recipes/debian.py OUT`; unedited.",
        "",
        f"The first answer is right for **{len(right)} of {len(replies)}** questions; "
        f"of the {len(sure)} that the policy is sure of, for "
        f"{sum(reply.verdict == 'right' for reply in sure)}.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in facts.items()),
        f"| first question, with compilation | {seconds[0]:.1f} s |",
        f"| each further question, median | {statistics.median(seconds[1:]):.2f} s |",
        "",
        "## The graph",
        "",
        "`kgscout inspect` says:",
        "",
        "```text",
        report.rstrip(),
        "```",
        "",
        "## The questions",
        "",
    ]
    for number, reply in enumerate(replies, start=1):
        lines += section(number, reply)
    return "\n".join(lines)


def run(out: Path, policy: str, index: Path) -> None:
    """Everything, from the index to OUT/transcript.md."""
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    gold = build(out, index)
    built = time.monotonic()
    report = command("inspect", out / "graph").replace(f"{out}/", "OUT/")
    graph = KnowledgeGraph.open(out / "graph")
    loaded = time.monotonic()
    scout = Scout.from_pretrained(policy)
    ready = time.monotonic()
    resumed = (out / "graph" / "embeddings").exists()
    graph.embed(scout.encoder)
    embedded = time.monotonic()
    if not scout.exported.has_answers:
        raise UserError(f"--policy {policy}: expected a policy with an answer head")
    replies = ask(scout, graph, gold)
    facts = {
        "policy": Path(policy).name,
        "index": f"`{index.name}`, sha256 `{sha256_file(index)[:16]}`",
        "packages": f"{len(gold.packages):,}",
        "triplets": f"{len(graph.triplets):,}",
        "processor": f"{os.cpu_count()} cores, {platform.machine()}",
        "index to graph": f"{built - start:.1f} s",
        "policy and encoder loaded in": f"{ready - loaded:.1f} s",
        "embedding, once": f"{embedded - ready:.1f} s{', resumed' * resumed}",
    }
    write_text(out / "transcript.md", page(replies, facts, report))
    print(out / "transcript.md")


def main() -> None:
    """Read the flags and run everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--policy", default="kgscout-base")
    parser.add_argument("--index", type=Path)
    arguments = parser.parse_args()
    try:
        run(arguments.out, arguments.policy, arguments.index or find_index())
    except UserError as error:
        parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    main()
