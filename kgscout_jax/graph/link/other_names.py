"""Names that triplets give to entities: ``Q183, alt label, Germany``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.opaque_names import IDENTIFIER
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.text.relation_words import relation_words

MOST = 1 << 20
"""So many of them at most are names to link by."""
_RELATIONS = frozenset((
    "name", "alias", "aliases", "alt label", "also known as", "aka", "other name",
    "other names", "alternative name", "alternative names", "alternate name",
    "alternate names", "alternative title", "also called", "synonym", "synonyms",
    "has synonym", "exact synonym", "official name", "full name", "short name",
    "acronym", "nickname", "nicknames",
))  # fmt: skip
"""Phrases of relations whose tails name their heads."""
_PHRASES = (["address"], ["title"], ["label"], ["subject"], ["headline"])
OWN = 0.95
"""Share of addresses that only one entity has, from which on they are names."""
_CODE = re.compile(IDENTIFIER)
_PHRASE = re.compile(r"(?=.*[^\W\d_]{2}).{1,80}")
"""A short text with a word in it."""


def other_names(
    graph: KnowledgeGraph,
) -> tuple[list[tuple[str, int]], Bool[np.ndarray, "e"]]:
    """(name, entity) of each, and the entities that are nothing but such a name.

    >>> triplets = [("Q84", "alias", "London"), ("Q84", "in", "UK")]
    >>> graph = KnowledgeGraph.from_triplets(triplets)
    >>> names, mask = other_names(graph)
    >>> [(name, graph.entities[i]) for name, i in names], int(mask.sum())
    ([('London', 'Q84')], 1)
    """
    only = np.zeros(len(graph.entities), bool)
    words = [*map(relation_words, graph.relation_names)]
    naming = [i for i, each in enumerate(words) if " ".join(each) in _RELATIONS]
    naming += _own_phrases(graph, words)
    # A row of orders, which has no name, goes by its number.
    numbers = [i for i, each in enumerate(words) if each[-1:] == ["id"]]
    if not naming and not numbers:
        return [], only
    relations = graph.triplets[:, 1]
    of_rows = np.flatnonzero(np.isin(relations, numbers))
    heads, _, tails = np.asarray(graph.triplets[of_rows]).T
    own = graph.unnamed_mask[heads] & (graph.by_tail.degrees(tails) == 1)
    ids = np.union1d(np.flatnonzero(np.isin(relations, naming)), of_rows[own])
    if not 0 < len(ids) <= MOST:
        return [], only
    heads, _, tails = np.asarray(graph.triplets[ids]).T
    texts = dict(zip(tails.tolist(), texts_of(graph.entities, tails), strict=True))
    named = np.bincount(tails, minlength=len(only))
    degrees = np.diff(graph.by_tail.offsets) + np.diff(graph.by_head.offsets)
    only[tails] = named[tails] == degrees[tails]
    pairs = zip(tails.tolist(), heads.tolist(), strict=True)
    return [(texts[tail], head) for tail, head in pairs if tail != head], only


def _own_phrases(graph: KnowledgeGraph, words: Sequence[Sequence[str]]) -> list[int]:
    """Relations that give each of their heads, all called by codes, its own phrase.

    People ask for the listing HX-17 by its address. Such a relation is an address or
    title, and its tails stand nowhere else.
    """
    likely = [i for i, each in enumerate(words) if each[-1:] in _PHRASES]
    found = []
    for relation in likely:
        ids = np.flatnonzero(graph.triplets[:, 1] == relation)
        heads, _, tails = np.asarray(graph.triplets[ids]).T
        own = (graph.by_tail.degrees(tails) == 1) & (graph.by_head.degrees(tails) == 0)
        if len(ids) > MOST or own.mean() < OWN or len(np.unique(heads)) < len(heads):
            continue
        codes = texts_of(graph.entities, heads)
        phrases = texts_of(graph.entities, tails)
        if all(map(_CODE.fullmatch, codes)) and all(map(_PHRASE.fullmatch, phrases)):
            found.append(relation)
    return found
