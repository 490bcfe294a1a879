"""What relations say of their ends, and what questions ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import KINDS, base_noun, base_verb, end_nouns, noun_kind


@pytest.mark.parametrize(
    ("relation", "heads", "tails"),
    [
        ("directed_by", {"film"}, {"director"}),
        ("directed", {"director"}, {"film"}),
        ("people.person.place_of_birth", {"person"}, {"place", "place of birth"}),
        ("birthPlace", {"person"}, {"place", "birth place"}),
        ("capitalOf", {"capital"}, {"country"}),
        ("location.country.languages_spoken", {"country"}, {"language"}),
        ("in_language", set(), {"language"}),
        ("has_genre", {"work"}, {"genre"}),
        ("depends on", set(), set()),
        ("plays_in_club", {"player"}, {"club"}),
        ("roles in film", set(), {"role in film"}),
        ("made of", set(), set()),
        ("formed_in", set(), {"place"}),
        ("drug_class", {"drug"}, {"drug class"}),
        ("type of court", {"court"}, {"type of court"}),
        ("jobTitle", {"person"}, {"job", "job title"}),
        ("almaMater", {"person"}, {"alma mater", "educational institution"}),
        ("deathDate", {"person"}, {"death date"}),
        ("average_weight_kg", set(), {"average weight"}),
        ("P131", set(), {"p131"}),
        ("athleteplaysforteam", {"athlete", "player"}, {"team"}),
        ("Compound–treats–Disease", {"compound", "drug"}, {"disease"}),
        ("memberOfDepartment", {"member"}, {"department"}),
        ("created_on_date", set(), {"date"}),
        ("/film/actor/film./film/performance/film", {"actor"}, {"film"}),
        ("dbo:award", set(), {"award"}),
        ("", set(), set()),
    ],
)
def test_names_of_relations_say_what_their_ends_are_called(relation, heads, tails):
    assert tuple(map(set, end_nouns(relation))) == (heads, tails)


@pytest.mark.parametrize(
    ("noun", "singular"),
    [
        ("movies", "movie"), ("countries", "country"), ("people", "person"),
        ("boxes", "box"), ("bus", "bus"), ("series", "series"), ("glass", "glass"),
    ],
)  # fmt: skip
def test_nouns_have_a_singular(noun, singular):
    assert base_noun(noun) == singular


def test_kinds_of_nouns_and_forms_of_verbs():
    kinds = [noun_kind(noun) for noun in ("actors", "city", "release year", "genre")]
    assert kinds == ["person", "place", "time", "thing"]
    forms = [base_verb(word) for word in ("wrote", "composed", "writes", "write", "by")]
    assert forms == ["write", "compose", "write", None, None]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who directed Alien?", "person"),
        ("By whom was Alien directed?", "person"),
        ("the films of Mann starred who", "person"),
        ("who is the director of Alien", "person"),
        ("Who is the religion of Alien?", "person"),
        ("Who is Mann's boss?", "person"),
        ("When did the films of Mann come out?", "time"),
        ("In which year was Alien released?", "time"),
        ("the films of Mann were released in which years", "time"),
        ("Where was Mann born?", "place"),
        ("Where does Mann work?", "place"),
        ("What capital has the country of Alien?", "place"),
        ("Name the actors of Alien.", "person"),
        ("What did Mann direct?", "thing"),
        ("What did Mann cost?", "thing"),
        ("what kind of film is Alien", "thing"),
        ("What's the capital of the country of Alien?", "place"),
        ("Can you tell me who wrote Alien?", "person"),
        ("Please tell me the director of Alien", "person"),
        ("Tell me about Alien", None),
        ("the movie Alien, when was it released", "time"),
        ("To see Alien, which airport do I use?", "place"),
        ("Alien was directed by whom", "person"),
        ("Alien is a film by this person", "person"),
        ("Mann's wife's nationality?", "thing"),
        ("the wife of Alien's director?", "person"),
        ("What is the name of Mann's wife?", "person"),
        ("what were the names of Mann's three children", "person"),
        ("The country in which you find Mann has what climate?", "thing"),
        ("What is the name of Mann?", None),
        ("Alien cast", "person"),
        ("What is the chief financial officer of Alien?", "person"),
        ("", None),
    ],
)
def test_words_of_a_question_say_what_it_asks_for(question, kind):
    asked = asked_kind(question, ["Alien", "Mann"])
    assert (asked and asked.kind) == kind


@pytest.mark.parametrize(
    ("question", "or_host"),
    [
        ("Where does Mann work?", True),
        ("Where was Mann employed in 1990?", True),
        ("Where is the club that Mann plays for?", False),
        ("Where did the firm open that Mann does work for?", False),
        ("Where was Mann born?", False),
        ("Where?", False),
    ],
)
def test_somebody_works_at_a_place_or_for_somebody(question, or_host):
    asked = asked_kind(question, ["Mann"])
    assert asked is not None and asked.or_host == or_host


def test_who_published_it_may_be_a_firm():
    published = asked_kind("Who published Alien?", ["Alien"])
    assert published is not None and published.or_named
    directed = asked_kind("Who directed Alien?", ["Alien"])
    assert directed is not None and not directed.or_named


def test_a_thing_is_asked_for_by_all_its_names():
    asked = asked_kind("Which movies did Mann direct?", ["Mann"])
    assert asked is not None and {"movie", "film"} <= asked.nouns
    genre = asked_kind("What film genre is Alien?", ["Alien"])
    assert genre is not None and {"genre", "film genre"} <= genre.nouns
    assert not asked.number
    many = asked_kind("How many people live there?", [])
    assert many is not None and many.number
    for question in ("What is the number of people of Bern?", "Count all the people"):
        assert asked_kind(question, ["Bern"]) == many


def test_anybody_is_a_person_and_days_are_counted():
    everyone = asked_kind("list everyone in the Ada team", ["Ada"])
    assert everyone is not None and (everyone.kind, everyone.which) == ("person", True)
    assert asked_kind("Show me everything on Alien", ["Alien"]) is None
    days = asked_kind("For how many days are they kept?", [])
    assert days is not None and (days.kind, days.number) == ("thing", True)
    # Who wrote the music of a film is no writer.
    music = asked_kind("Who wrote the music of Alien?", ["Alien"])
    assert music is not None and (music.kind, music.nouns) == ("person", frozenset())
    food = asked_kind("What kind of food does Alien serve?", ["Alien"])
    assert food is not None and "food" in food.nouns


def test_what_a_relation_leads_to_stands_behind_its_state_and_preposition():
    assert end_nouns("availableOnPlatform")[1] == {"platform": 1.0}


def test_the_last_word_of_a_compound_says_what_it_is():
    flower = asked_kind("what is the state flower of Alien", ["Alien"])
    assert flower is not None and flower.nouns == {"flower", "state flower"}
    airport = asked_kind("which airport serves the city of Alien", ["Alien"])
    assert airport is not None and airport.kind == "place"
    film = asked_kind("Which Mann film was the first?", ["Mann"])
    assert film is not None and film.nouns == {"film", "movie"}
    players = asked_kind("Which Mann film players play?", ["Mann"])
    assert players is not None and players.kind == "person"
    slogan = asked_kind("what is Alien state slogan", ["Alien"])
    assert slogan is not None and slogan.nouns == {"slogan", "state slogan"}


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("Which of the packages that Alien needs are old?", {"package", "library"}),
        ("Which film's director is Mann?", {"film", "movie"}),
        ("What is the film's genre?", {"genre"}),
        ("Who's the wife of Mann?", {"wife", "spouse"}),
        ("who is Mann's dad", {"dad", "father", "parent"}),
        ("the cause of death of Mann", {"cause", "cause of death"}),
        ("What place is Mann from?", set()),
        ("Where is Mann's place of birth?", set()),
        ("What is Mann's place of birth?", {"place of birth"}),
        ("who directed Alien", {"director"}),
        ("which person directed Alien", {"director"}),
        ("Alien was directed by who", {"director"}),
        ("who did Mann direct", set()),
        ("Give me all songs by Mann", {"song", "track"}),
        ("How deep is Alien?", {"depth"}),
        (
            "what does Mann do for a living?",
            {"occupation", "profession", "job title"},
        ),
        ("what is Mann's nationality", {"nationality", "country of citizenship"}),
        ("how much does Mann weigh", {"weight", "mass"}),
        ("How much prize money does Alien offer?", {"prize money", "amount"}),
        ("How much does Mann pay?", {"amount"}),
        ("How old is Mann?", {"age"}),
        ("kites by makers based in Alien that Mann flew", {"kite"}),
        ("kites Mann flew in Alien", {"kite"}),
        ("the kites hanging in Alien", {"kite"}),
        ("all kites on which flags of Mann fly", {"kite"}),
        ("Hey, please name the kites that Mann drew", {"kite"}),
        ("List the Alien kites that Mann flew", {"kite"}),
        ("Which kite shop sold Alien?", {"kite shop", "kite", "shop", "store"}),
        ("I need the budget of Alien", {"budget"}),
        ("what were the release years the films by Mann", {"release year", "year"}),
        ("How big is the budget of Alien?", {"budget"}),
        ("which language Mann's wife speaks", {"language", "human language"}),
        ("What area of science is Mann in?", {"area of science", "area", "field"}),
        ("Alien running time", {"running time", "runtime", "duration"}),
        ("Find the state of Mann and say which songs it has", {"song", "track"}),
    ],
)
def test_a_question_says_what_the_answer_is_called(question, nouns):
    asked = asked_kind(question, ["Alien", "Mann"])
    assert asked is not None and asked.nouns == nouns


def test_what_kind_of_thing_asks_for_its_genre_or_form():
    film = asked_kind("what types are the films of Mann", ["Mann"])
    assert film is not None and film.nouns == {"genre"}
    state = asked_kind("What kind of government has Mann?", ["Mann"])
    assert state is not None
    assert {"form of government", "government type", "genre"} <= state.nouns


def test_a_topic_of_words_that_mean_little_is_one_name():
    topic = "Charles I of England"
    asked = asked_kind(f"what is {topic}'s dad's nationality", [topic])
    assert asked is not None and asked.nouns >= {"nationality"}


def test_words_of_topics_are_no_nouns_of_the_question():
    assert asked_kind("What is Heat Films?", ["Heat Films"]) is None
    assert asked_kind("What films has Heat Films?", ["Heat"]) is not None
    songs = asked_kind("Which songs are on Songs of Home?", ["Songs of Home"])
    assert songs is not None and "song" in songs.nouns


WORDS = (
    "who what which whose where when how many is are the of in 's name names tell me "
    "us list find say kind type sort first Alien Mann wife films director directed by "
    "city from , ; this these s and"
).split()


@given(st.lists(st.sampled_from(WORDS), max_size=9), st.lists(st.sampled_from(WORDS)))
def test_any_words_have_a_kind_or_none(words, topics):
    asked = asked_kind(" ".join(words), topics[:2])
    assert asked is None or (asked.kind in KINDS and "" not in asked.nouns)
