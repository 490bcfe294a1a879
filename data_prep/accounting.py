"""Survival: questions with an answer, and answers, after each cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kgscout_jax.data.shards import Split

STAGES = ("in graph", "in ball", "after cut", "in top N")


def survival(split: Split) -> dict[str, dict[str, Any]]:
    """Group ("all", then by hop) -> counts per stage.

    ``questions``: their number; ``topics``: questions with a topic in their subgraph;
    ``with_answer``: per stage, questions with at least one remaining gold answer;
    ``answers``: per stage, remaining gold answers of all questions.
    """
    counts = np.stack(
        [
            [len(q.answers_in_graph) for q in split.questions],
            [q.answers_in_ball for q in split.questions],
            [len(q.answers_in_subgraph) for q in split.questions],
            _answers_among_candidates(split),
        ],
        axis=1,
    ).reshape(len(split), len(STAGES))
    linked = np.any(split.topics >= 0, axis=1)
    hops = [q.hop for q in split.questions]
    groups: dict[str, np.ndarray] = {"all": np.ones(len(split), bool)}
    for hop in sorted({h for h in hops if h is not None}):
        groups[str(hop)] = np.fromiter((h == hop for h in hops), bool)
    if None in hops and len(groups) > 1:
        groups["unknown"] = np.fromiter((h is None for h in hops), bool)
    return {
        name: {
            "questions": int(rows.sum()),
            "topics": int(linked[rows].sum()),
            "with_answer": _by_stage((counts[rows] > 0).sum(axis=0)),
            "answers": _by_stage(counts[rows].sum(axis=0)),
        }
        for name, rows in groups.items()
    }


def _by_stage(values: Iterable[int]) -> dict[str, int]:
    return {stage: int(v) for stage, v in zip(STAGES, values, strict=True)}


def _answers_among_candidates(split: Split) -> np.ndarray:
    """Per question, the number of answers at the head or tail of a candidate."""
    b = len(split)
    width = int(split.n_nodes.max(initial=0)) + 1
    is_end = np.zeros(b * width, bool)
    row = np.arange(b)[:, None]
    real = split.candidates >= 0
    for end in (0, 1):
        is_end[(row * width + split.nodes[:, :, end])[real]] = True
    is_answer = split.answers >= 0
    survives = is_end[row * width + np.maximum(split.answers, 0)] & is_answer
    return survives.sum(axis=1)
