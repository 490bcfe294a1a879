"""All of a kind, by classes, by flags and by what relations lead to."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.listing import listing_of
from kgscout_jax.inference.node_answers import MAX_ANSWERS

BOOKS = [
    ("Dune", "genre", "novel"), ("Dune", "in stock", "yes"),
    ("Momo", "genre", "fantasy"), ("Momo", "in stock", "no"),
    ("Jaws", "genre", "novel"), ("Jaws", "writer", "Peter"), ("Jaws", "cover", "hard"),
    *((book, "type", "book") for book in ("Dune", "Momo", "Jaws")),
    ("Ann", "gender", "female"), ("Bea", "gender", "female"), ("Cid", "gender", "male"),
]  # fmt: skip


def found(question, triplets=BOOKS):
    graph = KnowledgeGraph.from_triplets(triplets)
    out = listing_of(question, graph)
    if out is None:
        return None
    return len(out.entities) if out.counted else {
        graph.entities[i] for i in out.entities.tolist()
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which books are there?", {"Dune", "Momo", "Jaws"}),
        ("How many books are there in total?", 3),
        ("Which books are in stock?", {"Dune"}),
        ("Which books are not in stock?", {"Momo"}),
        ("How many books are in stock?", 1),
        ("What are the genres?", {"novel", "fantasy"}),
        ("How many different genres are there?", 2),
        ("List all women", {"Ann", "Bea"}),
        ("How many men are there?", 1),
        ("How many girls are in stock?", None),
        # no class and no relation is called so, or more is asked
        ("Which records are there?", None),
        ("Which records are in stock?", None),
        ("Which books are novels?", None),
        ("What are the genres of Dune?", None),
        ("Which book is it?", None),
    ],
)
def test_lists_worked_out_by_hand(question, expected):
    assert found(question) == expected


def test_things_of_an_ontology_are_classes_themselves():
    cheeses = [(name, "subClassOf", "Blue cheese") for name in ("Stilton", "Picos")]
    triplets = [*cheeses, ("Blue cheese", "subClassOf", "Cheese")]
    assert found("Which blue cheeses are there?", triplets) == {"Stilton", "Picos"}


def test_where_nothing_has_a_class_a_flag_tells_what_is_meant():
    flags = [("flask", "deprecated", "False"), ("sniff", "deprecated", "True")]
    triplets = [*flags, ("flask", "maintainer", "Ann")]
    assert found("Which package is deprecated?", triplets) == {"sniff"}
    assert found("How many packages are not deprecated?", triplets) == 1
    assert found("Which maintainers are deprecated?", triplets) is None


def test_a_long_list_is_counted_only():
    many = [(f"b{i}", "type", "book") for i in range(MAX_ANSWERS + 1)]
    assert found("Which books are there?", many) is None
    assert found("How many books are there?", many) == MAX_ANSWERS + 1
