"""Questions of two tests of values, ratings, numbers as words, and counted units."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

GAMES = {
    # title: released, copies in millions, score, players
    "Moss": ("2009-04-01", "12", "71", "1"),
    "Ferns": ("2012-09-12", "45", "88", "2"),
    "Tarn": ("2015-02-20", "8", "93", "4"),
    "Scree": ("2015-11-02", "21", "64", "6"),
}
RELATIONS = ("releaseDate", "unitsSoldMillions", "criticScore", "players")
GRAPH = KnowledgeGraph.from_triplets([
    *((game, relation, value) for game, values in GAMES.items()
      for relation, value in zip(RELATIONS, values, strict=True)),
    *((game, "publishedBy", "Kea") for game in ("Ferns", "Scree", "Tarn")),
    *((game, "genre", genre) for game, genre in
      zip(GAMES, ("Puzzle", "Puzzle", "Racing", "Racing"), strict=True)),
    ("Kea", "foundedInYear", "2015"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What is the best selling game released before 2013?", "Ferns"),
        ("What was the first game released in 2015?", "Tarn"),
        ("What was the last game of them all?", "Scree"),
        ("Which game released after 2010 has the lowest critic score?", "Scree"),
        ("Games released after 2010 that sold over 20 million copies", "Ferns Scree"),
        ("Which game has sold the most copies?", "Ferns"),
        ("Which games sold more than 40 million copies?", "Ferns"),
        ("What is the worst rated game?", "Scree"),
        ("Did Tarn score higher than Ferns?", "yes"),
        ("Which games scored 88 or more?", "Ferns Tarn"),
        ("Games with a critic score of 71 or less", "Moss Scree"),
        ("Which games have four players?", "Tarn"),
        ("Which games have more than two players?", "Tarn Scree"),
        ("How many games have at least two players?", "3"),
        ("Which racing games have more than five players?", "Scree"),
        ("Which puzzle games sold more than 5 million copies?", "Moss Ferns"),
        ("List the puzzle games", "Moss Ferns"),
        ("How many puzzles are there?", "2"),
        # No graph of games tells what these compare.
        ("What is the best selling game made for schools?", ""),
        ("What is the oldest game with more than nine levels?", ""),
    ],
)
def test_values_are_compared_by_all_that_a_question_says(
    general_scout, question, answers
):
    found = general_scout.retrieve(question, GRAPH).answers
    assert {answer.name for answer in found} == {*answers.split()}


def test_units_of_time_tell_a_relation(general_scout):
    graph = KnowledgeGraph.from_triplets([
        ("Stew", "total_minutes", "150"), ("Soup", "total_minutes", "45"),
        ("Stew", "servings", "4"), ("Soup", "servings", "9"),
    ])  # fmt: skip
    films = KnowledgeGraph.from_triplets(
        [("Heat", "runtime", "170"), ("Alien", "runtime", "117")]
    )
    (film,) = general_scout.retrieve("Films longer than two hours", films).answers
    assert film.name == "Heat"
    for question in (
        "Which dish takes the longest?",
        "Which dishes take more than two hours?",
        "Which dishes take more than 80 minutes?",
    ):
        (answer,) = general_scout.retrieve(question, graph).answers
        assert answer.name == "Stew"


def test_each_test_has_a_relation_of_its_own(general_scout):
    graph = KnowledgeGraph.from_triplets([
        ("Ann", "Start Date", "2009-02-01"), ("Ann", "Salary", "90000"),
        ("Bob", "Start Date", "2011-05-01"), ("Bob", "Salary", "140000"),
        ("Cid", "Start Date", "2019-09-01"), ("Cid", "Salary", "150000"),
        ("outage", "first_occurred", "2019-02-03"), ("outage", "type", "incident"),
    ])  # fmt: skip
    for question, name in (
        ("Who joined before 2012 and earns more than 120000?", "Bob"),
        ("Who was hired last?", "Cid"),
        ("What was the first incident?", "outage"),
    ):
        (answer,) = general_scout.retrieve(question, graph).answers
        assert answer.name == name


SERVERS = {
    # name: memory, disk, power, time in use, area of its rack
    "web": ("64 GB", "500 GB", "90 W", "12 months", "400 m²"),
    "mail": ("128 GB", "2 TB", "1.2 kW", "3 years", "600 m²"),
    "db": ("256 GB", "1 TB", "0.8 kW", "48 months", "800 m²"),
}
ROOM = KnowledgeGraph.from_triplets([
    (name, relation, value) for name, values in SERVERS.items()
    for relation, value in zip(
        ("RAM", "Disk", "Puissance", "lease duration", "floor"), values, strict=True
    )
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which servers have more than 64 GB RAM?", "mail db"),
        ("Which servers have more than 100 GB of RAM?", "mail db"),
        ("Which servers have at least 128 GB of RAM?", "mail db"),
        ("Which servers have up to 128 GB of RAM?", "web mail"),
        ("Which servers have between 100 and 200 GB of RAM?", "mail"),
        ("Which servers have 64 GB of RAM?", "web"),
        ("Which servers have less than 2 TB of disk?", "web db"),
        ("Which servers have between 1 and 2 TB of disk?", "mail db"),
        # The one relation in kW, whatever it is called
        ("Which servers have over 100 W?", "mail db"),
        ("Which servers have a power of over 1 kW?", "mail"),
        ("Which servers run for more than 36 months?", "db"),
        ("Which servers have a floor of over 400 m²?", "mail db"),
        # ... but two are in GB
        ("Which servers have more than 100 GB?", ""),
        ("Which server has the largest disk?", "mail"),
        ("Which server has the smallest disk?", "web"),
    ],
)
def test_an_amount_behind_a_comparing_word_is_a_limit_in_its_unit(
    general_scout, question, answers
):
    found = general_scout.retrieve(question, ROOM).answers
    assert {answer.name for answer in found} == {*answers.split()}


def test_a_limit_is_no_cell_with_the_same_number(general_scout):
    graph = KnowledgeGraph.from_triplets([
        ("Elm", "size", "500 beds"), ("Oak", "size", "620 beds"),
        ("Ash", "size", "90 beds"),
    ])  # fmt: skip
    found = general_scout.retrieve("Which clinics have a size over 500 beds?", graph)
    assert [answer.name for answer in found.answers] == ["Oak"]
