"""Names of one relation and of its inverse: who "employs" Ann is whom she "works for".

``relation_groups.txt`` has a line for each relation: names whose tails are one thing,
and behind a bar names whose heads are it. What only questions say begins with +, what
only relations are called with *. Those of a line that begins with = hold both ways.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from kgscout_jax.text.kinds import UNIT_WORDS, singular
from kgscout_jax.text.relation_predicate import head_type
from kgscout_jax.text.relation_words import PREPOSITIONS, plain_words

_SAID, _KEY, _MUTUAL = "+", "*", "="
_NUMBER = frozenset(("no", "nr", "num"))
_KEYS = frozenset(("id", "ids", "fk"))


class RelationName(NamedTuple):
    """Another name of a relation."""

    name: str
    inverse: bool
    """Whether its head stands where the relation's tail does."""


@lru_cache(maxsize=1 << 14)
def names_in_group(relation: str) -> tuple[RelationName, ...]:
    """The other names of a relation, of all groups that it is in.

    Of a relation that holds both ways each name is among those of the inverse, too.

    >>> names = names_in_group("worksFor")
    >>> [name for name, inverse in names if inverse][:2]
    ['employs', 'employee']
    """
    key, words = _key_of(relation), [*plain_words(relation)]
    own, short = " ".join(words), _without_ending(words)
    plain = [RelationName(" ".join(short), False)] if short != words else []
    out = dict.fromkeys(plain) | dict.fromkeys(
        RelationName(name, other != inverse)
        for group, inverse in _places().get(key, ())
        for name, other in group
        if name != own and name[0] != _KEY
    )
    return (*out,)


@lru_cache(maxsize=1 << 14)
def synonyms(relation: str) -> tuple[RelationName, ...]:
    """The names of a relation and of its inverse that mean nothing else.

    Without those of several groups, and none for such a name: who "plays in" a band or
    in a film.

    >>> RelationName("backed by", inverse=True) in synonyms("invested_in")
    True
    >>> synonyms("plays_in")
    ()
    """
    places = _places()
    if len(places.get(_key_of(relation), ())) != 1:
        return ()
    return tuple(
        each
        for each in names_in_group(relation)
        if len(places.get(_letters(each.name.split()), ())) == 1
    )


def _key_of(relation: str) -> str:
    """The letters by which a relation is in groups; "" where it is in none.

    ``/film/actor/film`` leads from actors: it is ``actor of``.
    """
    whole = words = [*plain_words(relation)]
    if _KEYS.isdisjoint(words[-1:]):  # a key may be of anything
        words = _without_ending(words)
    forms = [whole, words, singular(words)]
    if len(words) > 2 and words[-2] in PREPOSITIONS:
        forms.append(words[:-1])  # "works at company"
    if heads := head_type(relation):
        forms.append([heads, "of"])
    keys = map(_letters, forms)
    return next((each for each in keys if each in _places()), "")


def _letters(words: list[str]) -> str:
    """A key that does not depend on where a name is taken apart: ``skip per``."""
    return "".join(words)


def _without_ending(words: list[str]) -> list[str]:
    """A name without the unit of its values, or without "id".

    >>> _without_ending(["weight", "kg"]), _without_ending(["serial", "no"])
    (['weight'], ['serial', 'number'])
    """
    stop = len(words)
    while stop > 1 and words[stop - 1] in UNIT_WORDS | _KEYS:
        stop -= 1
    if stop > 1 and words[stop - 1] in _NUMBER:
        return [*words[: stop - 1], "number"]
    return words[:stop]


@cache
def _places() -> dict[str, list[tuple[tuple[tuple[str, bool], ...], bool]]]:
    """Letters of a name -> the groups it is in, and whether among the inverse names."""
    out: defaultdict[str, list[tuple[tuple[tuple[str, bool], ...], bool]]]
    out = defaultdict(list)
    file = Path(__file__).with_name("relation_groups.txt")
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        mutual = line.startswith(_MUTUAL)
        sides = [line.removeprefix(_MUTUAL)] * 2 if mutual else line.split("|")
        marked = [
            (name.strip(), side == 1)
            for side, names in enumerate(sides)
            for name in names.split(",")
        ]
        group = tuple((name.lstrip(_SAID), inverse) for name, inverse in marked)
        for name, inverse in marked:
            place = (group, inverse)
            key = _letters(name.lstrip(_KEY).split())
            if name[0] != _SAID and place not in out[key]:
                out[key].append(place)
    return out
