"""What is known of the sources of shards by their names."""

from __future__ import annotations

OWN_SUBGRAPHS = ("rog", "nsm")
"""Sources with a subgraph per question: its size is no default of a graph's."""
