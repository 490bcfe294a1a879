"""The drawing of a retrieval result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgscout_jax.inference.answer_kinds import SUPPORTED
from kgscout_jax.reason.path_text import path_line
from kgscout_jax.show import AnswerLine, GraphView

if TYPE_CHECKING:
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.types import Answer

NEAREST = "The question names no entity; nearest triplets by their vectors:"


def result_view(
    result: RetrievalResult, *, answers: tuple[str, ...] | None = None, title: str = ""
) -> GraphView:
    """The triplets with their answers, for ``show``.

    Args:
        result: of a question.
        answers: entities to mark as the answers, with the shortest paths to them; None
            for those from the graph.
        title: the heading; "" for "KG-Scout".
    """
    shown = result.answers or result.best_guesses
    paths, marked = None, tuple(answers or ())
    if answers is None and shown:
        marked = tuple(answer.name for answer in result.answer_entities)
        rank_of = {t: rank for rank, t in reversed([*enumerate(result.triplets)])}
        paths = [
            [rank_of[triplet] for triplet in answer.path]
            for answer in result.answer_entities
        ]
    lines = [*shown, *result.support] if result.kind in SUPPORTED else shown
    return GraphView(
        title=title or "KG-Scout",
        question=result.question,
        topics=result.topics,
        answers=marked,
        triplets=result.scored,
        paths=paths,
        answer_lines=[
            AnswerLine(
                answer.name,
                answer.probability,
                path_line(answer.path, answer.name),
                _path_sources(result, answer),
            )
            for answer in lines
        ],
        answer_note=_answer_note(result),
        empty_note=result.empty_note,
        sources=[result.source_text(rank) for rank in range(len(result))]
        if result.provenance or result.sources
        else [],
    )


def _answer_note(result: RetrievalResult) -> str:
    """The line above the answers where they are none, or no more than guesses."""
    read = f"Read as: {result.read_as} " if result.read_as else ""
    return (read + _abstention_line(result)).strip()


def _abstention_line(result: RetrievalResult) -> str:
    if result.nearest:
        return NEAREST
    if not result.abstained:
        return ""
    if result.abstention_note:
        return f"Not sure. {result.abstention_note}"
    shown = result.answers or result.best_guesses
    return "Not sure; best guesses:" if shown else "Not sure: nothing found."


def _path_sources(result: RetrievalResult, answer: Answer) -> str:
    """Where the triplets of an answer's path stand; "" if unknown."""
    if not result.provenance and not result.sources:
        return ""
    texts = [result.source_text(result.triplets.index(each)) for each in answer.path]
    return "; ".join(dict.fromkeys(filter(None, texts)))
