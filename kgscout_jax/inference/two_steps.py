"""Questions of two steps: the answer of the first is the topic of the second.

The first step is a question of its own, "which country is the largest country in
Africa"; its one answer takes the place of its words in the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.node_answers import GUESSES
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.role_steps import has_roles, role_steps
from kgscout_jax.inference.topics import Topics, search_start
from kgscout_jax.inference.whole_graph import compared_entities
from kgscout_jax.text.nested_question import NestedQuestion, nested_question
from kgscout_jax.text.value_question import value_question
from kgscout_jax.text.value_words import MEASURE_KEYS, relation_keys

Linking = Callable[[str, KnowledgeGraph], list[Link]]


def steps_of(
    text: str, graph: object, topics: Topics, link: Linking
) -> NestedQuestion | None:
    """The two steps of a question; None for one of a single step.

    Args:
        text: the question.
        graph: where its topics are; a store has its own values only.
        topics: names of entities; None: topics are linked.
        link: links the words of a question to entities.
    """
    if not isinstance(graph, KnowledgeGraph) or not len(graph):
        return None
    asked = value_question(text, [])
    if asked is None or not asked.is_superlative:
        if not has_roles(graph) or " the " not in text:
            return None
        return role_steps(text, graph, search_start(text, graph, topics, link))
    start = search_start(text, graph, topics, link)
    start = without_class_topics(text, graph, start)
    asked, spans = compared_entities(text, graph, start), start.spans(text, graph)
    places = {(begin, end) for begin, end, _ in spans}
    every = {entity for *_, entity in spans} >= {*start.ids.tolist()}
    if asked is None or start.unknown or not every or len(places) != 1:
        return None
    names = filter(asked.may_mean, graph.relation_names)
    keys = frozenset(MEASURE_KEYS).union(*map(relation_keys, names))
    return nested_question(text, places.pop(), keys)


def answer_of(first: RetrievalResult) -> str | None:
    """The one answer of the first step; None of several, or none."""
    if first.abstained or first.kind != "set" or len(first.answers) != 1:
        return None
    return first.answers[0].name


def joined(
    text: str, first: RetrievalResult, second: RetrievalResult, least: float
) -> RetrievalResult:
    """The result of the question: both steps must be right.

    Args:
        text: the question.
        first: the result of its first step, with one answer.
        second: that of its second.
        least: P(answer) of the best one below which there is no answer.
    """
    likely = first.answers[0].probability
    answers, guesses = (
        tuple(replace(x, probability=likely * x.probability) for x in each)
        for each in (second.answers, second.best_guesses)
    )
    result = replace(second, question=text, answers=answers, best_guesses=guesses)
    if not answers or answers[0].probability >= least:
        return result
    return replace(result, answers=(), best_guesses=answers[:GUESSES], abstained=True)
