"""What the row says that joins two topics: when Ann joined Acme, how much Bo paid Cy.

A property of an edge, or a cell of a table of events, stands in a row without a name
that both ends share. A walk passes that row from either end, and does not know that the
question names both. Of one topic "how much" asks for the sum over its rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.aggregate import aggregate_number, column_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.rows import Rows
from kgscout_jax.inference.topic_neighbours import Topic
from kgscout_jax.inference.topic_rows import (
    MAX_ROWS,
    asked_columns,
    doers,
    entities_of,
    is_other_end,
    linked_topics,
    name_columns,
    rows_of_topics,
    unexplained_words,
)
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.retrieve.kind_weights import kind_weights
from kgscout_jax.text.aggregate_question import AggregateQuestion
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import HEAD, KINDS, TAIL, Kind
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words
from kgscout_jax.text.row_question import RowQuestion, row_question
from kgscout_jax.text.stems import stem
from kgscout_jax.text.value_words import measured_keys
from kgscout_jax.text.values import date_parts, is_year
from kgscout_jax.text.words import WORD

MAX_SHARED = 10
"""The most rows that topics share; more are no answer to a question about one."""
_YEAR = re.compile(r"\b(?:in|during|of|for) ((?:1\d|20)\d\d)\b")


def joined_row_values(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """What the rows hold that join all topics; None where it is not surely asked for.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    asked = row_question(text)
    if asked is None or not graph.unnamed_mask.any():
        return None
    topics = linked_topics(text, graph, start)
    found = rows_of_topics(text, topics, graph, both_ways=asked.is_length)
    found = found and _few_rows(asked, topics, found)
    if not found:
        return None
    # What was received is no matter of rows that say who owns what.
    is_named = asked.form == "name"
    fitting = [
        (rows, columns[0])
        for rows in found.by_class()
        if len(columns := _columns(asked, topics, rows)) == 1
        and not unexplained_words(rows, topics, columns, asked.words, is_named=is_named)
    ]
    named = [each for each in fitting if each[0].class_nouns]
    if len(fitting) != 1 and len(named) != 1:
        return None
    rows, column = (named or fitting)[0]
    values = rows.triplets[rows.triplets[:, 1] == column]
    if asked.is_any and len(values) > 1:
        return _sum(column, values, graph)
    if len(topics) == 1 and asked.form == "time" and len(np.unique(values[:, 2])) > 1:
        return None
    return rows.answers(rows.rows, column, column)


def _sum(
    column: int, values: Int[np.ndarray, "m 3"], graph: KnowledgeGraph
) -> EntitySet | None:
    """The sum of what several rows say."""
    asked = AggregateQuestion("sum", "total", (), "")
    texts = texts_of(graph.entities, values[:, 2])
    number = aggregate_number(asked, texts, column_of(column, graph))
    side = column, HEAD
    answers = EntitySet.of(values[:, 0], side, MATCH_PROBABILITY, counted=True)
    return answers.with_number(number) if answers and number else None


def _few_rows(asked: RowQuestion, topics: Sequence[Topic], found: Rows) -> Rows | None:
    """The rows of the year that a question names; None for too many.

    One topic has rows enough for a sum, for a day, with a year, and for what is done,
    see ``_asks_object``.
    """
    if match := _YEAR.search(found.rest):
        found, most = _of_year(match, found), MAX_SHARED
    elif len(topics) > 1:
        most = MAX_SHARED
    else:
        is_open = asked.is_any or asked.form == "time"
        is_open = is_open or (asked.form == "name" and _asks_object(topics, found))
        most = MAX_ROWS if is_open else 0
    return found if 0 < len(found.rows) <= most else None


def _of_year(match: re.Match[str], found: Rows) -> Rows:
    """The rows with a day of a year, or with the year."""
    year = int(match[1])
    rows = found.triplets[np.isin(found.triplets[:, 1], found.times)]
    names = texts_of(found.graph.entities, rows[:, 2])
    kept = np.array([_year_of(name) == year for name in names], bool)
    rest = found.rest[: match.start()] + found.rest[match.end() :]
    return found.with_rows(np.unique(rows[kept, 0]), rest)


def _year_of(name: str) -> int | None:
    parts = date_parts(name)
    return int(name) if is_year(name) else parts[0] if parts else None


def _asks_object(topics: Sequence[Topic], found: Rows) -> bool:
    """Whether a question for a name asks for what is done, and not for whom.

    "What does X export" is not what X ``EXPORTS_TO``, without the preposition.
    """
    graph = found.graph
    _, ids = graph.by_head.rows(entities_of(topics))
    relations = np.unique(graph.triplets[ids, 1]).tolist()
    names = [relation_words(graph.relation_names[each]) for each in relations]
    said = {*WORD.findall(found.rest.casefold())}
    stems = {stem(word) for word in said}
    return any(
        len(name) > 1 and name[-1] in PREPOSITIONS - said and stem(name[0]) in stems
        for name in names
    )


def _columns(asked: RowQuestion, topics: Sequence[Topic], found: Rows) -> list[int]:
    """The relations of the rows to what is asked for."""
    if asked.form == "time":
        return found.times
    if asked.has_noun:
        return _called(topics, found)
    if asked.form == "name":
        return _names(asked.kind, topics, found)
    numbers, names = found.numbers, found.graph.relation_names
    for key in asked.keys:
        if said := [i for i in numbers if key in measured_keys(names[i])]:
            return said
    return numbers if asked.is_any else []


def _called(topics: Sequence[Topic], found: Rows) -> list[int]:
    """The relations to what a noun asks for.

    They are called so, or lead to the other end, or to who does what the verb says.
    """
    kind = asked_kind(found.text, found.names)
    if kind is None:
        return []
    asked_for = asked_columns(kind.nouns, topics, found)
    if asked_for or " by " in found.rest:
        return asked_for
    verbs = map(stem, WORD.findall(found.rest.casefold()))
    by_verb = {i for verb in verbs for i in doers(verb, found)}
    return [i for i in name_columns(topics, found) if i in by_verb]


def _names(kind: Kind | None, topics: Sequence[Topic], found: Rows) -> list[int]:
    """The relations to names of a kind, beside those to the topics.

    Who somebody is is said by the other end of an edge, and what is done by no end.
    Where something was by a relation such as ``met_in``.
    """

    def fits(relation: int) -> bool:
        name = found.graph.relation_names[relation]
        is_end = is_other_end(relation, topics, found)
        if kind is None:
            return not is_end
        if kind == "person" and is_end:
            return True
        is_place = kind == "place" and relation_words(name)[-1:][0] in PREPOSITIONS
        return is_place or kind_weights(name)[TAIL, KINDS.index(kind)] > 0

    return [i for i in name_columns(topics, found) if fits(i)]
