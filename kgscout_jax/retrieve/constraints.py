"""What a question asks for beyond a walk: nodes of a kind, and a test of their values.

Evaluation and ``Scout`` read questions by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.constrained_logits import QuestionConstraints
from kgscout_jax.retrieve.described_nodes import described_nodes
from kgscout_jax.retrieve.flag_nodes import FlagNodes, flag_nodes
from kgscout_jax.retrieve.kind_mask import KindMask, kind_mask
from kgscout_jax.retrieve.kind_penalties import STATED_PENALTY
from kgscout_jax.retrieve.lacking import lacks_attribute, lacks_member, lacks_qualified
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.member_nodes import NEGATING, alike_nodes
from kgscout_jax.retrieve.named_relations import (
    SAID,
    NamedRelations,
    NamedWays,
    detours,
    named_relations,
    named_ways,
    way_logits,
)
from kgscout_jax.retrieve.node_classes import numbered_nodes, unasked_classes
from kgscout_jax.retrieve.opposed_nodes import opposed_nodes
from kgscout_jax.retrieve.record_nodes import record_nodes
from kgscout_jax.retrieve.said_nodes import (
    QuestionReading,
    SaidNodes,
    said_nodes,
)
from kgscout_jax.retrieve.shared_nodes import (
    are_of_class,
    neighbours,
    ways_to_mentions,
)
from kgscout_jax.retrieve.stated_nodes import (
    compared_nodes,
    stated_ends,
    stated_nodes,
)
from kgscout_jax.retrieve.unsaid_steps import KNOWN_DOUBT, unsaid_steps
from kgscout_jax.retrieve.unwanted_nodes import unwanted_nodes
from kgscout_jax.retrieve.value_test import value_test
from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.between_noun import has_between_noun
from kgscout_jax.text.joined_nouns import joined_nouns
from kgscout_jax.text.kinds import TAIL
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.text.members_question import only_noun
from kgscout_jax.text.question_noun import noun_of_topic, qualifies_plural
from kgscout_jax.text.relation_words import RANK_ADVERBS, relation_words
from kgscout_jax.text.value_question import ValueQuestion

_VAGUE_WORDS = frozenset(("who", "whom", "where"))
"""Question words that a stated relation says better."""


def question_constraints(
    question: str,
    topics: Sequence[str],
    compared: ValueQuestion | None,
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    definition: str | None = None,
) -> QuestionConstraints:
    """What a question asks for.

    Args:
        question: the question.
        topics: names that it mentions.
        compared: what it wants of values, with local nodes for its topics.
        around: its candidates.
        unnamed: True at nodes without a name.
        definition: the phrase of the relation that says what the topic is, if that is
            asked.
    """
    v = len(unnamed)
    flags = flag_nodes(question, around, v)
    text = question if flags is None else flags.rest
    kind = kind_mask(text, topics, around, unnamed, flagged=flags is not None)
    rows = numbered_nodes(around, v) & ~around.topic_mask(v)
    unnamed = unnamed | (rows if kind is None else rows & ~kind.called)
    words = question_tokens(text, topics)
    ends = stated_ends(words, around)
    if definition is not None:
        phrases = map(relation_phrase, around.relations)
        ends = [frozenset([TAIL] if each == definition else []) for each in phrases]
    several = any(ends) and bool(joined_nouns(words))
    by_noun = definition is not None or several or bool(noun_of_topic(words))
    if _names_rank(compared, words, around) or (any(ends) and by_noun):
        compared = None  # "The first publication year of X" is a relation's name.
        called = stated_nodes(ends, around, ~unnamed)
        if kind is not None and called is not None:
            kind = kind.without(called)  # No word says better what a period is.
    if kind is not None and any(ends):
        kind = _beside_stated(kind, words, ends, around, unnamed)
    reading = QuestionReading(
        text=text,
        topics=topics,
        words=words,
        around=around,
        unnamed=unnamed,
        ends=ends,
        several=several,
        flagged=flags is not None,
        kind=kind,
        relations=named_relations(text, topics, around.relations),
        possible=_possible(kind, flags, v),
    )
    records = record_nodes(
        text, topics, around, unnamed, reading.possible, reading.relations.named
    )
    if len(around.mentions) > 1 and records and records.stated is not None:
        compared = None  # "In 1995" is what a record has, beside all else that is said.
    said = SaidNodes() if compared is not None else said_nodes(reading, records)
    shared = _with_description(reading, said, flags)
    members = compared and compared_nodes(words, around, ~unnamed)
    values = value_test(compared, around, members, unnamed)
    plain = values is None and said.stated is None and said.chain is None
    alike = groups = None
    if plain and flags is None:
        alike = alike_nodes(words, around, reading.possible & ~unnamed)
        if shared is not None and are_of_class(shared, around):
            alike = shared
    if plain and shared is not None and NEGATING.isdisjoint(words):
        groups = ways_to_mentions(shared, around)
    one_clause = values is None and said.chain is None and not several
    steps = _steps(reading, said, one_clause=one_clause, by_value=values is not None)
    return QuestionConstraints(
        kind,
        values,
        around.starts,
        unwanted_nodes(text, words, around, unnamed, reading.relations.other_years),
        shared=shared,
        named=steps.gains,
        detours=steps.detours,
        opposed=opposed_nodes(text, words, around, v),
        classes=unasked_classes(text, topics, reading.relations.named, around, v),
        unsaid=steps.unsaid,
        near=steps.near,
        stated=said.stated,
        chain=said.chain if said.explained is None else said.explained,
        alike=alike,
        groups=groups,
        negated=flags is not None and flags.negated,
        lacking=one_clause and shared is None and reading.lacks_relation,
        members=said.members,
    )


def _names_rank(
    compared: ValueQuestion | None, words: Sequence[str], around: LocalGraph
) -> bool:
    """Whether a relation is called by a "first" or "last" of the question, and by its
    verb: "when was it first approved" compares nothing with ``first_approved``, and
    "the last first publication year" does."""
    if compared is None or not compared.is_superlative or not compared.word.weak:
        return False
    known, ranks = {*words}, sum(word in RANK_ADVERBS for word in words)
    names = (relation_words(each) for each in around.relations)
    return ranks > 0 and any(
        len(name) > 1
        and sum(word in RANK_ADVERBS for word in name) == ranks
        and {*name} <= known
        for name in names
    )


def _beside_stated(
    kind: KindMask,
    words: Sequence[str],
    ends: Sequence[frozenset[int]],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
) -> KindMask:
    """The kind that is asked for beside a stated relation, which may say it better.

    "Who owns X" may ask for a firm, and "where does X work" too. Of meteorites only
    those that a collection has may be called so. But "which architect built X" asks for
    its architect, whoever is called the builder.
    """
    vague = words[0] in _VAGUE_WORDS
    others = kind.by_form if vague else kind.by_form | kind.conflict
    others = others | (kind.penalties >= STATED_PENALTY)  # a class of another kind
    stated = stated_nodes(ends, around, ~(unnamed | others))
    if stated is None:
        return kind
    if only_noun(words) and kind.called.any():
        return kind  # "Which museums are in Spain", and its cities too
    if not kind.called.any():
        return kind.without(stated)
    beside = neighbours(around.topic_mask(len(unnamed)), around) & kind.called
    if not ((stated & ~kind.wrong) | beside).any():
        return kind.without(stated)
    if not ((stated & kind.called) | beside).any():
        return kind.without(stated & kind.guessed)
    return kind


def _possible(
    kind: KindMask | None, flags: FlagNodes | None, v: int
) -> Bool[np.ndarray, "v"]:
    """False at nodes of another kind, and at those without the flags if others have
    them."""
    possible = np.ones(v, bool) if kind is None else ~kind.wrong
    if flags is not None and (possible & flags.holders).any():
        possible &= flags.holders
    return possible


def _with_description(
    question: QuestionReading, said: SaidNodes, flags: FlagNodes | None
) -> Bool[np.ndarray, "v"] | None:
    """What is singled out, or what has the flags and attributes that the question
    names; both where something is both."""
    if said.chain is not None or said.stated is not None:
        return said.shared
    described = described_nodes(
        question.text,
        question.topics,
        question.around,
        question.possible & ~question.unnamed,
    )
    if flags is not None:
        described = flags.holders if described is None else described & flags.holders
    if described is None:
        return said.shared
    both = described if said.shared is None else described & said.shared
    return both if both.any() else said.shared


class _Steps(NamedTuple):
    """What nodes gain and lose by the steps to them."""

    gains: Float32[np.ndarray, "v"]
    detours: Int[np.ndarray, "v"] | None
    unsaid: Float32[np.ndarray, "v"] | None
    near: Bool[np.ndarray, "v"] | None


def _steps(
    question: QuestionReading, said: SaidNodes, *, one_clause: bool, by_value: bool
) -> _Steps:
    """See ``QuestionConstraints``.

    Args:
        question: the question.
        said: what its words single out.
        one_clause: whether it asks for one thing by one clause.
        by_value: whether values decide: the way to them is not what is asked.
    """
    around, relations, v = question.around, question.relations, len(question.unnamed)
    ways = named_ways(relations, around, v)
    extra = None if by_value else detours(ways, relations.unknown)
    if extra is not None and qualifies_plural(question.words):
        extra = np.where(ways.steps > 1, np.maximum(extra - 1, 0), extra)
    gains = way_logits(_best_ways(relations, ways, around))
    near = unsaid = None
    if one_clause:
        unsaid = _unsaid(question, said, ways)
        if has_between_noun(question.text, question.topics):
            near = ways.steps == 1
    if said.explained is not None:
        near = None if near is None else near & ~said.explained
        unsaid = None if unsaid is None else np.where(said.explained, 0, unsaid)
    # "Aunts" says every step of the way to them.
    by_steps = said.chain if said.explained is None else said.explained
    if by_steps is not None:
        gains = np.where(by_steps, np.float32(SAID), gains)
    for nodes in (said.stated, by_steps):
        if nodes is not None and extra is not None:
            extra = np.where(nodes, 0, extra)
    return _Steps(gains, extra, unsaid, near)


def _best_ways(
    relations: NamedRelations, ways: NamedWays, around: LocalGraph
) -> NamedWays:
    """The ways by relations of which no other one says the same words and more."""
    if (relations.best == relations.named).all():
        return ways
    return named_ways(relations._replace(named=relations.best), around, len(ways.steps))


def _unsaid(
    question: QuestionReading, said: SaidNodes, ways: NamedWays
) -> Float32[np.ndarray, "v"]:
    """``unsaid_steps``, or doubt at all nodes where others of the topic's class have
    what it lacks."""
    around, unnamed, asked = question.around, question.unnamed, question.asked
    is_open = said.stated is None and said.explained is None
    lacks = asked and lacks_attribute(asked.nouns, around, unnamed)
    if question.kind is not None and said.shared is None:
        called = question.kind.called & ~unnamed
        lacks_others = lacks_qualified(question.words, called, around)
    else:
        lacks_others = False
    if (is_open and lacks) or lacks_others or lacks_member(around):
        return np.full(len(unnamed), KNOWN_DOUBT, np.float32)
    return unsaid_steps(
        question.text,
        question.topics,
        question.relations,
        question.ends,
        around,
        ways,
        unnamed,
    )
