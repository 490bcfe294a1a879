"""The embedded texts of triplets and relations (thesis 3.3.2)."""

from __future__ import annotations

import re

from kgscout_jax.text.word_segmentation import segmented
from kgscout_jax.types import Triplet, display_name

TEXT_VERSION = 2
"""Part of a table's identity; incremented when the texts below change. Version 1 left
camelCase as one word."""

_HUMP = re.compile(r"(?<=[a-zà-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")


def is_camel_case(relation: str) -> bool:
    """Whether the relation is one word with a change of case, as "birthPlace"."""
    return len(relation.split()) == 1 and bool(_HUMP.search(relation))


def relation_phrase(relation: str) -> str:
    """The relation in words: lower-case, other characters as single spaces.

    A name without white space is split where its case changes, because it may be in
    camelCase, and its words where they are several written as one; "IMDb ID" is in
    words already.

    >>> relation_phrase("people.person.place_of_birth"), relation_phrase("birthPlace")
    ('people person place of birth', 'birth place')
    >>> relation_phrase("citylocatedinstate")
    'city located in state'
    """
    spaced = _HUMP.sub(" ", relation) if is_camel_case(relation) else relation
    lowered = spaced.lower()
    words = "".join(c if c.isalnum() else " " for c in lowered).split()
    if len(relation.split()) == 1:
        words = [segmented(word) for word in words]
    return " ".join(words)


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
