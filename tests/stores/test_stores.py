"""The five calls: the embedded store, and a real FalkorDB beside it."""

from __future__ import annotations

import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.stores.cypher import BATCH, FalkorStore
from kgscout_jax.stores.embedded import EmbeddedStore
from kgscout_jax.stores.protocol import Step, Store
from kgscout_jax.types import Triplet

TRIPLETS: list[Triplet] = [
    ("Elizabeth Taylor", "married", "Eddie Fisher"),
    ("Elizabeth Taylor", "married", "Michael Wilding"),
    ("Michael Wilding", "died in", "Chichester"),
    ("Montgomery Clift", "knew", "Elizabeth Taylor"),
    ("O\"Brien' }) DETACH DELETE (n)", "said $x", "{key: 1}"),
]


def embed(texts: list[str]) -> np.ndarray:
    """Counts of letters as unit vectors: real numbers, no model."""
    rows = np.array([[t.lower().count(c) for c in "abcdefghijklmnop"] for t in texts])
    return (rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None]).astype(
        np.float16
    )


@pytest.fixture(params=["embedded", "falkordb"])
def store(request) -> Store:
    names = sorted({name for h, _, t in TRIPLETS for name in (h, t)})
    vectors = dict(zip(names, embed(names), strict=True))
    if request.param == "embedded":
        graph = KnowledgeGraph.from_triplets(TRIPLETS[:1])
        made: Store = EmbeddedStore(graph, embed)
    else:
        port = request.getfixturevalue("server")
        made = FalkorStore.connect(request.node.name, 16, port=port)
    made.write(TRIPLETS, vectors)
    made.write(TRIPLETS, {})  # nothing is there twice
    return made


def test_nodes_are_found_by_text(store: Store):
    assert store.nodes_by_text("elizabeth TAYLOR", 5)[0].name == "Elizabeth Taylor"


def test_nodes_are_found_by_vector(store: Store):
    found = store.nodes_by_vector(embed(["Michael Wilding"])[0], 3)
    assert found[0].name == "Michael Wilding"
    assert found[0].score == pytest.approx(1, abs=1e-2)
    assert len(found) == 3


def test_relations_of_nodes_have_a_direction_and_a_count(store: Store):
    assert store.relations(["elizabeth taylor"]) == [
        Step("knew", False, 1),
        Step("married", True, 2),
    ]
    assert store.relations([]) == []


def test_each_relation_of_nodes_has_an_example_in_its_own_direction(store: Store):
    edges = [("a", "borders", "b"), ("b", "borders", "c"), ("b", "borders", "d")]
    store.write(edges, {})
    examples = {str(step): step.example for step in store.relations(["b"])}
    assert examples == {
        "borders": ("b", "borders", "c"),
        "is borders of (reversed)": ("a", "borders", "b"),
    }


def test_targets_are_the_triplets_of_the_relations(store: Store):
    married = [Step("married", True)]
    assert store.targets(["Elizabeth Taylor"], married, 10) == TRIPLETS[:2]
    assert store.targets(["Elizabeth Taylor"], married, 1) == TRIPLETS[:1]
    assert store.targets(["Eddie Fisher"], [Step("married", False)], 9) == TRIPLETS[:1]
    assert store.targets(["Eddie Fisher"], married, 9) == []


def test_names_never_become_queries(store: Store):
    head, relation, _ = TRIPLETS[4]
    assert store.relations([head]) == [Step(relation, True, 1)]
    assert store.targets([head], [Step(relation, True)], 9) == [TRIPLETS[4]]
    assert store.nodes_by_text(head, 2)[0].name == head
    assert len(store.relations(["Elizabeth Taylor"])) == 2


def test_a_folder_is_changed_by_kgscout_graph_alone(tmp_path):
    file = tmp_path / "g.tsv"
    file.write_text("a\tb\tc\n")
    from kgscout_jax.graph.build.driver import build_graph

    graph = KnowledgeGraph.of_folder(build_graph([file], tmp_path / "G"))
    with pytest.raises(UserError, match="kgscout graph --add"):
        EmbeddedStore(graph, embed).write(TRIPLETS, {})


def test_falkordb_gives_back_all_that_was_written_in_bulk(server: int):
    store = FalkorStore.connect("bulk", 16, port=server)
    triplets = [(f"n{i:05}", "next", f"n{i + 1:05}") for i in range(2 * BATCH + 7)]
    store.write(triplets, {})
    assert store.export() == triplets
