"""The input of a drawing: one question, its entities and its ranked triplets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

from kgscout_jax.errors import UserError

MAX_DRAWN = 500
"""Triplets beyond this rank are counted, not drawn: nobody can read them."""


class AnswerLine(NamedTuple):
    """An answer in the list above a drawing."""

    name: str
    probability: float
    path: str = ""
    """The path to it as one line; "" for none."""
    sources: str = ""
    """Where the path stands in documents; "" if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphView:
    """One drawing.

    Raises:
        UserError: a triplet is not (head, relation, tail, finite score), or its score
            is above the one before it.
    """

    title: str
    """The page's heading, say the question's id and the retriever's name."""
    question: str
    """The question as asked."""
    topics: tuple[str, ...] = ()
    """Topic entities, by name."""
    answers: tuple[str, ...] = ()
    """The answers given; the gold ones where nobody answered."""
    triplets: Sequence[tuple[str, str, str, float]] = ()
    """(head, relation, tail, score), best first."""
    gold: tuple[str, ...] | None = None
    """Gold answers to tell right answers from wrong ones; None: they are not known."""
    paths: Sequence[Sequence[int]] | None = None
    """Ranks, from 0, of the triplets on the path to each answer; they are marked. None:
    the shortest paths are."""
    answer_lines: Sequence[AnswerLine] = ()
    """Listed above the drawing."""
    answer_note: str = ""
    """Stands above the list."""
    empty_note: str = ""
    """Why there are no triplets; "" for no reason given."""
    sources: Sequence[str] = ()
    """The document and place of each triplet; () if they are not known."""

    def __post_init__(self) -> None:
        for field in ("topics", "answers", "gold"):
            names = getattr(self, field)
            if isinstance(names, str) or not all(
                isinstance(name, str) for name in names or ()
            ):
                raise UserError(f"{field}: expected a tuple of names, got {names!r}")
        before = math.inf
        for rank, triplet in enumerate(self.triplets, start=1):
            score = _score(triplet)
            if score is None:
                raise UserError(
                    f"triplets, rank {rank}: expected (head, relation, tail, finite "
                    f"score), got {triplet!r}"
                )
            if score > before:
                raise UserError(
                    f"triplets, rank {rank}: expected scores best first, got {score:g} "
                    f"after {before:g}"
                )
            before = score


def _score(triplet: Sequence[object]) -> float | None:
    """The score of a well-formed scored triplet, else None."""
    if isinstance(triplet, str) or len(triplet) != 4:
        return None
    *names, score = triplet
    if not all(isinstance(name, str) for name in names):
        return None
    if isinstance(score, bool) or not isinstance(score, Real):
        return None
    return float(score) if math.isfinite(score) else None
