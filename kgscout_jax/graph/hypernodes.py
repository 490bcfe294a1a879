"""Facts that are nodes of a graph, as in figure 2b of KG-RAG.

A triple hypernode bears the whole fact as its name and points to the fact's own head
and tail.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

SUBJECT = "has subject"
OBJECT = "has object"
"""Relations from a hypernode to its head and to its tail."""


def hypernode_mask(graph: KnowledgeGraph) -> Bool[np.ndarray, "e"]:
    """True for the entities that are facts: those with a subject and an object."""
    mask = np.ones(len(graph.entities), bool)
    relations = list(graph.relations)
    for name in (SUBJECT, OBJECT):
        of_relation = np.zeros(len(mask), bool)
        if name in relations:
            triplets = np.asarray(graph.triplets)
            rows = triplets[:, 1] == relations.index(name)
            of_relation[triplets[rows, 0]] = True
        mask &= of_relation
    return mask
