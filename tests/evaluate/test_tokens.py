"""Recall against tokens: every figure of a row counted again from prompts by hand."""

import json

import numpy as np
import pytest
from shards_factory import shards_of
from split_factory import Case

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.retrieval.evaluation import evaluate_retrieval
from kgscout_jax.evaluate.retrieval.metrics import retrieval_metrics
from kgscout_jax.evaluate.retrieval.tables import report_markdown, token_console_tables
from kgscout_jax.evaluate.retrieval.token_costs import (
    TokenPlan,
    take_positions,
    token_table,
)
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.reason.prompts import load_template, render
from kgscout_jax.reason.selection import PromptSettings, least_budget
from kgscout_jax.retrieve.baselines import Cosine
from kgscout_jax.retrieve.calibrate import presence_of
from kgscout_jax.retrieve.protocol import rank_candidates
from kgscout_jax.retrieve.retrieved_file import retrieved_records

TEMPLATE = load_template("one_shot")


def stars(n=12, period=4):
    """Stars of seven triplets; the answer of half of them is two hops away."""
    cases = []
    for i in range(n):
        leaves = [(f"hub{i}", f"r{j}", f"leaf{i}.{j}") for j in range(7)]
        last = (f"leaf{i}.{i % 7}", "is", f"end{i}")
        near = i % period < period // 2
        answer = f"hub{i}" if near else f"end{i}"
        cases.append(
            Case(triplets=[*leaves, last], topics=[f"hub{i}"], answers=[answer])
        )
    return shards_of(cases)


class Last:
    """The triplet away from the hub first: alone it hangs in the air."""

    name = "last"

    def scores(self, split):
        out = np.full(split.candidates.shape, -np.inf, np.float32)
        for i, n in enumerate(split.n_real):
            hub = split.topics[i, 0]
            away = (split.nodes[i, :n] != hub).all(axis=1)
            out[i, :n] = np.where(away, 3.0, -0.1 * np.arange(n))
        return out

    def rank(self, shards, split, k):
        return rank_candidates(self.name, shards, split, self.scores(split), k)


def row_of(block, selection, form):
    (row,) = (
        row
        for row in block["rows"]
        if (row["selection"], row["form"]) == (selection, form)
    )
    return row


def test_lines_are_counted_as_they_are_rendered():
    shards, split = stars()
    plan = TokenPlan(token_budgets=(700,))
    block = token_table(shards, split, Last(), [10, 3], plan, resamples=20)
    assert (block["retriever"], block["questions"]) == ("last", 12)
    # of 10, 30 and 100 only the first is measured
    assert [row["selection"] for row in block["rows"]] == ["K = 10"] * 2 + [
        "700 tokens"
    ] * 2
    rankings = Last().rank(shards, split, 10)
    for label, budget in (("K = 10", None), ("700 tokens", 700)):
        row = row_of(block, label, "lines")
        prompts = [
            render(TEMPLATE, record.question, record.triplets, budget=budget)
            for record in retrieved_records(shards, split, rankings)
        ]
        assert row["tokens"] == np.mean([each.tokens for each in prompts])
        assert row["triplets"] == np.mean([each.n_triplets for each in prompts])
        recall = row["answer_recall"]["value"]
        found = row["per_1000_tokens"]["answer_recall"]
        assert found == pytest.approx(1000 * recall / row["tokens"])
    full = retrieval_metrics(rankings, shards, split, [10])
    row = row_of(block, "K = 10", "lines")
    for name in ("answer_hit", "path_hit_undirected", "path_triplet_recall"):
        assert row[name]["value"] == pytest.approx(np.nanmean(full[name][10]))


def test_paths_connect_more_than_lines():
    shards, split = stars()
    block = token_table(shards, split, Last(), [2], TokenPlan(), resamples=20)
    lines, paths = (row_of(block, "K = 2", form) for form in ("lines", "paths"))
    assert lines["triplets"] == paths["triplets"] == 2
    assert paths["path_hit_undirected"]["value"] > lines["path_hit_undirected"]["value"]


def test_only_some_questions_are_counted():
    shards, split = stars()
    plan = TokenPlan(questions=5, forms=("lines",))
    block = token_table(shards, split, Last(), [2], plan, resamples=20)
    assert block["questions"] == 5
    assert {row["answer_hit"]["n"] for row in block["rows"]} == {5}


def calibrated(split, targets=(0.5, 0.9)):
    presence = presence_of(split, Last().scores(split), None, 4)
    return TokenPlan(targets=targets, presence=presence, calibration="on its halves")


