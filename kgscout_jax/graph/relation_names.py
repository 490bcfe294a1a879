"""Detects names of relations that say little about what they mean."""

from __future__ import annotations

import re

from kgscout_jax.graph.opaque_names import OPAQUE
from kgscout_jax.text.linearize import relation_phrase

_IDENTIFIER = re.compile(
    rf"{OPAQUE}|[A-Za-z]{{1,12}}[._ -]?[0-9]+|[0-9a-f]{{8,}}|\W*[0-9]+\W*"
)
_ABBREVIATION = re.compile(r"[A-Z]+[a-z]{1,2}>?[A-Z]{1,3}")
_GENERAL = frozenset(
    """associated association attribute attributes be connected connection contains
    edge edges has have is item link linked links misc of other property related
    relates relation relations relationship statement tag tags thing to unknown value
    values with x""".split()
)
_SHORT = frozenset("as at by in is of on to".split())


def relation_problem(name: str) -> str | None:
    """What the name of a relation lacks for a text encoder; None if nothing does.

    ``identifier`` (P131, rel_7), ``letters`` (one or two), ``abbreviation`` (CtD of
    Hetionet), ``general`` (has_tags, related to), ``script`` (letters that are not
    Latin, for which an encoder must be multilingual).

    >>> [relation_problem(name) for name in ("P131", "hasTags", "birthPlace")]
    ['identifier', 'general', None]
    """
    name = name.strip()
    words = relation_phrase(name).split()
    if not words or _IDENTIFIER.fullmatch(name):
        return "identifier"
    if all(c > "\u024f" for c in "".join(words) if c.isalpha()) and any(
        c.isalpha() for c in name
    ):
        return "script"
    if len("".join(words)) <= 2 and words[0] not in _SHORT:
        return "letters"
    if _ABBREVIATION.fullmatch(name):
        return "abbreviation"
    if all(word in _GENERAL for word in words) and words != ["contains"]:
        return "general"
    return None
