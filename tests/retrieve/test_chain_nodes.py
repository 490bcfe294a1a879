"""Nodes at the end of named steps: relatives against a brute force, chains by hand."""

from __future__ import annotations

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.chain_nodes import chain_nodes


def asked(triplets, question, topics, unnamed=(), unlikely=()):
    """Names of the nodes that a question's steps lead to; None where there is none."""
    around, names = named_graph(triplets, topics)
    nameless = np.isin(names, list(unnamed))
    everything = np.ones(len(names), bool)
    likely = ~np.isin(names, list(unlikely))
    found = chain_nodes(question, topics, around, nameless, everything, likely)
    return None if found is None else {names[i] for i in np.flatnonzero(found)}


def test_a_parent_peak_is_no_relative_and_its_elevation_another_step():
    triplets = [
        ("Eiger", "parent_peak", "Finsteraarhorn"), ("Eiger", "elevation_m", "3967"),
        ("Finsteraarhorn", "elevation_m", "4274"),
    ]  # fmt: skip
    question = "What is the elevation of Eiger's parent peak?"
    assert asked(triplets, question, ["Eiger"]) == {"4274"}


# --- relatives


def test_wives_are_the_spouses_of_whom_no_relation_says_that_they_are_men():
    triplets = [
        ("Henry", "spouse", "Anne"), ("Henry", "spouse", "Jane"),
        ("Henry", "spouse", "Bob"), ("Edward", "mother", "Jane"),
        ("Mary", "father", "Bob"),
    ]  # fmt: skip
    wives = asked(triplets, "List the wives of Henry", ["Henry"])
    assert wives == {"Anne", "Jane"}


def family(seed: int):
    """Father, mother, spouse and gender of 40 people in four generations."""
    rng = np.random.default_rng(seed)
    people = [f"P{i}" for i in range(40)]
    male = {name: bool(rng.random() < 0.5) for name in people}
    parents, spouses = {}, {}
    for low in range(10, 40, 10):
        older = people[low - 10 : low]
        men = [name for name in older if male[name]]
        women = [name for name in older if not male[name]]
        couples = list(zip(men, women, strict=False))
        for man, woman in couples:
            spouses[man], spouses[woman] = woman, man
        for child in people[low : low + 10] if couples else []:
            parents[child] = couples[rng.integers(len(couples))]
    return people, male, parents, spouses


def encoded(kind, male, parents, spouses):
    """The same family in the words of three graphs."""
    out = []
    for child, (father, mother) in parents.items():
        out += {
            "wiki": [(child, "father", father), (child, "mother", mother)],
            "camel": [(father, "hasChild", child), (mother, "hasChild", child)],
            "of": [(father, "parent_of", child), (mother, "parent_of", child)],
        }[kind]
    out += [(name, "gender", "male" if m else "female") for name, m in male.items()]
    married = "isMarriedTo" if kind == "camel" else "spouse"
    out += [(one, married, other) for one, other in spouses.items() if one < other]
    return out


def brute_force(people, male, parents, spouses):
    """Relatives of each person by their definitions."""
    up = {name: set(parents.get(name, ())) for name in people}
    down = {name: {c for c in people if name in up[c]} for name in people}

    def over(names, step):
        return set().union(*(step[name] for name in names))

    siblings = {name: over(up[name], down) - {name} for name in people}
    couple = {name: {spouses[name]} if name in spouses else set() for name in people}
    # Where siblings married, both parents are no aunt and no uncle.
    aside = {name: over(up[name], siblings) - up[name] for name in people}
    men = {name for name in people if male[name]}
    return {
        "siblings": siblings,
        "sisters": {name: siblings[name] - men for name in people},
        "grandparents": {name: over(up[name], up) for name in people},
        "great-grandfathers": {
            name: over(over(up[name], up), up) & men for name in people
        },
        "grandsons": {name: over(down[name], down) & men for name in people},
        "aunts": {name: aside[name] - men for name in people},
        "nieces and nephews": {name: over(siblings[name], down) for name in people},
        "cousins": {name: over(aside[name], down) - {name} for name in people},
        "mother-in-law": {name: over(couple[name], up) - men for name in people},
        "daughters": {name: down[name] - men for name in people},
    }


