"""Which relations a question names, and how many of those on the way to each node.

"Who founded the firm that Ada works for" names ``works_for`` and ``founded_by``; a node
that ``lives_in`` leads to is seldom meant. The network compares embeddings, in which
words of the topics and of the kind of answer blur the names of relations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float32

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.readings import STEPS, topic_steps
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.words import question_words

WEIGHT = 2.2
"""Logits of a node that only relations lead to which the question names, more than of
one that none of them leads to."""
CENTRE = 0.6
"""Share of named relations at which the logit stays."""


def named_relations(
    question: str, topics: Sequence[str], relations: Sequence[str]
) -> Bool[np.ndarray, "r"]:
    """True at relations that share a word with the question, in any form or phrase.

    Args:
        question: the question.
        topics: names that it mentions; their words name no relation.
        relations: names.
    """
    words = [word_forms(word.text) for word in question_words(question, topics)]
    forms = frozenset[str]().union(*words)
    named = [not forms.isdisjoint(relation_forms(each)) for each in relations]
    return np.array(named, bool)


def named_shares(
    named: Bool[np.ndarray, "r"], around: LocalGraph, v: int
) -> Float32[np.ndarray, "v"]:
    """The share of named relations on a shortest path to each node, the largest one.

    ``CENTRE`` at topics, and at nodes more than ``STEPS`` from them.

    Args:
        named: of the relations of ``around``.
        around: the candidates.
        v: number of nodes.
    """
    steps = topic_steps(around.nodes, around.starts, v)
    is_named = named[around.relation_index]
    source, target = np.concatenate([around.nodes, around.nodes[:, ::-1]]).T
    value = np.concatenate([is_named, is_named])
    counts = np.zeros(v, np.int64)
    for step in range(1, STEPS + 1):
        arcs = np.flatnonzero((steps[target] == step) & (steps[source] == step - 1))
        if not len(arcs):
            break
        np.maximum.at(counts, target[arcs], counts[source[arcs]] + value[arcs])
    shares = counts / np.maximum(steps, 1)
    shares[(steps == 0) | (steps > STEPS)] = CENTRE
    return shares.astype(np.float32)
