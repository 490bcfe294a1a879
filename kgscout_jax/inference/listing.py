"""All of a kind: members of a class, or what a relation leads to."""

from __future__ import annotations

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_members import class_members
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.node_answers import MAX_ANSWERS
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.inference.whole_graph import flags_of
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.listing import listing
from kgscout_jax.text.stated_relation import all_answer_ends

_COLUMNS = {HEAD: 0, TAIL: 2}


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
    counted = asks_for_count(text)
    if (found := class_members(noun, graph)) is not None:
        relation, entities = found
        end = HEAD
        if flags.holders is not None:
            relation, entities = flags.relation, np.intersect1d(entities, flags.holders)
    elif flags.holders is not None:
        return None
    else:
        names = [str(relation) for relation in graph.relations]
        ends = all_answer_ends([TOPIC, "s", *noun], names)
        said = [(i, max(each)) for i, each in enumerate(ends) if len(each) == 1]
        if len(said) != 1:
            return None
        ((relation, end),) = said
        rows = np.asarray(graph.triplets[graph.triplets[:, 1] == relation])
        entities = np.unique(rows[:, _COLUMNS[end]])
    if not 0 < len(entities) <= (len(graph) if counted else MAX_ANSWERS):
        return None
    return EntitySet(
        entities=entities.astype(np.int32),
        relation=relation,
        end=end,
        probability=MATCH_PROBABILITY,
        counted=counted,
    )
