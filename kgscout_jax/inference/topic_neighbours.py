"""What triplets join to the one topic of a question over a whole graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.entities_of_kind import entities_of_kind
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.retrieve.value_test import MIN_COVERAGE
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import end_nouns, singular
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.words import WORD, name_span


class Topic(NamedTuple):
    """An entity that a question starts from."""

    entity: int
    name: str
    """What the question calls it."""

    @staticmethod
    def of_link(question: str, link: Link) -> Topic:
        """The entity of a link, as its question calls it."""
        return Topic(link.entity, question[link.start : link.stop])


def noun_before(text: str, topic: Topic) -> tuple[str, ...]:
    """The word before the name of a topic, in singular: "series" of "in series 4"."""
    before, *_ = text.casefold().partition(topic.name.casefold())
    return singular(WORD.findall(before)[-1:])


def relation_before(text: str, topic: Topic, graph: KnowledgeGraph) -> tuple[str, ...]:
    """The word before the name of a topic, if a relation is called so; () otherwise."""
    noun = noun_before(text, topic)
    names = map(relation_words, graph.relation_names)
    return noun if any(singular(name) == noun for name in names) else ()


def without_topic(text: str, topic: Topic, relation: tuple[str, ...]) -> str:
    """A question with blanks for its topic, and for the relation before its name.

    Args:
        text: the question.
        topic: of it.
        relation: see ``relation_before``.
    """
    return without_name(without_name(text, topic.name), " ".join(relation))


def without_name(text: str, name: str) -> str:
    """A question with blanks for a name."""
    if (place := name_span(text, name)) is None:
        return text
    start, stop = place
    return text[:start] + " " * (stop - start) + text[stop:]


def joined_to(
    entity: int, graph: KnowledgeGraph
) -> tuple[Int[np.ndarray, "j"], Int[np.ndarray, "j"]]:
    """What triplets join to an entity, and the relation of each; twice that, and one
    more where the entity is the head."""
    one = np.array([entity])
    _, out = graph.by_head.rows(one)
    _, into = graph.by_tail.rows(one)
    rows = np.asarray(graph.triplets[np.concatenate([out, into])])
    is_out = np.arange(len(rows)) < len(out)
    others = np.where(is_out, rows[:, 2], rows[:, 0])
    return others, 2 * rows[:, 1] + is_out


def _steps_to_kind(
    steps: Int[np.ndarray, "r"], kind: str, graph: KnowledgeGraph
) -> Int[np.ndarray, "s"]:
    """The steps whose relation calls its other end what the question asks for.

    Those who play for a club are its players, those who went to its academy are not.
    """
    asked = asked_kind(kind, [])
    nouns = frozenset[str]() if asked is None else asked.nouns
    relations, is_out = np.divmod(steps, 2)
    ends = [end_nouns(graph.relation_names[relation]) for relation in relations]
    fits = [
        not nouns.isdisjoint(end[out]) for end, out in zip(ends, is_out, strict=True)
    ]
    return steps[fits]


def joined_by_one(
    entities: Int[np.ndarray, "h"],
    kind: str,
    graph: KnowledgeGraph,
    topic: Topic,
    coverage: float = MIN_COVERAGE,
) -> Int[np.ndarray, "k"]:
    """Those that one relation joins to a topic; none where several do.

    Cities that lie in a country are not compared with those that it rules. Nor are few
    cities of known size with many of unknown size.

    Args:
        entities: those with values, of the kind that is asked for.
        kind: the question.
        graph: the graph.
        topic: of the question.
        coverage: least share of those that are joined by it that ``entities`` hold.
    """
    others, relations = joined_to(topic.entity, graph)
    steps = np.unique(relations[np.isin(others, entities)])
    # The capital of a country lies in it too.
    within = [
        step
        for step in steps
        if needs_no_word(graph.relation_names[step // 2])
        and np.isin(entities, others[relations == step]).all()
    ]
    steps = np.array(within) if len(within) == 1 else steps
    if len(steps) > 1:  # "in series 4", where 4 is a place and an age too
        noun = noun_before(kind, topic)
        names = (graph.relation_names[step // 2] for step in steps)
        called = steps[[singular(relation_words(name)) == noun for name in names]]
        steps = called if len(called) else _steps_to_kind(steps, kind, graph)
    if len(steps) != 1:
        return entities[:0]
    every = np.unique(others[relations == steps[0]])
    entities = entities[np.isin(entities, every)]
    known = coverage * len(entities_of_kind(kind, graph, every)) if coverage else 0
    return entities if len(entities) > known else entities[:0]
