"""What kind of answer a question asks for: "who", "in what year", "which films"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from kgscout_jax.text.apposition import without_apposition
from kgscout_jax.text.count_question import as_how_many
from kgscout_jax.text.courtesy import without_courtesy
from kgscout_jax.text.kinds import (
    Kind,
    base_noun,
    base_verb,
    is_attribute,
    is_finite,
    is_measure,
    is_past,
    kind_words,
    noun_kind,
    singular_form,
)
from kgscout_jax.text.noun_phrase import (
    AFTER,
    BE,
    COMMANDS,
    TOPIC,
    NounPhrase,
    noun_phrase,
)
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.value_words import ADJECTIVE_MEASURES, is_comparing
from kgscout_jax.text.words import FUNCTION_WORDS, PARTICLES, WORD

_QUESTION_WORDS: dict[str, Kind] = {
    "who": "person", "whom": "person", "when": "time", "where": "place",
}  # fmt: skip
_BEFORE = frozenset("in on at by to with for from of and since until during".split())
"""Words that may stand before a question word."""
_LEADS = frozenset(", ; : know tell say wonder guess remember me us out".split())
"""Words after which a question begins: "do you know who"."""
_TEAMS = frozenset(["for", "against"])
"""Who somebody plays for is a team."""
_DOINGS = {
    **dict.fromkeys(
        ("do", "does", "did"), frozenset("work study teach play serve".split())
    ),
    **dict.fromkeys(
        ("is", "are", "was", "were"),
        frozenset(
            "working studying teaching playing serving employed educated".split()
        ),
    ),
}
"""Where somebody does this is a place, or those it is done for; by the word after
"where"."""
_CLAUSES = frozenset("that which who whom whose when".split())
_TELLING = frozenset("describe explain define summarize summarise about".split())
"""Verbs before a topic."""
_BEFORE_NOUN = frozenset("the a an of s this last first its his her their".split())
"""Words after which "name" and "list" are nouns."""
_VAGUE = frozenset(
    "kind type sort form name thing part number example group way".split()
)
"""Nouns that say nothing of what they stand for."""
_SORTS = frozenset("kind type sort form".split())
_HELPING = frozenset("do does did should can could must may might would will".split())
"""Verbs between "what" and whoever does something to it."""
_HAVING = frozenset("do does did has have had".split())
"""Words between "what kind of food" and a topic that show that food is asked for."""
SORT_OF = r"\b(?:kind|type|sort) of (?:an? )?"
"""A pattern for what stands before a noun that sorts are asked of."""
_ANYBODY = frozenset("everyone everybody anyone anybody someone somebody".split())
_ANYTHING = frozenset("everything anything something".split())
_BROAD = frozenset("place location area region person people folk guy".split())
"""Nouns that say no more than a kind."""
_OF_PARTS = frozenset((("of", TOPIC), ("for", TOPIC)))
_MEASURES = {
    **ADJECTIVE_MEASURES,
    "high": "height elevation altitude", "far": "distance", "old": "age",
    "hot": "temperature heat", "bright": "brightness luminosity magnitude",
    "weigh": "weight mass", "cost": "price cost", "earn": "salary income wage",
}  # fmt: skip
"""What "how high" and "how much does it weigh" ask for."""
_MEASURING = frozenset(("cost", "weigh", "earn"))
"""Those of these words that are verbs."""
_EMAIL = re.compile(r"\be-?mail(?:-| )address")
"""It is no place."""
_GAP = 3
"""Words of a topic's name that mean nothing by themselves, between two that do."""
_TOKEN = re.compile(rf"{WORD.pattern}|[,;:]")


