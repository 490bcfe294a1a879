"""Statements planted in a graph: true ones, and ones with a part altered.

``verify_statements.json`` has wordings of relations, written by hand, by the words of
the relation's name. A quarter of the statements are worded as the graph names the
relation. The gold verdict follows from the graph: a true statement is supported. An
altered one is contradicted where the relation that it states is functional in the graph
(at most 1.2 objects per subject) and its subject has another object, else unknown.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from data_prep.synth.relation_facts import is_sayable
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.relation_words import relation_words

PARTS = ("object", "subject", "relation")
FUNCTIONAL = 1.2
"""Objects per subject up to which a relation is functional."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A planted statement."""

    text: str
    gold: str
    part: str
    """The altered part; "" for a true statement."""
    head: str
    relation: int
    """The relation that it states; -1 for a path of two."""
    tail: str


@cache
def wordings() -> dict[str, list[str]]:
    """Wordings of relations, by the words of their names."""
    path = Path(__file__).with_name("verify_statements.json")
    return json.loads(path.read_text("utf-8"))


class Facts:
    """The facts of a graph as pairs of named entities, through unnamed ones too."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.objects: dict[str, dict[int, set[int]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self.relations: dict[str, set[int]] = defaultdict(set)
        names = [" ".join(relation_words(name)) for name in graph.relations]
        opaque = graph.unnamed_mask
        behind: dict[int, list[tuple[int, int]]] = defaultdict(list)
        rows = graph.triplets.tolist()
        for h, r, t in rows:
            if opaque[h]:
                behind[h].append((r, t))
        for h, r, t in rows:
            if opaque[h]:
                continue
            name = names[r]
            ends = [(r, t)] if not opaque[t] else behind[t]
            for last, end in ends:
                # A record's own name is that of its relation; others qualify it.
                if not opaque[end] and end != h and (last == r or names[last] == name):
                    self.objects[name][h].add(end)
                    self.relations[name].add(r)

    def functional(self, name: str) -> bool:
        """Whether a relation has hardly ever more than one object."""
        sizes = [len(objects) for objects in self.objects[name].values()]
        return sum(sizes) <= FUNCTIONAL * len(sizes)


def plant(graph: KnowledgeGraph, n: int, seed: int) -> list[Statement]:
    """``n`` true statements, and ``n`` with a part altered."""
    rng = random.Random(seed)
    facts = Facts(graph)
    names = sorted(set(facts.objects) & set(wordings()))
    heads = {name: sorted(facts.objects[name]) for name in names}
    tails = {
        name: sorted({t for ends in facts.objects[name].values() for t in ends})
        for name in names
    }
    roots = [len(heads[name]) ** 0.5 for name in names]

    def fact() -> tuple[int, str, int]:
        while True:
            (name,) = rng.choices(names, roots)
            head = rng.choice(heads[name])
            tail = rng.choice(sorted(facts.objects[name][head]))
            if is_sayable(graph, head) and is_sayable(graph, tail):
                return head, name, tail

    def state(head: int, name: str, tail: int, part: str) -> Statement:
        words = rng.choice(wordings()[name])
        relation = min(facts.relations[name])
        if rng.random() < 0.25:
            written = rng.choice((graph.relations[relation], name))
            words = f"{{h}} {written} {{t}}"
        h, t = graph.entities[head], graph.entities[tail]
        objects = facts.objects[name].get(head, set())
        gold = "supported"
        if part:
            against = facts.functional(name) and len(objects) == 1
            gold = "contradicted" if against else "unknown"
        text = words.format(h=h, t=t)
        return Statement(
            text=text[0].upper() + text[1:] if words[0] != "{" else text,
            gold=gold, part=part, head=h, relation=relation, tail=t,
        )  # fmt: skip

    def joined(head: int, tail: int, names: list[str]) -> bool:
        return any(tail in facts.objects[name].get(head, ()) for name in names)

    out = [state(*fact(), "") for _ in range(n)]
    while len(out) < 2 * n:
        head, name, tail = fact()
        part = PARTS[len(out) % 3]
        if part == "object":
            tail = rng.choice(tails[name])
        elif part == "subject":
            head = rng.choice(heads[name])
        else:
            # Another relation that is said of the subject or of the object.
            others = [
                other
                for other in names
                if other != name
                and (head in facts.objects[other] or tail in tails[other])
            ]
            if not others:
                continue
            name = rng.choice(others)
        said = is_sayable(graph, head) and is_sayable(graph, tail) and head != tail
        if said and not joined(head, tail, [name]):
            out.append(state(head, name, tail, part))
    return out
