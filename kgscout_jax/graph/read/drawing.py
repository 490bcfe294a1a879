"""Properties that are no facts: how a node or an edge is drawn, or where it is from."""

from __future__ import annotations

from collections.abc import Iterable

from kgscout_jax.graph.read.header import DIRECTIONS, plain

_ALWAYS = frozenset(("fx", "fy", "vx", "vy", "viz", "graphics", "suid"))
"""Names that mean nothing but drawing (D3, Gephi, Cytoscape)."""
_OF_TEXTS = frozenset(
    "source_id source_ids file_path chunk_id text_unit_ids human_readable_id".split()
)
"""What says from which text a language model has an entity (GraphRAG, LightRAG)."""
_PLACES = frozenset(("x", "y", "z"))
_BESIDE_PLACES = frozenset(
    (
        *_PLACES,
        *("r", "g", "b", "a", "alpha", "opacity", "color", "colour", "fill", "stroke"),
        *("size", "shape", "width", "height", "radius", "font", "fixed", "selected"),
        *("locked", "visible", "pinned", "label_visible", "label_size", "index"),
    )
)
_OF_EDGES = _ALWAYS.union(
    _BESIDE_PLACES,
    _OF_TEXTS,
    "combined_degree truncate shared_name shared_interaction".split(),
    "weight value thickness id uuid key source sources provenance confidence".split(),
    "probability pmid pmids license url created_at updated_at timestamp".split(),
    "knowledge_source primary_knowledge_source original_knowledge_source".split(),
    "aggregator_knowledge_source supporting_data_source provided_by".split(),
    "knowledge_level agent_type".split(),
)
"""Of an edge: how it is drawn, its number, and who says so."""
_SOURCE = "infores:"
"""What begins the sources of graphs in Biolink's form."""
_NO_FACTS = DIRECTIONS.union(("edge", "relationship", "link"))
"""What is true of any edge."""


def drawing_names(properties: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Those of a node's properties that say how it is drawn, or where it is from.

    A color or a size may be a fact; it is drawing where the node has a place, x and y.
    Who provides it may be one; it is none where that is a source of Biolink.
    """
    pairs = [*properties]
    by_plain = {name: plain(name) for name, _ in pairs}
    placed = {"x", "y"} <= set(by_plain.values())
    drawn = _ALWAYS | _OF_TEXTS
    if placed:
        drawn |= _BESIDE_PLACES
    if not _OF_TEXTS.isdisjoint(by_plain.values()):
        drawn |= {"created_at", "frequency", "degree"}
    sources = frozenset(name for name, value in pairs if value.startswith(_SOURCE))
    return sources.union(name for name, known in by_plain.items() if known in drawn)


def is_of_edge_alone(name: str, value: str) -> bool:
    """Whether a property of an edge is no fact about its ends.

    It says how the edge is drawn, where it is from, or that it is one.

    >>> is_of_edge_alone("weight", "2"), is_of_edge_alone("since", "2019")
    (True, False)
    """
    return plain(name) in _OF_EDGES or value.lower() in _NO_FACTS
