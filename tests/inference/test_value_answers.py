"""Choices and yes or no by values, and values that candidates leave out."""

from __future__ import annotations

import numpy as np
import pytest
from scout_factory import shared_world

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.topics import SearchStart, search_start
from kgscout_jax.inference.whole_graph import compared_entities, walked_text

TOWNS = {"Rome": 2800, "Milan": 1300, "Turin": 600, "Pisa": 90}
GRAPH = KnowledgeGraph.from_triplets([
    *((town, "population", str(size)) for town, size in TOWNS.items()),
    *((town, "town_of", "Italy") for town in TOWNS),
    # Neighbours enough to fill the cut.
    *((town, "twin_of", f"{town} twin {i}") for town in TOWNS for i in range(30)),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "kind", "answer"),
    [
        ("Which is larger, Milan or Turin?", "set", "Milan"),
        ("Which of Milan or Turin has the smaller population?", "set", "Turin"),
        ("Is Milan larger than Turin?", "yes_no", "yes"),
        ("Is the population of Turin above that of Milan?", "yes_no", "no"),
        ("Does Turin have a population of at least 600?", "yes_no", "yes"),
    ],
)
def test_the_two_that_are_named_are_compared(general_scout, question, kind, answer):
    topics = [name for name in ("Milan", "Turin") if name in question]
    result = general_scout.retrieve(question, GRAPH, topics=topics, k=8)
    assert (result.kind, result.answers[0].name) == (kind, answer)
    path = set(result.answers[0].path)
    assert path == {(town, "population", str(TOWNS[town])) for town in topics}
    assert path <= set(result.triplets)


def test_a_choice_is_not_answered_without_values(general_scout):
    graph = KnowledgeGraph.from_triplets(
        [("Rome", "in", "Italy"), ("Pisa", "in", "Rome")]
    )
    any_at_all = SelectionConfig(min_probability=0.0)

    def abstained(question):
        topics = ["Rome", "Pisa"]
        found = general_scout.retrieve(
            question, graph, topics=topics, selection=any_at_all
        )
        return found.abstained

    assert abstained("Which is larger, Rome or Pisa?")
    assert abstained("Is Rome larger than Pisa?")
    assert not abstained("Who is in Rome or Pisa?")
    assert abstained("Which town of Rome is larger than Pisa?")


def test_yes_or_no_beyond_the_cut_goes_to_the_network_where_a_value_is_missing(
    general_scout,
):
    """Values that join the candidates must not, as the network takes no more."""
    towns = ("Milan", "Turin")
    graph = KnowledgeGraph.from_triplets([
        *(("Milan", "population", str(size)) for size in range(50)),
        *((town, "twin_of", f"{town} twin {i}") for town in towns for i in range(40)),
    ])  # fmt: skip
    result = general_scout.retrieve(
        "Is Milan larger than Turin?", graph, topics=towns, k=8
    )
    assert result.abstained and result.n_candidates == general_scout.cut.candidates


def test_a_policy_without_answers_reads_the_whole_question():
    scout = shared_world("thesis").scout
    question = "Which town of Italy has the largest population?"
    (search,) = scout._searcher.searches(
        [question], [GRAPH], ["Italy"], None, scout.link
    )
    assert search.compared is None
    assert np.array_equal(search.vectors.whole, scout.encode([question])[0])


def test_a_limit_that_is_an_entity_is_left_out_of_the_walk(general_scout):
    graph = KnowledgeGraph.from_triplets(
        [("Rome", "twin_of", "Nagoya"), ("Nagoya", "opened_on", "1991-05-01")]
    )
    text = "Which twins of Rome opened before 1991-05-01?"
    start = search_start(text, graph, None, general_scout.link)
    assert len(start.ids) == 2  # the town, and the day
    asked = compared_entities(text, graph, start)
    assert asked and walked_text(text, graph, start, asked) == "Which twins of Rome"


