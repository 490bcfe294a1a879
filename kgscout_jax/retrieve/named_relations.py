"""Which relations a question names, and how well the way to each node says it.

"Who founded the firm that Ada works for" names ``works_for`` and ``founded_by``; a node
that ``lives_in`` leads to is seldom meant, nor one that only ``works_for`` leads to, nor
one on a longer way that the question has no words for. The network compares embeddings,
in which words of the topics and of the kind of answer blur the names of relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.readings import STEPS, topic_steps
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.words import question_words

WEIGHT = 2.2
"""Logits of a node that only relations lead to which the question names, more than of
one that none of them leads to."""
CENTRE = 0.6
"""Share of named relations at which the logit stays."""
DETOUR_WEIGHT = 1.7
"""Logits per step of a way that the question neither names nor has another word for."""


class NamedRelations(NamedTuple):
    """What the words of a question say of relations."""

    named: Bool[np.ndarray, "r"]
    """True at relations that share a word with the question, in any form or phrase, or
    a group of related words."""
    unknown: int
    """Number of words that name none of them, and may say any."""


class NamedWays(NamedTuple):
    """Of each node the shortest way to it with the most named relations."""

    steps: Int[np.ndarray, "v"]
    """From the nearest topic, see ``topic_steps``."""
    named: Int[np.ndarray, "v"]
    """Steps of the way along named relations."""


def named_relations(
    question: str, topics: Sequence[str], relations: Sequence[str]
) -> NamedRelations:
    """Which relations a question names.

    Args:
        question: the question.
        topics: names that it mentions; their words name no relation.
        relations: names.
    """
    words = [word_forms(word.text) for word in question_words(question, topics)]
    asked = frozenset[str]().union(*words)
    forms = [relation_forms(each) for each in relations]
    said = frozenset[str]().union(*forms)
    named = np.array([not asked.isdisjoint(each) for each in forms], bool)
    return NamedRelations(named, sum(said.isdisjoint(word) for word in words))


def named_ways(
    named: Bool[np.ndarray, "r"], around: LocalGraph, v: int
) -> NamedWays:
    """The ways to nodes; no step is named beyond ``STEPS`` from the topics.

    Args:
        named: of the relations of ``around``.
        around: the candidates.
        v: number of nodes.
    """
    steps = topic_steps(around.nodes, around.starts, v)
    is_named = np.tile(named[around.relation_index], 2)
    source, target = np.concatenate([around.nodes, around.nodes[:, ::-1]]).T
    counts = np.zeros(v, np.int64)
    for step in range(1, STEPS + 1):
        arcs = np.flatnonzero((steps[target] == step) & (steps[source] == step - 1))
        if not len(arcs):
            break
        np.maximum.at(counts, target[arcs], counts[source[arcs]] + is_named[arcs])
    return NamedWays(steps, counts)


def way_logits(
    ways: NamedWays, unknown: int, *, detours: bool
) -> Float32[np.ndarray, "v"]:
    """What nodes gain or lose by the ways to them; 0 where there is none.

    Args:
        ways: see ``named_ways``.
        unknown: words of the question that may say any relation.
        detours: whether steps count that the question has no words for. Not where
            values decide: the way to a value is not what is asked.
    """
    steps = np.maximum(ways.steps, 1)
    out = WEIGHT * (ways.named / steps - CENTRE)
    if detours:
        extra = np.maximum(steps - ways.named - unknown, 0)
        out -= DETOUR_WEIGHT * np.where(steps > 1, extra, 0)
    out[(ways.steps == 0) | (ways.steps > STEPS)] = 0.0
    return out.astype(np.float32)
