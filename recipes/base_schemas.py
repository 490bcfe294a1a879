"""Small graphs of invented facts, after the schemas of base_schemas.txt.

    python recipes/base_schemas.py OUT.tsv [--each 6] [--seed 0]

Graphs that people make by hand are small and of everyday relations. Each schema gives
``--each`` graphs of about 15 to 200 triplets. They share no entity, so one file holds
them all. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from kgscout_jax.utils.io import write_lines

SCHEMAS = Path(__file__).with_name("base_schemas.txt")
ENTITIES = (2, 3, 4, 6, 9, 14)
"""Entities of each type, about, in one graph."""
ONSETS = "b br c ch d dr f g gr h j k kl l m n p pr qu r s sh st t tr v w z".split()
VOWELS = "a e i o u ai ea ou ia".split()
CODAS = ["", "", "", *"l m n r s t x nd rk st".split()]
FIRST = """Ada Akin Amir Anja Aoife Bela Caro Chen Dana Diego Edda Emil Farah Gus Hana
    Ines Ivo Jana Jun Kai Kofi Lena Luca Mara Mei Nils Noor Olga Omar Pia Quinn Rana
    Rosa Samir Sena Tara Theo Uma Vera Wim Yara Zoe""".split()
ADJECTIVES = """amber ancient blue bright broken calm cold crimson dark deep distant dry
    early eastern empty fast first free gentle golden great green grey heavy hidden high
    hollow iron last late light little long lost lower new noble northern old open pale
    plain quiet rapid red rough sharp short silent silver small soft southern steep
    sweet tall upper warm western white wild winter young""".split()
NOUNS = """anchor apple arch arrow bay bell birch bird bottle bridge cable cedar chain
    clay cliff cloud coast copper crown dawn door dust eagle ember engine fern field
    fire flame forest fox frost garden gate glass grain harbour hill horn horse island
    key lake lamp lantern leaf letter lion market meadow mill mirror moon moss mountain
    night oak ocean orchard paper path pearl pine pipe plate pond rain ribbon ring river
    road root rope rose salt sand sea seed shadow shield ship shore signal sky smoke
    snow song spring star stone storm stream summer sun tide tower tree valley wall
    water wave well wheel wind window wing wolf wood wool""".split()
FIRMS = "Ltd GmbH Labs Works Group Bros Union Partners AG Inc Holding".split()
TOWNS = "ton ville burg stad field ford haven mouth wick dorf sk ia".split()
SAME = 0.3
"""Share of values that occurred before in the same graph."""
LITERALS = frozenset({"date", "year", "number"})

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Relation:
    """One relation of a schema."""

    name: str
    head: str
    tail: str
    several: bool


@dataclass(frozen=True)
class Schema:
    """Types of entities, by the way that they are named, and relations."""

    types: dict[str, str]
    relations: tuple[Relation, ...]


def read_schemas(text: str) -> list[Schema]:
    """The schemas of a file: blocks between empty lines."""
    schemas = []
    for block in re.split(r"\n{2,}", text.strip())[1:]:
        _, types, *lines = block.splitlines()
        relations = []
        for line in lines:
            name, _, ends = line.partition(": ")
            head, _, tail = ends.partition(" > ")
            relations.append(Relation(name, head, tail.rstrip("*"), "*" in tail))
        pairs = dict(each.split("=") for each in types.split())
        ends = {end for each in relations for end in (each.head, each.tail)}
        pairs |= {end: end for end in sorted(ends - pairs.keys() - LITERALS)}
        schemas.append(Schema(pairs, tuple(relations)))
    return schemas


class Names:
    """Names of entities, each given once, and values."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self._taken = rng, set[str]()
        self._values: dict[str, list[str]] = {}
        self._kinds: dict[str, Callable[[], str]] = {
            "person": lambda: f"{rng.choice(FIRST)} {self._word(2).title()}",
            "company": lambda: f"{self._word(2).title()} {rng.choice(FIRMS)}",
            "town": lambda: self._word(1).title() + rng.choice(TOWNS),
            "title": lambda: self._pair().title(),
            "compound": self._pair,
            "thing": lambda: f"{self._word(1)} {rng.choice(NOUNS)}",
            "word": lambda: self._word(2),
            "name": lambda: self._word(2).title(),
            "code": lambda: f"{self._word(1)[:2].upper()}-{rng.randrange(10, 9999)}",
        }

    def new(self, kind: str) -> str:
        """A name that no other entity has."""
        while (name := self._kinds[kind]()).casefold() in self._taken:
            pass
        self._taken.add(name.casefold())
        return name

    def value(self, kind: str) -> str:
        """A value of a kind of literal, which no other graph has since ``clear``."""
        rng = self.rng
        held = self._values.setdefault(kind, [])
        if held and rng.random() < SAME:
            return rng.choice(held)
        while (value := self._literal(kind)) in self._taken:
            pass
        self._taken.add(value)
        held.append(value)
        return value

    def clear(self) -> None:
        """Begin another graph."""
        self._values = {}

    def _literal(self, kind: str) -> str:
        rng = self.rng
        if kind == "date":
            day = date(1950, 1, 1) + timedelta(days=rng.randrange(27000))
            return day.isoformat()
        if kind == "year" and rng.random() < 0.9:
            return str(rng.randrange(1200, 2025))
        return str(rng.randrange(2, 10 ** rng.randrange(2, 6)))

    def _word(self, syllables: int) -> str:
        pick = self.rng.choice
        parts = (pick(ONSETS) + pick(VOWELS) + pick(CODAS) for _ in range(syllables))
        return "".join(parts)

    def _pair(self) -> str:
        nouns = self.rng.sample(NOUNS, 1 + (self.rng.random() < 0.4))
        return " ".join([self.rng.choice(ADJECTIVES), *nouns])


