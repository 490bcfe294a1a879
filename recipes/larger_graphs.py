"""Graphs of invented facts as large as a user brings, with questions of many kinds.

    python recipes/larger_graphs.py [--policy EXPORT] [--into FIGURES.json] [GRAPH ...]

``larger_graphs/`` has graphs of 3,500 to 6,000 triplets in the form of
``invented_graphs.json``. A line of questions is "wording | wording = [KIND] PATH". KIND
is ``none`` (the graph does not say), ``count`` or ``check`` (yes or no). PATH may end
in ``max R``, ``min R``, ``over R VALUES`` or ``under R VALUES``. Topics are found in
the text. Prints how many sets of answers are exactly right, how many first answers are
said, and how many of questions without an answer are answered. ``errors_read`` in a
file: whether its errors were read when rules of the package were made.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from invented_graphs import CLASS, Domain
from written_graphs import BUDGETS, Outcome, argument_parser, figures, outcome

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.progress import ProgressBar

FOLDER = Path(__file__).with_suffix("")
EACH = 3
"""Questions of each wording."""
TRIES = 60
"""Draws of topics until a question is one."""
MOST_ANSWERS = 25
KINDS = ("none", "count", "check")


class Question(NamedTuple):
    """A question, and its answers: none where the graph does not say."""

    text: str
    answers: list[str]


class Line:
    """A line of questions: its wordings, its kind and its path."""

    def __init__(self, line: str) -> None:
        asked, _, path = line.rpartition(" = ")
        self.wordings = asked.split(" | ")
        kind, _, rest = path.partition(" ")
        self.kind, path = (kind, rest) if kind in KINDS else ("", path)
        path, self.value = re.fullmatch(
            r"(.*?)((?: (?:max|min|over|under) .*)?)", path
        ).groups()
        legs, _, rest = path.partition(" ; ")
        self.starts = [leg.split() for leg in legs.split(" & ")]
        self.steps = rest.split()
        self.other = self.starts[0].pop() if self.kind == "check" else ""

    def question(self, domain: Domain, wording: str) -> Question | None:
        """A question of this wording, or None where no draw makes one."""
        draw = domain.random
        for _ in range(TRIES):
            named = {each: draw.choice(domain.names[kind(each)]) for each in self.drawn}
            if self.other and draw.random() < 0.5:  # else seldom one that is true
                true = sorted(self.reached(domain, named))
                named[self.other] = draw.choice(true or [named[self.other]])
            answers = self.answers(domain, named)
            if len({*named.values()}) == len(named) and answers is not None:
                return Question(wording.format(**named), answers)
        return None

    def reached(self, domain: Domain, named: dict[str, str]) -> set[str]:
        """The ends of the path."""
        ends = [
            domain.reached({named.get(start, start.removeprefix(CLASS))}, steps)
            for start, *steps in self.starts
        ]
        return domain.reached(set.intersection(*ends), self.steps)

    @property
    def drawn(self) -> list[str]:
        """The kinds of which a name is drawn."""
        starts = [start for start, *_ in self.starts if not start.startswith(CLASS)]
        values = self.value.split()[2:]
        return [*starts, *values, *filter(None, [self.other])]

    def answers(self, domain: Domain, named: dict[str, str]) -> list[str] | None:
        """Those of the graph; None where what was drawn makes no question."""
        reached = self.reached(domain, named)
        if self.kind == "none":
            unsaid = not reached or not any(steps for _, *steps in self.starts)
            return [] if unsaid else None
        if self.kind == "check":
            is_true = named[self.other] in reached
            return ["yes" if is_true else "no"] if reached else None
        found = self.chosen(domain, reached - {*named.values()}, named)
        if self.kind == "count":
            return [str(len(found))] if found else None
        return sorted(found) if 0 < len(found) <= MOST_ANSWERS else None

    def chosen(
        self, domain: Domain, nodes: set[str], named: dict[str, str]
    ) -> set[str]:
        """The nodes that the comparison of values leaves."""
        if not self.value or not nodes:
            return nodes
        word, relation, *bound = self.value.split()
        values = {
            node: number(value)
            for node in nodes
            for value in domain.steps.get((node, relation), [])
        }
        if bound:
            limit = number(named[bound[0]])
            above = word == "over"
            return {n for n, v in values.items() if (v > limit if above else v < limit)}
        if len(values) < 2:
            return set()
        best = (max if word == "max" else min)(values.values())
        return {node for node, value in values.items() if value == best}


def kind(name: str) -> str:
    """The kind that a name in braces is drawn from: "person2" is a second person."""
    return name.rstrip("0123456789")


def number(value: str) -> tuple[float, ...]:
    """What values are compared by: the numbers in them, a date from its year on."""
    return tuple(float(each) for each in re.findall(r"\d+(?:\.\d+)?", value))


def questions(domain: Domain) -> list[Question]:
    """The questions about a graph, none twice."""
    found: dict[str, Question] = {}
    for line in map(Line, domain.definition["questions"]):
        for wording in line.wordings:
            for _ in range(EACH):
                question = line.question(domain, wording)
                if question is not None:
                    found.setdefault(question.text, question)
    return [*found.values()]


class Answered(NamedTuple):
    """A question and what became of it."""

    question: Question
    outcome: Outcome
    exact: bool
    """The answers said are those of the graph, all of them and no others."""


def answered(scout: Scout, domain: Domain) -> Iterator[Answered]:
    """The questions about a graph, asked one by one."""
    graph = KnowledgeGraph.from_triplets(domain.triplets)
    for question in questions(domain):
        result = scout.retrieve(question.text, graph, k=BUDGETS[-1])
        names = {each.name for each in result.answers}
        exact = not result.abstained and names == {*question.answers}
        yield Answered(question, outcome(result, question.answers), exact)


def main(words: list[str] | None = None) -> int:
    """Ask and count; the exit code."""
    parser = argument_parser(__doc__)
    parser.add_argument("graphs", nargs="*", help="names of graphs (all)")
    args = parser.parse_args(words)
    contents = {
        file.stem: json.loads(file.read_text("utf-8"))
        for file in sorted(FOLDER.glob("*.json"))
    }
    scout, sets = Scout.from_pretrained(args.policy), []
    with ProgressBar(len(contents), "asking", "graphs") as bar:
        for name, content in contents.items():
            if not args.graphs or name in args.graphs:
                domain = Domain(content, name)
                found = [*answered(scout, domain)]
                exact = sum(each.exact for each in found if each.question.answers)
                about = {"set": name, "errors_read": content["errors_read"]}
                counts = figures([each.outcome for each in found]) | {"exact": exact}
                about |= {"triplets": len(domain.triplets)}
                sets.append(about | counts)
                print(json.dumps(sets[-1]))
            bar.update(1)
    if args.into:
        write_json(args.into, {"kind": "larger", "measured": sets})
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
