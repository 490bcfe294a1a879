"""Titles without what follows them: people say "GloVe" of "GloVe: Global Vectors", and
"Ruby" of "Ruby (programming language)"."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of

VERSION = "main titles 3"
"""Changes with the titles that are found: stored indexes are built again."""
MOST = 1 << 20
"""Entities of the largest graph of which the names are read."""
_END, _BRACKET = ": ", " ("
_WITH_ID = re.compile(r"([^()]+) \((?![12]\d{3}\))[^\s()]*[\d#:/_][^\s()]*\)")
"""A name and the id of its entity, which graphs add where another has the name."""
NAMESAKES = 4
"""Entities of one name from which on a question means no more than the first."""
_LONGEST = 60
"""Characters of a title; what is longer before a colon is a sentence."""


def main_titles(graph: KnowledgeGraph) -> list[tuple[str, int]]:
    """(main title, entity) of the entities of which triplets tell something.

    Titles that several share, and names of other entities, are none, unless all but
    one have an id behind them: then they are but called alike, see ``NAMESAKES``.

    >>> triplets = [("GloVe: Global Vectors", "year", "2014"), ("Life: A", "year", "1")]
    >>> graph = KnowledgeGraph.from_triplets([*triplets, ("Life: B", "year", "2")])
    >>> [(title, graph.entities[i]) for title, i in main_titles(graph)]
    [('GloVe', 'GloVe: Global Vectors')]
    >>> graph = KnowledgeGraph.from_triplets([("Ruby (language)", "year", "1995")])
    >>> [title for title, _ in main_titles(graph)]
    ['Ruby']
    """
    if len(graph.entities) > MOST:
        return []
    heads = np.flatnonzero(np.diff(graph.by_head.offsets))
    found: defaultdict[str, list[int]] = defaultdict(list)
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for entity, name in zip(
        heads.tolist(), texts_of(graph.entities, heads), strict=True
    ):
        if name.endswith(")") and (own := _WITH_ID.fullmatch(name)):
            alike[own[1]].append(entity)
            continue
        title, end, _ = name.partition(_END)
        if not end and name.endswith(")"):
            title, end, _ = name.partition(_BRACKET)
            end = end if len(title) > 2 else ""  # "go" is no name
        if end and 1 < len(title) <= _LONGEST and any(map(str.isalpha, title)):
            found[title].append(entity)
    titles = [
        (title, entities[0])
        for title, entities in found.items()
        if len(entities) == 1 and graph.find(title) is None
    ]
    return titles + [
        (name, entity)
        for name, entities in alike.items()
        if len(entities) < NAMESAKES and graph.find(name) is not None
        for entity in entities
    ]
