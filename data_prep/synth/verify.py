"""Checks questions against the graph by walking their paths one by one.

It shares no code with the sampling, which follows many paths at once.
"""

from __future__ import annotations

import math

import numpy as np

from data_prep.synth.draft import Draft, Leg, ValueTest
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.values import precision, value_of


def path_end(graph: KnowledgeGraph, leg: Leg) -> set[int]:
    """The entities at the end of a path; there and back loses the topic."""
    entities = {leg.topic}
    for i, link in enumerate(leg.links):
        for arc in link:
            entities = set().union(*(_neighbours(graph, e, arc) for e in entities))
        if i == 1 and link == _back(graph, leg.links[0]):
            entities -= {leg.topic}
    return entities


def _back(graph: KnowledgeGraph, link: tuple[int, ...]) -> tuple[int, ...]:
    """The link that leads back."""
    half = len(graph.relations)
    return tuple((arc + half) % (2 * half) for arc in reversed(link))


def _neighbours(graph: KnowledgeGraph, entity: int, arc: int) -> set[int]:
    """The entities that one arc type leads to."""
    half = len(graph.relations)
    adjacency, far = (graph.by_head, 2) if arc < half else (graph.by_tail, 0)
    _, ids = adjacency.rows(np.array([entity]))
    rows = graph.triplets[ids]
    return set(map(int, rows[rows[:, 1] == arc % half, far]))


def true_answers(graph: KnowledgeGraph, draft: Draft) -> set[int]:
    """The answers that the paths give; topics are none."""
    topics = {leg.topic for leg in draft.legs}
    if draft.shape == "pair":
        return set.intersection(*(path_end(graph, leg) for leg in draft.legs)) - topics
    found = path_end(graph, draft.legs[0]) - {draft.legs[0].topic}
    return (
        found
        if draft.value is None
        else _passing_candidates(graph, draft, draft.value, found)
    )


def _passing_candidates(
    graph: KnowledgeGraph, draft: Draft, value: ValueTest, candidates: set[int]
) -> set[int]:
    """The candidates that pass the test; none unless each has one value."""
    values = {}
    for candidate in candidates:
        literals = _neighbours(graph, candidate, value.relation)
        names = [graph.entities[literal] for literal in literals]
        if len(names) != 1 or math.isnan(value_of(names[0])):
            return set()
        values[candidate] = names[0]
    threshold = value.threshold
    if draft.shape == "comparison" and len(draft.legs) > 1:
        threshold = graph.entities[min(path_end(graph, draft.legs[1]))]
    exact = {precision(name) for name in [*values.values(), *filter(None, [threshold])]}
    if len(exact) > 1:
        return set()
    numbers = {candidate: value_of(name) for candidate, name in values.items()}
    limit = {
        "highest": max(numbers.values(), default=0.0),
        "lowest": min(numbers.values(), default=0.0),
    }.get(value.test)
    if limit is not None:
        best = {c for c, number in numbers.items() if number == limit}
        return best if len(best) == 1 else set()
    limit = value_of(threshold)
    if value.test == "above":
        return {c for c, number in numbers.items() if number > limit}
    return {c for c, number in numbers.items() if number < limit}
