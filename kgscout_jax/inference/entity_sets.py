"""Questions that are answered over the whole graph: the most, those without, all."""

from __future__ import annotations

import re
from dataclasses import replace

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.aggregate import aggregate_of
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.complement import complement_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.joined_rows import joined_row_values
from kgscout_jax.inference.listing import listing_of
from kgscout_jax.inference.row_answers import row_answers
from kgscout_jax.inference.row_totals import largest_total
from kgscout_jax.inference.tally import tally_of
from kgscout_jax.inference.tested_rows import tested_rows
from kgscout_jax.inference.topic_neighbours import Topic
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.text.topic_clause import without_topic_clause

_SAID = re.compile(r"\b(?:most|no|not|without)\b|n['’]t\b", re.IGNORECASE)
"""Words without which nothing is counted or taken away."""


def entity_set(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """The entities that answer a question; None where a walk must find them.

    A walk starts from the topics that a caller names.

    Args:
        text: the question.
        graph: the whole graph.
        start: its topics.
    """
    by_caller = len(start.ids) > 0 and not start.links
    if start.unknown or start.absent or by_caller or not len(graph):
        return None
    found = (
        aggregate_of(text, graph, start)
        or largest_total(text, graph)
        or tally_of(text, graph)
        or complement_of(text, graph, start)
        or listing_of(text, graph)
        or row_answers(text, graph, start)
        or tested_rows(text, graph, start)
        or joined_row_values(text, graph, start)
    )
    return found or _beside_topic(text, graph, start)


def _beside_topic(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """The entities among those that one relation joins to a topic.

    "Which country in Africa has the most airports", "Thai dishes without egg".
    """
    if not _SAID.search(text):
        return None
    for link in without_class_topics(text, graph, start).links:
        short = without_topic_clause(text, link.start, link.stop)
        if short is None:
            continue
        rest = replace(start, links=tuple(x for x in start.links if x != link))
        topic = Topic.of_link(text, link)
        found = tally_of(short, graph, topic) or complement_of(
            short, graph, rest, topic
        )
        if found:
            return found
    return None
