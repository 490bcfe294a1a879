"""Relations that lead to yes and no: what is true or false of their heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

TRUE = frozenset("yes true y t checked x ja oui wahr vrai sí si sì".split())
"""Names that mean yes, casefolded, as spreadsheets and databases write them."""
FALSE = frozenset("no false n f unchecked nein non falsch faux".split())


def are_flags(values: Sequence[str]) -> bool:
    """Whether casefolded values are all yes or no."""
    return (TRUE | FALSE).issuperset(values)


def flag_relations(graph: KnowledgeGraph) -> list[int]:
    """The relations all of whose tails are yes or no.

    >>> from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    >>> triplets = [("Soup", "hot", "yes"), ("Soup", "in", "Bern")]
    >>> graph = KnowledgeGraph.from_triplets(triplets)
    >>> [graph.relations[i] for i in flag_relations(graph)]
    ['hot']
    """
    values = graph.find_all(sorted(TRUE | FALSE))
    if not len(values):
        return []
    _, ids = graph.by_tail.rows(values)
    of_values = np.bincount(graph.triplets[ids, 1], minlength=len(graph.relations))
    if not of_values.any():
        return []
    of_all = np.bincount(graph.triplets[:, 1], minlength=len(graph.relations))
    return np.flatnonzero((of_values > 0) & (of_values == of_all)).tolist()
