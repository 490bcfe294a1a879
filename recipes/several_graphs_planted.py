"""Planted pairs of schemas: one graph split in two, so that the truth is known.

Each fact goes to either half with a chance of 0.7; the second half words its relations
as Wikidata does. Pairs of entities are given one name, the one in the first half alone,
the other in the second: homonyms, which must stay two.
"""

from __future__ import annotations

import random

import numpy as np

from kgscout_jax import KnowledgeGraph
from kgscout_jax.graph.merge import merge_graphs
from kgscout_jax.graph.merge.equal_facts import equal_facts
from kgscout_jax.graph.merge.relation_meanings import last_words
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.types import Triplet
from kgscout_jax.utils.tables import markdown_table

WIKIDATA = {
    "location.country.borders": "shares border with",
    "location.country.languages_spoken": "official language",
    "location.country.currency_used": "currency",
    "location.country.calling_code": "country calling code",
    "location.country.demonym": "demonym",
    "location.country.subregion": "part of",
    "location.country.capital": "capital",
    "location.city.capital_of": "capital of",
    "location.city.time_zone": "located in time zone",
    "location.city.country": "country",
    "location.city.state": "located in the administrative territorial entity",
    "location.state.country": "country",
    "location.subregion.part_of": "part of",
    "aviation.airport.time_zone": "located in time zone",
    "aviation.airport.iata_code": "IATA airport code",
    "aviation.airport.city_served": "place served by transport hub",
    "internet.top_level_domain.country": "top-level Internet domain of",
}
HOMONYMS = 300
CHANCE = 0.7
FLOORS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def planted(world: KnowledgeGraph, seed: int) -> tuple[list[Triplet], list[Triplet]]:
    """The two halves; entities of a pair are called ``Twin 0``, ``Twin 1``, ..."""
    draw = random.Random(seed)
    facts = [world.triplet(i) for i in range(len(world))]
    heads = sorted({head for head, _, _ in facts})
    pairs = draw.sample(heads, 2 * HOMONYMS)
    twin = {name: i // 2 for i, name in enumerate(pairs)}
    side = {name: i % 2 for i, name in enumerate(pairs)}
    halves: tuple[list[Triplet], list[Triplet]] = ([], [])
    for head, relation, tail in facts:
        words = WIKIDATA.get(relation, relation)
        sides = {side[end] for end in (head, tail) if end in side}
        named = [f"Twin {twin[e]}" if e in twin else e for e in (head, tail)]
        for half, wording in enumerate((relation, words)):
            if draw.random() < CHANCE and sides <= {half}:
                halves[half].append((named[0], wording, named[1]))
    return halves


def planted_tables(world: KnowledgeGraph, encoder: SentenceEncoder) -> tuple[str, str]:
    """Tables of linked entities and of facts that two schemas state."""
    graphs = [KnowledgeGraph.from_triplets(half) for half in planted(world, 0)]
    merged = merge_graphs(dict(zip("ab", graphs, strict=True)), encoder)
    members = merged.members
    assert members is not None
    shared = set(graphs[0].entities) & set(graphs[1].entities)
    two = {name for name in shared if len(merged.find_every(name)) > 1}
    homonyms = {name for name in shared if name.startswith("Twin ")}
    counts = [
        ["names in both halves", str(len(shared))],
        ["homonyms among them", str(len(homonyms))],
        ["homonyms that stay two", f"{len(two & homonyms) / len(homonyms):.3f}"],
        [
            "other names that become one",
            f"{1 - len(two - homonyms) / len(shared - homonyms):.3f}",
        ],
    ]
    links = markdown_table(["planted entities", "value"], counts)
    held = members.triplets >= 0
    embed = EmbeddingCache(encoder).embed
    rows = []
    for floor in FLOORS:
        facts = equal_facts(merged.triplets, merged.relations, held, embed, floor)
        rows.append([f"{floor:.1f}", *scores(merged, facts)])
    facts_table = markdown_table(["cosine from", "precision", "recall"], rows)
    return links, facts_table


def scores(merged: KnowledgeGraph, facts: np.ndarray) -> list[str]:
    """Precision and recall of the pairs of triplets that state one fact."""
    by_words = {r: {last_words(r), last_words(w)} for r, w in WIKIDATA.items()}
    found, truth = set(), set()
    between: dict[tuple[int, int], list[int]] = {}
    for i, (head, _, tail) in enumerate(merged.triplets.tolist()):
        between.setdefault((head, tail), []).append(i)
    for ids in between.values():
        for i in ids:
            for j in ids:
                one = merged.relations[int(merged.triplets[i, 1])]
                other = merged.relations[int(merged.triplets[j, 1])]
                if one not in WIKIDATA or other in WIKIDATA:
                    continue
                if facts[i] == facts[j]:
                    found.add((i, j))
                if last_words(other) in by_words[one]:
                    truth.add((i, j))
    both = len(found & truth)
    return [f"{both / max(len(found), 1):.3f}", f"{both / max(len(truth), 1):.3f}"]
