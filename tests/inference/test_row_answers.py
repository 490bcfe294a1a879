"""What rows without a name say: by hand, and against a plain loop over the rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.row_answers import row_answers
from kgscout_jax.inference.topics import search_start

ORDERS = """order_date customer product quantity seller
2024-01-03 Acme Desk 4 Hall
2024-01-05 Borg Lamp 10 Reed
2024-01-09 Acme Chair 12 Hall
2024-02-20 Acme Lamp 20 Hall
2024-03-05 Cyan Chair 5 Reed"""
FIGURES = """country year population
Chad 1990 6
Mali 1990 8
Chad 2000 9
Mali 2000 11
Togo 2000 5"""
MATCHES = """date home_team away_team home_goals referee
2023-08-13 Leeds Derby 1 Ash
2023-08-19 Derby Leeds 3 Elm
2023-08-25 Luton Leeds 2 Ash"""


def table(name: str, text: str) -> KnowledgeGraph:
    header, *rows = (line.split() for line in text.splitlines())
    return KnowledgeGraph.from_triplets([
        (f"_:{name}:{number}", relation, cell)
        for number, row in enumerate(rows, start=2)
        for relation, cell in zip(header, row, strict=True)
    ])  # fmt: skip


REVIEWS = """Person Movie rating
Ann Alien 92
Bob Heat 61
Ann Heat 70"""


def with_kinds(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The graph with the kinds of what its rows join, as edges of Neo4j have them."""
    named = ((graph.entities[t], graph.relations[r]) for _, r, t in graph.triplets)
    kinds = {(name, "type", kind) for name, kind in named if kind.istitle()}
    return KnowledgeGraph.from_triplets(
        [*map(graph.triplet, range(len(graph))), *kinds]
    )


TABLES = {
    "reviews": with_kinds(table("reviews", REVIEWS)),
    "orders": table("orders", ORDERS),
    "figures": table("figures", FIGURES),
    "matches": table("matches", MATCHES),
}


def said(question: str, graph: KnowledgeGraph) -> str | None:
    start = search_start(question, graph, None, lambda q, g: linker_of(g).link(q))
    found = row_answers(question, graph, start)
    if found is None:
        return None
    if found.counted:
        return str(len(found.entities))
    names = sorted(str(graph.entities[int(each)]) for each in found.entities)
    return found.number or ", ".join(names)


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("orders", "Which customer ordered the highest quantity?", "Acme"),
        ("orders", "When was the latest order of Acme?", "2024-02-20"),
        ("orders", "When did Borg first order?", "2024-01-05"),
        ("orders", "How many orders did Acme place?", "3"),
        ("orders", "How many orders include a lamp?", "2"),
        ("orders", "What is the total quantity of lamps ordered?", "30"),
        ("orders", "What is the total quantity of chairs Acme ordered?", "12"),
        ("orders", "What was the average quantity of chairs?", "8.5"),
        # Nothing says what a large order is, or what was cancelled.
        ("orders", "Which customer placed the largest order?", None),
        ("orders", "How many orders did Acme cancel?", None),
        ("orders", "How many orders did Acme place in Rome?", None),
        ("figures", "Which country had the largest population in 1990?", "Mali"),
        ("figures", "Which country has the smallest population?", "Togo"),
        ("figures", "In which year was the population of Chad the highest?", "2000"),
        ("figures", "What was the total population in 2000?", "25"),
        ("figures", "Which country had the largest area in 1990?", None),
        (
            "matches",
            "Who was the referee of the match with the most home goals?",
            "Elm",
        ),
        ("matches", "Which team scored the most home goals?", "Derby"),
        ("matches", "Which team was in the latest match?", None),  # one of two
        ("matches", "How many matches did Leeds play?", "3"),
        ("matches", "How many matches did Ash referee?", "2"),
        ("matches", "How many matches did Leeds win?", None),
        ("matches", "When did Leeds last play?", "2023-08-25"),
        ("reviews", "Which movie got the highest rating?", "Alien"),
        ("reviews", "Which person gave the lowest rating?", "Bob"),
    ],
)
def test_rows_worked_out_by_hand(name, question, expected):
    assert said(question, TABLES[name]) == expected


NAMES = ("Chad", "Mali", "Togo", "Peru")
YEARS = ("1990", "2000", "2010")
CELLS = st.tuples(st.sampled_from(NAMES), st.sampled_from(YEARS), st.integers(1, 99))


@given(st.lists(CELLS, min_size=2, max_size=12))
def test_rows_say_what_a_loop_over_them_finds(rows):
    lines = (" ".join(map(str, row)) for row in rows)
    graph = table("figures", "\n".join(["country year exports", *lines]))
    here = [row for row in rows if row[1] == "2000"]
    question = "Which country had the highest exports in 2000?"
    most = max((row[2] for row in here), default=0)
    winners = {name for name, _, value in here if value == most}
    expected = ", ".join(sorted(winners)) if here else None
    assert said(question, graph) == expected
    total = sum(row[2] for row in here)
    question = "What were the total exports in 2000?"
    assert said(question, graph) == (str(total) if here else None)


def test_the_row_that_decides_is_shown(kgscout_cache):
    scout = shared_world("general").scout
    question = "Which country had the largest population in 1990?"
    result = scout.retrieve(question, TABLES["figures"], k=8)
    (answer,) = result.answers
    row = "_:figures:3"
    assert answer.name == "Mali"
    assert {*answer.path} == {(row, "country", "Mali"), (row, "population", "8")}
    assert {*answer.path} <= {*result.triplets}
