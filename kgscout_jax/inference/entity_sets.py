"""Questions that are answered over the whole graph: the most, those without, all."""

from __future__ import annotations

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.complement import complement_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.listing import listing_of
from kgscout_jax.inference.tally import tally_of
from kgscout_jax.inference.topics import SearchStart


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
    return (
        tally_of(text, graph)
        or complement_of(text, graph, start)
        or listing_of(text, graph)
    )
