"""How people use each relation in questions, by its name and a few triplets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64

from data_prep.synth.arc_index import ArcIndex
from kgscout_jax.graph.flag_relations import are_flags
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.relation_words import is_class_relation, relation_words
from kgscout_jax.text.values import is_date, is_year, quantity_of

SAMPLE = 64
"""Tails of each relation that are looked at."""
CONSTANT = 5
"""Heads from which on a relation with one tail says nothing."""
LONG = 60
"""Characters from which a tail is a text, not a name."""

Kind = Literal["entity", "number", "date", "text", "flag"]
UNASKED = ("text", "flag")
"""Tails that no question names and none asks for: "which plot has no as shed"."""

_TECHNICAL = re.compile(
    r"(^|[./:])(freebase|common\.(webpage|image|document|resource|licensed_object)"
    r"|type|kg|dataworld|user|pipeline|rdf|owl|base\.kwebbase|measurement_unit"
    r"|common\.topic\.(image|webpage|article|topical_webpage|official_website|alias))"
    r"[./:]|valuenotation"
)
_POINT = re.compile(r"(point|polygon|linestring|multi\w+) ?\(", re.IGNORECASE)
"""The beginning of a place in coordinates (WKT)."""
_TECHNICAL_WORDS = frozenset(
    "image images thumbnail depiction url uri webpage webpages wikilink abstract "
    "comment label guid uuid mid key keys checksum hash revision redirects "
    "disambiguates resource annotation annotations html id ids identifier code codes "
    "isbn zip phone fax email reviewed template schema geolocation latitude longitude "
    "coordinates coordinate geometry polygon wkt notation sameas description "
    "descriptions caption altlabel".split()
)
_TECHNICAL_PHRASES = (
    "same as", "see also", "external link", "postal code", "primary topic",
    "alt label", "viaf", "wiki page",
)  # fmt: skip


@dataclass(frozen=True)
class RelationFacts:
    """One relation's use in questions."""

    kind: Kind
    """What its tails are."""
    years: bool
    """Whether its tails are dates that are years."""
    meaning: float
    """From 0 (technical) to 1: how much its name says to people."""

    @property
    def asked(self) -> float:
        """Its meaning; 0 where nobody asks for its tails."""
        return self.meaning * (self.kind not in UNASKED)


def relation_facts(index: ArcIndex, rng: np.random.Generator) -> list[RelationFacts]:
    """The facts of each relation."""
    graph, half = index.graph, index.n_types // 2
    types = index.keys % max(index.n_types, 1)
    order = np.argsort(types, kind="stable")
    bounds = np.searchsorted(types[order], np.arange(half + 1))
    facts = []
    for relation, name in enumerate(graph.relations):
        low, high = bounds[relation], bounds[relation + 1]
        groups = order[
            low + rng.integers(0, max(high - low, 1), min(SAMPLE, high - low))
        ]
        tails = np.unique(index.random_arc(groups, rng)) if len(groups) else []
        named = [e for e in map(int, tails) if not graph.unnamed_mask[e]]
        names = [graph.entities[e] for e in named]
        kind = tail_kind(names)
        years = kind == "date" and all(map(is_year, names))
        # That each row of a table is a plot says nothing.
        constant = len(groups) >= CONSTANT and len(tails) == 1
        facts.append(RelationFacts(kind, years, 0 if constant else name_meaning(name)))
    return facts


def tail_kind(names: list[str]) -> Kind:
    """What most of some tails are."""
    if not names:
        return "entity"

    def most(count: int) -> bool:
        return count >= 0.9 * len(names)

    if are_flags([name.casefold() for name in names]):
        return "flag"
    if most(sum(is_date(name) or is_year(name) for name in names)):
        return "date"
    if most(sum(quantity_of(name) is not None for name in names)):
        return "number"
    return "text" if most(sum(len(name) > LONG for name in names)) else "entity"


def name_meaning(relation: str) -> float:
    """How much a relation's name says to people: 0 technical, 0.05 a code, up to 1.

    >>> name_meaning("directed_by"), name_meaning("P131"), name_meaning("owl.sameAs")
    (1.0, 0.05, 0.0)
    """
    words = relation_words(relation)
    phrase = " ".join(words)
    if (
        _TECHNICAL.search(relation)
        or _TECHNICAL_WORDS & set(words)
        or any(technical in phrase for technical in _TECHNICAL_PHRASES)
    ):
        return 0.0
    if not words or not any(len(word) > 1 and word.isalpha() for word in words):
        return 0.05
    if len(words) > 5:
        return 0.3
    # A type or label of a topic is asked for less than its other facts.
    rarely = relation.startswith(("common.", "base.")) or is_class_relation(relation)
    return 0.4 if rarely else 1.0


def arc_weights(
    index: ArcIndex, facts: list[RelationFacts], most: int
) -> Float64[np.ndarray, "types"]:
    """Probability weight of each arc type: meaning times the root of its frequency.

    The root lies between people, who ask about frequent relations, and breadth.

    Args:
        index: the arcs of the graph.
        facts: of each relation.
        most: arcs of a group that are few enough to say.
    """
    types = (index.keys % max(index.n_types, 1))[index.sizes <= most]
    counts = np.bincount(types, minlength=index.n_types).astype(np.float64)
    meaning = np.array([fact.asked for fact in facts])
    # Nobody asks what has the height 7.5; a date or a year may be asked about.
    backward = {"number": 0.0, "date": 0.3}
    reverse = [backward.get(fact.kind, 1.0) for fact in facts]
    return np.sqrt(np.minimum(counts, 10_000)) * np.concatenate(
        [meaning, meaning * np.array(reverse)]
    )


def is_sayable(graph: KnowledgeGraph, entity: int) -> bool:
    """Whether an entity's name can stand in a question or an answer."""
    name = graph.entities[entity]
    return (
        not graph.unnamed_mask[entity]
        and len(name) <= LONG
        and any(c.isalnum() for c in name)
        and "://" not in name
        and not name.startswith(("/m/", "www."))
        and _POINT.match(name) is None
    )
