"""Days that a question's year is linked to: "in 2020" is no one of its days."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.compared_values import MAX_VALUES
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.unit_relations import MAX_SAMPLE
from kgscout_jax.text.values import is_date, is_year, value_of


def without_days_of_years(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> SearchStart:
    """The start without days of a year that the question names, where it has others.

    The same object where there are none.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    days = [
        link.entity
        for link in start.links
        if is_year(text[link.start : link.stop])
        and is_date(link.name)
        and _has_other_days(link, graph)
    ]
    if not days:
        return start
    return replace(
        start,
        ids=start.ids[~np.isin(start.ids, days)],
        links=tuple(link for link in start.links if link.entity not in days),
    )


def _has_other_days(link: Link, graph: KnowledgeGraph) -> bool:
    """Whether a relation that leads to a day leads to another one of its year."""
    _, ids = graph.by_tail.rows(np.array([link.entity]))
    relations = np.unique(graph.triplets[ids, 1])
    triplets = np.asarray(graph.triplets[:MAX_SAMPLE])
    tails = triplets[np.isin(triplets[:, 1], relations), 2][:MAX_VALUES]
    tails = np.setdiff1d(tails, [link.entity])
    year = int(value_of(link.name))
    names = [name for name in texts_of(graph.entities, tails) if is_date(name)]
    return any(int(value_of(name)) == year for name in names)
