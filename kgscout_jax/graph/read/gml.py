"""Graphs in GML, as networkx, igraph, Gephi and yEd write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.streams import one_line, open_text

SUFFIX = ".gml"
_KEY = "key"
"""The number of one of several edges between two nodes."""


def gml_elements(path: Path) -> Iterator[Node | Edge]:
    """The nodes and edges of a file; what is nested says how they are drawn.

    Raises:
        UserError: (on iteration) the file is missing or malformed.
    """
    import networkx as nx

    with open_text(path) as handle:
        try:
            graph = nx.parse_gml(handle.read().splitlines(), label="id")
        except nx.NetworkXError as error:
            raise UserError(f"{path}: no readable GML: {one_line(error)}") from None
    for number, (node, fields) in enumerate(graph.nodes(data=True), start=1):
        yield Node(number, str(node), _attributes(fields))
    for number, (head, tail, fields) in enumerate(graph.edges(data=True), start=1):
        yield Edge(number, str(head), str(tail), _attributes(fields), (_KEY,))


def _attributes(fields: dict[str, Any]) -> Attributes:
    """Names and values; a list gives several."""
    return [
        (name, str(each))
        for name, values in fields.items()
        for each in (values if isinstance(values, list) else [values])
        if not isinstance(each, dict)
    ]
