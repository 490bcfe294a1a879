"""Means, medians and sums over a whole graph, against statistics by hand."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.aggregate import aggregate_of
from kgscout_jax.inference.entity_sets import entity_set
from kgscout_jax.inference.topics import SearchStart, search_start

STAFF = {
    "Ann": ("Sales", 50, "Rome"), "Bob": ("Sales", 70, "Bern"),
    "Cid": ("Research", 90, "Rome"), "Dee": ("Research", 95, "Rome"),
}  # fmt: skip
TRIPLETS = [
    *((name, "type", "employee") for name in STAFF),
    *((name, "department", each[0]) for name, each in STAFF.items()),
    *((name, "salary", str(each[1])) for name, each in STAFF.items()),
    *((name, "city", each[2]) for name, each in STAFF.items()),
    *((each, "type", "department") for each in ("Sales", "Research")),
    ("Sales", "budget", "€300"), ("Research", "budget", "€500"),
    ("Atlas", "type", "project"), ("Borea", "type", "project"),
    ("Atlas", "start", "2020-01-01"), ("Borea", "start", "2021-01-01"),
    ("Atlas", "length", "3 km"), ("Borea", "length", "700 m"),
]  # fmt: skip


def number(question, triplets=TRIPLETS):
    graph = KnowledgeGraph.from_triplets(triplets)
    start = search_start(question, graph, None, lambda q, g: linker_of(g).link(q))
    found = aggregate_of(question, graph, start)
    return found and found.number


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the average salary?", "76.25"),
        ("What is the median salary of the employees?", "80"),
        ("What is the total salary in Sales?", "120"),
        ("What is the average salary of the employees in Research?", "92.5"),
        ("What is the average salary of employees in Rome?", "78.33"),
        ("What is the sum of the budgets of the departments?", "€800"),
        ("What is the total length of the projects?", "3.7 km"),
        # Projects have none, dates are no numbers, it says more.
        ("What is the total budget of the projects?", None),
        ("What is the average start of the projects?", None),
        ("What is the average salary of the tall employees?", None),
        ("What is the average age?", None),
        ("Who earns the average salary?", None),
    ],
)
def test_numbers_worked_out_by_hand(question, expected):
    assert number(question) == expected


def test_a_relation_that_is_an_average_is_no_function():
    rated = [("Heat", "average_rating", "4"), ("Alien", "average_rating", "5")]
    assert number("What is the average rating of Heat?", rated) is None


def test_the_topics_of_a_caller_are_left_alone():
    graph = KnowledgeGraph.from_triplets(TRIPLETS)
    start = SearchStart(graph.find_all(["Sales"]), (), ())
    assert entity_set("What is the total salary in Sales?", graph, start) is None


@given(st.dictionaries(st.integers(0, 50), st.integers(-99, 99), min_size=2))
def test_they_are_those_of_the_statistics_module(values):
    triplets = [(f"n{name}", "score", str(value)) for name, value in values.items()]
    functions = {"average": statistics.fmean, "median": statistics.median, "total": sum}
    for word, function in functions.items():
        expected = round(float(function([*values.values()])), 2)
        assert float(number(f"What is the {word} score?", triplets)) == expected


def test_the_answer_is_a_number_with_the_entities_behind_it(kgscout_cache):
    scout = shared_world("general").scout
    graph = KnowledgeGraph.from_triplets(TRIPLETS)
    result = scout.retrieve("What is the total salary in Sales?", graph, k=9)
    assert (result.kind, result.answers[0].name) == ("number", "120")
    assert {each.name for each in result.support} == {"Ann", "Bob"}
    shown = {("Ann", "salary", "50"), ("Bob", "salary", "70")}
    assert shown <= set(result.triplets)
    unknown = scout.retrieve("What is the total budget of the projects?", graph, k=9)
    assert unknown.abstained


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total monthly cost of the servers owned by Sales?", "$30"),
        ("What is the total monthly cost of the servers for Sales?", "$30"),
        ("What is the average monthly cost of servers located in Rome?", "$25"),
        ("What is the total monthly cost of the servers repaired by Sales?", None),
        ("What is the total monthly cost of the servers owned by Rome?", None),
    ],
)
def test_a_verb_may_say_by_what_the_topic_is_joined(question, expected):
    servers = {
        "web": ("Sales", "Rome", "$10"), "mail": ("Sales", "Bern", "$20"),
        "db": ("Research", "Rome", "$40"),
    }  # fmt: skip
    columns = ("owner", "site", "monthly cost")
    triplets = [
        (name, relation, value)
        for name, values in servers.items()
        for relation, value in zip(columns, values, strict=True)
    ]
    triplets += [(name, "type", "server") for name in servers]
    assert number(question, triplets) == expected


def test_thousands_are_told_from_decimals_by_all_values_of_a_graph():
    baths = [
        ("Nord", "area", "18.400 m²"), ("Ufer", "area", "6.200 m²"),
        ("Nord", "distance", "129 100 km"), ("Ufer", "distance", "900 km"),
        ("Nord", "disk", "1.5 TB"), ("Ufer", "disk", "500 GB"),
    ]  # fmt: skip
    prices = [("Nord", "entry", "2,00 €"), ("Ufer", "entry", "6,50 €")]
    assert number("What is the average area?", baths) == "12.3 m²"
    assert number("What is the average area?", [*baths, *prices]) == "12300 m²"
    assert number("What is the total distance?", baths) == "130000 km"
    assert number("What is the total disk?", baths) == "2000 GB"
