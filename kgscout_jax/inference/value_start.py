"""Where the search for a question that compares values starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.day_topics import without_days_of_years
from kgscout_jax.inference.topics import NOWHERE, SearchStart
from kgscout_jax.inference.whole_graph import (
    compared_entities,
    question_about_one,
    walked_text,
    whole_graph_choice,
    whole_graph_comparison,
)
from kgscout_jax.text.value_question import ValueQuestion


class ValueStart(NamedTuple):
    """Where the search for a question that compares values starts."""

    start: SearchStart
    walked: str
    """The question that a walk answers."""
    compared: ValueQuestion | None
    """What it wants of values; None where they have chosen its topic."""


def value_start(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> ValueStart | None:
    """Where a question starts that compares values; None for any other question."""
    asked = compared_entities(text, graph, start)
    if asked is None:
        return None
    bare = without_class_topics(text, graph, start)
    if bare is not start:
        without = compared_entities(text, graph, bare)
        found = without and _start_of(text, graph, bare, without)
        # From no topic only values can answer it.
        if found is None or len(bare.ids) or found.start is not bare:
            return found
    return _start_of(text, graph, start, asked)


def _start_of(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> ValueStart:
    found = whole_graph_comparison(text, graph, start, asked)
    if found and (about := question_about_one(text, graph, found)):
        walked, winner = about
        return ValueStart(
            SearchStart(np.array([winner], np.int32), (), (), walked=walked),
            walked,
            None,
        )
    if found and (chosen := whole_graph_choice(found)):
        return ValueStart(NOWHERE, text, chosen)
    start = without_days_of_years(text, graph, start)
    walked = text if asked.choice else walked_text(text, graph, start, asked)
    return ValueStart(start, walked, asked)
