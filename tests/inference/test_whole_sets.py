"""Sets of answers that the cut leaves a part of, and the ends that are of one kind."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.inference.whole_sets import _ends, _evidence, _levels, _restricted
from kgscout_jax.text.kinds import HEAD, TAIL

FIRMS = {name: i < 4 for i, name in enumerate("Alto Brill Corda Dunn Esker".split())}
DRUGS = {
    f"{firm[:3]}{end}": firm
    for firm in FIRMS
    for end in "axol ezin ibran oten umab ivir".split()
}
TRIPLETS = [
    *((firm, "based_in", "Belgium" if b else "Spain") for firm, b in FIRMS.items()),
    *((drug, "made_by", firm) for drug, firm in DRUGS.items()),
    *((drug, "causes", f"sign {i * 7 % 23}") for i, drug in enumerate(DRUGS)),
]
BELGIAN = {drug for drug, firm in DRUGS.items() if FIRMS[firm]}


@pytest.fixture(scope="module")
def scout():
    """kgscout-base with room for a part of the set."""
    base = Scout.from_pretrained()
    cut = dataclasses.replace(base.cut, candidates=20)
    return Scout(base.exported, base.encoder, cut=cut)


def test_a_set_is_whole_where_the_cut_holds_a_part(scout):
    graph = KnowledgeGraph.from_triplets(TRIPLETS)
    question = "Which drugs are made by firms in Belgium?"
    found = scout.retrieve(question, graph, k=10)
    assert {each.name for each in found.answers} == BELGIAN
    kept = {*map(tuple, found.triplets)}
    assert all({*map(tuple, each.path)} <= kept for each in found.answers)
    counted = scout.retrieve(question.replace("Which", "How many"), graph, k=10)
    assert counted.answers[0].name == str(len(BELGIAN))


def test_what_another_condition_leaves_out_is_no_part(scout):
    graph = KnowledgeGraph.from_triplets(TRIPLETS)
    found = scout.retrieve("Which drugs made by Alto cause sign 7?", graph, k=10)
    right = {h for h, _, t in TRIPLETS if t == "sign 7" and DRUGS.get(h) == "Alto"}
    assert {each.name for each in found.answers} == right


graphs = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from("rs"), st.integers(0, 6)),
    min_size=1,
    max_size=20,
    unique=True,
)
ways = st.lists(st.tuples(st.sampled_from("rs"), st.booleans()), min_size=1, max_size=3)


@given(graphs, ways)
def test_ways_are_followed_as_by_networkx(rows, way):
    rows = [(0, "r", 1), (0, "s", 1), *rows]
    graph = KnowledgeGraph.from_triplets((f"n{h}", r, f"n{t}") for h, r, t in rows)
    edges = nx.MultiDiGraph((f"n{h}", f"n{t}", r) for h, r, t in rows)
    start = np.array([graph.find("n0")])
    numbers = [graph.relation_names.index(relation) for relation, _ in way]
    sides = [HEAD if forward else TAIL for _, forward in way]
    levels = _levels(graph, start, [*zip(numbers, sides, strict=True)])
    reached = {"n0"}
    for relation, forward in way:
        view = edges if forward else edges.reverse()
        reached = {t for h in reached for _, t, r in view.edges(h, keys=True)
                   if r == relation}  # fmt: skip
    ends = _ends(levels, start)
    assert {str(graph.entities[e]) for e in ends} == reached - {"n0"}
    # The triplets of one path to each end lead there again.
    if len(ends):
        again = _restricted(levels, start, _evidence(levels, ends))
        assert _ends(again, start).tolist() == ends.tolist()
