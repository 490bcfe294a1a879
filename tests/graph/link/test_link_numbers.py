"""Numbers of a question: linked as they stand, never to other numbers."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.link import Linker, build_index

DATES = ["Alien", "Heat", "Thief", "1979-05-25", "1995-12-15", "1981-03-27"]
YEARS = ["Vertigo", "Alien", "1958", "1989", "2003", "2400", "12500"]
NUMBERED = ["CVE-2023-32681", "CVE-2022-40897", "iPhone 14", "Rocky 2", "urllib3"]


def names(known: list[str], question: str) -> list[str]:
    """Names of the links of a question."""
    return [link.name for link in Linker(build_index(known)).link(question)]


@pytest.mark.parametrize("year", ["1999", "1987", "1985", "1998", "1959", "2005"])
@pytest.mark.parametrize("known", [DATES, YEARS])
def test_a_year_is_no_misspelt_other_number(known, year):
    assert names(known, f"Which film was released in {year}?") == []


@pytest.mark.parametrize(
    ("known", "question"),
    [
        (DATES, "what came out on 1979-05-26"),
        (DATES, "what came out on 1979-25-05"),
        (DATES, "what came out on 1981-03"),
        (DATES, "which director made 27 films"),
        (YEARS, "who lives among 12600 people"),
        (NUMBERED, "what does CVE-2023-9999 affect"),
        (NUMBERED, "who sells the iphone 15"),
        (NUMBERED, "who sells the iphone 1"),
        (NUMBERED, "who uses urllib4"),
        (NUMBERED, "who uses urllib2"),
    ],
)
def test_a_name_with_other_numbers_is_not_linked(known, question):
    other = question.endswith("1981-03")
    assert names(known, question) == (["1981-03-27"] if other else [])


@pytest.mark.parametrize(
    ("known", "question", "name"),
    [
        (DATES, "what came out on 1979-05-25", "1979-05-25"),
        (DATES, "what came out on 25.05.1979", "1979-05-25"),
        (DATES, "what came out in 1979", "1979-05-25"),
        (YEARS, "which film is of 1958", "1958"),
        (NUMBERED, "what does 32681 affect", "CVE-2023-32681"),
        (NUMBERED, "who sells the ipone 14", "iPhone 14"),
        (NUMBERED, "who uses the iphone", "iPhone 14"),
        (NUMBERED, "who uses urllib", "urllib3"),
    ],
)
def test_a_name_with_the_same_numbers_is_linked(known, question, name):
    assert names(known, question) == [name]
