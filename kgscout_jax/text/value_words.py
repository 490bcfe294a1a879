"""Words that compare values, in English: which way, of what values."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import NamedTuple

from kgscout_jax.text.kinds import base_noun, is_measure
from kgscout_jax.text.relation_words import PREPOSITIONS, said_words
from kgscout_jax.text.words import FUNCTION_WORDS

_TIMES = (
    "date year time release released publication published founding founded start "
    "inception opening opened creation created discovery launch built established "
    "vintage occurred happened"
)
_HAPPENED = (
    "carried out done held conducted performed happened occurred dated dating taken "
    "place made produced written composed painted built drawn recorded filmed"
)
_BIRTH = "birth born age"
_SIZE = "size area population employees capacity tonnage diameter radius amount value"
_HEIGHT = "height elevation altitude"
_PRICE = "price cost total amount fee fare charge"
_RATING = "rating score stars grade"
_TRAFFIC = "passengers ridership traffic visitors customers flights footfall"
_SYNONYMS = {
    "born": "birth", "died": "death", "die": "death", "dead": "death",
    "weigh": "weight",
    "inhabitant": "population", "resident": "population", "earn": "salary",
    "paid": "salary", "pay": "salary", "earning": "salary", "wage": "salary",
    "hire": "join", "hired": "join", "recruited": "join",
    **dict.fromkeys("begin began begun beginning".split(), "start"),
    "aged": "age", "mileage": "mile",
    **dict.fromkeys("score scores scored scoring".split(), "rat"),
}  # fmt: skip
_UNITS = frozenset(
    "km km2 sqkm m m2 cm mm mi ft kg g lb t usd eur gbp kmh mph kw hp k c f min mins "
    "sec hrs minutes seconds hours days".split()
)
"""Words of a relation's name that say in what its values are."""
_TIME_UNITS = frozenset("min mins minutes sec seconds hrs hours days".split())
_MASS_UNITS = frozenset("g gram grams kg kilogram kilograms tonnes".split())
"""The same of what weighs: ``Variant Grams``."""
_COMES_OUT = re.compile(r"\b(?:came|comes?|coming) out\b")
_VERB_ENDING = re.compile("(?:ed|ing|e)$")
_KEY = 5
"""Letters that words of one root mostly share."""


@lru_cache(maxsize=1 << 14)
def word_key(word: str) -> str:
    """What a word has in common with others of its root, roughly.

    >>> word_key("founded") == word_key("founding"), word_key("born")
    (True, 'birth')
    >>> word_key("hired") == word_key("hire"), word_key("joined") == word_key("join")
    (True, True)
    """
    said = said_words(base_noun(word))
    noun = " ".join(said)
    if len(said) > 1 and is_measure(said[-1]):
        noun = said[-1]  # deadweight is a weight
    if noun in _SYNONYMS:
        return _SYNONYMS[noun][:_KEY]
    short = _VERB_ENDING.sub("", noun)
    return (short if len(short) > 2 else noun)[:_KEY]


@lru_cache(maxsize=1 << 14)
def relation_keys(relation: str) -> frozenset[str]:
    """Keys of the words of a relation's name.

    >>> sorted(relation_keys("film.film.release_date")), relation_keys("area_km2")
    (['dat', 'relea'], frozenset({'area'}))
    """
    said = said_words(relation)
    words = {"start"} if said == ["since"] else {*said} - PREPOSITIONS - FUNCTION_WORDS
    return frozenset(map(word_key, words - _UNITS or words))


@lru_cache(maxsize=1 << 14)
def measured_keys(relation: str) -> frozenset[str]:
    """Keys of the words of a relation's name, and of what its units measure.

    >>> sorted(measured_keys("cook_minutes")), measured_keys("area_km2")
    (['cook', 'durat', 'tim'], frozenset({'area'}))
    """
    words = said_words(relation)
    units = {*words[len(words) > 1 :]}  # no "min players"
    measured = ("time", "duration") if not _TIME_UNITS.isdisjoint(units) else ()
    measured = measured if _MASS_UNITS.isdisjoint(units) else ("weight", "mass")
    return relation_keys(relation) | {*map(word_key, measured)}


def with_release(text: str) -> str:
    """A casefolded text that says "released" for "came out", other words in place.

    >>> with_release("which albums came out before 2000")
    'which albums released before 2000'
    """
    return _COMES_OUT.sub(lambda found: f"{'released':{len(found[0])}}", text)


