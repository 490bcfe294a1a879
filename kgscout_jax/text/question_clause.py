"""The parts of a question of one clause: a question word, one verb, one topic.

Voice and word order tell "who mentors Ann" and "who was mentored by Ann" apart. The
rules are for English.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import is_past
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.words import FUNCTION_WORDS

BE = frozenset("is are was were".split())
"""Forms of "be"."""
HAVE = frozenset("has have had".split())
DO = HAVE | frozenset("do does did can".split())
"""Other verbs that stand before a subject."""
PASSED = frozenset(
    "the a an all some any other currently now also usually mainly typically first "
    "originally else".split()
)
NO_NOUNS = (FUNCTION_WORDS | PREPOSITIONS | frozenset(",;:")) - {"name"}
PLACES = frozenset("in at on".split())
"""Prepositions that "where" stands for."""
TIMES = frozenset("year years date day month decade century time".split())
"""Nouns for times."""
QUESTION_WORDS = frozenset("who whom which what where when many".split())
WITHOUT_NOUN = frozenset("who whom where when".split())
"""Question words that no noun follows."""
MOST_NOUN_WORDS = 3
"""Words of the noun after "which"."""


class Clause(NamedTuple):
    """The parts of a question of one clause."""

    verb: str
    preposition: str
    """Of the verb; "" for none."""
    passive: bool
    """Whether a form of "be" stands before the verb."""
    topic_first: bool
    """Whether the topic is the subject."""
    adverbial: bool
    """Whether a place or a time is asked for without a preposition."""
    simple: bool
    """Whether it has a verb, and no other one stands before that."""
    noun: tuple[str, ...]
    """What the question word asks for: "which films"."""
    implied: bool = False
    """Whether it has no verb: "which courts are in Ohio" are those located there."""
    timed: bool = False
    """Whether it asks when its topic did something, or that was done to it."""


def is_clause(words: Sequence[str]) -> bool:
    """Whether a question is one clause of a verb and its topic.

    >>> is_clause(["who", "was", "mentored", "by", TOPIC]), is_clause(["is", TOPIC])
    (True, False)
    """
    return clause_of(tuple(words)) is not None


def is_verbless(words: Sequence[str]) -> bool:
    """Whether a clause has no verb but "be": those that are somewhere.

    >>> is_verbless(["which", "courts", "are", "in", TOPIC])
    True
    """
    clause = clause_of(tuple(words))
    return clause is not None and clause.implied


def is_simple_clause(words: Sequence[str]) -> bool:
    """Whether a question is a clause, and no other verb stands in it.

    >>> is_simple_clause(["who", "made", "parts", "used", "in", TOPIC])
    False
    """
    clause = clause_of(tuple(words))
    return clause is not None and clause.simple


def clause_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun that a simple clause asks for: it says of what kind the answer is.

    () for other questions.

    >>> clause_noun(["which", "films", "did", TOPIC, "direct"])
    ('films',)
    """
    clause = clause_of(tuple(words))
    return clause.noun if clause is not None and clause.simple else ()


def asked_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun behind "which" in a clause."""
    clause = clause_of(tuple(words))
    return () if clause is None else clause.noun


def topic_as_one(words: Sequence[str]) -> list[str]:
    """The words of a question with one ``TOPIC`` for all words of a name."""
    return [w for i, w in enumerate(words) if not (w == TOPIC == words[i - 1] and i)]


def around_topic(words: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """The words before and after the one topic; None where there are several, or none.

    >>> around_topic(["who", "taught", TOPIC, TOPIC, "?"])
    (['who', 'taught'], ['?'])
    """
    tokens = topic_as_one(words)
    if tokens.count(TOPIC) != 1:
        return None
    at = tokens.index(TOPIC)
    return tokens[:at], tokens[at + 1 :]


def leading_verb(words: Sequence[str]) -> Sequence[str]:
    """The verb that words begin with, and its preposition."""
    return words[: 2 if words[1:2] and words[1] in PREPOSITIONS else 1]


@lru_cache(maxsize=1 << 14)
def clause_of(words: tuple[str, ...]) -> Clause | None:
    """The parts of a question; None where it is of another form."""
    tokens = topic_as_one(words)
    fronted = ""
    if tokens[:1] and tokens[0] in PREPOSITIONS:
        fronted, tokens = tokens[0], tokens[1:]
    if tokens[:2] == ["how", "many"]:
        tokens = tokens[1:]
    if not tokens or tokens[0] not in QUESTION_WORDS:
        return None
    asking = tokens[0]
    tokens = [word for word in tokens[1:] if word not in PASSED]
    if tokens.count(TOPIC) != 1:
        return None
    at = tokens.index(TOPIC)
    before, after = tokens[:at], tokens[at + 1 :]
    helpers = [i for i, word in enumerate(before) if word in BE | DO]
    if len(helpers) > 1:
        return None
    place = helpers[0] if helpers else None
    passive = place is not None and before[place] in BE
    topic_first = place is not None and place == len(before) - 1
    if topic_first:
        noun, verb = before[:-1], after
    elif after:
        return None
    elif place is not None:
        noun, verb = before[:place], before[place + 1 :]
    else:
        end = len(before) - (before[-1:] != [] and before[-1] in PREPOSITIONS)
        noun, verb = before[: max(end - 1, 0)], before[max(end - 1, 0) :]
    if len(noun) > MOST_NOUN_WORDS or NO_NOUNS.intersection(noun):
        return None
    implied = passive and not topic_first and len(verb) == 1 and verb[0] in PLACES
    if implied and noun:
        verb = ["located", *verb]
    if passive and topic_first and verb == ["from"]:
        verb, passive = ["come", "from"], False  # "where is X from"
    if not verb or verb[0] in NO_NOUNS or len(verb) > 2:
        return None
    if verb[1:] and (fronted or verb[1] not in PREPOSITIONS):
        return None
    if not topic_first and fronted:
        return None
    preposition = fronted or (verb[1] if verb[1:] else "")
    asks_time = asking == "when" or not TIMES.isdisjoint(noun)
    adverbial = (asking == "where" or asks_time) and not preposition
    # "Who taught the makers of", "which firm built parts used in"
    simple = not (asking in WITHOUT_NOUN and noun) and not any(map(is_past, noun[:-1]))
    return Clause(
        verb[0], preposition, passive, topic_first, adverbial,
        simple and not implied, (*noun,), implied, asks_time and topic_first,
    )  # fmt: skip
