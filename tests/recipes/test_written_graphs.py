"""Small graphs of invented facts, whose questions judge answers and silence."""

import itertools
import json
import random
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
    assert len(set(judging)) == len(judging) == 48
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


def test_questions_of_all_forms_have_the_answers_of_the_graph():
    from plain_forms import FORMS, Facts

    from kgscout_jax import KnowledgeGraph

    employers = {f"person {i}": f"firm {i % 4}" for i in range(12)}
    mentors = {f"person {i}": f"person {i + 1}" for i in range(8)}
    of = {"employer": employers, "mentor": mentors}
    triplets = [(h, r, t) for r, tails in of.items() for h, t in tails.items()]
    facts = Facts(KnowledgeGraph.from_triplets(triplets))
    drawn = set()
    for form, seed in itertools.product(FORMS, range(30)):
        if (question := facts.question(form, random.Random(seed))) is None:
            continue
        drawn.add(form)
        (relation, *_) = [r for r in of if r in question.text]
        topics, answers = sorted(question.topics), {*question.answers}
        if form == "What is the {r} of {e}?":
            assert answers == {of[relation].get(topics[0])} - {None}
        elif form == "Whose {r} is {e}?":
            assert answers == {h for h, t in of[relation].items() if t == topics[0]}
        elif form == "What is the {s} of {e}'s {r}?":
            (first,) = (r for r in of if question.text.endswith(f"{r}?"))
            (then,) = (r for r in of if f"the {r} of" in question.text)
            assert answers == {of[then][of[first][topics[0]]]}
        elif form == "Do {e} and {f} have the same {r}?":
            one, other = (of[relation][each] for each in topics)
            assert answers == {"yes" if one == other else "no"}
    assert drawn == {*FORMS}


@pytest.mark.parametrize("number", [0, 3])
def test_questions_by_other_names_have_the_answers_of_the_graph(number):
    from relation_names import FILES, made_graph

    definition = json.loads(FILES[0].read_text("utf-8"))
    triplets, questions = made_graph(definition, number)
    joined = {frozenset((head, tail)) for head, _, tail in triplets}
    answered = [each for each in questions if each.answers]
    assert len(answered) == 153 and len(questions) == 233
    for text, answers in answered:
        of = [name for names in definition["names"].values() for name in names]
        topics = [name for name in of if name in text]
        assert any(
            all(frozenset((topic, answer)) in joined for answer in answers)
            for topic in topics
        )


def larger_domain(lines):
    from invented_graphs import Domain

    names = {
        "person": "Ada|Bo|Cy|Dan",
        "firm": "Acme|Umbra",
        "city": "Bern|Oslo",
        "year": "1990..1993",
    }
    facts = ["person works_for firm", "firm based_in city", "person hired_in year"]
    definition = {"names": names, "facts": [*facts, "person mentor person 1 50%"]}
    return Domain(definition | {"questions": lines}, "seed")


def larger_questions(line):
    from larger_graphs import questions

    domain = larger_domain([line])
    found = questions(domain)
    assert found, line
    return domain.steps, found


def named(text, among):
    return next(each for each in among if each in text)


PEOPLE = ["Ada", "Bo", "Cy", "Dan"]


def test_larger_questions_follow_a_path_and_count_its_ends():
    steps, found = larger_questions("firm of {person} = person works_for")
    for text, answers in found:
        assert answers == sorted(steps[named(text, PEOPLE), "works_for"])
    steps, found = larger_questions("staff of {firm} = count firm ^works_for")
    for text, answers in found:
        staff = steps[named(text, ["Acme", "Umbra"]), "^works_for"]
        assert answers == [str(len(staff))]


def test_larger_questions_compare_values():
    steps, found = larger_questions(
        "{firm} after {year} = firm ^works_for over hired_in year"
    )
    for text, answers in found:
        firm, _, year = text.split()
        staff = steps[firm, "^works_for"]
        assert answers == sorted(p for p in staff if steps[p, "hired_in"][0] > year)
    steps, found = larger_questions("first at {firm} = firm ^works_for min hired_in")
    for text, answers in found:
        staff = steps[text.split()[-1], "^works_for"]
        first = min(steps[p, "hired_in"] for p in staff)
        assert answers == sorted(p for p in staff if steps[p, "hired_in"] == first)


def test_larger_questions_of_yes_or_no_and_of_what_nothing_says():
    steps, found = larger_questions(
        "is {person} at {firm}? = check person works_for firm"
    )
    said = {tuple(answers) for _, answers in found}
    assert said <= {("yes",), ("no",)}
    for text, answers in found:
        firm = text.rstrip("?").split()[-1]
        held = firm in steps[named(text, PEOPLE), "works_for"]
        assert answers == ["yes" if held else "no"]
    steps, found = larger_questions("mentor of {person} = none person mentor")
    for text, answers in found:
        assert answers == [] and not steps[named(text, PEOPLE), "mentor"]


@pytest.mark.parametrize(
    "file", sorted((RECIPES / "larger_graphs").glob("*.json")), ids=lambda f: f.stem
)
def test_larger_graphs_are_large_and_ask_in_many_ways(file):
    from invented_graphs import Domain
    from larger_graphs import Line

    content = json.loads(file.read_text("utf-8"))
    assert 3_500 <= len(Domain(content, file.stem).triplets) <= 6_000
    lines = [*map(Line, content["questions"])]
    kinds = {line.kind for line in lines}
    assert len(lines) >= 40 and kinds == {"", "none", "count", "check"}
    assert all(len(line.wordings) > 1 for line in lines)