class ComparingWord(NamedTuple):
    """What a word says of the values that it compares."""

    direction: int
    """+1 for the higher ones, -1 for the lower ones."""
    dated: bool | None
    """Whether they are dates and years; None: either."""
    implied: frozenset[str] = frozenset()
    """Keys of words for the values."""
    weak: bool = False
    """Whether the word often compares nothing: "the first name", "most of"."""
    of_age: bool = False
    """Whether a high age is a low date."""
    of_amount: bool = False
    """Whether it compares amounts, and no times that are called so: "most wins"."""


def _word(
    direction: int, dated: bool | None, implied: str = "", **flags: bool
) -> ComparingWord:
    return ComparingWord(
        direction, dated, frozenset(map(word_key, implied.split())), **flags
    )


ADJECTIVE_MEASURES = {
    "tall": "height elevation", "long": "length duration runtime pages distance",
    "deep": "depth", "wide": "width", "thick": "thickness", "heavy": "weight mass",
    "dense": "density", "hard": "hardness difficulty", "fast": "speed",
    "strong": "strength power magnitude alcohol abv", "bitter": "bitterness ibu",
    "bright": "brightness luminosity", "loud": "loudness decibels volume",
    "spicy": "heat scoville spiciness",
    **dict.fromkeys(("hot", "warm", "cold"), "temperature"),
}  # fmt: skip
"""What relations to the measures of adjectives are called: how "deep", "deepest"."""


def _most_or_least(direction: int, adjective: str, more: str = "") -> ComparingWord:
    return _word(direction, False, f"{ADJECTIVE_MEASURES[adjective]} {more}")


_ADJECTIVES = {
    "late": _word(+1, True, _TIMES), "early": _word(-1, True, _TIMES),
    "new": _word(+1, True, _TIMES),
    "young": _word(+1, True, _BIRTH, of_age=True),
    "eld": _word(-1, True, _BIRTH, of_age=True),
    "old": _word(-1, True, f"{_TIMES} {_BIRTH}", of_age=True),
    "high": _word(+1, None, _HEIGHT), "low": _word(-1, None, _HEIGHT),
    "great": _word(+1, None, _SIZE, weak=True),
    "large": _word(+1, None, _SIZE), "big": _word(+1, None, _SIZE),
    "small": _word(-1, None, _SIZE), "few": _word(-1, False),
    "quick": _word(-1, False, "time duration"),
    "short": _word(-1, False, "length duration runtime height pages distance"),
    "light": _word(-1, False, "weight mass"), "slow": _word(-1, False, "speed"),
    "long": _most_or_least(+1, "long", "time"), "cold": _most_or_least(-1, "cold"),
    "steep": _word(+1, False, "slope gradient"),
    "deadly": _word(+1, False, "deaths fatalities casualties"),
    "cheap": _word(-1, False, _PRICE),
    "rich": _word(+1, False, "wealth income worth"),
    "busy": _word(+1, False, _TRAFFIC),
    **{word: _word(+1, False, _PRICE) for word in ("dear", "costly", "pricey")},
    **{
        word: _most_or_least(+1, word)
        for word in ADJECTIVE_MEASURES.keys() - {"long", "cold"}
    },
}  # fmt: skip
"""By the adjective; of its form in -est or -er."""
SUPERLATIVES = {
    "first": _word(-1, True, _TIMES, weak=True),
    "last": _word(+1, True, _TIMES, weak=True),
    "most": _word(+1, None, weak=True, of_amount=True),
    "least": _word(-1, None, weak=True, of_amount=True),
    "top": _word(+1, None, weak=True),
    "maximum": _word(+1, None), "minimum": _word(-1, None),
    "best": _word(+1, False, _RATING, weak=True),
    "worst": _word(-1, False, _RATING, weak=True),
}  # fmt: skip
DEGREES = {
    "recent": _word(+1, True, _TIMES), "recently": _word(+1, True, _TIMES),
    "populous": _word(+1, False, "population"),
    "populated": _word(+1, False, "population"),
    "expensive": _word(+1, False, _PRICE),
    "valuable": _word(+1, False, "value worth price"),
    "powerful": _word(+1, False, "power horsepower"),
    "visited": _word(+1, False, "visitors visits"),
    "viewed": _word(+1, False, "views"), "watched": _word(+1, False, "views viewers"),
    "downloaded": _word(+1, False, "downloads"),
    "cited": _word(+1, False, "citations"),
    "profitable": _word(+1, False, "profit income earnings"),
    "popular": _word(+1, False, "popularity visitors views rating votes downloads"),
    "bitter": _word(+1, False, "bitterness ibu"),
    "crowded": _word(+1, False, "density passengers visitors attendance"),
}  # fmt: skip
"""What "most", "least", "more" and "less" may stand before."""
_RATED = {
    **dict.fromkeys("rated scoring scored ranked reviewed".split(), _RATING),
    **dict.fromkeys("selling sold".split(), "sold sales"),
    "paid": "salary wage income earnings", "performing": "performance score results",
}  # fmt: skip
RATED_KEYS = {
    word: frozenset(map(word_key, words.split())) for word, words in _RATED.items()
}
"""What "best" and "worst" may stand before, and keys of what they compare then."""
RANKS = frozenset("best worst top highest lowest".split())
"""What may stand before these."""
HEADCOUNT = frozenset(
    map(word_key, "population headcount employees members capacity".split())
)
"""Keys of words for numbers of people."""
_LENGTH = "length distance height elevation altitude depth width"
_DURATION = "time duration length runtime"
_MONEY = "price cost salary wage fee budget revenue amount value"
_MEASURES = {
    "second": _DURATION, "minute": _DURATION, "hour": _DURATION, "day": _DURATION,
    "week": _DURATION, "month": _DURATION, "year": f"{_DURATION} age",
    "metre": _LENGTH, "meter": _LENGTH, "kilometre": _LENGTH, "kilometer": _LENGTH,
    "km": _LENGTH, "mile": _LENGTH, "foot": _LENGTH, "inch": _LENGTH, "cm": _LENGTH,
    "kg": "weight mass", "kilogram": "weight mass", "gram": "weight mass",
    "pound": f"weight mass {_MONEY}", "ton": "weight mass", "tonne": "weight mass",
    "euro": _MONEY, "dollar": _MONEY, "usd": _MONEY, "eur": _MONEY,
}  # fmt: skip
MEASURE_KEYS = {
    word_key(unit): frozenset(map(word_key, words.split()))
    for unit, words in _MEASURES.items()
} | {word_key(word): HEADCOUNT for word in ("people", "passengers", "guests")}
"""Keys of words for what is counted in a unit: "over 9 people", "below 30 minutes"."""
_DEGREE_WORDS = frozenset("more less fewer than least most".split())
PREPOSITION_TESTS = {
    "after": _word(+1, True), "since": _word(+1, True), "before": _word(-1, True),
    "over": _word(+1, None), "above": _word(+1, None), "exceeding": _word(+1, None),
    "under": _word(-1, None), "below": _word(-1, None),
}  # fmt: skip


