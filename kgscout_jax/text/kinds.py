"""Of what kind the entities at the ends of a relation are, by its name.

``directed_by`` leads from films to directors, who are people. The rules need no
dictionary of English, because answering a question must not load one;
``data_prep.synth.node_types`` reads more off the names of a whole graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kgscout_jax.text.relation_words import (
    CLASS_NOUNS,
    PREPOSITIONS,
    domain,
    head_noun,
    relation_words,
    split_words,
)

Kind = Literal["person", "place", "time", "thing"]
"""thing: everything else, told apart by its nouns."""
Nouns = dict[str, float]
"""What the entities at an end may be called, in singular, with weights."""

STATED, NAMED, GUESSED = 2.0, 1.0, 0.5
"""Weights of a noun: by a dotted name, by the relation's own words, by the lists."""
HEAD, TAIL = 0, 1
Hint = tuple[int, str, float]
"""An end, a noun for it ("" for none), and the noun's weight."""


class Statement(NamedTuple):
    """A relation's name that says what its heads and tails are."""

    subject: str
    """What the heads are called, in singular."""
    predicate: str
    object: str
    """The same of the tails."""


KINDS: tuple[Kind, ...] = ("person", "place", "time", "thing")
_AUXILIARIES = frozenset("has have is was are were".split())
_PARTICIPLE = re.compile(r"(ed|born|spoken|written|held|taken|given|won|made|built)$")
_MEMBERS = frozenset("member citizen employee resident student player".split())
"""What heads are by a name such as "member of department"."""
_STATES = frozenset("native endemic adjacent relevant next close due active".split())
"""Words for a state that others than ``-able`` say: "native to country"."""
_HAVE = frozenset(("has", "have"))
_INTRANSITIVE = frozenset("act star perform sing teach win".split())
"""Verbs whose past forms say what the head did: "acted in", but "created in"."""
_NO_SUBJECTS = PREPOSITIONS | _AUXILIARIES
_DASH = re.compile(r"\s*[–—]\s*|\s+(?:-+|->|>)\s+")
UNIT_WORDS = frozenset(
    "kg g t lb lbs tons tonnes km m cm mm mi ft feet miles meters metres km2 m2 sqkm "
    "l ml liters litres kw mw kwh kb mb gb tb ms percent pct usd eur gbp "
    "sq millimeters millimetres grams kilograms "
    "years months weeks days hours minutes seconds".split()
)
"""Last words of relations to numbers: "weight kg"."""
_IRREGULAR_NOUNS = {
    "people": "person", "children": "child", "men": "man", "women": "woman",
    "wives": "wife", "lives": "life", "movies": "movie", "series": "series",
    "species": "species", "bases": "base", "alumni": "alumnus", "corps": "corps",
    "aliases": "alias", "alias": "alias", "lenses": "lens", "lens": "lens",
    "biases": "bias", "bias": "bias", "atlas": "atlas", "canvas": "canvas",
    "fungi": "fungus", "nuclei": "nucleus", "cacti": "cactus", "larvae": "larva",
    "algae": "alga", "bacteria": "bacterium", "phenomena": "phenomenon",
    "geese": "goose", "oxen": "ox", "loaves": "loaf", "thieves": "thief",
    "quizzes": "quiz", "cookies": "cookie", "calories": "calorie",
    "zombies": "zombie", "pancreas": "pancreas",
    "diagnoses": "diagnosis", "analyses": "analysis", "theses": "thesis",
    "crises": "crisis", "hypotheses": "hypothesis", "criteria": "criterion",
    "indices": "index", "vertices": "vertex", "matrices": "matrix",
    "genera": "genus", "viruses": "virus", "buses": "bus", "gases": "gas",
    "statuses": "status", "campuses": "campus", "heroes": "hero", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "wolves": "wolf", "shelves": "shelf",
    "leaves": "leaf", "knives": "knife", "potatoes": "potato", "tomatoes": "tomato",
    **{f"{noun}s": noun for noun in (
        "cpu gpu menu emu gnu guru api taxi ski kiwi wiki bikini safari "
        "alibi yeti").split()},
}  # fmt: skip
_SPELLINGS = {
    "colour": "color", "flavour": "flavor", "behaviour": "behavior", "labour": "labor",
    "harbour": "harbor", "neighbour": "neighbor", "centre": "center", "metre": "meter",
    "kilometre": "kilometer", "litre": "liter", "theatre": "theater",
    "licence": "license", "defence": "defense", "programme": "program",
    "catalogue": "catalog", "organisation": "organization", "tyre": "tire",
    "aeroplane": "airplane", "jewellery": "jewelry",
}  # fmt: skip
"""British nouns, in American spelling."""
IRREGULAR_VERBS = {
    "wrote": "write", "written": "write", "sang": "sing", "sung": "sing",
    "taught": "teach", "led": "lead", "won": "win", "built": "build", "starred": "star",
    "came": "come",
}  # fmt: skip


