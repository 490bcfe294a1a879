"""Which nodes the words of a question single out among its candidates.

Several rules read the words, each a form of question: members of a class, named steps
one after the other, records, what topics share, one stated relation, steps that explain
all words. The first that finds nodes decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.beyond_stated import beyond_stated
from kgscout_jax.retrieve.chain_nodes import chain_nodes
from kgscout_jax.retrieve.explained_steps import explained_nodes
from kgscout_jax.retrieve.fellow_nodes import fellow_nodes
from kgscout_jax.retrieve.kind_mask import KindMask
from kgscout_jax.retrieve.lacking import lacks_relation
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.member_nodes import lone_nodes, member_nodes
from kgscout_jax.retrieve.named_relations import NamedRelations, named_relations
from kgscout_jax.retrieve.record_nodes import RecordNodes, leads_to
from kgscout_jax.retrieve.shared_nodes import (
    called_shared_nodes,
    neighbours,
    shared_nodes,
)
from kgscout_jax.retrieve.stated_nodes import stated_nodes
from kgscout_jax.retrieve.wider_places import wider_place
from kgscout_jax.text.asked_kind import AskedKind, asked_kind
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.negation import has_negating_word
from kgscout_jax.text.question_noun import OF, noun_of_topic
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import is_sentence
from kgscout_jax.text.words import question_words

_VAGUE_VERBS = re.compile(
    r"\b(?:lies?|lying|comes?|came|coming|located|situated|found)\b", re.I
)
"""Verbs that say no more than a preposition: "which peaks lie in"."""

_ONE_STEP = 2
"""Words for what is asked for and one step."""


@dataclass(frozen=True, kw_only=True)
class QuestionReading:
    """A question beside its candidates."""

    text: str
    """The question, without the flags that it names."""
    topics: Sequence[str]
    """Names that it mentions."""
    words: Sequence[str]
    """See ``question_tokens``."""
    around: LocalGraph
    """Its candidates."""
    unnamed: Bool[np.ndarray, "v"]
    """True at nodes without a name."""
    ends: Sequence[frozenset[int]]
    """Of each relation that it asks for, see ``stated_ends``."""
    several: bool
    """Whether it asks for several things: "parents and children"."""
    flagged: bool
    """Whether it asks for what flags say."""
    kind: KindMask | None
    """What is of another kind than it asks for."""
    relations: NamedRelations
    """Those that it names."""
    possible: Bool[np.ndarray, "v"]
    """False at nodes that are no answers."""

    @cached_property
    def asked(self) -> AskedKind | None:
        """What kind of answer it asks for."""
        return asked_kind(self.text, self.topics)

    @cached_property
    def lacks_relation(self) -> bool:
        """Whether its topic lacks the relation that it says."""
        return lacks_relation(self.words, self.around)

    @property
    def likely(self) -> Bool[np.ndarray, "v"]:
        """True at nodes that nothing speaks against."""
        return self.possible if self.kind is None else self.kind.penalties == 0

    @property
    def called(self) -> Bool[np.ndarray, "v"]:
        """True at nodes that are called what is asked for."""
        if self.kind is None:
            return np.zeros_like(self.unnamed)
        return self.kind.called & ~self.unnamed


@dataclass(frozen=True, kw_only=True)
class SaidNodes:
    """What the words single out; all None where they single out nothing."""

    shared: Bool[np.ndarray, "v"] | None = None
    """The nodes, by whichever rule."""
    stated: Bool[np.ndarray, "v"] | None = None
    """Those that the question surely states, by one relation."""
    chain: Bool[np.ndarray, "v"] | None = None
    """The nodes, where named steps lead to them one after the other."""
    explained: Bool[np.ndarray, "v"] | None = None
    """The nodes, where steps lead to them that explain all words."""
    members: bool = False
    """Whether they are members of the class that is asked for."""


def said_nodes(question: QuestionReading, records: RecordNodes | None) -> SaidNodes:
    """What the words of a question single out that compares no values.

    Args:
        question: the question.
        records: what the records hold that it is about.
    """
    around, unnamed, possible = question.around, question.unnamed, question.possible
    plain = not question.flagged
    if plain and question.kind is not None and not any(question.ends):
        members = member_nodes(question.words, around, question.called)
        if members is not None:
            return SaidNodes(shared=members, stated=members, members=True)
    if plain:
        fellows = fellow_nodes(
            question.words, question.topics, around, unnamed, possible & ~unnamed
        )
        if fellows is not None:
            return SaidNodes(shared=fellows, stated=fellows)
        place = None
        if question.kind is not None and not any(question.ends):
            place = wider_place(
                question.text,
                question.topics,
                question.asked,
                around,
                question.likely & question.called,
            )
        if place is not None:
            return SaidNodes(shared=place, stated=place)
    # The words of a sentence name no step.
    by_steps = plain and not question.several
    by_steps &= 2 * sum(map(is_sentence, around.relations)) <= len(around.relations)
    # The place of birth is one step.
    whole = any(question.ends) and OF in noun_of_topic(question.words)
    if by_steps and not whole:
        chain = chain_nodes(
            question.text, question.topics, around, unnamed, possible, question.likely
        )
        if chain is not None:
            return SaidNodes(shared=chain, chain=chain)
    if records is not None:
        return SaidNodes(shared=records.nodes, stated=records.stated)
    shared = shared_nodes(around, unnamed, possible)
    if shared is not None:
        stated = None if question.kind is None else _called_shared(question, shared)
        return SaidNodes(shared=shared if stated is None else stated, stated=stated)
    beyond = _beyond_stated(question) if plain else None
    if beyond is not None:
        return SaidNodes(shared=beyond, chain=beyond)
    stated = stated_nodes(question.ends, around, possible & ~unnamed)
    if stated is None and any(question.ends) and unnamed.any():
        beside = neighbours(around.topic_mask(len(unnamed)), around) & unnamed
        stated = stated_nodes(question.ends, around, possible & ~unnamed, beside)
    if stated is not None:
        return SaidNodes(shared=stated, stated=stated)
    if by_steps:
        explained = explained_nodes(
            question.text, question.topics, around, unnamed, question.likely
        )
        if explained is not None:
            return SaidNodes(shared=explained, explained=explained)
    lone = _lone_nodes(question) if plain and question.called.any() else None
    return SaidNodes(shared=lone, stated=lone)


def _beyond_stated(question: QuestionReading) -> Bool[np.ndarray, "v"] | None:
    """``beyond_stated`` of a question that names nothing between."""
    words = question_words(question.text, question.topics)
    if question.asked is None or len(words) > _ONE_STEP:
        return None
    stated = stated_nodes(question.ends, question.around, ~question.unnamed)
    if stated is None:
        return None
    return beyond_stated(stated, question.asked.nouns, question.around)


def _lone_nodes(question: QuestionReading) -> Bool[np.ndarray, "v"] | None:
    """``lone_nodes`` of a question that names no other relation of its topic, nor one
    that the topic lacks."""
    words, around = question.words, question.around
    likely = question.likely & ~question.unnamed
    lone = lone_nodes(words, around, question.called, likely)
    if lone is None or question.lacks_relation:
        return None
    # Neither its noun nor a vague verb is the name of a relation.
    noun = words[1 + (words[:1] == ["how"]) :][:1]
    plain = _VAGUE_VERBS.sub(" ", question.text)
    found = named_relations(plain, [*question.topics, *noun], around.relations)
    another = found.named & ~question.relations.implied
    return None if another[lone.others].any() else lone.nodes


def _called_shared(
    question: QuestionReading, shared: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"] | None:
    """What several topics surely have in common, see ``called_shared_nodes``.

    Only where at most one word of the question is a condition that nothing here says.
    """
    asked = question.asked
    if asked is None or not asked.nouns or has_negating_word(question.text):
        return None
    around = question.around
    nouns = {word for noun in asked.nouns for word in noun.split()}
    words = [word.text for word in question_words(question.text, question.topics)]
    forms = frozenset[str]().union(*map(relation_forms, around.relations))
    unknown = [
        word
        for word in words
        if base_noun(word) not in nouns and word_forms(word).isdisjoint(forms)
    ]
    if len(unknown) > 1:
        return None
    leading = np.array([leads_to(each, asked.nouns) for each in around.relations], bool)
    return called_shared_nodes(
        shared, around, question.unnamed, question.called, leading
    )
