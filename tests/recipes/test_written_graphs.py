"""Small graphs of invented facts, whose questions judge answers and silence."""

import json
from pathlib import Path

import pytest

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
FILES = sorted((RECIPES / "written_graphs").glob("*.json"))


@pytest.fixture(autouse=True)
def recipes(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_answers_are_nodes_or_counts(file):
    for name, graph in json.loads(file.read_text("utf-8"))["graphs"].items():
        nodes = {end for head, _, tail in graph["triplets"] for end in (head, tail)}
        for question, answers in graph["questions"]:
            unknown = {each for each in answers if not each.isdigit()} - nodes
            assert unknown <= {"yes", "no"}, (name, question)
        absent = sum(not answers for _, answers in graph["questions"])
        assert (len(graph["questions"]), absent) == (30, 8), name


def test_no_graph_is_one_that_the_policy_learns_from():
    judging = [
        name for f in FILES for name in json.loads(f.read_text("utf-8"))["graphs"]
    ]
    learned = {
        name.replace("_", " ")
        for file in (RECIPES / "worded_graphs").glob("*.json")
        for name in json.loads(file.read_text("utf-8"))
    }
    assert len(set(judging)) == len(judging) == 40
    assert not learned & set(judging)


def test_outcomes_are_counted():
    from written_graphs import figures, outcomes

    from kgscout_jax import Scout

    people = ["Ada Wick", "Bo Lund", "Cy Hale"]
    triplets = [[name, "born_in", f"{name[:2]}ham"] for name in people]
    triplets.append(["Bo Lund", "taught_by", "Cy Hale"])
    questions = [
        ["Where was Ada Wick born?", ["Adham"]],
        ["Where was Cy Hale born?", ["Boham"]],  # a wrong one: never right
        ["Who was Ada Wick taught by?", []],
    ]
    definition = {"triplets": triplets, "questions": questions}
    found = [*outcomes(Scout.from_pretrained(), definition)]
    assert [(each.answerable, each.right) for each in found] == [
        (True, True),
        (True, False),
        (False, False),
    ]
    counts = figures(found)
    assert (counts["answerable"], counts["absent"]) == (2, 1)
    assert (counts["right"], counts["said_right"]) == (1, 1)
    assert (counts["said_wrong"], counts["absent_said"]) == (1, 0)
    assert (counts["kept@10"], counts["kept@30"]) == (2, 2)  # all four triplets
