"""Which relations a question names, and how well the way to each node says it.

"Who founded the firm that Ada works for" names ``works_for`` and ``founded_by``; a node
that ``lives_in`` leads to is seldom meant, nor one on a longer way whose steps the
question has no words for. The network compares embeddings, in which words of the topics
and of the kind of answer blur the names of relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.readings import STEPS, topic_steps
from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.kinds import base_noun, noun_kind
from kgscout_jax.text.question_clause import clause_noun
from kgscout_jax.text.relation_phrases import (
    relation_forms,
    said_forms,
    word_forms,
)
from kgscout_jax.text.relation_words import (
    is_another_post,
    of_other_years,
    relation_words,
)
from kgscout_jax.text.stated_relation import may_lead_to
from kgscout_jax.text.words import question_words

WEIGHT = 2.2
"""Logits of a node that only relations lead to which the question names, more than of
one that none of them leads to."""
CENTRE = 0.6
"""Share of named relations at which the logit stays."""
SAID = WEIGHT * (1 - CENTRE)
"""Logits that a node gains if the question says all of the way to it."""
PLACE_WORDS = frozenset("based headquartered lies located situated".split())
"""Words of relations that lead to where something is, as a rule."""
_MEASURING = frozenset("earn earns paid cost costs weigh weighs".split())
"""Verbs that say of what "how much" asks."""
DETOUR_WEIGHT = 1.7
"""Logits per detour, see ``detours``."""
DETOUR_DOUBT = 10.0
"""Logits per detour by which "there is no answer" is ahead of a node."""


class NamedRelations(NamedTuple):
    """What the words of a question say of relations."""

    named: Bool[np.ndarray, "r"]
    """True at relations that share a word with the question, in any form or phrase, or
    a group of related words."""
    other_years: Bool[np.ndarray, "r"]
    """True at relations of years that are not asked for, see ``of_other_years``."""
    best: Bool[np.ndarray, "r"]
    """Those of ``named`` of which no other one says the same words and more."""
    implied: Bool[np.ndarray, "r"]
    """True at relations that need no word: "the language of Bern" is that of the state
    that Bern lies in."""
    unknown: int
    """Number of words that name none of them, and may say any. The noun that a clause
    asks for says no step."""


class NamedWays(NamedTuple):
    """Of each node the shortest way to it that the question says best."""

    steps: Int[np.ndarray, "v"]
    """From the nearest topic, see ``topic_steps``."""
    named: Int[np.ndarray, "v"]
    """Most steps along named relations."""
    said: Int[np.ndarray, "v"]
    """Most steps along relations that are named or need no word."""


def named_relations(
    question: str, topics: Sequence[str], relations: Sequence[str]
) -> NamedRelations:
    """Which relations a question names.

    Args:
        question: the question.
        topics: names that it mentions; their words name no relation.
        relations: names.
    """
    texts = [word.text for word in question_words(question, topics)]
    if texts == ["much"]:  # "how much is a lamp"
        texts = ["price"]
    if len(texts) > 1:  # A national anthem is said by no ``country``.
        here = {word for each in relations for word in relation_words(each)}
        texts = [text for text in texts if text != "national" or text in here]
    words = [word_forms(text) for text in texts]
    kind = clause_noun(question_tokens(question, topics))
    asked = frozenset[str]().union(*words)
    says = _saying(words, [relation_forms(each) for each in relations])
    named = says.any(axis=1)
    named &= ~np.array([is_another_post(each, asked) for each in relations], bool)
    if kind:  # Who works "in" a department works for a firm: it is not asked for.
        fits = [
            may_lead_to(each, kind[-1]) or not asked.isdisjoint(said_forms(each))
            for each in relations
        ]
        named &= np.array(fits, bool)
    other_years = np.array(of_other_years(relations, {*texts}), bool)
    named &= ~other_years
    implied = np.array([needs_no_word(each) for each in relations], bool)
    unknown = sum(
        not says[:, place].any() and text not in kind
        for place, text in enumerate(texts)
        if text != "much" or _MEASURING.isdisjoint(texts)
    )
    best = named & ~_says_less(says)
    return NamedRelations(named, other_years, best, implied, unknown)


def _saying(
    words: Sequence[frozenset[str]], relations: Sequence[frozenset[str]]
) -> Bool[np.ndarray, "r w"]:
    """Which relations share a form with which words; the forms of each are given."""
    says = [[not forms.isdisjoint(word) for word in words] for forms in relations]
    return np.array(says, bool).reshape(len(relations), len(words))


def _says_less(says: Bool[np.ndarray, "r w"]) -> Bool[np.ndarray, "r"]:
    """True where another relation says all the words that a relation does, and more.

    "In what year did Ann die" asks for her death year, not for her birth year.
    """
    common = says.astype(np.float32) @ says.T
    own, others = np.diag(common)[:, None], np.diag(common)[None]
    return ((common == own) & (own > 0) & (own < others)).any(axis=1)


def named_ways(found: NamedRelations, around: LocalGraph, v: int) -> NamedWays:
    """The ways to nodes; no step is said beyond ``STEPS`` from the topics.

    Args:
        found: of the relations of ``around``.
        around: the candidates.
        v: number of nodes.
    """
    steps = topic_steps(around.nodes, around.starts, v)
    kinds = np.stack([found.named, found.named | found.implied], axis=1)
    gains = np.tile(kinds[around.relation_index], (2, 1))
    is_back = np.arange(len(gains)) >= len(around.nodes)
    lies_in = is_back & np.tile(found.implied[around.relation_index], 2)
    source, target = np.concatenate([around.nodes, around.nodes[:, ::-1]]).T
    counts = np.zeros((v, 2), np.int64)
    inside = steps == 0
    for step in range(1, STEPS + 1):
        arcs = np.flatnonzero((steps[target] == step) & (steps[source] == step - 1))
        if not len(arcs):
            break
        gained = gains[arcs]
        # What else lies where the topic does needs a word, what lies in it needs none.
        elsewhere = is_back[arcs] & ~inside[source[arcs]]
        gained[elsewhere, 1] = gained[elsewhere, 0]
        np.maximum.at(counts, target[arcs], counts[source[arcs]] + gained)
        into = arcs[lies_in[arcs] & inside[source[arcs]]]
        inside[target[into]] = True
    return NamedWays(steps, *counts.T)


def detours(ways: NamedWays, unknown: int) -> Int[np.ndarray, "v"]:
    """Steps of each way that the question does not say, nor has another word for.

    "Who directed Heat" has no word for the way from Heat to its writer, to another film
    of hers and to the director of that. A single step needs no word ("Where is Rome").

    Args:
        ways: see ``named_ways``.
        unknown: words of the question that may say any relation.
    """
    extra = np.maximum(ways.steps - ways.said - unknown, 0)
    return np.where((ways.steps > 1) & (ways.steps <= STEPS), extra, 0)


def way_logits(ways: NamedWays) -> Float32[np.ndarray, "v"]:
    """What nodes gain or lose by named relations on their ways; 0 without a way."""
    out = WEIGHT * (ways.named / np.maximum(ways.steps, 1) - CENTRE)
    out[(ways.steps == 0) | (ways.steps > STEPS)] = 0.0
    return out.astype(np.float32)


@lru_cache(maxsize=1 << 14)
def needs_no_word(relation: str) -> bool:
    """Whether a relation leads to where something is, or only says "in".

    >>> [needs_no_word(each) for each in ("located_in", "in_country", "in_team")]
    [True, True, False]
    """
    forms, words = relation_forms(relation), relation_words(relation)
    if "on" in words:  # "based on"
        return False
    if words in (["country"], ["continent"]):
        return True
    if words[-2:-1] == ["in"] and noun_kind(base_noun(words[-1])) == "place":
        return True
    return not forms or not PLACE_WORDS.isdisjoint(forms)
