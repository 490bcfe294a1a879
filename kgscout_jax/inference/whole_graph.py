"""Questions about the values of a whole graph: "which project has the largest budget".

They name no entity to start from, or only the one whose value is a limit ("who started
after Elena"). Then all entities with a value of the relation that the question names
are compared, and those that pass take the place of the topics.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.answer_kinds import asks_yes_no
from kgscout_jax.inference.compared_values import (
    MAX_VALUES,
    Comparison,
    compare,
    compare_dates,
)
from kgscout_jax.inference.explained_words import class_nouns, compared_nouns
from kgscout_jax.inference.topic_neighbours import Topic
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.second_test import second_test
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.value_question_parser import is_written_amount, value_question
from kgscout_jax.text.value_words import word_key
from kgscout_jax.text.values import quantity_of, value_of
from kgscout_jax.text.without_test import without_test
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, folded
from kgscout_jax.types import display_name

MAX_CHOICE = 100
"""The most entities that pass; more are no answer that anybody reads."""


def compared_entities(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> ValueQuestion | None:
    """What a question wants of values, with entities for its topics."""
    named = _named_topics(text, graph, start)
    asked = value_question(text, [name for name, _ in named])
    if asked is None:
        return None
    asked = asked.with_topics(lambda i: named[i][1])
    # Bakers are compared, and not what ``star_baker`` says of them.
    asked = asked.without_keys({*map(word_key, class_nouns(text, graph))})
    if asked.word.weak and asked.rival is not None:
        # "Licensed under the GPL" compares nothing with it.
        return asked if _has_values(graph, asked.rival) else None
    return asked


def _has_values(graph: KnowledgeGraph, entity: int) -> bool:
    """Whether a triplet leads from an entity to a value, or it is one."""
    _, ids = graph.by_head.rows(np.array([entity]))
    tails = np.unique(graph.triplets[ids[:MAX_VALUES], 2]).tolist()
    names = map(str, (graph.entities[each] for each in (entity, *tails)))
    return any(quantity_of(name) is not None for name in names)


def _named_topics(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> list[tuple[str, int]]:
    """What the question calls each topic, and the entity."""
    if start.links:
        return [(text[link.start : link.stop], link.entity) for link in start.links]
    return [(display_name(graph.entities[int(i)]), int(i)) for i in start.ids]


def walked_text(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> str:
    """The part of a question that a walk answers, without the test of values."""
    named = _named_topics(text, graph, start)
    limits = [value_of(limit) for limit in asked.limits]
    names = [
        name
        for name, entity in named
        if entity != asked.rival
        and value_of(name) not in limits
        and folded(name) not in asked.limits
    ]
    return without_test(text, asked, names)


def whole_graph_comparison(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> Comparison | None:
    """What the values of the graph say, of all or beside the one topic.

    "The largest country in Africa" is one of those that one relation joins to it. None
    for a question that starts from other topics.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
        asked: what it wants of values, with entities for its topics.
    """
    if asked.choice or asks_yes_no(text):
        return None
    topics = _topics_beside(text, graph, start, asked)
    # "When was Heat last shown" asks for a day, and not for one of its shows.
    if topics is None or len(topics) > (not asked.word.weak):
        return None
    found = compare(text, graph, asked, topics[0] if topics else None)
    if found is None and not topics:
        found = compare_dates(text, graph, asked)
    return found


def whole_graph_choice(found: Comparison) -> ValueQuestion | None:
    """The question with the entities of the graph that pass as its ``choice``.

    Of a superlative also those that come next, as evidence. None where nothing passes,
    or the question asks for something else than it compares.
    """
    if found.phrase is not None:
        return None
    choice = found.ahead if found.asked.is_superlative else found.passed
    return (
        replace(found.asked, choice=choice) if 0 < len(choice) <= MAX_CHOICE else None
    )


def question_about_one(
    text: str, graph: KnowledgeGraph, found: Comparison
) -> tuple[str, int] | None:
    """The question about the one that values choose, and that entity.

    "Who is the mayor of the largest town" becomes "Who is the mayor of Rome". None
    where a question asks for what it compares, starts from a topic, or where not
    exactly one is ahead.

    Args:
        text: the question.
        graph: the graph.
        found: what its values say.
    """
    asked = found.asked
    if not asked.is_superlative or found.phrase is None or found.topic is not None:
        return None
    phrase = found.phrase
    inner, rest = phrase.inner(text), WORD.findall(text[phrase.stop :].casefold())
    about = value_question(inner, [])
    if about is None or not FUNCTION_WORDS.issuperset({*rest} - {phrase.verb}):
        return None
    about = about.without_keys(about.words - asked.words)
    chosen = compare(inner, graph, about)
    if chosen is None or chosen.phrase is not None or len(chosen.passed) != 1:
        return None
    (winner,) = chosen.passed
    return phrase.outer(text, display_name(graph.entities[winner])), winner


def _topics_beside(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> list[Topic] | None:
    """The topics that are more than a limit, or part of a name that is a noun here.

    None where the graph does not hold one.
    """
    nouns, asked_for = compared_nouns(text, asked), asked_kind(text, [])
    second = second_test(text, asked)
    tests = [asked] if second is None else [asked, second.asked]

    def is_noun(link: Link) -> bool:
        name = text[link.start : link.stop]
        if link.how != "fuzzy":  # "Which database", where a keyword is called database
            plain = base_noun(name) if name.islower() else ""
            return asked_for is not None and plain in asked_for.nouns
        words = WORD.findall(name.casefold())
        small = name.islower() or name.isupper()  # "the cheapest CPU"
        return small and {base_noun(word) for word in words} <= nouns

    if start.unknown:
        return None
    if not start.links:
        ids = [entity for entity in start.ids.tolist() if entity != asked.rival]
        return [Topic(i, display_name(str(graph.entities[i]))) for i in ids]
    return [
        Topic.of_link(text, link)
        for link in start.links
        if not (
            link.entity == asked.rival
            or any(is_limit(text, link, test) for test in tests)
            or is_noun(link)
        )
    ]


def is_limit(text: str, link: Link, asked: ValueQuestion) -> bool:
    """Whether a link is from a limit, or a part of one, or from "the 5 largest"."""
    written = text[link.start : link.stop]
    name = written.casefold()
    if asked.count > 1 and name == str(asked.count):
        return True
    words = {*WORD.findall(name)} - FUNCTION_WORDS
    of_limits = {word for limit in asked.limits for word in WORD.findall(limit)}
    same = any(
        value_of(name) == value_of(limit)
        or (is_written_amount(written) and name.split()[:1] == [limit])
        for limit in asked.limits
    )
    return same or (len(words) > 0 and words <= of_limits)
