"""Other phrases for a relation: what people say instead of its name.

``relation_phrases.json`` has them for names that many graphs share: a place of birth is
where somebody was "born in", and a spouse is whom somebody is "married to".
``related_words.txt`` has groups of words that speak of one relation whatever its name,
such as "award", "prize" and "win".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from kgscout_jax.text.kinds import base_noun, base_verb, verbs_of_agents
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words, said_words
from kgscout_jax.text.words import FUNCTION_WORDS

_STEMS = {"born": "bear", "birth": "bear"}

RELATED = "~"
"""Begins a form that stands for a group of related words."""


@cache
def equivalent_phrases() -> dict[str, list[str]]:
    """Phrase of a relation -> its other phrases; ^ marks those of the inverse."""
    file = Path(__file__).with_name("relation_phrases.json")
    return json.loads(file.read_text("utf-8"))


@lru_cache(maxsize=1 << 14)
def other_names(relation: str) -> tuple[str, ...]:
    """Other phrases for a relation, without those of its inverse.

    >>> other_names("directed_by")
    ('director',)
    """
    return tuple(phrase for phrase in _phrases(relation) if phrase[0] != "^")


def _phrases(relation: str) -> Sequence[str]:
    """Other phrases for a relation; ^ marks those of the inverse."""
    words, said = " ".join(relation_words(relation)), " ".join(said_words(relation))
    phrases = equivalent_phrases().get(said, [])
    return phrases if said == words else [said, *phrases]


@lru_cache(maxsize=1 << 14)
def relation_forms(relation: str) -> frozenset[str]:
    """The forms of the words that say a relation, see ``word_forms``.

    And, as one word, of all that mean something: "homepage" is read as home page; and
    of their initials, where they are three or more.

    >>> sorted(relation_forms("directed_by"))
    ['direct', 'directed', 'director', '~direct', '~lead']
    >>> "ceo" in relation_forms("chief_executive_officer")
    True
    """
    words = relation_words(relation)
    others = _phrases(relation)
    phrases = [words, *(text.strip("^").split() for text in others)]
    passed = PREPOSITIONS | FUNCTION_WORDS
    content = [word for text in phrases for word in text if word not in passed]
    own = [word for word in words if word not in passed]
    if len(own) > 1:
        content.append("".join(own))
    content += initials(words)
    return frozenset(form for word in content for form in word_forms(word))


def initials(words: Sequence[str]) -> list[str]:
    """The initials of a name of three words or more, with prepositions and without.

    >>> initials(["is", "chief", "executive", "officer", "of"])
    ['ceo']
    >>> initials(["date", "of", "birth"]), initials(["has", "name"])
    (['dob'], [])
    """
    own = [i for i, word in enumerate(words) if word not in FUNCTION_WORDS]
    whole = words[own[0] : own[-1] + 1] if own else []
    names = {tuple(whole), tuple(words[i] for i in own)}
    return sorted("".join(word[0] for word in name) for name in names if len(name) > 2)


@lru_cache(maxsize=1 << 14)
def said_forms(relation: str) -> frozenset[str]:
    """The forms of the words of a relation's name, without other phrases for it."""
    own = [w for w in relation_words(relation) if w not in PREPOSITIONS]
    return frozenset(form for word in own for form in word_forms(word))


def own_forms(forms: Iterable[str]) -> list[str]:
    """Those that are words: a group of related words is no name.

    >>> own_forms(["direct", "~lead"])
    ['direct']
    """
    return [form for form in forms if form[0] != RELATED]


def has_words(relation: str, words: Iterable[str]) -> bool:
    """Whether all words, or their singulars, are among those that say a relation.

    >>> has_words("birth_date", ["date", "birth"]), has_words("founded", ["founder"])
    (True, False)
    """
    forms = relation_forms(relation)
    return all(not forms.isdisjoint((word, base_noun(word))) for word in words)


@lru_cache(maxsize=1 << 14)
def word_forms(word: str) -> frozenset[str]:
    """A word, its base forms, the verb of an agent, and its groups of related words.

    By rules and short lists; a group goes by its first word after ~.

    >>> sorted(word_forms("wrote")), sorted(word_forms("taught"))
    (['write', 'wrote', '~program', '~write'], ['taught', 'teach', '~mentor', '~teach'])
    """
    noun = base_noun(word)
    verbs = (base_verb(word), verbs_of_agents().get(noun), _STEMS.get(word))
    forms = frozenset((word, noun, *(verb for verb in verbs if verb)))
    groups = (_groups().get(form, ()) for form in (*forms, *_shorter(word)))
    return forms.union(*groups)


def _shorter(word: str) -> list[str]:
    """What may be the verb of a regular form: "portrayed", "moving"."""
    stems = [word.removesuffix(end) for end in ("d", "ed", "ing") if word.endswith(end)]
    stems = [stem for stem in stems if len(stem) > 2]  # "usd" is no form of "use"
    single = [stem[:-1] for stem in stems if stem[-1] == stem[-2]]  # "tagged"
    return [*stems, *(f"{stem}e" for stem in stems), *single]


@cache
def _groups() -> dict[str, frozenset[str]]:
    """Word -> the groups that it is in."""
    out: dict[str, frozenset[str]] = {}
    file = Path(__file__).with_name("related_words.txt")
    for line in file.read_text("utf-8").splitlines():
        first, *_ = words = line.split()
        for word in words:
            out[word] = out.get(word, frozenset()) | {f"{RELATED}{first}"}
    return out
