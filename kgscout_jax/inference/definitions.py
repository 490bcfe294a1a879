"""Questions that ask what something is: "What is Click?", "Who was Ada Lovelace?".

No word of theirs speaks of a relation. Where the graph says what the topic is, the
relation that says so is read as a word of the question, so that it is compared with
relations as all words are.
"""

from __future__ import annotations

import re

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.text.linearize import relation_phrase

QUESTION = re.compile(
    r"\W*wh(?:at|(?P<who>o))(?:['’]s| is| are| was| were)\b", re.IGNORECASE
)
_INSIDE = re.compile(r"\s+(?:in|on|at|with|from|for|behind)\b", re.IGNORECASE)
_OF_PEOPLE = ("occupation", "profession", "job title", "job", "position", "role")
"""Phrases of relations that say who somebody is, before those below."""
RELATIONS = (
    "definition", "is a", "instance of", "type", "description", "abstract", "comment",
)  # fmt: skip
"""Phrases of relations that say what something is, the first that a topic has."""


def definition_word(
    question: str, graph: KnowledgeGraph, candidates: Candidates | None
) -> str | None:
    """The phrase of the relation that defines a topic; None if that is not asked.

    Args:
        question: the question; whether other words of it speak of relations is up to
            the caller.
        graph: that holds the candidates.
        candidates: of the question.
    """
    match = QUESTION.match(question)
    # "Who was in X" asks for its members.
    if candidates is None or match is None or _INSIDE.match(question, match.end()):
        return None
    of_topics = np.isin(candidates.nodes[:, 0], candidates.topics)
    used = candidates.relations[np.unique(candidates.relation_index[of_topics])]
    phrases = {relation_phrase(graph.relation_names[int(i)]) for i in used}
    order = _OF_PEOPLE + RELATIONS if match["who"] else RELATIONS
    return next((phrase for phrase in order if phrase in phrases), None)
