"""Members of a class that lack something, by hand and by brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.complement import complement_of
from kgscout_jax.inference.topics import search_start

TASKS = [
    ("Paint", "assignee", "Ann"), ("Paint", "label", "home"),
    ("Sweep", "assignee", "Bo"), ("Sweep", "label", "yard"),
    ("Bake", "label", "home"), ("Ann", "likes", "Bake"),
    *((task, "type", "task") for task in ("Paint", "Sweep", "Bake", "Nap")),
]  # fmt: skip


def found(question, triplets):
    graph = KnowledgeGraph.from_triplets(triplets)
    start = search_start(question, graph, None, lambda q, g: linker_of(g).link(q))
    out = complement_of(question, graph, start)
    return out and ({graph.entities[i] for i in out.entities.tolist()}, out.counted)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which tasks have no assignee?", ({"Bake", "Nap"}, False)),
        ("How many tasks have no label?", ({"Nap"}, True)),
        ("tasks without assignee", ({"Bake", "Nap"}, False)),
        ("Which tasks don't have a label?", ({"Nap"}, False)),
        # of Nap and Bake nobody says whose they are
        ("Which tasks are not assigned to Ann?", ({"Sweep"}, False)),
        # no class, relation or topic of that name, or nobody has one
        ("Which chores have no assignee?", None),
        ("Which tasks have no due date?", None),
        ("Which tasks are not painted by Zoe?", None),
        ("Who is not assigned to Paint?", None),
        ("Which tasks are assigned to Ann?", None),
    ],
)
def test_sets_worked_out_by_hand(question, expected):
    assert found(question, TASKS) == expected


@given(st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 3)), min_size=1))
def test_those_without_are_all_others(tags):
    tasks = {f"t{i}": {f"g{j}" for j in some} for i, some in sorted(tags.items())}
    triplets = [(task, "tag", tag) for task, some in tasks.items() for tag in some]
    triplets += [(task, "type", "task") for task in tasks]
    bare = {task for task, some in tasks.items() if not some}
    expected = (bare, False) if bare and len(bare) < len(tasks) else None
    assert found("Which tasks have no tags?", triplets) == expected


def test_an_answer_stands_beside_what_shows_it(kgscout_cache):
    scout = shared_world("general").scout
    graph = KnowledgeGraph.from_triplets(TASKS)
    result = scout.retrieve("Which tasks have no assignee?", graph, k=5)
    assert {answer.name for answer in result.answers} == {"Bake", "Nap"}
    assert not result.negation and not result.abstained
    for answer in result.answers:
        assert (answer.name, "type", "task") in answer.path
    count = scout.retrieve("How many tasks have no assignee?", graph, k=5)
    assert (count.kind, count.answers[0].name) == ("count", "2")
