"""Whether a noun stands between a question's topic and what is asked for.

"What soils are in the vineyards of Ann", "where do Ann's pupils live": vineyards and
pupils are no answers, which lie a step beyond them. Words are read by position, without
a grammar.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.kinds import is_past, noun_kind, singular_form
from kgscout_jax.text.question_clause import WITHOUT_NOUN, around_topic
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.words import FUNCTION_WORDS

_DETERMINERS = frozenset("the a an all any some its their his her".split())
_RELATIVE = frozenset("that who which".split())
AUXILIARIES = frozenset("do does did has have had can will".split())
_BE = frozenset("is are was were be been".split())
_ASKING = frozenset("what which many".split())
VAGUE = frozenset(
    "name names list number kind kinds type types sort sorts form forms group part one "
    "other same many called named there".split()
)
"""Words that are neither asked for nor a step."""
_NO_CONTENT = FUNCTION_WORDS | PREPOSITIONS | VAGUE | frozenset([",", ";", ":", "s"])


def has_between_noun(question: str, topics: Sequence[str]) -> bool:
    """Whether the answer lies beyond what the noun next to the topic names.

    Args:
        question: the question.
        topics: names that it mentions.

    >>> has_between_noun("Which firms do the pupils of Ann work for?", ["Ann"])
    True
    >>> has_between_noun("Who are the pupils of Ann?", ["Ann"])
    False
    >>> has_between_noun("What was the job of Ann's wife?", ["Ann"])
    True
    """
    if (parts := around_topic(question_tokens(question, topics))) is None:
        return False
    before, after = parts
    if after[:1] == ["s"]:
        nouns = _content(after[1:])
        return bool(nouns) and _asks_beyond(before, nouns[1:])
    end = _noun_place(before, after)
    return end is not None and _asks_beyond(before[:end], _content(after))


def _content(tokens: Sequence[str]) -> list[str]:
    return [word for word in tokens if word not in _NO_CONTENT]


def _noun_place(before: Sequence[str], after: Sequence[str]) -> int | None:
    """The place of a noun that what follows joins to the topic; None for none."""
    words = [*before]
    while words and words[-1] in _DETERMINERS:
        words.pop()
    clause = next(
        (i for i, word in enumerate(words) if word in _RELATIVE and i > 1), None
    )
    if clause is not None and words[clause - 1] not in _NO_CONTENT:
        # "The estate that makes X", "the firm that X works for"
        inner = _content(words[clause + 1 :])
        return clause - 1 if inner or _content(after) else None
    if len(words) < 2 or words[-1] not in PREPOSITIONS:
        return None
    joint, place = words[-1], len(words) - 2
    if place > 0 and is_past(words[place]):
        place -= 1  # "vehicles made by X"
    noun = words[place]
    is_plural = singular_form(noun) != noun
    is_person = joint == "of" and noun_kind(noun) == "person"
    if noun in _NO_CONTENT or not (is_plural or is_person):
        return None  # "the city of Bern" is Bern
    return place


def _asks_beyond(head: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether the words before a noun ask for something else than it.

    Args:
        head: the words before the noun.
        rest: words with a meaning behind the topic, such as a verb.
    """
    words = [word for word in head if word not in _DETERMINERS]
    if words[-1:] == ["of"]:
        return len(words) > 1 and words[-2] not in _NO_CONTENT
    helped = not AUXILIARIES.isdisjoint(words)
    for i, word in enumerate(words):
        if word in WITHOUT_NOUN:
            if word in ("where", "when") and not _BE.isdisjoint(words[i:]):
                return True
            return bool(_content(words[i + 1 :])) or (helped and bool(rest))
        if word in _ASKING:
            asked = _content(words[i + 1 :])
            return len(asked) > 1 or (helped and bool(rest))
    return False
