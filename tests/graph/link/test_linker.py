"""Linking: what is found, by which means, where, and in what order."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link, Linker, LinkSettings, build_index
from kgscout_jax.graph.link.graph_index import linker_of

TABLE = """The Godfather 9|Tom Hanks 40|Paris 90|Paris, Texas 4|Beyoncé 12|m.0abc 3|
Wolfgang Amadeus Mozart 30|Martin Luther 9|Martin Luther King, Jr. 30|Currency 50|
Czech Republic 30|Missionary 2|The Missionary 2|[REC] 2|Jamarcus Russell 5|Lincoln 3|
Lincoln, Nebraska 9|Abraham Lincoln 60|Director 80|2012 30|Spider-Man 9|LINCOLN! 5|
United States of America 200"""
ROWS = [row.strip().rsplit(" ", 1) for row in TABLE.split("|")]
NAMES = [name for name, _ in ROWS]
DEGREES = np.array([int(degree) for _, degree in ROWS])
AMERICA = NAMES.index("United States of America")
ALIASES = [("America", AMERICA), ("the Boss of Film", 0)]


@pytest.fixture(scope="module")
def linker() -> Linker:
    unnamed = np.array([name == "m.0abc" for name in NAMES])
    index = build_index(NAMES, aliases=ALIASES, unnamed_mask=unnamed, degrees=DEGREES)
    return Linker(index)


@pytest.mark.parametrize(
    ("question", "name", "how", "span"),
    [
        ("who directed the godfather", "The Godfather", "exact", "the godfather"),
        ("Who directed Godfather?", "The Godfather", "normalised", "Godfather"),
        ("what films was Tom Hanks in", "Tom Hanks", "exact", "Tom Hanks"),
        ("what films was tom  hanks's in", "Tom Hanks", "normalised", "tom  hanks"),
        ("films of TOM_HANKS", "Tom Hanks", "normalised", "TOM_HANKS"),
        ("where was beyonce born", "Beyoncé", "normalised", "beyonce"),
        ("who was in paris, texas", "Paris, Texas", "exact", "paris, texas"),
        ("who was in paris texas", "Paris, Texas", "normalised", "paris texas"),
        ("what is the currency of the czech republic", "Czech Republic", "exact", None),
        ("who was the director of The Missionary", "The Missionary", "exact", None),
        ("who was the director of Missionary", "Missionary", "exact", None),
        ("what did mozart compose", "Wolfgang Amadeus Mozart", "fuzzy", "mozart"),
        ("where is jamarcus russel from", "Jamarcus Russell", "fuzzy", None),
        ("where is jamracus russell from", "Jamarcus Russell", "fuzzy", None),
        ("where is spiderman from", "Spider-Man", "normalised", "spiderman"),
        ("how large is america", "United States of America", "alias", "america"),
        ("who is the boss of film", "The Godfather", "alias", "the boss of film"),
        ("who shot martin luther king", "Martin Luther King, Jr.", "fuzzy", None),
        ("did [REC] win a prize", "[REC]", "normalised", "REC"),
        # a place that longer names are called by
        ("who was born in Lincoln", "Lincoln", "exact", "Lincoln"),
        ("airports in Paris", "Paris", "exact", "Paris"),
    ],
)
def test_the_first_link_is_the_topic(linker, question, name, how, span):
    link = linker.link(question)[0]
    assert (link.name, link.how) == (name, how)
    assert NAMES[link.entity] == name
    if span is not None:
        assert question[link.start : link.stop] == span


def test_two_topics_are_two_links(linker):
    links = linker.link("was Tom Hanks ever in the Czech Republic")
    assert {link.name for link in links} == {"Tom Hanks", "Czech Republic"}
    assert links[0].score >= links[1].score
    assert len(linker.link("was Tom Hanks ever in the Czech Republic", k=1)) == 1


def test_a_name_and_its_plural_are_two_links():
    names = ["Alien", "Aliens", "Heat", "Bora Bora"]
    linker = Linker(build_index(names, degrees=np.array([4, 4, 4, 4])))
    for text in ("were Alien and Aliens made by one", "who acted in Alien, Aliens"):
        assert [link.name for link in linker.link(text)] == ["Alien", "Aliens"]
    assert [link.name for link in linker.link("where is bora bora")] == ["Bora Bora"]


def test_underscores_of_a_name_are_spaces_of_the_question():
    names = ["University_of_Paris", "Paris"]
    linker = Linker(build_index(names, degrees=np.array([2, 9])))
    (link,) = linker.link("Who studied at the University of Paris?")
    assert (link.name, link.how, link.stop) == ("University_of_Paris", "exact", 38)
    (link,) = linker.link("who studied at university_of_paris")
    assert (link.name, link.how) == ("University_of_Paris", "exact")


def test_a_statement_names_both_ends_also_without_capitals():
    names = ["Titanic", "Drama", "Ridley Scott", "Crime", "Film", *"ABCDEFGH"]
    linker = Linker(build_index(names, degrees=np.array([9, 2, 5, 3, 9, *[1] * 8])))
    question = "Is Titanic a drama film?"
    assert [link.name for link in linker.link(question)] == ["Titanic"]
    both = linker.link(question, statement=True)
    assert [link.name for link in both] == ["Titanic", "Drama"]  # "film" is any film


def test_a_word_that_is_a_name_itself_is_said_of_what_stands_before_it():
    names = ["Ratatouille", "French", "French Onion Soup", "Africa", "South Africa"]
    aliases = [("African", 3), ("South African", 4)]
    degrees = np.array([9, 4, 9, 8, 30])
    linker = Linker(build_index(names, degrees=degrees, aliases=aliases))
    for question in ("is ratatouille french", "Is Ratatouille a French dish?"):
        links = linker.link(question, statement=True)
        assert [link.name for link in links] == ["Ratatouille", "French"]
    (link,) = linker.link("How many African countries are in the table?")
    assert (link.name, link.how) == ("Africa", "alias")


def test_a_statement_names_any_whole_name_that_is_written_small():
    names = ["Dr. Luis Ortega", "Spanish", "Surgeon", "Language", "English", "Hub"]
    degrees = np.array([9, 1, 1, 2, 2, 500])
    linker = Linker(build_index(names, degrees=degrees))
    for question, second in {
        "does Dr. Luis Ortega speak spanish?": ["Spanish"],
        "is Dr. Luis Ortega a surgeon?": ["Surgeon"],
        "is the language of Dr. Luis Ortega spanish?": ["Spanish"],
        "is it Dr. Luis Ortega whose language it is?": [],  # a stop word
        "is Dr. Luis Ortega a surgery?": [],
    }.items():
        links = linker.link(question, statement=True)
        assert [link.name for link in links] == ["Dr. Luis Ortega", *second]
        assert all(link.score < LinkSettings().floor_full * 10 for link in links[1:])


def test_a_statement_of_two_likely_names_has_no_unlikely_third_one():
    names = ["Ursula Boden", "Xaver Prinz", "Year", "Hub", "English"]
    linker = Linker(build_index(names, degrees=np.array([4, 4, 900, 500, 2])))
    question = "Is the year of Ursula Boden later than that of Xaver Prinz?"
    links = linker.link(question, statement=True)
    assert {link.name for link in links} == {"Ursula Boden", "Xaver Prinz"}


def test_a_name_beside_another_one_needs_less():
    coins = [f"Silver {letter} Coin" for letter in "abcdefgh"]
    names = ["Gold", "Silver", *coins, *(f"Town {i}" for i in range(30))]
    degrees = np.array([60, 60, *[1] * (len(names) - 2)])
    linker = Linker(build_index(names, degrees=degrees))
    for question, expected in {
        "is gold worth what silver is": ["Gold"],
        "what is the density of gold and silver?": ["Gold", "Silver"],
        "densities of gold, silver": ["Gold", "Silver"],
    }.items():
        assert [link.name for link in linker.link(question)] == expected, question


def test_whole_names_come_before_parts_of_identifiers():
    names = ["wireshark", "wireshark-qt", "curl", "wget", "libcurl4", "web", "Ada Byte"]
    degrees = np.array([90, 120, 20, 2, 40, 300, 30])
    packages = Linker(build_index(names, degrees=degrees))
    assert packages.link("What is wireshark?")[0].name == "wireshark"
    question = "what are the dependencies of curl and wget"
    assert [link.name for link in packages.link(question)] == ["curl", "wget"]
    strict = Linker(packages.index, LinkSettings(threshold_identifier=0.5))
    assert [link.name for link in strict.link(question)] == ["curl"]


def test_what_is_asked_for_is_no_part_of_a_name():
    names = ["Rotwand Hut", "Albert Link Hut", "1907", "Greta Huber", "Hut Run Trail"]
    huts = Linker(build_index(names, degrees=np.array([9, 9, 1, 3, 2])))
    for question, topics in {
        "Which hut was built in 1907?": ["1907"],
        "what hut does Greta Huber run": ["Greta Huber"],
        "Which hut was built first?": [],
    }.items():
        assert sorted(each.name for each in huts.link(question)) == topics


def test_an_identifier_is_what_it_says_and_leaves_single_words_to_others():
    names = ["postgresql", "postgresql-15", "gnome (section)", "vim", "git", "perl"]
    names += ["Debian PostgreSQL Maintainers", "libc6", "libx11", "x11-utils"]
    degrees = np.array([300, 350, 900, 200, 200, 200, 400, 99, 90, 80])
    packages = Linker(build_index(names, degrees=degrees))
    for question, topics in {
        "who maintains postgresql": ["postgresql"],
        "which section is vim in": ["vim"],
        "which sections are of postgresql": ["postgresql"],
        "does git depend on perl": ["git", "perl"],
        "who are the debian postgresql maintainers": ["Debian PostgreSQL Maintainers"],
        "what depends on postgresql 15": ["postgresql-15"],
    }.items():
        assert sorted(each.name for each in packages.link(question)) == topics
    # Where names have capitals, a name without one is a common noun.
    films = build_index(["Wolfgang Amadeus Mozart", "mozart", "Ada Byte"])
    assert films.tables.small.mean() < 100


def test_an_unlikely_part_of_a_name_is_no_topic_and_leads_the_ranking():
    names = ["command line tool for transferring data with URL syntax"]
    names += [f"tool number {i} which transfers some files" for i in range(50)]
    packages = Linker(build_index(names, degrees=np.r_[1, np.full(50, 200)]))
    question = "please tell me about the syntax of a far too long question"
    best = packages.ranking(question, 1)[0]
    assert best.name == names[0] and best.score < LinkSettings().floor
    assert packages.link(question) == []


def test_bracketed_mentions_are_linked_alone(linker):
    question = "which currency has the director of [The Missionary]"
    (link,) = linker.link(question)
    assert (link.name, link.how, link.score) == ("The Missionary", "exact", 1.0)
    assert question[link.start : link.stop] == "The Missionary"
    assert [e.name for e in linker.link("is [currency] new")] == ["Currency"]
    assert linker.link("did [[REC]] win")[0].name == "[REC]"
    both = linker.link("[Tom Hanks] in [Paris]")
    assert [link.name for link in both] == ["Tom Hanks", "Paris"]
    assert linker.link("[sic] where is tom hanks")[0].name == "Tom Hanks"


def test_of_equal_names_the_best_connected_is_linked():
    names = ["Springfield!", "Springfield?", "Springfield."]
    for best in range(3):
        degrees = np.array([5, 5, 5])
        degrees[best] = 50
        index = build_index(names, degrees=degrees)
        assert Linker(index).link("where is springfield")[0].entity == best


def test_identifiers_and_function_words_alone_are_not_linked(linker):
    assert all(link.name != "m.0abc" for link in linker.link("what is m.0abc"))
    index = build_index(["The The", "Who", "What", "Is", "Ada Lovelace"])
    links = Linker(index).link("who is ada lovelace")
    assert [link.name for link in links] == ["Ada Lovelace"]


def test_without_fuzzy_only_keys_are_linked(linker):
    strict = Linker(linker.index, LinkSettings(fuzzy=False))
    assert strict.link("what did mozart compose") == []
    assert strict.link("who is tom hanks")[0].how == "exact"


def test_links_are_deterministic_and_an_empty_question_has_none(linker):
    for question in ("who is tom hanks", "where is jamarcus russel from"):
        assert linker.link(question) == linker.link(question) != []
    assert linker.link("") == []


WORDS = st.sampled_from([*NAMES, "[", "]", "\u202e", "مرحبا", "👩‍👩‍👧"])
WEIRD = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Cc", "Cf", "Cs", "Co", "Mn", "So", "Lo"])),
    st.lists(WORDS).map(" ".join),
)


@given(WEIRD)
def test_links_of_any_text_are_valid(linker, question):
    links = linker.link(question)
    for link in links:
        assert isinstance(link, Link)
        assert 0 <= link.start < link.stop <= len(question)
        assert 0 <= link.score <= 1
        assert link.name == NAMES[link.entity]
    spans = sorted((link.start, link.stop) for link in links)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert len({link.entity for link in links}) == len(links)


@given(st.lists(st.text(), max_size=8), st.text())
def test_any_names_can_be_indexed(names, question):
    for link in Linker(build_index(names)).link(question + " ".join(names)):
        assert link.name == names[link.entity]


@pytest.mark.parametrize("piece", ["tom hanks ", "[", "[a]", "x", "x ", "\u0301"])
def test_a_question_of_100_000_characters_takes_bounded_time(linker, piece):
    start = time.process_time()
    linker.link(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "--k: expected at least 1, found 0"),
        ({"threshold": 2}, "--threshold: expected 0 to 1, found 2"),
        ({"floor": -1}, "--floor: expected 0 to 1, found -1"),
    ],
)
def test_settings_are_checked(given, message):
    with pytest.raises(UserError, match=message):
        LinkSettings(**given)


def test_a_name_without_capitals_is_found_beside_one_with_them():
    names = ["Finance", "welding", "Legal", "data analysis", "Anna Dahl", "Ugo Weiss"]
    linker = Linker(build_index(names, degrees=np.array([9, 5, 9, 5, 1, 1])))
    names_of = {link.name for link in linker.link("Who in Finance knows welding?")}
    assert names_of == {"Finance", "welding"}


def test_a_name_that_is_sure_is_no_part_of_a_longer_one():
    names = ["Valencia", "FC Valencia", "Real Valencia"]
    names += [f"Town {i}" for i in range(32)]
    towns = Linker(build_index(names, degrees=np.r_[20, 38, 30, np.full(32, 40)]))
    question = "What is the population of Valencia?"
    assert towns.ranking(question, 1)[0].name == "FC Valencia"
    assert [each.name for each in towns.link(question)] == ["Valencia"]


def test_words_beside_a_whole_name_are_no_misspelt_part_of_another():
    names = ["Quynh Gunnarson", "Sinead Gunnarson", "Pavel Gunnarson"]
    names += [f"Town {i}" for i in range(32)]
    people = Linker(build_index(names, degrees=np.r_[12, 30, 12, np.full(32, 30)]))
    question = "what label is Quynh Gunnarson signed to"
    assert [each.name for each in people.link(question)] == ["Quynh Gunnarson"]


def test_several_words_that_are_a_name_are_no_part_of_a_longer_one():
    names = ["Ada Motors", "Bob Steel", "Cleo Foods v Ada Motors"]
    names += ["Ada Motors v Bob Steel", "Bern"]
    court = Linker(build_index(names, degrees=np.array([9, 9, 60, 60, 200])))

    def linked(question):
        return [each.name for each in court.link(question, statement=True)]

    assert linked("Whom did Ada Motors sue?") == ["Ada Motors"]
    assert linked("Whom did Ada Motrs sue?") == ["Ada Motors"]
    assert {*linked("Did Ada Motors sue Bob Steel?")} == {"Ada Motors", "Bob Steel"}
    assert linked("Who heard Ada Motors v Bob Steel?") == ["Ada Motors v Bob Steel"]


def test_a_short_name_that_is_written_as_it_is_joins_another():
    names = ["Go", "GNU GPL v3", *(f"Tool {i}" for i in range(30))]
    tools = Linker(build_index(names, degrees=np.array([9, 40, *[5] * 30])))

    def linked(question):
        return {each.name for each in tools.link(question)}

    assert linked("which Go tools have the GNU GPL v3") == {"Go", "GNU GPL v3"}
    assert linked("which tools go with the GNU GPL v3") == {"GNU GPL v3"}


def test_a_common_noun_that_is_a_whole_name_is_no_inflected_part_of_another():
    names = ["blues", "Blue Moon", *(f"Album {i}" for i in range(30))]
    albums = Linker(build_index(names, degrees=np.array([9, 9, *[5] * 30])))
    assert [x.name for x in albums.link("Which blues albums are old?")] == ["blues"]
    assert [x.name for x in albums.link("Who sang blue moon?")] == ["Blue Moon"]


def test_function_words_are_no_codes_and_superlatives_no_misspelt_names():
    linker = Linker(build_index(["India", "IN", "light", "Rey", "Peru", "Les Noyers"]))
    assert not linker.link("In which country is Bavaria?")
    assert [x.name for x in linker.link("Which country has the code IN?")] == ["IN"]
    assert not linker.link("Who is the lightest one?")
    assert not linker.link("wines with less than 10% alcohol")


def test_an_english_word_is_no_misspelt_name():
    linker = Linker(build_index(["topical", "asthma", "oral"]))
    assert not linker.link("typical symptoms")
    assert [x.name for x in linker.link("Is it topicle?")] == ["topical"]


def test_a_name_of_several_words_joins_another_though_its_words_are_common():
    names = ["Best actress", "1990", "Ann Lee", *(f"film {i}" for i in range(30))]
    linker = Linker(build_index(names, degrees=np.array([9, 3, 3] + [1] * 30)))
    found = linker.link("Who won the best actress in 1990?")
    assert {link.name for link in found} == {"Best actress", "1990"}


def test_a_number_is_no_other_one_without_its_point():
    linker = Linker(build_index(["200.1", "1,200", "Elm"]))
    assert not linker.link("How many had it in 2001?")
    assert [x.name for x in linker.link("Who has 1200 trees?")] == ["1,200"]


def test_entities_that_are_but_called_alike_are_linked_together():
    rows = [("Salt Road", "author", "Ann Lee"), ("Cold Lamps", "author", "Bo Ek"),
            ("Salt Road (salt-road#product)", "price", "18.99"),
            ("Mercury", "orbits", "Sun"),
            ("Mercury (god)", "son of", "Maia")]  # fmt: skip
    linker = linker_of(KnowledgeGraph.from_triplets(rows))
    links = linker.link("Who wrote Salt Road?")
    assert {link.name for link in links} == {
        "Salt Road",
        "Salt Road (salt-road#product)",
    }
    assert len({(link.start, link.stop) for link in links}) == 1
    assert [link.name for link in linker.link("What does Mercury orbit?")] == [
        "Mercury"
    ]


def test_a_value_is_named_in_small_letters_and_a_class_is_not():
    rows = [("Sale 1", "payment", "Cash"), ("Sale 1", "model", "Redmi Note"),
            ("Sale 1", "type", "Sale"), ("Sale 2", "payment", "Card"),
            ("Sale 2", "model", "Redmi Note"), ("Sale 2", "type", "Sale")]  # fmt: skip
    linker = linker_of(KnowledgeGraph.from_triplets(rows))
    links = linker.link("Who paid cash for a sale of a Redmi Note?")
    assert {link.name for link in links} == {"Redmi Note", "Cash"}
