"""Which entities are of the kind that a question compares: databases, no tools."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.class_members import (
    class_members,
    leads_to_noun,
    of_class,
)
from kgscout_jax.retrieve.kind_mask import kind_mask
from kgscout_jax.retrieve.kind_weights import GENERIC_NOUNS
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import (
    HEAD,
    STATED,
    base_noun,
    end_nouns,
)
from kgscout_jax.text.relation_words import last_word, leads_to_class
from kgscout_jax.text.words import WORD

MAX_KIND_TRIPLETS = 500_000
"""The most triplets that are read to tell the kind of entities."""
NAME_SHARE = 0.3
"""Share of names that end in what is asked for ("Rotwand Hut"), from which on it is no
accident ("Tyson Foods Company")."""


def entities_of_kind(
    text: str, graph: KnowledgeGraph, entities: Int[np.ndarray, "g"]
) -> Int[np.ndarray, "h"]:
    """Those that a question asks for by kind or noun; all where that tells nothing.

    None where others are of the class that it names: departments have budgets, and
    projects, of which there are some, have none. Classes decide, then what relations
    call their ends, or other triplets and names.

    Args:
        text: the question.
        graph: the graph.
        entities: those that are compared.
    """
    kind = asked_kind(text, [])
    degrees = graph.by_head.degrees(entities) + graph.by_tail.degrees(entities)
    if kind is None or not 0 < degrees.sum() <= MAX_KIND_TRIPLETS:
        return entities
    said = {*map(base_noun, WORD.findall(text.casefold()))}
    if broad := kind.nouns & GENERIC_NOUNS & said:  # birds are not all species
        kind = replace(kind, nouns=broad)
    if _are_of_other_classes(kind.nouns, graph, entities):
        return entities[:0]
    _, ids = graph.by_head.rows(entities)
    rows = np.asarray(graph.triplets[ids])
    relations = graph.relation_names
    of_domain = [
        i
        for i in np.unique(rows[:, 1]).tolist()
        if any(end_nouns(relations[i])[HEAD].get(n) == STATED for n in kind.nouns)
    ]
    in_domain = np.isin(entities, rows[np.isin(rows[:, 1], of_domain), 0])
    if in_domain.any():  # ``geography.mountain.elevation_m``
        return entities[in_domain]
    is_end = any(_end_noun(each) in kind.nouns for each in relations)
    whole = frozenset(noun for noun in kind.nouns if " " in noun)
    titled = rows[leads_to_noun(graph, rows, whole)] if whole else rows[:0]
    if len(titled):  # "Account manager" says more than a relation ``manager``.
        return entities[np.isin(entities, titled[:, 0])]
    # Keywords call some databases so; the tail of ``used_in_database`` is one as well.
    of_class = [i for i, name in enumerate(relations) if leads_to_class(name)]
    named = leads_to_noun(graph, rows, kind.nouns)
    if named.any():  # A capital city is a city too.
        narrower = leads_to_noun(graph, rows, kind.nouns, last=True)
        named |= narrower & np.isin(rows[:, 1], of_class)
    called = rows[named]
    if not len(called):  # a backend engineer is an engineer
        titles = rows[_is_only_one(rows)]
        # Of "Hill Wines" more is known: it is no title of the wine that it makes.
        plain = graph.by_head.degrees(titles[:, 2]) == 0
        titles = titles[plain | np.isin(titles[:, 1], of_class)]
        called = titles[leads_to_noun(graph, titles, kind.nouns, last=True)]
    decides = called[np.isin(called[:, 1], of_class)] if is_end else called
    if len(decides):
        return entities[np.isin(entities, decides[:, 0])]
    by_end = np.zeros(len(entities), bool)
    if is_end:
        ends = [i for i, name in enumerate(relations) if _end_noun(name) in kind.nouns]
        starts, incoming = graph.by_tail.rows(entities)
        by_end[starts[np.isin(graph.triplets[incoming, 1], ends)]] = True
        if np.isin(rows[:, 1], of_class).any():
            # Courses have a class, and instructors are what relations call so.
            return entities[by_end]
    by_name = _named_mask(graph, entities, kind.nouns)
    if by_name.mean() >= NAME_SHARE:
        return entities[by_name | by_end]  # Camp Nou is a ``home_stadium``.
    right = _fitting_mask(text, graph, entities, rows)
    if not right.any():
        return entities
    if is_end and not right.all():
        right |= np.isin(entities, called[:, 0]) | _alike(graph, entities, right)
    return entities[right]


def _are_of_other_classes(
    nouns: frozenset[str], graph: KnowledgeGraph, entities: Int[np.ndarray, "g"]
) -> bool:
    """Whether one of the nouns is a class, and none of the entities is of it."""
    for noun in nouns:
        mask = of_class((*noun.split(),), graph, entities)
        if mask is not None and mask.any():
            return False
    found = [class_members((*noun.split(),), graph) for noun in nouns]
    members = [each[1] for each in found if each is not None]
    return bool(members) and not any(np.isin(entities, each).any() for each in members)


def _is_only_one(rows: Int[np.ndarray, "m 3"]) -> Bool[np.ndarray, "m"]:
    """True at triplets of relations that lead from each head to one tail.

    A post does; "Basque Country" among many provinces is no country.
    """
    pairs = np.unique(rows[:, :2], axis=0)[:, 1]
    several = np.bincount(rows[:, 1]) > np.bincount(
        pairs, minlength=rows[:, 1].max(initial=-1) + 1
    )
    return ~several[rows[:, 1]]


def _end_noun(relation: str) -> str:
    """The last word of a relation, in singular."""
    return base_noun(last_word(relation))


def _named_mask(
    graph: KnowledgeGraph, entities: Int[np.ndarray, "g"], nouns: frozenset[str]
) -> Bool[np.ndarray, "g"]:
    """True at entities whose name ends in one of the nouns; what stands in brackets
    but tells some from others, "Dune (1984 film)"."""
    last = [
        WORD.findall(each.casefold().partition(" (")[0])[-1:]
        for each in texts_of(graph.entities, entities)
    ]
    return np.array([bool(each) and base_noun(each[0]) in nouns for each in last], bool)


def _fitting_mask(
    text: str,
    graph: KnowledgeGraph,
    entities: Int[np.ndarray, "g"],
    rows: Int[np.ndarray, "m 3"],
) -> Bool[np.ndarray, "g"]:
    """False at entities that their triplets make another kind than is asked for."""
    relations, index = np.unique(rows[:, 1], return_inverse=True)
    ends, nodes = np.unique(rows[:, [0, 2]], return_inverse=True)
    around = LocalGraph(
        [graph.relation_names[relation] for relation in relations.tolist()],
        index,
        nodes.reshape(-1, 2),
        [],
        lambda places: texts_of(graph.entities, ends[places]),
    )
    mask = kind_mask(text, [], around, np.asarray(graph.unnamed_mask)[ends])
    if mask is None:
        return np.ones(len(entities), bool)
    return ~mask.wrong[np.searchsorted(ends, entities)]


def _alike(
    graph: KnowledgeGraph,
    entities: Int[np.ndarray, "g"],
    right: Bool[np.ndarray, "g"],
) -> Bool[np.ndarray, "g"]:
    """True at entities with two relations or more, all of which the ``right`` have.

    Few databases may be the tail of ``used_in_database``: the others are databases too.
    Relations count with their direction.
    """
    starts, ids = graph.by_head.rows(entities)
    ends, incoming = graph.by_tail.rows(entities)
    pairs = np.unique(
        np.concatenate(
            [
                np.stack([starts, 2 * graph.triplets[ids, 1]], axis=1),
                np.stack([ends, 2 * graph.triplets[incoming, 1] + 1], axis=1),
            ]
        ),
        axis=0,
    )
    known = np.isin(pairs[:, 1], pairs[right[pairs[:, 0]], 1])
    count = np.bincount(pairs[:, 0], minlength=len(entities))
    return (np.bincount(pairs[:, 0], known, len(entities)) == count) & (count > 1)
