"""Questions of two steps: the answer of the first is the topic of the second.

The first step is a question of its own, "which country is the largest country in
Africa"; its one answer takes the place of its words in the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.node_answers import GUESSES
from kgscout_jax.inference.query import Linking, Query, Retrieval
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.role_steps import has_roles, role_steps
from kgscout_jax.inference.topics import search_start
from kgscout_jax.inference.whole_graph import compared_entities
from kgscout_jax.text.nested_question import NestedQuestion, nested_question
from kgscout_jax.text.value_question_parser import value_question
from kgscout_jax.text.value_words import MEASURE_KEYS, relation_keys


def in_two_steps(
    queries: Sequence[Query],
    first: Retrieval,
    last: Retrieval,
    link: Linking,
    least: float,
) -> list[RetrievalResult]:
    """The results of queries, of which some take two steps.

    Args:
        queries: the questions.
        first: retrieves for first steps.
        last: retrieves for ``queries``, of some of which only the second step is left.
        link: links the words of a question to entities.
        least: P(answer) of the best one below which there is no answer.
    """
    found = [steps_of(query, link) for query in queries]
    steps = {i: each for i, each in enumerate(found) if each is not None}
    if not steps:
        return last(queries)
    asked = [queries[i]._replace(text=each.inner) for i, each in steps.items()]
    seconds, firsts = [*queries], dict[int, RetrievalResult]()
    for i, result in zip(steps, first(asked), strict=True):
        if (name := answer_of(result)) is not None:
            text = steps[i].outer(name)
            seconds[i], firsts[i] = (
                queries[i]._replace(text=text, topics=[name]),
                result,
            )
    results = last(seconds)
    for i, result in firsts.items():
        results[i] = joined(queries[i].text, result, results[i], least)
    return results


def steps_of(query: Query, link: Linking) -> NestedQuestion | None:
    """The two steps of a question; None for one of a single step, or of a store.

    Args:
        query: the question.
        link: links the words of a question to entities.
    """
    text, graph, _, topics = query
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
