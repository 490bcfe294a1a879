"""Members of a class that lack something: "which tasks have no owner".

A walk finds what is joined to a topic, never what is not. Where the graph says of what
class each entity is, those that are not joined are the other members.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_members import class_members
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.graph_flags import flags_of
from kgscout_jax.inference.relation_sides import COLUMNS, sides_called, triplets_of
from kgscout_jax.inference.topic_neighbours import Topic, joined_by_one
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.text.absence import Absence, absence
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.words import WORD

PROBABILITY = 0.8
"""What the graph does not say may be so all the same."""
_PLAIN = frozenset("in at on from of have".split())
"""Predicates that any relation may mean."""


def complement_of(
    text: str, graph: KnowledgeGraph, start: SearchStart, topic: Topic | None = None
) -> EntitySet | None:
    """The members that lack what a question says; None for other questions.

    Args:
        text: the question, without the topic of those that it asks for.
        graph: the graph.
        start: its other topics.
        topic: what those are joined to; None: nothing.
    """
    flags = flags_of(text, graph)
    asked = absence(flags.rest)
    if asked is None:
        return None
    found = class_members(asked.members, graph)
    if found is None:
        return None
    relation, members = found
    if flags.holders is not None:
        members = np.intersect1d(members, flags.holders)
    if topic is not None:
        members = joined_by_one(members, text, graph, topic, 0)
    shown, end, lacking = relation, HEAD, None
    if asked.lacking:
        lacking = _without(asked, graph, members)
    if lacking is None:
        apart = _not_joined(asked, graph, start, members)
        if apart is None:
            return None
        shown, end, lacking = apart
    counted = asks_for_count(text)
    return EntitySet.of(lacking, (shown, end), PROBABILITY, counted=counted)


def _without(
    asked: Absence, graph: KnowledgeGraph, members: Int[np.ndarray, "m"]
) -> Int[np.ndarray, "k"] | None:
    """The members that have nothing by the one relation that is called so."""
    said = sides_called(asked.lacking, graph)
    if len(said) != 1:
        return None
    ((relation, end),) = said
    has = np.isin(members, triplets_of(graph, relation)[:, COLUMNS[1 - end]])
    return members[~has] if has.any() else None


def _not_joined(
    asked: Absence,
    graph: KnowledgeGraph,
    start: SearchStart,
    members: Int[np.ndarray, "m"],
) -> tuple[int, int, Int[np.ndarray, "k"]] | None:
    """The relation that joins some members to the topic, their end, and the others.

    Those of which nothing is said by that relation are left out.
    """
    predicate = asked.predicate or " ".join(("have", *asked.lacking))
    links = [x for x in start.links if x.name.casefold() not in asked.members]
    said = [x for x in links if predicate.endswith(x.name.casefold())]
    if len(said) != 1:
        return None
    topic = said[0]
    rest = WORD.findall(predicate.removesuffix(topic.name.casefold()))
    forms = frozenset[str]().union(*map(word_forms, rest))
    found = []
    for end, adjacency in ((HEAD, graph.by_tail), (TAIL, graph.by_head)):
        _, ids = adjacency.rows(np.array([topic.entity]))
        rows = np.asarray(graph.triplets[ids])
        joined = rows[np.isin(rows[:, COLUMNS[end]], members)]
        for relation in np.unique(joined[:, 1]).tolist():
            fits = forms & relation_forms(graph.relation_names[relation])
            if fits or _PLAIN.issuperset(rest):
                own = joined[joined[:, 1] == relation]
                found.append((relation, end, own[:, COLUMNS[end]]))
    if len(found) != 1:
        return None
    relation, end, joined = found[0]
    rows = triplets_of(graph, relation)
    known = members[np.isin(members, rows[:, COLUMNS[end]])]
    return relation, end, np.setdiff1d(known, joined)