@dataclass(frozen=True)
class AskedKind:
    """What a question asks for."""

    kind: Kind
    nouns: frozenset[str] = frozenset()
    """What it may be called, in singular; empty where only the kind is known."""
    number: bool = False
    """Whether a number answers as well: "how many people live there"."""
    or_named: bool = False
    """Whether anything that is called so answers, of that kind or not: "who is his
    religion"."""
    which: bool = False
    """Whether it asks which of several, or for several things: no number, unless it is
    called so."""
    or_host: bool = False
    """Whether a firm, school or team answers as well: "where does she work"."""


def asked_kind(question: str, topics: Sequence[str]) -> AskedKind | None:
    """What a question asks for; None where its words leave it open.

    Args:
        question: the question.
        topics: names that it mentions; their words are no nouns of its own.

    >>> asked_kind("Who is in Alien?", ["Alien"]).kind
    'person'
    >>> asked_kind("the films of Mann were released in which years", ["Mann"]).kind
    'time'
    >>> sorted(asked_kind("What genres do the films of Mann have?", ["Mann"]).nouns)
    ['genre']
    >>> asked_kind("Mann's wife's birth city?", ["Mann"]).kind
    'place'
    >>> "kite" in asked_kind("French kites made by Mann", ["Mann"]).nouns
    True
    >>> sorted(asked_kind("Kites with more than 10 tails", []).nouns)
    ['kite']
    >>> asked_kind("What is Ada Lovelace known for?", ["Ada Lovelace"])
    """
    words = question_tokens(as_how_many(question), topics)
    if words[-3:] == ["for", "a", "living"]:
        words = ["what", "occupation"]
    start = next((i for i, word in enumerate(words) if word not in _BEFORE), len(words))
    if words[1:2] and words[1] in _COSTING and {*words[2:]} == {TOPIC}:
        return None  # "what costs 5 pounds"
    for i, word in enumerate(words):
        if word in _QUESTION_WORDS and (i == start or _leads(words[:i])):
            return _of_question_word(words, i)
        if word == "how" and (measures := _measures(words[i + 1 :])):
            return AskedKind("thing", measures)
        how_many = word == "how" and words[i + 1 : i + 2] == ["many"]
        if how_many or word in ("what", "which"):
            phrase = noun_phrase(words, i + 1 + how_many)
            found = _of_phrase(words, phrase)
            if (
                word == "which"
                and i > start
                and (found is None or _is_relative(words, i))
            ):
                continue  # "the country in which": no question word
            if found is None and _helps(words[i + 1 :]):
                # What it costs is a number, what it sells is none.
                nouns = _measured(words[i + 2 :])
                return AskedKind("thing", nouns, which=not nouns)
            if found and how_many and found.kind == "time":
                return AskedKind("thing", found.nouns, number=True)  # "how many days"
            one_of = word == "which" or _are_things(words, phrase)
            return found and replace(
                found, number=how_many, which=one_of and not how_many
            )
        if word in COMMANDS and (not i or words[i - 1] not in _BEFORE_NOUN):
            phrase = noun_phrase(words, i + 1)
            if phrase.nouns and not {"say", "tell"}.intersection(words[i + 1 :]):
                return _of_list(words, phrase)
    if words and words[-1] in _QUESTION_WORDS:
        by = len(words) > 2 and words[-2] == "by"
        agent = _agent(words[-3:]) if by else frozenset()
        return AskedKind(_QUESTION_WORDS[words[-1]], agent)
    return _of_noun_phrase(words)


def question_tokens(question: str, topics: Sequence[str]) -> list[str]:
    """The words and commas of a question, ``TOPIC`` for words of its topics' names.

    Less those that only ask for an answer, see ``courtesy``, and a noun that only says
    what the topic is, see ``apposition``.
    """
    words = _TOKEN.findall(_EMAIL.sub("email", question.casefold()))
    topics = [topic for topic in topics if not _mask_name(words, topic)]
    of_topics = {w for topic in topics for w in WORD.findall(topic.casefold())}
    named = of_topics - PARTICLES - FUNCTION_WORDS
    places = [i for i, word in enumerate(words) if word in named]
    for i, j in pairwise(places):
        if j - i <= _GAP and of_topics.issuperset(words[i:j]):
            words[i:j] = [TOPIC] * (j - i)
    words = without_courtesy([TOPIC if word in named else word for word in words])
    return without_apposition(words, TOPIC)


