"""What a question asks for beyond a walk: nodes of a kind, and a test of their values.

Evaluation and ``Scout`` lower the same logits by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.graph.opaque_names import opaque_mask
from kgscout_jax.retrieve.chain_nodes import chain_nodes
from kgscout_jax.retrieve.described_nodes import described_nodes
from kgscout_jax.retrieve.explained_steps import explained_nodes
from kgscout_jax.retrieve.flag_nodes import flag_nodes
from kgscout_jax.retrieve.kind_mask import (
    DOUBT,
    PENALTY,
    STATED_PENALTY,
    KindMask,
    kind_mask,
)
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.member_nodes import (
    NEGATING,
    alike_nodes,
    lone_nodes,
    member_nodes,
)
from kgscout_jax.retrieve.named_relations import (
    DETOUR_DOUBT,
    DETOUR_WEIGHT,
    SAID,
    detours,
    named_relations,
    named_ways,
    way_logits,
)
from kgscout_jax.retrieve.node_classes import numbered_nodes, unasked_classes
from kgscout_jax.retrieve.record_nodes import leads_to, record_nodes
from kgscout_jax.retrieve.shared_nodes import (
    are_of_class,
    called_shared_nodes,
    neighbours,
    shared_nodes,
    ways_to_mentions,
)
from kgscout_jax.retrieve.stated_nodes import (
    compared_nodes,
    lacks_attribute,
    lacks_relation,
    stated_ends,
    stated_nodes,
)
from kgscout_jax.retrieve.unsaid_steps import KNOWN_DOUBT, unsaid_steps
from kgscout_jax.retrieve.value_test import Outcome, ValueTest, value_test
from kgscout_jax.text.asked_kind import (
    TOPIC,
    AskedKind,
    asked_kind,
    question_tokens,
)
from kgscout_jax.text.between_noun import has_between_noun
from kgscout_jax.text.joined_nouns import joined_nouns
from kgscout_jax.text.kinds import TAIL, base_noun
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.text.media_files import asks_for_media, media_files
from kgscout_jax.text.negation import has_negating_word
from kgscout_jax.text.question_noun import OF, noun_of_topic, qualifies_plural
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import is_sentence, last_word, relation_words
from kgscout_jax.text.stated_relation import RANKS
from kgscout_jax.text.value_question import ValueQuestion, value_question
from kgscout_jax.text.words import question_words

ANSWER_SPREAD = 0.05
"""Share of their distances in logits that nodes keep that are answers together."""
TRUST = 10.0
"""Logits by which a node that named steps or a stated relation lead to is ahead of
"there is no answer", and any other node behind it."""
NEAR_PENALTY = 2.0
"""Logits that a node one step from the topic loses where the question names a noun
between the topic and its answer."""
FORM_DOUBT = 25.0
"""Logits by which "there is no answer" is ahead of a node of another form, or of a
class, where no better one is left: no place answers "when"."""
LACK_DOUBT = 8.0
"""The same for all nodes, where the topic lacks the relation that the question says."""
CONFLICT_DOUBT = 10.0
"""The same for a node that is called something else than what is asked for."""
_VAGUE_WORDS = frozenset(("who", "whom", "where"))
"""Question words that a stated relation says better."""
_VAGUE_VERBS = re.compile(
    r"\b(?:lies?|lying|comes?|came|coming|located|situated|found)\b", re.I
)
"""Verbs that say no more than a preposition: "which peaks lie in"."""
_ID_WORDS = frozenset(("id", "uuid"))
"""Last words of relations to ids."""
_IDS = frozenset("id ids identifier identifiers uuid code codes".split())
"""Words of questions for ids."""


class ConstrainedLogits(NamedTuple):
    """Logits of one question by what it asks for."""

    triplets: Float32[np.ndarray, "n"]
    nodes: Float32[np.ndarray, "v"]
    outcome: Outcome | None
    """What values decided; None where they decided nothing."""
    doubts: Float32[np.ndarray, "v"]
    """By how much "there is no answer" is ahead of a node."""


@dataclass(frozen=True)
class QuestionConstraints:
    """What one question asks for of its candidates."""

    kind: KindMask | None
    """None where nothing here is of another kind."""
    values: ValueTest | None
    """None where no values are compared."""
    starts: Int[np.ndarray, "t"]
    """The topics' nodes."""
    unnamed: Bool[np.ndarray, "v"]
    """True at nodes without a name, such as records that hold a fact together, and at
    files that are not asked for."""
    shared: Bool[np.ndarray, "v"] | None = None
    """Nodes that several topics have in common, or that the question states to be its
    answers; None where that tells nothing."""
    named: Float32[np.ndarray, "v"] | None = None
    """What each node gains by the relations on the way to it that the question names;
    None counts as nothing."""
    detours: Int[np.ndarray, "v"] | None = None
    """Steps on the way to each node that the question has no words for; None counts as
    none."""
    classes: Bool[np.ndarray, "v"] | None = None
    """Classes, where none is asked for; None counts as none."""
    unsaid: Float32[np.ndarray, "v"] | None = None
    """See ``unsaid_steps``; None counts as none."""
    near: Bool[np.ndarray, "v"] | None = None
    """Nodes one step from the topic, where the answer lies further away; None counts as
    none."""
    stated: Bool[np.ndarray, "v"] | None = None
    """Those of ``shared`` that one relation leads to, which the question states."""
    chain: Bool[np.ndarray, "v"] | None = None
    """Nodes that the steps lead to which the question names; None where it names no
    chain of them."""
    alike: Bool[np.ndarray, "v"] | None = None
    """Nodes that no word tells apart, see ``alike_nodes``."""
    groups: Int[np.ndarray, "v"] | None = None
    """Of several topics the same by number, see ``ways_to_mentions``."""
    negated: bool = False
    """Whether it negates what triplets deny: "not vegetarian"."""
    lacking: bool = False
    """Whether the topic lacks the relation that the question says."""
    members: bool = False
    """Whether ``stated`` are members of the class that it asks for."""

    @property
    def v(self) -> int:
        """Number of nodes."""
        return len(self.unnamed)

    def logits(
        self,
        logits: Float32[np.ndarray, "n"],
        answers: Float32[np.ndarray, "v"],
        *,
        general: bool,
    ) -> ConstrainedLogits:
        """Logits of the candidates and of the nodes, by what is asked for.

        Args:
            logits: of the candidates.
            answers: of the nodes.
            general: whether the policy is one for any graph: then triplets of another
                kind count less as well, and as answers topics and what only some of
                them lead to.
        """
        if general and self.shared is not None:
            answers = np.where(self.shared, answers, answers - np.float32(PENALTY))
        if self.unnamed.any():
            named = answers - np.float32(PENALTY) * self.unnamed
            # A graph of bare identifiers has no better answers.
            answers = answers if self.unnamed[np.argmax(named)] else named
        if general:
            answers = answers.copy()
            if self.named is not None:
                answers += self.named
            if self.classes is not None:
                answers -= np.float32(PENALTY) * self.classes
            if self.detours is not None:
                answers -= np.float32(DETOUR_WEIGHT) * self.detours
            if self.near is not None:
                answers -= np.float32(NEAR_PENALTY) * self.near
            if self.chain is not None:
                answers = closer_together(answers, self.chain)
            # "Which firms are in Bern" is seldom about Bern.
            answers[self.starts] -= np.float32(DOUBT)
        possible = answers
        if self.kind is not None:
            if general:
                logits = self.kind.triplet_logits(logits)
            lowered = self.kind.node_logits(answers)
            # "Who leads the oldest firm" compares firms, and asks for no firm.
            wrong = self.kind.wrong & (lowered < answers)
            possible = np.where(wrong, -np.inf, lowered)
            answers = lowered
        for together in (self.stated, self.alike):
            if general and together is not None:
                answers = closer_together(answers, together)
        if general and self.groups is not None:
            members = np.where(self.groups >= 0, answers, -np.inf)
            best = self.groups[np.argmax(members)]
            answers = closer_together(answers, self.groups == best)
        found = None
        if self.values is not None:
            found = self.values.outcome(logits, possible)
            logits, answers = self.values.apply(found, logits, answers)
        doubts = self._doubts() if general else np.zeros(self.v, np.float32)
        return ConstrainedLogits(logits, answers, found, doubts)

    def _doubts(self) -> Float32[np.ndarray, "v"]:
        """By how much "there is no answer" is ahead of each node."""
        out = np.zeros(self.v, np.float32)
        if self.lacking:
            out += np.float32(LACK_DOUBT)
        if self.kind is not None:
            out += np.float32(FORM_DOUBT) * self.kind.by_form
            out += np.float32(CONFLICT_DOUBT) * self.kind.conflict
        if self.classes is not None:
            out += np.float32(FORM_DOUBT) * self.classes
        if self.unsaid is not None:
            unsaid = self.unsaid
            if self.members and self.stated is not None:  # Their class says the noun.
                unsaid = np.where(self.stated, np.float32(0), unsaid)
            out += unsaid
        if self.detours is not None:
            out += np.float32(DETOUR_DOUBT) * self.detours
        if self.shared is not None and self.stated is None and self.chain is None:
            out += np.where(self.shared, 0, TRUST).astype(np.float32)
        for said in (self.chain, self.stated):
            if said is not None:
                out += np.where(said, -TRUST, TRUST).astype(np.float32)
        return out


