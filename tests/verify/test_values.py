"""Numbers and dates that are written in several ways."""

import pytest

from kgscout_jax.verify.values import compare, find_values, parse_value


@pytest.mark.parametrize(
    "text",
    [
        "17 September 1990",
        "the 17th of September, 1990",
        "Sept. 17, 1990",
        "1990-09-17",
        "1990-09-17T00:00:00Z",
        "17/09/1990",
        "9.17.1990",
        "1990/9/17",
        "1990-09-17T12:00:00+02:00",
    ],
)
def test_a_date_is_one_value_in_every_spelling(text):
    ((_, _, value),) = find_values(f"She was born on {text}, in Graz.")
    assert (value.year, value.month, value.day) == (1990, 9, 17)


def test_a_day_that_may_be_a_month_tells_the_year_only():
    value = parse_value("3/4/1999")
    assert value is not None
    assert (value.year, value.month, value.day) == (1999, None, None)


def test_numbers_are_found_and_versions_ranges_and_times_are_not():
    text = (
        "37,524 of $5 million at 10:30, v7.4.1 and 7.4.1 in the 1990s, 1990-1995: 3.5%."
    )
    found = [(text[a:b], value.number) for a, b, value in find_values(text)]
    assert found == [("37,524", 37524), ("$5 million", 5e6), ("3.5%", 3.5)]


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("$5M", 5e6, "$"),
        ("$5 million", 5e6, "$"),
        ("5 bn", 5e9, ""),
        ("5e6", 5e6, ""),
        ("¥300", 300, "¥"),
        ("−5", -5, ""),
        ("1:30:00", 5400, "s"),
        ("2h 30m", 9000, "s"),
        ("1.512.000", 1512000, ""),
    ],
)
def test_a_quantity_is_one_value_in_a_name_and_in_a_text(text, number, unit):
    value = parse_value(text)
    assert value is not None
    assert (value.number, value.unit) == (number, unit)
    assert [(text, value)] == [
        (f"It is {text}, or so."[a:b], found)
        for a, b, found in find_values(f"It is {text}, or so.")
    ]


def test_a_unit_may_be_a_long_word():
    value = parse_value("7 championships")
    assert value is not None
    assert (value.number, value.unit) == (7, "championships")


@pytest.mark.parametrize("name", ["2 Fast 2 Furious", "Boeing 737", "May", "", "1990s"])
def test_a_name_with_a_number_is_no_value(name):
    assert parse_value(name) is None


@pytest.mark.parametrize(
    ("before", "stated", "after", "known", "expected"),
    [
        ("born in ", "1990", "", "1990-09-17", "same"),
        ("born in ", "May 1990", "", "1990-09-17", "differs"),
        ("born on ", "17 September 1990", "", "1990", "open"),  # more than is known
        ("born on ", "17 September 1991", "", "1990", "differs"),
        ("founded before ", "1950", "", "1942", "same"),
        ("founded before ", "1942", "", "1942", "differs"),
        ("founded after ", "1950", "", "1942-01-02", "differs"),
        ("more than ", "30,000", " people", "37524", "same"),
        ("at least ", "37,524", " people", "37524", "same"),
        ("fewer than ", "30,000", " people", "37524", "differs"),
        ("about ", "37,000", " people", "37524", "same"),
        ("about ", "30,000", " people", "37524", "open"),
        ("a life of ", "28", " hours", "28 hours", "same"),
        ("a life of ", "29", " hours", "28 hours", "differs"),
        ("a life of ", "28", " minutes", "28 hours", "open"),
        ("revenue of ", "$5 million", "", "$5M", "same"),
        ("revenue of ", "$6 million", "", "$5M", "differs"),
        ("revenue of ", "5 billion", "", "5 bn", "same"),
        ("founded in ", "1990", "", "1990/9/17", "same"),
        ("a length of ", "2h 30m", "", "2:30:00", "same"),
        ("a length of ", "1:30:00", "", "90 minutes", "open"),
        ("is number ", "9", "", "1990-09-17", "open"),
    ],
)
def test_what_is_stated_is_compared_with_what_is_known(
    before, stated, after, known, expected
):
    one, two = parse_value(stated), parse_value(known)
    assert one is not None and two is not None
    assert compare(one, two, before, after) == expected