def test_targets_choose_k():
    shards, split = stars(40)
    plan = calibrated(split)
    block = token_table(shards, split, Last(), [4], plan, resamples=20)
    for target in plan.targets:
        row = row_of(block, f"target {target:g}", "lines")
        k = [
            next((i + 1 for i, p in enumerate(each) if p >= target), 4)
            for each in plan.presence
        ]
        assert row["k"]["mean"] == row["triplets"] == np.mean(k)
        at_k = [each[n - 1] for each, n in zip(plan.presence, k, strict=True)]
        assert row["expected"] == pytest.approx(np.mean(at_k))
        assert row["short_of_target"] == np.mean(np.array(at_k) < target)
        fixed = row_of(block, f"K = {round(np.mean(k))}, fixed", "lines")
        assert fixed["triplets"] == round(np.mean(k)) and "k" not in fixed


def test_an_evaluation_reports_and_writes_budgets(tmp_path):
    shards, split = stars(40)
    plan = calibrated(split, targets=(0.5,))
    report = evaluate_retrieval(
        shards, "dev", [Last(), Cosine()], [2, 4], tmp_path, resamples=20, tokens=plan
    )
    assert report == json.loads((tmp_path / "metrics.json").read_text())
    assert report["retrievers"] == ["last", "cosine"]
    text = (tmp_path / "table.md").read_text()
    assert text == report_markdown(report)
    assert "## Recall and tokens" in text and "## Calibrated budgets" in text
    assert "(on its halves)" in text
    assert len(token_console_tables(report["tokens"])) == 2
    row = row_of(report["tokens"], "target 0.5", "lines")
    lines = (tmp_path / "retrieved_target_0.5.jsonl").read_text().splitlines()
    lengths = [len(json.loads(line)["triplets"]) for line in lines]
    assert np.mean(lengths) == row["triplets"] and len(lengths) == 40
    full = (tmp_path / "retrieved.jsonl").read_text().splitlines()
    for short, whole in zip(lines, full, strict=True):
        some = json.loads(short)["triplets"]
        assert some == json.loads(whole)["triplets"][: len(some)]


def test_a_budget_that_holds_the_question_alone_is_told(caplog):
    shards, split = stars(3)
    plan = TokenPlan(token_budgets=(least_budget(PromptSettings()), 700))
    block = token_table(shards, split, Last(), [4], plan, resamples=20)
    assert row_of(block, f"{plan.token_budgets[0]} tokens", "lines")["triplets"] == 0
    says = (
        "--token-budget {}, lines: not even the best triplet fits in 3 of 3 questions"
    )
    assert says.format(plan.token_budgets[0]) in caplog.messages
    assert len(caplog.messages) == 2  # of the other form


def test_positions_are_taken_in_their_order():
    shards, split = stars(2)
    rankings = Last().rank(shards, split, 4)
    found = take_positions(rankings, [(2, 0), ()])
    assert found.heads[0].tolist() == rankings.heads[0, [2, 0]].tolist()
    assert found.heads[1].tolist() == [-1, -1] and found.lengths.tolist() == [2, 0]
    assert found.scores[1].tolist() == [0, 0]


def test_each_half_is_calibrated_on_the_other():
    """Scores that say everything in one half, and nothing in the other."""
    _, split = stars(40, period=2)
    scores = Last().scores(split)
    crossed = presence_of(split, scores, None, 4)
    assert crossed.shape == (40, 4) and (np.diff(crossed, axis=1) >= 0).all()
    # the odd questions have their answer first, the even ones behind it
    assert crossed[::2, 0].min() > 0.8 > 0.2 > crossed[1::2, 0].max()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target": (1.5,)}, "--target: 1.5, expected a number between 0 and 1"),
        ({"token_budget": (0,)}, "--token-budget: found 0, expected at least 1"),
        ({"token_budget": (900, 400)}, "--token-budget: found 400, expected at least"),
        ({"forms": ("lines", "lines")}, "--forms: lines lines, expected each name"),
        ({"retrievers": ()}, "--retrievers: nothing, expected each name"),
        ({"retrievers": ("bm25",), "target": (0.5,)}, "bm25 is the first of"),
    ],
)
def test_settings_are_checked(change, says, tmp_path):
    with pytest.raises(UserError, match=says):
        RetrievalSettings(run=tmp_path, shards=tmp_path, out=tmp_path, **change)
    with pytest.raises(ValueError, match="targets need"):
        TokenPlan(targets=(0.5,))
