"""What a question wants of values, read off its words."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.text.value_question_parser import offers_choice, value_question
from kgscout_jax.text.values import precision, quantity_of, value_of

TOPICS = ["Rome", "Bern", "The Last Emperor", "1990"]


@pytest.mark.parametrize(
    ("question", "test", "rest"),
    [
        ("Which film of Rome has the latest release year?", "highest", {}),
        ("What is the oldest town in Rome?", "lowest", {}),
        ("Who is the youngest mayor of Rome?", "highest", {}),
        ("the most recent of the films of Rome by release year", "highest", {}),
        ("Which has the least recent date, of those in Rome?", "lowest", {}),
        ("Which towns have more than 1,200 people?", "above", {"limit": 1200.0}),
        ("What has at least 5.5 rooms?", "above", {"limit": 5.5, "inclusive": True}),
        ("Which films came out before 1990?", "below", {"limit": 1990.0}),
        ("What is the busiest station?", "highest", {}),
        ("the films since 1990-07-01", "above", {"limit": 1990.5, "inclusive": True}),
        ("towns in Rome with a higher age than that of Bern", "above", {"rival": 1}),
        ("What was built in Rome after Bern?", "above", {"rival": 1, "subject": 0}),
        ("Is Rome older than Bern?", "below", {"rival": 1, "subject": 0}),
        ("Has Rome a larger number of people than Bern", "above", {"rival": 1}),
        ("Which is older, Rome or Bern?", "lowest", {"choice": (0, 1)}),
        ("Between Bern and Rome, which is larger?", "highest", {"choice": (1, 0)}),
        ("Which of Rome or Bern has fewer people?", "lowest", {"choice": (0, 1)}),
        ("Was Bern or Rome founded first?", "lowest", {"choice": (1, 0)}),
        ("Which is heavier, the Rome or the Bern?", "highest", {"choice": (0, 1)}),
        ("Between the Bern and Rome, what is larger?", "highest", {"choice": (1, 0)}),
    ],
)
def test_the_test_the_limit_and_who_is_compared(question, test, rest):
    found = value_question(question, TOPICS)
    assert found is not None and found.test == test
    expected = {"limit": None, "rival": None, "choice": (), "inclusive": False} | rest
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who directed The Last Emperor?",  # a name's words compare nothing
        "Who lives in Rome or Bern?",
        "What is in the forest west of Rome?",
        "Who reigned before the war?",
        "What happened on 12-22-2011 over there?",
        # What each of several underwent, or had
        "Which composers had operas first performed in Rome?",
        "operas that had their first performance in Rome",
        "",
    ],
)
def test_other_questions_compare_nothing(question):
    assert value_question(question, TOPICS) is None


def test_words_name_the_values_or_imply_them():
    named = value_question("which town has the largest calling code", [])
    implied = value_question("what is the largest town", [])
    assert named is not None and implied is not None
    assert "call" in named.near and not named.word.implied
    assert "popul" in implied.word.implied
    people = value_question("Which has more inhabitants, Rome or Bern?", TOPICS)
    assert people is not None and people.may_mean("populationTotal")
    assert offers_choice("Does Rome or Bern have more people?")
    assert not offers_choice("Who directed Rome or Bern?")


def test_literals_are_comparable_within_a_unit():
    assert value_of("1979") < value_of("1979-05-25") < value_of("1980")
    assert value_of("-0044-03-15") < value_of("0014-08-19")
    assert (
        quantity_of("8,848 m") == (8848, "m") and quantity_of("12 km/h").unit == "km/h"
    )
    assert quantity_of("35%") == (35, "%") and quantity_of("-3.5 °C") == (-3.5, "°c")
    for name in ("Bern", "007", "1979-13-01", "3 of 4", "v2", ""):
        assert quantity_of(name) is None, name


@pytest.mark.parametrize(
    ("question", "test", "limits"),
    [
        ("Which films were released in 2003?", "within", ("2003", "2003")),
        ("Was Rome founded in the year 1990?", "within", ("1990", "1990")),
        ("What did Bern build in May 1990?", "within", ("may 1990", "may 1990")),
        ("What opened on 12 August 1899?", "within", ("12 august 1899",) * 2),
        ("towns with between 600 and 2,000 people", "within", ("600", "2,000")),
        ("the films from 1990 to 1995", "within", ("1990", "1995")),
        ("Which film first shown in 2003 is best", "within", ("2003", "2003")),
        ("What is the oldest town of 1990?", "lowest", ()),
        ("the first film of Bern in 1990", "lowest", ()),
        ("Which peaks are higher than 1.2 km?", "above", ("1.2 km",)),
        ("Which towns have over 1.512.000 people?", "above", ("1.512.000",)),
        ("What was built before July 4, 1950?", "below", ("july 4, 1950",)),
        ("Which towns have over 2 million people?", "above", ("2 million",)),
        ("What lives less than 1.5 thousand hours?", "below", ("1.5 thousand hours",)),
        ("Which firms earn over $5M?", "above", ("$5m",)),
        ("Which firms earn at least €1.2bn?", "above", ("1.2bn",)),
        ("firms between $1 and $2 billion", "within", ("1 billion", "2 billion")),
        ("from 90,000 to 2 million people", "within", ("90,000", "2 million")),
    ],
)
def test_limits_are_as_they_are_written(question, test, limits):
    found = value_question(question, TOPICS)
    assert found is not None and (found.test, found.limits) == (test, limits)


@pytest.mark.parametrize(
    "question",
    ["In which 2003 towns?", "Who lives in 12 towns of Rome?", "on 12 roads"],
)
def test_a_number_after_in_is_a_time_only_if_it_may_be_a_year(question):
    assert value_question(question, TOPICS) is None


@given(
    digits=st.integers(1, 999_999),
    places=st.integers(0, 3),
    scale=st.sampled_from(
        [("thousand", 3), ("Million", 6), ("billion", 9), ("bn", 9), ("trillion", 12)]
    ),
    unit=st.sampled_from(["", "people", "US dollars", "km²", "€"]),
)
def test_words_of_scale_are_powers_of_ten(digits, places, scale, unit):
    number, (word, power) = f"{Decimal(digits).scaleb(-places):f}", scale
    found = quantity_of(f"{number} {word} {unit}")
    assert found == (float(f"{number}e{power}"), unit.casefold())


def test_letters_of_scale_stand_right_behind_money():
    assert quantity_of("1.2 billion") == (1.2e9, "")
    assert quantity_of("$1.2 billion") == quantity_of("$1.2bn") == (1.2e9, "$")
    assert quantity_of("$900M") == quantity_of("$900m") == (9e8, "$")
    assert quantity_of("£5k") == (5000, "£") and quantity_of("€1.5B") == (1.5e9, "€")
    for name, value, unit in (
        ("5 k", 5, "k"), ("20 M", 20, "m"), ("300k", 300, "k"), ("7m", 7, "m"),
        ("3 millionaires", 3, "millionaires"), ("$5/m", None, ""),
    ):  # fmt: skip
        assert quantity_of(name) == (value and (value, unit)), name


def test_dates_are_read_as_people_write_them():
    for name in (
        "12 August 1899",
        "August 12, 1899",
        "12.08.1899",
        "12th of Aug. 1899",
    ):
        assert value_of(name) == value_of("1899-08-12") and precision(name) == 3, name
    assert value_of("May 1921") == value_of("1921-05") and precision("May 1921") == 2
    assert value_of("1.512.000") == 1512000 and value_of("1.512") == 1.512
    assert [value_of(name) for name in ("3105,5", "1.234,50", "1,234", "1234,567")] == [
        3105.5, 1234.5, 1234, 1234.567,
    ]  # fmt: skip
    assert quantity_of("1.234,50 €") == (1234.5, "€")
    for name in ("31.13.1899", "12 August 12 1899", "1.51.000", "May", "3 May"):
        assert math.isnan(value_of(name)), name


@pytest.mark.parametrize(
    ("question", "relations", "chosen"),
    [
        ("listings over $900,000", ["sqft", "price_usd"], "price_usd"),
        ("listings under 90,000 euros", ["sqft", "price_usd"], "price_usd"),
        ("What is the busiest station?", ["zone", "passengers_millions"], 1),
    ],
)
def test_units_and_adjectives_imply_what_is_compared(question, relations, chosen):
    asked = value_question(question, [])
    assert asked is not None
    chosen = relations[chosen] if isinstance(chosen, int) else chosen
    assert [r for r in relations if asked.may_mean(r)] == [chosen]


def test_a_verb_for_what_is_dated_is_a_column_of_that_kind():
    asked = value_question("Which books came out after 2004?", [])
    assert asked is not None and asked.dated_by(["pages", "published"]) == 1
    assert asked.dated_by(["published_by", "born"]) is None
