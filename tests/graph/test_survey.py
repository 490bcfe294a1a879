"""The survey of a graph: by hand, and against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.relation_names import relation_problem
from kgscout_jax.graph.survey import survey


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("P131 p7 rel1 rel_7 r2 edge-12 m.0abc 0 ___ <urn:x> deadbeef01", "identifier"),
        ("r R xy a_b", "letters"),
        ("CtD GpBP CcSE Gr>G", "abbreviation"),
        ("has_tags related_to relation link has value of", "general"),
        ("hasTags isRelatedTo ofThing", "general"),
        ("режиссёр 导演", "script"),
        ("birthPlace film/directedBy directed_by born in contains type "
         "location.country naît_à Größe is_a RDF_type of_wine USA", None),
    ],
)  # fmt: skip
def test_names_of_relations_that_say_little(names, problem):
    skipped = {"of"} if problem == "general" else set()
    for name in names.split():
        if name not in skipped:
            expected = None if name in ("in", "of") else problem
            assert relation_problem(name) == expected, name


ENDS = st.integers(0, 12).map("n{}".format)


@given(st.lists(st.tuples(ENDS, st.sampled_from(["knows", "P1"]), ENDS), min_size=1))
def test_counts_agree_with_networkx(rows):
    graph = KnowledgeGraph.from_triplets(rows)
    found = survey(graph)
    drawn = graph.to_networkx()
    degrees = dict(drawn.degree())
    sizes = [len(part) for part in nx.connected_components(drawn.to_undirected())]
    assert found.components == len(sizes)
    assert found.largest_component == max(sizes)
    assert found.largest_degree == max(degrees.values())
    assert found.single == sum(d == 1 for d in degrees.values())
    assert found.mean_degree == pytest.approx(np.mean(list(degrees.values())))
    hub = found.hubs[0]
    assert hub.triplets_in + hub.triplets_out == max(degrees.values())
    assert hub.triplets_in == drawn.in_degree(hub.name)
    assert hub.triplets_out == drawn.out_degree(hub.name)
    counts = {each.name: each.triplets for each in found.top_relations}
    every = [key for *_, key in drawn.edges(keys=True)]
    assert counts == {name: every.count(name) for name in set(every)}
    assert [each.name for each in found.problem_relations] == (
        ["P1"] if "P1" in every else []
    )


def test_names_are_counted_in_memory_and_in_a_folder_alike(tmp_path):
    rows = [
        ("Alien", "year", "1979"),
        ("Alien", "site", "https://alien.example/x"),
        ("Alien", "date", "1979-05-25"),
        ("Alien", "plot", "p" * 300),
        ("Alien", "title", "Чужой"),
        ("Alien", "cast", "m.0abc"),
        ("Alien", "cast", "m.0abc"),
        ("x", "y", "z 9"),
    ]
    (tmp_path / "kg.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    build_graph([tmp_path / "kg.tsv"], tmp_path / "graph")
    found = survey(KnowledgeGraph.open(tmp_path / "kg.tsv"))
    assert found == survey(KnowledgeGraph.open(tmp_path / "graph"))
    assert (found.literals, found.long_names, found.longest_name) == (3, 1, 300)
    assert (found.other_scripts, found.unnamed, found.duplicates) == (1, 1, 1)
    assert found.unnamed_examples == ["m.0abc"]
    assert (found.heads, found.number_heads) == (2, 0)


def test_an_empty_graph_has_a_survey():
    found = survey(KnowledgeGraph.from_triplets([]))
    assert (found.triplets, found.components, found.hubs) == (0, 0, [])


def test_a_lone_surrogate_is_a_name_of_one_character():
    graph = KnowledgeGraph.from_triplets([("\ud800", "r", "b")])
    assert survey(graph).longest_name == 1
