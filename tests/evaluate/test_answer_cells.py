"""Cells of the table: metrics by the papers' rules, what is missing, what it cost."""

import math
from dataclasses import replace

import numpy as np
import pytest

from kgscout_jax.evaluate.answers.cells import (
    HEADLINE,
    METRICS,
    Cell,
    definitions,
    read_cell,
    server_is_gone,
)
from kgscout_jax.evaluate.answers.console import answers_console
from kgscout_jax.evaluate.answers.evidence import Ranking
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.evaluate.answers.rules import RULES
from kgscout_jax.evaluate.answers.tables import answers_markdown
from kgscout_jax.evaluate.bootstrap import estimates
from kgscout_jax.reason.readers.protocol import Reading
from kgscout_jax.types import Answer, Question

TRIPLETS = (
    ("Rome", "capital_of", "Italy", 2.0),
    ("Italy", "borders", "France", 1.0),
    ("Milan", "in", "Italy", 0.5),
)
RANKING = Ranking(triplets=TRIPLETS, flags=(3, 0, 1))
GOLD = [("Italy",), ("Rome", "Milan"), ("Paris",), ("Italy",), ("Italy",)]
GIVEN = [("Italy (country)",), ("rome", "Turin"), (), ("I do not know",), ("Italy",)]


def info(i, gold):
    return Question(id=f"q{i}", text=f"which {i}?", topics=("Rome",), answers=gold)


def reading(i, given, **more):
    fields = {
        "outcome": "json", "raw": f"reply {i}", "prompt_hash": f"hash {i}",
        "prompt_tokens": 100 + i, "reply_tokens": 10, "seconds": 0.5, **more,
    }  # fmt: skip
    return Reading(id=f"q{i}", answers=given, **fields)


def cell(retriever="cosine", k=2, given=GIVEN, **errors):
    readings = [reading(i, one) for i, one in enumerate(given)]
    for i, error in errors.items():
        i = int(i.removeprefix("q"))
        readings[i] = Reading(id=f"q{i}", answers=(), outcome="error", error=error)
    return Cell(
        retriever=retriever,
        k=k,
        infos=[info(i, gold) for i, gold in enumerate(GOLD)],
        rankings=[RANKING if k else Ranking()] * len(GOLD),
        readings=readings,
        causes=["misread", "no_path", "not_in_top_k", "lost_by_cut", "not_in_graph"],
        in_prompt=[k] * len(GOLD),
    )


def test_figures_by_hand():
    columns = cell().columns("rog")
    assert list(columns) == list(METRICS)
    assert columns["hit"].tolist() == [1, 1, 0, 0, 1]
    assert columns["hits@1"].tolist() == [1, 1, 0, 0, 1]
    assert columns["macro_f1"].tolist() == [1, 0.5, 0, 0, 1]
    assert columns["em"].tolist() == [0, 0, 0, 0, 1]
    assert columns["hallucination"].tolist() == [1, 1, 0, 0, 0]
    # "italy country" against "italy": precision 1/2, recall 1
    assert columns["token_f1"][0] == columns["rouge_l"][0] == pytest.approx(2 / 3)
    # the second triplets' ends: Rome, Italy, France; no answer, nothing to ground
    grounded = columns["groundedness"].tolist()
    assert grounded[:2] == [0, 0.5] and math.isnan(grounded[2])
    assert grounded[3:] == [0, 1]


def test_the_first_three_metrics_follow_the_rules():
    for rules in HEADLINE:
        columns = cell().columns(rules)
        for i, (given, gold) in enumerate(zip(GIVEN, GOLD, strict=True)):
            expected = RULES[rules].score(given, gold)
            assert columns["hit"][i] == expected["hit"]
            assert columns["hits@1"][i] == expected["hits@1"]
            assert columns["macro_f1"][i] == expected["f1"]
        assert rules in definitions(rules)["hit"]
        assert list(definitions(rules)) == list(METRICS)
    assert cell().columns("kgscout")["hit"].tolist() == [0, 1, 0, 0, 1]


