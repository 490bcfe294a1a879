"""Nodes of another kind than the question asks for count less."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from named_graph import named_graph

from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.retrieve.kind_mask import TRIPLET_PENALTY, kind_mask
from kgscout_jax.retrieve.kind_penalties import DOUBT, PENALTY
from kgscout_jax.retrieve.local_graph import LocalGraph

RELATIONS = ["directed_by", "release_year", "starred_actors", "located in", "P131"]
RELATIONS += ["has_genre"]
NAMES = ["Mann", "Heat", "1995", "Pacino"]
"""Heat is directed by Mann, of 1995, with Pacino."""
NODES = np.array([[1, 0], [1, 2], [1, 3]])


def mask(question, names=NAMES, nodes=NODES, index=(0, 1, 2)):
    index = np.array(index)
    return kind_mask(
        question,
        ["Mann"],
        LocalGraph(RELATIONS, index, nodes, [np.array([0])], partial(texts_of, names)),
        np.char.startswith(np.array(names), "m."),
    )


def fitted(question, logits, *rest):
    kind, logits = mask(question, *rest), np.array(logits, np.float32)
    return logits if kind is None else kind.node_logits(logits)


def test_a_film_is_no_year_and_no_person():
    logits = [-9.0, 3.0, 1.0, 2.0]
    when = fitted("When were the films of Mann released?", logits)
    assert when.tolist() == [-9 - PENALTY, 3 - PENALTY, 1, 2 - PENALTY]
    who = fitted("Who is in the films of Mann?", logits)
    assert who.tolist() == [-9, 3 - PENALTY, 1 - PENALTY, 2]
    stars = fitted("Who starred in the films of Mann?", logits)
    assert stars.tolist() == [-9 - PENALTY, 3 - PENALTY, 1 - PENALTY, 2]
    films = fitted("Which movies did Mann direct?", logits)
    assert films.tolist() == [-9 - PENALTY, 3, 1 - PENALTY, 2 - PENALTY]


def test_logits_stay_where_nothing_better_fits():
    logits = [-9.0, 3.0, 2.0, -9.0]
    # No person is within reach of the film, and a year is none.
    who = fitted("Who starred in it?", logits)
    assert who.tolist() == [-9, 3, 2 - PENALTY, -9]
    # Nothing here is called a battle, and "what" leaves the kind open.
    assert fitted("What battle did Mann fight?", logits).tolist() == logits
    # But no year is one of several.
    battles = fitted("What battles did Mann fight?", logits)
    assert battles.tolist() == [-9, 3, 2 - DOUBT, -9]
    # A year is no thing that somebody directs, but perhaps one is meant.
    assert fitted("What did Mann direct?", logits).tolist() == [-9, 3, 2 - DOUBT, -9]


def test_what_is_of_another_form_loses_also_where_nothing_fits():
    names, nodes = ["Mann", "1990-05-25", "1991"], np.array([[0, 1], [0, 2]])
    logits = [0.0, 3.0, 2.0]
    where = fitted("Where was he born?", logits, names, nodes, (2, 2))
    assert where.tolist() == [0, 3 - PENALTY, 2 - PENALTY]
    names = ["Mann", "Heat", "Bern"]
    when = fitted("When was it?", logits, names, nodes, (4, 4))
    assert when.tolist() == [0 - PENALTY, 3 - PENALTY, 2 - PENALTY]
    zone = fitted("Which time zone is it in?", logits, names, nodes, (4, 4))
    assert zone.tolist() == logits


def test_a_number_answers_only_how_many():
    names = ["Mann", "Pacino", "12"]
    nodes, index = np.array([[0, 1], [2, 0]]), (0, 4)
    person = fitted("Which person is it?", [0.0, 1.0, 2.0], names, nodes, index)
    assert person.argmax() == 1
    count = fitted("How many people are there?", [0.0, 1.0, 2.0], names, nodes, index)
    assert count.argmax() == 2


def test_a_record_without_a_name_stands_for_what_it_leads_to():
    names = ["Alien", "m.1", "Scott", "Bern"]
    nodes = np.array([[0, 1], [1, 2], [2, 3]])
    logits = [0.0, 3.0, 2.0, 1.0]
    who = fitted("Who is the director of Mann?", logits, names, nodes, (0, 4, 3))
    assert who.tolist() == [0 - PENALTY, 3, 2, 1 - PENALTY]


def test_what_stands_at_the_end_of_a_relation_is_of_one_kind():
    tested = [("Trial 1", "tests_drug", each) for each in ("Halo", "Mora")]
    causes = [(name, "causes", "Hiccups") for name in ("Halo", "Mora", "Vira")]
    classed = [("Vira", "member_of_class", "Statins")]
    around, names = named_graph([*tested, *classed, *causes], ["Hiccups"])
    found = kind_mask("Which drugs cause hiccups?", [], around, np.zeros(6, bool))
    assert found is not None
    lost = dict(zip(names, found.penalties.tolist(), strict=True))
    assert lost["Vira"] == 0.0 == lost["Halo"]  # no test of it is here
    assert lost["Trial 1"] == PENALTY


def test_who_is_somebody_unless_a_relation_leads_to_what_he_is_called():
    names = ["Mann", "Heat", "Bern"]
    nodes = np.array([[1, 0], [0, 2]])
    landlord = fitted("Who is the landlord?", [0.0, 1.0, 2.0], names, nodes, (0, 3))
    assert landlord.argmax() == 0
    place = fitted("Who is the p131?", [0.0, 1.0, 2.0], names, nodes, (0, 4))
    assert place.argmax() == 2


def test_which_asks_for_no_number_that_is_not_called_so():
    logits = [-9.0, 3.0, 3.5, -9.0]
    battles = fitted("Which battles did Mann fight?", logits)
    assert battles.tolist() == [-9, 3, 3.5 - DOUBT, -9]
    names = ["Mann", "Heat", "12"]
    nodes = np.array([[1, 0], [1, 2]])
    plain = fitted("Which p131 is it?", [0.0, 1.0, 2.0], names, nodes, (0, 4))
    assert plain.argmax() == 2


def test_which_asks_for_no_number_where_relations_lead_to_what_it_asks_for():
    names, nodes = ["Mann", "Drama", "1995"], np.array([[0, 1], [0, 2]])
    logits = [-9.0, 1.0, 3.0]
    # P131 says nothing of what it leads to, but has_genre does.
    genre = fitted("Which genre is it of?", logits, names, nodes, (5, 4))
    assert genre.tolist() == [-9 - PENALTY, 1, 3 - PENALTY]


def test_triplets_count_less_that_lead_to_nothing_that_is_asked_for():
    kind = mask("When were the films of Mann released?")
    assert kind is not None
    logits = kind.triplet_logits(np.array([3, 2, 1], np.float32))
    assert logits.tolist() == [3 - TRIPLET_PENALTY, 2, 1 - TRIPLET_PENALTY]
    # The topic is of the kind, but no answer.
    kind = mask("Who starred in the films of Mann?")
    assert kind is not None
    logits = kind.triplet_logits(np.array([3, 2, 1], np.float32))
    assert logits.tolist() == [3 - TRIPLET_PENALTY, 2 - TRIPLET_PENALTY, 1]


@given(
    st.sampled_from(["When?", "Who is it?", "Where?", "Which films?", "How many men?"]),
    st.integers(0, 2**32 - 1),
)
def test_a_node_never_gains_and_the_best_one_always_fits(question, seed):
    rng = np.random.default_rng(seed)
    v, n = rng.integers(1, 7), rng.integers(1, 9)
    logits = np.where(rng.random(v) < 0.2, -np.inf, rng.normal(size=v))
    new = fitted(
        question,
        logits,
        [str(name) for name in rng.choice(["1990", "7", "Bern"], v)],
        rng.integers(0, v, (n, 2)),
        tuple(rng.integers(0, len(RELATIONS), n)),
    )
    logits = logits.astype(np.float32)
    lowered = new < logits
    kept = ~lowered & np.isfinite(logits)
    assert np.array_equal(new[~lowered], logits[~lowered])
    lost = logits[lowered] - new[lowered]
    wrong = np.isclose(lost, PENALTY, rtol=1e-4)
    assert np.all(wrong | np.isclose(lost, DOUBT, rtol=1e-4))
    kept[lowered] = ~wrong
    # Where nothing is of the kind, what is of another form loses alike.
    nothing = not kept.any() or not np.isfinite(logits[kept]).any()
    assert not lowered.any() or nothing or kept[new.argmax()]


def test_a_node_that_nothing_names_counts_less_than_one_with_the_noun():
    names, nodes = ["Mann", "Heat", "X"], np.array([[1, 0], [1, 2]])
    logits = [0.0, 1.0, 2.0]
    films = fitted("Which films has Mann?", logits, names, nodes, (0, 4))
    assert films.tolist() == [0 - PENALTY, 1, 2 - PENALTY]
    node = fitted("Which films has Mann?", logits, names, nodes, (0, 3))
    assert node[2] == 2 - PENALTY


def test_a_genre_is_nowhere_and_no_album():
    names, nodes = ["Mann", "Heat", "jazz"], np.array([[0, 1], [0, 2]])
    logits = [0.0, 1.0, 2.0]
    where = fitted("Where is Mann?", logits, names, nodes, (3, 5))
    assert where[1] == 1 and where[2] == 2 - PENALTY
    album = fitted("Which album did Mann make?", logits, names, nodes, (4, 5))
    assert album[1] == 1 and album[2] == 2 - DOUBT
    genre = fitted("Which genre is Mann?", logits, names, nodes, (4, 5))
    assert genre[2] == 2


def test_a_salary_is_a_number():
    names = ["Mann", "1970-04-28", "Bern", "$12,000"]
    nodes = np.array([[0, 1], [0, 2], [0, 3]])
    logits = [0.0, 3.0, 2.0, -1.0]
    salary = fitted("What is the salary of Mann?", logits, names, nodes, (4, 3, 4))
    assert salary.tolist() == [0 - PENALTY, 3 - PENALTY, 2 - PENALTY, -1]
    none = fitted(
        "What is the salary of Mann?", logits[:3], names[:3], nodes[:2], (4, 3)
    )
    assert none.tolist() == [0 - PENALTY, 3 - PENALTY, 2 - PENALTY]
    genre = fitted("What is the genre of Mann?", logits, names, nodes, (4, 3, 4))
    assert genre.tolist() == logits


def test_no_price_is_in_minutes_and_no_year_is_one():
    names = ["Mann", "133 min", "1994", "31"]
    nodes = np.array([[0, 1], [0, 2], [0, 3]])
    index, logits = (4, 1, 4), [0.0, 3.0, 2.0, -1.0]
    for question, wrong in (
        ("How much did Mann cost?", [1, 1, 1, 0]),
        ("How long is Mann?", [1, 0, 1, 0]),
        ("How old is Mann?", [1, 0, 1, 0]),
        ("What is the phone number of Mann?", [1, 0, 1, 0]),
        ("What is the website of Mann?", [1, 1, 1, 1]),
    ):
        kind = mask(question, names, nodes, index)
        assert kind is not None and kind.by_form.tolist() == wrong
        lost = np.array(logits) - kind.node_logits(np.array(logits, np.float32))
        assert lost.tolist() == [PENALTY * each for each in wrong]


def test_what_time_asks_for_one_of_the_day_and_an_email_address_for_no_place():
    names = ["Mann", "1874", "9:30", "5 pm", "Bern", "mann@x.org"]
    nodes = np.array([[0, i] for i in range(1, 6)])
    for question, right in (
        ("What time does Mann close?", ["9:30", "5 pm"]),
        ("At what time is Mann?", ["9:30", "5 pm"]),
        ("What is the e-mail address of Mann?", ["mann@x.org"]),
    ):
        kind = mask(question, names, nodes, (4, 4, 4, 4, 4))
        assert kind is not None
        left = np.flatnonzero(~kind.by_form)
        assert [names[i] for i in left] == right


def test_a_city_is_no_country():
    relations, names = ["city", "country"], ["Mann", "Bern", "Chad"]
    nodes = np.array([[0, 1], [0, 2]])
    for index, wrong in (((0, 1), ["Bern"]), ((0, 0), ["Bern", "Chad"])):
        around = LocalGraph(
            relations, np.array(index), nodes, [np.array([0])], partial(texts_of, names)
        )
        question = "In which country does Mann live?"
        kind = kind_mask(question, ["Mann"], around, np.zeros(3, bool))
        assert kind is not None
        assert [names[i] for i in np.flatnonzero(kind.by_form)] == wrong


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ("country", ["Bern", "Europe"]),
        ("city", ["Chad", "Europe"]),
        ("continent", ["Bern", "Chad", "Kuwait"]),
    ],
)
def test_names_of_countries_and_continents_are_known(asked, wrong):
    triplets = [
        ("Mann", "born in", "Bern"), ("Bern", "located in", "Chad"),
        ("Chad", "located in", "Europe"), ("Kuwait", "located in", "Europe"),
    ]  # fmt: skip
    around, names = named_graph(triplets, ["Mann"])
    question = f"In which {asked} was Mann born?"
    kind = kind_mask(question, ["Mann"], around, np.zeros(len(names), bool))
    assert kind is not None
    assert sorted(names[i] for i in np.flatnonzero(kind.by_form)) == wrong


@pytest.mark.parametrize(
    ("asked", "wrong"), [("city", ["Norvaria"]), ("country", ["Duneira"])]
)
def test_what_lies_in_another_place_is_the_city_whatever_the_names(asked, wrong):
    triplets = [("Mann", "based in", "Duneira"), ("Duneira", "located in", "Norvaria")]
    around, names = named_graph(triplets, ["Mann"])
    question = f"In which {asked} is Mann based?"
    kind = kind_mask(question, ["Mann"], around, np.zeros(len(names), bool))
    assert kind is not None
    assert [names[i] for i in np.flatnonzero(kind.by_form)] == wrong


def test_a_number_may_follow_a_word():
    names = ["Mann", "Room 12", "Bern"]
    nodes = np.array([[0, 1], [0, 2]])
    kind = mask("What is the room number of Mann?", names, nodes, (4, 4))
    assert kind is not None and kind.by_form.tolist() == [True, False, True]


def test_where_somebody_works_is_a_place_or_who_he_works_for():
    names = ["Mann", "Bern", "Acme"]
    nodes, index = np.array([[0, 1], [0, 2]]), (3, 4)
    logits = [0.0, 1.0, 2.0]
    born = fitted("Where was Mann born?", logits, names, nodes, index)
    assert born.tolist() == [0 - DOUBT, 1, 2 - DOUBT]
    works = fitted("Where does Mann work?", logits, names, nodes, index)
    assert works.tolist() == logits


def test_a_verb_before_a_name_is_no_noun():
    triplets = [
        ("Aspirin", "treats", "Pain"), ("Aspirin", "made_by", "Acme"),
        ("Ibuprofen", "treats", "Pain"), ("Ibuprofen", "treats", "Fever"),
    ]  # fmt: skip
    around, names = named_graph(triplets, ["Pain"])
    unnamed = np.zeros(len(names), bool)
    kind = kind_mask("Which drugs treat Pain?", ["Pain"], around, unnamed)
    assert kind is None or not kind.wrong[names.index("Aspirin")]
    assert kind is None or not kind.wrong[names.index("Ibuprofen")]


def test_an_actor_with_a_spouse_and_a_birthplace_is_an_actor():
    triplets = [
        ("Heat", "starring", "Pacino"), ("Heat", "starring", "Kilmer"),
        ("Heat", "director", "Mann"), ("Heat", "genre", "crime"),
        ("Kilmer", "spouse", "Ann"), ("Ann", "spouse", "Kilmer"),
        ("Kilmer", "birth_place", "Rome"), ("Kilmer", "birth_date", "1959-12-31"),
        ("Kilmer", "birth_name", "Val"),
    ]  # fmt: skip
    around, names = named_graph(triplets, ["Heat"])
    unnamed = np.zeros(len(names), bool)
    kind = kind_mask("Who stars in Heat?", ["Heat"], around, unnamed)
    assert kind is not None
    assert {names[i] for i in np.flatnonzero(~kind.wrong)} >= {"Pacino", "Kilmer"}
    assert kind.wrong[names.index("Mann")] and kind.wrong[names.index("Ann")]
