"""Topics of a question: entities that the caller names, or that are linked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.graph.link.absent_names import absent_names
from kgscout_jax.graph.link.elliptic_names import with_elliptic_names
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.text.exceptions import exception_start, has_exception
from kgscout_jax.text.words import name_span
from kgscout_jax.types import display_name

if TYPE_CHECKING:
    from kgscout_jax.stores.protocol import NodeMatch

Topics = str | Sequence[str] | None
"""Names of entities; None: topics are linked."""


@dataclass(frozen=True)
class SearchStart:
    """The topics at which the search for one question starts."""

    ids: Int32[np.ndarray, "t"]
    links: tuple[Link, ...]
    unknown: tuple[str, ...]
    """Names of topics that are not in the graph."""
    excluded: tuple[int, ...] = ()
    """Entities beside which the question asks for others: no topics, no answers."""
    walked: str = ""
    """The question without those; "" where it has none."""
    absent: tuple[str, ...] = ()
    """Names in the question that the graph does not hold."""

    def spans(self, text: str, graph: KnowledgeGraph) -> list[tuple[int, int, int]]:
        """(start, stop, entity) of each topic that the question names."""
        if self.links:
            return [(link.start, link.stop, link.entity) for link in self.links]
        names = [display_name(graph.entities[int(i)]) for i in self.ids]
        return [
            (*place, entity)
            for name, entity in zip(names, self.ids.tolist(), strict=True)
            if (place := name_span(text, name))
        ]

    def names(self, text: str, graph: KnowledgeGraph) -> list[str]:
        """Names of the topics, and what the question calls them."""
        names = [display_name(graph.entities[int(i)]) for i in self.ids]
        named = [text[link.start : link.stop] for link in self.links]
        return [*dict.fromkeys([*names, *named])]


def topic_names(topics: str | Iterable[str]) -> list[str]:
    """The topics that a caller names, as a list.

    Raises:
        UserError: they are not text.
    """
    if isinstance(topics, str):
        return [topics]
    names: list[str] = []
    for name in topics if isinstance(topics, Iterable) else [topics]:
        if not isinstance(name, str):
            raise UserError(f"topics: found {name!r}, expected names of entities")
        names.append(name)
    return names


NOWHERE = SearchStart(np.empty(0, np.int32), (), ())
"""No topic at all."""


def search_start(
    question: str,
    graph: KnowledgeGraph,
    topics: Topics,
    link: Callable[[str, KnowledgeGraph], list[Link]],
) -> SearchStart:
    """The topics of a question.

    Args:
        question: in natural language.
        graph: where the topics are.
        topics: names of entities; None: topics are linked.
        link: links the words of a question to entities.

    Raises:
        UserError: ``topics`` are not text.
    """
    if topics is None:
        links = tuple(link(question, graph))
        links = with_elliptic_names(question, links, graph)
        ids = np.array([link.entity for link in links], np.int32)
        absent = absent_names(question, links, graph)
        start = SearchStart(ids, links, (), absent=absent)
        return _without_exceptions(question, graph, start)
    names = topic_names(topics)
    unknown = [name for name in names if graph.find(name) is None]
    ids = graph.find_all(names) if len(graph.entities) else np.empty(0, np.int32)
    start = SearchStart(ids, (), tuple(dict.fromkeys(unknown)))
    return _without_exceptions(question, graph, start)


def _without_exceptions(
    question: str, graph: KnowledgeGraph, start: SearchStart
) -> SearchStart:
    """The start without what "besides" and "other than" stand before.

    The same where nothing else is named.
    """
    if len(start.ids) < 2 or not has_exception(question):
        return start
    out, walked = set[int](), question
    for at, stop, entity in sorted(start.spans(question, graph), reverse=True):
        begin = exception_start(question[:at])
        if begin is not None:
            out.add(entity)
            walked = f"{walked[:begin]}{walked[stop:].lstrip(', ')}"
    if not out or out >= {*start.ids.tolist()}:
        return start
    return replace(
        start,
        ids=start.ids[~np.isin(start.ids, [*out])],
        links=tuple(link for link in start.links if link.entity not in out),
        excluded=tuple(sorted(out)),
        walked=walked,
    )


def check_topics(graph: GraphOrStore, topics: Sequence[str]) -> None:
    """Raise UserError, with similar names, if a topic is not in the graph."""
    for name in topics:
        near: Sequence[Link | NodeMatch] = ()
        if not isinstance(graph, KnowledgeGraph):
            if graph.relations([name]):
                continue
            near = graph.nodes_by_text(name, 3)
        elif graph.find(name) is not None:
            continue
        elif len(graph.entities):
            near = linker_of(graph).ranking(name, 3)
        names = ", ".join(repr(each.name[:80]) for each in near)
        raise UserError(
            f"--topic: no entity of the graph is called {name[:80]!r}; "
            + (f"similar: {names}" if names else "none is similar")
        )
