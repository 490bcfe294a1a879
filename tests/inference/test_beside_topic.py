"""The most, and those without, among what one relation joins to a topic."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.entity_sets import entity_set
from kgscout_jax.inference.topics import search_start

LANDS = {"Peru": "Andes", "Chad": "Sahel", "Mali": "Sahel", "Fiji": "Pacific"}
PORTS = {"Peru": 1, "Chad": 2, "Mali": 1, "Fiji": 3}
TRIPLETS = [
    *((land, "type", "country") for land in LANDS),
    *((land, "region", region) for land, region in LANDS.items()),
    *(
        (f"port {land} {i}", "country", land)
        for land, count in PORTS.items()
        for i in range(count)
    ),
    *((f"port {x} {i}", "type", "airport") for x in PORTS for i in range(PORTS[x])),
    ("Mali", "language", "Bambara"), ("Peru", "language", "Quechua"),
    ("Peru", "coastal", "yes"), ("Fiji", "coastal", "yes"), ("Mali", "coastal", "no"),
]  # fmt: skip


def found(question, triplets=TRIPLETS):
    graph = KnowledgeGraph.from_triplets(triplets)
    start = search_start(question, graph, None, lambda q, g: linker_of(g).link(q))
    out = entity_set(question, graph, start)
    return out and {graph.entities[i] for i in out.entities.tolist()}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which country in the Sahel has the most airports?", {"Chad"}),
        ("Which country has the most airports?", {"Fiji"}),
        ("Which countries in the Sahel have no language?", {"Chad"}),
        ("Which countries have no language?", {"Chad", "Fiji"}),
        ("Which coastal countries have no language?", {"Fiji"}),
        ("Which country near the Sahel has the most rivers?", None),
    ],
)
def test_sets_worked_out_by_hand(question, expected):
    assert found(question) == expected


@given(
    st.dictionaries(
        st.integers(0, 9), st.tuples(st.integers(0, 4), st.booleans()), min_size=2
    )
)
def test_the_most_beside_a_topic_is_that_of_brute_force(lands):
    triplets = [("Sahel", "climate", "dry")]
    counts = Counter[str]()
    for land, (ports, is_in) in lands.items():
        name = f"land{land}"
        triplets.append((name, "type", "country"))
        triplets.append((name, "region", "Sahel" if is_in else "Andes"))
        triplets += [(name, "airport", f"port {land} {i}") for i in range(ports)]
        if is_in and ports:
            counts[name] = ports
    most = max(counts.values(), default=0)
    winners = {name for name, count in counts.items() if count == most}
    question = "Which country in the Sahel has the most airports?"
    expected = winners if most > 1 and len(winners) <= 10 else None
    assert found(question, triplets) == expected
