"""Steps that the words of a question explain, over graphs read by hand."""

from __future__ import annotations

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.explained_steps import explained_nodes

STUDIOS = [
    ("Warsaw", "in_country", "Poland"), ("Redgate", "headquartered_in", "Warsaw"),
    ("Orc", "developed_by", "Redgate"), ("Elf", "developed_by", "Redgate"),
    ("Orc", "genre", "role play"), ("Ann", "born_in", "Warsaw"),
    ("Elf", "designed_by", "Ann"), ("Cog", "developed_by", "Kyo"),
]  # fmt: skip
PLAYERS = [
    ("Lee", "agent", "Rossi"), ("Kim", "agent", "Rossi"), ("Kim", "plays_for", "Hull"),
    ("Lee", "plays_for", "Leeds"), ("Rossi", "works_for_agency", "Acme"),
    ("Hull", "city", "Kingston"), ("Kim", "mother", "Eve"), ("Eve", "mother", "Ida"),
    ("Hull", "coach", "Ida"), ("N1", "aircraft_type", "B7"),
    ("B7", "engine_type", "fan"),
]  # fmt: skip


def asked(triplets, question, topic, unlikely=()):
    """Names of the nodes at the end; None where no reading is the cheapest."""
    around, names = named_graph(triplets, [topic])
    nameless, likely = np.zeros(len(names), bool), ~np.isin(names, list(unlikely))
    found = explained_nodes(question, [topic], around, nameless, likely)
    return None if found is None else {names[i] for i in np.flatnonzero(found)}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # "from" stands for two steps, and no relation calls anything a studio.
        ("Which games were developed by studios from Poland?", {"Orc", "Elf"}),
        ("Which games were designed by people from Poland?", {"Elf"}),
        ("Which people were born in Poland?", {"Ann"}),
        # No word says how a game and a studio are joined.
        ("Which games come from studios in Poland?", None),
        ("Who is from Poland?", None),
    ],
)
def test_a_preposition_stands_for_steps_to_what_lies_there(question, expected):
    assert asked(STUDIOS, question, "Poland") == expected


@pytest.mark.parametrize(
    ("question", "topic", "expected"),
    [
        ("Which players have an agent from Acme?", "Acme", {"Lee", "Kim"}),
        ("List the players whose club is in Kingston", "Kingston", {"Kim"}),
        ("Who are the agents of the players of Hull?", "Hull", {"Rossi"}),
        # One step is for others to read, and is not led astray by another one.
        ("the mother of Eve", "Eve", None),
        ("Who is the mother of Ida?", "Ida", None),
    ],
)
def test_a_noun_says_what_nodes_are_called_and_how_they_are_joined(
    question, topic, expected
):
    assert asked(PLAYERS, question, topic) == expected


def test_the_name_of_one_relation_is_not_two_steps():
    assert asked(PLAYERS, "What is the engine type of N1?", "N1") is None
    assert (
        asked(PLAYERS, "What is the engine type of the aircraft type N1?", "B7") is None
    )


def test_only_nodes_of_the_kind_that_is_asked_for_are_answers():
    question = "Which games were developed by studios from Poland?"
    assert asked(STUDIOS, question, "Poland", unlikely=["Orc"]) == {"Elf"}
    assert asked(STUDIOS, question, "Poland", unlikely=["Orc", "Elf", "Ann"]) is None


def test_two_readings_that_cost_the_same_are_no_answer():
    both = [("A", "north_of", "T"), ("B", "south_of", "T")]
    twice = [("X", "owner", "A"), ("Y", "owner", "B")]
    assert asked(both + twice, "What has an owner with T?", "T") is None


def test_several_topics_are_left_to_others():
    around, names = named_graph(STUDIOS, ["Poland", "Ann"])
    everything = np.ones(len(names), bool)
    question = "Which games from Poland did Ann design?"
    assert (
        explained_nodes(question, ["Poland", "Ann"], around, ~everything, everything)
        is None
    )