def test_groundedness_counts_the_k_best_triplets_only():
    assert cell(k=2).columns("rog")["groundedness"][1] == 0.5
    given = [("Milan",)] * 5
    assert cell(k=2, given=given).columns("rog")["groundedness"][1] == 0
    assert cell(k=3, given=given).columns("rog")["groundedness"][1] == 1
    assert np.isnan(cell(k=0).columns("rog")["groundedness"]).all()


def test_answers_from_all_candidates_are_grounded_in_all_of_them():
    given = [("Milan",), ("Milan",), ("Rome", "Milan"), (), ("Milan",)]
    few = cell(k=2, given=given)
    whole = replace(few, read_whole=[True, False, True, True, True])
    grounded = whole.columns("rog")["groundedness"].tolist()
    assert grounded[:3] == [1, 0, 1] and math.isnan(grounded[3])
    assert whole.first(1).columns("rog")["groundedness"].tolist() == [1]


def test_missing_replies_count_as_wrong():
    one = cell(q0="no connection (x)")
    assert one.missing == [0]
    columns = one.columns("rog")
    assert columns["hit"].tolist() == [0, 1, 0, 0, 1]
    assert np.isnan(columns["groundedness"][0])
    failures = one.failures("rog")
    assert failures == ["no_reply", None, "not_in_top_k", "lost_by_cut", None]
    spent = one.spending(1.0, 10.0)
    assert (spent["replies"], spent["missing"]) == (4, 1)
    assert spent["prompt_tokens"] == 101 + 102 + 103 + 104
    assert spent["cost"] == pytest.approx((410 * 1 + 40 * 10) / 1e6)
    assert spent["per_question"]["cost"] == pytest.approx(spent["cost"] / 4)
    assert spent["per_question"]["seconds"] == 0.5
    assert spent["outcomes"] == {"error": 1, "json": 4}
    none = cell(**{f"q{i}": "not asked: gone" for i in range(5)})
    assert none.spending(1, 1)["per_question"]["prompt_tokens"] is None
    assert set(none.columns("rog")["hit"]) == {0}


def test_the_first_questions_of_a_cell_keep_their_failures():
    one = cell(q1="HTTP 400: too long").first(2)
    assert len(one) == 2 and one.missing == [1]
    assert one.failures("rog") == [None, "no_reply"]


def test_a_server_is_gone_when_no_request_connects():
    assert not server_is_gone(cell())
    assert not server_is_gone(cell(q0="HTTP 400: too long"))
    assert server_is_gone(cell(q0="not asked: the server no longer answers"))
    # a connection lost once, while others were answered
    assert not server_is_gone(cell(q0="no connection (reset)"))
    every = {f"q{i}": "no connection (reset)" for i in range(5)}
    assert server_is_gone(cell(**every))


def test_a_reader_gets_the_k_best_triplets():
    class Watching:
        name = "watching"

        def read(self, evidence):
            self.seen = evidence
            return [reading(0, ("Italy",))]

    reader = Watching()
    infos = [info(0, ("Italy",))]
    likely = [(Answer(name="Italy", probability=0.75),)]
    found = read_cell(reader, "cosine", 2, infos, [RANKING], ["misread"], likely=likely)
    assert reader.seen[0].answers == (("Italy", 0.75),)
    assert reader.seen[0].triplets == TRIPLETS[:2]
    assert (reader.seen[0].topics, reader.seen[0].question) == (("Rome",), "which 0?")
    assert found.readings[0].answers == ("Italy",) and found.in_prompt == [None]


SCOUT = [("Italy",), ("Rome",), ("Paris",), (), ("Italy",)]
CELLS = {
    ("none", 1): cell("none", 0),
    ("cosine", 1): cell("cosine", 1),
    ("scout", 1): cell("scout", 1, SCOUT),
    ("none", 3): cell("none", 0).first(3),
    ("cosine", 3): cell("cosine", 3, q2="no connection (x)").first(3),
    ("scout", 3): cell("scout", 3, SCOUT).first(3),
}
CONTEXT = {"measured_on": "a|b", "split": "dev", "questions": 9, "reader": "graph"}


