"""Nodes by what is true or false of them: "which recipes are vegetarian".

A relation ``vegetarian`` leads to ``yes`` and ``no``, and the question says its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.flag_relations import FALSE, TRUE, are_flags
from kgscout_jax.retrieve.family import genders_around
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.shared_nodes import neighbours
from kgscout_jax.text.gender_words import gender_question
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.question_clause import BE, DO
from kgscout_jax.text.relation_phrases import word_forms
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

_NOT = frozenset("not non isn aren no without neither nor don doesn".split())
_PASSED = frozenset("t currently yet in on at a an any have has".split())
"""Words between "not" and a flag."""


_POINTING = frozenset("the our my this your".split())
"""Words before what is no flag: "in the collection"."""
_BEFORE = r"(?:(?:but )?(?:not |non-|no |without |neither |nor ))?(?:(?:a|an|any) )?"
_LEFT = re.compile(
    r"(?:\s(?:that|which|with|have|has|both|and|but|or))*\s(?:with|have|has|both|and)\W*$",
    re.IGNORECASE,
)
"""What is left at the end without its flags: "which rooms have both and"."""


class FlagNodes(NamedTuple):
    """Which nodes have the flags that a question asks for."""

    holders: Bool[np.ndarray, "v"]
    negated: bool
    """Whether the question negates a flag."""
    rest: str
    """The question without the flags."""


def flag_nodes(question: str, around: LocalGraph, v: int) -> FlagNodes | None:
    """The nodes beside a topic with every flag that the question names.

    None for a question of yes or no, and where it names none or nothing has them.

    Args:
        question: the question.
        around: its candidates.
        v: number of nodes.
    """
    first = WORD.search(question.casefold())
    if first is not None and first[0] in BE | DO:
        return None
    is_topic = around.topic_mask(v)
    holders, negated, rest = np.ones(v, bool), False, question
    people = gender_question(question)
    if people is not None:
        of_gender = genders_around(around, v)[people.gender]
        if of_gender.any():
            holders, rest = of_gender, people.rest
    has_flags = not (TRUE | FALSE).isdisjoint(around.folded_names)
    for index, wanted in flags_said(rest, around.relations) if has_flags else ():
        slots = np.flatnonzero(around.relation_index == index)
        values = [name.casefold() for name in around.names_of(around.nodes[slots, 1])]
        if not are_flags(values):
            continue
        has = np.zeros(v, bool)
        has[around.nodes[slots[[value in wanted for value in values]], 0]] = True
        holders, negated = holders & has, negated or wanted == FALSE
        rest = without_flag(rest, around.relations[index])
    holders &= neighbours(is_topic, around)
    if rest == question or not holders.any():
        return None
    return FlagNodes(holders, negated, rest)


def without_flag(question: str, relation: str) -> str:
    """The question without the words for a flag, and the one that negates it.

    >>> without_flag("Which non-vegan dishes are hot?", "is_vegan")
    'Which dishes are hot?'
    >>> without_flag(without_flag("Which have both a bar and a bath", "bar"), "bath")
    'Which are there?'
    """
    said = r"s?\W+".join(map(re.escape, _said(relation)))
    flag = rf"\b{_BEFORE}(?:in |on |at )?{said}s?\b"
    text = " ".join(re.sub(flag, "", question, flags=re.IGNORECASE).split())
    left = _LEFT.search(text)
    return f"{text[: left.start()]} are there?" if left else text


def flags_said(
    question: str, relations: Iterable[str]
) -> Iterator[tuple[int, frozenset[str]]]:
    """Relations whose name a question says, and the values that it wants of them.

    >>> dict(flags_said("Which are open source?", ["is_open_source"]))[0] == TRUE
    True
    >>> list(flags_said("Which dishes are not vegan?", ["spicy", "vegan"]))[0][0]
    1
    """
    words = WORD.findall(question.casefold())
    nouns = [*map(base_noun, words)]
    known = frozenset(nouns)
    for index, relation in enumerate(relations):
        said = _said(relation)
        if len(said) == 1 and said[0] not in known:  # "does it migrate": migratory
            forms = word_forms(said[0])
            same = [
                noun
                for before, noun in zip(["", *words], nouns, strict=False)
                if not word_forms(noun).isdisjoint(forms) and before not in _POINTING
            ]
            said = (same[0],) if len(same) == 1 else ()
        if not said or said[0] not in known:
            continue
        for at in range(len(nouns) - len(said) + 1):
            if (*nouns[at : at + len(said)],) == said:
                before = [word for word in words[:at] if word not in _PASSED]
                yield index, TRUE if _NOT.isdisjoint(before[-1:]) else FALSE
                break


@cache
def _said(relation: str) -> tuple[str, ...]:
    """The nouns by which a question says a flag, without those of grammar."""
    words = relation_words(relation)
    return tuple(base_noun(each) for each in words if each not in FUNCTION_WORDS)
