"""All of a kind: members of a class, or what a relation leads to."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_members import (
    class_members,
    class_relations,
    of_class,
)
from kgscout_jax.inference.compared_values import MAX_VALUES
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.graph_flags import flags_of
from kgscout_jax.inference.relation_sides import COLUMNS, sides_called, triplets_of
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.kinds import HEAD
from kgscout_jax.text.listing import listing

PERSON = ("person",)
"""The noun for people of any class."""


def listing_of(text: str, graph: KnowledgeGraph) -> EntitySet | None:
    """All of what a question names by a noun; None for other questions.

    The members of the class that is called so, also those that a column of yes and no
    tells apart, "books in stock", and where nothing has a class all that the column
    does; else what the one relation of that name leads to, or
    what has such a value: "list the thrillers", "the Felidae species".

    Args:
        text: the question.
        graph: the graph.
    """
    flags = flags_of(text, graph)
    noun = listing(flags.rest, of_one=flags.holders is not None)
    if not noun:
        return None
    if (found := class_members(noun, graph)) is not None:
        relation, entities = found
        end = HEAD
        if flags.holders is not None:
            relation, entities = flags.relation, np.intersect1d(entities, flags.holders)
    elif flags.are_people and noun == PERSON and flags.holders is not None:
        relation, entities, end = flags.relation, flags.holders, HEAD
    elif flags.holders is not None:
        if _is_any_classed(flags.holders, graph) or sides_called(noun, graph):
            return None
        relation, entities, end = flags.relation, flags.holders, HEAD
    else:
        said = sides_called(noun, graph)
        if len(said) == 1:
            ((relation, end),) = said
            entities = np.unique(triplets_of(graph, relation)[:, COLUMNS[end]])
        elif (found := _with_value(noun, graph)) is not None:
            relation, entities = found
            end = HEAD
        else:
            return None
    counted = asks_for_count(text)
    return EntitySet.of(entities, (relation, end), MATCH_PROBABILITY, counted=counted)


def _with_value(
    noun: tuple[str, ...], graph: KnowledgeGraph
) -> tuple[int, Int[np.ndarray, "m"]] | None:
    """The one relation to the value that a noun phrase names, and what has it.

    Args:
        noun: in singular, with the kind of what has it behind it or not.
        graph: the graph.
    """
    for words, kind in ((noun, ()), (noun[:-1], noun[-1:])):
        value = graph.find(" ".join(words)) if words else None
        if value is None:
            continue
        _, ids = graph.by_tail.rows(np.array([value]))
        rows = np.asarray(graph.triplets[ids[:MAX_VALUES]])
        relations = np.unique(rows[:, 1])
        if len(relations) != 1 or not _is_value(value, graph):
            return None
        entities = np.unique(rows[:, 0])
        fits = of_class(kind, graph, entities) if kind else None
        if fits is not None and class_members(kind, graph) is not None:
            entities = entities[fits]
        return int(relations[0]), entities
    return None


def _is_any_classed(entities: Int[np.ndarray, "h"], graph: KnowledgeGraph) -> bool:
    """Whether one of these has a class: that is another one than the noun asks for."""
    rows = (triplets_of(graph, relation) for relation in class_relations(graph))
    return any(np.isin(entities, each[:, 0]).any() for each in rows)


def _is_value(entity: int, graph: KnowledgeGraph) -> bool:
    """Whether nothing is said of an entity but its class."""
    _, ids = graph.by_head.rows(np.array([entity]))
    said = np.asarray(graph.triplets[ids[:MAX_VALUES], 1])
    return bool(np.isin(said, class_relations(graph)).all())
