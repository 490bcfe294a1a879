"""Questions that need two graphs: a Freebase excerpt and the built-in world.

    python recipes/pgakv_questions.py FREEBASE.tsv OUT [--n 60]

The first hop is a fact of the excerpt (a person's country or place of birth,
a film's country), the second one that only the world graph has. Writes OUT/world.tsv
and OUT/questions/dev.jsonl with id, question, answer, q_entity; no country or city is
in more than four questions.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from data_prep.sources.world_facts import world_facts
from kgscout_jax.types import Triplet, entity_key
from kgscout_jax.utils.io import write_lines

COUNTRY = {
    "location.country.calling_code": "What is the calling code of {}?",
    "location.country.demonym": "What are the people of {} called?",
    "location.country.subregion": "In which part of the world does {} lie?",
    "location.country.borders": "Which countries border {}?",
}
"""Relation of the world graph -> question."""
FIRST = {
    "people.person.nationality": ("the home country of {}", COUNTRY),
    "film.film.country": ("the country where {} was made", COUNTRY),
    "people.person.place_of_birth": (
        "the place where {} was born",
        {"location.city.time_zone": "What is the time zone of {}?"},
    ),
}
"""Relation of the excerpt -> what it leads to in words, and the second hops."""
MOST = 4


def questions(
    excerpt: list[Triplet], world: list[Triplet], n: int, seed: int = 0
) -> list[dict[str, object]]:
    """At most ``n`` questions, drawn evenly from the pairs of relations."""
    facts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for head, relation, tail in world:
        facts[entity_key(head), relation].append(tail)
    known = {(entity_key(head), relation) for head, relation, _ in excerpt}
    pools: dict[tuple[str, str], list[Triplet]] = defaultdict(list)
    middles: dict[tuple[str, str], list[str]] = defaultdict(list)
    for head, first, tail in excerpt:
        middles[head, first].append(tail)
        for second in FIRST[first][1] if first in FIRST else ():
            middle = entity_key(tail), second
            if middle in facts and middle not in known:
                pools[first, second].append((head, first, tail))
    rng = random.Random(seed)
    waiting = {
        pair: rng.sample(pool, len(pool)) for pair, pool in sorted(pools.items())
    }
    uses: Counter[str] = Counter()
    asked: set[tuple[str, str]] = set()
    rows: list[dict[str, object]] = []
    while len(rows) < n and any(waiting.values()):
        for (first, second), pool in waiting.items():
            while pool and (
                uses[pool[-1][2]] >= MOST or (pool[-1][0], second) in asked
            ):
                pool.pop()
            if not pool or len(rows) == n:
                continue
            head, _, tail = pool.pop()
            asked.add((head, second))
            uses[tail] += 1
            words, seconds = FIRST[first]
            answers = [
                answer
                for middle in middles[head, first]
                for answer in facts[entity_key(middle), second]
            ]
            rows.append(
                {
                    "id": f"two-{len(rows)}",
                    "question": seconds[second].format(words.format(head)),
                    "q_entity": [head],
                    "answer": list(dict.fromkeys(answers)),
                    "hop": 2,
                }
            )
    return rows


def main() -> None:
    """Write the graph and the questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("excerpt", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--n", type=int, default=60)
    args = parser.parse_args()
    with args.excerpt.open(encoding="utf-8", newline="") as handle:
        rows = csv.reader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        excerpt = [(h, r, t) for h, r, t in rows]
    world = list(world_facts().triplets)
    found = questions(excerpt, world, args.n)
    write_lines(args.out / "world.tsv", ("\t".join(each) for each in world))
    write_lines(args.out / "questions/dev.jsonl", map(json.dumps, found))
    print(f"{len(found)} questions, {len(world)} triplets of the world: {args.out}")


if __name__ == "__main__":
    main()
