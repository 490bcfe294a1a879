"""Small graphs of invented facts, with questions, some of which have no answer there.

    python recipes/written_graphs.py [--policy EXPORT] [--into FIGURES.json]

``written_graphs/`` has six sets of eight graphs, with 30 questions each as people word
them: 22 with answers, 8 of which nothing is said. Topics are found in the text. Prints
how many first answers are right, how many are said, and how many of questions without
an answer are answered. ``errors_read`` in a file: whether the errors on its questions
were read when rules of the package were made.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.export.bundled import FOLDER as BUNDLED
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.utils.io import write_json

FOLDER = Path(__file__).with_suffix("")
BUDGETS = (10, 30)


class Outcome(NamedTuple):
    """What became of a question."""

    answerable: bool
    right: bool
    """The first answer, or the best guess, is one of those of the graph."""
    said: bool
    """The first answer is not left out as unsure."""
    kept: tuple[bool, ...]
    """An answer is among so many triplets, for each of ``BUDGETS``."""


def outcome(result: RetrievalResult, answers: list[str]) -> Outcome:
    """The outcome of a question that has these answers; none: not in the graph."""
    gold = {name.casefold() for name in answers}
    best = [each.name.casefold() for each in result.answers or result.best_guesses]
    ends = [{t[0].casefold(), t[2].casefold()} for t in result.triplets]
    return Outcome(
        answerable=bool(gold),
        right=bool(best) and best[0] in gold,
        said=bool(result.answers) and not result.abstained,
        kept=tuple(any(gold & pair for pair in ends[:k]) for k in BUDGETS),
    )


def outcomes(scout: Scout, definition: dict) -> Iterator[Outcome]:
    """Those of all questions about a graph."""
    graph = KnowledgeGraph.from_triplets(map(tuple, definition["triplets"]))
    for question, answers in definition["questions"]:
        yield outcome(scout.retrieve(question, graph, k=BUDGETS[-1]), answers)


def figures(found: list[Outcome]) -> dict[str, int]:
    """What the table shows of a set."""
    answerable = [each for each in found if each.answerable]
    absent = [each for each in found if not each.answerable]
    kept = zip(*(each.kept for each in answerable), strict=True)
    return {
        "answerable": len(answerable),
        **{f"kept@{k}": sum(hits) for k, hits in zip(BUDGETS, kept, strict=True)},
        "right": sum(each.right for each in answerable),
        "said_right": sum(each.said and each.right for each in answerable),
        "said_wrong": sum(each.said and not each.right for each in answerable),
        "absent": len(absent),
        "absent_said": sum(each.said for each in absent),
    }


def argument_parser(doc: str | None) -> argparse.ArgumentParser:
    """The options of a recipe that asks a policy and counts."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--policy", type=Path, default=BUNDLED, help="an export")
    parser.add_argument("--into", type=Path, help="write the figures to this file")
    return parser


def main(words: list[str] | None = None) -> int:
    """Ask and count; the exit code."""
    args = argument_parser(__doc__).parse_args(words)
    scout = Scout.from_pretrained(args.policy)
    sets = []
    for file in sorted(FOLDER.glob("*.json")):
        content = json.loads(file.read_text("utf-8"))
        found = [
            each
            for definition in content["graphs"].values()
            for each in outcomes(scout, definition)
        ]
        about = {"set": file.stem, "errors_read": content["errors_read"]}
        sets.append(about | {"graphs": [*content["graphs"]]} | figures(found))
        print(json.dumps(sets[-1]))
    if args.into:
        write_json(args.into, {"kind": "written", "measured": sets})
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