@cache
def kind_words() -> dict[str, Any]:
    """Lists of nouns by kind, and which verbs and phrases speak of which entities."""
    return json.loads(Path(__file__).with_name("kinds.json").read_text("utf-8"))


@cache
def verbs_of_agents() -> dict[str, str]:
    """What somebody is called -> what they do: director, direct."""
    return {noun: verb for verb, noun in kind_words()["agents"].items()}


@cache
def listed_words(name: str) -> frozenset[str]:
    """A list of ``kinds.json``: nouns of a kind, verbs, labels."""
    return frozenset(kind_words()[name].split())


def is_attribute(phrase: str) -> bool:
    """Whether a noun phrase names a property, which is neither anybody nor anywhere.

    A label says of what it is one: a job's title is no film's.

    >>> is_attribute("film genre"), is_attribute("job title"), is_attribute("school")
    (True, True, False)
    """
    rest, _, last = phrase.rpartition(" ")
    if rest and last in listed_words("labels"):
        last = rest.rpartition(" ")[2]
    return last in listed_words("attribute")


def is_measure(phrase: str) -> bool:
    """Whether a noun phrase names what is said by a number: a salary, no genre.

    >>> is_measure("yearly salary"), is_measure("genre")
    (True, False)
    """
    return phrase.rpartition(" ")[2] in listed_words("measures")


def singular(words: Sequence[str]) -> tuple[str, ...]:
    """A noun phrase in singular; () without words.

    >>> singular(["due", "dates"])
    ('due', 'date')
    """
    return (*words[:-1], *map(base_noun, words[-1:]))


@lru_cache(maxsize=1 << 14)
def base_noun(noun: str) -> str:
    """The singular of a noun, in one spelling.

    >>> [base_noun(noun) for noun in ("films", "countries", "colours", "status")]
    ['film', 'country', 'color', 'status']
    """
    one = singular_form(noun)
    return _SPELLINGS.get(one, one)


_PLURALS_IN_ICS = frozenset(
    "topics critics clinics comics fabrics relics mosaics picnics musics mechanics "
    "epics plastics antibiotics cosmetics ceramics".split()
)
"""Nouns in -ics that have a singular, unlike physics."""


_PLURAL_IN_ES = re.compile(r"(?:ss|x|[lntz]z|ch|sh|(?<!sh)(?<!\bcan)(?<!\b[dfht])o)es$")
"""Heroes and volcanoes, but shoes, canoes and toes."""


@lru_cache(maxsize=1 << 14)
def singular_form(noun: str) -> str:
    """The singular of a noun, by its ending.

    >>> [singular_form(noun) for noun in ("countries", "boxes", "colours", "status")]
    ['country', 'box', 'colour', 'status']
    >>> [singular_form(noun) for noun in ("volcanoes", "shoes", "prizes", "waltzes")]
    ['volcano', 'shoe', 'prize', 'waltz']
    """
    if noun in _IRREGULAR_NOUNS:
        return _IRREGULAR_NOUNS[noun]
    if len(noun) < 4 or noun.endswith(("ss", "us", "is")):
        return noun
    if noun.endswith("ics") and noun not in _PLURALS_IN_ICS:
        return noun
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if _PLURAL_IN_ES.search(noun):
        return noun[:-2]
    return noun.removesuffix("s")


@lru_cache(maxsize=1 << 14)
def base_verb(word: str) -> str | None:
    """The verb of ``kinds.json`` that a word is a form of, if any.

    >>> [base_verb(word) for word in ("directed", "coaches", "wrote", "genre")]
    ['direct', 'coach', 'write', None]
    """
    verbs = kind_words()["agents"].keys() | kind_words()["patients"].keys()
    ends = ("s", "es", "d", "ed", "ing")
    stems = [word.removesuffix(end) for end in ends if word != end]
    stems += [stem + "e" for stem in stems]
    found = [IRREGULAR_VERBS.get(word, ""), *stems]
    return next((verb for verb in found if verb in verbs and verb != word), None)