def _mask_name(words: list[str], topic: str) -> bool:
    """Replace a topic's name by ``TOPIC`` in place; whether it stands there."""
    name = _TOKEN.findall(topic.casefold())
    places = [
        i for i in range(len(words) - len(name) + 1) if words[i : i + len(name)] == name
    ]
    for i in places if name else []:
        words[i : i + len(name)] = [TOPIC] * len(name)
    return bool(name and places)


_COSTING = frozenset(("costs", "weighs"))
_AREA = frozenset("area surface land total".split())
"""Words for how large something is."""
_PRICES = ("price", "cost")
"""What "how much is X" asks for."""


def _measures(rest: Sequence[str]) -> frozenset[str]:
    """What the number is called that "how" and these words ask for; () for none."""
    word = rest[0] if rest else ""
    if rest[1:3] in (["is", "the"], ["are", "the"], ["was", "the"]) and "of" in rest:
        # "How big is the capacity of X"
        noun = " ".join(noun_phrase(rest, 3).nouns)
        if noun_kind(noun) == "thing" and (is_measure(noun) or is_attribute(noun)):
            return frozenset({noun})
    if word == "much":
        word = next((each for each in rest if base_noun(each) in _MEASURES), "")
        if not word:  # "how much prize money", "how much is a ticket"
            noun = " ".join(noun_phrase(rest, 1).nouns)
            priced = not noun and rest[1:2] and rest[1] in BE
            return frozenset({noun, "amount", *(_PRICES if priced else ())} - {""})
    return frozenset(_MEASURES.get(base_noun(word), "").split())


def _helps(rest: Sequence[str]) -> bool:
    """Whether a verb is asked for the object of: "what does X sell".

    Args:
        rest: the words after "what".
    """
    return rest[:1] != [] and rest[0] in _HELPING


def _measured(words: Sequence[str]) -> frozenset[str]:
    """What the number is called that a verb asks for: "what does X weigh"."""
    verbs = (_MEASURES[word] for word in words if word in _MEASURING)
    return frozenset(next(verbs, "").split())


def _are_things(words: Sequence[str], phrase: NounPhrase) -> bool:
    """Whether a noun in plural stands for things that have names: "what projects", and
    not "what prices"."""
    last = words[phrase.stop - 1] if phrase.nouns else ""
    if singular_form(last) == last:
        return False
    noun = phrase.nouns[-1]
    is_number = is_measure(noun) or is_attribute(noun)
    return noun_kind(noun) == "thing" and not is_number


def _leads(before: Sequence[str]) -> bool:
    """Whether a question may begin after these words."""
    rest = [*before]
    while rest and rest[-1] in _BEFORE:
        rest.pop()
    return not rest or rest[-1] in _LEADS


def _is_relative(words: Sequence[str], i: int) -> bool:
    """Whether "which" at place ``i`` follows the noun that is asked for: "all systems
    on which games of Mann run"."""
    phrase = noun_phrase(words, 0)
    return 0 < phrase.stop == i - 1 and words[0] != TOPIC and words[i - 1] in _BEFORE


def _of_question_word(words: Sequence[str], i: int) -> AskedKind | None:
    """What "who", "when" or "where" at place ``i`` asks for."""
    word, rest = words[i], words[i + 1 :]
    if word == "who" and words[-1] in _TEAMS:
        return None
    if word == "where" and _is_done(rest):
        return AskedKind("place", or_host=True)
    if word in ("who", "whom"):
        agent = _agent(rest)
        # Who published it may be a firm.
        firm = any(noun_kind(noun) == "thing" for noun in agent)
        by_word = AskedKind("person", agent, or_named=firm)
    else:
        by_word = AskedKind(_QUESTION_WORDS[word])
    if word == "who" and rest and rest[0] in BE:
        # "Who is the director": the noun says more, or something else.
        phrase = noun_phrase(words, i + 2)
        found = _of_phrase(words, phrase)
        if found and (phrase.owned or rest[1:2] == ["the"]):
            # A landlord is somebody, though no list says so.
            person = found.kind == "thing"
            return replace(found, kind="person", or_named=True) if person else found
    return by_word


