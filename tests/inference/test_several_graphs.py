"""Scouts on several graphs at once."""

from __future__ import annotations

import numpy as np
import pytest
from film_world import film_triplets
from prep_factory import NEEDS_ENCODER

from kgscout_jax import KnowledgeGraph
from kgscout_jax.errors import UserError
from kgscout_jax.inference.selection import SelectionConfig

pytestmark = NEEDS_ENCODER
QUESTION = "Who directed Heat?"
BIRTHS = [
    ("Michael Mann", "people.person.place_of_birth", "Chicago"),
    ("Heat", "directed by", "Michael Mann"),
    ("Kes", "directed by", "Terry Gilliam"),
]


@pytest.fixture(scope="module")
def pair() -> list[KnowledgeGraph]:
    return [KnowledgeGraph.from_triplets(rows) for rows in (film_triplets(), BIRTHS)]


def test_a_graph_asked_twice_ranks_as_once(scout, graph):
    one = scout.retrieve(QUESTION, graph, 12)
    twice = scout.retrieve(QUESTION, [graph, graph], 12)
    assert twice.triplets == one.triplets
    np.testing.assert_array_equal(twice.scores, one.scores)
    assert set(twice.sources) == {("graph 1", "graph 2")}
    assert one.sources == ()


def test_walks_cross_graphs_and_each_triplet_names_its_own(scout, pair):
    films, births = pair
    found = scout.retrieve("Where was the director of Heat born?", pair, 100)
    sources = dict(zip(found.triplets, found.sources, strict=True))
    assert found.topics == ("Heat",)
    assert sources["Michael Mann", "people.person.place_of_birth", "Chicago"] == (
        "graph 2",
    )
    assert sources["Heat", "released_in", "1971"] == ("graph 1",)
    other = scout.retrieve(found.question, {"graph 2": births, "graph 1": films}, 100)
    assert other.scored == found.scored
    assert other.sources == found.sources


def test_a_fact_of_two_schemas_is_shown_once_with_both_sources(scout, pair):
    named = {"films": pair[0], "births": pair[1]}
    for selection in (
        SelectionConfig(),
        SelectionConfig(form="paths"),
        SelectionConfig(retriever="cosine"),
        SelectionConfig(token_budget=2000),
    ):
        found = scout.retrieve(QUESTION, named, 100, selection=selection)
        rows = [t for t in found.triplets if t[::2] == ("Heat", "Michael Mann")]
        assert len(rows) == 1
        assert found.sources[found.triplets.index(rows[0])] == ("births", "films")
    assert "directed by, Michael Mann [births, films]" in found.as_text()
    assert "Michael Mann [births, films]" in found.as_paths()
    record = found.to_dict()["triplets"]
    assert [each["sources"] for each in record] == [list(s) for s in found.sources]


def test_a_name_that_is_another_entity_in_each_graph_is_linked_in_each(scout):
    rows = [("Houston", "located in", "Texas"), ("Lyon", "located in", "France")]
    graphs = [KnowledgeGraph.from_triplets([row, ("Paris", *row[1:])]) for row in rows]
    found = scout.retrieve("What is Paris located in?", graphs, 9)
    assert set(found.topics) == {"Paris (graph 1)", "Paris (graph 2)"}
    named = scout.retrieve("?", graphs, 9, topics="Paris")
    assert set(named.topics) == set(found.topics)


def test_graphs_are_merged_once_and_several_questions_may_ask_others(scout, pair):
    merged = scout.merged(pair)
    assert scout.merged(list(pair)) is merged
    assert scout.merged(pair[0]) is pair[0]
    one, both = scout.retrieve_many([QUESTION] * 2, [pair[0], pair])
    assert one.sources == ()
    assert both.sources
    with pytest.raises(UserError, match="graphs: expected at least one"):
        scout.retrieve(QUESTION, [])


def test_embedded_members_serve_the_merged_graph(scout, graph, pair):
    """A question without a topic compares all triplets of graphs with tables."""
    merged = scout.merged([graph, pair[1]])
    found = scout.retrieve("zzz?", merged, 100)
    assert found.nearest
    merged.embed(scout.encoder)
    again = scout.retrieve("zzz?", merged, 100)
    assert len(again) == len(merged) - 2
    assert all(again.sources)
