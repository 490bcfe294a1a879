"""The rows without a name that topics share, and what of a question they explain."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.edge_kinds import edge_kind, kind_verbs
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.row_answers import columns_called, rows_with_heads
from kgscout_jax.inference.row_ends import END_VERBS, may_mean_end, verbs_of_end
from kgscout_jax.inference.rows import START_WORDS, Rows, is_plain_number
from kgscout_jax.inference.topic_neighbours import Topic, joined_to
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.text.relation_groups import names_in_group
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.stems import stem
from kgscout_jax.text.values import is_date, quantity_of
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

MAX_ROWS = 1000
"""The most rows of topics that are read."""
_BESIDE = frozenset("money funds cash total all altogether overall".split())
"""Words beside a number: what is transferred, and that it is a sum."""
_STARTS = frozenset(
    map(stem, "join start begin become hire enter move appoint first".split())
)
"""Verbs for what happens on the day when something begins."""


def linked_topics(text: str, graph: KnowledgeGraph, start: SearchStart) -> list[Topic]:
    """The topics of a question that are no classes."""
    links = without_class_topics(text, graph, start).links
    return [Topic.of_link(text, link) for link in links]


def rows_of_topics(
    text: str,
    topics: Sequence[Topic],
    graph: KnowledgeGraph,
    *,
    both_ways: bool = False,
) -> Rows | None:
    """The rows that lead to each topic as an end that a question may mean.

    None without any, and for more than ``MAX_ROWS``.

    Args:
        text: the question.
        topics: of it.
        graph: the graph.
        both_ways: whether what is asked for is the same from both ends.
    """
    if not topics:
        return None
    found: Rows | None = None
    for topic in topics:
        others, steps = joined_to(topic.entity, graph)
        relations, slot = np.unique(steps // 2, return_inverse=True)
        fits = [
            both_ways or may_mean_end(text, topic.name, graph.relation_names[i])
            for i in relations.tolist()
        ]
        others = others[np.array(fits, bool)[slot]]
        rows = rows_with_heads(text, topic, graph)
        others = others if rows is None else np.intersect1d(others, rows)
        found = (found or Rows.among(others, text, graph)).joined(topic, others)
    return found if found and 0 < len(found.rows) <= MAX_ROWS else None


def entities_of(topics: Sequence[Topic]) -> Int[np.ndarray, "t"]:
    """The entities of topics."""
    return np.array([topic.entity for topic in topics])


def name_columns(topics: Sequence[Topic], found: Rows) -> list[int]:
    """The relations of rows to names, but for those to topics."""
    rows = found.triplets
    own = np.unique(rows[np.isin(rows[:, 2], entities_of(topics)), 1])
    return [
        i for i in found.columns if i not in own and found.leads_to_all(_is_name, i)
    ]


def _is_name(name: str) -> bool:
    return quantity_of(name) is None and not is_date(name)


def is_other_end(column: int, topics: Sequence[Topic], found: Rows) -> bool:
    """Whether an edge joins a topic with all that a relation of rows leads to."""
    ends = [joined_to(each, found.graph)[0] for each in entities_of(topics).tolist()]
    tails = found.triplets[found.triplets[:, 1] == column, 2]
    return bool(np.isin(tails, np.concatenate(ends)).all())


def asked_columns(
    nouns: frozenset[str], topics: Sequence[Topic], found: Rows
) -> list[int]:
    """The relations of rows to what nouns ask for: called so, or to the other end."""
    names = name_columns(topics, found)
    called = [i for i in columns_called(nouns, found) if i in names]
    return called or [i for i in names if is_other_end(i, topics, found)]


def doers(verb: str, rows: Rows) -> list[int]:
    """The relations to those who do what a verb says.

    Exporters export, and recipients receive. By another verb of such edges it is where
    they begin.
    """
    graph = rows.graph
    names = {i: graph.relation_names[i] for i in rows.columns}
    called = [
        i
        for i, name in names.items()
        if any(word.startswith(verb) for word in relation_words(name))
        and not rows.leads_to_all(is_plain_number, i)
    ]
    said = called or [i for i, name in names.items() if verb in verbs_of_end(name)]
    verbs = {stem(each) for noun in rows.class_nouns for each in kind_verbs(noun)}
    if said or verb not in verbs:
        return said
    return [i for i in names if _is_head(i, rows)]


def _is_head(column: int, rows: Rows) -> bool:
    """Whether what a relation of rows leads to is the head of the edge of each row."""
    graph = rows.graph
    kinds = [edge_kind(name) for name in graph.relation_names]
    of_kind = [
        i for i, kind in enumerate(kinds) if kind and kind.noun in rows.class_nouns
    ]
    edges = graph.triplets[np.isin(graph.triplets[:, 1], of_kind)].astype(np.int64)
    pairs = edges[:, 0] * len(graph.entities) + edges[:, 2]
    heads = rows.triplets[rows.triplets[:, 1] == column].astype(np.int64)
    others = rows.triplets[rows.triplets[:, 1] != column].astype(np.int64)
    row, first = np.unique(heads[:, 0], return_index=True)
    others = others[np.isin(others[:, 0], row)]
    head = heads[first, 2][np.searchsorted(row, others[:, 0])]
    joined = np.isin(head * len(graph.entities) + others[:, 2], pairs)
    return len(row) == len(rows.rows) and len(np.unique(others[joined, 0])) == len(row)


def unexplained_words(
    found: Rows,
    topics: Sequence[Topic],
    columns: Sequence[int],
    said: Set[str],
    *,
    is_named: bool,
) -> list[str]:
    """Words of the rest of a question that say more than that something joins topics.

    Args:
        found: the rows.
        topics: of the question.
        columns: the relations to what is asked for, and to what is compared.
        said: words that need no explanation, in lower case.
        is_named: whether the names of these relations explain words, too.
    """
    graph, entities = found.graph, entities_of(topics)
    leading = found.triplets[np.isin(found.triplets[:, 2], entities), 1]
    relations = {*np.unique(leading).tolist(), *_edges(entities, graph)}
    asked_for = {graph.relation_names[i] for i in columns}
    names = {graph.relation_names[i] for i in relations}
    names |= asked_for if is_named else set()
    others = [each.name for name in names for each in names_in_group(name)]
    stems = {stem(word) for name in (*names, *others) for word in relation_words(name)}
    stems = stems.union(*map(verbs_of_end, names))
    stems |= {stem(verb) for noun in found.class_nouns for verb in kind_verbs(noun)}
    if any(START_WORDS.intersection(relation_words(name)) for name in asked_for):
        stems |= _STARTS
    return [
        word
        for word in WORD.findall(found.rest.casefold())
        if not (
            word in FUNCTION_WORDS
            or word in said
            or word in _BESIDE
            or stem(word) in stems
            or (found.is_noun(word) and stem(word) not in END_VERBS)
        )
    ]


def _edges(entities: Int[np.ndarray, "t"], graph: KnowledgeGraph) -> list[int]:
    """The relations that join topics to each other."""
    _, ids = graph.by_head.rows(entities)
    triplets = np.asarray(graph.triplets[ids])
    return np.unique(triplets[np.isin(triplets[:, 2], entities), 1]).tolist()
