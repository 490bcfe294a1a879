"""Retrieval results as JSON values: objects for people, records for files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kgscout_jax.types import ROLES, Answer, Retrieved

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link
    from kgscout_jax.inference.result import RetrievalResult


def triplet_object(triplet: Sequence[str]) -> dict[str, Any]:
    """A triplet as a JSON object."""
    return dict(zip(ROLES, triplet, strict=True))


def answer_object(answer: Answer) -> dict[str, Any]:
    """An answer as a JSON object with the triplets of its path as objects."""
    return {
        "name": answer.name,
        "probability": round(answer.probability, 4),
        "path": [triplet_object(triplet) for triplet in answer.path],
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as JSON fields, with the triplets of its path as lists."""
    return {
        "name": answer.name,
        "probability": round(answer.probability, 4),
        "path": [list(triplet) for triplet in answer.path],
    }


def link_object(link: Link) -> dict[str, Any]:
    """A link of a topic to words of the question as a JSON object."""
    return {
        "name": link.name,
        "how": link.how,
        "score": round(link.score, 4),
        "start": link.start,
        "stop": link.stop,
    }


def result_object(result: RetrievalResult) -> dict[str, Any]:
    """``RetrievalResult.to_dict``."""
    record: dict[str, Any] = {
        "question": result.question,
        "status": result.status,
        "kind": result.kind,
        "topics": list(result.topics),
        "answers": _answer_objects(result, result.answers),
        "triplets": [
            {
                **triplet_object(triplet),
                "score": round(score, 4),
                **result.source_object(rank),
            }
            for rank, (*triplet, score) in enumerate(result.scored)
        ],
    }
    if result.abstained:
        record["best_guesses"] = _answer_objects(result, result.best_guesses)
    if result.support:
        record["support"] = _answer_objects(result, result.support)
    if result.negation:
        record["negation"] = result.negation
    if result.read_as:
        record["read_as"] = result.read_as
    if result.nearest:
        record["nearest"] = True
    if result.topics_not_found:
        record["topics_not_found"] = list(result.topics_not_found)
    if result.selection:
        record["selection"] = dict(result.selection)
    return record


def _answer_objects(
    result: RetrievalResult, answers: Sequence[Answer]
) -> list[dict[str, Any]]:
    """Answers as JSON objects; the triplets of paths name their graphs."""
    graphs = dict(zip(result.triplets, result.sources, strict=False))
    objects = list(map(answer_object, answers))
    for answer, each in zip(answers, objects, strict=True):
        for triplet, step in zip(answer.path, each["path"], strict=True):
            if triplet in graphs:
                step["sources"] = list(graphs[triplet])
    return objects


def answer_record(result: RetrievalResult) -> dict[str, Any]:
    """The answers from the graph as JSON fields; {} without an answer head.

    ``graph_answers`` and ``best_guesses`` hold name, probability and path, as triplets;
    ``kind``, ``support`` and ``abstained`` as the fields of ``RetrievalResult``.
    """
    if not result.answers and not result.abstained:
        return {}
    record: dict[str, Any] = {
        "kind": result.kind,
        "abstained": result.abstained,
        "graph_answers": list(map(answer_json, result.answers)),
    }
    if result.abstained:
        record["best_guesses"] = list(map(answer_json, result.best_guesses))
    if result.support:
        record["support"] = list(map(answer_json, result.support))
    return record


def retrieved_record(result: RetrievalResult, id: str) -> Retrieved:
    """``RetrievalResult.to_record``."""
    extra: dict[str, Any] = {
        "topics": list(result.topics),
        "linked": list(map(link_object, result.links)),
    }
    if result.topics_not_found:
        extra["topics_not_found"] = list(result.topics_not_found)
    if result.sources:
        extra["sources"] = [list(names) for names in result.sources]
    if result.provenance:
        extra["provenance"] = [
            [source.to_json() for source in each] for each in result.provenance
        ]
    if result.negation:
        extra["negation"] = result.negation
    if result.read_as:
        extra["read_as"] = result.read_as
    if result.nearest:
        extra["nearest"] = True
    extra |= {**result.selection, **answer_record(result)}
    return Retrieved(
        id=id,
        question=result.question,
        retriever="kgscout",
        triplets=result.scored,
        seconds=result.seconds,
        extra=extra,
    )