def test_guesses_at_the_answer_count_beside_the_clause_that_is_left_out(general_scout):
    question = "Which twins of Rome have a population over 600?"

    def whole(text, guesses):
        hypotheses = [guesses]
        found = general_scout._searcher.searches(
            [text], [GRAPH], ["Rome"], hypotheses, general_scout.link
        )
        return found[0].vectors.whole

    guesses = ["Rome has many people."]
    assert np.array_equal(
        whole(question, guesses), whole("Which twins of Rome", guesses)
    )
    assert not np.array_equal(whole(question, guesses), whole(question, []))


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which town has the largest population?", {"Rome"}),
        ("What is the town with the lowest population?", {"Pisa"}),
        ("Which towns have a population over 600?", {"Rome", "Milan"}),
        ("How many towns have a population over 600?", {"2"}),
        ("Which towns have a larger population than Turin?", {"Rome", "Milan"}),
        ("Which town has the most people?", {"Rome"}),
        ("Which town has the second largest population?", {"Milan"}),
        ("Which are the three smallest towns?", {"Pisa", "Turin", "Milan"}),
        ("Top 2 towns by population", {"Rome", "Milan"}),
        ("Which towns have more people than Turin?", {"Rome", "Milan"}),
    ],
)
def test_without_a_topic_the_values_of_the_whole_graph_are_compared(
    general_scout, question, answers
):
    result = general_scout.retrieve(question, GRAPH, k=20)
    assert {answer.name for answer in result.answers} == answers
    assert not result.topics
    for answer in result.support or result.answers:
        own = (answer.name, "population", str(TOWNS[answer.name]))
        assert own in answer.path and own in result.triplets


def test_a_maker_called_like_the_noun_does_not_say_what_is_compared(general_scout):
    graph = KnowledgeGraph.from_triplets([
        ("Merlot", "price_eur", "9"), ("Shiraz", "price_eur", "5"),
        ("Shiraz", "made_by", "Hill Wines"), ("Hill Wines", "based_in", "Bern"),
    ])  # fmt: skip
    result = general_scout.retrieve("Which wine is the most expensive?", graph, k=9)
    assert [each.name for each in result.answers] == ["Merlot"]


@pytest.mark.parametrize("question", [
    "Which town ruled by Zorro has the largest population?",
    "Which town has the largest population and a zoo?",
])  # fmt: skip
def test_words_that_values_do_not_explain_are_not_passed_over(general_scout, question):
    result = general_scout.retrieve(question, GRAPH, k=20)
    assert result.topics or result.abstained
    named = general_scout.retrieve(
        "Which town has the largest population?", GRAPH, topics="Oz"
    )
    assert named.abstained and named.topics_not_found == ("Oz",)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which part is the most expensive?", "Bolt"),
        ("What is the most expensive product?", "Bolt"),
        ("What is the most expensive product in the catalogue?", "Bolt"),
        ("What is the cheapest part that we have?", "Nut"),
        # Not all parts are Swiss, nor in a gadget.
        ("What is the most expensive Swiss part?", None),
        ("What is the most expensive part in the gadget?", None),
    ],
)
def test_a_superlative_without_a_topic_names_what_it_compares(
    general_scout, question, answer
):
    graph = KnowledgeGraph.from_triplets([
        ("Bolt", "unit-price", "3 EUR"), ("Nut", "unit-price", "1 EUR"),
        ("Gadget", "contains-part", "Nut"),
    ])  # fmt: skip
    result = general_scout.retrieve(question, graph)
    first = result.answers[0].name if result.answers else None
    assert first == answer or (answer is None and first != "Bolt")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the largest city in Italy?", "Rome"),  # a capital city
        ("Which river in Italy is the longest?", "Po"),
        ("What is the longest film?", "Heat"),  # by its cut, which has no name
    ],
)
def test_narrower_classes_and_nodes_without_a_name_are_compared(
    general_scout, question, answer
):
    graph = KnowledgeGraph.from_triplets([
        *((name, "country", "Italy") for name in ("Rome", "Milan", "Bari", "Po")),
        ("Italy", "capital", "Rome"), ("Rome", "instance of", "capital city"),
        ("Milan", "instance of", "city"), ("Bari", "instance of", "city"),
        ("Rome", "population", "2800000"), ("Milan", "population", "1300000"),
        ("Bari", "population", "310000"), ("Po", "instance of", "river"),
        ("Po", "length", "652"), ("Heat", "instance of", "film"),
        ("Alien", "instance of", "film"), ("Heat", "film.film.runtime", "m.01abc"),
        ("Alien", "film.film.runtime", "m.02abc"),
        ("m.01abc", "film.film_cut.runtime", "170"),
        ("m.02abc", "film.film_cut.runtime", "117"),
    ])  # fmt: skip
    result = general_scout.retrieve(question, graph)
    assert [each.name for each in result.answers] == [answer]


