"""Facts that are nodes of a graph, as in figure 2b of KG-RAG.

A triple hypernode bears the whole fact as its name and points to the fact's own head
and tail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

SUBJECT = "has subject"
OBJECT = "has object"
"""Relations from a hypernode to its head and to its tail."""


def hypernode_mask(graph: KnowledgeGraph) -> Bool[np.ndarray, "e"]:
    """True for the entities that are facts: they have a subject and an object."""
    relations = list(graph.relations)

    def heads(relation: str) -> Bool[np.ndarray, "e"]:
        mask = np.zeros(len(graph.entities), bool)
        if relation in relations:
            triplets = np.asarray(graph.triplets)
            rows = triplets[:, 1] == relations.index(relation)
            mask[triplets[rows, 0]] = True
        return mask

    return heads(SUBJECT) & heads(OBJECT)
