"""Questions of one clause whose noun or verb no relation of the graph says.

"What is the salary of Ann" is not answered by her birthplace, whatever a policy holds
for likely: where no relation around says salary, the graph seldom has the answer. And
where others have a mentor and Ann has none, her pupils are no mentors. Such nodes keep
their place; "there is no answer" gets ahead of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float32

from kgscout_jax.retrieve.chain_nodes import LIVING
from kgscout_jax.retrieve.kind_mask import kind_of_class
from kgscout_jax.retrieve.lacking import have_alike_nodes
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import NamedRelations, NamedWays
from kgscout_jax.retrieve.readings import STEPS
from kgscout_jax.retrieve.stated_nodes import nodes_at_ends
from kgscout_jax.text.amounts import has_unit_of, is_amount
from kgscout_jax.text.asked_kind import (
    TOPIC,
    AskedKind,
    asked_kind,
    question_tokens,
)
from kgscout_jax.text.count_question import asks_for_count
from kgscout_jax.text.how_to import how_to
from kgscout_jax.text.kinds import (
    HEAD,
    TAIL,
    base_noun,
    is_attribute,
    is_measure,
    noun_kind,
)
from kgscout_jax.text.question_clause import is_clause, is_simple_clause, is_verbless
from kgscout_jax.text.question_noun import OF, content_words, noun_of_topic
from kgscout_jax.text.relation_phrases import (
    has_words,
    own_forms,
    relation_forms,
    word_forms,
)
from kgscout_jax.text.relation_words import plain_words, relation_words
from kgscout_jax.text.stems import stem
from kgscout_jax.text.subclasses import subclass_end
from kgscout_jax.text.words import question_words
from kgscout_jax.text.yes_no_claim import yes_no_claim

NOUN_DOUBT = 10.0
"""Logits by which "there is no answer" is ahead of a node, where the question has a
noun for the step, and its relation does not say that."""
CLAUSE_DOUBT = 2.0
"""The same where it has a verb, which may have many names."""
COUNT_DOUBT = 1.0
"""The same where something is counted that no relation says."""
KNOWN_DOUBT = 20.0
"""The same where other nodes have the relation that the question says, among the
candidates or elsewhere in the graph: it knows who has a mayor."""
CLAIM_DOUBT = 40.0
"""The same where a question of yes or no, for a reason, or for a way to do something is
asked that no triplet answers."""
_BIRTH = ("born", "birth", "birthplace", "birthday", "hometown", "native", "origin")
_DEATH = ("died", "death", "dead", "deceased", "killed", "buried")
_RELEASE = ("released", "publication", "published", "premiered", "year", "date")
_TIMES = frozenset(("when", "year", "date"))
_MARRIAGE = ("married", "marriage", "spouse", "wife", "husband", "partner")
_PAY = ("salary", "wage", "income", "earnings", "pay", "revenue", "profit")
_DEFINITE = {
    "born": _BIRTH, "birthday": _BIRTH, "die": _DEATH, "died": _DEATH,
    "marry": _MARRIAGE, "married": _MARRIAGE, "earn": _PAY, "earns": _PAY,
}  # fmt: skip
"""Words for which relations have few words, these."""
_COUNTING = frozenset("number no num nr of count total".split())
"""Words of relations to how many there are of something."""
_MEMBERSHIP = frozenset(("member of", "members of", "belongs to", "part of"))
"""Phrases of relations from members to what they make up together."""
_WHOLES = frozenset(
    "team squad crew club group band party union committee board council department "
    "unit division association society guild".split()
)
"""What members make up together."""
_MODALS = frozenset("should shouldn must mustn may ought".split())
_NOT = frozenset(("not", "t", "never"))
_REASONS = ("reason", "cause", "purpose", "motive")
"""What relations that say why are called."""


def unsaid_steps(
    question: str,
    topics: Sequence[str],
    relations: NamedRelations,
    ends: Sequence[frozenset[int]],
    around: LocalGraph,
    ways: NamedWays,
    unnamed: Bool[np.ndarray, "v"],
) -> Float32[np.ndarray, "v"]:
    """By how much "there is no answer" is ahead of each node; mostly 0.

    Args:
        question: the question.
        topics: names that it mentions.
        relations: those that it names.
        ends: of relations that it asks for, see ``stated_ends``.
        around: the candidates.
        ways: to each node.
        unnamed: True at nodes without a name.
    """
    out = np.zeros(len(ways.steps), np.float32)
    words = question_tokens(question, topics)
    if _counts_topic(words, around):
        # What joins eggs with a dish does not say how many of them.
        out[:] = CLAIM_DOUBT
        return out
    if len(around.mentions) != 1:
        return out
    if subclass_end(words, TOPIC) is not None and any(ends):
        return out  # No relation is called kinds.
    is_topic, counts = ways.steps == 0, asks_for_count(question)
    if _asks_more_of_class(question, topics, relations.unknown):
        out[:] = NOUN_DOUBT
        return out
    if asked := asked_kind(question, topics):
        if counts:
            lives = not LIVING.isdisjoint(words)
            theirs = _numbers_of_others(asked, around, is_topic, lives=lives)
            if theirs.any():
                # Nor does anything else say how many it has, or where it lies.
                theirs |= _reached(is_topic, relations, around, unnamed)
                out[theirs | (ways.named < ways.steps)] = KNOWN_DOUBT
                return out
        if _is_unheard(asked, around, counts=counts):
            out[:] = COUNT_DOUBT if counts else NOUN_DOUBT
            if any(map(is_measure, asked.nouns)):
                fits = [has_unit_of(name, asked.nouns) for name in around.names]
                out[around.used[fits]] = 0.0
            return out
    if _forbids(words):
        avoid = word_forms("avoid")
        said = [not avoid.isdisjoint(relation_forms(each)) for each in around.relations]
        slots = np.array(said, bool)[around.relation_index]
        slots &= is_topic[around.nodes].any(axis=1)
        allowed = np.zeros_like(is_topic)
        allowed[around.nodes[slots].ravel()] = True
        out[~allowed] = CLAIM_DOUBT
        return out
    definite = [_DEFINITE[word] for word in words if word in _DEFINITE]
    if not _TIMES.isdisjoint(words):  # who released it may be its label
        definite += [_RELEASE for word in words if word == "released"]
    if any(not _say(each, around.relations) for each in definite):
        out[:] = KNOWN_DOUBT
        return out
    if definite and is_simple_clause(words):
        # The graph knows when others died.
        inside = _inside(is_topic, relations, around)
        own = np.unique(around.relation_index[_beside(inside, around, unnamed)])
        theirs = [str(around.relations[i]) for i in own.tolist()]
        if not all(_say(each, theirs) for each in definite):
            out[:] = KNOWN_DOUBT
            return out
        # Nor is the year of birth that of death.
        says = [all(_say(each, [r]) for each in definite) for r in around.relations]
        asked_for = np.array(says, bool)[around.relation_index]
        direct = is_topic[around.nodes].any(axis=1)
        right, other = np.zeros((2, len(out)), bool)
        right[around.nodes[asked_for].ravel()] = True
        other[around.nodes[direct & ~asked_for].ravel()] = True
        out[other & ~right & ~unnamed] = KNOWN_DOUBT
    if claim := yes_no_claim(words):
        is_said = (ways.steps > 0) & (ways.named == ways.steps)
        unheard = claim.predicate and not _say([claim.predicate], around.relations)
        if claim.unanswerable or unheard:
            is_said[:] = False
        out[~is_said] = CLAIM_DOUBT
        return out
    # "How do I contact Acme" is answered by its contact, "how do I find it" by nothing.
    of_death = words[-2:] in (["die", "of"], ["die", "from"]) and not any(ends)
    of_reason = words[:1] == ["why"] or of_death
    wanted = _REASONS if of_reason else how_to(words)
    if wanted is not None:
        if not _say([*wanted, *map(stem, wanted)], around.relations):
            out[:] = CLAIM_DOUBT
        return out
    exists = around.whole is not None and around.whole.says(words)
    said = relations.named | relations.implied
    known = np.array([*map(bool, ends)], bool) & is_simple_clause(words)
    doubt = CLAUSE_DOUBT if is_clause(words) and not is_verbless(words) else 0.0
    if noun := noun_of_topic(words):
        is_called = any(ends) or (exists and len(noun) > 1)
        said, named = _of_noun(noun, ends, around.relations, is_called)
        known |= named
        doubt = 0.0 if OF in noun else NOUN_DOUBT
    if known.any() and not nodes_at_ends(known, ends, is_topic, around).any():
        beyond = is_topic  # The population of Bern is not that of its country.
        if not any(map(is_measure, noun)):
            beyond = _reached(is_topic, relations, around, unnamed)
        if any(HEAD in each for each, k in zip(ends, known, strict=True) if k):
            beyond = beyond | _inside(is_topic, relations, around)
        if _asks_for_place(noun, words) and not have_alike_nodes(
            _known_ends(known, ends), around
        ):
            beyond = beyond | _beside_by(~known, is_topic, around)
        out[~nodes_at_ends(known, ends, beyond, around)] = KNOWN_DOUBT
        return out
    if exists and not known.any():
        doubt = KNOWN_DOUBT
    if doubt:
        is_said = (ways.steps > 1) & (ways.named > 0)
        is_said |= nodes_at_ends(said, ends, is_topic, around)
        out[~is_said] = doubt
    return out


def _asks_for_place(noun: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a place is asked for: a band has the country of its city."""
    asked = (*noun[:1], *words[: words.index(TOPIC) if TOPIC in words else 0])
    return any(noun_kind(base_noun(word)) == "place" for word in asked)


