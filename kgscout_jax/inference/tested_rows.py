"""Who passes a test among the rows of a topic: who joined Acme after 2016.

The day stands in the row, and who joined at its other end: a walk to either does not
know of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.compared_values import test_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.rows import Rows
from kgscout_jax.inference.topic_neighbours import Topic
from kgscout_jax.inference.topic_rows import (
    asked_columns,
    linked_topics,
    rows_of_topics,
    unexplained_words,
)
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import HEAD
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.words import WORD

_TIMES = frozenset("date day year time".split())
"""What a test of days compares: "from the earliest date"."""


def tested_rows(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """What rows of the topics lead to that pass a test; None where none is certain.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    if not graph.unnamed_mask.any():
        return None
    topics = linked_topics(text, graph, start)
    names = [topic.name for topic in topics]
    asked = value_question(text, names)
    if asked is None or asked.choice or asked.rival is not None:
        return None
    found = rows_of_topics(text, topics, graph)
    if found is None:
        return None
    found = found.with_rows(found.rows, _without_test(found.rest, asked))
    kind = asked_kind(text, names)
    nouns = kind.nouns if kind else frozenset[str]()
    answers = [
        passed
        for rows in found.by_class()
        if rows.class_nouns and (passed := _passed(asked, nouns, topics, rows))
    ]
    return answers[0] if len(answers) == 1 else None


def _without_test(rest: str, asked: ValueQuestion) -> str:
    """The rest of a question with blanks for what it wants of values."""
    word = WORD.match(rest, asked.start)
    stop = max(asked.stop, word.end() if word else asked.start)
    for limit in asked.limits:
        place = rest.find(limit, asked.start)
        stop = max(stop, place + len(limit))
    return rest[: asked.start] + " " * (stop - asked.start) + rest[stop:]


def _passed(
    asked: ValueQuestion, nouns: frozenset[str], topics: Sequence[Topic], rows: Rows
) -> EntitySet | None:
    """What the rows of one class lead to that pass, or these rows."""
    graph = rows.graph
    relations = graph.relation_names
    days = rows.times
    is_dated = asked.limits_time or asked.word.dated
    measures = days if is_dated else [i for i in rows.numbers if i not in days]
    named = [i for i in measures if asked.may_mean(relations[i])]
    measures = named or measures
    if len(measures) != 1:
        return None
    measure, triplets = measures[0], rows.triplets
    test = test_of(asked, graph, triplets[triplets[:, 1] == measure])
    if test is None or len(test.attributes) != 1:
        return None
    (attribute,) = test.attributes
    if attribute.unread or not attribute.values:
        return None  # what cannot be read might pass
    are_rows = bool(nouns & rows.class_nouns)
    columns = [] if are_rows else asked_columns(nouns, topics, rows)
    if not are_rows and len(columns) != 1:
        return None
    said = nouns | _TIMES if is_dated else nouns
    if unexplained_words(rows, topics, [*columns, measure], said, is_named=True):
        return None
    passed = np.array(test.passed(attribute, [*attribute.values]), np.int64)
    if are_rows:
        side = measure, HEAD
        return EntitySet.of(passed, side, MATCH_PROBABILITY, counted=False)
    return rows.answers(passed, columns[0], measure)
