"""The one noun phrase of a question: "the pupils of X", "X's pupils".

Either the topic has what is asked for, or it is the pupil of those. The rules are for
English.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kgscout_jax.text.kinds import singular, singular_form
from kgscout_jax.text.question_clause import (
    BE,
    DO,
    HAVE,
    MOST_NOUN_WORDS,
    NO_NOUNS,
    PASSED,
    QUESTION_WORDS,
    around_topic,
)
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.words import ARTICLES

_HAVING = HAVE | frozenset(("share", "shares"))
_ASK = frozenset("who whom which what name list give show tell find me us".split())
_ASKING = _ASK | BE | PASSED
OF = "of"
_COMING = frozenset(("come", "comes", "originate", "originates", "is", "are"))
"""What stands before "from" in a question for those of an origin."""
_CALLED = frozenset(("called", "named"))
_WHOSE = frozenset("of what which whom who".split())


def noun_of_topic(words: Sequence[str]) -> tuple[str, ...]:
    """The noun phrase of a question that has but one, in singular; () for others.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> noun_of_topic(["who", "are", "the", "pupils", "of", TOPIC])
    ('pupil',)
    >>> noun_of_topic(["what", "is", "the", "date", "of", "birth", "of", TOPIC])
    ('date', 'of', 'birth')
    >>> noun_of_topic([TOPIC, "aircraft", "type"])
    ('aircraft', 'type')
    >>> noun_of_topic(["does", TOPIC, "have", "any", "pupils"])
    ('pupil',)
    >>> noun_of_topic(["how", "many", "pupils", "does", TOPIC, "have"])
    ('pupil',)
    >>> noun_of_topic(["what", "is", "the", "unit", "price", "of", "a", TOPIC])
    ('unit', 'price')
    >>> noun_of_topic(["what", "genre", "is", TOPIC])
    ('genre',)
    >>> noun_of_topic(["what", "colour", "are", TOPIC, "s", "eyes"])
    ('eye', 'color')
    >>> noun_of_topic(["which", "cars", "are", TOPIC])
    ()
    """
    return _noun_of_topic(tuple(words))


def noun_of_answer(words: Sequence[str]) -> tuple[str, ...]:
    """What the topic is to those that a question asks for; () for other questions.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> noun_of_answer(["which", "firms", "have", TOPIC, "as", "owner"])
    ('owner',)
    >>> noun_of_answer(["who", "has", TOPIC, "as", "one", "of", "their", "pupils"])
    ('pupil',)
    >>> noun_of_answer(["what", "has", "the", "postal", "code", TOPIC])
    ('postal', 'code')
    >>> noun_of_answer(["whose", "mentor", "is", TOPIC])
    ('mentor',)
    >>> noun_of_answer(["which", "cars", "come", "from", TOPIC])
    ('origin',)
    >>> noun_of_answer([TOPIC, "is", "the", "mentor", "of", "which", "people"])
    ('mentor',)
    """
    return _noun_of_answer(tuple(words))


def qualifies_plural(words: Sequence[str]) -> bool:
    """Whether the topic stands before a plural, "books by X authors": then no word says
    what joins them.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> qualifies_plural(["books", "by", TOPIC, "authors"])
    True
    >>> qualifies_plural([TOPIC, "books"])
    False
    """
    parts = around_topic(tuple(words))
    if parts is None or not parts[0] or not parts[1]:
        return False
    before, noun = parts[0][-1], parts[1][0]
    plural = singular_form(noun) != noun and noun not in NO_NOUNS
    return plural and before in PREPOSITIONS and before != OF


def content_words(noun: Sequence[str]) -> list[str]:
    """The words of a noun phrase that a relation would say.

    >>> content_words(["date", "of", "birth"]), content_words(["number", "of", "guest"])
    (['date', 'birth'], ['guest'])
    """
    return [word for word in noun if word not in (OF, "number")] or [*noun]


@lru_cache(maxsize=1 << 14)
def _noun_of_topic(words: tuple[str, ...]) -> tuple[str, ...]:
    """The noun phrase of "who are the pupils of X", "X's pupils", "X pupils" and "what
    pupils does X have", in singular.

    () for other questions.
    """
    if (parts := around_topic(words)) is None:
        return ()
    before, after = parts
    if before[:1] and before[0] in _ASK and before[1:2] == ["s"]:
        before = [before[0], *before[2:]]  # "what's"
    if before[-1:] == ["the"] and before[-2:-1] and before[-2] in BE:
        before = before[:-1]  # "what nationality is the X"
    elif before[-1:] in (["a"], ["an"], ["the"]) and before[-2:-1] == [OF]:
        before = before[:-1]  # "the unit price of a lamp"
    if len(after) > 1 and after[-1] in _ASK and after[-2] in BE | _CALLED:
        after = after[:-2]  # "the capital of X is what"
    elif len(after) == 1 and after[0] in _CALLED:
        after = []
    if after[:1] in ([","], [":"]) and before in ([], ["for"]):
        # "X: capital", "for X, what is the capital"
        asked, noun = [], after[1 + _asking(after[1:]) :]
    elif part := _part_of_topic(before, after):
        asked, noun = [], part
    elif after[:1] == ["s"]:
        asked, noun = before, after[1:]
    elif had := _had_noun(before, after):
        asked, noun = [], had
    elif not before:
        asked, noun = before, after
    elif not after and before[0] in ("what", "which") and before[-1] in BE:
        # "What nationality is X", no "what kind of film is X" nor "which cars are X"
        several = before[0] == "which" and before[-1] in ("are", "were")
        asked, noun = [], [] if OF in before or several else before[1:-1]
    elif not after and before[-1:] == ["of"]:
        # "Which people work out of X" has no article.
        start = before.index("the") + 1 if "the" in before else _asking(before)
        if not start or before[start - 1] not in QUESTION_WORDS:
            asked, noun = before[:start], before[start:-1]
        else:
            return ()
    else:
        return ()
    while noun and noun[-1] in BE | _CALLED:
        noun = noun[:-1]  # "who X's pupils are", "what X's capital is called"
    nouns = [noun]
    if OF in noun:  # "the date of birth of X"
        nouns = [noun[: noun.index(OF)], noun[noun.index(OF) + 1 :]]
    if not {*asked} <= _ASKING:
        return ()
    if not all(0 < len(each) <= MOST_NOUN_WORDS for each in nouns):
        return ()
    if not all((NO_NOUNS | BE).isdisjoint(each) for each in nouns):
        return ()
    return singular(noun)


@lru_cache(maxsize=1 << 14)
def _noun_of_answer(words: tuple[str, ...]) -> tuple[str, ...]:
    """See ``noun_of_answer``."""
    if (parts := around_topic(words)) is None:
        return ()
    before, after = parts
    last = len(before)
    have = next((i for i, word in enumerate(before) if word in _HAVING), last)
    if before[:1] == ["whose"] and before[-1] in BE and not after:
        noun = before[1:-1]
    elif _comes_from(before) and not after:
        return ("origin",)
    elif inverse := _inverse_noun(before, after):
        noun = inverse
    elif QUESTION_WORDS.isdisjoint(before[:2]) or have > MOST_NOUN_WORDS + 1:
        return ()
    elif after[:1] == ["as"] and have == last - 1:
        noun = after[3:] if after[1:3] == ["one", OF] else after[1:]
        noun = noun[noun[:1] in (["its"], ["their"], ["his"], ["her"]) :]
    else:
        noun = [] if after else before[have + 1 :]
    noun = noun[_asking(noun) :]
    nouns = [word for word in noun[1:-1] if word != OF]  # "head of state"
    nouns = [*noun[:1], *nouns, *noun[1:][-1:]]
    if not 0 < len(noun) <= MOST_NOUN_WORDS or (NO_NOUNS | BE | DO).intersection(nouns):
        return ()
    return singular(noun)


def _comes_from(before: Sequence[str]) -> bool:
    """Whether the topic is the origin of what is asked for: "which cars are from X"."""
    *asked, verb, last = ["", "", *before]
    short = len(asked) - 2 <= 1 + MOST_NOUN_WORDS and NO_NOUNS.isdisjoint(asked[3:])
    return last == "from" and verb in _COMING and short


def _inverse_noun(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The noun of "X is the owner of what" and "of which firms is X the owner".

    () of others.
    """
    kind = [word for word in before[:-1] if word not in _WHOSE]
    asks = before[1:] and before[0] in _WHOSE and before[-1] in BE
    asks = asks and len(kind) <= MOST_NOUN_WORDS and NO_NOUNS.isdisjoint(kind)
    if asks and after[:1] and after[0] in ARTICLES:
        noun = after[1:]
        if OF in before:
            return noun
        return noun[:-1] if noun[-1:] == [OF] else ()
    if asks and kind and after[1:] and after[-1] == OF:
        return after[:-1]  # "what country is X president of"
    if not before and after[:1] and after[0] in BE and OF in after:
        place = len(after) - 1 - after[::-1].index(OF)
        if place + 1 < len(after) and after[place + 1] in _WHOSE:
            return after[1:place]
    return ()


def _part_of_topic(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The noun of "what colour are X's eyes" and of "what colour are the eyes of X".

    () of others.
    """
    verb = next((i for i, word in enumerate(before) if word in BE), 0)
    if verb < 2 or before[0] not in ("what", "which"):
        return ()
    part: Sequence[str] = ()
    if after[:1] == ["s"] and verb == len(before) - 1:
        part = after[1:]
    elif not after and before[verb + 1 : verb + 2] == ["the"] and before[-1] == OF:
        part = before[verb + 2 : -1]
    return [*singular(part), *before[1:verb]] if part else ()


def _had_noun(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The noun of "what pupils does X have" and "does X have a pupil"; () of others."""
    if not (before[-1:] and before[-1] in DO and after[:1] == ["have"]):
        return ()
    if len(before) == 1:
        return after[1 + _asking(after[1:]) :]
    many = before[:2] == ["how", "many"]
    asks = many or before[0] in ("what", "which")
    return before[1 + many : -1] if asks and not after[1:] else ()


def _asking(words: Sequence[str]) -> int:
    """The number of words that ask, before a noun."""
    return next((i for i, word in enumerate(words) if word not in _ASKING), len(words))
