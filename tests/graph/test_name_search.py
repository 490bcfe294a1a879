"""Names that contain a text: the same as by comparing each, in memory and on disk."""

from __future__ import annotations

import random

import pytest

from kgscout_jax.graph import name_search
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.name_search import names_with

TRIPLETS = [
    ("postfix", "in", "Mail"),
    ("postgresql", "in", "Data"),
    ("postgresql", "has", "libpq"),
    ("python3-postgresql", "in", "Python"),
    ("compost", "in", "Garden"),
    ("Émile Post", "wrote", "A\x00b\ud800"),
    ("Christian Göttsche", "wrote", "GÖTTERDÄMMERUNG"),
]


@pytest.fixture(scope="module")
def packages() -> KnowledgeGraph:
    return KnowledgeGraph.from_triplets(TRIPLETS)


def test_beginnings_of_names_come_first_then_of_words_then_parts(packages):
    found = names_with(packages, "POST", 10)
    assert [(each.name, each.how) for each in found] == [
        ("postgresql", "prefix"),
        ("postfix", "prefix"),
        ("python3-postgresql", "inside"),
        ("Émile Post", "inside"),
        ("compost", "inside"),
    ]
    assert found[0].share == 0.4
    assert names_with(packages, "post", 2) == found[:2]


def test_case_is_folded_beyond_ascii(packages):
    names = [each.name for each in names_with(packages, "gÖtt", 10)]
    assert names == ["GÖTTERDÄMMERUNG", "Christian Göttsche"]
    assert [each.how for each in names_with(packages, "éMILE", 1)] == ["prefix"]


@pytest.mark.parametrize("text", ["", " \n", "zzz", "\ud800\ud800", "x" * 9999])
def test_a_text_that_no_name_contains_finds_nothing(packages, text):
    assert names_with(packages, text, 10) == []


def test_it_finds_what_comparing_each_name_finds(tmp_path, monkeypatch):
    monkeypatch.setattr(name_search, "BLOCK", 7)
    rng = random.Random(0)
    names = sorted(
        {"".join(rng.choices("abA é", k=rng.randint(1, 6))).strip() for _ in range(80)}
    )
    rows = [f"{name}\tr\t{name}\n" for name in names if name]
    table = tmp_path / "names.tsv"
    table.write_text("".join(rows))
    build_graph([table], tmp_path / "graph")
    memory, folder = map(KnowledgeGraph.open, (table, tmp_path / "graph"))
    for text in ("a", "AB", "b a", "É", "aab"):
        expected = {n for n in memory.entities if text.casefold() in n.casefold()}
        for graph in (memory, folder):
            found = names_with(graph, text, 1000)
            assert {each.name for each in found} == expected
            assert len(found) == len(expected)
            for each in found:
                begins = each.name.casefold().startswith(text.casefold())
                assert each.how == ("prefix" if begins else "inside")
