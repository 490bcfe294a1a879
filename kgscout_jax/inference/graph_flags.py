"""What a question says of entities that columns of yes and no hold, or of gender."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.relation_sides import triplets_of
from kgscout_jax.retrieve.flag_nodes import flags_said, without_flag
from kgscout_jax.text.gender_words import gender_question
from kgscout_jax.text.kin_words import gender_of, is_gender_relation


class GraphFlags(NamedTuple):
    """What a question says of entities that columns of yes and no hold."""

    rest: str
    """The question without the flags."""
    holders: Int[np.ndarray, "h"] | None = None
    """The entities that have them; None: it names none."""
    relation: int = -1
    """The last one."""
    are_people: bool = False
    """Whether it asks for people of a gender."""


def flags_of(text: str, graph: KnowledgeGraph) -> GraphFlags:
    """The flags of a question over a whole graph: "vegetarian dishes"."""
    flags = _of_gender(text, graph)
    names = [graph.relation_names[i] for i in graph.flag_relations]
    for place, wanted in flags_said(flags.rest, names):
        relation, name = graph.flag_relations[place], names[place]
        _, ids = graph.by_tail.rows(graph.find_all(sorted(wanted)))
        rows = np.asarray(graph.triplets[ids])
        heads, held = rows[rows[:, 1] == relation, 0], flags.holders
        flags = flags._replace(
            rest=without_flag(flags.rest, name),
            holders=np.unique(heads) if held is None else np.intersect1d(held, heads),
            relation=relation,
        )
    return flags


def _of_gender(text: str, graph: KnowledgeGraph) -> GraphFlags:
    """The people of the gender that a question asks for."""
    people = gender_question(text)
    if people is None:
        return GraphFlags(text)
    for relation, name in enumerate(graph.relation_names):
        if is_gender_relation(name):
            rows = triplets_of(graph, relation)
            tails = np.unique(rows[:, 2])
            genders = map(gender_of, texts_of(graph.entities, tails))
            wanted = tails[[each == people.gender for each in genders]]
            heads = np.unique(rows[np.isin(rows[:, 2], wanted), 0])
            return GraphFlags(people.rest, heads, relation, are_people=True)
    return GraphFlags(text)
