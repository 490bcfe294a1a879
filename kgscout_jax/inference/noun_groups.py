"""Which of several groups of entities a question means by a noun: clubs or players.

All have a year, say, and no class tells them apart. Relations do: players are heads of
``plays_for``, and clubs its tails. A noun that no relation knows means what relations
call nothing: an opera, where composers and theatres are what they call people and
places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.class_members import class_members
from kgscout_jax.retrieve.kind_weights import GENERIC_NOUNS, kind_weights, named_weights
from kgscout_jax.retrieve.named_ends import name_nouns
from kgscout_jax.text.asked_kind import AskedKind, asked_kind
from kgscout_jax.text.kinds import (
    GUESSED,
    HEAD,
    KINDS,
    NAMED,
    TAIL,
    Kind,
    end_nouns,
    noun_kind,
)
from kgscout_jax.text.relation_phrases import word_forms
from kgscout_jax.text.relation_words import last_word
from kgscout_jax.text.value_words import is_comparing

HALF = 0.5
"""Share of a group from which on it is of a kind."""
NAME_SHARE = 0.1
"""Share of the names of a group that hold a noun, from which on it means the group."""
Ends = tuple[bool, bool]
"""Whether something is said of the heads and of the tails of a relation."""


def meant_groups(
    text: str, graph: KnowledgeGraph, groups: Sequence[Int[np.ndarray, "g"]]
) -> list[Int[np.ndarray, "h"]]:
    """Of each group those that a question may mean; all where it asks for no kind.

    Args:
        text: the question.
        graph: the graph.
        groups: entities that it may compare.
    """
    asked = asked_kind(text, [])
    if asked is None:
        return [*groups]
    # "Who is the oldest" asks for no noun.
    nouns = frozenset(noun for noun in asked.nouns if not is_comparing(noun))
    asked = replace(asked, nouns=nouns)
    for noun in sorted(nouns):
        if (found := class_members((*noun.split(),), graph)) is not None:
            within = [group[np.isin(group, found[1])] for group in groups]
            return within if any(map(len, within)) else [*groups]
    forms = frozenset[str]().union(*(word_forms(noun) for noun in nouns))
    for is_called in (
        lambda relation: _named_ends(relation, nouns),
        lambda relation: (False, not forms.isdisjoint(word_forms(last_word(relation)))),
    ):
        if any(any(is_called(name)) for name in graph.relation_names):
            return [group[_at_ends(graph, group, is_called)] for group in groups]
    shares = [_named_share(graph, group, nouns) for group in groups]
    best = max(shares, default=0.0)
    fits = [share > 0 and share > HALF * best for share in shares]
    if best < NAME_SHARE:
        fits = [_is_of_kind(asked, graph, group) for group in groups]
        meant = [group for group, fit in zip(groups, fits, strict=True) if fit]
        if not all(_overlap(one, other) for one, other in pairwise(meant)):
            return [group[:0] for group in groups]
    return [
        group if fit else group[:0] for group, fit in zip(groups, fits, strict=True)
    ]


def _overlap(one: Int[np.ndarray, "g"], other: Int[np.ndarray, "h"]) -> bool:
    """Whether half of the smaller group is in the other one."""
    return len(np.intersect1d(one, other)) >= HALF * min(len(one), len(other))


def _named_share(
    graph: KnowledgeGraph, entities: Int[np.ndarray, "g"], nouns: frozenset[str]
) -> float:
    """Share of the entities that are called like a noun: "Retro Studios"."""
    names = texts_of(graph.entities, entities)
    found = (not name_nouns(name).isdisjoint(nouns) for name in names)
    return sum(found) / max(len(entities), 1)


def _at_ends(
    graph: KnowledgeGraph,
    entities: Int[np.ndarray, "g"],
    is_called: Callable[[str], Ends],
) -> Bool[np.ndarray, "g"]:
    """True at entities at an end of a relation of which something is said."""
    ends = np.array([is_called(name) for name in graph.relation_names], bool)
    found = np.zeros(len(entities), bool)
    for side, index in enumerate((graph.by_head, graph.by_tail)):
        starts, ids = index.rows(entities)
        found[starts[ends[graph.triplets[ids, 1], side]]] = True
    return found


def _named_ends(relation: str, nouns: frozenset[str]) -> Ends:
    """Whether a relation calls its heads and tails what one of the nouns says."""
    head, tail = named_weights(nouns, relation)
    return head >= GUESSED, tail >= GUESSED


def _is_of_kind(
    asked: AskedKind, graph: KnowledgeGraph, entities: Int[np.ndarray, "g"]
) -> bool:
    """Whether relations call most entities people or places, as asked, or nothing."""
    if not len(entities):
        return False
    if asked.kind in ("person", "place"):
        right = _at_ends(graph, entities, lambda name: _kind_ends(name, asked.kind))
        if asked.nouns.isdisjoint(GENERIC_NOUNS) and asked.nouns:  # players, no coaches
            right &= ~_at_ends(graph, entities, lambda name: _roles(name, asked))
        return bool(right.mean() > HALF)
    other = _at_ends(graph, entities, lambda name: _claimed_ends(name, asked.nouns))
    return bool(other.mean() <= HALF)


def _roles(relation: str, asked: AskedKind) -> Ends:
    """Whether a relation calls its heads and tails some other sort of such people."""
    head, tail = (
        any(
            noun_kind(noun) == asked.kind
            and noun not in asked.nouns | GENERIC_NOUNS
            and weight >= GUESSED
            for noun, weight in each.items()
        )
        for each in end_nouns(relation)
    )
    return head, tail


def _kind_ends(relation: str, kind: Kind) -> Ends:
    """Whether a relation calls its heads and tails people, or places."""
    head, tail = kind_weights(relation)[:, KINDS.index(kind)] > 0
    is_place = kind == "place" and last_word(relation) in ("at", "in")
    return bool(head), bool(tail) or is_place


def _claimed_ends(relation: str, nouns: frozenset[str]) -> Ends:
    """Whether a relation calls its heads and tails something else than ``nouns``."""
    head, tail = (
        any(n not in nouns and weight >= NAMED for n, weight in each.items())
        for each in end_nouns(relation)
    )
    people, places = _kind_ends(relation, "person"), _kind_ends(relation, "place")
    return (
        head or people[HEAD] or places[HEAD],
        tail or people[TAIL] or places[TAIL],
    )
