"""Questions of one clause whose noun or verb no relation of the graph says.

"What is the salary of Ann" is not answered by her birthplace, whatever a policy holds
for likely: where no relation around says salary, the graph seldom has the answer. Such
nodes keep their place; "there is no answer" gets ahead of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float32

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import NamedWays
from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.stated_relation import is_clause, noun_of_topic

NOUN_DOUBT = 10.0
"""Logits by which "there is no answer" is ahead of a node, where the question has a
noun for the step, and its relation does not say that."""
CLAUSE_DOUBT = 2.0
"""The same where it has a verb, which may have many names."""


def unsaid_steps(
    question: str,
    topics: Sequence[str],
    said: Bool[np.ndarray, "r"],
    around: LocalGraph,
    ways: NamedWays,
) -> Float32[np.ndarray, "v"]:
    """By how much "there is no answer" is ahead of each node; mostly 0.

    Args:
        question: the question.
        topics: names that it mentions.
        said: relations that it names, and those that need no word.
        around: the candidates.
        ways: to each node.
    """
    out = np.zeros(len(ways.steps), np.float32)
    if len(around.mentions) != 1:
        return out
    words = question_tokens(question, topics)
    doubt = CLAUSE_DOUBT if is_clause(words) else 0.0
    if noun := noun_of_topic(words):
        asked = frozenset[str]().union(*map(word_forms, noun))
        forms = map(relation_forms, around.relations)
        said = np.array([not asked.isdisjoint(each) for each in forms], bool)
        doubt = NOUN_DOUBT
    if doubt:
        is_topic = ways.steps == 0
        arcs = said[around.relation_index] & is_topic[around.nodes].any(axis=1)
        is_said = (ways.steps > 1) & (ways.named > 0)
        is_said[around.nodes[arcs].ravel()] = True
        out[~is_said] = doubt
    return out
