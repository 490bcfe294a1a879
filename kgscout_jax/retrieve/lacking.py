"""Whether a topic lacks what a question asks for, where nodes like it have it.

Others' answers are none of its own: "there is no answer" gets ahead of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.record_nodes import leads_to
from kgscout_jax.retrieve.shared_nodes import class_members, neighbours
from kgscout_jax.retrieve.stated_nodes import is_dating, nodes_at_ends, stated_nodes
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.stated_relation import all_answer_ends


def lacks_relation(words: Sequence[str], around: LocalGraph) -> bool:
    """Whether a question says relations that are here, and none of which its topic has.

    Args:
        words: of the question, see ``question_tokens``.
        around: its candidates.
    """
    if len(around.mentions) != 1:
        return False
    said = all_answer_ends(words, around.relations)
    if words[:1] == ["when"]:  # "Born in" may say where.
        dated = [*map(is_dating, around.relations)]
        said = [
            ends if of_time else frozenset()
            for ends, of_time in zip(said, dated, strict=True)
        ]
    everywhere = np.ones(around.nodes.max(initial=0) + 1, bool)
    return (
        any(said)
        and stated_nodes(said, around, everywhere) is None
        and have_alike_nodes(said, around)
    )


def have_alike_nodes(ends: Sequence[frozenset[int]], around: LocalGraph) -> bool:
    """Whether nodes like the topic have relations, at the other ends than these.

    Bands have no country where only their cities do: what is asked for lies a step
    further. Alike are nodes of a common class; without classes, those that stand at
    a third of the topic's ends of relations or more.

    Args:
        ends: see ``stated_ends``.
        around: the candidates.
    """
    v = int(around.nodes.max(initial=0)) + 1
    is_topic = around.topic_mask(v)
    holders = np.zeros(v, bool)
    for end in (HEAD, TAIL):
        asked = np.array([end in each for each in ends], bool)[around.relation_index]
        holders[around.nodes[asked, 1 - end]] = True
    of_class = around.to_class[around.relation_index]
    own = around.nodes[of_class & is_topic[around.nodes[:, 0]], 1]
    if len(own):
        head, tail = around.nodes[of_class].T
        return bool(holders[head[np.isin(tail, own)]].any())
    node, end = around.ends
    own_ends = np.unique(end[is_topic[node]])
    known = np.isin(end, own_ends)
    shared = np.bincount(node[known & holders[node]], minlength=v)
    return bool(3 * shared.max(initial=0) >= len(own_ends))


def lacks_attribute(
    nouns: frozenset[str], around: LocalGraph, unnamed: Bool[np.ndarray, "v"]
) -> bool:
    """Whether the topic has none of what is asked for, where others of its class do.

    "Which hut did they use for Ortler" asks for a ``hut``, as other ascents have one.

    Args:
        nouns: what is asked for.
        around: the candidates.
        unnamed: True at nodes without a name.
    """
    if len(around.mentions) != 1 or not nouns:
        return False
    leading = np.array([leads_to(each, nouns) for each in around.relations], bool)
    heads, tails = around.nodes.T
    slots = (leading & ~around.to_class)[around.relation_index]
    is_topic = around.topic_mask(len(unnamed))
    if not slots.any() or (is_topic[heads] | is_topic[tails])[slots].any():
        return False
    # What is called so by a record of its own has it.
    beside = neighbours(is_topic, around) & unnamed
    if beside[around.nodes[slots]].any():
        return False
    of_class = around.to_class[around.relation_index]
    own = np.unique(tails[of_class & is_topic[heads]])
    alike = np.zeros_like(unnamed)
    alike[heads[of_class & np.isin(tails, own)]] = True
    return bool(alike[heads[slots]].all())


def lacks_member(around: LocalGraph) -> bool:
    """Whether one of two topics is a class, and the other is joined with none of it by
    the relation that joins those like it.

    "Which database does X use", where other services use one.

    Args:
        around: the candidates.
    """
    if len(around.mentions) != 2:
        return False
    v = int(around.nodes.max(initial=0)) + 1
    for mention, (other,) in zip(around.mentions, ([1], [0]), strict=True):
        topic = np.zeros(v, bool)
        topic[mention] = True
        members = class_members(topic, around)
        alone = replace(around, mentions=[around.mentions[other]])
        if not members.any():
            continue
        known = around.tail_shares(members) == 1
        ends = [frozenset([TAIL] if is_known else []) for is_known in known]
        if not known.any() or not have_alike_nodes(ends, alone):
            return False
        start = alone.topic_mask(v)
        return not nodes_at_ends(known, ends, start, around).any()
    return False


def lacks_qualified(
    words: Sequence[str], called: Bool[np.ndarray, "v"], around: LocalGraph
) -> bool:
    """Whether one of two topics qualifies what is asked for, and all that the other has
    of that is qualified otherwise: "which software contracts does X have", where its
    contracts are of another category.

    Args:
        words: of the question, see ``question_tokens``; they begin "which TOPIC".
        called: True at nodes that are called what is asked for.
        around: the candidates.
    """
    begins = [*words[:2]] in (["which", TOPIC], ["what", TOPIC])
    if len(around.mentions) != 2 or not begins:
        return False
    heads, tails = around.nodes.T
    own = ~around.to_class[around.relation_index] & called[heads]
    for mention, other in (around.mentions, around.mentions[::-1]):
        is_topic = np.zeros_like(called)
        is_topic[other] = True
        beside = called & neighbours(is_topic, around)
        is_value = not np.isin(heads, mention).any()
        relations = around.relation_index[own & np.isin(tails, mention)]
        for relation in np.unique(relations) if is_value and beside.any() else ():
            known = np.zeros_like(called)
            known[heads[around.relation_index == relation]] = True
            if known[beside].all():
                return True
    return False
