"""Entities that a question calls by a code: "who teaches CS210".

The code is an entity of the graph as well, in one triplet, and all that is known stands
at its owner. Where a question asks for the owner, "which course is CS210", or says what
the code is, "the course with the code CS210", the code stays the topic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.text.question_clause import BE
from kgscout_jax.text.relation_words import CODE_NOUNS, relation_words
from kgscout_jax.text.words import FUNCTION_WORDS, WORD
from kgscout_jax.types import display_name

_CODES = CODE_NOUNS | frozenset("id identifier number sku isbn".split())
"""Words of relations to codes."""
_CODE = re.compile(r"[A-Z]{1,6}[-_ ]?\d[\dA-Z-]*")


def with_code_owners(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> list[Link]:
    """The links, to the owners of codes where the question asks about these."""
    return [_owner_link(question, link, graph) or link for link in links]


def _owner_link(question: str, link: Link, graph: KnowledgeGraph) -> Link | None:
    entity = np.array([link.entity])
    _, ids = graph.by_tail.rows(entity)
    if len(ids) != 1 or graph.by_head.degrees(entity).any():
        return None
    owner, relation, _ = graph.triplets[ids[0]].tolist()
    said = relation_words(graph.relation_names[relation])
    if _CODES.isdisjoint(said) and not _CODE.fullmatch(link.name):
        return None
    before = WORD.findall(question[: link.start].casefold())
    words = {*before, *WORD.findall(question[link.stop :].casefold())}
    # "What course is CS210", "what is CS210"
    is_asked = not question[link.stop :].strip(" ?.") and before[:1] != ["how"]
    is_asked = is_asked and not BE.isdisjoint(before[-1:])
    if is_asked or not words.isdisjoint(_CODES | {*said} - FUNCTION_WORDS):
        return None
    return replace(link, entity=owner, name=display_name(str(graph.entities[owner])))
