"""What rows without a name say over a whole graph: sales, matches, figures by year.

"Which country had the highest life expectancy in 2005" compares rows of 2005, and asks
for what one column of the winning row holds. "How many orders did Acme place" counts
rows, and "the total quantity of lamps" adds up those with a lamp.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.classes import is_class
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.aggregate import aggregate_number, column_of
from kgscout_jax.inference.compared_values import test_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.row_ends import may_mean_end
from kgscout_jax.inference.rows import Rows, is_plain_number
from kgscout_jax.inference.topic_neighbours import (
    Topic,
    joined_to,
    relation_before,
    without_topic,
)
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.retrieve.record_nodes import in_singular, leads_to
from kgscout_jax.retrieve.value_test import WEIGHTS
from kgscout_jax.text.aggregate_question import aggregate_question
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.count_question import as_how_many, asks_for_count
from kgscout_jax.text.kinds import HEAD, base_noun, singular
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.value_words import relation_keys, word_key
from kgscout_jax.text.values import is_year, quantity_of
from kgscout_jax.text.words import WORD

MAX_TRIPLETS = 500_000
"""Graphs of more are not read as a whole."""
MAX_ROWS = 20_000
"""The most rows whose columns are searched for what a question names."""


def row_answers(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """What rows say; None for other questions, and where they do not tell.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    asks = asks_for_count(text) or aggregate_question(text) is not None
    asked = value_question(text, [])
    if not asks and (asked is None or not asked.is_superlative):
        return None
    if len(graph) > MAX_TRIPLETS or not graph.unnamed_mask.any():
        return None
    found = _rows_of(text, graph, start)
    if found is None or not len(found.rows):
        return None
    said = frozenset(map(base_noun, WORD.findall(found.rest.casefold())))
    found = found.of_class(said)
    if asks_for_count(text):
        return _number_of(text, found)
    return _aggregate(text, found) or _winner(text, found)


def _rows_of(text: str, graph: KnowledgeGraph, start: SearchStart) -> Rows | None:
    """The rows with all that a question names; None where other nodes have it."""
    found = Rows.of(text, graph)
    for link in start.links:
        topic = Topic.of_link(text, link)
        if found.is_noun(topic.name) or _calls_column(topic, found):
            continue
        joined = _joined(topic, found)
        if joined is None:
            return None
        found = joined
    if len(found.rows) > MAX_ROWS:
        return found
    tails = np.setdiff1d(found.triplets[:, 2], found.rows)
    said = in_singular(found.rest.casefold())
    names = dict(zip(tails.tolist(), texts_of(graph.entities, tails), strict=True))
    for entity, name in sorted(names.items(), key=lambda pair: -len(pair[1])):
        plain = in_singular(name.casefold())
        if quantity_of(name) is not None or not plain.strip() or plain not in said:
            continue
        joined = None if found.is_noun(name) else _joined(Topic(entity, name), found)
        if joined is not None:
            found, said = joined, said.replace(plain, " ")
    return found


def _joined(topic: Topic, found: Rows) -> Rows | None:
    """The rows that hold a topic; None where none do, or in several senses."""
    graph = found.graph
    others, steps = joined_to(topic.entity, graph)
    inside = np.isin(others, found.rows) & (steps % 2 == 0)
    rows = rows_with_heads(found.text, topic, graph)
    if rows is not None:
        inside &= np.isin(others, rows)
    others, steps = others[inside], steps[inside] // 2
    names = graph.relation_names
    relations = np.unique(steps).tolist()
    relations = [i for i in relations if may_mean_end(found.text, topic.name, names[i])]
    # "How many dependencies does X have" are not those that are X.
    kind = asked_kind(as_how_many(found.text), found.names)
    counted = columns_called(kind.nouns if kind else frozenset(), found)
    relations = [i for i in relations if i not in counted] or relations
    kept = np.isin(steps, relations)
    others, steps = others[kept], steps[kept]
    noun = relation_before(found.rest, topic, graph)
    if len(relations) > 1 and quantity_of(topic.name) is not None:
        words = {i: relation_words(names[i]) for i in relations}
        relations = [
            i
            for i in relations
            if singular(words[i]) == noun
            or (not noun and is_year(topic.name) and "year" in words[i])
        ]
        others = others[np.isin(steps, relations)]
    if not len(others):
        return None
    return replace(
        found,
        rows=np.unique(others),
        rest=without_topic(found.rest, topic, noun),
        names=(*found.names, topic.name),
        relations=found.relations | {*relations},
    )


def rows_with_heads(
    text: str, topic: Topic, graph: KnowledgeGraph
) -> Int[np.ndarray, "w"] | None:
    """The rows of what a relation joins to a topic whose name stands before it.

    Those of "invested in X" are not rows of what X has invested in. None where no name
    of a relation to the topic stands there.
    """
    before, *_ = text.casefold().partition(topic.name.casefold())
    words = WORD.findall(before)
    _, ids = graph.by_tail.rows(np.array([topic.entity]))
    edges = np.asarray(graph.triplets[ids])
    edges = edges[~graph.unnamed_mask[edges[:, 0]]]

    def is_said(relation: int) -> bool:
        name = relation_words(graph.relation_names[relation])
        return len(name) > 1 and words[-len(name) :] == name

    said = [each for each in np.unique(edges[:, 1]).tolist() if is_said(each)]
    if not said:
        return None
    heads = np.unique(edges[np.isin(edges[:, 1], said), 0])
    _, ids = graph.by_tail.rows(heads)
    return np.unique(graph.triplets[ids, 0])


