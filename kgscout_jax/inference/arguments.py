"""Checks of what callers of ``Scout`` pass: questions, graphs, budgets."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, cast

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.stores.protocol import GraphOrStore, Store
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.checks import LARGEST_K


def checked_k(k: object) -> int:
    """The maximum number of triplets; raises UserError unless it is a whole number."""
    try:
        number = 0 if isinstance(k, bool) else operator.index(cast(int, k))
    except TypeError:
        number = 0
    if not 1 <= number <= LARGEST_K:
        raise UserError(
            f"k: found {k!r:.80}, expected a whole number from 1 to {LARGEST_K}"
        )
    return number


def budgets_of(k: int | Sequence[int], n: int) -> list[int]:
    """The budget of each of ``n`` questions.

    Raises:
        UserError: one is no whole number from 1 to ``LARGEST_K``.
    """
    if isinstance(k, Sequence) and not isinstance(k, str):
        return [checked_k(each) for each in k]
    return [checked_k(k)] * n


def check_type(name: str, value: object, expected: type) -> None:
    """Raise UserError unless an argument is what it has to be."""
    if not isinstance(value, expected):
        kind = "some text" if expected is str else f"a {expected.__name__}"
        raise UserError(f"{name}: found {value!r:.80}, expected {kind}")


def listed(name: str, values: object, kind: type = object) -> list[Any]:
    """The items of a list or another iterable, each of a kind.

    Raises:
        UserError: it is something else, or one of its items is.
    """
    if isinstance(values, str):
        raise UserError(f"{name}: found one string, expected a list of them")
    if not isinstance(values, Iterable):
        raise UserError(f"{name}: found {values!r:.80}, expected a list of them")
    items = list(values)
    for item in items:
        check_type(name, item, kind)
    return items


def check_question(question: object) -> str:
    """The question as text that can be encoded.

    Raises:
        UserError: it is not a string, or is empty.
    """
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"question: found {question!r}, expected some text")
    return replace_surrogates(question)


def checked_hypotheses(hypotheses: object, n: int) -> list[list[str]]:
    """The guesses at the answer of each of ``n`` questions, as text to encode.

    Raises:
        UserError: they are not ``n`` lists of strings.
    """
    name = "hypotheses"
    guesses = [listed(name, each, str) for each in listed(name, hypotheses)]
    check_lengths(n, hypotheses=guesses)
    return [[replace_surrogates(guess) for guess in each] for each in guesses]


def checked_graphs(
    graphs: GraphOrStore | Iterable[GraphOrStore], n: int
) -> list[GraphOrStore]:
    """A graph for each of ``n`` questions; raises UserError for anything else."""
    if isinstance(graphs, KnowledgeGraph | Store):
        return [graphs] * n
    path = isinstance(graphs, str | os.PathLike) or not isinstance(graphs, Iterable)
    listed: list[Any] = [graphs] if path else list(graphs)
    for each in listed:
        if not isinstance(each, KnowledgeGraph | Store):
            raise UserError(
                f"graph: expected a KnowledgeGraph, found {each!r:.80}; "
                "KnowledgeGraph.open(path) opens a folder or file"
            )
    return listed


def check_lengths(n: int, **arguments: Sequence[Any]) -> None:
    """Raise UserError unless each argument has one item for each of ``n`` questions."""
    for name, values in arguments.items():
        if len(values) != n:
            raise UserError(
                f"{name}: found {len(values)}, expected {n}, one for each question"
            )
