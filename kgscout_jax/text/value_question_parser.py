"""Reads off the words of a question what it wants of values, see ``value_question``.

The rules are for English.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kgscout_jax.text.kinds import is_past, singular_form
from kgscout_jax.text.relation_words import RANK_ADVERBS
from kgscout_jax.text.units import UNITS
from kgscout_jax.text.value_limits import (
    LIMIT,
    NUMBER_WORDS,
    UP_TO,
    interval,
    word_limit,
)
from kgscout_jax.text.value_question import AMOUNT_WORDS, ValueQuestion
from kgscout_jax.text.value_words import (
    DEGREES,
    MEASURE_KEYS,
    PREPOSITION_TESTS,
    RANKS,
    RATED_KEYS,
    SUPERLATIVES,
    ComparingWord,
    adjective,
    with_release,
    word_key,
)
from kgscout_jax.text.values import (
    CURRENCIES,
    quantity_of,
    value_of,
)
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, folded

_INCLUSIVE = re.compile(
    r"\bat (least|most)\b|\bup to\b|\bsince\b|\bor (more|less|later|earlier)\b"
)
_NAME = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for a letter of a topic's name."""
_NAMING = frozenset("has have had with whose".split())
"""Before "the", they say that the values are named: "has the largest calling code"."""
_COMPARING = frozenset(["more", "less", "fewer", *SUPERLATIVES])
ORDINALS = {
    "second": 2, "third": 3, "fourth": 4, "fifth": 5,
    "2nd": 2, "3rd": 3, "4th": 4, "5th": 5,
}  # fmt: skip
NUMERALS = {word: n for word, n in NUMBER_WORDS.items() if n <= 10}
MAX_COUNT = 100
"""The longest list of the largest."""
_THAN = 6
"""Words between a comparative and its "than", at most."""


_WIN_KEYS = frozenset(map(word_key, "win won winning".split()))
"""Keys of verbs for what is awarded: a contract."""


def offers_choice(question: str) -> bool:
    """Whether a question lets choose between two by a value.

    >>> offers_choice("Which is older, Rome or Bern?"), offers_choice("Rome or Bern?")
    (True, False)
    """
    text = question.casefold()
    words = WORD.findall(text)
    offered = "or" in words or ("between" in words and "and" in words)
    return offered and any(
        adjective(word, "er") or adjective(word, "est") or word in _COMPARING
        for word in words
    )


_COMPARES_TWO = re.compile(
    r"\b(?:is|are|was|were) (?:the )?(?:\w\w+er|(?:more|less) \w+)\s*[,:]?\s[^,:]+ or "
)


def compares_two(question: str) -> bool:
    """Whether a question lets choose between two by any comparing word.

    >>> compares_two("Which is busier, Rome or Bern?"), compares_two("Rome or Bern?")
    (True, False)
    """
    text = question.casefold().strip()
    return text.startswith(("which", "who", "what")) and bool(
        _COMPARES_TWO.search(text)
    )


class _Token(NamedTuple):
    word: str
    start: int
    stop: int


class _Place(NamedTuple):
    """Where the name of a topic stands."""

    start: int
    topic: int


def value_question(question: str, topics: Sequence[str]) -> ValueQuestion | None:
    """What a question wants of values; None for one that compares none.

    Args:
        question: the question.
        topics: what it calls the entities that it mentions.

    >>> question = "Which film of Mann has the latest release year?"
    >>> found = value_question(question, ["Mann"])
    >>> found.test, found.word.dated, sorted(found.near)
    ('highest', True, ['relea', 'year'])
    >>> third = value_question("Which town is the third largest?", [])
    >>> five = value_question("The top 5 largest towns", [])
    >>> third.place, third.count, five.place, five.count
    (3, 1, 1, 5)
    >>> value_question("Who directed Alien?", ["Alien"])
    >>> value_question("Which is older, Rome or Bern?", ["Rome", "Bern"]).choice
    (0, 1)
    """
    text, places = _without_names(with_release(folded(question)), topics)
    tokens = [_Token(m[0], m.start(), m.end()) for m in WORD.finditer(text)]
    found = _superlative(text, tokens)
    if found is None or found.word.weak:  # "a first publication year after 1990"
        compared = _comparison(text, tokens, places)
        passing = found is not None and not _follows_the(text, found)
        if found is None or (compared and (passing or not compared.word.weak)):
            found = compared
        if found is None or (found.word.weak and passing):
            found = _within(text, tokens, places) or found
    if found is None:
        return None
    words = frozenset(word_key(t.word) for t in tokens if t.word not in FUNCTION_WORDS)
    choice, word = found.choice, found.word
    if found.is_superlative:
        choice = choice or _offered(text, places)
    if found.limits_time and not words.isdisjoint(_WIN_KEYS):
        word = word._replace(implied=word.implied | {word_key("award")})
    if not word.implied and not word.dated:
        units = [MEASURE_KEYS[key] for key in found.near & MEASURE_KEYS.keys()]
        word = word._replace(implied=frozenset[str]().union(*units))
    return replace(found, word=word, words=words, choice=choice)


