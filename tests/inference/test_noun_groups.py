"""Which entities a question means that have values of several relations."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

CLUBS = {"Union Halle": 1907, "Dynamo Suhl": 1954}
PLAYERS = {"Ada Bergk": 1999, "Ben Cohn": 2003, "Cem Dal": 1992}
GROUNDS = {"Kurt Park": (1921, 9000), "Am Wall": (1988, 21000)}
BALLS = {"Telstar": 1970, "Tango": 1978, "Azteca": 1986}
GRAPH = KnowledgeGraph.from_triplets([
    *((club, "year_founded", str(year)) for club, year in CLUBS.items()),
    *((who, "birth_date", f"{year}-03-01") for who, year in PLAYERS.items()),
    *((place, "opened_in_year", str(year)) for place, (year, _) in GROUNDS.items()),
    *((place, "seating_capacity", str(seats)) for place, (_, seats) in GROUNDS.items()),
    *((ball, "year of first match", str(year)) for ball, year in BALLS.items()),
    *((ball, "made by", "Derby Star") for ball in BALLS),
    *zip(PLAYERS, ["plays_for"] * 3, ["Union Halle", "Union Halle", "Dynamo Suhl"],
         strict=True),
    *zip(PLAYERS, ["previous_club"] * 3, [*CLUBS, "Union Halle"], strict=True),
    *zip(CLUBS, ["home_ground"] * 2, GROUNDS, strict=True),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which club is the oldest?", ["Union Halle"]),
        ("Who is the oldest player?", ["Cem Dal"]),
        ("Who is the youngest?", ["Ben Cohn"]),
        ("Who is the oldest?", ["Cem Dal"]),
        ("What is the oldest ground?", ["Kurt Park"]),
        ("What is the newest stadium?", ["Am Wall"]),  # a word related to ground
        ("Which ground is the biggest?", ["Am Wall"]),
        ("What is the oldest ball here?", ["Telstar"]),  # what no relation calls it
        ("Which balls are from before 1980?", ["Telstar", "Tango"]),
        ("Of all the players, who was born last?", ["Ben Cohn"]),
        ("Who is the oldest coach?", []),
    ],
)
def test_a_noun_tells_which_of_those_with_a_year_are_compared(
    general_scout, question, answers
):
    found = general_scout.retrieve(question, GRAPH).answers
    assert {answer.name for answer in found} == {*answers}


def test_a_relation_that_is_named_comes_before_others(general_scout):
    """Somebody may be joined to a club as a player, a former one or its captain."""
    graph = KnowledgeGraph.from_triplets([
        *((who, "birth_date", f"{year}-03-01") for who, year in PLAYERS.items()),
        ("Ada Bergk", "plays_for", "Union Halle"),
        ("Ben Cohn", "previous_club", "Union Halle"),
        ("Cem Dal", "plays_for", "Union Halle"),
        ("Union Halle", "team_captain", "Cem Dal"),
    ])  # fmt: skip
    found = general_scout.retrieve("Who is the youngest player at Union Halle?", graph)
    assert [answer.name for answer in found.answers] == ["Ada Bergk"]