def test_a_number_is_no_date(general_scout):
    graph = KnowledgeGraph.from_triplets([
        ("O1", "ordered_on", "2026-01-02"), ("O2", "ordered_on", "2026-02-03"),
        ("O1", "total", "9"), ("O2", "total", "500"),
    ])  # fmt: skip

    def found(question):
        return [a.name for a in general_scout.retrieve(question, graph).answers]

    assert found("Which orders are over 300?") != ["O1", "O2"]
    assert found("What was the most expensive order?") == ["O2"]


def test_a_measure_is_told_by_its_name_without_its_unit(general_scout):
    graph = KnowledgeGraph.from_triplets([
        *((name, "area_km2", size) for name, size in (("Chad", "9"), ("Mali", "5"))),
        *((name, "population", n) for name, n in (("Chad", "5"), ("Mali", "9"))),
    ])  # fmt: skip
    first = general_scout.retrieve(
        "What is the largest country by area?", graph
    ).answers[0]
    assert first.name == "Chad"


def test_two_relations_that_disagree_are_no_answer(general_scout):
    graph = KnowledgeGraph.from_triplets([
        *((name, "height", size) for name, size in (("Rotwand", "9"), ("Alm", "5"))),
        *((name, "altitude", size) for name, size in (("Rotwand", "5"), ("Hut", "9"))),
    ])  # fmt: skip
    assert general_scout.retrieve("What is the highest?", graph).abstained
    assert not general_scout.retrieve("What has the highest altitude?", graph).abstained


def test_values_beyond_the_cut_join_the_candidates(general_scout):
    question = "Which town of Italy has the largest population?"
    plain, valued = (
        general_scout.retrieve(text, GRAPH, topics="Italy", k=100)
        for text in ("Which town is of Italy?", question)
    )
    sizes = {t for t in valued.triplets if t[1] == "population"}
    assert sizes == {(town, "population", str(size)) for town, size in TOWNS.items()}
    assert len({*valued.triplet_ids.tolist()}) == len(valued.triplets)
    assert valued.n_candidates <= plain.n_candidates + len(sizes)
    best = (*valued.answers, *valued.best_guesses)[0]
    assert best.name == "Rome" and best.path[-1] == ("Rome", "population", "2800")
    assert np.isfinite(valued.scores).all()


DATES = KnowledgeGraph.from_triplets([
    ("Iron Tide", "released", "2003-02-01"), ("Stone Lake", "released", "2003-10-10"),
    ("Red Moor", "released", "2003-11-11"), ("Old Gate", "released", "1989-11-12"),
    *(("Ann Moss", "directed", film) for film in ("Iron Tide", "Old Gate")),
])  # fmt: skip
YEARS = KnowledgeGraph.from_triplets([
    (film, "released", year) for film, year in
    (("Iron Tide", "2003"), ("Stone Lake", "2003"), ("Old Gate", "1989"))
])  # fmt: skip
AGES = KnowledgeGraph.from_triplets(
    [("Ann", "age", "34"), ("Bob", "age", "29"), ("Cid", "age", "51")]
)
BIRTHS = KnowledgeGraph.from_triplets(
    [("Ann", "birth date", "1990-01-02"), ("Bob", "birth date", "1995-03-01")]
)
CLIMBS = KnowledgeGraph.from_triplets([
    ("Alder", "first climbed", "May 1921"),
    ("Birch", "first climbed", "12 August 1899"),
    ("Drum", "first climbed", "July 4, 1950"),
])  # fmt: skip
PEOPLE = KnowledgeGraph.from_triplets([
    ("Berlin", "population", "3.6 million"), ("Celle", "population", "69706"),
    ("Hamburg", "population", "1.8 million"), ("Ulm", "population", "126949"),
])  # fmt: skip
REVENUES = KnowledgeGraph.from_triplets([
    ("Acme", "revenue", "$1.2 billion"), ("Byte", "revenue", "$900 million"),
    ("Cole", "revenue", "$15M"), ("Dyne", "revenue", "$750 thousand"),
])  # fmt: skip


