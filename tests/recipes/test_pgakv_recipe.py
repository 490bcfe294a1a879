"""Questions that need two graphs, by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "recipes"))
import pgakv_page
import pgakv_questions

EXCERPT = [
    ("Ada", "people.person.nationality", "Peru"),
    ("Ada", "people.person.nationality", "Chile"),
    ("Bo", "people.person.nationality", "Nowhere"),
    ("Bo", "people.person.place_of_birth", "Lima"),
    ("Peru", "location.country.demonym", "Peruvian"),
]
WORLD = [
    ("Peru", "location.country.demonym", "Peruvian"),
    ("peru", "location.country.calling_code", "+51"),
    ("Chile", "location.country.calling_code", "+56"),
    ("Lima", "location.city.time_zone", "America/Lima"),
]


def test_second_hops_are_facts_that_the_excerpt_lacks():
    rows = pgakv_questions.questions(EXCERPT, WORLD, 9)
    assert len(rows) == 2
    found = {row["question"]: row["answer"] for row in rows}
    assert found == {
        "What is the calling code of the home country of Ada?": ["+51", "+56"],
        "What is the time zone of the place where Bo was born?": ["America/Lima"],
    }
    assert len(pgakv_questions.questions(EXCERPT, WORLD, 1)) == 1


def test_the_page_is_that_of_the_committed_figures():
    found = json.loads(pgakv_page.FIGURES.read_text("utf-8"))
    assert pgakv_page.PAGE.read_text("utf-8") == pgakv_page.page(found)