def report(**more):
    options = {"rules": "rog", "settings": {"x": 1}, "context": CONTEXT, **more}
    return answer_report(CELLS, resamples=200, **options)


def test_a_report_holds_figures_differences_and_failures():
    found = report()
    assert (found["retrievers"], found["ks"]) == (["none", "cosine", "scout"], [1, 3])
    assert found["n"] == {"1": 5, "3": 3}
    hits = 100 * CELLS["scout", 1].columns("rog")["hit"]
    entry = found["metrics"]["scout"]["1"]["hit"]
    assert entry == estimates({"hit": hits}, resamples=200)["hit"]
    assert entry["value"] == pytest.approx(80) and entry["n"] == 5
    assert found["metrics"]["none"]["1"]["groundedness"]["value"] is None
    assert found["reference"] == "cosine" and list(found["paired"]) == ["none", "scout"]
    difference = hits - 100 * CELLS["cosine", 1].columns("rog")["hit"]
    expected = estimates({"hit": difference}, resamples=200)["hit"]
    expected["difference"] = expected.pop("value")
    assert found["paired"]["scout"]["1"]["hit"] == expected
    assert found["failures"]["scout"]["1"]["wrong"] == 1
    assert found["failures"]["scout"]["1"]["causes"]["lost_by_cut"]["count"] == 1
    assert found["missing"] == [
        {"retriever": "cosine", "k": 3, "id": "q2", "error": "no connection (x)"}
    ]
    rows = found["table"]
    assert [(row["k"], row["retriever"]) for row in rows[:4]] == [
        (1, "none"), (1, "cosine"), (1, "scout"), (3, "none")
    ]  # fmt: skip
    assert rows[2]["hit"] == entry["value"] and rows[2]["hit_low"] == entry["low"]


def test_without_a_retriever_there_are_no_differences():
    alone = {("none", 1): CELLS["none", 1]}
    found = answer_report(alone, rules="rog", settings={}, context=CONTEXT)
    assert found["paired"] == {} and found["reference"] is None
    assert "Macro-F1 against K" in answers_markdown(found)


def test_tables_hold_warnings_examples_definitions_and_differences():
    found = report(prices=(1.0, 2.0))
    text = answers_markdown(found)
    assert text.startswith("# Answers on dev of a|b\n")
    assert (
        "1 reply is missing, counted as wrong" in text and "no connection (x)" in text
    )
    assert text.count("scout − cosine") == 2
    # the last retriever first; what never fails there, from the one before
    assert '- not in the top K: "which 2?" (q2; cosine, K = 1): given nothing' in text
    assert '- lost by a cut: "which 3?" (q3; scout, K = 1): given nothing; ' in text
    for said in found["definitions"].values():
        assert said in text
    shown = text_of(answers_console(found))
    for word in ("scout − cosine", "80.0 [", "tokens", "$"):
        assert word in shown
    assert "$" not in text_of(answers_console(report()))


def text_of(table):
    from rich.console import Console

    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_a_record_holds_everything_about_a_question():
    one = CELLS["cosine", 3]
    records = one.records("rog")
    assert records[0] == {
        "id": "q0", "question": "which 0?", "retriever": "cosine", "k": 3, "hop": None,
        "topics": ["Rome"], "gold": ["Italy"],
        "triplets": [list(triplet) for triplet in TRIPLETS],
        "holds_answer": [0, 2], "on_path": [0], "prompt_hash": "hash 0",
        "triplets_in_prompt": 3, "reply": "reply 0", "answers": ["Italy (country)"],
        "outcome": "json", "right": True, "failure": None,
        "metrics": records[0]["metrics"], "prompt_tokens": 100, "reply_tokens": 10,
        "seconds": 0.5,
    }  # fmt: skip
    assert records[0]["metrics"]["hit"] == 1
    assert records[2]["metrics"]["groundedness"] is None
    assert (records[2]["failure"], records[2]["error"]) == (
        "no_reply", "no connection (x)"
    )  # fmt: skip
