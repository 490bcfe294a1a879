"""What the values of a whole graph say of the entities that a question compares."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.entities_of_kind import entities_of_kind
from kgscout_jax.inference.explained_words import (
    class_nouns,
    counted_units,
    kind_text,
    unexplained_words,
)
from kgscout_jax.inference.graph_flags import flags_of
from kgscout_jax.inference.noun_groups import meant_groups
from kgscout_jax.inference.topic_neighbours import (
    Topic,
    joined_by_one,
    joined_to,
    relation_before,
    without_topic,
)
from kgscout_jax.inference.unit_relations import dimension_keys, relations_in
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.value_test import (
    IMPLIED,
    Attribute,
    ValueTest,
    holders_of_values,
    value_test,
)
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.compared_phrase import ComparedPhrase, compared_phrase
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.second_test import SecondTest, second_test
from kgscout_jax.text.value_question import AMOUNT_WORDS, ValueQuestion
from kgscout_jax.text.value_words import (
    DATING_KEYS,
    MEASURE_KEYS,
    measured_keys,
    says_when,
    word_key,
)

MAX_DATING = 50
"""The most relations to dates that are tried."""
MAX_VALUES = 20_000
"""The most triplets of the relations that are compared."""
FEW = 0.2
"""Share of the entities with one relation below which others are not of their kind."""
RUNNERS_UP = 10
"""Entities that are compared as evidence for a superlative."""


class Comparison(NamedTuple):
    """What the values of a whole graph say."""

    asked: ValueQuestion
    """The question; what names its topic names no value."""
    phrase: ComparedPhrase | None
    """Where the question names what it compares, if it asks for something else."""
    passed: tuple[int, ...] = ()
    """The entities that pass."""
    ahead: tuple[int, ...] = ()
    """Of a superlative those, and some that come next."""
    topic: Topic | None = None
    """What all that is compared is joined to."""
    keys: frozenset[str] = frozenset()
    """Of the words that say which values are compared, see ``word_key``."""


def compare(
    text: str,
    graph: KnowledgeGraph,
    asked: ValueQuestion,
    topic: Topic | None = None,
    explained: frozenset[str] = frozenset(),
) -> Comparison | None:
    """What the values say; None where they are not what the question compares.

    Args:
        text: the question.
        graph: the graph.
        asked: what it wants of values.
        topic: one that all that is compared is joined to; None: none.
        explained: keys of words that need no value of these.
    """
    names = graph.relation_names
    fitting = [i for i, name in enumerate(names) if asked.may_mean(name)]
    if not fitting and (dated := asked.dated_by(names)) is not None:
        fitting, asked = [dated], asked.with_words_of(names[dated])
    if len(fitting) != 1:
        in_unit = [i for i, name in enumerate(names) if asked.has_unit_of(name)]
        if not in_unit and (in_unit := relations_in(asked.dimension, graph)):
            explained |= dimension_keys(asked.dimension)
        if len(in_unit) == 1 and ({*in_unit} <= {*fitting} or not fitting):
            fitting, asked = in_unit, asked.with_words_of(names[in_unit[0]])
    found = _by_relations(text, graph, asked, fitting, topic, explained)
    if found is None and (dated := asked.dated_by(names)) is not None:
        # "Who joined before 2012 and earns more than 90": no salary is before 2012.
        asked = asked.with_words_of(names[dated])
        found = _by_relations(text, graph, asked, [dated], topic, explained)
    return found


def compare_dates(
    text: str,
    graph: KnowledgeGraph,
    asked: ValueQuestion,
    explained: frozenset[str] = frozenset(),
) -> Comparison | None:
    """What the one relation to dates says that what is asked for has.

    "Plays from before 1650" by ``year_written``. None where there is none, or several.
    """
    if not asked.limits_time or asked.rival is not None:
        return None
    kind = asked_kind(text, [])
    if kind is None or not kind.nouns:
        return None
    dating = [i for i, name in enumerate(graph.relation_names) if says_when(name)]
    if len(dating) > MAX_DATING:
        return None
    each = (
        _by_date(text, graph, asked, relation, explained, strict=True)
        for relation in dating
    )
    found = [one for one in each if one is not None]
    return found[0] if len(found) == 1 else None


def _by_date(
    text: str,
    graph: KnowledgeGraph,
    asked: ValueQuestion,
    relation: int,
    explained: frozenset[str],
    *,
    strict: bool = False,
) -> Comparison | None:
    """What the dates of a relation say, whether the question names it or not."""
    asked = asked.with_words_of(graph.relation_names[relation])
    asked = replace(asked, word=asked.word._replace(implied=DATING_KEYS))
    return _by_relations(text, graph, asked, [relation], None, explained, strict=strict)


def _by_relations(
    text: str,
    graph: KnowledgeGraph,
    asked: ValueQuestion,
    fitting: Sequence[int],
    topic: Topic | None,
    explained: frozenset[str],
    *,
    strict: bool = False,
) -> Comparison | None:
    """What the values of some relations say, see ``compare``.

    Args:
        text: the question.
        graph: the graph.
        asked: what it wants of values.
        fitting: the relations.
        topic: one that all that is compared is joined to; None: none.
        explained: keys of words that need no value of these.
        strict: whether nothing is compared that relations call something else.
    """
    rest = text
    if topic is None:
        ids = np.flatnonzero(np.isin(graph.triplets[:, 1], fitting))
    else:
        named = relation_before(text, topic, graph)
        rest = without_topic(text, topic, named)
        asked = asked.without_keys({*map(word_key, named)})
        _, ids = graph.by_head.rows(np.unique(joined_to(topic.entity, graph)[0]))
        ids = ids[np.isin(graph.triplets[ids, 1], fitting)]
    if not 0 < len(ids) <= MAX_VALUES:
        return None
    test = test_of(asked, graph, _of_owners(np.asarray(graph.triplets[ids]), graph))
    if test is None:
        return None
    best = test.attributes[0].match
    equal = [a for a in test.attributes if a.match == best]
    keys = frozenset[str]().union(*(measured_keys(a.relation) for a in equal))
    explained |= counted_units(text, graph, asked, equal)
    measures = MEASURE_KEYS.keys() | {*map(word_key, AMOUNT_WORDS)}
    phrase = compared_phrase(text, asked, keys | measures | explained)
    if phrase is not None:
        return Comparison(asked, phrase, topic=topic)
    keys |= asked.word.implied | explained
    among = None
    said = {word for a in equal for word in relation_words(a.relation)}
    second = second_test(rest, asked)
    if second and said.isdisjoint(second.asked.limits):  # by ``population_2011``
        also = _also_passing(second, graph, test, keys)
        if also is None:
            return None
        among, explained = np.array(also.passed, np.int64), explained | also.keys
    implied = asked.is_superlative and 0 < best <= IMPLIED
    levels = [
        level
        for level in (_levels(test.attributes) if implied else [equal] if best else [])
        if not unexplained_words(rest, graph, level, asked, explained, second)
    ]
    strict |= implied and sum(map(len, levels)) > 1
    kind = kind_text(text, asked, keys)
    conditions = [among, flags_of(text, graph).holders, _with_values(kind, graph)]
    members = _members(kind, graph, levels, strict)
    for level in levels:
        groups: list[tuple[Attribute, list[int]]] = []
        for attribute in level:
            heads = members[attribute.relation]
            if not attribute.unread.isdisjoint(heads.tolist()):
                return None  # what cannot be read might pass
            if _are_other_rows(heads, text, graph):
                return None  # "Which country" asks for no row of a table
            for others in conditions:
                if others is not None:
                    heads = heads[np.isin(heads, others)]
            if topic is not None:
                heads = joined_by_one(heads, kind, graph, topic)
            group = [int(head) for head in heads if head != asked.rival]
            groups.append((attribute, group))
        if any(group for _, group in groups):
            found = _chosen(test, groups, asked)
            return found and found._replace(topic=topic, keys=keys)
    return None


def _of_owners(
    rows: Int[np.ndarray, "k 3"], graph: KnowledgeGraph
) -> Int[np.ndarray, "k 3"]:
    """The triplets, those of nodes without a name as their owners'."""
    heads = np.unique(rows[graph.unnamed_mask[rows[:, 0]], 0])
    _, ids = graph.by_tail.rows(heads)
    if not len(ids):
        return rows
    into = np.asarray(graph.triplets[ids])[:, [0, 2]]
    holders = holders_of_values(rows[:, 0], into, graph.unnamed_mask)
    return np.column_stack([holders, rows[:, 1:]])


