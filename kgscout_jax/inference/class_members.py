"""Entities by the class that triplets say they are of."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.relation_sides import triplets_of
from kgscout_jax.retrieve.node_classes import class_noun
from kgscout_jax.text.asked_kind import noun_synonyms
from kgscout_jax.text.relation_words import leads_to_class
from kgscout_jax.text.subclasses import is_subclass_relation


def of_class(
    noun: tuple[str, ...], graph: KnowledgeGraph, entities: Int[np.ndarray, "n"]
) -> Bool[np.ndarray, "n"] | None:
    """True at entities of the class that a noun says; None: few have a class.

    Args:
        noun: in singular.
        graph: the graph.
        entities: those that may be of it.
    """
    steps = class_relations(graph)
    unique = np.unique(entities)
    if not noun or not steps or not len(unique):
        return None
    starts, ids = graph.by_head.rows(unique)
    rows = np.asarray(graph.triplets[ids])
    is_step = np.isin(rows[:, 1], steps)
    heads = unique[starts[is_step]]
    named = leads_to_noun(graph, rows[is_step], _names(noun))
    if not named.any() and 2 * len(np.unique(heads)) < len(unique):
        return None
    return np.isin(entities, heads[named])


def class_members(
    noun: tuple[str, ...], graph: KnowledgeGraph
) -> tuple[int, Int[np.ndarray, "m"]] | None:
    """The relation to a class that a noun says, and its members; None without such.

    Args:
        noun: in singular.
        graph: the graph.
    """
    for relation in dict.fromkeys(class_relations(graph) + _subclass_relations(graph)):
        rows = triplets_of(graph, relation)
        for names in (frozenset((" ".join(noun),)), _names(noun)):
            named = leads_to_noun(graph, rows, names)
            if named.any():  # A capital city is a city too.
                named |= leads_to_noun(graph, rows, names, last=True)
                return relation, np.unique(rows[named, 0])
    return None


def _names(noun: tuple[str, ...]) -> frozenset[str]:
    """A noun and its synonyms: "novels" may be books."""
    name = " ".join(noun)
    return frozenset((name, *noun_synonyms({name})))


def leads_to_noun(
    graph: KnowledgeGraph,
    rows: Int[np.ndarray, "m 3"],
    nouns: frozenset[str],
    *,
    last: bool = False,
) -> Bool[np.ndarray, "m"]:
    """True at triplets whose tail is called like one of the nouns, or ends in one."""
    tails = np.unique(rows[:, 2])
    names = map(class_noun, texts_of(graph.entities, tails))
    found = (name.rpartition(" ")[2] if last else name for name in names)
    called = np.array([name in nouns for name in found], bool)
    return np.isin(rows[:, 2], tails[called])


def class_relations(graph: KnowledgeGraph) -> list[int]:
    """The relations whose tails say what their heads are."""
    return [i for i, name in enumerate(graph.relation_names) if leads_to_class(name)]


def _subclass_relations(graph: KnowledgeGraph) -> list[int]:
    """The relations to wider classes: in an ontology things are classes themselves."""
    names = graph.relation_names
    return [i for i, name in enumerate(names) if is_subclass_relation(name)]
