"""Values that a question compares and that its candidates leave out.

"Which firm in Madrid has the most employees" needs the number of employees of every
firm there. They are a step beyond the answers, and too many for the cut. After the
network has scored the candidates, the values of the likely answers join them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.more_candidates import with_triplets
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.inference.search import Search
from kgscout_jax.inference.whole_graph import is_limit
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.values import quantity_of, value_of

NODES = 128
"""The most nodes whose values are looked up."""
DEGREE = 2_000
"""Nodes of more triplets have no values that are looked up."""


def without_limits(search: Search) -> Candidates | None:
    """The candidates, with the walk starting from no topic that is only a limit.

    "Films of Mann after 1990" starts at Mann, even where 1990 is an entity.
    """
    found, asked = search.candidates, search.compared
    if found is None or asked is None or asked.is_superlative:
        return found

    of_number = {
        link.entity for link in search.start.links if is_limit(search.text, link, asked)
    }

    limits = [value_of(limit) for limit in asked.limits]

    def is_only_limit(entity: int) -> bool:
        if asked.rival is not None:
            return entity == asked.rival
        value = value_of(str(search.graph.entities[entity]))
        return entity in of_number or value in limits

    mask = np.array([is_only_limit(int(found.entities[n])) for n in found.topics], bool)
    if mask.all():
        return found
    return dataclasses.replace(found, topics=found.topics[~mask])


def with_values(
    search: Search, candidates: Candidates, scores: Scores
) -> tuple[Candidates, Scores]:
    """The candidates and scores with the values that the question compares.

    There may be more candidates then than the network takes.

    Args:
        search: of the question.
        candidates: of the question.
        scores: of the candidates.
    """
    asked = search.compared
    if asked is None or scores.nodes is None:
        return candidates, scores
    ids = value_triplets(asked, search.graph, candidates, scores)
    if not len(ids):
        return candidates, scores
    return with_triplets(search, candidates, scores, ids)


def value_triplets(
    asked: ValueQuestion,
    graph: KnowledgeGraph,
    candidates: Candidates,
    scores: Scores,
) -> Int[np.ndarray, "k"]:
    """Triplets from the likely answers to their values that are no candidates yet."""
    assert scores.nodes is not None
    likely = np.argsort(-scores.nodes, kind="stable")[:NODES]
    named = [
        entity
        for entity in (asked.rival, asked.subject, *asked.choice)
        if entity is not None
    ]
    entities = np.union1d(candidates.entities[likely], named).astype(np.int64)
    entities = entities[graph.by_head.degrees(entities) <= DEGREE]
    if not len(entities):
        return np.empty(0, np.int32)
    _, ids = graph.by_head.rows(entities)
    relation = np.asarray(graph.triplets[ids, 1])
    relations = np.unique(relation).tolist()
    fitting = [r for r in relations if asked.may_mean(graph.relation_names[r])]
    ids = ids[np.isin(relation, fitting)]
    ids = ids[~np.isin(ids, candidates.ids)]
    tails = np.asarray(graph.triplets[ids, 2]).tolist()
    real = [quantity_of(str(graph.entities[tail])) is not None for tail in tails]
    return np.sort(ids[np.array(real, bool)])
