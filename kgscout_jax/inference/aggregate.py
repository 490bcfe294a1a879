"""Means, medians and sums of the values that a whole graph holds."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.class_members import class_members
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.entities_of_kind import entities_of_kind
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.relation_sides import triplets_of
from kgscout_jax.inference.topic_neighbours import (
    Topic,
    joined_by_one,
    joined_to,
    relation_before,
    without_topic,
)
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.text.aggregate_question import AggregateQuestion, aggregate_question
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import HEAD, base_noun, is_past
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import of_other_years, relation_words
from kgscout_jax.text.value_column import ValueColumn
from kgscout_jax.text.value_words import relation_keys, word_key
from kgscout_jax.text.values import (
    CURRENCIES,
    clock_seconds,
    clock_text,
    is_date,
)
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

LEAST_VALUES = 2
"""The least number of values."""
DECIMALS = 2
"""Of the answer."""
_PLACED = frozenset("located situated based".split())
_ARTICLE = re.compile(r"^(?:of|for|in|across|among|over|by|at) (?:all )?(?:the |our )?")


def aggregate_of(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """The entities whose values give the number that is asked for, with it.

    None for other questions, and where the graph does not tell: several relations have
    such values, some cannot be read, or the question says more than whose they are.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    asked = aggregate_question(text)
    if asked is None or _is_named(asked, graph):
        return None
    links = without_class_topics(text, graph, start).links
    topics = [Topic.of_link(text, each) for each in links]
    topics = [topic for topic in topics if topic.name in asked.rest]
    relations = _relations(asked, graph, WORD.findall(text.casefold()))
    if len(topics) > 1 or len(links) > len(topics) or len(relations) != 1:
        return None
    whose = "Which " + _ARTICLE.sub("", asked.rest)
    rows = triplets_of(graph, relations[0])
    heads = np.unique(rows[:, 0])
    if not _is_explained(whose, graph, topics, heads):
        return None
    heads = entities_of_kind(whose, graph, heads) if asked.rest else heads
    for topic in topics:
        heads = joined_by_one(heads, whose, graph, topic)
    rows = rows[np.isin(rows[:, 0], heads)]
    values = texts_of(graph.entities, rows[:, 2])
    number = aggregate_number(asked, values, column_of(relations[0], graph))
    if number is None or len(rows) < LEAST_VALUES or len(rows) > len(heads):
        return None
    found = EntitySet.of(heads, (relations[0], HEAD), MATCH_PROBABILITY, counted=True)
    return found and found.with_number(number)


def _is_named(asked: AggregateQuestion, graph: KnowledgeGraph) -> bool:
    """Whether a relation itself is an average: ``average_rating``."""
    return any(asked.word in relation_words(each) for each in graph.relation_names)


def _relations(
    asked: AggregateQuestion, graph: KnowledgeGraph, words: Sequence[str]
) -> list[int]:
    """The relations whose names are the words for the values, or hold them."""
    keys = {*map(word_key, asked.measure)}
    names = [*map(relation_keys, graph.relation_names)]
    same = [i for i, name in enumerate(names) if name == keys]
    found = same or [i for i, name in enumerate(names) if keys <= name]
    others = of_other_years([graph.relation_names[i] for i in found], words)
    return [i for i, other in zip(found, others, strict=True) if not other]


def _is_explained(
    whose: str,
    graph: KnowledgeGraph,
    topics: Sequence[Topic],
    heads: Int[np.ndarray, "h"],
) -> bool:
    """Whether a question says no more than a kind and what joins it to a topic.

    "Tall employees" says more than a kind where that is no class of the graph; "owned
    by Sales" does not where ``owner`` leads to it from what has the values, ``heads``.
    """
    forms = frozenset[str]()
    for topic in topics:
        others, steps = joined_to(topic.entity, graph)
        relations = np.unique(steps[np.isin(others, heads)] // 2)
        names = [graph.relation_names[i] for i in relations]
        forms |= forms.union(*map(relation_forms, names))
        whose = without_topic(whose, topic, relation_before(whose, topic, graph))
    kind = asked_kind(whose, [])
    nouns = set[str]()
    for noun in kind.nouns if kind else ():
        words = (*noun.split(),)
        whole = len(words) > 1 and class_members(words, graph) is not None
        nouns.update(words if whole else words[-1:])
    words = WORD.findall(whose.casefold())
    return all(
        w in FUNCTION_WORDS | _PLACED
        or base_noun(w) in nouns
        or (is_past(w) and not word_forms(w).isdisjoint(forms))
        for w in words
    )


def column_of(relation: int, graph: KnowledgeGraph) -> ValueColumn:
    """How the values of a relation are written."""
    return ValueColumn.of(
        texts_of(graph.entities, triplets_of(graph, relation)[:, 2]),
        relation_words(graph.relation_names[relation]),
        decimal_commas=graph.decimal_commas,
    )


def aggregate_number(
    asked: AggregateQuestion, values: Sequence[str], column: ValueColumn
) -> str | None:
    """What the values give; None where one is no number, or of another dimension.

    Args:
        asked: what is asked for.
        values: as they are written.
        column: how those of their relation are written.
    """
    column = replace(column, unit=ValueColumn.of(values).unit)
    found = [column.read(value) for value in values]
    real = [each for each in found if each is not None]
    if not real or len(real) < len(found) or any(map(is_date, values)):
        return None
    functions = {"mean": statistics.fmean, "median": statistics.median, "sum": sum}
    numbers = [each.number for each in real]
    number = round(float(functions[asked.function](numbers)), DECIMALS)
    text = f"{number:.{DECIMALS}f}".rstrip("0").rstrip(".")
    if all(clock_seconds(value.strip()) is not None for value in values):
        return clock_text(number)
    unit = column.unit
    if unit and unit in CURRENCIES:
        return unit + text
    return f"{text} {_written(unit, values)}" if unit else text


def _written(unit: str, values: Sequence[str]) -> str:
    """A unit as most values write it: GB, where it is compared as gb."""
    ends = [value.strip()[-len(unit) :] for value in values]
    same = [end for end in ends if end.casefold() == unit]
    return statistics.mode(same) if same else unit
