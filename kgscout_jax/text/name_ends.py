"""At which end of a relation a question asks that says it by its own name.

"Who mentors Ann" and "who was mentored by Ann" share their words; voice and word order
tell them apart. No inflections are looked up, because that takes seconds to load: words
are compared by their stems.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.kinds import HEAD, TAIL, base_noun, is_finite, is_past, singular
from kgscout_jax.text.question_clause import PLACES, Clause, clause_of
from kgscout_jax.text.question_noun import noun_of_answer, noun_of_topic
from kgscout_jax.text.relation_phrases import initials, word_forms
from kgscout_jax.text.relation_predicate import (
    dated_deed,
    doer_end,
    head_role,
    predicate_words,
    verb_stems,
    within_phrase,
    without_auxiliaries,
)
from kgscout_jax.text.relation_words import PREPOSITIONS, RANK_ADVERBS, relation_words
from kgscout_jax.text.stems import agent_stem, stem

MUTUAL_NOUNS = frozenset(
    "spouse wife husband partner sibling brother sister twin cousin friend neighbor "
    "neighbour colleague relative rival peer".split()
)
_REPORTS = frozenset(("report", "subordinate"))
"""What those are who report to somebody."""
_PLACES = frozenset(
    "country nation continent city town state county province district".split()
)
_PLACES_AT_ALL = frozenset("place location area region part".split())
_MUTUAL = frozenset(map(
    stem,
    "interact associate marry resemble compete collaborate border adjoin "
    "overlap".split(),
))  # fmt: skip
"""Stems of verbs that hold both ways."""


def ends_by_names(
    words: Sequence[str], relations: Sequence[str]
) -> list[frozenset[int]]:
    """The ends of each relation, ``HEAD`` and ``TAIL``, that a question asks for.

    Empty where the question does not say its name, or more than it.

    Args:
        words: of a full question, ``TOPIC`` for those of its topic's name.
        relations: their names.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> ends_by_names(["who", "mentors", TOPIC], ["mentored_by", "likes"])
    [frozenset({1}), frozenset()]
    """
    if noun := noun_of_topic(words):
        return [_ends_of_noun(noun, each) for each in relations]
    if noun := noun_of_answer(words):
        ends = [_ends_of_noun(noun, each) for each in relations]
        return [frozenset(1 - end for end in each) for each in ends]
    clause = clause_of(tuple(words))
    if clause is None:
        return [frozenset()] * len(relations)
    said, nothing = stem(clause.verb), frozenset[int]()
    # "Which stops are on X", by ``is_on_line``
    within = (clause.preposition,) if clause.implied else ()
    timed = clause.timed and not clause.preposition
    return [
        frozenset([HEAD])
        if within and within_phrase(each)[:1] == within
        else frozenset([TAIL])
        if timed and dated_deed(each) == said
        else _ends_of_clause(clause, each)
        if said in verb_stems(each)
        else nothing
        for each in relations
    ]


def _ends_of_clause(clause: Clause, relation: str) -> frozenset[int]:
    """See ``answer_ends``."""
    asked, doer = clause.preposition, doer_end(relation, clause.verb)
    if active := _active(relation):
        return frozenset(1 - end for end in _ends_of_clause(clause, active))
    if _says_noun_and_verb(clause, relation):
        return frozenset([TAIL])
    if doer is None:
        predicate = predicate_words(relation)
        if not predicate or stem(predicate[0]) != stem(clause.verb):
            return frozenset()
        if stem(clause.verb) in _MUTUAL:
            return frozenset((HEAD, TAIL))
        own = predicate[1] if len(predicate) > 1 else ""
        if is_other_object(clause, relation):
            return frozenset()
        if "by" not in (own, asked):
            same = own == asked or (clause.adverbial and own in PLACES)
            end = TAIL if clause.topic_first else HEAD
            return frozenset([end]) if same else frozenset()
        if {own, asked} - {"by", ""}:
            return frozenset()
        doer = TAIL if own == "by" else HEAD
    # Doer and deed, whichever voice the relation and the question have.
    if asked not in ("", "by") or clause.passive != (asked == "by"):
        return frozenset()
    asks_doer = clause.topic_first == clause.passive
    return frozenset([doer if asks_doer else 1 - doer])


def _active(relation: str) -> str:
    """ "Looked after" of "looked after by", whose ends are the other way round; "" of
    other names."""
    words = without_auxiliaries(relation_words(relation))
    is_passive = words[2:] == ["by"] and is_past(words[0]) and words[1] in PREPOSITIONS
    return " ".join(words[:2]) if is_passive else ""


def _says_noun_and_verb(clause: Clause, relation: str) -> bool:
    """Whether a relation is called by both: "what year was X built", ``year_built``.

    So is ``feeds_river``. Or it is called by the verb and a rank, ``first_approved``.
    """
    words = {*relation_words(relation)} - PREPOSITIONS
    said = {*map(stem, (*clause.noun, clause.verb))}
    return (
        clause.topic_first
        and len(words) > 1
        and {*map(stem, words - RANK_ADVERBS)} == said
    )


def is_other_object(clause: Clause, relation: str) -> bool:
    """Whether a relation names its tails, and a question asks for others: a league,
    where X plays in a club."""
    words = relation_words(relation)
    if not clause.noun or not clause.topic_first:
        return False
    if len(words) == 1 and words[0] in _PLACES:  # no range is a country
        named = word_forms(words[0])
        return named.isdisjoint(word_forms(clause.noun[-1])) and not (
            _PLACES_AT_ALL.intersection(clause.noun)
        )
    if len(words) < 3:
        return False
    if not predicate_words(relation):
        return False  # The state is no object in "head of state".
    last = words[-1]
    if last in PREPOSITIONS or words[-2] not in PREPOSITIONS:
        return False
    return word_forms(clause.noun[-1]).isdisjoint(word_forms(last))


def noun_ends(word: str, relation: str) -> frozenset[int]:
    """The ends of a relation where those stand that a word calls so.

    Both where the relation is a verb, or is called otherwise.

    >>> noun_ends("advisor", "hasAcademicAdvisor") == {TAIL}
    True
    >>> noun_ends("pupils", "pupil_of") == {HEAD}
    True
    >>> noun_ends("owner", "owns") == {HEAD, TAIL}
    True
    """
    words = relation_words(relation)
    is_noun = base_noun(word) in {base_noun(each) for each in words}
    if not is_noun or predicate_words(relation) or base_noun(word) in MUTUAL_NOUNS:
        return frozenset((HEAD, TAIL))
    return frozenset([HEAD if len(words) > 1 and words[-1] == "of" else TAIL])


def _ends_of_noun(noun: tuple[str, ...], relation: str) -> frozenset[int]:
    """The ends of a relation where the topic's so-called stand.

    What a relation calls its tails, or its heads where "of" follows.
    """
    if singular(within_phrase(relation)[1:]) == noun:
        return frozenset([TAIL])
    if noun == (head_role(relation),):
        return frozenset([HEAD])
    words = relation_words(relation)
    words = without_auxiliaries(words)
    verb, *rest = predicate_words(relation) or ("",)
    if verb and len(words) > 1 and (base_noun(words[-1]),) == noun:
        return frozenset([TAIL])  # "starred actors" are tails, though actors star
    plain = rest in ([], ["by"]) or (is_finite(verb) and not is_past(verb))
    if verb and plain and agent_stem(noun[-1]) == stem(verb):
        # "The mentor of X" of "mentored by" and of "mentors"; its players "play in" it
        return frozenset([TAIL if rest == ["by"] else HEAD])
    if (verb, rest) == ("reports", ["to"]) and noun[-1] in _REPORTS:
        return frozenset([HEAD])
    is_of = len(words) > 1 and words[-1] == "of"
    words = words[:-1] if is_of else words
    # A salesperson is one word of a question, and two of a relation; a CEO is three.
    same = singular(words) == noun or "".join(singular(words)) == "".join(noun)
    if not same and "".join(noun) not in initials(words):
        return frozenset()
    if noun[-1] in MUTUAL_NOUNS:
        return frozenset((HEAD, TAIL))
    return frozenset([HEAD if is_of else TAIL])
