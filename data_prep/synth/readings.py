"""How a relation's name reads in English: as a noun, a verb or a participle.

``directed_by`` reads as the verb "direct" with the tail as its subject and as the noun
"director"; ``people.person.place_of_birth`` as the noun "place of birth", as "born in"
and as "birthplace". Each reading is a way to ask for the relation.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from data_prep.synth.words import (
    in_number,
    is_participle,
    is_third_person,
    lemmas,
    singular,
    verb_form,
)
from kgscout_jax.text.kinds import is_measure, kind_words, statement
from kgscout_jax.text.relation_phrases import equivalent_phrases
from kgscout_jax.text.relation_words import (
    PREPOSITIONS,
    domain,
    head_noun,
    relation_words,
)

Kind = Literal["noun", "active", "passive"]


@cache
def lexicon() -> dict[str, Any]:
    """Words by their use: types of entities, verbs, and names in plainer words."""
    return json.loads(Path(__file__).with_name("lexicon.json").read_text("utf-8"))


@cache
def word_list(name: str) -> frozenset[str]:
    """One list of the lexicon as a set."""
    return frozenset(lexicon()[name].split())


@dataclass(frozen=True)
class Reading:
    """One way to say that an entity (the subject) has a relation to another."""

    kind: Kind
    """noun: the object is the subject's ``words``; active: the subject ``words`` (a
    verb) ``particle`` the object; passive: the subject is ``words`` (a participle or an
    adjective) ``particle`` the object."""
    words: str
    particle: str = ""
    """Preposition, or more words, between the verb and the object."""
    inverted: bool = False
    """Whether the relation's tail is the subject."""
    present: bool = False
    """Tense of the verb."""
    object_type: str = ""
    """What the name calls the object, such as language of "languages spoken"."""
    subject_type: str = ""

    def turned(self) -> Reading:
        """The reading of the relation's inverse."""
        return replace(self, inverted=not self.inverted)


def relation_readings(
    relation: str, *, dated: bool = False, counted: bool = False
) -> list[Reading]:
    """All readings of a relation, its own words first.

    Args:
        relation: the name.
        dated: whether its tails are dates: "first released" is then said of its heads.
        counted: whether its tails are numbers: "employees" are then how many there are.
    """
    if whole := statement(relation):
        own = phrase_reading(f"{whole.predicate} {whole.object}".split())
        return [replace(own, subject_type=whole.subject)]
    words = relation_words(relation)
    phrase = " ".join(words)
    own = phrase_reading(lexicon()["better"].get(phrase, phrase).split())
    if own.kind == "noun" and own.words == phrase:
        own = replace(own, words=_spelling(relation, words))
    if counted and own.kind == "noun" and _is_countable(own.words):
        return [Reading("noun", f"number of {in_number(own.words, True)}")]
    if dated and words and is_participle(words[-1]) and not lemmas(words[-1], "NOUN"):
        own = Reading("passive", phrase, "in")
    readings = [own]
    for key in (phrase, in_number(phrase, False), phrase.removeprefix("has ")):
        if others := equivalent_phrases().get(key):
            readings += [_equivalent(other) for other in others]
            if own.kind == "noun" and not lemmas(_last_noun(own.words), "NOUN"):
                readings.remove(own)  # no English noun, such as "containedby"
            break
    if own.kind == "active" and not own.particle and own.inverted:
        if agent := kind_words()["agents"].get(own.words):
            readings.append(Reading("noun", agent))
    elif own.kind == "noun" and len(words) == 1:
        agents = {noun: verb for verb, noun in kind_words()["agents"].items()}
        if verb := agents.get(singular(words[0])):
            readings.append(Reading("active", verb, inverted=True))
    if role := _role_reading(relation):
        readings.append(role)
    return list(dict.fromkeys(readings))


