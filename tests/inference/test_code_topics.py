"""Topics that questions call by a code."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.code_topics import with_code_owners

GRAPH = KnowledgeGraph.from_triplets([
    ("Databases", "code", "CS210"), ("Databases", "teacher", "Ann"),
    ("Iron", "symbol", "Fe"), ("Iron", "colour", "grey"),
    ("Ann", "office", "B12"), ("Bo", "office", "B12"), ("Bo", "tag", "gold"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Who is the teacher of CS210?", "Databases"),
        ("How large is CS210?", "Databases"),
        ("Which colour has Fe?", "Iron"),
        # the owner is asked for
        ("What course is CS210?", "CS210"),
        ("Which course has the code CS210?", "CS210"),
        ("What is Fe?", "Fe"),
        # two have it, or it is no code
        ("Who sits in B12?", "B12"),
        ("Who has gold?", "gold"),
    ],
)
def test_the_owner_of_a_code_is_the_topic(question, topic):
    links = linker_of(GRAPH).link(question)
    names = [link.name for link in with_code_owners(question, links, GRAPH)]
    assert topic in names
