"""Graphs in the two roles of linking, with their names and relations as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int32, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.normalise import comparison_form
from kgscout_jax.types import entity_key

_GLOBAL_ID = re.compile(r"[mg]\.[0-9][0-9a-z_]*|[Qq][1-9][0-9]*")
_BRACKET = re.compile(r"(?<=\S) \([^()]*\)$")
_ARTICLE = re.compile(r"(?:the|a|an) (?=\S)")


@dataclass(frozen=True, eq=False, kw_only=True)
class NamedGraph:
    """What linking needs of a graph."""

    names: Sequence[str]
    ids: Sequence[str]
    """See ``KnowledgeGraph.ids``."""
    unnamed_mask: Bool[np.ndarray, "e"]
    triplets: Int32[np.ndarray, "m 3"]

    @staticmethod
    def of(graph: KnowledgeGraph) -> NamedGraph:
        """The names and triplets of a graph."""
        return NamedGraph(
            names=list(graph.entities),
            ids=list(graph.ids),
            unnamed_mask=np.asarray(graph.unnamed_mask),
            triplets=np.asarray(graph.triplets),
        )


@dataclass(frozen=True, eq=False)
class Side:
    """A graph in one of the two roles."""

    graph: NamedGraph
    exact: Int64[np.ndarray, "e"]
    """Number of each entity's name; -1 for an unnamed one."""
    near: Int64[np.ndarray, "e"]
    """Number of each entity's name without accents, articles and brackets."""
    ids: Int64[np.ndarray, "e"]
    """Number of each entity's Q-id or mid, or -1."""
    roles: Int64[np.ndarray, "r"]
    """Number of the meaning of each relation."""


def near_key(name: str) -> str:
    """What nearly equal names share; the name itself where it has no letters.

    >>> near_key("The Côte d'Ivoire (country)")
    'cote divoire'
    """
    form = comparison_form(_BRACKET.sub("", name))
    form = _ARTICLE.sub("", form)
    return form if any(map(str.isalpha, form)) else entity_key(name)


def sides_of(
    base: NamedGraph, graph: NamedGraph, roles: Sequence[Int64[np.ndarray, "r"]]
) -> list[Side]:
    """Both graphs; equal texts have equal numbers in them."""
    numbers: dict[tuple[str, str], int] = {}

    def numbered(kind: str, texts: Sequence[str | None]) -> Int64[np.ndarray, "e"]:
        found = [
            -1 if text is None else numbers.setdefault((kind, text), len(numbers))
            for text in texts
        ]
        return np.array(found, np.int64)

    sides = []
    for each, meaning in zip((base, graph), roles, strict=True):
        names = [
            None if unnamed else name
            for name, unnamed in zip(each.names, each.unnamed_mask, strict=True)
        ]
        sides.append(
            Side(
                graph=each,
                exact=numbered("name", [name and entity_key(name) for name in names]),
                near=numbered("near", [name and near_key(name) for name in names]),
                ids=numbered(
                    "id", [id if _GLOBAL_ID.fullmatch(id) else None for id in each.ids]
                ),
                roles=meaning,
            )
        )
    return sides