def _spelling(relation: str, words: list[str]) -> str:
    """A noun phrase, in the relation's own case if it is of another language.

    >>> _spelling("Höhe", ["höhe"]), _spelling("Genre", ["genre"])
    ('Höhe', 'genre')
    """
    spelt = re.findall(r"[^\W_]+", relation)
    as_written = all(word in (word.lower(), word.capitalize()) for word in spelt)
    same = [word.lower() for word in spelt] == words
    if as_written and same and not lemmas(words[head_noun(words)], "NOUN"):
        return " ".join(spelt)
    return " ".join(words)


def _is_countable(phrase: str) -> bool:
    """Whether a noun phrase names things by their plural: employees, no revenues."""
    noun = _last_noun(phrase)
    one = singular(noun)
    return one != noun and bool(lemmas(noun, "NOUN")) and not is_measure(one)


def _last_noun(phrase: str) -> str:
    """The noun of a noun phrase that inflects."""
    words = phrase.split()
    return words[head_noun(words)]


def _equivalent(phrase: str) -> Reading:
    """The reading of an equivalent phrase; ^ marks that of the inverse."""
    reading = phrase_reading(phrase.lstrip("^").split())
    return reading.turned() if phrase.startswith("^") else reading


def _role_reading(relation: str) -> Reading | None:
    """film.director.film: what the head directs."""
    role = domain(relation).split()
    agents = {noun: verb for verb, noun in kind_words()["agents"].items()}
    words = relation_words(relation)
    if not role or len(words) != 1 or role[-1] not in agents:
        return None
    works = ("film", "book", "song", "album", "composition", "work", "game", "program")
    if singular(words[0]) not in works:
        return None
    return Reading("active", agents[role[-1]], object_type=singular(words[0]))


def phrase_reading(words: list[str]) -> Reading:
    """The reading of a relation's own words."""
    if not words:
        return Reading("noun", "value")
    if len(words) > 1 and words[0] in ("has", "have", "is", "was", "are"):
        rest = words[1:]
        if words[0] in ("has", "have") and len(rest) > 1 and rest[-1] in PREPOSITIONS:
            rest = rest if is_participle(rest[0]) else rest[:-1]
        return phrase_reading(rest)
    if words[-1] == "of" and "this is a" in " ".join(words):
        at = words.index("this")
        return Reading("noun", " ".join(words[at + 3 : -1]), inverted=True)
    if words == ["about"]:
        return Reading("passive", "about", present=True)
    if named := _noun_participle(words):
        return named
    if len(words) > 2 and _is_verb(words) and (verb := _verb_first(words)):
        return verb
    if len(words) > 1 and words[-1] in PREPOSITIONS:
        return _with_preposition(words)
    if len(words) > 1 and words[0] in PREPOSITIONS:
        return Reading("noun", " ".join(words[1:]))
    if len(words) > 2 and words[-1] == "here":
        return _with_preposition([*words[:-1], "in"], turned=True)
    if (len(words) > 3 and words[-2] == "this") or "this" in words[1:-1]:
        at = words.index("this")
        subject = words[: at - 1] if words[at - 1] in PREPOSITIONS else words[:at]
        if subject:
            noun = " ".join(words[at + 1 :])
            return Reading(
                "noun",
                noun,
                inverted=True,
                subject_type=in_number(" ".join(subject), False),
            )
    return _verb_first(words) or Reading("noun", " ".join(words))


