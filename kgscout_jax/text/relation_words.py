"""The words of a relation's name, and what it says of its heads by its form."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache

from kgscout_jax.text.linearize import relation_phrase

PREPOSITIONS = frozenset(
    "by in at on of from to with for as about after under into near over through "
    "against within during before between upon towards around".split()
)
CLASS_RELATIONS = frozenset(
    "type|rdf type|instance of|instanceof|is a|isa|class|kind|entity type|node type|"
    "entity kind|node kind".split("|")
)
"""Phrases of relations whose tails are classes of their heads."""
_CLASS_PHRASES = CLASS_RELATIONS | frozenset(("is", "counts as", "classified as"))
CLASS_NOUNS = frozenset("type types kind kinds class category categories".split())
"""What relations that say what their heads are end in, or begin with before "of"."""
LEAST_SENTENCE = 6
"""Words of the shortest relation that is a sentence."""
CODE_NOUNS = frozenset(
    "code symbol key iso iso2 iso3 iata icao abbreviation abbr ticker slug "
    "acronym".split()
)
"""What relations and columns of codes are called."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_ABBREVIATIONS = {
    "hp": "horsepower", "mfr": "manufacturer", "mfg": "manufacturer", "msrp": "price",
    "ctry": "country", "wt": "weight", "bodywt": "body weight", "ht": "height",
    "qty": "quantity", "amt": "amount", "pct": "percent", "yr": "year",
    "addr": "address", "tel": "phone", "dept": "department", "mgr": "manager",
    "emp": "employee", "loc": "location", "lang": "language", "org": "organization",
    "pop": "population", "temp": "temperature", "govt": "government", "bdy": "body",
    "dob": "date of birth", "dod": "date of death", "desc": "description",
    "avg": "average", "acct": "account", "trsmn": "transmission", "pos": "position",
    "prep": "preparation", "cat": "category", "elev": "elevation", "alt": "altitude",
    "lat": "latitude", "lon": "longitude", "lng": "longitude", "dist": "distance",
    "vol": "volume", "hq": "headquarters", "cust": "customer", "prod": "product",
    "inv": "invoice", "bal": "balance", "dur": "duration", "mpg": "miles per gallon",
    "ppg": "points per game", "rpg": "rebounds per game", "apg": "assists per game",
    "spg": "steals per game", "bpg": "blocks per game", "gp": "games played",
    "pts": "points", "reb": "rebounds", "ast": "assists", "gdp": "gdp domestic product",
}  # fmt: skip
FORMER = frozenset("former formerly previous previously ex".split())
"""Words of relations to what was so."""
_OTHER_POSTS = {
    **{word: word for word in "acting assistant deputy vice".split()},
    **dict.fromkeys(FORMER, "former"),
}
"""Words of relations that a question has to say, and what they mean."""
_ACRONYMS = re.compile(r"[A-Z]{2,}s(?![a-z])")
"""Several of what capitals stand for: "CPUs"."""
_SAYING = _OTHER_POSTS | dict.fromkeys(
    "used past before once earlier".split(), "former"
)
"""Words of questions that say so."""


def split_words(text: str) -> list[str]:
    """Lower-case words of a name in camelCase, snake_case or plain words.

    >>> split_words("birthPlace"), split_words("place_of_birth")
    (['birth', 'place'], ['place', 'of', 'birth'])
    >>> split_words("Desktop CPUs"), split_words("hasIDs")
    (['desktop', 'cpus'], ['has', 'ids'])
    """
    plain = _ACRONYMS.sub(lambda match: match[0].capitalize(), text)
    return relation_phrase(plain).split()


def name_parts(relation: str) -> list[list[str]]:
    """The words of each dotted part of a relation's name.

    >>> name_parts("people.person.place_of_birth")
    [['people'], ['person'], ['place', 'of', 'birth']]
    """
    parts = [split_words(part) for part in re.split(r"[./#:]+", relation)]
    return [part for part in parts if part]


def relation_words(relation: str) -> list[str]:
    """The words of the last part of a relation's name.

    >>> relation_words("people.person.spouse_s"), relation_words("parent of this breed")
    (['spouse'], ['parent'])
    """
    return [*_relation_words(relation)]


@lru_cache(maxsize=1 << 14)
def _relation_words(relation: str) -> tuple[str, ...]:
    """The words of the last part of a relation's name."""
    parts = name_parts(relation)
    words = tuple(parts[-1]) if parts else ()
    end = next((i for i in range(1, len(words)) if words[i : i + 2] == _OF_THIS), None)
    words = words[:end]  # "owner of this ship, or house"
    return words[:-1] if len(words) > 1 and words[-1] == "s" else words


RANK_ADVERBS = frozenset(("first", "last"))
"""Words that rank in a question, and in the names of relations."""
_AUXILIARIES = frozenset("has have is was are were been".split())


def plain_words(relation: str) -> tuple[str, ...]:
    """The words of a relation's name without auxiliaries at the beginning.

    >>> plain_words("was founded in") == plain_words("founded_in")
    True
    """
    words = _relation_words(relation)
    first = next((i for i, w in enumerate(words) if w not in _AUXILIARIES), 0)
    return words[first:]


_LIFE = frozenset("birth born birthplace death died deathplace burial buried".split())


def is_of_life(relation: str) -> bool:
    """Whether a relation is about a birth or a death."""
    return not _LIFE.isdisjoint(_relation_words(relation))


_OF_THIS = ("of", "this")
"""Behind it stands what the heads of a relation are."""
_ROLES = frozenset("occupation profession job position role title post".split())
"""Last words of relations to what somebody works as."""