def closer_together(
    logits: Float32[np.ndarray, "v"], nodes: Bool[np.ndarray, "v"]
) -> Float32[np.ndarray, "v"]:
    """Logits, those of ``nodes`` near the best of them: all are answers, or none."""
    best = logits[nodes].max()
    if not np.isfinite(best):
        return logits
    closer = best + np.float32(ANSWER_SPREAD) * (logits - best)
    return np.where(nodes, closer, logits)


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
    question = question if flags is None else flags.rest
    flagged = flags is not None
    kind = kind_mask(question, topics, around, unnamed, flagged=flagged)
    asked = asked_kind(question, topics)
    rows = numbered_nodes(around, v)
    rows[around.starts] = False
    unnamed = unnamed | (rows if kind is None else rows & ~kind.called)
    words = question_tokens(question, topics)
    ends = stated_ends(words, around)
    if definition is not None:
        phrases = map(relation_phrase, around.relations)
        ends = [frozenset([TAIL] if each == definition else []) for each in phrases]
    several = any(ends) and bool(joined_nouns(words))
    first = compared is not None and compared.is_superlative and compared.word.weak
    ranked = first and any(_says_rank(each, words) for each in around.relations)
    if ranked or (any(ends) and (definition or several or noun_of_topic(words))):
        compared = None  # "The first publication year of X" is a relation's name.
        called = stated_nodes(ends, around, ~unnamed)
        if kind is not None and called is not None:
            kind = kind.without(called)  # No word says better what a period is.
    if kind is not None and any(ends):
        # "Who owns X" may ask for a firm, and "where does X work" too. Of meteorites
        # only those that a collection has may be called so. But "which architect
        # built X" asks for its architect, whoever is called the builder.
        vague = words[0] in _VAGUE_WORDS
        others = kind.by_form if vague else kind.by_form | kind.conflict
        others = others | (kind.penalties >= STATED_PENALTY)  # a class of another kind
        called = stated_nodes(ends, around, ~(unnamed | others))
        start = np.zeros(v, bool)
        start[around.starts] = True
        beside = neighbours(start, around) & kind.called
        if called is not None and not ((called & ~kind.wrong) | beside).any():
            kind = kind.without(called)
        elif called is not None and not ((called & kind.called) | beside).any():
            kind = kind.without(called & kind.guessed)
    possible = np.ones(v, bool) if kind is None else ~kind.wrong
    if flags is not None and (possible & flags.holders).any():
        possible &= flags.holders
    likely = possible if kind is None else kind.penalties == 0
    relations = named_relations(question, topics, around.relations)
    of_records = record_nodes(
        question, topics, around, unnamed, possible, relations.named
    )
    if len(around.mentions) > 1 and of_records and of_records.stated is not None:
        compared = None  # "In 1995" is what a record has, beside all else that is said.
    chain = shared = stated = explained = members_of_class = None
    if compared is None and kind is not None and not any(ends) and flags is None:
        members_of_class = member_nodes(words, around, kind.called & ~unnamed)
        shared = stated = members_of_class
    if compared is None and stated is None:
        # The place of birth is one step.
        whole = any(ends) and OF in noun_of_topic(words)
        # The words of a sentence name no step.
        told = 2 * sum(map(is_sentence, around.relations)) > len(around.relations)
        if not several and flags is None and not whole and not told:
            shared = chain = chain_nodes(
                question, topics, around, unnamed, possible, likely
            )
        if shared is None and of_records is not None:
            shared, stated = of_records
        if shared is None:
            shared = shared_nodes(around, unnamed, possible)
            if shared is not None and kind is not None:
                stated = _called_shared(
                    question, topics, asked, around, unnamed, shared, kind.called
                )
                shared = shared if stated is None else stated
        if shared is None:
            shared = stated = stated_nodes(ends, around, possible & ~unnamed)
        if shared is None and any(ends) and unnamed.any():
            start = np.zeros(v, bool)
            start[around.starts] = True
            records = neighbours(start, around) & unnamed
            shared = stated = stated_nodes(ends, around, possible & ~unnamed, records)
        if shared is None and not several and flags is None and not told:
            explained = explained_nodes(question, topics, around, unnamed, likely)
            shared = explained
        called = None if kind is None else kind.called & ~unnamed
        if shared is None and flags is None and called is not None and called.any():
            lone = lone_nodes(words, around, called, likely & ~unnamed)
            if lone is not None and not _names_another(
                lone.relation, question, topics, around.relations, relations.implied
            ):
                shared = stated = lone.nodes
    described = described_nodes(question, topics, around, possible & ~unnamed)
    if flags is not None:
        described = flags.holders if described is None else described & flags.holders
    if described is not None and chain is None and stated is None:
        both = described if shared is None else described & shared
        shared = both if both.any() else shared
    members = compared and compared_nodes(words, around, ~unnamed)
    values = value_test(compared, around, members, unnamed)
    alike = None
    if values is None and stated is None and chain is None and flags is None:
        alike = alike_nodes(words, around, possible & ~unnamed)
        if shared is not None and are_of_class(shared, around):
            alike = shared
    groups = None
    plain = values is None and stated is None and chain is None
    if plain and shared is not None and NEGATING.isdisjoint(words):
        groups = ways_to_mentions(shared, around)
    nameless = unnamed | _unwanted_files(question, around, v)
    nameless |= _unwanted_ids(words, around, unnamed)
    nameless |= _question_words(words, around, v)
    nameless |= _only_tails(relations.other_years, around, v)
    ways = named_ways(relations, around, v)
    # The way to a value that decides is not what is asked.
    extra = detours(ways, relations.unknown) if values is None else None
    if extra is not None and qualifies_plural(words):
        extra = np.where(ways.steps > 1, np.maximum(extra - 1, 0), extra)
    best = ways
    if (relations.best != relations.named).any():
        best = named_ways(relations._replace(named=relations.best), around, v)
    gains = way_logits(best)
    near = None
    unsaid = None
    one_clause = values is None and chain is None and not several
    if one_clause and has_between_noun(question, topics):
        near = ways.steps == 1
    if one_clause:
        unsaid = unsaid_steps(question, topics, relations, ends, around, ways, unnamed)
    open_ = one_clause and stated is None and explained is None
    if open_ and asked and lacks_attribute(asked.nouns, around, unnamed):
        unsaid = np.full(v, KNOWN_DOUBT, np.float32)
    if explained is not None:
        chain = explained
        near = None if near is None else near & ~explained
        unsaid = None if unsaid is None else np.where(explained, 0, unsaid)
    if stated is not None and extra is not None:
        extra = np.where(stated, 0, extra)
    if chain is not None:
        # "Aunts" says every step of the way to them.
        gains = np.where(chain, np.float32(SAID), gains)
        extra = None if extra is None else np.where(chain, 0, extra)
    return QuestionConstraints(
        kind,
        values,
        around.starts,
        nameless,
        shared=shared,
        named=gains,
        detours=extra,
        classes=unasked_classes(question, topics, relations.named, around, v),
        unsaid=unsaid,
        near=near,
        stated=stated,
        chain=chain,
        alike=alike,
        groups=groups,
        negated=flags is not None and flags.negated,
        lacking=one_clause and shared is None and lacks_relation(words, around),
        members=members_of_class is not None,
    )