def _winner(text: str, found: Rows) -> EntitySet | None:
    """What one column of the rows holds that have the highest or lowest value."""
    asked, graph = value_question(text, found.names), found.graph
    # "The largest order" says nothing of ``order_date``.
    asked = asked and asked.without_keys({*map(word_key, found.nouns)})
    if asked is None or not asked.is_superlative or asked.choice:
        return None
    at_time = text.casefold().startswith("when")
    rows = found.triplets
    kind = asked_kind(text, found.names)
    nouns = kind.nouns if kind else frozenset[str]()
    asked_for = [] if at_time else columns_called(nouns, found)
    fitting = [
        i
        for i in found.columns
        if i not in asked_for and asked.may_mean(graph.relation_names[i])
    ]
    test = test_of(asked, graph, rows[np.isin(rows[:, 1], fitting)])
    if test is None:
        return None
    best, *others = test.attributes
    if others and others[0].match == best.match:
        return None
    # "When did it last", "the most home goals": all of the relation's name is said.
    is_said = at_time if asked.word.dated else best.match == WEIGHTS[0]
    if asked.word.weak and not is_said:
        return None
    measure = graph.relation_names.index(best.relation)
    column = _asked_column(found, nouns, measure, at_time=at_time)
    if column is None or found.unexplained([column, measure], nouns):
        return None
    if best.unread or not best.values:
        return None  # what cannot be read might pass
    passed = np.array(test.passed(best, [*best.values]))
    return found.answers(passed, column, measure)


def _asked_column(
    found: Rows, nouns: frozenset[str], measure: int, *, at_time: bool
) -> int | None:
    """The relation from rows to what a question asks for; None where none is certain.

    Args:
        found: the rows.
        nouns: what it asks for.
        measure: the relation to what it compares.
        at_time: whether it asks when.
    """
    names = found.graph.relation_names
    if at_time:
        return found.times[0] if len(found.times) == 1 else None
    columns = columns_called(nouns, found)
    if not columns and not nouns & found.nouns:
        said = {word_key(w) for w in WORD.findall(found.rest.casefold())}
        said -= relation_keys(names[measure])
        columns = [i for i in found.columns if relation_keys(names[i]) & said]
    if len(columns) > 1:  # the team of the most home goals is the one at home
        of_measure = relation_keys(names[measure])
        columns = [i for i in columns if relation_keys(names[i]) & of_measure]
    return columns[0] if len(columns) == 1 and columns[0] != measure else None


def columns_called(nouns: frozenset[str], found: Rows) -> list[int]:
    """The relations of rows that call what they lead to one of these nouns."""
    names = found.graph.relation_names
    return [i for i in found.columns if leads_to(names[i], nouns)]


def _calls_column(topic: Topic, found: Rows) -> bool:
    """Whether a topic is a class by which a column calls what it leads to."""
    nouns = frozenset((base_noun(topic.name.casefold()),))
    return is_class(found.graph, topic.entity) and bool(columns_called(nouns, found))


def _number_of(text: str, found: Rows) -> EntitySet | None:
    """The number of rows with what is named."""
    kind = asked_kind(as_how_many(text), found.names)
    nouns = kind.nouns if kind else frozenset[str]()
    if not found.relations or not nouns & found.nouns or found.unexplained([], nouns):
        return None
    side = min(found.relations), HEAD
    return EntitySet.of(found.rows, side, MATCH_PROBABILITY, counted=True)


def _aggregate(text: str, found: Rows) -> EntitySet | None:
    """The mean, median or sum of a column of the rows."""
    asked, names = aggregate_question(text), found.graph.relation_names
    if asked is None:
        return None
    keys, nouns = {*map(word_key, asked.measure)}, frozenset((asked.word,))

    def column_in(rows: Rows) -> int | None:
        """The relation to the values, if no word says more."""
        columns = [i for i in rows.columns if relation_keys(names[i]) <= keys]
        columns = [i for i in columns if rows.leads_to_all(is_plain_number, i)]
        is_said = len(columns) == 1 and not rows.unexplained(columns, nouns)
        return columns[0] if is_said else None

    # What was invested is no matter of rows that say who bought whom.
    fitting = [each for each in found.by_class() if column_in(each) is not None]
    rows = fitting[0] if len(fitting) == 1 else found
    if (column := column_in(rows)) is None:
        return None
    values = rows.triplets[rows.triplets[:, 1] == column]
    numbers = texts_of(found.graph.entities, values[:, 2])
    number = aggregate_number(asked, numbers, column_of(column, found.graph))
    if number is None or len(values) != len(rows.rows):
        return None
    answers = EntitySet.of(rows.rows, (column, HEAD), MATCH_PROBABILITY, counted=True)
    return answers and answers.with_number(number)