@pytest.mark.parametrize("kind", ["wiki", "camel", "of"])
@pytest.mark.parametrize("seed", range(3))
def test_relatives_are_those_of_their_definitions(kind, seed):
    people, *facts = family(seed)
    triplets = encoded(kind, *facts)
    checked = 0
    for word, expected in brute_force(people, *facts).items():
        for name in people[::5]:
            found = asked(triplets, f"Who are the {word} of {name}?", [name])
            assert found == (expected[name] or None), (word, name)
            checked += bool(expected[name])
    assert checked > 20


KIN = [
    ("Ann", "mother", "Bea"),
    ("Ann", "father", "Carl"),
    ("Bea", "father", "Dan"),
    ("Carl", "father", "Emil"),
    ("Carl", "mother", "Fay"),
    ("Bea", "born_in", "Bern"),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was Ann's maternal grandfather?", {"Dan"}),
        ("Name the grandparents of Ann on her father's side.", {"Emil", "Fay"}),
        ("Ann's father's mother", {"Fay"}),
        ("Who is the mother of the father of Ann?", {"Fay"}),
        ("What does Ann's father do?", None),
        ("Who are the aunts of Ann?", None),
    ],
)
def test_sides_and_chains_of_relatives(question, expected):
    assert asked(KIN, question, ["Ann"]) == expected


def test_a_relation_of_its_own_is_left_to_the_network():
    own = [*KIN, ("Carl", "grandfather_role", "Gus")]
    assert asked(own, "Who is Ann's grandfather?", ["Ann"]) is None


# --- chains

FACTS = [
    ("Ann", "hasChild", "Bo"),
    ("Bo", "hasWonPrize", "Medal"),
    ("Ann", "hasWonPrize", "Cup"),
    ("Bo", "place_of_birth", "Bern"),
    ("Bo", "employer", "Acme"),
    ("Ann", "employer", "Apex"),
    ("Acme", "founded_by", "Cy"),
    ("Holding", "owns", "Acme"),
    ("Acme", "headquarters", "Basel"),
    ("Cy", "nationality", "Swiss"),
    ("Heat", "starring", "Di"),
    ("Heat", "written_by", "Ann"),
    ("Di", "award_received", "Cup"),
]


@pytest.mark.parametrize(
    ("question", "topic", "expected"),
    [
        ("What prizes did the children of Ann win?", "Ann", {"Medal"}),
        ("What is the place of birth of Ann's son?", "Ann", {"Bern"}),
        ("Where was Ann's son born?", "Ann", {"Bern"}),
        ("Who founded the firm that employs Bo?", "Bo", {"Cy"}),
        ("Who founded the firm Holding owns?", "Holding", {"Cy"}),
        ("What nationality is the founder of Acme?", "Acme", {"Swiss"}),
        ("Who starred in the films written by Ann?", "Ann", {"Di"}),
        ("The nationality of the founder of the firm Acme", "Acme", {"Swiss"}),
        ("In which city are the headquarters of Bo's employer?", "Bo", {"Basel"}),
        # The noun says the kind of the answer, and is no step.
        ("Give me all writers who won the Cup.", "Cup", None),
        ("Which stars won the Cup?", "Cup", None),
        ("How many writers did the Cup award?", "Cup", None),
        # One step, several words or a word that says nothing here.
        ("Who founded Acme?", "Acme", None),
        ("Which painters did the children of Ann meet?", "Ann", None),
        ("Who shares a headquarters with an employer of Bo?", "Bo", None),
    ],
)
def test_chains(question, topic, expected):
    assert asked(FACTS, question, [topic]) == expected


