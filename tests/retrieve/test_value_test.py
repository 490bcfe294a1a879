"""Which nodes pass a test of values, against a slow account of the same."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.value_test import GAP, JOINED_GAP, PENALTY, value_test
from kgscout_jax.text.value_question_parser import value_question

# Topic 0; the towns 1 to 4 are in it; 5 to 9 are values.
NAMES = [
    "Italy",
    "Rome",
    "Milan",
    "Turin",
    "Pisa",
    "2800",
    "1300",
    "600",
    "90",
    "2700 m",
]
RELATIONS = ["town_of", "population", "founding_year"]
TOWNS = [(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)]
PEOPLE = [(1, 1, 5), (2, 1, 6), (3, 1, 7), (4, 1, 8)]
ANSWERS = np.array([-3, 1, 2, 1.5, 0.5, 2.5, 0, 0, 0, 0], np.float32)


def test_of(question, facts, topics=("Italy",)):
    """The test of a question over facts as (head, relation, tail)."""
    rows = np.array(facts)
    asked = value_question(question, [*topics])
    return value_test(
        asked and asked.with_topics(lambda i: NAMES.index(topics[i])),
        LocalGraph(
            RELATIONS,
            rows[:, 1],
            rows[:, [0, 2]],
            [np.array([0])],
            partial(texts_of, NAMES),
        ),
    )


test_of.__test__ = False


def after(question, facts=(*TOWNS, *PEOPLE), **more):
    """(logits of the facts, of the nodes) after the test."""
    logits = np.linspace(1, 0, len(facts)).astype(np.float32)
    test = test_of(question, facts, **more)
    if test is None:
        return logits, ANSWERS
    return test.apply(test.outcome(logits, ANSWERS), logits, ANSWERS)


def test_all_that_a_topic_has_by_one_relation_is_compared():
    facts = (*TOWNS, *PEOPLE)
    test = test_of("What is the smallest town in Italy?", facts)
    answers = ANSWERS.copy()
    answers[4] -= GAP  # as if Pisa were of another reading
    logits = np.linspace(1, 0, len(facts)).astype(np.float32)
    assert [NAMES[i] for i in test.outcome(logits, answers).passed] == ["Pisa"]
    answers[4] -= JOINED_GAP
    assert [NAMES[i] for i in test.outcome(logits, answers).passed] == ["Turin"]


@pytest.mark.parametrize(
    ("question", "passed"),
    [
        ("Which town in Italy has the largest population?", ["Rome"]),
        ("What is the smallest town in Italy?", ["Pisa"]),
        ("Which towns in Italy have a population over 600?", ["Rome", "Milan"]),
        (
            "towns in Italy with a population of at least 600",
            ["Rome", "Milan", "Turin"],
        ),
    ],
)
def test_those_that_pass_are_ahead_of_all_others(question, passed):
    _, nodes = after(question)
    best = np.argsort(-nodes, kind="stable")[: len(passed)]
    assert sorted(NAMES[i] for i in best) == sorted(passed)
    assert nodes[best].min() >= ANSWERS[1:5].max()
    others = np.setdiff1d(np.arange(len(NAMES)), best)
    np.testing.assert_allclose(nodes[others], ANSWERS[others] - PENALTY)


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("Who is mayor of Italy?", (*TOWNS, *PEOPLE)),
        ("Which town in Italy has the largest calling code?", TOWNS),  # no values
        ("Which town in Italy has the largest population?", (*TOWNS, *PEOPLE[:1])),
        ("towns in Italy with a population over 9000", (*TOWNS, *PEOPLE)),  # none
    ],
)
def test_nothing_changes_where_values_decide_nothing(question, facts):
    logits, nodes = after(question, facts)
    assert np.array_equal(nodes, ANSWERS)
    assert np.array_equal(logits, np.linspace(1, 0, len(facts)).astype(np.float32))


def test_most_years_are_no_late_ones():
    names = ["Italy", "Rome", "Milan", "1300", "1400"]
    around = LocalGraph(
        ["town_of", "founding_year"],
        np.array([0, 0, 1, 1]),
        np.array([[1, 0], [2, 0], [1, 3], [2, 4]]),
        [np.array([0])],
        partial(texts_of, names),
    )
    for words, compares in (("most founding years", False), ("latest founding", True)):
        asked = value_question(f"Which town in Italy has the {words}?", ["Italy"])
        assert asked is not None
        assert (value_test(asked, around) is not None) == compares


def test_the_named_two_are_compared_whatever_the_logits():
    more = {"topics": ("Rome", "Pisa")}
    logits, nodes = after("Which is larger, Rome or Pisa?", **more)
    assert NAMES[nodes.argmax()] == "Rome"
    assert np.argsort(-logits)[:2].tolist() == [4, 7]
    test = test_of("Is Rome smaller than Pisa?", (*TOWNS, *PEOPLE), **more)
    assert test is not None and test.compared is not None
    assert not test.passed(test.compared, [1])
    assert test_of("Is Rome older than Pisa?", (*TOWNS, *PEOPLE), **more) is None


def test_units_are_not_mixed():
    test = test_of("Which town is largest by population?", [*PEOPLE, (1, 1, 9)])
    assert test is not None
    numbers = {node: value.number for node, value in test.attributes[0].values.items()}
    assert numbers == {1: 2800.0, 2: 1300.0, 3: 600.0, 4: 90.0}


def test_a_year_does_not_decide_between_dates_of_it():
    names = ["Acme", "Beta", "Gamma", "1950", "1950-05-01", "1960"]
    nodes = np.array([(0, 3), (1, 4), (2, 5)])
    firms = LocalGraph(
        ["founded"], np.zeros(3, int), nodes, [], partial(texts_of, names)
    )
    test = value_test(value_question("Which firm was founded first?", []), firms)
    assert test is not None
    assert test.passed(test.attributes[0], [0, 1, 2]) == [0, 1]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(5, 8)), min_size=1, max_size=9),
    st.sampled_from(["largest", "smallest"]),
)
def test_the_extreme_is_that_of_a_loop(facts, word):
    """A node of several values has the one that the test asks about."""
    extreme = max if word == "largest" else min
    values = {}
    for head, tail in facts:
        values.setdefault(head, []).append(float(NAMES[tail]))
    values = {head: extreme(of_head) for head, of_head in values.items()}
    best = {head for head in values if values[head] == extreme(values.values())}
    rows = [*TOWNS, *((head, 1, tail) for head, tail in facts)]
    test = test_of(f"Which town in Italy has the {word} population?", rows)
    assert test is not None
    logits = np.linspace(1, 0, len(rows)).astype(np.float32)
    found = test.outcome(logits, ANSWERS)
    assert (found is not None) == (len(values) > 2)
    assert found is None or {*found.passed} == best


def test_values_of_a_node_without_a_name_are_those_of_its_only_owner():
    names = ["Heat", "Alien", "m.1", "m.2", "m.3", "170", "117", "90"]
    rows = np.array(
        [(0, 0, 2), (1, 0, 3), (2, 1, 5), (3, 1, 6), (0, 2, 4), (1, 2, 4), (4, 1, 7)]
    )
    films = LocalGraph(
        ["runtime", "film_cut.runtime", "double_bill"], rows[:, 1], rows[:, [0, 2]], [],
        partial(texts_of, names),
    )  # fmt: skip
    unnamed = np.array([name.startswith("m.") for name in names])
    asked = value_question("Which film has the longest runtime?", [])
    test = value_test(asked, films, unnamed=unnamed)
    assert test is not None
    values = test.attributes[0].values
    # m.3 has two owners.
    assert {n: value.number for n, value in values.items()} == {0: 170, 1: 117, 4: 90}