def _with_preposition(words: list[str], *, turned: bool = False) -> Reading:
    """Words that end in a preposition: "born in", "capital of", "depends on"."""
    *before, word, particle = words
    adverb = bool(before) and all(w.endswith("ly") for w in before)
    named = "" if adverb or not before else in_number(" ".join(before), False)
    prefix = " ".join(before) + " " if adverb else ""
    lemma = is_participle(word)
    if not lemma and particle == "by" and _is_own_participle(word):
        lemma = word
    if lemma and not (particle == "of" and lemmas(word, "NOUN")):
        if particle == "by":
            present = lemma in word_list("present")
            return Reading(
                "active", prefix + lemma, inverted=not turned, present=present,
                subject_type=named,
            )  # fmt: skip
        if _is_active_past(lemma, word) and not turned:
            return Reading("active", prefix + lemma, particle, object_type=named)
        present = lemma in word_list("present")
        reading = Reading("passive", prefix + word, particle, present=present)
        if turned:
            return replace(reading, inverted=True, subject_type=named)
        return replace(reading, object_type=named)
    lemma = is_third_person(word) or (word if word in word_list("verbs") else None)
    if lemma and not before and not lemmas(word, "ADJ"):
        return Reading("active", lemma, particle, present=True)
    if particle == "of" or (lemmas(word, "NOUN") and not lemmas(word, "ADJ")):
        if particle in ("of", "for", "in", "to"):
            return Reading("noun", " ".join([*before, word]), inverted=True)
        return Reading("noun", " ".join(words[:-1]))
    known = any(lemmas(word, kind) for kind in ("NOUN", "VERB", "ADJ", "ADV"))
    if not known and not word.endswith("ed"):  # "contraindicated with"
        return Reading("noun", " ".join(words))  # another language: "liegt in"
    return Reading("passive", prefix + word, particle, present=True, object_type=named)


def _is_own_participle(word: str) -> bool:
    """Whether a verb is its own past participle: run, cut, put."""
    return word in lemmas(word, "VERB") and verb_form(word, "VBN") == word


def _verb_first(words: list[str]) -> Reading | None:
    """ "contains", "wrote", "speaks language": a verb, and what it is done to."""
    first, rest = words[0], words[1:]
    if rest and first.endswith("ly"):
        verb = _verb_first(rest)
        return verb and replace(verb, words=f"{first} {verb.words}")
    nouns = word_list("ambiguous_nouns")
    lemma = is_third_person(first)
    only_verb = bool(lemma) and not lemmas(first, "NOUN")
    known = lemma in word_list("verbs") and (bool(rest) or first not in nouns)
    if lemma and (only_verb or known):
        return _active(lemma, rest, present=True)
    past = is_participle(first)
    if past is None:
        return None
    if not rest:
        return Reading("active", past)
    if _is_active_past(past, first):
        return _active(past, rest, present=False)
    if rest[0] in PREPOSITIONS:
        named = in_number(" ".join(rest[1:]).removeprefix("the "), False)
        return Reading("passive", first, rest[0], object_type=named)
    return None


def _is_verb(words: list[str]) -> bool:
    """Whether words begin with a verb: "shares border with", "came out in"."""
    if {"this", "here"} & set(words):
        return False
    lemma = is_participle(words[0])
    past = lemma is not None and _is_active_past(lemma, words[0])
    return past or is_third_person(words[0]) is not None


def _is_active_past(lemma: str, word: str) -> bool:
    """Whether a past form says what the subject did: "wrote", "played", not "born"."""
    past, participle = verb_form(lemma, "VBD"), verb_form(lemma, "VBN")
    return lemma in word_list("intransitive") or (word == past and past != participle)


def _active(lemma: str, rest: list[str], *, present: bool) -> Reading:
    """A verb with its object's type, or with more words before the object."""
    if rest and (rest[-1] in PREPOSITIONS or rest[0] in ("the", "a")):
        return Reading("active", lemma, " ".join(rest), present=present)
    if rest and rest[0] in PREPOSITIONS:
        named = in_number(" ".join(rest[1:]), False)
        return Reading("active", lemma, rest[0], present=present, object_type=named)
    named = in_number(" ".join(rest), False) if rest else ""
    return Reading("active", lemma, present=present, object_type=named)


def _noun_participle(words: list[str]) -> Reading | None:
    """ "works written", "languages spoken": the object, and what the subject does."""
    lemma = is_participle(words[-1]) if len(words) > 1 else None
    if lemma is None or lemmas(words[-1], "NOUN") or len(words) > 4:
        return None
    named = words[:-1]
    at = head_noun(named)
    if singular(named[at]) == named[at] and not lemmas(named[at], "NOUN"):
        return None
    return Reading("active", lemma, object_type=in_number(" ".join(named), False))
