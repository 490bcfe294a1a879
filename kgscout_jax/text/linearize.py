"""Triplets and relations as the strings that are embedded (thesis 3.3.2)."""

from __future__ import annotations

from kgscout_jax.types import Triplet, display_name

TEXT_VERSION = 1
"""Part of a table's identity: raised whenever the strings below change."""


def relation_phrase(relation: str) -> str:
    """The relation in words: lower-case, every other character a space, collapsed.

    >>> relation_phrase("people.person.place_of_birth")
    'people person place of birth'
    """
    lowered = relation.lower()
    return " ".join("".join(c if c.isalnum() else " " for c in lowered).split())


def linearize(triplet: Triplet) -> str:
    """One triplet as "head relation tail", lower-cased.

    >>> linearize(("Earth", "revolves.around", "Sun"))
    'earth revolves around sun'
    """
    head, relation, tail = triplet
    return " ".join(f"{head} {relation_phrase(relation)} {tail}".lower().split())


def question_text(question: str) -> str:
    """A question as it is embedded: as written, white space collapsed."""
    return display_name(question)
