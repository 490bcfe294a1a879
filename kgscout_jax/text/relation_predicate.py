"""The verb that a relation's name says, by whatever words.

A ``director`` directs, ``year_built`` says when something was built, ``hire_date`` when
somebody was hired, and ``reports_to`` is a verb with its preposition.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kgscout_jax.text.kinds import (
    HEAD,
    TAIL,
    has_participle_ending,
    is_finite,
    is_past,
    noun_kind,
    singular_form,
    statement,
    verbs_of_agents,
)
from kgscout_jax.text.question_clause import BE, DO, PLACES
from kgscout_jax.text.question_noun import OF
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words
from kgscout_jax.text.stems import agent_stem, stem

_DOERS = frozenset(
    "lead head host coach judge guide chair boss captain referee sponsor pilot cook "
    "tutor".split()
)
"""Nouns for doers that are the verb itself."""
_ALSO_VERBS = frozenset("coach mentor tutor sponsor monitor pilot".split())
"""Nouns for doers whose plural may be a verb."""
NOUN_WORDS = 2
"""Words of a noun that is no clause, at most."""
_DATES = frozenset("date day year month".split())
_OF_DEED = re.compile(r"(?<=\w{4})(?:ion|ment|al|ure)$")
"""Endings of nouns for what is done."""
_DEEDS = {
    "birth": "born",
    "death": "die",
    "marriage": "marry",
    "foundation": "found",
    "publication": "publish",
    "completion": "complete",
    "arrival": "arrive",
    "departure": "depart",
    "graduation": "graduate",
    "admission": "admit",
    "construction": "construct",
    "creation": "create",
    "establishment": "establish",
    "acquisition": "acquire",
    "invention": "invent",
    "discovery": "discover",
    "formation": "form",
    "election": "elect",
    "installation": "install",
    "registration": "register",
    "delivery": "deliver",
    "introduction": "introduce",
    "enrollment": "enroll",
    "employment": "employ",
    "approval": "approve",
    "termination": "terminate",
}
"""Nouns for what is done, and its verb."""
_PATH = re.compile(
    r"/?(?P<domain>[a-z0-9_]+)(?P<join>[/.])(?P<type>[a-z0-9_]+)(?P=join)[a-z0-9_]+"
    r"(?:$|\./|\.\.)"
)
"""A relation of Freebase: domain, type of its heads and property, perhaps of a record
with another one behind."""


@lru_cache(maxsize=1 << 14)
def predicate_words(relation: str) -> tuple[str, ...]:
    """The verb of a relation's name and its preposition; () for a name without."""
    whole = statement(relation)
    words = whole.predicate.split() if whole else relation_words(relation)
    words = without_auxiliaries(words)
    if (
        len(words) > 2
        and words[-1] in PREPOSITIONS
        and has_participle_ending(words[-2])
    ):
        words = words[-2:]  # "station affiliated with"
    if len(words) == 2 and words[0].endswith("ing") and words[1] in PREPOSITIONS:
        return (*words,)  # "reporting to"
    if not words or not _is_verb(words[0]):
        return ()
    if whole is None and words[1:] and words[1] not in PREPOSITIONS:
        # "coaches team", no "sales region"
        return tuple(words[:1]) if is_finite(words[0]) else ()
    return tuple(words[:2])


def _is_verb(word: str) -> bool:
    """Whether a word may be a verb with a subject, or a participle."""
    return word.endswith("s") or is_past(word)


def without_auxiliaries(words: list[str]) -> list[str]:
    """The words of a relation's name without a leading "has" or "is"."""
    while len(words) > 1 and words[0] in BE | DO:
        words = words[1:]
    return words