def _with_values(kind: str, graph: KnowledgeGraph) -> Int[np.ndarray, "h"] | None:
    """What has the values that stand before the noun of a question: "flammable ones".

    None where it names none.
    """
    asked = asked_kind(kind, [])
    phrases = [noun.split() for noun in (asked.nouns if asked else ())]
    nouns = {words[-1] for words in phrases}  # a "city town" is a city
    before = {word for words in phrases for word in words[:-1]} - nouns
    values = [value for word in before if (value := graph.find(word)) is not None]
    if not values:
        return None
    return functools.reduce(
        np.intersect1d, (joined_to(value, graph)[0] for value in values)
    )


def _members(
    kind: str,
    graph: KnowledgeGraph,
    levels: Sequence[Sequence[Attribute]],
    strict: bool,
) -> dict[str, Int[np.ndarray, "h"]]:
    """The entities with each relation that are of the kind that a question asks for.

    Args:
        kind: the question.
        graph: the graph.
        levels: the relations.
        strict: whether none are that relations call something else.
    """
    attributes = [*itertools.chain(*levels)]
    groups = [np.array([*each.values, *each.unread]) for each in attributes]
    groups = meant_groups(kind, graph, groups) if strict else groups
    groups = [entities_of_kind(kind, graph, group) for group in groups]
    return {a.relation: group for a, group in zip(attributes, groups, strict=True)}


