"""What an entity is by its classes, and by theirs."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.subclasses import is_class_step

MAX_CLASSES = 10_000
"""Entities from which on no more classes are looked for."""


def classes_of(
    graph: KnowledgeGraph, entities: Int[np.ndarray, "n"]
) -> Int[np.ndarray, "m"]:
    """The classes of entities, their wider classes, and so on; sorted.

    Args:
        graph: with relations such as ``type`` and ``subclass_of``.
        entities: where to begin.
    """
    steps = [i for i, name in enumerate(graph.relations) if is_class_step(str(name))]
    begun = found = np.unique(entities)
    edge = found
    while len(edge) and len(found) < MAX_CLASSES:
        _, ids = graph.by_head.rows(edge)
        rows = np.asarray(graph.triplets[ids])
        beyond = rows[np.isin(rows[:, 1], steps), 2]
        edge = np.setdiff1d(beyond, found)
        found = np.union1d(found, edge)
    return np.setdiff1d(found, begun)
