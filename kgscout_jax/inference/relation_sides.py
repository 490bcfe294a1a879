"""Relations of a graph, and the ends at which a noun says that entities stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.relation_words import split_words
from kgscout_jax.text.stated_relation import named_ends

COLUMNS = {HEAD: 0, TAIL: 2}
"""Of triplets, by end."""
Side = tuple[int, int]
"""A relation, and an end of it."""


def sides_called(noun: Sequence[str], graph: KnowledgeGraph) -> list[Side]:
    """Relations that call what stands at an end so; the tails where both ends are.

    ``award`` calls its tails awards, ``pupil_of`` its heads pupils. A noun is read as
    names of relations are: ``homeworld`` is of two words.

    Args:
        noun: in singular.
        graph: the graph.
    """
    names = graph.relation_names
    words = [word for each in noun for word in split_words(each)]
    ends = named_ends(words, names)
    return [(i, max(each)) for i, each in enumerate(ends) if each]


def triplets_of(graph: KnowledgeGraph, relation: int) -> Int[np.ndarray, "m 3"]:
    """All triplets of a relation."""
    return np.asarray(graph.triplets[graph.triplets[:, 1] == relation])
