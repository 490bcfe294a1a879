"""The embedded texts of triplets and relations (thesis 3.3.2)."""

from __future__ import annotations

from kgscout_jax.types import Triplet, display_name

TEXT_VERSION = 1
"""Part of a table's identity; incremented when the texts below change."""


def relation_phrase(relation: str) -> str:
    """The relation in words: lower-case, other characters as single spaces.

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
    """The embedded text of a question: as written, white space collapsed."""
    return display_name(question)