_LASTING = frozenset("running run cooking preparation baking response waiting".split())
"""Of these a time is a number of minutes."""


@lru_cache(maxsize=1 << 14)
def noun_kind(phrase: str) -> Kind:
    """The kind of what a noun phrase names.

    >>> noun_kind("film director"), noun_kind("place of birth"), noun_kind("genre")
    ('person', 'place', 'thing')
    """
    words = split_words(phrase)
    if not words:
        return "thing"
    head = head_noun(words)
    noun = base_noun(words[head])
    if noun == "time" and head and words[head - 1] in _LASTING:
        return "thing"
    for kind in KINDS[:-1]:
        if noun in listed_words(kind):
            return kind
    return "person" if noun.endswith(("ologist", "ician", "wright")) else "thing"


@lru_cache(maxsize=1 << 14)
def end_nouns(relation: str) -> tuple[Nouns, Nouns]:
    """What the heads and the tails of a relation may be called.

    >>> heads, tails = end_nouns("directed_by")
    >>> sorted(heads), sorted(tails)
    (['film'], ['director'])
    >>> end_nouns("wasBornIn") == end_nouns("born_in")
    True
    """
    words = relation_words(relation)
    ends: tuple[Nouns, Nouns] = ({}, {})
    for end, noun, weight in (
        (HEAD, _singular(domain(relation).split()), STATED),
        *_listed(words),
        *(list(_of_statement(relation)) or _said(words)),
    ):
        if noun:
            ends[end][noun] = max(weight, ends[end].get(noun, 0.0))
    if not ends[HEAD] and (owner := _owner(words)):
        ends[HEAD][owner] = GUESSED
    return ends


def _listed(words: list[str]) -> Iterator[Hint]:
    """What the lists say of phrases and words."""
    lists = kind_words()
    own = words[len(words) > 1 and words[0] in _AUXILIARIES :]
    for key in {" ".join(words), _singular(words), " ".join(own)}:
        yield HEAD, lists["subjects"].get(key, ""), GUESSED
        yield HEAD, lists["reverse_roles"].get(key, ""), NAMED
        yield TAIL, lists["objects"].get(key, ""), GUESSED
    # Countries have a capital, and are what a city is the capital of.
    end = TAIL if words[-1:] == ["of"] else HEAD
    for word in words:
        yield end, lists["subjects"].get(word, ""), GUESSED / 2


def _said(words: list[str]) -> Iterator[Hint]:
    """What the words themselves say, as a verb or a noun."""
    lists = kind_words()
    if len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    if not words:
        return
    by = base_verb(words[-2]) if len(words) > 1 and words[-1] == "by" else None
    active = None if words[0].endswith("ing") else base_verb(words[0])
    past = words[0].endswith("ed") or words[0] in IRREGULAR_VERBS
    if active and past and len(words) > 1 and active not in _INTRANSITIVE:
        yield HEAD, lists["patients"].get(active, ""), GUESSED  # "created on date"
        active = None
    if len(words) == 3 and words[-1] in PREPOSITIONS and _PARTICIPLE.search(words[1]):
        yield HEAD, base_noun(words[0]), NAMED  # "studio located in"
    if by:
        yield TAIL, lists["agents"].get(by, ""), NAMED
        yield HEAD, lists["patients"].get(by, ""), GUESSED
    elif active and (len(words) == 1 or words[1] in PREPOSITIONS):
        yield HEAD, lists["agents"].get(active, ""), NAMED
        yield TAIL, lists["patients"].get(active, ""), GUESSED
    elif words[0] in _MEMBERS and len(words) > 2 and words[1] == "of":
        yield HEAD, words[0], NAMED
        yield TAIL, _singular(words[2:]), NAMED
    elif words[-1] == "of" and len(words) > 1:
        if not _PARTICIPLE.search(words[-2]):  # "made of"
            yield HEAD, _singular(words[:-1]), NAMED
    elif words[-1] not in PREPOSITIONS:  # "depends on" names nobody
        if words[0] in PREPOSITIONS:
            words = words[1:]
        elif _begins_with_verb(words):  # "plays in club" names a club, of players
            yield HEAD, lists["agents_in"].get(active or words[0], ""), GUESSED
            words = words[2:]
        if len(words) > 1 and (
            _PARTICIPLE.search(words[-1]) or words[-1] in UNIT_WORDS
        ):
            words = words[:-1]  # "languages spoken" are languages
        yield TAIL, _singular(words), NAMED
        if len(words) == 2 and words[1] in listed_words("labels"):
            yield TAIL, base_noun(words[0]), NAMED  # a "job title" says which job