def _without_names(text: str, topics: Sequence[str]) -> tuple[str, list[_Place]]:
    """The text with other signs for names, which may hold any word, and their places.

    A number stays, and a part of a date: it may be the limit.
    """
    places: list[_Place] = []
    limits = frozenset(
        w for found in LIMIT.finditer(text) for w in WORD.findall(found[0])
    )
    for topic, name in sorted(enumerate(topics), key=lambda pair: -len(pair[1])):
        is_value = not math.isnan(value_of(name)) or is_written_amount(name)
        name = folded(name)
        if is_value or limits | FUNCTION_WORDS >= {*WORD.findall(name)}:
            continue
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        if found is not None:
            start, stop = found.span()
            text = text[:start] + _NAME * (stop - start) + text[stop:]
            places.append(_Place(start, topic))
    return text, sorted(places)


def is_written_amount(name: str) -> bool:
    """Whether a question writes a name as a number with its unit: "500 beds".

    >>> is_written_amount("500 beds"), is_written_amount("12 Monkeys")
    (True, False)
    """
    quantity = quantity_of(name)
    return quantity is not None and (name.islower() or quantity.unit in UNITS)


def _superlative(text: str, tokens: Sequence[_Token]) -> ValueQuestion | None:
    for at, token in enumerate(tokens):
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        found, width = adjective(token.word, "est"), 1
        if token.word in ("most", "least") and at and tokens[at - 1].word == "at":
            continue
        if token.word == "top" and any(adjective(t.word, "est") for t in tokens[at:]):
            continue  # "the top 5 largest"
        if (
            token.word in RANK_ADVERBS
            and at
            and _is_of_many(tokens[at - 1].word, following)
        ):
            continue  # "operas first performed in Vienna", "in their first year"
        if found is None and token.word in ("most", "least") and following in DEGREES:
            found, width = DEGREES[following], 2
            if token.word == "least":
                found = found._replace(direction=-found.direction)
        if found is not None and following in AMOUNT_WORDS:
            found = found._replace(implied=frozenset())  # "for the highest sum"
        found = found or SUPERLATIVES.get(token.word)
        if found is not None and token.word in RANKS and following in RATED_KEYS:
            found, width = found._replace(weak=False, implied=RATED_KEYS[following]), 2
        if found is not None and found.of_amount and _counts(text, token):
            found = found._replace(weak=False)
        if found is not None:
            before = [each.word for each in tokens[max(at - 2, 0) : at]]
            if before[-1:] == ["the"] and before[0] in _NAMING:
                found = found._replace(implied=frozenset())
            test = "highest" if found.direction > 0 else "lowest"
            near = _near(tokens, at + width, 4)
            place, count = _place_and_count(tokens, at)
            return ValueQuestion(
                test, found, near, place=place, count=count, start=token.start
            )
    return None


def _is_of_many(before: str, following: str) -> bool:
    """Whether "first" says what each of several had or underwent."""
    if before in ("its", "their") or following == "to":
        return True  # "the first to climb it"
    is_subject = before in ("are", "were", "who") or singular_form(before) != before
    return is_subject and is_past(following)


def _place_and_count(tokens: Sequence[_Token], at: int) -> tuple[int, int]:
    """2 and 1 for "second largest", 1 and 5 for "5 largest" and for "top 5"."""
    before = tokens[at - 1].word if at else ""
    after = tokens[at + 1].word if at + 1 < len(tokens) else ""
    number = after if tokens[at].word == "top" else before
    if number.isdigit() and 0 < int(number) <= MAX_COUNT:
        return 1, int(number)
    return ORDINALS.get(number, 1), NUMERALS.get(number, 1)


def _counts(text: str, token: _Token) -> bool:
    """Whether a word stands between "the" and a plural or a name: "the most awards"."""
    behind = WORD.search(text, token.stop)
    is_name = text[token.stop :].lstrip()[:1] == _NAME
    is_plural = behind is not None and singular_form(behind[0]) != behind[0]
    return text[: token.start].split()[-1:] == ["the"] and (is_name or is_plural)


