"""Questions over invented facts, which the shipped policy learns wordings from."""

import json
from pathlib import Path

import pytest

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
FILES = sorted((RECIPES / "worded_graphs").glob("*.json"))
PARISH = {
    "names": {"priest": "Ada", "church": "St. Orla", "town": "Wick", "year": "1901"},
    "facts": ["church served_by priest", "church stands_in town", "church built year"],
    "questions": [
        "who looks after {church}? | vicar of {church} = church served_by",
        "where does {priest} preach? | town of {priest} | {priest}'s town"
        " = priest ^served_by stands_in",
        "what did {priest} get in {town}? | {priest}, {town}"
        " = priest ^served_by & town ^stands_in",
    ],
}


@pytest.fixture(autouse=True)
def recipes(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))


def test_answers_are_the_ends_of_paths_and_the_last_wording_is_for_dev():
    from invented_graphs import Domain
    from worded_graphs import questions

    train, dev = questions(Domain(PARISH, "parish"), "parish")
    asked = [(q["question"], q["q_entity"], q["answer"], q["hop"]) for q in train]
    assert asked == [
        ("who looks after St. Orla?", ["St. Orla"], ["Ada"], 1),
        ("where does Ada preach?", ["Ada"], ["Wick"], 2),
        ("town of Ada", ["Ada"], ["Wick"], 2),
        ("what did Ada get in Wick?", ["Ada", "Wick"], ["St. Orla"], 1),
    ]
    assert [q["question"] for q in dev] == [
        "vicar of St. Orla",
        "Ada's town",
        "Ada, Wick",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_path_has_answers_and_no_domain_is_one_that_judges(file):
    from invented_graphs import DATA, Domain
    from worded_graphs import wordings

    domains = json.loads(file.read_text("utf-8"))
    assert not domains.keys() & json.loads(DATA.read_text("utf-8")).keys()
    for name, definition in domains.items():
        domain = Domain(definition, name)
        relations = {relation for _, relation, _ in domain.triplets}
        for asked, path in wordings(definition):
            steps = [word for word in path.split() if word not in {"&", ";"}]
            known = {*definition["names"], *relations}
            assert {step.removeprefix("^") for step in steps} <= known, path
            drawn = (domain.question(asked[0], path) for _ in range(40))
            assert any(drawn), path
