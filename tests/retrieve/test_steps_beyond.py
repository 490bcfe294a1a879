"""Nodes that lie a step beyond what a question names, on graphs by hand."""

import numpy as np
import pytest
from named_graph import named_graph

from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.lacking import lacks_member, lacks_relation
from kgscout_jax.text.asked_kind import question_tokens


def constraints(facts, question, *topics):
    around, names = named_graph(facts, topics)
    unnamed = np.zeros(len(names), bool)
    return question_constraints(question, topics, None, around, unnamed), names


def shared(facts, question, *topics):
    found, names = constraints(facts, question, *topics)
    return (
        None
        if found.shared is None
        else [names[i] for i in np.flatnonzero(found.shared)]
    )


TEAMS = [
    ("Ann", "member of", "Storage"), ("Bo", "member of", "Storage"),
    ("Cy", "member of", "Ledger"), ("Ledger", "led by", "Ann"),
    ("Ann", "works in team", "Night"), ("Di", "works in team", "Night"),
    ("Storage", "is a", "group"), ("Ledger", "is a", "group"),
]  # fmt: skip


def test_who_has_the_same_is_not_what_they_share():
    # The relation calls it a team, its class a group.
    assert shared(TEAMS, "Who else is on the same team as Ann?", "Ann") == ["Di"]
    assert shared(TEAMS, "Who is in the same group as Bo?", "Bo") == ["Ann"]
    assert shared(TEAMS, "Who is in the same choir as Bo?", "Bo") is None


BANDS = [
    ("The Tides", "originatesFrom", "Dublin"), ("The Tides", "releasedAlbum", "Waves"),
    ("The Reeds", "originatesFrom", "Lyon"), ("The Reeds", "releasedAlbum", "Marsh"),
    ("Dublin", "locatedInCountry", "Ireland"), ("Lyon", "locatedInCountry", "France"),
    ("Ann", "memberOf", "The Tides"), ("The Tides", "hasGenre", "folk"),
]  # fmt: skip


def test_the_country_of_a_band_is_that_of_its_city():
    question = "What country are The Tides from?"
    assert shared(BANDS, question, "The Tides") == ["Ireland"]
    # "Sponsors" says another way than where it is.
    asked = "What country sponsors The Tides?"
    assert shared(BANDS, asked, "The Tides") is None


def test_names_tell_countries_where_no_relation_does():
    parts = [(h, "is part of" if "Country" in r else r, t) for h, r, t in BANDS]
    question = "Which country do The Tides come from?"
    assert shared(parts, question, "The Tides") == ["Ireland"]
    invented = [(h, r, {"Ireland": "Ira"}.get(t, t)) for h, r, t in parts]
    assert shared(invented, question, "The Tides") is None


def lacks(facts, question, topic):
    around, _ = named_graph(facts, [topic])
    return lacks_relation(question_tokens(question, [topic]), around)


def test_only_what_others_like_it_have_does_a_topic_lack():
    question = "What country are The Tides from?"
    assert not lacks(BANDS, question, "The Tides")
    # Another band has one.
    of_band = [*BANDS, ("The Reeds", "locatedInCountry", "France")]
    assert lacks(of_band, question, "The Tides")
    # By classes: Ann is no firm.
    firms = [
        ("Acme", "ceo", "Bo"), ("Acme", "is a", "firm"), ("Ann", "is a", "person"),
        ("Ann", "works at", "Acme"), ("Bolt", "is a", "firm"), ("Bolt", "in", "Bern"),
    ]  # fmt: skip
    assert lacks(firms, "Who is the CEO of Bolt?", "Bolt")
    assert not lacks(firms, "Who is the CEO of Ann?", "Ann")


BOOKS = [
    ("Dunes", "publisher", "Mill"), ("Dunes", "author", "Ann"),
    ("Reeds", "publisher", "Mill"), ("Reeds", "author", "Bo"),
    ("Marsh", "publisher", "Owl"), ("Marsh", "author", "Cy"),
    ("Mill", "founded", "1901"), ("Mill", "owner", "Di"), ("Owl", "owner", "Di"),
]  # fmt: skip


def test_writers_that_a_firm_publishes_are_those_of_its_books():
    assert shared(BOOKS, "Which writers are published by Mill?", "Mill") == [
        "Ann",
        "Bo",
    ]
    assert shared(BOOKS, "Which books are published by Mill?", "Mill") == [
        "Dunes",
        "Reeds",
    ]


SERVICES = [
    ("cart", "uses", "redis"), ("cart", "is a", "service"),
    ("mail", "depends on", "cart"), ("mail", "is a", "service"),
    ("redis", "is a", "database"), ("Ann", "runs", "mail"), ("Ann", "is a", "person"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("topic", "expected"), [("mail", True), ("cart", False), ("Ann", False)]
)
def test_a_topic_lacks_a_member_of_a_class_that_others_like_it_have(topic, expected):
    around, _ = named_graph(SERVICES, [topic, "database"])
    assert lacks_member(around) == expected


def test_what_a_class_and_a_topic_share_is_of_that_class():
    parks = [
        ("Horn", "lies in", "Wald"), ("Wald", "is a", "park"),
        ("Peru", "highest point", "Horn"), ("Peru", "has", "park"),
    ]  # fmt: skip
    assert shared(parks, "Which park is Horn in?", "Horn", "park") == ["Wald"]