def test_two_steps_of_one_relation_do_not_lead_back():
    firms = [
        ("Acme", "parentCompany", "Holding"),
        ("Apex", "parentCompany", "Holding"),
        ("Holding", "parentCompany", "Trust"),
    ]
    assert asked(firms, "Who owns the owner of Acme?", ["Acme"]) == {"Trust"}
    assert asked(firms, "What does the firm that Trust owns own?", ["Trust"]) == {
        "Acme",
        "Apex",
    }


def test_the_words_of_one_relation_are_one_step():
    weaknesses = [
        ("Bug", "parentWeakness", "Flaw"),
        ("Flaw", "parentWeakness", "Fault"),
        ("Bug", "relatedWeakness", "Slip"),
        ("Slip", "parentWeakness", "Error"),
        ("Slip", "weaknessLevel", "base"),
    ]
    # A parent weakness is no parent.
    whole = "What is the parent weakness of the related weakness of Bug?"
    assert asked(weaknesses, whole, ["Bug"]) == {"Error"}
    own = "What is Bug's related weakness's parent weakness?"
    assert asked(weaknesses, own, ["Bug"]) == {"Error"}
    assert asked(weaknesses, "Bug related weakness", ["Bug"]) is None


def test_how_many_people_live_somewhere_is_one_step_to_a_population():
    towns = [
        ("Bern", "country", "Swiss"), ("Swiss", "population", "9"),
        ("Bern", "population", "1"), ("Swiss", "capital", "Bern"),
    ]  # fmt: skip
    assert asked(towns, "How many people live in Bern?", ["Bern"]) is None
    capital = "How many people live in the capital of Swiss?"
    assert asked(towns, capital, ["Swiss"]) == {"1"}
    homes = [("Ann", "lives_in", "Bern"), ("Swiss", "capital", "Bern")]
    assert asked(homes, capital, ["Swiss"]) == {"Ann"}


def test_a_deputy_is_named_only_by_that_word():
    wards = [
        ("Ward 1", "part_of_department", "Renal"),
        ("Renal", "clinical_lead", "Ann"),
        ("Renal", "deputy_lead", "Bo"),
    ]
    question = "Who leads the department that Ward 1 is part of?"
    assert asked(wards, question, ["Ward 1"]) == {"Ann"}


def test_a_clause_says_at_which_end_the_topic_is():
    packages = [
        ("wget", "depends on", "zlib"),
        ("menu", "depends on", "wget"),
        ("zlib", "section", "libs"),
        ("menu", "section", "admin"),
    ]
    needed = "Which sections do the packages that wget depends on belong to?"
    assert asked(packages, needed, ["wget"]) == {"libs"}
    using = "What is the section of the packages that depend on wget?"
    assert asked(packages, using, ["wget"]) == {"admin"}


def test_no_chain_from_two_topics_nor_to_nodes_without_a_name():
    question = "What prizes did the children of Ann win?"
    assert asked(FACTS, question, ["Ann", "Cup"]) is None
    assert asked(FACTS, question, ["Ann"], unnamed=["Medal"]) is None


def test_order_of_triplets_does_not_matter():
    question = "What prizes did the children of Ann win?"
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(FACTS))
        assert asked([FACTS[i] for i in order], question, ["Ann"]) == {"Medal"}


@pytest.mark.parametrize(
    ("question", "unlikely", "answer"),
    [
        ("In which city does the wife of Bob work?", {"Acme"}, "Oslo"),
        ("In which city does the wife of Bob work?", {}, "Acme"),  # for all we know
        ("Where does the wife of Bob work?", {"Acme"}, "Acme"),
        ("In which firm does the wife of Bob work?", {"Oslo"}, "Acme"),
    ],
)
def test_a_place_is_where_the_last_node_is(question, unlikely, answer):
    triplets = [("Bob", "wife", "Ann"), ("Ann", "works_at", "Acme")]
    triplets += [("Acme", "located_in", "Oslo"), ("Acme", "product", "tins")]
    assert asked(triplets, question, ["Bob"], unlikely=unlikely) == {answer}