def _is_done(rest: Sequence[str]) -> bool:
    """Whether "where" and these words ask where somebody does something for others."""
    clause = next((i for i, word in enumerate(rest) if word in _CLAUSES), len(rest))
    return not _DOINGS.get(rest[0] if rest else "", frozenset()).isdisjoint(
        rest[:clause]
    )


def _agent(words: Sequence[str]) -> frozenset[str]:
    """What somebody who does what the verb says is called: who "directed".

    Nothing where a part is written: who wrote the music of a film is no writer.
    """
    verb = base_verb(words[0]) if words else None
    if verb == "write" and any(pair in _OF_PARTS for pair in pairwise(words[2:])):
        return frozenset()
    noun = kind_words()["agents"].get(verb or "")
    return frozenset({noun} | noun_synonyms({noun})) if noun else frozenset()


def _of_noun_phrase(words: Sequence[str]) -> AskedKind | None:
    """What a question without a question word asks for: "the wife of Mann".

    Or, in plural, "firms with more than 10 employees", "films that Mann directed",
    "Mann films made before 1990", "mystery films made by Mann".
    """
    phrase = noun_phrase(words, 0)
    after, by = words[phrase.stop : phrase.stop + 1], words[phrase.stop + 1 :][:1]
    begins = bool(phrase.nouns) and words[0] != TOPIC
    last = "".join(words[phrase.stop - 1 : phrase.stop])
    clause = after and (
        after[0] in _CLAUSES
        or after[0] in ("with", "without", "where", TOPIC)
        or is_comparing(after[0])
        or (is_past(after[0]) and len(phrase.nouns) == 1 and TOPIC not in words)
        or (is_past(after[0]) and by != [] and by[0] in _BEFORE)
        or (by != [] and by[0] in PREPOSITIONS)  # "spells effective against"
        or after[0].endswith("ing")
    )
    if begins and words[0] != "of" and phrase.nouns[-1] != last and clause:
        return _of_list(words, phrase)
    if phrase.nouns and TOPIC in words:
        ends = not after and phrase.owned
        if ends or (begins and after and after[0] in _BEFORE | {"behind", "about"}):
            return _of_list(words, phrase)
        tells = words[0] in _TELLING
        if begins and not tells and {*words[phrase.stop :]} == {TOPIC}:
            return _of_list(words, phrase)  # "record label Abba"
    described = next((i for i, word in enumerate(words) if word != TOPIC), 0)
    if described and singular_form(words[described]) != words[described]:
        # "Thai recipes with rice"
        return _of_list(words, noun_phrase(words, described))
    for i, word in enumerate(words):
        if word in ("this", "these"):
            return _of_list(words, noun_phrase(words, i + 1))
    return None


def _of_list(words: Sequence[str], phrase: NounPhrase) -> AskedKind | None:
    """As ``_of_phrase``, of a list that is asked for: "the operas that"."""
    found = _of_phrase(words, phrase)
    last = words[phrase.stop - 1] if phrase.nouns else TOPIC
    in_plural = last != TOPIC and base_noun(last) != last
    return replace(found, which=True) if found is not None and in_plural else found


