"""Questions of one step over graphs that call each relation by another name.

    python recipes/relation_names.py [FILE ...] [--policy EXPORT] [--into FIGURES.json]

A FILE (all of ``FILES``) lists relations between kinds of entities, each with names
that graphs have for it and for its inverse, and with questions for either end.
``GRAPHS`` graphs are made, the n-th with the n-th name of each relation. A few entities
lack each relation: what is asked of these has no answer. Prints, by FILE, first answers
that are right, those that are said, and questions without an answer that are answered.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from written_graphs import Outcome, argument_parser, figures, outcome

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.types import Triplet
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.progress import ProgressBar

FILES = tuple(
    Path(__file__).with_name(f"relation_names{each}.json")
    for each in (
        *("", "_culture", "_trade", "_unread", "_attributes"),
        *("_work", "_science", "_public"),
    )
)
"""All but the first three were written by others; nothing was mended by the questions
of the last one."""
GRAPHS = 10
STEP = 7
"""Places between the entities of one pair and of the next."""


class Question(NamedTuple):
    """A question and its answers."""

    text: str
    answers: list[str]


def made_graph(
    definition: Mapping[str, Any], number: int
) -> tuple[list[Triplet], list[Question]]:
    """The triplets and the questions of one graph.

    Args:
        definition: the content of a FILE.
        number: of the graph; it chooses the names, and is the seed of the rest.
    """
    rng = random.Random(number)
    triplets: list[Triplet] = []
    questions: list[Question] = []
    for place, relation in enumerate(definition["relations"].values()):
        heads = definition["names"][relation["of"]]
        tails = definition["names"][relation["to"]]
        pairs = [
            (head, tails[(STEP * i + place) % len(tails)])
            for i, head in enumerate(heads)
            if i != place % 3
        ]
        pairs = [(head, tail) for head, tail in pairs if head != tail]
        if relation.get("mutual"):
            pairs = [*zip(heads[1::2], heads[2::2], strict=False)]
        straight = relation["names"]
        both = [*straight, *relation["inverse_names"]]
        name = both[number % len(both)]
        triplets += [
            (head, name, tail) if name in straight else (tail, name, head)
            for head, tail in pairs
        ]
        head, tail = rng.choice(pairs)[0], rng.choice(pairs)[1]
        for form in relation["questions"]:
            of_head = sorted({other for one, other in pairs if one == head})
            questions.append(Question(form.format(of=head), of_head))
            lacking = form.format(of=heads[0 if relation.get("mutual") else place % 3])
            questions.append(Question(lacking, []))
        for form in relation["inverse_questions"]:
            of_tail = sorted({one for one, other in pairs if other == tail})
            questions.append(Question(form.format(to=tail), of_tail))
    return triplets, questions


def outcomes(
    scout: Scout, definition: Mapping[str, Any], number: int
) -> Iterator[Outcome]:
    """The outcome of each question of one graph."""
    triplets, questions = made_graph(definition, number)
    graph = KnowledgeGraph.from_triplets(triplets)
    graph.embed(scout.encoder)
    results = scout.retrieve_many([each.text for each in questions], graph)
    for question, result in zip(questions, results, strict=True):
        yield outcome(result, question.answers)


def main(words: list[str] | None = None) -> int:
    """Ask and count; the exit code."""
    parser = argument_parser(__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", default=FILES)
    args = parser.parse_args(words)
    scout = Scout.from_pretrained(args.policy)
    rows = []
    with ProgressBar(len(args.files) * GRAPHS, "asking", "graphs") as bar:
        for path in args.files:
            definition = json.loads(path.read_text("utf-8"))
            found: list[Outcome] = []
            for number in range(GRAPHS):
                found += outcomes(scout, definition, number)
                bar.update()
            rows.append({"set": path.stem} | figures(found))
    for row in rows:
        print(json.dumps(row))
    if args.into:
        write_json(args.into, {"kind": "plain", "measured": rows})
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