def answers_of(general_scout, question, graph, **more):
    """The names of the answers; None where there is none."""
    found = general_scout.retrieve(question, graph, k=20, **more)
    return None if found.abstained else {answer.name for answer in found.answers}


@pytest.mark.parametrize(
    ("graph", "question", "answers"),
    [
        (
            DATES,
            "Which films were released in 2003?",
            "Iron Tide, Red Moor, Stone Lake",
        ),
        (DATES, "How many films were released in 2003?", "3"),
        (DATES, "Which films were released in the year 1989?", "Old Gate"),
        (DATES, "Which films were released in October 2003?", "Stone Lake"),
        (DATES, "Which films were released between 1988 and 1990?", "Old Gate"),
        (DATES, "Which films were released from 1990 to 2002?", None),
        (DATES, "Which films were released after 2003?", None),
        (DATES, "Which films were released before 2003?", "Old Gate"),
        (
            DATES,
            "Which films were released after 1989?",
            "Iron Tide, Red Moor, Stone Lake",
        ),
        (DATES, "Was Iron Tide released in 2003?", "yes"),
        (DATES, "Was Iron Tide released in October 2003?", "no"),
        (YEARS, "Which films were released in 2003?", "Iron Tide, Stone Lake"),
        (YEARS, "Was Old Gate released in 2003?", "no"),
        (YEARS, "Which films were released after 1989?", "Iron Tide, Stone Lake"),
        (AGES, "Is Bob older than 30?", "no"),
        (AGES, "Is Cid younger than 60?", "yes"),
        (AGES, "Who is older than 30?", "Ann, Cid"),
        (AGES, "Who is younger than 40?", "Ann, Bob"),
        (AGES, "Who is older than Ann?", "Cid"),
        (BIRTHS, "Who is the oldest?", "Ann"),
        (BIRTHS, "Who is the eldest?", "Ann"),
        (BIRTHS, "Who was born after 1990?", "Bob"),
        (BIRTHS, "Is Bob older than 30?", None),  # the graph does not know today
        (CLIMBS, "Was Birch first climbed before Alder?", "yes"),
        (CLIMBS, "Was Alder first climbed before Birch?", "no"),
        (CLIMBS, "Which was first climbed after 1920?", "Alder, Drum"),
        (CLIMBS, "Which was first climbed in August 1899?", "Birch"),
        (PEOPLE, "Which cities have a population over 2 million?", "Berlin"),
        (PEOPLE, "Which cities have a population below 200 thousand?", "Celle, Ulm"),
        (PEOPLE, "Which has a population between 1 and 2 million?", "Hamburg"),
        (PEOPLE, "Which city has the largest population?", "Berlin"),
        (REVENUES, "Which firm has the highest revenue?", "Acme"),
        (REVENUES, "Which firms have a revenue over $500M?", "Acme, Byte"),
        (REVENUES, "Which firms have a revenue of less than 1 million?", "Dyne"),
    ],
)
def test_values_are_within_limits(general_scout, graph, question, answers):
    expected = None if answers is None else {*answers.split(", ")}
    assert answers_of(general_scout, question, graph) == expected


