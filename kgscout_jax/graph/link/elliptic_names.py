"""Names that share their beginning in a question: "the Nobel Prizes in Physics and
Chemistry" are two of them, though the second one is called Chemistry there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kgscout_jax.graph.link.links import Link

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

_HEAD = re.compile(r"(.+[ _](in|of|for|at|on)[ _])(\S.*)")
"""A name up to its preposition, and the rest."""
_BEHIND = re.compile(r"\s+(in|of|for|at|on) (?:both )?(?:the )?")
_JOINT = re.compile(r",? (?:and|or|as well as) |, ")
_WORDS = re.compile(r"(?:(?:in|of|for|at|on) )?(?:the )?(\w+(?: \w+){0,3})")


def with_elliptic_names(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> tuple[Link, ...]:
    """The links, with those of names whose beginning stands before another one.

    Args:
        question: the question.
        links: the entities that were found in it.
        graph: the graph.
    """
    out = list[Link]()
    for link in links:
        found = _joined(question, link, graph)
        several = len({each.entity for each in found}) > 1
        out += found if several else [link]
    return tuple({link.entity: link for link in reversed(out)}.values())[::-1]


def _joined(question: str, link: Link, graph: KnowledgeGraph) -> list[Link]:
    """The links of a list of names that begins with a linked one; [] without a list."""
    head = _HEAD.fullmatch(link.name)
    if head is None:
        return []
    said = question[link.start : link.stop]
    behind = _BEHIND.match(question, link.stop)
    if behind is not None and behind[1] == head[2]:
        out, start = [], behind.end()
    elif f" {head[2]} " in said or said.casefold() == head[3].casefold():
        joint = _JOINT.match(question, link.stop)
        out, start = [link], joint.end() if joint else len(question)
    else:
        return []
    while words := _WORDS.match(question, start):
        found = _longest(head[1], words[1], graph)
        if found is None:
            break
        entity, name, length = found
        place = words.start(1)
        # What stands before the first one belongs to its name.
        first = place if out else link.start
        out.append(
            replace(link, entity=entity, name=name, start=first, stop=place + length)
        )
        joint = _JOINT.match(question, place + length)
        if joint is None:
            break
        start = joint.end()
    return out


def _longest(
    head: str, rest: str, graph: KnowledgeGraph
) -> tuple[int, str, int] | None:
    """The entity of the longest name of a beginning and some of the words behind it.

    With its name, and the characters of these words; None without one.
    """
    words = rest.split()
    for count in range(len(words), 0, -1):
        said = " ".join(words[:count])
        name = head + (said.replace(" ", "_") if "_" in head else said)
        if (entity := graph.find(name)) is not None:
            return entity, name, len(said)
    return None
