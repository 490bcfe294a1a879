"""``kgscout questions``: writing, scores, the tuner, agreement with people."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.okgqa.questions import read_questions
from kgscout_jax.okgqa.writing.agreement import cohens_kappa, pearson
from kgscout_jax.okgqa.writing.draft import Draft, read_object, read_reply
from kgscout_jax.okgqa.writing.entity_order import kinds_of, varied_order

METRICS = ("naturalness", "relevance", "specificity", "novelty", "actionability")


def writer(prompt, body):
    """Writes questions about the entities it is given; scores by the instruction."""
    if "Write one question" in prompt:
        names = (
            prompt.partition("]: use ")[2].partition(", spelled")[0].replace('"', "")
        )
        if "character description" in prompt:
            return "Sorry, no."
        row = {"question": f"How did {names} change the world?", "difficulty": "hard"}
        return f"Here: {json.dumps(row)}"
    if "Instruction Tuner" in prompt:
        return "Score what people like."
    if "Question:" in prompt:
        tuned = body["messages"][0]["content"].startswith("Score what people like")
        good = "a1" in prompt
        score = (9 if good else 2) if tuned else (3 if good else 4)
        return json.dumps(dict.fromkeys(METRICS, score))
    raise AssertionError(prompt)


def run_questions(out, server, *more):
    return main(
        [
            "questions", "--out", str(out), "--llm", server.url, "--model", "m",
            "--retries", "0", *map(str, more),
        ]
    )  # fmt: skip


@pytest.fixture
def server():
    pytest.importorskip("openai", reason="the [llm] extra is not installed")
    from okgqa.scholar import scholar

    with scholar(words=writer) as server:
        yield server


def test_questions_name_entities_of_the_graph(server, film_graph, tmp_path):
    assert run_questions(tmp_path, server, "--kg", film_graph, "--n", 8) == 0
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").open()]
    report = json.loads((tmp_path / "report.json").read_text())
    names = film_graph.read_text()
    # a template that always fails is replaced by the other of its type
    assert len(rows) == 8 and report["refused"] == {"unreadable": 3}
    assert [row["sub_type"] for row in rows].count("event description") == 2
    for row in rows:
        assert all(name in row["question"] for name in row["entities"])
        assert all(name in names for name in row["entities"])
        assert row["scores"] == dict.fromkeys(METRICS, 4)
    assert sum(len(row["entities"]) == 2 for row in rows) == 3
    asked = len(server.bodies)
    assert run_questions(tmp_path, server, "--kg", film_graph, "--n", 8) == 0
    assert len(server.bodies) == asked


def test_a_rare_kind_of_entity_is_among_the_first_ones():
    airports = [(i, 0, 1000 + i % 7) for i in range(400)]
    people = [(500 + i, 1, 600) for i in range(16)]
    triplets = np.array([*airports, *people, (700, 1, 600), (700, 2, 600)])
    kinds = kinds_of(triplets, 1007)
    assert len(set(kinds[:400])) == len(set(kinds[500:516])) == 1
    assert len({kinds[i] for i in (0, 500, 600, 700, 1000, 900)}) == 6
    some = np.r_[0:400, 500:516, 700]
    order = varied_order(kinds[some], seed=3)
    assert sorted(order.tolist()) == list(range(len(some)))
    assert np.array_equal(order, varied_order(kinds[some], seed=3))
    first = some[order[:50]]
    assert 700 in first and 6 <= sum(500 <= one < 516 for one in first) <= 14


def test_placeholders_are_those_of_the_template():
    template = {"template": "Why did [person] go to [place]?", "type": "t",
                "sub_type": "s"}  # fmt: skip
    draft = Draft(template=template, entities=("Ada",), context="")
    reply = {"question": "Why did Ada go?", "placeholders": {
        "person": "Ada", "place": "...", "placeholder": "its replacement"}}  # fmt: skip
    row, problem = read_reply(json.dumps(reply), draft)
    assert not problem and row["placeholders"] == {"person": "Ada"}


@pytest.fixture
def given_questions(tmp_path):
    path = tmp_path / "given.jsonl"
    texts = ["What is a1 about?", "What of a2?", "Why a3?"]
    rows = ({"id": str(i), "question": text} for i, text in enumerate(texts))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_tuner_brings_scores_nearer_to_people(server, given_questions, tmp_path):
    human = tmp_path / "human.csv"
    lines = [",".join(["id", "evaluator", *METRICS])]
    for who, scores in {"x": (9, 2, 1), "y": (8, 2, 2)}.items():
        lines += [",".join([str(i), who, *[str(s)] * 5]) for i, s in enumerate(scores)]
    human.write_text("\n".join(lines) + "\n")
    code = run_questions(
        tmp_path / "out", server, "--questions", given_questions, "--human", human,
        "--rounds", 2,
    )  # fmt: skip
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    first, second = (one["agreement"]["novelty"]["pearson"] for one in report["rounds"])
    assert code == 0 and first < -0.9 and second > 0.9 and report["best_round"] == 2
    # (9, 2, 1) and (8, 2, 2) agree on one of three; by chance on 1/3 * 2/3
    assert report["kappa"]["x & y"]["novelty"] == pytest.approx(
        (1 / 3 - 2 / 9) / (7 / 9)
    )


def test_scores_outside_the_range_are_refused(
    given_questions, tmp_path, server, capsys
):
    human = tmp_path / "human.csv"
    human.write_text(f"id,evaluator,{','.join(METRICS)}\n0,x,1,2,11,4,5\n")
    more = ("--questions", given_questions, "--human", human)
    assert run_questions(tmp_path / "out", server, *more) == 2
    error = capsys.readouterr().err
    assert "human.csv:2: specificity: found '11'" in error


ratings = st.lists(st.tuples(*[st.integers(1, 4)] * 2), min_size=1, max_size=30)


@given(ratings)
def test_kappa_equals_scikit_learn(pairs):
    import warnings

    import numpy as np
    from sklearn.metrics import cohen_kappa_score

    first, second = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(first, second)
    ours = cohens_kappa(first, second)
    if ours is None:
        assert np.isnan(expected)
    else:
        assert ours == pytest.approx(expected)


def test_correlation_of_a_constant_is_unknown():
    assert pearson([3, 3, 3], [1, 2, 3]) is None and pearson([1], [1]) is None
    assert pearson([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)


@pytest.mark.parametrize("text", ['{"a":' * 3000, "{" + "[" * 90_000, '{"a":' * 20_000])
def test_an_object_that_is_nested_too_deeply_is_none(text):
    assert read_object(text) == {}


def test_a_cell_that_is_nested_too_deeply_is_named(tmp_path):
    (tmp_path / "q.csv").write_text(f"question,placeholders\nwhy?,{'[' * 90_000}\n")
    with pytest.raises(UserError, match=r"q.csv:2: placeholders: found '\[\["):
        read_questions(tmp_path / "q.csv")
