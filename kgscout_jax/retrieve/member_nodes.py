"""Nodes of a kind that are joined with the one topic: "which countries are in X"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.retrieve.kind_weights import named_weights
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import HEAD
from kgscout_jax.text.members_question import members_noun
from kgscout_jax.text.question_clause import BE
from kgscout_jax.text.question_noun import noun_of_topic
from kgscout_jax.text.relation_predicate import head_type
from kgscout_jax.text.relation_words import leads_to_class, relation_words
from kgscout_jax.text.words import ARTICLES

NEGATING = frozenset("not no never without except".split())
_ASKING = frozenset(("which", "what"))


def member_nodes(
    words: Sequence[str], around: LocalGraph, called: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"] | None:
    """The nodes that a question asks for which names no more than their kind.

    None for other questions, and where no one relation joins all with the topic.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
        called: True at nodes that are called what is asked for.
    """
    if len(around.mentions) != 1 or not members_noun(words):
        return None
    is_topic = around.topic_mask(len(called))
    meant = called & ~is_topic
    slots, ends = np.nonzero(meant[around.nodes] & is_topic[around.nodes[:, ::-1]])
    sides = 2 * around.relation_index[slots] + ends
    out = np.zeros_like(called)
    out[around.nodes[slots, ends]] = True
    # The termini of a line are among its stations.
    all_by_one = any(
        len(np.unique(around.nodes[slots[own], ends[own]])) == out.sum()
        for own in (sides == side for side in np.unique(sides))
    )
    return out if all_by_one else None


class LoneNodes(NamedTuple):
    """Nodes that one relation joins with the topic."""

    nodes: Bool[np.ndarray, "v"]
    others: Int[np.ndarray, "o"]
    """The other relations of the topic."""


def lone_nodes(
    words: Sequence[str],
    around: LocalGraph,
    called: Bool[np.ndarray, "v"],
    possible: Bool[np.ndarray, "v"],
) -> LoneNodes | None:
    """The only nodes beside the one topic that are called what "which" asks for.

    And those that the same relation leads to, if they may be called so.

    "Which peaks lie inside X" has no word for a relation, and needs none. "Who is the
    director of X" does, and its relation must say it. None where several relations lead
    to such nodes. The words may name another relation of the topic.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
        called: True at nodes that are called what is asked for.
        possible: False at nodes that are no answers.
    """
    first, second = (*words, "", "")[:2]
    asks = (first, second) == ("how", "many") or (first in _ASKING and second not in BE)
    noun = noun_of_topic(words)
    if not (asks or noun) or not NEGATING.isdisjoint(words):
        return None
    if len(around.mentions) != 1:
        return None
    is_topic = around.topic_mask(len(called))
    slots, ends = np.nonzero(is_topic[around.nodes[:, ::-1]])
    nodes, relations = around.nodes[slots, ends], around.relation_index[slots]
    meant = called[nodes] & ~is_topic[nodes]
    all_sides = 2 * relations + ends
    sides = np.unique(all_sides[meant])
    if len(sides) != 1:
        return None
    relation, end = divmod(int(sides[0]), 2)
    if noun and not _is_called(around.relations[relation], end, noun):
        return None
    out = np.zeros_like(called)
    out[nodes[all_sides == sides[0]]] = True
    others = np.setdiff1d(relations, relation)
    return LoneNodes(out & possible & ~is_topic, others)


def _is_called(relation: str, end: int, noun: Sequence[str]) -> bool:
    """Whether a relation's name calls what stands at an end by a noun, or its path says
    that its heads are of that type: ``/film/director/film``."""
    name = " ".join(noun)
    if end == HEAD and head_type(relation) == name:
        return True
    return named_weights(frozenset((name,)), relation)[end] > 0


def alike_nodes(
    words: Sequence[str], around: LocalGraph, possible: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"] | None:
    """The nodes that no word tells apart: all are answers, or none is.

    Those that the only relation of the one topic leads to; else of a question that
    names no more than a kind, those of the one relation to the topic that ends in its
    preposition: "hosts in X" by ``located_in``. None where there are none.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
        possible: False at nodes that are no answers.
    """
    if len(around.mentions) != 1 or not NEGATING.isdisjoint(words):
        return None
    is_topic = around.topic_mask(len(possible))
    slots, ends = np.nonzero(is_topic[around.nodes])
    to_class = np.array([leads_to_class(each) for each in around.relations], bool)
    kept = ~to_class[around.relation_index[slots]]
    slots, ends = slots[kept], ends[kept]
    sides = 2 * around.relation_index[slots] + ends
    used = np.unique(sides)
    before = words.index(TOPIC) - 1 if TOPIC in words else -1
    while before > 0 and words[before] in ARTICLES:
        before -= 1
    if len(used) > 1 and before >= 0 and members_noun(words):
        last = [relation_words(each)[-1:] for each in around.relations]
        used = np.array([s for s in used if s % 2 and last[s // 2] == [words[before]]])
    if len(used) != 1:
        return None
    chosen = sides == used[0]
    out = np.zeros_like(possible)
    out[around.nodes[slots[chosen], 1 - ends[chosen]]] = True
    out &= possible & ~is_topic
    return out if out.sum() > 1 else None