def statement(relation: str) -> Statement | None:
    """The parts of a name that is a whole statement; None for others.

    A verb stands between the nouns, or dashes part them.

    >>> statement("athlete_plays_for_team")
    Statement(subject='athlete', predicate='plays for', object='team')
    >>> statement("Compound–treats–Disease").subject, statement("place_of_birth")
    ('compound', None)
    """
    parts = [split_words(part) for part in _DASH.split(relation)]
    if len(parts) == 3 and all(parts):
        return Statement(_singular(parts[0]), " ".join(parts[1]), _singular(parts[2]))
    words = relation_words(relation)
    if " ".join(words) in kind_words()["subjects"]:
        return None
    for i in range(1, len(words) - 1):
        verb = words[i]
        if words[i - 1] in _NO_SUBJECTS or verb in _NO_SUBJECTS - _HAVE:
            return None
        if is_finite(verb) or _PARTICIPLE.search(verb):
            after = i + 1 + (words[i + 1] in PREPOSITIONS)
            rest = words[after:]
            if not rest or rest[-1] in PREPOSITIONS or _PARTICIPLE.search(rest[-1]):
                return None
            predicate = " ".join(words[i:after])
            return Statement(_singular(words[:i]), predicate, _singular(rest))
    return None


def has_participle_ending(word: str) -> bool:
    """Whether a word ends as past participles do."""
    return _PARTICIPLE.search(word) is not None


def is_past(word: str) -> bool:
    """Whether a word has the form of a past tense or participle."""
    return word in IRREGULAR_VERBS or has_participle_ending(word)


def is_finite(word: str) -> bool:
    """Whether a word is a verb of the lists in a form with a subject."""
    return word in listed_words("verbs") | _HAVE or base_verb(word) is not None


def _of_statement(relation: str) -> Iterator[Hint]:
    """What a name says that is a whole statement."""
    if found := statement(relation):
        verb = found.predicate.split()[0]
        past = _PARTICIPLE.search(verb)  # "position played" is perhaps no subject
        yield HEAD, found.subject, GUESSED if past else NAMED
        yield TAIL, found.object, NAMED


def _begins_with_verb(words: list[str]) -> bool:
    """Whether a phrase is a verb or a state, a preposition and a noun.

    "Plays in club", "available on platform". "Roles in film" begin with a noun, and
    "place of birth" is a place.
    """
    if len(words) < 3 or words[1] not in PREPOSITIONS:
        return False
    first = words[0]
    is_state = first in _STATES or first.endswith(("able", "ible"))
    is_verb = first in listed_words("verbs") or _PARTICIPLE.search(first) is not None
    return is_verb or is_state


def _owner(words: list[str]) -> str:
    """The noun that owns what a relation of two nouns names: drugs have a "drug class".

    So do courts a "type of court". "" for others: "has tag", "languages spoken", "job
    title", "birth year".
    """
    if len(words) == 3 and words[1] == "of" and words[0] in CLASS_NOUNS:
        return base_noun(words[2])
    if len(words) != 2:
        return ""
    first, last = words
    if last in UNIT_WORDS or first.endswith("est"):
        return ""  # "length km", "highest peak"
    no_nouns = _AUXILIARIES | PREPOSITIONS | listed_words("verbs")
    if first in no_nouns.union(kind_words()["subjects"]) or _PARTICIPLE.search(first):
        return ""
    if last in PREPOSITIONS | listed_words("labels") or _PARTICIPLE.search(last):
        return ""
    owner = base_noun(first)
    return owner if noun_kind(owner) in ("thing", "place") else ""


def _singular(words: list[str]) -> str:
    """A noun phrase with its noun in singular."""
    at = head_noun(words) if words else 0
    return " ".join(
        base_noun(word) if i == at else word for i, word in enumerate(words)
    )


def names_same(noun: str, asked: frozenset[str]) -> bool:
    """Whether a noun, or the one it ends in, is among those asked for."""
    return noun in asked or noun.rpartition(" ")[2] in asked