def test_a_day_of_the_year_is_no_start_of_the_walk(general_scout):
    any_at_all = SelectionConfig(min_probability=0.0)
    more = {"selection": any_at_all, "topics": "2003-11-11"}
    assert (
        answers_of(general_scout, "Which films were shot in 2003?", DATES, **more)
        is None
    )
    assert answers_of(general_scout, "Which films are on 2003-11-11?", DATES, **more)


def test_of_what_a_walk_finds_those_of_the_year_remain(general_scout):
    any_at_all = SelectionConfig(min_probability=0.0)
    question = "Which films that Ann Moss directed were released in {}?"
    more = {"topics": "Ann Moss", "selection": any_at_all}
    for year, film in (("2003", "Iron Tide"), ("1989", "Old Gate")):
        assert answers_of(general_scout, question.format(year), DATES, **more) == {film}


def test_a_value_that_cannot_be_read_might_pass(general_scout):
    heights = [("Alm", "height", "820 m"), ("Rot", "height", "1.2 km")]
    heights += [(f"Peak {i}", "height", f"{i} m") for i in range(1, 9)]
    question = "Which has the largest height?"
    graph = KnowledgeGraph.from_triplets(heights)
    assert "Rot" in (answers_of(general_scout, question, graph) or ())
    unread = KnowledgeGraph.from_triplets([*heights, ("Drum", "height", "9 leagues")])
    any_at_all = SelectionConfig(min_probability=0.0)
    assert answers_of(general_scout, question, unread, selection=any_at_all) is None


def test_a_relation_may_say_what_the_comparing_word_says(general_scout):
    any_at_all = SelectionConfig(min_probability=0.0)
    question = "What is the highest point of Italy?"
    for relation, is_said in (("highest_point", True), ("border", False)):
        graph = KnowledgeGraph.from_triplets([("Italy", relation, "Rotwand")])
        found = answers_of(
            general_scout, question, graph, topics="Italy", selection=any_at_all
        )
        assert (found is not None) == is_said


MAYORS = [
    ("Elm", "mayor", "Greta Holm"), ("Ash", "mayor", "Per Dahl"),
    ("Elm", "population", "12,400"), ("Ash", "population", "980"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Who is the mayor of the town with the largest population?", "Elm"),
        ("Who is the mayor of the smallest town?", "Ash"),
    ],
)
def test_what_values_choose_is_the_topic_of_a_question_about_it(
    general_scout, question, topic
):
    graph = KnowledgeGraph.from_triplets(MAYORS)
    result, plain = (
        general_scout.retrieve(text, graph, topics=names, k=20)
        for text, names in ((question, None), (f"Who is the mayor of {topic}?", topic))
    )
    assert result.topics == (topic,) and result.question == question
    assert result.triplets == plain.triplets
    assert not result.abstained
    found, expected = (
        [(each.name, each.path) for each in answers]
        for answers in (result.answers, plain.answers)
    )
    assert found == expected


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("Who is the mayor of the largest town?", [("Oak", "population", "12,400")]),
        ("Who is the mayor of the largest town ruled by Zorro?", []),
        ("Who is the mayor of the towns with a population over 1,000?", []),
    ],
)
def test_what_is_compared_is_not_said_where_something_else_is_asked_for(
    general_scout, question, more
):
    graph = KnowledgeGraph.from_triplets([*MAYORS, *more])
    assert answers_of(general_scout, question, graph) is None
    other = "Which towns have a population over 1,000?"
    assert answers_of(general_scout, other, graph) == {
        "Elm",
        *(town for town, *_ in more),
    }


