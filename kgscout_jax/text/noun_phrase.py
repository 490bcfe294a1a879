"""A noun of a question and what stands around it: "which films", "the wife's city".

The rules are for English.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kgscout_jax.text.kinds import base_noun, is_past, noun_kind, singular_form
from kgscout_jax.text.value_words import is_comparing
from kgscout_jax.text.words import FUNCTION_WORDS

TOPIC = ""
"""Stands for a word of a topic's name."""
_PASSED = frozenset(
    "is are was were the a an these those this other different all many same some any "
    "one two three four five six seven eight nine ten current main "
    "major primary else very".split()
)
"""Words between "which" and its noun."""
_ADVERBS = frozenset("about today now currently ever together also still".split())
_MODALS = frozenset("should may might must".split())
_STOPS = FUNCTION_WORDS.union(_PASSED, _ADVERBS, _MODALS, ",;:", [TOPIC]) - {"name"}
"""What ends a noun."""
BE = frozenset("is are was were s re".split())
AFTER = BE | frozenset("of do does did has have had can will".split())
"""Words that show that the one before is a noun, and no verb."""
_NOUNS = 2
"""Words that one noun may consist of."""
_OF_VERBS = frozenset("into onto from through to on with by under over against".split())
"""Prepositions that seldom follow a noun."""
_GOALS = frozenset("to into onto through upon".split())
"""Those of them that hardly ever do."""
_PLURAL_MODIFIERS = frozenset(
    "sports arms sales news games goods systems operations awards customs savings "
    "rights series species".split()
)
"""Plurals before another noun: "sports team"."""
ASKING = frozenset(("what", "which"))
COMMANDS = frozenset("name list give find show identify tell".split())
"""Verbs before what is asked for."""


class NounPhrase(NamedTuple):
    """A noun of a question, and what stands around it."""

    nouns: list[str]
    """In singular."""
    stop: int
    """Place of the next word."""
    owned: bool
    """Whether somebody's name or noun stood before it: "Mann's films"."""


def noun_phrase(words: Sequence[str], start: int) -> NounPhrase:
    """The noun that begins near ``start``.

    The last one of "the wife's city", the one after "of" of "the name of the city".
    """
    found: list[str] = []
    owned, i = False, start
    direct = True  # "which film's director" asks for a film
    while i < len(words):
        word = words[i]
        if word == TOPIC:
            stop = next((j for j in range(i, len(words)) if words[j] != TOPIC), i)
            rest = words[stop:]
            if rest[:1] == ["s"]:
                if found and direct and words[start - 1] in ASKING:
                    break  # "which country Mann's birthplace is in"
                stop += 1
            elif found or not (
                _is_owner(rest, direct)
                or (
                    words[start:i] in ([], ["the"])
                    and _is_qualified(words, start, rest)
                )
            ):
                break
            found, owned, i = [], True, stop
            continue
        if word == "s" and (owned or not direct) and found:
            found, owned = [], True
        elif word == "of" and found in ([], ["name"]):
            found, direct = [], False
        elif not found and (word in _PASSED or word in ("me", "us", "please", "s")):
            direct = direct and word not in BE and word != "the"
        elif _ends_noun(words, i, len(found), direct=direct):
            break
        else:
            found.append(base_noun(word))
        i += 1
    return NounPhrase(found, i, owned)


def _ends_noun(words: Sequence[str], i: int, length: int, *, direct: bool) -> bool:
    """Whether the word at ``i`` ends the noun of ``length`` words before it."""
    if words[i] in _STOPS:
        return True
    if length and (_is_verb(words, i) or is_comparing(words[i])):
        return True  # "drugs treat X", "rivers longer than"
    return length == _NOUNS and not _is_of(words, i, direct)


def _is_verb(words: Sequence[str], i: int) -> bool:
    """Whether the word at ``i``, behind a noun in plural, is a verb, before a name.

    "Which drugs treat X", "rivers that", "what rivers flow into the X", "genes linked".
    And behind one in singular that has no other end.
    """
    word = words[i]
    rest = words[i + 1 : i + 4]
    after_article = rest[1:] if rest[:1] in (["the"], ["a"], ["an"]) else rest
    if is_past(word) and after_article[:1] == [TOPIC]:
        return True  # "which studio made X"
    if singular_form(words[i - 1]) == words[i - 1]:
        # "Which house publishes the", "which agency looks after"
        follows = rest[:1] in (["the"], ["a"], ["an"], ["after"], ["up"])
        is_noun = noun_kind(word) != "thing"  # "release years the films"
        return singular_form(word) != word and follows and not is_noun
    if singular_form(word) != word:
        return False
    if len(after_article) < len(rest):
        return True  # "which companies sponsor the club"
    if {*rest[:1]} & _GOALS and words[i - 1] not in _PLURAL_MODIFIERS:
        return True  # "which compounds bind to genes that"
    rest = rest[(rest[:1] or [""])[0] in _OF_VERBS :]
    rest = rest[(rest[:1] or [""])[0] in ("the", "a", "an") :]
    return rest[:1] == [TOPIC] or is_past(word) or word.endswith("ing")


def _is_of(words: Sequence[str], i: int, direct: bool) -> bool:
    """Whether the noun at ``i`` ends a phrase: "the chief financial officer of"."""
    return not direct and words[i + 1 : i + 2] == ["of"]


def _is_owner(rest: Sequence[str], direct: bool) -> bool:
    """Whether a topic before these words owns what they name.

    "Which Mann film was", "which Bern bank clerks left", "what is Kentucky state
    slogan".
    """
    if direct:
        named = any(noun_kind(word) != "thing" for word in rest[:_NOUNS])
        follows = {*rest[1:2]} <= AFTER or named
        return rest[:1] != [] and rest[0] not in _STOPS and follows
    return len(rest) <= _NOUNS and _STOPS.isdisjoint(rest)


def _is_qualified(words: Sequence[str], start: int, rest: Sequence[str]) -> bool:
    """Whether topics qualify the noun in plural that follows "which" and them.

    "Which epic cards cost", "which rare mage spells are", "list the epic cards that".
    """
    plural = [singular_form(word) != word for word in rest[:2]]
    after = rest[plural.index(True) + 1 :] if any(plural) else []
    before = words[start - 1] if start else ""
    return (
        before in {"which", "many"} | COMMANDS
        and after != []
        and (plural[0] or after[0] in BE)
    )