def spelling(name: str, style: int) -> str:
    """A relation as one of four kinds of files spells it."""
    words = name.split()
    if style == 1:
        return "_".join(words)
    if style == 2:
        return words[0] + "".join(word.capitalize() for word in words[1:])
    return name.upper().replace(" ", "_") if style == 3 else name


def small_graph(schema: Schema, names: Names, entities: int) -> list[Row]:
    """One graph with about so many entities of each type."""
    rng = names.rng
    names.clear()
    style = rng.randrange(4)
    made = {
        kind: [
            names.new(naming)
            for _ in range(max(1, round(entities * rng.uniform(0.5, 1.5))))
        ]
        for kind, naming in schema.types.items()
    }
    rows = []
    for relation in schema.relations:
        share = rng.uniform(0.6, 1.0)
        for head in made[relation.head]:
            if rng.random() > share:
                continue
            for _ in range(rng.randint(1, 3) if relation.several else 1):
                tail = (
                    names.value(relation.tail)
                    if relation.tail in LITERALS
                    else rng.choice(made[relation.tail])
                )
                if tail != head:
                    rows.append((head, spelling(relation.name, style), tail))
    return rows


def small_graphs(schemas: Sequence[Schema], each: int, seed: int) -> list[Row]:
    """The triplets of all graphs, without duplicates."""
    names = Names(random.Random(seed))
    rows = [
        row
        for schema in schemas
        for i in range(each)
        for row in small_graph(schema, names, ENTITIES[i % len(ENTITIES)])
    ]
    return list(dict.fromkeys(rows))


def main(words: Sequence[str] | None = None) -> int:
    """Write the file; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(words)
    schemas = read_schemas(SCHEMAS.read_text(encoding="utf-8"))
    rows = small_graphs(schemas, args.each, args.seed)
    write_lines(args.out, ["\t".join(row) for row in rows])
    print(f"{len(rows):,} triplets of {len(schemas)} schemas")
    return 0


if __name__ == "__main__":
    sys.exit(main())
