"""Results as texts with metadata, which retrievers of all libraries return."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.result_json import answer_json

Form = Literal["triplets", "text", "paths"]
"""A text for each triplet; or one for all, a triplet or a path a line."""


def triplet_texts(result: RetrievalResult) -> list[tuple[str, dict[str, Any]]]:
    """(text, metadata) of each triplet, best first.

    Where the policy answers, ``answers`` are those whose path holds the triplet.
    """
    from kgscout_jax.reason.prompts import source_note, triplet_line

    texts = []
    graphs = result.sources or ((),) * len(result)
    pairs = zip(result.scored, graphs, strict=True)
    for rank, (each, sources) in enumerate(pairs, start=1):
        metadata: dict[str, Any] = {
            "head": each[0],
            "relation": each[1],
            "tail": each[2],
            "score": each[3],
            "rank": rank,
        }
        if sources:
            metadata["sources"] = list(sources)
        if result.answers:
            supported = [one for one in result.answers if each[:3] in one.path]
            metadata["answers"] = [answer_json(one) for one in supported]
        line = triplet_line(each) + source_note(", ".join(sources))
        texts.append((line.removeprefix("- "), metadata))
    return texts


def joint_text(
    result: RetrievalResult, form: Literal["text", "paths"]
) -> list[tuple[str, dict[str, Any]]]:
    """[(text, metadata)] of all triplets together; [] where there are none.

    Where the policy answers, ``answers`` are its answers.
    """
    if not len(result):
        return []
    text = result.as_text() if form == "text" else result.as_paths()
    metadata: dict[str, Any] = {
        "question": result.question,
        "topics": list(result.topics),
        "triplets": len(result),
    }
    if result.answers:
        metadata["answers"] = [answer_json(one) for one in result.answers]
    return [(text, metadata)]


def triplet_id(metadata: dict[str, Any]) -> str:
    """An id that depends on the triplet alone: the same one has the same id."""
    names = [metadata[key] for key in ("head", "relation", "tail")]
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:32]