@cache
@lru_cache(maxsize=1 << 12)
def is_sentence(relation: str) -> bool:
    """Whether a relation is a sentence about its two ends, as graphs have it that
    language models make of texts: its words are no name of a relation.

    >>> is_sentence("Ann Lee lives at the Old Mill"), is_sentence("was the capital of")
    (True, False)
    """
    words = relation.split()
    return len(words) >= LEAST_SENTENCE and any(word[:1].isupper() for word in words)


def last_word(relation: str) -> str:
    """The last word of a relation; "" where it has none.

    >>> last_word("film.director"), last_word("---")
    ('director', '')
    """
    return (relation_words(relation) or [""])[-1]


@cache
def is_class_relation(relation: str) -> bool:
    """Whether the tails of a relation are classes of its heads.

    >>> is_class_relation("rdf:type"), is_class_relation("instanceOf")
    (True, True)
    >>> is_class_relation("genre")
    False
    """
    return " ".join(relation_words(relation)) in CLASS_RELATIONS


@cache
def leads_to_role(relation: str) -> bool:
    """Whether the tails of a relation are what its heads work as.

    >>> leads_to_role("person.profession"), leads_to_role("job_title")
    (True, True)
    """
    return not _ROLES.isdisjoint(relation_words(relation)[-1:])


@cache
def leads_to_class(relation: str) -> bool:
    """Whether the tails of a relation say what its heads are, in any respect.

    >>> leads_to_class("is"), leads_to_class("device_type"), leads_to_class("genre")
    (True, True, False)
    """
    words = relation_words(relation)
    return " ".join(words) in _CLASS_PHRASES or _means_class(words)


@cache
def names_what_it_classes(relation: str) -> bool:
    """Whether a relation to a class says what its heads are.

    >>> names_what_it_classes("device_type"), names_what_it_classes("type of court")
    (True, True)
    >>> names_what_it_classes("type")
    False
    """
    words = relation_words(relation)
    return len(words) > 1 and _means_class(words)


def _means_class(words: Sequence[str]) -> bool:
    """Whether a relation of these words ends in a class, or begins with "type of"."""
    begins = len(words) > 2 and words[1] == "of" and words[0] in CLASS_NOUNS
    return begins or not CLASS_NOUNS.isdisjoint(words[-1:])


def is_another_post(relation: str, asked: Collection[str]) -> bool:
    """Whether a relation is that of a deputy, or a former one, whom nobody asks for.

    Args:
        relation: its name.
        asked: words of the question.

    >>> is_another_post("deputy_lead", {"leads"}), is_another_post("lead", {"leads"})
    (True, False)
    >>> is_another_post("formerly_played_for", {"used", "play"})
    False
    """
    posts = _posts(relation)
    return bool(posts) and not posts <= {_SAYING.get(word) for word in asked}


def of_other_years(relations: Sequence[str], asked: Collection[str]) -> list[bool]:
    """Which relations are of years that a question does not ask for.

    Of relations that differ in their year only, ``population_2011`` and
    ``population_2021``, the latest is meant where it says none.

    Args:
        relations: their names.
        asked: words of the question.

    >>> of_other_years(["size_2011", "size_2021", "founded_2001"], {"size"})
    [True, False, False]
    >>> of_other_years(["size_2011", "size_2021"], {"size", "2011"})
    [False, True]
    """
    years: dict[tuple[str, ...], set[str]] = {}
    split = [_year_apart(relation) for relation in relations]
    for rest, year in split:
        if year:
            years.setdefault(rest, set()).add(year)
    meant = {rest: (found & {*asked}) or {max(found)} for rest, found in years.items()}
    return [bool(year) and year not in meant[rest] for rest, year in split]


@lru_cache(maxsize=1 << 14)
def _year_apart(relation: str) -> tuple[tuple[str, ...], str]:
    """The words of a relation's name but a year, and that; "" for several, or none."""
    words = relation_words(relation)
    years = [word for word in words if _YEAR.fullmatch(word)]
    if len(years) != 1:
        return (*words,), ""
    return (*(word for word in words if word != years[0]),), years[0]


@lru_cache(maxsize=1 << 14)
def said_words(relation: str) -> tuple[str, ...]:
    """The words of a relation's name with usual abbreviations written out.

    >>> said_words("hp"), said_words("ctry_origin")
    (('horsepower',), ('country', 'origin'))
    """
    words = (_ABBREVIATIONS.get(word, word) for word in relation_words(relation))
    return tuple(part for word in words for part in word.split())


@lru_cache(maxsize=1 << 14)
def _posts(relation: str) -> frozenset[str]:
    """What a relation's name says that a question has to say, too."""
    words = relation_words(relation)
    return frozenset(_OTHER_POSTS[word] for word in words if word in _OTHER_POSTS)


def head_noun(words: list[str]) -> int:
    """Position of the noun that inflects: before a preposition, or the last word."""
    for i, word in enumerate(words):
        if i and word in PREPOSITIONS:
            return i - 1
    return len(words) - 1


def domain(relation: str) -> str:
    """The type of heads that a name of dots or slashes states; "" for others.

    Of a path over a record the first half says it. What stands before a colon or a
    number sign is a name space, and so is the path of an address.

    >>> domain("people.person.religion"), domain("dbo:birthPlace")
    ('person', '')
    >>> domain("/film/actor/film./film/performance/film")
    'actor'
    """
    first = relation.split("./")[0]
    parts = [] if "://" in first else name_parts(re.split("[#:]", first)[-1])
    if len(parts) < 2 or not all(word.isalpha() for word in parts[-2]):
        return ""
    return " ".join(parts[-2])
