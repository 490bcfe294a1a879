"""What the edges of a relation are called: those of ``TRANSFERRED_TO`` transfers."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kgscout_jax.text.kinds import singular_form
from kgscout_jax.text.relation_words import split_words

_AROUND = frozenset(
    "has had have is was were a an to from with in on by for at into of as between "
    "money".split()
)
"""Words beside the noun or the verb."""
_ENDS = "s es d ed ing".split()
_LINE = re.compile(r"^(\w+)(?: \((\w*),[ ]?(\w*)\))?:(.*)$", re.MULTILINE)


class EdgeKind(NamedTuple):
    """What the edges of a relation are called, and what their ends are to them."""

    noun: str
    head: str = ""
    tail: str = ""


@lru_cache(maxsize=1 << 12)
def edge_kind(relation: str) -> EdgeKind | None:
    """What the list says of the edges of a relation; None where it knows none.

    >>> [edge_kind(name) for name in ("ROAD", "transferred_to", "capital")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [EdgeKind(noun='road', head='from', tail='to'),
     EdgeKind(noun='transfer', head='sender', tail='recipient'), None]
    """
    words, kinds = split_words(relation), _kinds()
    if (joined := "".join(words)) in kinds:  # an invoice is split as "in voice"
        return kinds[joined]
    words = [word for word in words if word not in _AROUND]
    if len(words) != 1:
        return None
    return next((kinds[form] for form in _forms(words[0]) if form in kinds), None)


@lru_cache(maxsize=1 << 10)
def kind_verbs(noun: str) -> tuple[str, ...]:
    """The verbs of the list for edges that are called so.

    >>> kind_verbs("purchase"), kind_verbs("river")
    (('purchase', 'buy', 'bought'), ())
    """
    kinds = _kinds()
    if noun not in kinds or kinds[noun].noun != noun:
        return ()
    return tuple(word for word, kind in kinds.items() if kind.noun == noun)


def _forms(word: str) -> list[str]:
    """The word, its singular and the verbs that it may be a form of."""
    stems = [word.removesuffix(end) for end in _ENDS if word.endswith(end)]
    stems += [stem + "e" for stem in stems]
    stems += [stem[:-1] + "y" for stem in stems if stem.endswith("i")]
    stems += [stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]]
    return [word, singular_form(word), *stems]


@lru_cache(maxsize=1)
def _kinds() -> dict[str, EdgeKind]:
    """What each noun and verb of the list stands for."""
    kinds: dict[str, EdgeKind] = {}
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for match in _LINE.finditer(text):
        noun, head, tail, verbs = match.groups(default="")
        kind = EdgeKind(noun, head, tail)
        kinds |= dict.fromkeys((noun, *verbs.split()), kind)
    return kinds
