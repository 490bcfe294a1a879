"""Questions in the graph's own words: what an entity has, and what only others have.

    python recipes/plain_questions.py GRAPH ... [--policy EXPORT] [--into FIGURES.json]

"What is the founder of Umicore?" for the relation ``founder`` of each GRAPH (those of
``base_graphs.py``), ``EACH`` of entities that have it and as many of entities that do
not, topics found in the text. Prints first answers that are right, those that are said,
and how many of the second kind are answered.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from pathlib import Path

from written_graphs import BUDGETS, Outcome, argument_parser, figures, outcome

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.utils.io import write_json

EACH = 60
LEAST = 20
"""Entities that a relation has at least at either end."""
NO_NOUN = PREPOSITIONS | {"is", "has"}
"""Last words of relations that are no nouns."""


def is_noun(relation: str) -> bool:
    """Whether "the ... of" may stand around a relation's name."""
    words = relation_phrase(relation).split()
    return words[-1] not in NO_NOUN and words[0] not in NO_NOUN


def measured(scout: Scout, path: Path) -> dict[str, int | str]:
    """The counts of one graph."""
    graph, draw = KnowledgeGraph.open(path), random.Random(path.stem)
    tails: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    ends: dict[str, set[str]] = defaultdict(set)
    for head, relation, tail in map(graph.triplet, range(len(graph))):
        tails[relation][head].add(tail)
        ends[relation] |= {head, tail}
    relations = sorted(r for r in tails if len(ends[r]) >= LEAST and is_noun(r))
    heads = sorted({head for of in tails.values() for head in of})
    found: list[Outcome] = []
    for _ in range(EACH):
        relation = draw.choice(relations)
        head = draw.choice(sorted(tails[relation]))
        other = draw.choice(heads)
        topics = [head] if other in ends[relation] else [head, other]
        for topic in topics:
            question = f"What is the {relation_phrase(relation)} of {topic}?"
            result = scout.retrieve(question, graph, k=BUDGETS[-1])
            if result.topics == (topic,):
                answers = tails[relation].get(topic, ())
                found.append(outcome(result, sorted(answers)))
    return {"set": path.stem} | figures(found)


def main(words: list[str] | None = None) -> int:
    """Ask and count; the exit code."""
    parser = argument_parser(__doc__)
    parser.add_argument("graphs", nargs="+", type=Path, metavar="GRAPH")
    args = parser.parse_args(words)
    scout = Scout.from_pretrained(args.policy)
    rows = []
    for path in args.graphs:
        rows.append(measured(scout, path))
        print(json.dumps(rows[-1]), flush=True)
    if args.into:
        write_json(args.into, {"kind": "plain", "measured": rows})
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