RIVERS = {"Danube": (2850, "Romania"), "Rhine": (1233, "Germany"), "Po": (652, "Italy")}
CLASSED = KnowledgeGraph.from_triplets([
    *((river, "type", "River") for river in RIVERS),
    *((river, "length", str(length)) for river, (length, _) in RIVERS.items()),
    *((river, "country", country) for river, (_, country) in RIVERS.items()),
    ("Old Bridge", "type", "Bridge"), ("Old Bridge", "length", "90"),
    ("Old Bridge", "crosses", "Po"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which river is the longest?", {"Danube"}),
        ("What is the shortest river?", {"Po"}),
        ("Which rivers are longer than 1000?", {"Danube", "Rhine"}),
    ],
)
def test_a_class_that_a_question_names_is_compared_as_a_whole(
    general_scout, question, answers
):
    result = general_scout.retrieve(question, CLASSED, k=8)
    assert {answer.name for answer in result.answers} == answers


def test_durations_of_the_kind_that_is_asked_for_are_compared(general_scout):
    songs = {"Tide": "3:45", "Oak": "12:05", "Echo": "0:59", "Rain": "4:00"}
    songs |= {"Wake": "3:30", "Neon": "4:45"}
    albums = {"Oak": "39:12", "Dust": "1:02:00", "Salt": "58 min", "Fog": "31:00"}
    albums |= {"Pine": "44:10", "Clay": "40:59"}
    graph = KnowledgeGraph.from_triplets([
        *((song, "type", "song") for song in songs),
        *((song, "duration", length) for song, length in songs.items()),
        *((album, "type", "album") for album in albums),
        *((album, "length", length) for album, length in albums.items()),
    ])  # fmt: skip

    def answers(question):
        return {
            each.name for each in general_scout.retrieve(question, graph, k=9).answers
        }

    assert answers("Which song is the longest?") == {"Oak"}
    assert answers("What is the shortest song?") == {"Echo"}
    assert answers("Which songs are longer than 4 minutes?") == {"Oak", "Neon"}
    assert answers("Which songs are shorter than 3:45?") == {"Echo", "Wake"}
    assert answers("Which is longer, Tide or Wake?") == {"Tide"}
    assert answers("What is the average duration of the songs?") == {"4:51"}
    assert answers("What is the longest album?") == {"Dust"}


CATALOGUE = KnowledgeGraph.from_triplets([
    *(
        (name, relation, value)
        for name, year, tag in [
            ("Atlas", 2008, "genes"), ("Borea", 2020, "database"),
            ("Cygnus", 2020, "genes"), ("Delos", 2011, "ontology"),
        ]
        for relation, value in [("published", str(year)), ("keyword", tag)]
    ),
    ("Tool", "usedInDatabase", "Borea"), ("Tool", "published", "2020"),
    ("Tool", "language", "C"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        # Borea is one by a relation, the others have no other relations than Borea.
        ("Which databases were published in 2020?", {"Borea", "Cygnus"}),
        ("Which database is the oldest?", {"Atlas"}),
        # No relation leads to an ontology: those are meant whose keyword says so.
        ("Which ontology is the oldest?", {"Delos"}),
    ],
)
def test_what_a_noun_means_is_told_by_relations_before_keywords(
    general_scout, question, answers
):
    assert answers_of(general_scout, question, CATALOGUE) == answers


def test_the_noun_of_a_superlative_is_no_topic(general_scout):
    result = general_scout.retrieve(
        "In which country is the longest river?", CLASSED, k=8
    )
    assert result.topics == ("Danube",)


def test_a_class_stays_a_topic_where_nothing_is_compared(general_scout):
    assert general_scout.retrieve("What is a River?", CLASSED, k=8).topics == ("River",)


def test_under_a_name_without_values_compares_nothing():
    graph = KnowledgeGraph.from_triplets(
        [("Tool", "license", "GPL v3"), ("Otto", "reign start", "936")]
    )

    def compared(question, topic):
        ids = np.array([graph.find(topic)], np.int32)
        return compared_entities(question, graph, SearchStart(ids, (), ()))

    assert compared("Which tools are licensed under the GPL v3?", "GPL v3") is None
    assert compared("Who ruled after Otto?", "Otto") is not None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which town has the largest population?", "Elm"),
        ("Which town had the largest population in 2011?", "Oak"),
        ("What is the population of Oak?", "5"),
        ("What was the population of Oak in 2011?", "8"),
        ("What is the total population?", "14"),
        ("What was the total population in 2011?", "15"),
    ],
)
def test_the_latest_of_columns_by_year_is_meant_unless_a_year_is_said(
    general_scout, question, answer
):
    sizes = {"Elm": (7, 9), "Oak": (8, 5)}
    triplets = [("Elm", "mayor", "Ann"), ("Oak", "mayor", "Bob")]
    for town, (before, now) in sizes.items():
        triplets.append((town, "population_2011", str(before)))
        triplets.append((town, "population_2021", str(now)))
    graph = KnowledgeGraph.from_triplets(triplets)
    any_at_all = SelectionConfig(min_probability=0.0)
    result = general_scout.retrieve(question, graph, k=9, selection=any_at_all)
    assert result.answers[0].name == answer


