"""Interning, canonical order, chunks, changes and adjacency of the knowledge graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.builder import GraphBuilder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import display_name, entity_key

NAMES = st.sampled_from(["A", "a", " A ", "B", "b  c", "B\tC", "Ä", "ä", "D"])
RELATIONS = st.sampled_from(["r", "R", "r  s", "r s", "t"])
TRIPLETS = st.lists(st.tuples(NAMES, RELATIONS, NAMES), max_size=25)


def triplets_of(graph: KnowledgeGraph) -> list[tuple[str, str, str]]:
    return [graph.triplet(i) for i in range(len(graph.triplets))]


def test_entities_ignore_case_and_relations_do_not():
    graph = KnowledgeGraph.from_triplets(
        [("New  York", "in", "USA"), ("new york", "In", "Usa "), ("USA", "in", "usa")]
    )
    assert list(graph.entities) == ["New York", "USA"]  # the first spelling stays
    assert list(graph.relations) == ["in", "In"]  # relations keep their case
    assert graph.triplets.tolist() == [[0, 0, 1], [0, 1, 1], [1, 0, 1]]
    assert graph.duplicates == 0


def test_duplicates_are_dropped_parallel_edges_and_self_loops_stay():
    loop, first, parallel, reverse = (
        tuple(t.split()) for t in ("a r a", "a r b", "a s b", "b r a")
    )
    graph = KnowledgeGraph.from_triplets(
        [first, ("A", "r", " B"), parallel, reverse, loop, first]
    )
    assert graph.duplicates == 2
    assert triplets_of(graph) == [loop, first, parallel, reverse]


def test_find_matches_any_spelling_of_a_name():
    graph = KnowledgeGraph.from_triplets([("Zürich", "in", "Switzerland")])
    assert graph.find("  ZÜRICH ") == 0
    assert graph.find("Bern") is None
    names = ["switzerland", "Bern", "SWITZERLAND", "zürich"]
    assert graph.find_all(names).tolist() == [1, 0]
    assert graph.find_all([]).dtype == np.int32


@pytest.mark.parametrize(
    ("triplet", "what"),
    [
        (("", "r", "b"), "an entity is empty"),
        (("a", "r", " \n"), "an entity is empty"),
        (("a", " ", "b"), "the relation is empty"),
    ],
)
def test_empty_names_are_refused(triplet, what):
    with pytest.raises(UserError, match=what):
        KnowledgeGraph.from_triplets([triplet])


def test_an_empty_graph_is_valid():
    for chunks in ([], [[]]):
        builder = GraphBuilder()
        for chunk in chunks:
            builder.add(chunk)
        graph, ids = builder.build()
        assert graph.triplets.shape == (0, 3)
        assert [own.tolist() for own in ids] == chunks
        assert graph.by_head.rows(np.empty(0, np.int32))[1].tolist() == []


def identity(triplet):
    head, relation, tail = triplet
    return entity_key(head), display_name(relation), entity_key(tail)


@given(st.lists(TRIPLETS, max_size=4))
def test_chunk_ids_equal_set_operations(pieces):
    builder = GraphBuilder()
    assert [builder.add(piece) for piece in pieces] == list(range(len(pieces)))
    graph, ids = builder.build()
    rows = [tuple(row) for row in graph.triplets.tolist()]
    assert rows == sorted(set(rows))
    named = list(map(identity, triplets_of(graph)))
    assert set(named) == {identity(t) for piece in pieces for t in piece}
    assert len(set(named)) == len(named)
    for piece, own in zip(pieces, ids, strict=True):
        assert own.tolist() == sorted(set(own.tolist()))
        assert {named[i] for i in own} == set(map(identity, piece))
    # A repeat within a piece is one, the same triplet in two pieces is none.
    repeats = sum(len(piece) - len(set(map(identity, piece))) for piece in pieces)
    assert graph.duplicates == repeats
    keys = [entity_key(name) for name in graph.entities]
    firsts = dict.fromkeys(
        entity_key(name) for piece in pieces for h, _, t in piece for name in (h, t)
    )
    assert keys == list(firsts)
    assert all(graph.find(name) == i for i, name in enumerate(graph.entities))


@given(TRIPLETS, st.lists(st.integers(0, 8), max_size=6))
def test_adjacency_equals_a_loop_over_triplets(triplets, wanted):
    graph = KnowledgeGraph.from_triplets(triplets)
    nodes = [i % len(graph.entities) for i in wanted] if len(graph.entities) else []
    for side, column in ((graph.by_head, 0), (graph.by_tail, 2)):
        expected = [
            i
            for node in nodes
            for i in np.flatnonzero(graph.triplets[:, column] == node)
        ]
        assert side.rows(np.array(nodes, np.int32))[1].tolist() == expected
        assert len(side.offsets) == len(graph.entities) + 1


@given(TRIPLETS, TRIPLETS, TRIPLETS)
def test_ids_stay_when_triplets_are_added_or_removed(first, added, removed):
    graph = KnowledgeGraph.from_triplets(first)
    other = graph.without_triplets(removed).with_triplets(added)
    old, new, gone = (set(map(identity, t)) for t in (first, added, removed))
    assert set(map(identity, triplets_of(other))) == (old - gone) | new
    assert list(other.entities)[: len(graph.entities)] == list(graph.entities)
    assert list(other.relations)[: len(graph.relations)] == list(graph.relations)
    rows = list(map(tuple, other.triplets.tolist()))
    assert rows == sorted(set(rows))


def test_networkx_edges_become_triplets():
    multi = nx.MultiDiGraph()
    multi.add_edge("Ann", "Bob", key="knows")
    multi.add_edge("Ann", "Bob", relation="likes")
    graph = KnowledgeGraph.from_networkx(multi)
    assert set(triplets_of(graph)) == {("Ann", "knows", "Bob"), ("Ann", "likes", "Bob")}
    plain = nx.Graph()
    plain.add_edge(1, 2, label="next")
    graph = KnowledgeGraph.from_networkx(plain, relation="label")
    assert graph.triplet(0) == ("1", "next", "2")
    with pytest.raises(UserError, match=r"edge 1 to 2: .*'relation', found 'label'"):
        KnowledgeGraph.from_networkx(plain)
