"""The graphs of a service, by their names in requests."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.graph.name_search import names_with
from kgscout_jax.graph.open_graph import NAMED, open_graph
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.types import display_name, replace_surrogates

SUFFIXES = re.compile(
    r"(\.(tsv|txt|csv|nt|ttl|nq|trig|parquet|graphml|gexf|jsonl|json|gz|bz2|xz|zst))+$",
    re.I,
)


class UnknownGraph(LookupError):
    """A request names a graph that is not loaded."""


class Graphs:
    """Graphs by name. A name is a key only: no path is opened.

    ``replace`` swaps a graph atomically; a request uses one graph throughout.
    """

    def __init__(self, graphs: Mapping[str, KnowledgeGraph]):
        """Take the graphs; the first one is the default."""
        if not graphs:
            raise UserError("--kg: expected at least one graph, found none")
        self._graphs = dict(graphs)
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """All names, the default first."""
        return list(self._graphs)

    def get(self, name: str | None = None) -> tuple[str, KnowledgeGraph]:
        """(name, graph) by name, or of the default.

        Raises:
            UnknownGraph: there is no such name.
        """
        graphs = self._graphs  # one read: ``replace`` may swap it
        if name is None:
            name = next(iter(graphs))
        if name not in graphs:
            raise UnknownGraph(
                f"graph: {name[:80]!r} is not loaded, expected one of "
                f"{', '.join(graphs)}"
            )
        return name, graphs[name]

    def items(self) -> list[tuple[str, KnowledgeGraph]]:
        """All (name, graph) pairs, as a consistent snapshot."""
        return list(self._graphs.items())

    def replace(self, name: str, graph: KnowledgeGraph) -> None:
        """Serve ``graph`` as ``name`` from now on; the name may be new."""
        with self._lock:
            self._graphs = {**self._graphs, name: graph}


def entity_matches(
    graph: KnowledgeGraph, text: str, limit: int
) -> list[dict[str, Any]]:
    """The entities that ``text`` may name: name, score and how.

    First those that the whole text names, then names that begin with it or contain it,
    then what the linker finds of its words.
    """
    if not len(graph.entities) or not text.strip():
        return []
    text = display_name(replace_surrogates(text))
    links = linker_of(graph).ranking(text, limit)
    whole = [
        link.how != "fuzzy" and (link.start, link.stop) == (0, len(text))
        for link in links
    ]
    rows = [(link.entity, link.name, link.score, link.how) for link in links]
    named = [row for row, first in zip(rows, whole, strict=True) if first]
    others = [row for row, first in zip(rows, whole, strict=True) if not first]
    containing = [
        (match.entity, match.name, match.share, match.how)
        for match in names_with(graph, text, limit)
    ]
    found: dict[int, dict[str, Any]] = {}
    for entity, name, score, how in (*named, *containing, *others):
        row = {"name": name, "score": round(float(score), 4), "how": how}
        found.setdefault(entity, row)
    return list(found.values())[:limit]


def named_paths(kg: Sequence[Sequence[str]]) -> dict[str, list[Path]]:
    """The paths of each graph by its name, from the values of ``--kg``.

    Raises:
        UserError: no graph, an empty one, or two graphs of one name.
    """
    graphs: dict[str, list[Path]] = {}
    for words in kg:
        if not words:
            raise UserError(
                "--kg: expected triplet files or a GRAPH folder, found nothing"
            )
        first, *rest = words
        match = None if Path(first).exists() else NAMED.fullmatch(first)
        name, first = match.groups() if match else (None, first)
        paths = [Path(path) for path in (first, *rest)]
        name = name or SUFFIXES.sub("", paths[0].resolve().name) or "graph"
        if name in graphs:
            raise UserError(
                f"--kg: two graphs are called {name!r}; give one another name: "
                f"--kg NAME={paths[0]}"
            )
        graphs[name] = paths
    if not graphs:
        raise UserError("--kg: expected at least one graph, found none")
    return graphs


def open_graphs(
    kg: Sequence[Sequence[str]], options: ReadOptions | None = None
) -> dict[str, KnowledgeGraph]:
    """The graphs that ``--kg`` names; raises UserError as ``open_graph`` does."""
    return {
        name: open_graph(paths, options=options)
        for name, paths in named_paths(kg).items()
    }