def _comparison(
    text: str, tokens: Sequence[_Token], places: Sequence[_Place]
) -> ValueQuestion | None:
    for at, token in enumerate(tokens):
        later = [each.word for each in tokens[at + 1 : at + 1 + _THAN]]
        found = adjective(token.word, "er")
        than = "than" in later
        if token.word in ("more", "less", "fewer"):
            found = DEGREES.get(later[0] if later else "", ComparingWord(+1, None))
            if token.word != "more":
                found = found._replace(direction=-found.direction)
        elif token.word == "at" and later[:1] in (["least"], ["most"]):
            found = ComparingWord(+1 if later[0] == "least" else -1, None)
            than = True
        elif token.word == "up" and UP_TO.match(text, token.start):
            found, than = ComparingWord(-1, None), True
        elif token.word in PREPOSITION_TESTS:
            # "Who ruled after Otto" may ask for no values.
            found, than = PREPOSITION_TESTS[token.word], True
            limit = LIMIT.search(text, token.stop) or word_limit(text, token.stop)
            found = found._replace(weak=not limit)
        if found is None:
            continue
        near = _near(tokens, max(at - 3, 0), min(at, 3)) | _near(tokens, at + 1, 5)
        if than:
            limited = _limited(found, near, text, token.stop, places)
            if limited is not None:
                return replace(limited, start=token.start)
        elif choice := _offered(text, places):
            test = "highest" if found.direction > 0 else "lowest"
            return ValueQuestion(test, found, near, choice=choice)
    return _or_more(text, tokens)


_OR_MORE = re.compile(
    rf"(?P<limit>{LIMIT.pattern})(?: [a-z]+)? or "
    r"(?:(?P<above>more|higher|above|over|greater|later|longer)"
    r"|less|fewer|lower|below|under|earlier|shorter)\b"
)


def _or_more(text: str, tokens: Sequence[_Token]) -> ValueQuestion | None:
    """The comparison that stands behind its limit: "95 points or more"."""
    found = _OR_MORE.search(text)
    if found is None:
        return None
    is_above = found["above"] is not None
    at = sum(token.start < found.start() for token in tokens)
    stop = sum(token.start < found.end() for token in tokens)
    return ValueQuestion(
        "above" if is_above else "below",
        ComparingWord(+1 if is_above else -1, None),
        _near(tokens, max(at - 3, 0), min(at, 3)) | _near(tokens, at + 1, stop - at),
        limits=(found["limit"],),
        inclusive=True,
        start=found.start(),
    )


def _follows_the(text: str, found: ValueQuestion) -> bool:
    """Whether "the" stands before the comparing word: "the first film"."""
    return text[: found.start].split()[-1:] == ["the"]


def _within(
    text: str, tokens: Sequence[_Token], places: Sequence[_Place]
) -> ValueQuestion | None:
    """The test whether values are of an interval: "in 2003", "between 5 and 10"."""
    found = interval(text)
    if found is None:
        return None
    at = sum(token.start < found.start for token in tokens)
    # "Who won the cup in 2003" may ask for no values.
    weak = not text.startswith("between", found.start)
    return ValueQuestion(
        "within",
        ComparingWord(+1, True if found.is_time else None, weak=weak),
        _near(tokens, max(at - 3, 0), min(at, 3)) | _near(tokens, at + 1, 5),
        limits=found.limits,
        subject=places[0].topic if len(places) == 1 else None,
        start=found.start,
        stop=found.stop,
    )


def _near(tokens: Sequence[_Token], start: int, count: int) -> frozenset[str]:
    """Keys of the words from ``start`` on."""
    words = [token.word for token in tokens[start : start + count]]
    return frozenset(word_key(word) for word in words if word not in FUNCTION_WORDS)


def _limited(
    found: ComparingWord,
    near: frozenset[str],
    text: str,
    start: int,
    places: Sequence[_Place],
) -> ValueQuestion | None:
    """The comparison with the value, or with the entity, that follows ``start``."""
    number = LIMIT.search(text, start)
    rivals = [place for place in places if place.start >= start]
    others = [place for place in places if place.start < start]
    inclusive = _INCLUSIVE.search(text) is not None
    limits: tuple[str, ...] = ()
    if number is not None and not (rivals and rivals[0].start < number.start()):
        limits = (number[0],)
        if not {*text[number.start() - 1 : number.end()]}.isdisjoint(CURRENCIES):
            near |= {word_key("dollar")}
    elif not rivals and (word := word_limit(text, start)):
        limits = (word,)
    if not limits and not rivals:
        return None
    return ValueQuestion(
        "above" if found.direction > 0 else "below",
        found,
        near,
        limits=limits,
        inclusive=inclusive,
        rival=None if limits else rivals[0].topic,
        subject=others[0].topic if others else None,
    )


def _offered(text: str, places: Sequence[_Place]) -> tuple[int, ...]:
    """The two topics of "A or B" and "between A and B"; () without such."""
    for left, right in itertools.pairwise(places):
        between = text[left.start : right.start].replace(_NAME, "").strip(" ,?")
        before = text[: left.start].split()[-2:]
        between = re.sub(r" (?:the|an?)$", "", between)
        before = [word for word in before if word not in ("the", "a", "an")][-1:]
        if between == "or" or (between == "and" and before == ["between"]):
            return (left.topic, right.topic)
    return ()
