"""How the values of one relation are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.text.value_column import ValueColumn

HEIGHTS = ["820 m", "1.2 km", "1,141 m", "3000 ft"]
PEOPLE = ["63.000", "1.512.000", "632.000"]


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (HEIGHTS, [820, 1200, 1141, 914.4]),
        (["2 h", "90 min", "30 min"], [120, 90, 30]),
        (["5 kg", "7 m", "3 kg"], [5, None, 3]),
        (["$35", "€40", "$7"], [35, None, 7]),
        (PEOPLE, [63000, 1512000, 632000]),
        (["7.874", "2.700"], [7.874, 2.7]),  # one dot each may be a decimal point
        (["unknown", "12"], [None, 12]),
        # decimal commas, once one of them can be nothing else
        (["21,50 €", "1.234,50 €", "9,125 €"], [21.5, 1234.5, 9.125]),
        (["3105,5", "1.930", "1387"], [3105.5, 1930, 1387]),
        (["9,125", "1,250"], [9125, 1250]),
        # words of scale
        (["3.6 million", "69706", "2 thousand"], [3.6e6, 69706, 2000]),
        (["$1.2 billion", "$900 million", "$15M"], [1.2e9, 9e8, 1.5e7]),
        (["1.512.000", "63.000", "1.512 million"], [1512000, 63000, 1512000]),
        (["1.5 million km", "90 m", "3 km"], [1.5e6, 0.09, 3]),
        # sizes of data, power and volumes
        (["500 GB", "2 TB", "512 MB", "1 GiB"], [500, 2000, 0.512, 1.073741824]),
        (["90 W", "1.2 kW", "60 W"], [90, 1200, 60]),
        (["750 ml", "1.5 l", "330 ml"], [750, 1500, 330]),
        (["12 m²", "0.5 ha", "40 m²"], [12, 5000, 40]),
        # suffixes of money
        (["€1.2M", "€900k", "€ 3bn", "€5 M"], [1.2e6, 9e5, 3e9, 5e6]),
        (["1,2 Mio. €", "900 k€", "39 €"], [1.2e6, 9e5, 39]),
        (["1.2M EUR", "900k EUR"], [1.2e6, 9e5]),
        # spaces between thousands, wide, fixed and thin
        (["129 100 km", "900 km", "1 200 300 km"], [129100, 900, 1200300]),
        (["39\u00a0490 €", "1\u202f250,50 €", "7,25\u00a0€"], [39490, 1250.5, 7.25]),
        (["12 345", "1\u2009234", "78"], [12345, 1234, 78]),
        (["612 345 678", "040 555 099", "12"], [None, None, 12]),  # telephone numbers
        # dots between thousands, beside whole numbers below 1000 in the same unit
        (["18.400 m²", "6.200 m²", "400 m²"], [18400, 6200, 400]),
        (["1.234 kg", "2.345 kg", "3.456 kg"], [1.234, 2.345, 3.456]),
        (["1.234 kg", "2.345 kg", "400 g"], [1.234, 2.345, 0.4]),
        (["1.234", "2.345", "3"], [1.234, 2.345, 3]),
        (["1.234", "2.34", "400"], [1.234, 2.34, 400]),
        (["0.125", "2.345", "400"], [0.125, 2.345, 400]),
        (["1.234", "2.345", "400", "2500"], [1.234, 2.345, 400, 2500]),
    ],
)
def test_values_of_a_column_are_in_its_most_frequent_unit(names, numbers):
    column = ValueColumn.of(names)
    found = [column.read(name) for name in names]
    assert [each and pytest.approx(each.number) for each in found] == numbers


@pytest.mark.parametrize(
    ("names", "relation", "numbers"),
    [
        (["18.400 m²", "6.200 m²"], ["size"], [18400, 6200]),
        (["18.400 m²", "6.2 m²"], ["size"], [18.4, 6.2]),
        (["18.400 m²"], ["size"], [18.4]),
        (["54.123", "54.321"], ["latitude"], [54.123, 54.321]),
    ],
)
def test_dots_stand_between_thousands_where_a_graph_has_decimal_commas(
    names, relation, numbers
):
    column = ValueColumn.of(names, relation, decimal_commas=True)
    assert [column.read(name).number for name in names] == numbers


def test_thousands_of_a_limit_may_be_written_the_english_way():
    prices = ValueColumn.of(["21,50 €", "1.234,50 €", "20.000,00 €"])
    for limit in ("20,000", "20.000", "20 000", "20000"):
        assert prices.read_limit(limit).number == 20_000


def test_a_limit_has_the_unit_of_the_column_or_its_own():
    column = ValueColumn.of(HEIGHTS)
    assert [column.read_limit(name) for name in ("900", "1 km", "3 kg")] == [
        (900.0, 0),
        (1000.0, 0),
        None,
    ]
    people = ValueColumn.of(PEOPLE).read_limit("100.000")
    assert people is not None and people.number == 100_000
    assert ValueColumn.of(["820", "900"]).read_limit("1 km") is None
    metres = ValueColumn.of(["820", "900"], ["height", "m"])
    assert [metres.read_limit(name) for name in ("900", "1 km", "3 kg")] == [
        (900.0, 0),
        (1000.0, 0),
        None,
    ]


def test_a_limit_in_a_currency_fits_plain_numbers_but_no_other_currency():
    for names, limit, expected in (
        (["35", "40000000"], "$5m", 5e6),
        (["3 million usd", "400 usd"], "$5m", 5e6),
        (["$35", "$4 million"], "5 million", 5e6),
        (["€35", "€4 million"], "$5m", None),
    ):
        found = ValueColumn.of(names).read_limit(limit)
        assert (found and found.number) == expected


@given(st.lists(st.integers(1, 10**13), min_size=2, max_size=6))
def test_values_with_and_without_words_of_scale_have_one_order(numbers):
    scales = (("trillion", 12), ("billion", 9), ("million", 6), ("thousand", 3))
    names = [
        next(
            (f"{n / 10**p:.9f} {word}" for word, p in scales if i % 2 and n >= 10**p),
            str(n),
        )
        for i, n in enumerate(numbers)
    ]
    column = ValueColumn.of(names)
    found = [column.read(name) for name in names]
    assert [each and pytest.approx(each.number, rel=1e-8) for each in found] == numbers


def test_thousands_in_words_are_no_years():
    column = ValueColumn.of(["1.5 thousand", "2 thousand"])
    assert not column.dated and ValueColumn.of(["1500", "2000"]).dated


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("1989-11-12", "1989", 0),
        ("1990-01-01", "1989", 1),
        ("1988-12-31", "1989", -1),
        ("May 1921", "12 August 1899", 1),
        ("1921-05-30", "May 1921", 0),
        ("1921-06-01", "May 1921", 1),
        ("-0044-03-15", "-0044", 0),
    ],
)
def test_dates_are_compared_as_exactly_as_both_are_known(one, other, sign):
    column = ValueColumn(dated=True)
    here, there = column.read(one), column.read(other)
    assert here is not None and there is not None
    order = here.order(there)
    assert (order > 0) - (order < 0) == sign


def test_values_without_a_unit_are_in_that_of_the_limit_but_no_times_are():
    plain = ValueColumn.of(["8848", "4808"], ["elevation"])
    assert plain.read_limit("6000 metres").number == 6000
    assert plain.read_limit("2 hours") is None  # a runtime may be in minutes
