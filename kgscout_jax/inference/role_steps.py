"""Questions about the one who has a post: "the salary of the Chief Financial Officer".

The first step asks who that is, and the name takes the place of the post in the second.
"""

from __future__ import annotations

import re

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.text.nested_question import NestedQuestion
from kgscout_jax.text.relation_words import leads_to_class, leads_to_role
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

_THE = re.compile(r"\bthe $", re.I)
_WHO = re.compile(r"(?:who|what) (?:is|was|are|were)(?: the)? ?", re.I)
"""A question for the one who has the post."""


def has_roles(graph: KnowledgeGraph) -> bool:
    """Whether a relation of the graph leads to what people work as."""
    return any(map(leads_to_role, graph.relation_names))


def role_steps(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> NestedQuestion | None:
    """The two steps; None for other questions, and where not one has the post.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    spans = start.spans(text, graph)
    if len({(begin, end) for begin, end, _ in spans}) != 1:
        return None
    begin, end, _ = spans[0]
    before, after = text[:begin], text[end:]
    short = _THE.sub("", before)
    rest = _WHO.sub("", f"{short} {after}")
    if short == before or FUNCTION_WORDS.issuperset(WORD.findall(rest.casefold())):
        return None
    if len(_holders(graph, [entity for *_, entity in spans])) != 1:
        return None
    return NestedQuestion(f"Who is the {text[begin:end]}?", short, after)


def _holders(graph: KnowledgeGraph, posts: list[int]) -> set[int]:
    """Who has one of these posts; none where they are anything else as well."""
    entities = np.array(posts)
    _, out = graph.by_head.rows(entities)
    _, into = graph.by_tail.rows(entities)
    own, others = np.asarray(graph.triplets[out]), np.asarray(graph.triplets[into])
    names = graph.relation_names
    if not all(leads_to_class(names[r]) for r in np.unique(own[:, 1]).tolist()):
        return set()
    if not all(leads_to_role(names[r]) for r in np.unique(others[:, 1]).tolist()):
        return set()
    return {*others[:, 0].tolist()}
