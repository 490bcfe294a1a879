"""Names with lone surrogates, which JSON allows and UTF-8 does not."""

from __future__ import annotations

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


def test_a_table_of_pandas_holds_them():
    graph = KnowledgeGraph.from_triplets([("a\ud800", "r", "b")])
    table = graph.to_pandas()
    assert list(table["head"]) == ["a\ud800"]
    assert KnowledgeGraph.from_pandas(table).triplet(0) == graph.triplet(0)
