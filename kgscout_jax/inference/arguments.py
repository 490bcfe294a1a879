"""Checks of what callers of ``Scout`` pass: questions, graphs, budgets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, cast

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.stores.protocol import GraphOrStore, Store
from kgscout_jax.types import replace_surrogates


def check_k(k: object) -> None:
    """Raise UserError unless ``k`` is a whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UserError(f"k: found {k!r}, expected a whole number from 1")


def budgets_of(k: int | Sequence[int], n: int) -> list[int]:
    """The budget of each of ``n`` questions.

    Raises:
        UserError: one is no whole number from 1.
    """
    if isinstance(k, Sequence) and not isinstance(k, str):
        each: list[int] = list(k)
        for budget in each:
            check_k(budget)
        return each
    check_k(k)
    return [cast(int, k)] * n


def check_question(question: object) -> str:
    """The question as text that can be encoded.

    Raises:
        UserError: it is not a string, or is empty.
    """
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"question: found {question!r}, expected some text")
    return replace_surrogates(question)


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