def test_dates_with_slashes_and_abbreviated_columns(general_scout):
    triplets = [
        ("Alien", "released", "5/25/1979"), ("Heat", "released", "12/15/1995"),
        ("Alien", "msrp", "9"), ("Heat", "msrp", "12"),
    ]  # fmt: skip
    graph = KnowledgeGraph.from_triplets(triplets)

    def answers(question):
        return [
            each.name for each in general_scout.retrieve(question, graph, k=9).answers
        ]

    assert answers("Which films were released in 1995?") == ["Heat"]
    assert answers("Which film was released first?") == ["Alien"]
    assert answers("Which film came out first?") == ["Alien"]
    assert answers("Which film is the most expensive?") == ["Heat"]
    # The month comes first, as in the column.
    assert answers("Which films were released after 6/1/1979?") == ["Heat"]
    assert answers("Which films were released before 6/1/1979?") == ["Alien"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who was hired after 01/05/2023?", "Cid"),
        ("Who was hired after 31/12/2022?", "Bob Cid"),
        ("Who was hired on 01/05/2023?", "Bob"),
        ("Who was hired before 2023/02/01?", "Ann"),
        ("Who was hired between 01/01/2023 and 01/06/2023?", "Bob"),
    ],
)
@pytest.mark.parametrize("sign", "/.")
def test_a_limit_is_a_day_written_as_the_column_has_it(
    general_scout, question, names, sign
):
    days = {"Ann": "30/04/2010", "Bob": "01/05/2023", "Cid": "08/07/2023"}
    graph = KnowledgeGraph.from_triplets(
        [(name, "Hire Date", day.replace("/", sign)) for name, day in days.items()]
    )
    found = general_scout.retrieve(question, graph).answers
    assert {answer.name for answer in found} == {*names.split()}


HIRES = [
    ("Ann", "Hire Date", "11/08/2020"), ("Bob", "Hire Date", "20/02/2020"),
    ("Cid", "Hire Date", "30/04/2021"), ("Ann", "Department", "Sales"),
    ("Cid", "Department", "Sales"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who joined the company in 2020?", "Ann Bob"),
        ("Who joined our firm after 2020?", "Cid"),
        ("Who was hired by the company on 11/08/2020?", "Ann"),
        # No one day of the year, where words say more than the graph does
        ("Who joined the old yellow branch in 2020?", ""),
    ],
)
def test_a_year_is_every_day_of_it(general_scout, question, names):
    graph = KnowledgeGraph.from_triplets(HIRES)
    found = general_scout.retrieve(question, graph).answers
    assert {answer.name for answer in found} == {*names.split()}


def test_what_is_won_in_a_year_has_its_award_date_in_it(general_scout):
    days = {"Paving": "2018-03-06", "Taxis": "2019-04-13", "Meals": "2018-08-12"}
    graph = KnowledgeGraph.from_triplets([
        *((name, "supplier", "Oakline") for name in days),
        *((name, "award date", day) for name, day in days.items()),
        *((name, "end date", "2022-01-01") for name in days),
        *((name, "type", "contract") for name in days),
    ])  # fmt: skip
    question = "Which contracts did Oakline win in 2018?"
    found = general_scout.retrieve(question, graph, k=9).answers
    assert {answer.name for answer in found} == {"Paving", "Meals"}