def _levels(attributes: Sequence[Attribute]) -> list[list[Attribute]]:
    """The attributes whose words fit, those that fit equally well together."""
    by_match = itertools.groupby(attributes, key=operator.attrgetter("match"))
    return [[*level] for match, level in by_match if match]


def _also_passing(
    second: SecondTest, graph: KnowledgeGraph, first: ValueTest, keys: frozenset[str]
) -> Comparison | None:
    """What passes the second test of a question; None where values do not tell.

    Args:
        second: the test.
        graph: the graph.
        first: the first test.
        keys: of the words that the first test explains.
    """
    rest, asked = second
    found = compare(rest, graph, asked.without_keys(keys), None, keys)
    if found is None and asked.limits_time:  # "the first film of 2003"
        names = [a.relation for a in first.attributes if says_when(a.relation)]
        for name in names[:1]:
            relation = graph.relation_names.index(name)
            found = _by_date(rest, graph, asked, relation, keys)
    found = found or compare_dates(rest, graph, asked, keys)
    return None if found is None or found.phrase is not None else found


def _chosen(
    test: ValueTest, groups: Sequence[tuple[Attribute, list[int]]], asked: ValueQuestion
) -> Comparison | None:
    """What passes of the entities with values; None where values disagree."""
    # Songs are compared by their duration, and one is called as an album with a length.
    least = FEW * max((len(group) for _, group in groups), default=0)
    if asked.word.of_age:  # a rock is as old as its age, whenever it was named
        aged = [each for each in groups if "age" in measured_keys(each[0].relation)]
        groups = [each for each in aged if len(each[1]) >= least] or groups
    found: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for attribute, group in groups:
        if len(group) < least:
            continue
        passed = test.passed(attribute, group) if group else []
        ahead = test.ahead_first(attribute, group)[: max(RUNNERS_UP, len(passed))]
        found.add((tuple(passed), tuple(ahead)))
    # Height and altitude may say different things.
    return Comparison(asked, None, *found.pop()) if len(found) == 1 else None


def _are_other_rows(
    heads: Int[np.ndarray, "h"], text: str, graph: KnowledgeGraph
) -> bool:
    """Whether there are rows without a name that no class of the question has."""
    rows = heads[graph.unnamed_mask[heads]]
    if not len(rows):
        return False
    classes = graph.find_all(class_nouns(text, graph))
    members = [joined_to(int(each), graph)[0] for each in classes]
    return not any(np.isin(rows, each).all() for each in members)


def test_of(
    asked: ValueQuestion, graph: KnowledgeGraph, rows: Int[np.ndarray, "k 3"]
) -> ValueTest | None:
    """The test over triplets of the graph, with entities as nodes."""
    relations, index = np.unique(rows[:, 1], return_inverse=True)
    around = LocalGraph(
        [graph.relation_names[relation] for relation in relations.tolist()],
        index,
        rows[:, [0, 2]],
        [],
        lambda nodes: texts_of(graph.entities, nodes),
        decimal_commas=graph.decimal_commas,
    )
    return value_test(asked, around)
