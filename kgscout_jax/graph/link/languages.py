"""Languages that share their name with what is from a country: "who speaks German".

"German firms" are from Germany, also where the graph has the language German; words
such as "speak" and "language" tell the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kgscout_jax.graph.link.links import Link

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

_SAYS = re.compile(
    r"\b(?:languages?|speaks?|speaking|speakers?|spoken|spoke|tongue|translat\w+"
    r"|bilingual|dubbed|subtitled|lyrics)\b",
    re.IGNORECASE,
)


def with_languages(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> list[Link]:
    """The links, to languages where the question speaks of one and the graph has it.

    Args:
        question: the question.
        links: of it.
        graph: the graph.
    """
    if _SAYS.search(question) is None:
        return [*links]
    return [_language(question, link, graph) or link for link in links]


def _language(question: str, link: Link, graph: KnowledgeGraph) -> Link | None:
    name = question[link.start : link.stop]
    entity = graph.find(name) if link.how == "alias" else None
    if entity is None or entity == link.entity:
        return None
    return replace(link, entity=entity, name=name, how="exact")
