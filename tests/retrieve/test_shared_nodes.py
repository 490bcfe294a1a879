"""Nodes that several topics have in common, against networkx."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from named_graph import named_graph

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.shared_nodes import (
    are_of_class,
    shared_nodes,
    ways_to_mentions,
)

V = 9
edges = st.lists(
    st.tuples(st.integers(0, V - 1), st.integers(0, V - 1)), min_size=1, max_size=14
)
groups = st.lists(
    st.lists(st.integers(0, V - 1), min_size=1, max_size=2), min_size=2, max_size=3
)


def shared(rows, mentions, unnamed=(), impossible=()):
    nodes = np.array(rows)
    around = LocalGraph(
        ["r"],
        np.zeros(len(nodes), int),
        nodes,
        [np.array(mention) for mention in mentions],
        lambda ids: [str(i) for i in ids],
    )
    masks = [np.isin(np.arange(V), sorted(each)) for each in (unnamed, impossible)]
    found = shared_nodes(around, masks[0], ~masks[1])
    return None if found is None else set(np.flatnonzero(found).tolist())


@given(edges, groups, st.sets(st.integers(0, V - 1)))
def test_distances_are_those_of_networkx(rows, mentions, impossible):
    graph = nx.Graph(rows)
    graph.add_nodes_from(range(V))

    def distances(starts):
        to = nx.multi_source_dijkstra_path_length(graph, set(starts))
        return [to.get(v, V) for v in range(V)]

    by_mention = np.array([distances(mention) for mention in mentions])
    topics = {node for mention in mentions for node in mention}
    others = {*range(V)} - topics
    common = {v for v in others if by_mention[:, v].max() == 1}
    beyond = {v for u in common for v in graph.neighbors(u)} - topics
    between = {
        v for v in others if by_mention[:, v].max() <= 2 and by_mention[:, v].min() == 1
    }
    allowed = others - impossible
    expected = next(
        (each & allowed for each in (common, beyond, between) if each & allowed), None
    )
    assert shared(rows, mentions, impossible=impossible) == expected


# 0 Mexico, 1 Porto; 2 and 3 play for Porto, 2 and 4 for Mexico, 5 is a position of 2.
PLAYERS = [(2, 0), (4, 0), (2, 1), (3, 1), (2, 5)]


def test_both_topics_lead_to_the_answer():
    assert shared(PLAYERS, [[0], [1]]) == {2}


def test_one_topic_is_not_enough():
    assert shared(PLAYERS, [[0]]) is None


def test_two_readings_of_a_name_are_one_topic():
    assert shared([*PLAYERS, (4, 6)], [[0], [1, 6]]) == {2, 4}


def test_what_the_common_node_leads_to_where_it_is_no_answer():
    assert shared(PLAYERS, [[0], [1]], impossible=[2]) == {5}


def test_a_record_without_a_name_is_no_step():
    # A character and a film meet in a record, which holds the actor.
    assert shared([(6, 0), (6, 1), (6, 7), (8, 0)], [[0], [1]], unnamed=[6]) == {7}


def test_all_of_a_class_that_one_relation_joins_with_a_topic():
    triplets = [
        ("moss", "type", "package"), ("fern", "type", "package"),
        ("moss", "licence", "MIT"), ("fern", "licence", "MIT"), ("oak", "by", "MIT"),
    ]  # fmt: skip
    around, names = named_graph(triplets, ["package", "MIT"])
    both = np.isin(names, ["moss", "fern"])
    assert are_of_class(both, around)
    assert not are_of_class(both | np.isin(names, ["oak"]), around)
    # Two relations, or no class, tell the nodes apart.
    around, names = named_graph([*triplets, ("fern", "by", "MIT")], ["package", "MIT"])
    assert not are_of_class(np.isin(names, ["moss", "fern"]), around)
    around, names = named_graph(triplets, ["MIT", "oak"])
    assert not are_of_class(np.isin(names, ["moss"]), around)


def test_nodes_of_the_same_relations_to_all_mentions_are_of_one_group():
    # 0 Pacino, 1 De Niro; films 2 and 3 star both, 4 stars one, both were born in 5.
    triplets = [
        (2, "starring", 0), (2, "starring", 1), (3, "starring", 0), (3, "starring", 1),
        (4, "starring", 0), (0, "born in", 5), (1, "born in", 5),
    ]  # fmt: skip
    relations = ["starring", "born in"]
    around = LocalGraph(
        relations,
        np.array([relations.index(name) for _, name, _ in triplets]),
        np.array([(head, tail) for head, _, tail in triplets]),
        [np.array([0]), np.array([1])],
        lambda ids: [str(i) for i in ids],
    )
    groups = ways_to_mentions(np.array([False, False, True, True, True, True]), around)
    assert groups is not None
    assert groups.tolist() == [-1, -1, 0, 0, -1, 1]
