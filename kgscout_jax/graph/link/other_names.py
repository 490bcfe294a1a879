"""Names that triplets give to entities: ``Q183, alt label, Germany``."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.text.relation_words import relation_words

MOST = 1 << 20
"""So many of them at most are names to link by."""
_RELATIONS = frozenset((
    "name", "alias", "aliases", "alt label", "also known as", "aka", "other name",
    "other names", "alternative name", "alternative names",
))  # fmt: skip
"""Phrases of relations whose tails name their heads."""


def other_names(
    graph: KnowledgeGraph,
) -> tuple[list[tuple[str, int]], Bool[np.ndarray, "e"]]:
    """(name, entity) of each, and the entities that are nothing but such a name.

    >>> triplets = [("Q84", "alias", "London"), ("Q84", "in", "UK")]
    >>> graph = KnowledgeGraph.from_triplets(triplets)
    >>> names, mask = other_names(graph)
    >>> [(name, graph.entities[i]) for name, i in names], mask.sum()
    ([('London', 'Q84')], 1)
    """
    only = np.zeros(len(graph.entities), bool)
    relations = [
        i
        for i, name in enumerate(graph.relation_names)
        if " ".join(relation_words(name)) in _RELATIONS
    ]
    if not relations:
        return [], only
    ids = np.flatnonzero(np.isin(graph.triplets[:, 1], relations))
    if not 0 < len(ids) <= MOST:
        return [], only
    heads, _, tails = np.asarray(graph.triplets[ids]).T
    texts = dict(zip(tails.tolist(), texts_of(graph.entities, tails), strict=True))
    named = np.bincount(tails, minlength=len(only))
    degrees = np.diff(graph.by_tail.offsets) + np.diff(graph.by_head.offsets)
    only[tails] = named[tails] == degrees[tails]
    pairs = zip(tails.tolist(), heads.tolist(), strict=True)
    return [(texts[tail], head) for tail, head in pairs if tail != head], only
