"""Merged graphs: one entity per thing, one number per fact, the sources of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge import merge_graphs
from kgscout_jax.graph.merge.named_graph import near_key

FREEBASE = [
    ("Ann", "people.person.place_of_birth", "Peru"),
    ("Peru", "location.country.currency_used", "Sol"),
    ("Peru", "location.country.capital", "Lima"),
    ("Paris", "located in", "Texas"),
    ("Houston", "located in", "Texas"),
    ("Texas", "located in", "United States"),
]
WORLD = [
    ("peru", "capital", "Lima"),
    ("Peru", "official language", "Spanish"),
    ("Paris", "located in", "France"),
    ("Lyon", "located in", "France"),
]


def merged(**graphs: list[tuple[str, str, str]]) -> KnowledgeGraph:
    return merge_graphs({k: KnowledgeGraph.from_triplets(v) for k, v in graphs.items()})


def stated(graph: KnowledgeGraph) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """The sources of each triplet."""
    assert graph.members is not None
    sources = graph.members.sources(np.arange(len(graph)))
    return {graph.triplet(i): sources[i] for i in range(len(graph))}


def test_an_entity_of_both_graphs_is_one_and_its_triplets_name_their_graphs():
    found = stated(merged(freebase=FREEBASE, world=WORLD))
    assert found["Ann", "people.person.place_of_birth", "Peru"] == ("freebase",)
    assert found["Peru", "official language", "Spanish"] == ("world",)


def test_a_fact_of_two_schemas_has_one_number_and_both_sources():
    graph = merged(freebase=FREEBASE, world=WORLD)
    rows = [i for i in range(len(graph)) if "capital" in graph.triplet(i)[1]]
    assert graph.members is not None
    assert len(rows) == 2
    assert len(set(graph.members.facts[rows].tolist())) == 1
    assert graph.members.sources(np.array(rows)) == (("freebase", "world"),) * 2


def test_one_name_in_two_places_stays_two_entities():
    graph = merged(freebase=FREEBASE, world=WORLD)
    names = [graph.entities[i] for i in graph.find_every("Paris")]
    assert sorted(names) == ["Paris (freebase)", "Paris (world)"]
    assert len(graph.find_every("Peru")) == 1


def test_values_of_which_one_lies_within_the_other_do_not_conflict():
    county = [("Paris", "located in", "Lamar County"), ("Austin", "located in", "Tex")]
    county += [("Lamar County", "located in", "Texas")]
    assert len(merged(a=FREEBASE, b=county).find_every("Paris")) == 1


def test_names_that_are_nearly_the_same_need_a_shared_neighbour():
    one = [("Côte d'Ivoire", "capital", "Yamoussoukro"), ("Georgia", "state", "US")]
    two = [("Yamoussoukro", "capital of", "Cote d'Ivoire"), ("The Georgia", "is", "X")]
    graph = merged(one=one, two=two)
    assert len(graph.find_every("Cote d'Ivoire")) == 1
    assert graph.find("Georgia") != graph.find("The Georgia")


def test_a_place_of_birth_is_no_place_of_death_though_some_share_it():
    people = ["Ann", "Bob", "Cid", "Dan"]
    born = [(p, "place of birth", f"Town {i}") for i, p in enumerate(people)]
    died = [(p, "place of death", f"City {i}") for i, p in enumerate(people)]
    died[0] = ("Ann", "place of death", "Town 0")
    graph = merge_graphs(
        {
            "a": KnowledgeGraph.from_triplets(born),
            "b": KnowledgeGraph.from_triplets(died),
        }
    )
    assert len(graph.find_every("Ann")) == 1
    assert set(stated(graph).values()) == {("a",), ("b",)}


def test_a_mid_is_the_same_entity_everywhere_and_no_name():
    one = [("m.0abc", "holds", "Cup"), ("Ann", "record", "m.0abc")]
    two = [("m.0abc", "year", "1999")]
    graph = merged(one=one, two=two)
    assert len(graph.find_every("m.0abc")) == 1
    assert graph.unnamed_mask[graph.find("m.0abc")]


@pytest.mark.parametrize("graphs", [[], {}, ["world.tsv"]])
def test_no_graph_and_what_is_none_are_errors(graphs):
    with pytest.raises(UserError, match="graphs: expected"):
        merge_graphs(graphs)


def test_a_merged_graph_is_not_changed_in_place():
    with pytest.raises(UserError, match="2 merged ones"):
        merged(a=FREEBASE, b=WORLD).without_triplets([FREEBASE[0]])


def test_near_keys_of_names_without_letters_are_the_names():
    assert near_key("+376") != near_key("376")
    assert near_key("The Beatles") == near_key("beatles (band)")


names = st.sampled_from(["a", "B", "c", "d d", "e", "f", "m.01", "É"])
triplets = st.lists(
    st.tuples(names, st.sampled_from(["r", "x.s", "s"]), names), min_size=1, max_size=12
)


@given(triplets)
def test_a_graph_merged_with_itself_is_the_graph(rows):
    graph = KnowledgeGraph.from_triplets(rows)
    twice = merge_graphs([graph, graph])
    assert list(twice.entities) == list(graph.entities)
    assert list(twice.relations) == list(graph.relations)
    np.testing.assert_array_equal(twice.triplets, graph.triplets)
    assert twice.members is not None
    np.testing.assert_array_equal(twice.members.facts, np.arange(len(graph)))
    assert set(stated(twice).values()) == {("graph 1", "graph 2")}


@given(triplets, triplets, triplets)
def test_the_order_of_graphs_does_not_matter(x, y, z):
    lists = {"x": x, "y": y, "z": z}
    graphs = {k: KnowledgeGraph.from_triplets(v) for k, v in lists.items()}
    one = merge_graphs(graphs)
    other = merge_graphs({k: graphs[k] for k in "zxy"})
    assert stated(one) == stated(other)
    np.testing.assert_array_equal(one.triplets, other.triplets)


@given(triplets, triplets)
def test_provenance_is_exact(one, two):
    """Each member's triplets come back from the merged graph as they are."""
    graphs = [KnowledgeGraph.from_triplets(rows) for rows in (one, two)]
    merged = merge_graphs(graphs)
    assert merged.members is not None
    members = merged.members
    for graph, ids, rows in zip(
        members.graphs, members.entities, members.triplets.T, strict=True
    ):
        assert len(set(ids.tolist())) == len(graph.entities)
        assert sorted(rows[rows >= 0].tolist()) == list(range(len(graph)))
        for merged_row, row in enumerate(rows.tolist()):
            if row >= 0:
                head, _, tail = graph.triplets[row].tolist()
                expected = [ids[head], ids[tail]]
                assert merged.triplets[merged_row][[0, 2]].tolist() == expected
                relation = graph.triplet(row)[1]
                assert merged.triplet(merged_row)[1] == relation


def test_another_kind_of_thing_of_the_same_name_stays_another():
    """Certain pairs show that what has a mayor here never has a pilot there."""
    towns = [(f"Town {i}", "mayor", f"Mayor {i}") for i in range(16)]
    ships = [(f"Ship {i}", "captain", f"Captain {i}") for i in range(16)]
    one = [*towns, *ships, ("Victoria", "mayor", "Ann")]
    two = [(end, "of", start) for start, _, end in (*towns, *ships)]
    two += [(start, "crew", f"{start} crew") for start, _, _ in ships]
    graph = merged(one=one, two=[*two, ("Victoria", "crew", "Bob")])
    assert len(graph.find_every("Victoria")) == 2
    assert len(graph.find_every("Ship 3")) == len(graph.find_every("Town 3")) == 1