def _of_phrase(words: Sequence[str], phrase: NounPhrase) -> AskedKind | None:
    """What a noun asks for, by its last word that names something."""
    nouns = phrase.nouns
    if not nouns:
        return None
    after = words[phrase.stop : phrase.stop + 1]
    whole, stop = [], phrase.stop
    if after == ["of"]:
        whole, stop, _ = noun_phrase(words, phrase.stop + 1)
    if nouns[0] in _SORTS:
        found = _of_sort(whole)
        # "What kind of animal is Rex" asks for the class of Rex.
        rest = [word for word in words[stop:] if word not in ("a", "an", "the")]
        if rest[1:2] == [TOPIC] and rest[0] in _HAVING:
            found = replace(found, nouns=found.nouns | {" ".join(whole)})
        is_class = rest[:1] != [] and rest[0] in BE and {*rest[1:]} == {TOPIC}
        return replace(found, nouns=found.nouns | {"class"}) if is_class else found
    if nouns[0] in _ANYBODY:
        return AskedKind("person", which=True)
    if (nouns, whole) == (["part"], ["body"]):
        return AskedKind(
            "thing", frozenset({"body part"} | noun_synonyms({"body part"}))
        )
    if nouns[0] in _VAGUE | _ANYTHING:
        return None
    names = {" ".join(nouns)}
    if whole:
        names.add(f"{' '.join(nouns)} of {' '.join(whole)}")
    if noun_kind(nouns[-1]) == "time" and noun_kind(" ".join(nouns)) == "thing":
        return AskedKind("thing", frozenset(names | noun_synonyms(names)))  # minutes
    last = words[phrase.stop - 1]
    in_plural = singular_form(last) != last and not is_finite(last)
    both = not in_plural and not last.endswith("ing")
    if not after or after[0] in AFTER or (after[0] in _BEFORE and not both):
        # Of "state flower" the flower; "airport serves" says both, and what "her child
        # is working on" is no child.
        nouns = nouns[-1:]
    if nouns[-1:] == ["area"] and {*nouns} <= _AREA and _is_owned(words, phrase):
        return AskedKind("thing", frozenset(names | {"area", "surface area"}))
    if nouns == ["area"] and whole and noun_kind(whole[-1]) == "thing":
        return AskedKind("thing", frozenset(names | {"field"}))  # "of expertise"
    for noun in reversed(nouns):
        kind = noun_kind(noun)
        if noun in _BROAD:
            names = names - {" ".join(nouns)}
            if kind == "person" and words[phrase.stop + 1 :][:1] != ["by"]:
                names |= _agent(words[phrase.stop :])
            return AskedKind(kind, frozenset(names))
        if kind != "thing":
            names.add(noun)
            return AskedKind(kind, frozenset(names | noun_synonyms(names)))
    names |= {*nouns}
    return AskedKind("thing", frozenset(names | noun_synonyms(names)))


def _is_owned(words: Sequence[str], phrase: NounPhrase) -> bool:
    """Whether a noun phrase ends the question as a topic's: "X area", "area of X"."""
    behind = words[phrase.stop :]
    of_topic = behind[:1] == ["of"] and {*behind[1:]} == {TOPIC}
    return of_topic or (phrase.owned and not behind)


def _of_sort(whole: Sequence[str]) -> AskedKind:
    """What "what kind of government" asks for."""
    names = {"genre"}
    for noun in whole:
        names |= {f"{each} of {noun}" for each in _SORTS}
        names |= {f"{noun} {each}" for each in _SORTS}
    return AskedKind("thing", frozenset(names))


def noun_synonyms(nouns: Set[str]) -> set[str]:
    """Other names of what nouns in singular name.

    >>> sorted(noun_synonyms({"novel"}))
    ['book']
    """
    others = _names_by_synonym()
    return {name for noun in nouns for name in others.get(noun, ())}


@cache
def _names_by_synonym() -> dict[str, set[str]]:
    """What each noun is another name of."""
    out: dict[str, set[str]] = defaultdict(set)
    for section in ("type_synonyms", "role_synonyms"):
        for name, others in kind_words()[section].items():
            for other in others:
                out[other.casefold()].add(name)
    return dict(out)
