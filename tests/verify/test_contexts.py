"""Claims about dates and places of facts, which hang on hypernodes."""

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.verify.arcs import ArcFinder
from kgscout_jax.verify.claims import find_claims
from kgscout_jax.verify.contexts import ContextFinder


def facts(head: str, relation: str, tail: str, **contexts: str):
    name = f"{head} {relation} {tail}"
    yield head, relation, tail
    yield name, "has subject", head
    yield name, "has object", tail
    for preposition, value in contexts.items():
        yield name, preposition, value


GRAPH = KnowledgeGraph.from_triplets([
    *facts("Anna Berg", "founded", "Acme Mills", **{"in": "2011", "at": "Oslo"}),
    *facts("Acme Mills", "acquired", "Delta Cranes", on="4 May 1985"),
    *facts("Paris", "hosted", "Games One", **{"in": "1900"}),
    *facts("Paris", "hosted", "Games Two", **{"in": "1924"}),
    ("Tom Lind", "works for", "Acme Mills"),
])  # fmt: skip


def evidence(text: str):
    finder = ContextFinder(GRAPH, ArcFinder(GRAPH))
    (claim,) = find_claims(text, linker_of(GRAPH))
    found = finder.evidence(claim)
    if found is None:
        return None
    return found.supports, [GRAPH.triplet(i)[2] for i in found.ids]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna Berg founded Acme Mills in 2011.", (True, ["2011"])),
        ("Acme Mills was founded by Anna Berg in 2012.", (False, ["2011"])),
        ("Acme Mills was founded in 2011.", (True, ["2011"])),
        ("Acme Mills was founded in Oslo.", (True, ["Oslo"])),
        ("Acme Mills acquired Delta Cranes in 1985.", (True, ["4 May 1985"])),
        ("Acme Mills acquired Delta Cranes in 1986.", (False, ["4 May 1985"])),
        ("Acme Mills founded Anna Berg in 2011.", None),
        ("Acme Mills was sold in 2011.", None),  # another relation
        ("Tom Lind founded Acme Mills in 2011.", None),  # another founder
        ("Acme Mills was founded in Paris.", None),  # a place may lie in another
        ("Paris hosted in 1924.", (True, ["1924"])),
        ("Paris hosted in 1930.", None),  # one event of several
    ],
)
def test_a_circumstance_is_that_of_the_fact(text, expected):
    assert evidence(text) == expected


def test_facts_of_a_hub_are_found_behind_its_other_triplets():
    others = [(f"Person {i}", "lives in", "Rome") for i in range(300)]
    rows = [*others, *facts("Rome", "hosted", "Mill Fair", on="3 May 1950")]
    graph = KnowledgeGraph.from_triplets(rows)
    (claim,) = find_claims("Rome hosted in 1950.", linker_of(graph))
    found = ContextFinder(graph, ArcFinder(graph)).evidence(claim)
    assert found is not None and found.supports


def test_a_graph_without_hypernodes_has_no_circumstances():
    graph = KnowledgeGraph.from_triplets([("Anna Berg", "founded", "Acme Mills")])
    (claim,) = find_claims("Anna Berg founded Acme Mills in 2011.", linker_of(graph))
    assert ContextFinder(graph, ArcFinder(graph)).evidence(claim) is None


def test_a_question_is_about_the_parts_of_a_fact_and_not_about_the_fact():
    links = linker_of(GRAPH).link("Who owns the firm that Anna Berg founded?")
    assert [link.name for link in links] == ["Anna Berg"]
