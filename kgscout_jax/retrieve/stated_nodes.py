"""Nodes that a question of one clause asks for in the words of the graph.

"Which drugs treat asthma" says the relation ``treats`` and nothing else: its answers
are heads of it. A policy that has not seen a graph may walk on, or take the relation
the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.chain_nodes import LIVING, POPULATION
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.compared_set import compared_set
from kgscout_jax.text.joined_nouns import joined_nouns
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.question_clause import TIMES
from kgscout_jax.text.relation_groups import synonyms
from kgscout_jax.text.relation_words import plain_words, relation_words
from kgscout_jax.text.stated_relation import all_answer_ends
from kgscout_jax.text.subclasses import is_subclass_relation, subclass_end


def stated_ends(words: Sequence[str], around: LocalGraph) -> list[frozenset[int]]:
    """Of each relation the ends that a question asks for; () of several topics.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
    """
    if len(around.mentions) != 1:
        return []
    end = subclass_end(words, TOPIC)
    if end is not None and any(map(is_subclass_relation, around.relations)):
        asked = frozenset([end])
        return [
            asked if is_subclass_relation(each) else frozenset()
            for each in around.relations
        ]
    several = [all_answer_ends(each, around.relations) for each in joined_nouns(words)]
    if several and all(map(any, several)):
        return [frozenset[int]().union(*each) for each in zip(*several, strict=True)]
    at_topic = np.isin(around.nodes, around.starts).any(axis=1)
    index = np.unique(around.relation_index[at_topic]).tolist()
    near = [str(around.relations[i]) for i in index]
    if words[:2] == ["how", "many"] and not LIVING.isdisjoint(words):
        counts = [not POPULATION.isdisjoint(relation_words(each)) for each in near]
        if any(counts):  # The population, not whose homes are known.
            said = {
                each for each, is_count in zip(near, counts, strict=True) if is_count
            }
            return [
                frozenset([TAIL] if each in said else []) for each in around.relations
            ]
    return _with_other_names(all_answer_ends(words, around.relations, near), around)


def _with_other_names(
    ends: list[frozenset[int]], around: LocalGraph
) -> list[frozenset[int]]:
    """The ends of relations, also of those that are other names of a stated one.

    "Is housed in" says where some departments are, and "located in" where others are.
    Nothing may have both: who wrote a book is said beside who made the film of it.
    """
    said = [i for i, each in enumerate(ends) if each]
    if len(said) == len(ends) or not said:
        return ends
    names = {" ".join(plain_words(each)): i for i, each in enumerate(around.relations)}
    out = [*ends]
    for i in said:
        for name, inverse in synonyms(str(around.relations[i])):
            other = names.get(name)
            if other is None or ends[other]:
                continue
            slots, others = (around.relation_index == each for each in (i, other))
            subjects = around.nodes[slots, TAIL if inverse else HEAD]
            if not np.isin(around.nodes[others, HEAD], subjects).any():
                flipped = frozenset(1 - end for end in ends[i])
                out[other] |= flipped if inverse else ends[i]
    return out


def is_dating(relation: str) -> bool:
    """Whether a relation's name says that it leads to a time.

    >>> [is_dating(name) for name in ("died_on", "opening_date", "died_in")]
    [True, True, False]
    """
    words = relation_words(relation)
    return words[-1:] == ["on"] or not TIMES.isdisjoint(words)


def compared_nodes(
    words: Sequence[str], around: LocalGraph, possible: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"] | None:
    """The nodes that a question says it compares; None where it does not.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
        possible: False at nodes that are no answers.
    """
    asked = compared_set(words)
    if len(around.mentions) != 1 or asked is None:
        return None
    ends = all_answer_ends(asked.words, around.relations)
    nodes = stated_nodes(ends, around, possible)
    if nodes is None or not asked.same:
        return nodes
    back = [frozenset(1 - end for end in each) for each in ends]
    out = nodes_at_ends(np.array([*map(bool, ends)], bool), back, nodes, around)
    out[around.starts] = False
    return out & possible


def stated_nodes(
    ends: Sequence[frozenset[int]],
    around: LocalGraph,
    possible: Bool[np.ndarray, "v"],
    start: Bool[np.ndarray, "v"] | None = None,
) -> Bool[np.ndarray, "v"] | None:
    """The possible nodes at the end that is asked for; None: there are none.

    Args:
        ends: see ``stated_ends``.
        around: the candidates of the question.
        possible: False at nodes that are no answers.
        start: nodes that relations lead from; None for the topics.
    """
    if not any(ends):
        return None
    is_topic = around.topic_mask(len(possible))
    said = np.array([*map(bool, ends)], bool)
    start = is_topic if start is None else start
    out = nodes_at_ends(said, ends, start, around) & possible & ~is_topic
    return out if out.any() else None


def nodes_at_ends(
    said: Bool[np.ndarray, "r"],
    ends: Sequence[frozenset[int]],
    start: Bool[np.ndarray, "v"],
    around: LocalGraph,
) -> Bool[np.ndarray, "v"]:
    """Nodes that relations lead to, at the end that is asked for.

    Args:
        said: the relations.
        ends: see ``stated_ends``; both where there is none.
        start: nodes that they lead from.
        around: the candidates.
    """
    out = np.zeros_like(start)
    for end in (HEAD, TAIL):
        asked = said & np.array([end in each or not each for each in ends], bool)
        slots = asked[around.relation_index] & start[around.nodes[:, 1 - end]]
        out[around.nodes[slots, end]] = True
    return out