DATING_KEYS = frozenset(map(word_key, f"{_TIMES} {_HAPPENED}".split()))
"""Keys of words that say no more than that something was at a time."""
_DATES = frozenset(map(word_key, f"{_TIMES} day birth death".split()))


def says_when(relation: str) -> bool:
    """Whether the words of a relation's name say that its values are times.

    >>> says_when("year_written"), says_when("opened"), says_when("written_by")
    (True, True, False)
    """
    return not relation_keys(relation).isdisjoint(_DATES)


def is_comparing(word: str) -> bool:
    """Whether a word compares, or stands with one that does.

    >>> is_comparing("oldest"), is_comparing("than"), is_comparing("film")
    (True, True, False)
    """
    if word in _DEGREE_WORDS or word in DEGREES or word in PREPOSITION_TESTS:
        return True
    return word in SUPERLATIVES or bool(adjective(word, "est") or adjective(word, "er"))


def is_explained(word: str, keys: Set[str], nouns: Set[str]) -> bool:
    """Whether a word of a question that compares says no more than these.

    Args:
        word: in lower case.
        keys: of words for values and relations, see ``word_key``.
        nouns: what is compared or asked for, in singular.
    """
    return (
        word in FUNCTION_WORDS
        or is_comparing(word)
        or word_key(word) in keys
        or base_noun(word) in nouns
    )


def adjective(word: str, ending: str) -> ComparingWord | None:
    """The adjective of a form in -er or -est; None where it is none of the list.

    >>> adjective("latest", "est").direction, adjective("heavier", "er").direction
    (1, 1)
    >>> adjective("forest", "est")
    """
    if not word.endswith(ending):
        return None
    stem = word.removesuffix(ending)
    stems = (stem, stem + "e", stem[:-1] + "y", stem[:-1])  # late, heavy, big
    return next((_ADJECTIVES[each] for each in stems if each in _ADJECTIVES), None)