def _names_another(
    relation: int,
    question: str,
    topics: Sequence[str],
    relations: Sequence[str],
    implied: Bool[np.ndarray, "r"],
) -> bool:
    """Whether a question names another relation, by a word that is neither its noun nor
    a vague verb; those that need no word aside."""
    words = question_tokens(question, topics)
    noun = words[1 + (words[:1] == ["how"]) :][:1]
    plain = _VAGUE_VERBS.sub(" ", question)
    said = named_relations(plain, [*topics, *noun], relations).named
    return bool(np.delete(said & ~implied, relation).any())


def _called_shared(
    question: str,
    topics: Sequence[str],
    asked: AskedKind | None,
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    shared: Bool[np.ndarray, "v"],
    called: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"] | None:
    """What several topics surely have in common, see ``called_shared_nodes``.

    Only where at most one word of the question is a condition that nothing here says.
    """
    if asked is None or not asked.nouns or has_negating_word(question):
        return None
    nouns = {word for noun in asked.nouns for word in noun.split()}
    words = [word.text for word in question_words(question, topics)]
    forms = frozenset[str]().union(*map(relation_forms, around.relations))
    unknown = [
        word
        for word in words
        if base_noun(word) not in nouns and word_forms(word).isdisjoint(forms)
    ]
    if len(unknown) > 1:
        return None
    leading = np.array([leads_to(each, asked.nouns) for each in around.relations], bool)
    return called_shared_nodes(shared, around, unnamed, called, leading)


def _says_rank(relation: str, words: Sequence[str]) -> bool:
    """Whether a relation is called by a "first" or "last" of the question, and by its
    verb: "when was it first approved" compares nothing with ``first_approved``, and
    "the last first publication year" does."""
    own = relation_words(relation)
    ranks, said = (sum(word in RANKS for word in each) for each in (own, words))
    return len(own) > 1 and 0 < ranks == said and {*own} <= {*words}


def _only_tails(
    relations: Bool[np.ndarray, "r"], around: LocalGraph, v: int
) -> Bool[np.ndarray, "v"]:
    """True at nodes that are tails of these relations, and stand nowhere else."""
    out = np.zeros(v, bool)
    if relations.any():
        slots = relations[around.relation_index]
        out[around.nodes[slots, 1]] = True
        out[around.nodes[~slots].ravel()] = False
        out[around.nodes[slots, 0]] = False
    return out


def _unwanted_files(question: str, around: LocalGraph, v: int) -> Bool[np.ndarray, "v"]:
    """True at pictures and sounds, unless the question may ask for one."""
    out = np.zeros(v, bool)
    if not asks_for_media(question):
        out[around.used] = media_files(around.names)
    return out


def _question_words(
    words: Sequence[str], around: LocalGraph, v: int
) -> Bool[np.ndarray, "v"]:
    """True at nodes that are called by a word of the question, which names no topic:
    the state "Found" does not say who found X. A choice has its words on purpose."""
    out = np.zeros(v, bool)
    said = {*words} - {TOPIC, "or"}
    if "or" not in words:
        out[around.used] = [name in said for name in around.folded_names]
    return out


def _unwanted_ids(
    words: Sequence[str], around: LocalGraph, unnamed: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """True at nodes that are but ids, unless the question asks for one.

    An order without a name is called by its ``order_id``.
    """
    if not _IDS.isdisjoint(words):
        return np.zeros_like(unnamed)
    of_ids = np.array([last_word(r) in _ID_WORDS for r in around.relations], bool)
    if not of_ids.any():
        return np.zeros_like(unnamed)
    names = [relation_words(each) for each in around.relations]
    nouns = {*map(base_noun, words)}
    called = np.array([not nouns.isdisjoint(name[-2:-1]) for name in names], bool)
    own = called[around.relation_index] & ~unnamed[around.nodes[:, 0]]
    called[around.relation_index[own]] = False
    out = _only_tails(of_ids & ~called, around, len(unnamed))
    # Nor is "order 12" itself what is asked of it.
    is_start = np.isin(around.nodes[:, 0], around.starts)
    out[around.nodes[is_start & of_ids[around.relation_index], 1]] = True
    return out


def split_constraints(
    shards: Shards,
    split: Split,
    rows: Int[np.ndarray, "b"],
    seen: Bool[np.ndarray, "b n"],
) -> list[QuestionConstraints]:
    """What each question of a split asks for.

    Args:
        shards: the folder of the split.
        split: the questions.
        rows: those that are wanted.
        seen: candidates that count, by slot.
    """
    found: list[QuestionConstraints] = []
    for row, mask in zip(rows.tolist(), seen, strict=True):
        slots = np.flatnonzero(mask)
        triplets = shards.triplets[np.asarray(split.candidates[row])[slots]]
        relations, index = np.unique(triplets[:, 1], return_inverse=True)
        nodes = np.asarray(split.nodes[row])[slots].astype(np.int64)
        ends = triplets[:, [0, 2]].ravel().tolist()
        entity = dict(zip(nodes.ravel().tolist(), ends, strict=True))
        names = [shards.entities[each] for each in entity.values()]
        unnamed = np.zeros(int(split.n_nodes[row]), bool)
        unnamed[[*entity]] = opaque_mask(names)
        question, topics = split.questions[row], np.asarray(split.topics[row])
        compared = value_question(question.text, question.topics)
        if compared is not None:
            node = {shards.entities[entity[n]]: n for n in entity}
            places = [node.get(name, -1) for name in question.topics]
            compared = compared.with_topics(places.__getitem__)
        found.append(
            question_constraints(
                question.text,
                question.topics,
                compared,
                LocalGraph(
                    [shards.relations[relation] for relation in relations.tolist()],
                    index,
                    nodes,
                    [np.array([topic]) for topic in np.unique(topics[topics >= 0])],
                    lambda nodes, entity=entity: [
                        shards.entities[entity[node]] for node in nodes.tolist()
                    ],
                    shards.relation_index,
                ),
                unnamed,
            )
        )
    return found
