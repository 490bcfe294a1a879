"""Classes of a graph's nodes say which of them are what is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.kind_mask import kind_mask
from kgscout_jax.retrieve.kind_penalties import DOUBT, STATED_PENALTY
from kgscout_jax.retrieve.node_classes import class_noun, numbered_nodes
from kgscout_jax.text.relation_words import is_class_relation


def penalties(question, triplets, topic):
    """What each node that loses something loses, by its name."""
    around, names = named_graph(triplets, [topic])
    found = kind_mask(question, [topic], around, np.zeros(len(names), bool))
    lost = np.zeros(len(names)) if found is None else found.penalties
    return {
        name: float(x)
        for name, x in zip(names, lost, strict=True)
        if x and name != topic
    }


def conflicts(question, triplets, topic):
    """The names of nodes that are called something else."""
    around, names = named_graph(triplets, [topic])
    found = kind_mask(question, [topic], around, np.zeros(len(names), bool))
    mask = np.zeros(len(names), bool) if found is None else found.conflict
    return {names[i] for i in np.flatnonzero(mask)}


RIVER = [
    ("Old Ferry", "crosses", "Po"),
    ("Old Ferry", "type", "Bridge"),
    ("Po", "joins", "Atlantic"),
    ("Tagus", "joins", "Atlantic"),
    ("Tagus", "type", "River"),
    ("Atlantic", "rdf:type", "Sea"),
    ("New Ferry", "crosses", "Po"),
]


def test_a_node_of_another_class_is_no_answer_and_one_without_a_class_may_be():
    bridges = penalties("Which bridges cross the Po?", RIVER, "Po")
    lost = ["Atlantic", "Tagus", "Bridge", "River", "Sea"]
    assert bridges == dict.fromkeys(lost, STATED_PENALTY)
    assert not penalties("What did the Po do?", RIVER, "Po")


def test_members_of_a_narrower_class_are_of_the_wider_one_too():
    rocks = [
        ("Muav", "laidIn", "Cambrian"), ("Muav", "type", "Formation"),
        ("Vishnu", "laidIn", "Cambrian"), ("Vishnu", "type", "BasementUnit"),
        ("Darton", "laidIn", "Cambrian"), ("Darton", "type", "Geologist"),
        ("Formation", "subClassOf", "Layer"), ("Layer", "subClassOf", "RockUnit"),
        ("BasementUnit", "subClassOf", "RockUnit"),
    ]  # fmt: skip
    lost = penalties("Which units were laid in the Cambrian?", rocks, "Cambrian")
    assert {"Darton", "Geologist"} <= lost.keys()
    assert lost.keys().isdisjoint(("Muav", "Vishnu"))


def test_who_asks_for_no_band_and_where_for_a_town():
    band = [
        ("The Tides", "contains", "Ada Byte"), ("The Foxes", "contains", "Ada Byte"),
        ("The Tides", "instance of", "Band"), ("The Foxes", "instance of", "Band"),
        ("Ada Byte", "instance of", "human"),
    ]  # fmt: skip
    who = penalties("Who is in The Tides?", band, "The Tides")
    assert "Ada Byte" not in who and "The Foxes" in who
    town = [
        ("Heat", "shown", "Bern"), ("Heat", "shown", "Mann"),
        ("Bern", "type", "City"), ("Mann", "type", "Person"),
    ]  # fmt: skip
    where = penalties("Where was Heat?", town, "Heat")
    assert "Bern" not in where and "Mann" in where


def test_any_triplet_may_say_what_somebody_is():
    club = [
        ("Mann", "plays", "goalkeeper"), ("Mann", "for", "Rapid"),
        ("Pacino", "plays", "forward"), ("Pacino", "for", "Rapid"),
    ]  # fmt: skip
    lost = penalties("Which goalkeepers does Rapid have?", club, "Rapid")
    assert "Mann" not in lost and lost["Pacino"] == STATED_PENALTY


@pytest.mark.parametrize(("houses", "says"), [(3, True), (60, False)])
def test_classes_say_nothing_where_few_nodes_have_one(houses, says):
    works = [("Ann", "works at", f"House {i}") for i in range(houses)]
    classes = [("House 0", "type", "office"), ("Bo", "type", "shop")]
    graph = [*works, ("Ann", "knows", "Bo"), *classes]
    lost = penalties("Which offices does Ann work at?", graph, "Ann")
    assert ("Bo" in lost) == says


def test_a_name_says_nothing_where_a_class_does():
    films = [
        ("Heat", "by", "Mann"), ("Heat", "type", "film"), ("Heat", "of", "war film"),
        ("Alien", "type", "film"), ("Alien", "of", "space film"),
    ]  # fmt: skip
    lost = penalties("Which films are by Mann?", films, "Mann")
    assert "Heat" not in lost and lost["war film"] == DOUBT
    # The genre is what the whole phrase says.
    lost = penalties("Which war films are by Mann?", films, "Mann")
    assert "Heat" not in lost and lost["Alien"] == DOUBT


def test_a_value_of_another_form_loses_no_less_than_by_its_class():
    lakes = [("Lorne", "in", "Bern"), ("Lorne", "type", "Lake"), ("Bern", "area", "86")]
    lost = penalties("Which lakes are in Bern?", lakes, "Bern")
    assert "Lorne" not in lost and lost["86"] == STATED_PENALTY


def test_what_a_relation_calls_so_is_an_answer_whatever_its_class():
    band = [
        ("The Tides", "recordLabel", "Mint"), ("Waves", "artist", "The Tides"),
        ("Mint", "type", "Company"), ("Waves", "type", "Album"),
    ]  # fmt: skip
    label = penalties("Which label are The Tides with?", band, "The Tides")
    assert "Mint" not in label and label["Waves"] >= DOUBT


@pytest.mark.parametrize(
    ("relation", "tells"),
    [("rdf:type", True), ("instanceOf", True), ("is_a", True), ("blood type", False)],
)
def test_relations_that_lead_to_classes(relation, tells):
    assert is_class_relation(relation) == tells


def test_a_class_is_called_by_a_noun():
    assert [class_noun(n) for n in ("SoccerClub", "Films")] == ["soccer club", "film"]
    assert class_noun("wordnet_scientist_110560637") == "scientist"


def test_members_of_a_whole_table_are_not_what_nothing_is_called():
    players = [(f"P{i}", "type", "player") for i in range(12)]
    teams = [(f"P{i}", "team", "Heat") for i in range(12)]
    conflict = conflicts("What arena does Heat play in?", [*players, *teams], "Heat")
    assert conflict == {f"P{i}" for i in range(12)}
    few = [*players[:3], *teams[:3]]
    assert not conflicts("What arena does Heat play in?", few, "Heat")
    assert not conflicts("Which players does Heat have?", [*players, *teams], "Heat")
    # Any member may be called a person, and an author is no translator.
    assert not conflicts("Which people are in Heat?", [*players, *teams], "Heat")
    book = [("Dune", "author", "Herbert"), ("Dune", "genre", "novel")]
    assert conflicts("Who translated Dune?", book, "Dune") == {"Herbert"}
    assert not conflicts("Who wrote Dune?", book, "Dune")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (["7001", "7002", "7003"], {"7001", "7002", "7003"}),
        (["1917", "300", "Heat"], set()),  # films, some called by a number
        (["7001", "7002"], set()),
        (["INV-101", "INV-102", "7003"], {"INV-101", "INV-102", "7003"}),
        (["R2-D2", "A3", "C-3PO"], set()),
    ],
)
def test_members_of_a_class_that_only_numbers_or_codes_name_are_rows(members, expected):
    rows = [(name, "type", "visit") for name in members]
    around, names = named_graph([*rows, (members[0], "patient", "Ann")], ["Ann"])
    found = numbered_nodes(around, len(names))
    assert {names[i] for i in np.flatnonzero(found)} == expected