def _beside_by(
    steps: Bool[np.ndarray, "r"], start: Bool[np.ndarray, "v"], around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """The nodes that these relations lead to, from heads to tails."""
    heads, tails = around.nodes[steps[around.relation_index]].T
    out = np.zeros_like(start)
    out[tails[start[heads]]] = True
    return out


def _known_ends(
    known: Bool[np.ndarray, "r"], ends: Sequence[frozenset[int]]
) -> list[frozenset[int]]:
    """The ends of relations that are known, both where none is asked for."""
    both = frozenset((HEAD, TAIL))
    return [
        (each or both) if k else frozenset()
        for each, k in zip(ends, known, strict=True)
    ]


def _forbids(words: Sequence[str]) -> bool:
    """Whether a question asks what must not be: only a relation that says so answers.

    >>> _forbids(["what", "should", "not", "be", "taken"]), _forbids(["what", "must"])
    (True, False)
    """
    own = [word for word in words if word != TOPIC]  # "what must X not be"
    return any(w in _MODALS and after in _NOT for w, after in pairwise(own))


def _counts_topic(words: Sequence[str], around: LocalGraph) -> bool:
    """Whether it counts what is joined with its topic, and no class: "how many eggs"
    of a dish."""
    if words[:2] != ["how", "many"] or len(words) < 3:
        return False
    counted = around.starts
    if words[2] != TOPIC:
        if noun_kind(base_noun(words[2])) == "person":
            return False  # of a department of people
        forms = {words[2], base_noun(words[2])}
        counted = around.used[[name in forms for name in around.folded_names]]
    is_counted = np.isin(around.nodes, counted)
    joined = (is_counted & np.isin(around.nodes[:, ::-1], around.starts)).any(axis=1)
    classes = around.nodes[around.to_class[around.relation_index], 1]
    return bool(joined.any()) and not np.isin(counted, classes).any()


def _asks_more_of_class(question: str, topics: Sequence[str], unknown: int) -> bool:
    """Whether a question asks for some of a class by what nothing says.

    Of all cars, those that are the nicest.

    Args:
        question: the question.
        topics: names that it mentions.
        unknown: number of its words that name no relation.
    """
    if unknown == 0 or (asked := kind_of_class(question, topics)) is None:
        return False
    words = [base_noun(word.text) for word in question_words(question, topics)]
    return unknown > sum(word in asked.nouns for word in words)


def _say(words: Iterable[str], relations: Sequence[str]) -> bool:
    """Whether a relation says one of these words."""
    forms = frozenset[str]().union(*map(word_forms, words))
    return any(forms & relation_forms(each) for each in relations)


def _numbers_of_others(
    asked: AskedKind,
    around: LocalGraph,
    is_topic: Bool[np.ndarray, "v"],
    *,
    lives: bool,
) -> Bool[np.ndarray, "v"]:
    """Values that other nodes have of what a question counts, and the topic has not.

    "How many employees has Acme": the number of its owner's is not asked for.
    """
    nouns = asked.nouns | ({"population"} if lives else set[str]())
    says = [
        any(_is_number_of(each, noun.split()) for noun in nouns)
        for each in around.relations
    ]
    head, tail = around.nodes[np.array(says, bool)[around.relation_index]].T
    out = np.zeros_like(is_topic)
    out[tail] = True
    out[tail[is_topic[head]]] = False
    is_number = np.zeros_like(is_topic)
    is_number[around.used[np.array([*map(is_amount, around.names)], bool)]] = True
    return out & is_number


def _is_number_of(relation: str, noun: Sequence[str]) -> bool:
    """Whether a relation's name says how many there are of something, and no more.

    >>> _is_number_of("number_of_employees", ["employee"])
    True
    >>> _is_number_of("drug_id", ["drug"])
    False
    """
    own = {base_noun(word) for word in relation_words(relation)} - _COUNTING
    return own <= {*noun} and has_words(relation, noun)


def _of_noun(
    noun: Sequence[str],
    ends: Sequence[frozenset[int]],
    relations: Sequence[str],
    is_called: bool,
) -> tuple[Bool[np.ndarray, "r"], Bool[np.ndarray, "r"]]:
    """The relations that say a noun, and those of them that do so by its own words.

    Where the graph has a relation that is called just so, ``founder``, those that share
    its stem only are others, ``founding_year``.
    """
    words = content_words(noun)
    if is_called:
        said = np.array([*map(bool, ends)], bool)
        said |= [has_words(relation, words) for relation in relations]
        return said, said
    asked = frozenset[str]().union(*map(word_forms, words))
    shared = [asked & relation_forms(each) for each in relations]
    said = [
        bool(own) or _leads_to_whole(words[-1:], relation)
        for own, relation in zip(shared, relations, strict=True)
    ]
    named = [bool(own_forms(each)) for each in shared]
    return np.array(said, bool), np.array(named, bool)


def _leads_to_whole(noun: Sequence[str], relation: str) -> bool:
    """Whether a relation says of what somebody is a member, as the noun does.

    >>> _leads_to_whole(["team"], "MEMBER_OF"), _leads_to_whole(["team"], "owner_of")
    (True, False)
    """
    phrase = " ".join(plain_words(relation))
    return phrase in _MEMBERSHIP and not _WHOLES.isdisjoint(map(base_noun, noun))


def _reached(
    start: Bool[np.ndarray, "v"],
    relations: NamedRelations,
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"]:
    """The topics, what they lie in, and records of either.

    "The currency of Bern" is that of its country.
    """
    out = start.copy()
    implied = relations.implied[around.relation_index]
    head, tail = around.nodes.T
    for _ in range(STEPS - 1):
        out[tail[implied & out[head]]] = True
        out[tail[out[head] & unnamed[tail]]] = True
        out[head[out[tail] & unnamed[head]]] = True
    return out


def _beside(
    nodes: Bool[np.ndarray, "v"], around: LocalGraph, unnamed: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "n"]:
    """True at triplets of these nodes, and of the records beside them."""
    head, tail = around.nodes.T
    at = nodes[head] | nodes[tail]
    records = np.zeros_like(nodes)
    records[around.nodes[at].ravel()] = True
    records &= unnamed
    return at | records[head] | records[tail]


def _inside(
    start: Bool[np.ndarray, "v"], relations: NamedRelations, around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """The topics and what lies in them: "based in Germany" is who is based in Bern."""
    out = start.copy()
    head, tail = around.nodes[relations.implied[around.relation_index]].T
    for _ in range(STEPS - 1):
        out[head[out[tail]]] = True
    return out


def _is_unheard(asked: AskedKind, around: LocalGraph, *, counts: bool) -> bool:
    """Whether nothing says what a question counts, or which attribute it asks for.

    "How many seats does Ann's car have", "what currency is used in Bern": seats and
    currencies are called so, where a graph has them.
    """
    is_property = asked.kind == "thing" and any(
        is_attribute(noun) or is_measure(noun) for noun in asked.nouns
    )
    if not asked.nouns or not (is_property or counts):
        return False
    words = {word for noun in asked.nouns for word in noun.split()}
    if "money" not in words and len(words) > 1:
        words.discard("amount")  # which may be that of anything else
    if _say(words, around.relations):
        return False
    return all(base_noun(name.casefold()) not in asked.nouns for name in around.names)
