"""Questions in the graph's own words, in the forms that people type.

    python recipes/plain_forms.py GRAPH ... [--policy EXPORT] [--into FIGURES.json]

``EACH`` questions of each form over each GRAPH (those of ``base_graphs.py``): R and S
are relations whose names are nouns, E and F entities, topics found in the text. Forms
of one relation are also asked of entities that do not have it. Prints, by form, first
answers that are right, those that are said, and questions without an answer that are
answered.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from plain_questions import NO_NOUN, is_noun
from written_graphs import BUDGETS, Outcome, argument_parser, figures, outcome

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.progress import ProgressBar

EACH = 6
LEAST = 5
"""Entities that a relation has at least."""
MOST = 20
"""Answers of a question at most; of the step between at most ``BETWEEN``."""
BETWEEN = 3
TRIES = 400
ONE = "one relation"
ALL = "two relations of one"
TWO = "one after the other"
BACK = "back"
COUNT = "back, counted"
BOTH = "both at once"
IS = "yes or no"
SAME = "the same of two, yes or no"
FORMS = {
    "What is the {r} of {e}?": ONE,
    "what is the {r} of {small}": ONE,
    "What's {e}'s {r}?": ONE,
    "{e} {r}": ONE,
    "What {r} does {e} have?": ONE,
    "Does {e} have a {r}?": ONE,
    "Can you tell me {e}'s {r}?": ONE,
    "What {r} is {e}?": ONE,
    "For {e}, what is the {r}?": ONE,
    "What are the {r} and the {s} of {e}?": ALL,
    "What is the {s} of the {r} of {e}?": TWO,
    "What is the {s} of {e}'s {r}?": TWO,
    "What is {e}'s {r}'s {s}?": TWO,
    "What has the {r} {e}?": BACK,
    "Whose {r} is {e}?": BACK,
    "Which ones have {e} as {r}?": BACK,
    "What is {e} the {r} of?": BACK,
    "{e} is the {r} of what?": BACK,
    "How many have the {r} {e}?": COUNT,
    "How many share the {r} {e}?": COUNT,
    "What has the {r} {e} and the {s} {f}?": BOTH,
    "Is {f} the {r} of {e}?": IS,
    "Do {e} and {f} have the same {r}?": SAME,
    "Does {e} share its {r} with {f}?": SAME,
    "Is the {r} of {e} the same as that of {f}?": SAME,
}
LABELS = {"r": "R", "s": "S", "e": "E", "f": "F", "small": "e"}


class Question(NamedTuple):
    """A question of a form."""

    text: str
    topics: set[str]
    answers: set[str]


class Facts:
    """A graph's triplets by relation, in both directions."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.tails: dict[str, dict[str, set[str]]] = defaultdict(dict)
        self.heads: dict[str, dict[str, set[str]]] = defaultdict(dict)
        for head, relation, tail in map(graph.triplet, range(len(graph))):
            self.tails[relation].setdefault(head, set()).add(tail)
            self.heads[relation].setdefault(tail, set()).add(head)
        self.relations = sorted(
            relation
            for relation, of in self.tails.items()
            if len(of) >= LEAST
            and is_noun(relation)
            and NO_NOUN.isdisjoint(phrase(relation).split())
        )
        self.all_heads = sorted({head for of in self.tails.values() for head in of})

    def question(self, form: str, draw: random.Random) -> Question | None:
        """A question of a form; None where what was drawn makes none."""
        kind, e, f = FORMS[form], "", ""
        r, s = (draw.choice(self.relations) for _ in "rs")
        if kind == ONE:
            e = draw.choice(draw.choice([sorted(self.tails[r]), self.all_heads]))
            answers = self.tails[r].get(e, set())
            if not answers and e in self.heads[r]:
                return None
        elif kind == ALL:
            e = draw.choice(sorted(self.tails[r]))
            answers = self.tails[r][e] | self.tails[s].get(e, set())
            if r == s or e not in self.tails[s]:
                return None
        elif kind == TWO:
            e = draw.choice(sorted(self.tails[r]))
            between = self.tails[r][e]
            answers = {x for node in between for x in self.tails[s].get(node, ())} - {e}
            if r == s or len(between) > BETWEEN or not answers:
                return None
        elif kind in (BACK, COUNT):
            e = draw.choice(sorted(self.heads[r]))
            answers = self.heads[r][e]
        elif kind in (IS, SAME):
            e = draw.choice(sorted(self.tails[r]))
            own = self.tails[r][e]
            fitting = own if kind == IS else {x for t in own for x in self.heads[r][t]}
            others = self.heads[r] if kind == IS else self.tails[r]
            f = draw.choice(sorted(draw.choice([fitting - {e}, [*others]]) or fitting))
            answers = {"yes" if f in fitting else "no"}
        else:
            node = draw.choice(sorted(self.tails[r]))
            if r == s or node not in self.tails[s]:
                return None
            e, f = (draw.choice(sorted(self.tails[each][node])) for each in (r, s))
            answers = self.heads[r][e] & self.heads[s][f]
        if len(answers) > MOST or e == f or any(len(x) < 3 for x in (e, f) if x):
            return None
        text = form.format(r=phrase(r), s=phrase(s), e=e, f=f, small=e.lower())
        answers = {str(len(answers))} if kind == COUNT else answers
        return Question(text, {e, f} - {""}, answers)


def phrase(relation: str) -> str:
    """What people call a relation: the last part of a dotted name."""
    return relation_phrase(relation.split(".")[-1])


def measured(scout: Scout, path: Path, bar: ProgressBar) -> dict[str, list[Outcome]]:
    """What became of the questions over one graph, by form."""
    graph, found = KnowledgeGraph.open(path), {}
    facts = Facts(graph)
    for form in FORMS:
        draw = random.Random(f"{path.stem} {form}")
        asked = [facts.question(form, draw) for _ in range(TRIES) if facts.relations]
        found[form] = []
        for question in [each for each in asked if each is not None][:EACH]:
            result = scout.retrieve(question.text, graph, k=BUDGETS[-1])
            if {*result.topics} == question.topics:
                found[form].append(outcome(result, sorted(question.answers)))
        bar.update(1)
    return found


def main(words: list[str] | None = None) -> int:
    """Ask and count; the exit code."""
    parser = argument_parser(__doc__)
    parser.add_argument("graphs", nargs="+", type=Path, metavar="GRAPH")
    args = parser.parse_args(words)
    scout = Scout.from_pretrained(args.policy)
    with ProgressBar(len(args.graphs) * len(FORMS), "asking", "forms") as bar:
        of_graphs = [measured(scout, path, bar) for path in args.graphs]
    rows = []
    for form in FORMS:
        if found := [each for of in of_graphs for each in of[form]]:
            rows.append({"set": form.format(**LABELS)} | figures(found))
            print(json.dumps(rows[-1]))
    if args.into:
        write_json(args.into, {"kind": "plain", "measured": rows})
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
