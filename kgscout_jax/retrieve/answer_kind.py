"""Which nodes are not of the kind that a question asks for, by the relations around.

A policy that has not seen a graph often stops at the entity between: "when were the
films by Mann released" at a film. But heads of ``directed_by`` are films, and a film is
no year. Where another node may be of the kind that is asked for, such nodes lose
``PENALTY`` of their logit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from kgscout_jax.text.asked_kind import AskedKind, asked_kind
from kgscout_jax.text.kinds import KINDS, end_nouns, names_same, noun_kind

PENALTY = 8.0
"""Logits that a node of another kind loses, see ``recipes/answer_kinds.py``: chosen on
graphs that policies had not seen."""
FEW = 0.2
"""Share of what the relations around a node call it, below which it is of another
kind."""
MOST = 0.6
"""Share of people and dates from which a node is no place; a school may be one."""
NAMED_NODES = 64
"""The best nodes, whose names are read as dates and numbers."""
_NUMBER = re.compile(r"[+-]?\d[\d,. ]*")
_DAY = r"\d{3,4}-\d\d(?:-\d\d)?"
_DATED = re.compile(
    rf"(?<![\d.,])(?:{_DAY}(?!\d)|[12]\d{{3}}(?![.,]?\d)|\d\d?[./]\d\d?[./]\d{{2,4}}\b)"
)
_MOMENT = re.compile(rf"[+-]?{_DAY}(?:T[\d:.Z+-]*)?")


def is_number(name: str) -> bool:
    """Whether the name of an entity is a number."""
    return _NUMBER.fullmatch(name.strip()) is not None


def is_dated(name: str) -> bool:
    """Whether a name holds a date or a year.

    >>> [is_dated(name) for name in ("1815-12-10", "2008 NBA Finals", "Bern", "12,000")]
    [True, True, False, False]
    """
    return _DATED.search(name) is not None


def fitting_logits(
    question: str,
    topics: Sequence[str],
    relations: Sequence[str],
    relation_index: Int[np.ndarray, "n"],
    nodes: Int[np.ndarray, "n 2"],
    logits: Float32[np.ndarray, "v"],
    name_of: Callable[[int], str],
) -> Float32[np.ndarray, "v"]:
    """The logits of a question's nodes, lower at those of another kind than asked for.

    Unchanged where the question leaves the kind open, and where no node within
    ``PENALTY`` of the best one may be of it.

    Args:
        question: the question.
        topics: names that it mentions.
        relations: names of its candidates' relations.
        relation_index: which of them each candidate has.
        nodes: of head and tail of each candidate.
        logits: of the answer head.
        name_of: the name of a node.
    """
    asked = asked_kind(question, topics)
    if asked is None or not len(logits):
        return logits
    wrong = _of_another_kind(asked, relations, relation_index, nodes, len(logits))
    if asked.kind != "thing" or asked.number:
        best = np.argsort(-logits, kind="stable")[:NAMED_NODES]
        for node in best[np.isfinite(logits[best])]:
            if (verdict := _by_name(asked, name_of(int(node)))) is not None:
                wrong[node] = verdict
    lowered = logits - np.float32(PENALTY) * wrong
    return logits if wrong[np.argmax(lowered)] else lowered


def _by_name(asked: AskedKind, name: str) -> bool | None:
    """Whether a name rules a node out or in; None where it says nothing."""
    if asked.kind == "time":
        return not is_dated(name)
    if is_number(name) or _MOMENT.fullmatch(name.strip()):
        return not asked.number
    return None


def _of_another_kind(
    asked: AskedKind,
    relations: Sequence[str],
    relation_index: Int[np.ndarray, "n"],
    nodes: Int[np.ndarray, "n 2"],
    v: int,
) -> Bool[np.ndarray, "v"]:
    """True at nodes that the relations around them call something else."""
    # Each relation counts once at each end of a node, however many triplets it has.
    index = np.concatenate([relation_index * 2, relation_index * 2 + 1])
    width = 2 * len(relations)
    both = np.unique(np.concatenate([nodes[:, 0], nodes[:, 1]]) * width + index)
    node, end = np.divmod(both, width)

    def sums(weights: Float[np.ndarray, "u 2"]) -> Float[np.ndarray, "v"]:
        return np.bincount(node, weights.reshape(-1)[end], minlength=v)

    by_kind = np.array([kind_weights(relation) for relation in relations])
    total = sums(by_kind.sum(axis=2))
    wrong = np.zeros(v, bool)
    if asked.kind == "place":
        others = by_kind[..., KINDS.index("person")] + by_kind[..., KINDS.index("time")]
        wrong = sums(others) >= MOST * total
    elif asked.kind != "thing":
        wrong = _too_few(sums(by_kind[..., KINDS.index(asked.kind)]), total)
    if asked.nouns:
        named = np.array([_noun_weights(asked.nouns, name) for name in relations])
        wrong |= _too_few(sums(named), total)
    return wrong & (total > 0)


def _too_few(
    match: Float[np.ndarray, "v"], total: Float[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """Whether few of the weights match; False where none of any node does."""
    return (match < FEW * total) & match.any()


@cache
def kind_weights(relation: str) -> Float[np.ndarray, "2 k"]:
    """Weights of the nouns at a relation's heads and tails, by their kind."""
    out = np.zeros((2, len(KINDS)))
    for side, nouns in enumerate(end_nouns(relation)):
        for noun, weight in nouns.items():
            out[side, KINDS.index(noun_kind(noun))] += weight
    return out


def _noun_weights(asked: frozenset[str], relation: str) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that are asked for."""
    heads, tails = (
        sum(weight for noun, weight in nouns.items() if names_same(noun, asked))
        for nouns in end_nouns(relation)
    )
    return heads, tails
