"""What the row says that joins two topics: when Ann joined Acme, how much Bo paid Cy.

A property of an edge, or a cell of a table of events, stands in a row without a name
that both ends share. A walk passes that row from either end, and does not know that the
question names both. Of one topic "how much" asks for the sum over its rows.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.aggregate import aggregate_number, column_of
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.row_answers import Rows
from kgscout_jax.inference.row_ends import END_VERBS, may_mean_end, verbs_of_end
from kgscout_jax.inference.topic_neighbours import Topic, joined_to
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.text.aggregate_question import AggregateQuestion
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.measure_question import MeasureQuestion, measure_question
from kgscout_jax.text.relation_groups import names_in_group
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.stems import stem
from kgscout_jax.text.value_words import measured_keys, says_when
from kgscout_jax.text.values import is_date, is_year, quantity_of
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

MAX_ROWS = 10
"""The most rows that topics share; more are no answer to a question about one."""
MAX_SUM = 1000
"""The most rows of one topic that are added up."""
_BESIDE = frozenset("money funds cash total all altogether overall".split())
"""Words beside a number: what is transferred, and that it is a sum."""
_START = frozenset("since start started from begin began joined hired".split())
_STARTS = frozenset(
    map(stem, "join start begin become hire enter move appoint first".split())
)
"""Relations to the day on which something begins, and verbs for that."""


def joined_row_values(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """A value of the rows that join all topics; None where none is surely asked for.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    asked = measure_question(text)
    if asked is None or not graph.unnamed_mask.any():
        return None
    links = without_class_topics(text, graph, start).links
    topics = [Topic.of_link(text, link) for link in links]
    found = _shared_rows(asked, topics, Rows.of(text, graph))
    if found is None:
        return None
    # What was received is no matter of rows that say who owns what.
    fitting = [
        (rows, columns[0])
        for rows in found.by_class()
        if len(columns := _columns(asked, rows)) == 1
        and not _unexplained(asked, topics, columns[0], rows)
    ]
    named = [each for each in fitting if each[0].class_nouns]
    if len(fitting) != 1 and len(named) != 1:
        return None
    rows, column = (named or fitting)[0]
    values = rows.triplets[rows.triplets[:, 1] == column]
    if asked.is_any and len(values) > 1:
        return _sum(column, values, graph)
    answers = EntitySet.of(
        np.unique(values[:, 2]), (column, TAIL), MATCH_PROBABILITY, counted=False
    )
    return answers and answers.shown_by(rows.rows, column)


def _sum(
    column: int, values: Int[np.ndarray, "m 3"], graph: KnowledgeGraph
) -> EntitySet | None:
    """The sum of what several rows say."""
    asked = AggregateQuestion("sum", "total", (), "")
    numbers = texts_of(graph.entities, values[:, 2])
    number = aggregate_number(asked, numbers, column_of(column, graph))
    side = column, HEAD
    answers = EntitySet.of(values[:, 0], side, MATCH_PROBABILITY, counted=True)
    return answers.with_number(number) if answers and number else None


def _shared_rows(
    asked: MeasureQuestion, topics: list[Topic], found: Rows
) -> Rows | None:
    """The rows that lead to each topic, as an end that the question may mean.

    None without any. One topic has rows enough for a sum only.

    Args:
        asked: what is asked for.
        topics: the topics.
        found: all rows.
    """
    graph = found.graph
    for topic in topics:
        others, steps = joined_to(topic.entity, graph)
        fits = [
            asked.is_length or may_mean_end(found.text, topic.name, name)
            for name in (graph.relation_names[i] for i in (steps // 2).tolist())
        ]
        found = found.joined(topic, others[np.array(fits, bool)])
    most = MAX_ROWS if len(topics) > 1 else MAX_SUM * asked.is_any * len(topics)
    return found if 0 < len(found.rows) <= most else None


def _columns(asked: MeasureQuestion, found: Rows) -> list[int]:
    """The relations of the rows to what is asked for."""
    names = found.graph.relation_names
    if asked.at_time:
        days = [i for i in found.columns if found.leads_to_all(is_date, i)]
        years = [
            i
            for i in found.columns
            if found.leads_to_all(is_year, i)
            and (says_when(names[i]) or _START.intersection(relation_words(names[i])))
        ]
        return days or years
    numbers = [
        i
        for i in found.columns
        if found.leads_to_all(_is_number, i) and not says_when(names[i])
    ]
    said = [i for i in numbers if measured_keys(names[i]) & asked.keys]
    return said or (numbers if asked.is_any else [])


def _is_number(name: str) -> bool:
    return quantity_of(name) is not None and not is_date(name)


def _unexplained(
    asked: MeasureQuestion, topics: list[Topic], column: int, found: Rows
) -> list[str]:
    """Words of the question that say more than that something joins the topics."""
    graph = found.graph
    entities = np.array([topic.entity for topic in topics])
    leading = found.triplets[np.isin(found.triplets[:, 2], entities), 1]
    relations = {*np.unique(leading).tolist(), *_edges(entities, graph)}
    names = [graph.relation_names[i] for i in relations]
    others = [each.name for name in names for each in names_in_group(name)]
    stems = {stem(word) for name in (*names, *others) for word in relation_words(name)}
    stems = stems.union(*map(verbs_of_end, names))
    if _START.intersection(relation_words(graph.relation_names[column])):
        stems |= _STARTS
    return [
        word
        for word in WORD.findall(found.rest.casefold())
        if not (
            word in FUNCTION_WORDS
            or word in asked.words
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