@lru_cache(maxsize=1 << 14)
def within_phrase(relation: str) -> tuple[str, ...]:
    """The preposition and the noun of a relation that has no verb; () for others.

    >>> within_phrase("is on line"), within_phrase("in_team")
    (('on', 'line'), ('in', 'team'))
    >>> within_phrase("located_in")
    ()
    """
    words = relation_words(relation)
    words = words[words[:1] != [] and words[0] in BE :]
    placed = 1 < len(words) <= NOUN_WORDS + 1 and words[0] in PLACES
    return (*words,) if placed else ()


@lru_cache(maxsize=1 << 14)
def dated_deed(relation: str) -> str:
    """The stem of the verb for what a relation dates; "" for other relations.

    >>> dated_deed("Hire Date") == stem("hired"), dated_deed("date_of_birth")
    (True, 'born')
    >>> dated_deed("retraction_year") == stem("retracted")
    True
    """
    words = [word for word in relation_words(relation) if word not in PREPOSITIONS]
    deeds = [word for word in words if word not in _DATES]
    if len(deeds) != 1 or len(words) == 1:
        return ""
    return stem(_DEEDS.get(deeds[0]) or _OF_DEED.sub("", deeds[0]))


@lru_cache(maxsize=1 << 14)
def verb_stems(relation: str) -> frozenset[str]:
    """Stems of the verbs that may say a relation: of its doer's noun, its own, and one
    beside a noun, ``year_built``, ``feeds_river``."""
    words, verb = relation_words(relation), predicate_words(relation)[:1]
    stems = {*doer_stems(relation), *_head_stems(relation), *map(stem, verb)}
    return frozenset(stems | {*map(stem, words)} if len(words) == 2 else stems)


@lru_cache(maxsize=1 << 14)
def doer_stems(relation: str) -> frozenset[str]:
    """Stems of the verbs for what those do that a relation is called by."""
    words = relation_words(relation)
    path = _PATH.match(relation)
    if path and len(words) > 1 and words[0] == path["domain"]:
        words = words[1:]  # film_distributor
    if len(words) - (words[-1:] == [OF]) != 1:
        return frozenset()
    return _stems_of_doer(words[0])


def _stems_of_doer(noun: str) -> frozenset[str]:
    """Stems of the verbs for what those do that a noun names."""
    if noun in _DOERS:
        return frozenset([stem(noun)])
    one = singular_form(noun)
    if one == "author":
        return frozenset([agent_stem(one), one])
    # "Directors" are several, and "coaches" and "mentors" may be verbs.
    doer = one if one in verbs_of_agents() and one not in _ALSO_VERBS else noun
    return frozenset({agent_stem(doer)} - {""})


def doer_end(relation: str, verb: str) -> int | None:
    """The end of those who do what a verb says, where a relation is called like them.

    None for other relations.

    >>> doer_end("director", "directed"), doer_end("owner_of", "own")
    (1, 0)
    >>> doer_end("/film/director/film", "directed")
    0
    """
    if stem(verb) in _head_stems(relation):
        return HEAD
    if stem(verb) not in doer_stems(relation):
        return None
    return HEAD if relation_words(relation)[-1:] == [OF] else TAIL


@lru_cache(maxsize=1 << 14)
def head_type(relation: str) -> str:
    """What the path of a relation in Freebase calls its heads; "" for other names.

    >>> head_type("/film/film/genre"), head_type("tv.tv_producer.programs_produced")
    ('film', 'producer')
    >>> head_type("directed_by")
    ''
    """
    if (path := _PATH.match(relation)) is None:
        return ""
    return path["type"].removeprefix(f"{path['domain']}_").replace("_", " ")


def head_role(relation: str) -> str:
    """``head_type`` if it says what people do; "" for other names.

    >>> head_role("/film/director/film"), head_role("/film/film/genre")
    ('director', '')
    """
    role = head_type(relation)
    return role if noun_kind(role) == "person" and role != "person" else ""


def _head_stems(relation: str) -> frozenset[str]:
    """Stems of the verbs for what the heads of a relation do, see ``head_role``."""
    role = head_role(relation)
    return _stems_of_doer(role) if role else frozenset()
