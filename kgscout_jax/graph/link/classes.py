"""Entities that are classes: ``River``, where a triplet says that the Rhine is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from kgscout_jax.text.relation_words import is_class_relation

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

MAX_TRIPLETS = 1000
"""The most triplets of an entity that are read to tell whether it is a class."""


def is_class(graph: KnowledgeGraph, entity: int) -> bool:
    """Whether a triplet says of something that ``entity`` is its class."""
    _, ids = graph.by_tail.rows(np.array([entity]))
    relations = np.unique(graph.triplets[ids[:MAX_TRIPLETS], 1]).tolist()
    return any(is_class_relation(graph.relation_names[each]) for each in relations)


def is_class_of_rows(graph: KnowledgeGraph, entity: int) -> bool:
    """Whether all that is said of ``entity`` is that rows without a name are of it."""
    _, own = graph.by_head.rows(np.array([entity]))
    _, ids = graph.by_tail.rows(np.array([entity]))
    triplets = graph.triplets[ids[:MAX_TRIPLETS]]
    return (
        not len(own)
        and len(ids) > 0
        and bool(graph.unnamed_mask[triplets[:, 0]].all())
        and is_class(graph, entity)
    )


def tails_of(graph: KnowledgeGraph, entity: int) -> Int[np.ndarray, "t"]:
    """What triplets lead to from an entity."""
    _, ids = graph.by_head.rows(np.array([entity]))
    return np.asarray(graph.triplets[ids[:MAX_TRIPLETS], 2])
