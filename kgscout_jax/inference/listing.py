"""All of a kind: members of a class, or what a relation leads to."""

from __future__ import annotations

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_members import class_members
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.relation_sides import COLUMNS, sides_called, triplets_of
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.inference.whole_graph import flags_of
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.kinds import HEAD
from kgscout_jax.text.listing import listing

PERSON = ("person",)
"""The noun for people of any class."""


def listing_of(text: str, graph: KnowledgeGraph) -> EntitySet | None:
    """All of what a question names by a noun; None for other questions.

    The members of the class that is called so, also those that a column of yes and no
    tells apart, "books in stock"; else what the one relation of that name leads to.

    Args:
        text: the question.
        graph: the graph.
    """
    flags = flags_of(text, graph)
    noun = listing(flags.rest)
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
        return None
    else:
        said = sides_called(noun, graph)
        if len(said) != 1:
            return None
        ((relation, end),) = said
        entities = np.unique(triplets_of(graph, relation)[:, COLUMNS[end]])
    counted = asks_for_count(text)
    return EntitySet.of(entities, (relation, end), MATCH_PROBABILITY, counted=counted)
