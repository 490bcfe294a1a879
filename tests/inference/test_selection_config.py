"""What is kept of a scout's ranking: budgets, paths, tokens; on a real graph."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from prep_factory import NEEDS_ENCODER, TRIPLETS
from scout_factory import lines, shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.retrieval.run import evaluate_run
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.reason.path_text import path_closure, path_order
from kgscout_jax.reason.prompts import load_template, render
from kgscout_jax.reason.selection import POOL, PromptSettings, least_budget, select
from kgscout_jax.retrieve.budget import Calibration, thresholds

pytestmark = NEEDS_ENCODER
MAP = Calibration(
    intercept=-1.0, log_rank=-0.1, log_intensity=0.5, questions=9, split="dev"
)
NAMES = sorted({head for head, _, _ in TRIPLETS})[:4]
QUESTIONS = [f"Where is {name}?" for name in NAMES]


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("guided")


@pytest.fixture
def scout(world, monkeypatch):
    """The world's scout, its export with a calibration."""
    monkeypatch.setitem(world.scout.exported.metadata, "calibration", MAP.to_dict())
    return world.scout


def ask(world, k, **settings):
    graph = open_graph([world.file])
    topics = [[name] for name in NAMES]
    return world.scout.retrieve_many(
        QUESTIONS, graph, k, topics=topics, selection=SelectionConfig(**settings)
    )


def test_a_target_selects_the_fewest_triplets_that_reach_it(world, scout):
    whole = ask(world, 1000)
    assert all(len(found) > 2 for found in whole)
    for target in (0.2, 0.5, 0.99999):
        for full, found in zip(whole, ask(world, 4, target=target), strict=True):
            c = thresholds(full.scores[None])
            best, n = full.scores[None, :4], np.array([min(4, len(full))])
            presence = MAP.presence(best, c, n)[0]
            k = next((i + 1 for i, p in enumerate(presence) if p >= target), n[0])
            assert found.triplets == full.triplets[:k]
            assert found.relation_match == full.relation_match[:k]
            told = {
                "target": target,
                "presence": pytest.approx(presence[k - 1], abs=1e-4),
                "calibration_graph": "unknown",
            }
            assert found.selection == told


@pytest.mark.parametrize(
    ("more", "where"), [(0, "same"), (1000, "another"), (None, "unknown")]
)
def test_a_target_says_whether_it_was_calibrated_on_this_graph(
    world, scout, monkeypatch, caplog, more, where
):
    graph = open_graph([world.file])
    counts = {"entities": len(graph.entities), "relations": len(graph.relations)}
    known = counts | {"triplets": len(graph) + (more or 0)}
    graphs = [{"entities": 1, "relations": 1, "triplets": 1}, known]
    if more is not None:
        monkeypatch.setitem(scout.exported.metadata, "calibration_graphs", graphs)
    monkeypatch.setattr(scout, "_warned_counts", {})
    with caplog.at_level("WARNING", logger="kgscout"):
        for found in (*ask(world, 4, target=0.5), *ask(world, 4, target=0.6)):
            assert found.selection["calibration_graph"] == where
    assert caplog.text.count("--target: ") == (where != "same")
    assert ask(world, 4)[0].selection == {}


def test_paths_are_closed_and_token_budgets_hold(world, scout):
    template = load_template("one_shot")
    for full, found in zip(
        ask(world, 3 * POOL), ask(world, 3, form="paths"), strict=True
    ):
        kept = path_closure(full.scored, full.topics, 3)
        order = path_order([full.scored[i] for i in kept], full.topics)
        assert list(found.triplets) == [full.triplets[kept[i]] for i in order]
        assert found.scored == tuple(full.scored[kept[i]] for i in order)
        assert found.selection["form"] == "paths" and found.selection["tokens"] > 0
    least = max(render(template, question, []).tokens for question in QUESTIONS)
    short = ask(world, 9, token_budget=least + 40)
    for full, found in zip(ask(world, 9), short, strict=True):
        n = len(found)
        assert found.triplets == full.triplets[:n] and n < len(full)
        assert found.selection["tokens"] <= least + 40
        longer = render(template, found.question, full.scored[: n + 1])
        assert longer.tokens > least + 40


def test_a_budget_that_holds_no_triplet_of_a_question_is_told_once(
    world, scout, monkeypatch, caplog
):
    monkeypatch.setattr(scout, "_warned_budgets", set())
    least = max(select(q, [], [], k=0, form="lines").prompt.tokens for q in QUESTIONS)
    budget = max(least, least_budget(PromptSettings()))
    for found in (*ask(world, 9, token_budget=budget), *ask(world, 9)):
        assert bool(found.triplets) == (not found.selection)
    ask(world, 9, token_budget=budget)
    (told,) = caplog.messages
    assert told.startswith(f"--token-budget {budget}: not even the best triplet fits")


def test_target_form_and_token_budget_combine(world, scout):
    for found in ask(world, 9, target=0.9, form="paths", token_budget=900):
        told = {"target", "presence", "form", "tokens", "calibration_graph"}
        assert set(found.selection) == told
        assert found.selection["tokens"] <= 900


def test_the_default_selection_is_the_k_best(world):
    graph = open_graph([world.file])
    topics = [[name] for name in NAMES]
    plain = world.scout.retrieve_many(QUESTIONS, graph, 5, topics=topics)
    for one, other in zip(plain, ask(world, 5), strict=True):
        assert one.triplets == other.triplets and one.selection == {} == other.selection


def test_a_question_without_candidates(world, scout):
    graph = open_graph([world.file])
    selection = SelectionConfig(target=0.9, form="paths")
    found = world.scout.retrieve(
        "Who?", graph, 5, topics=["nowhere at all"], selection=selection
    )
    assert len(found) == 0 and found.selection["presence"] == 0


def test_the_command_writes_the_selection(world, scout, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: scout)
    file = tmp_path / "q.jsonl"
    rows = [
        {"id": str(i), "question": text, "q_entity": [name]}
        for i, (text, name) in enumerate(zip(QUESTIONS, NAMES, strict=True))
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ["retrieve", world.policy, "--kg", world.file, "--questions", file]
    given += ["--out", tmp_path / "out.jsonl", "--k", 4]

    def run(*more) -> int:
        return main([str(arg) for arg in [*given, *more]])

    assert run("--target", 0.5) == 0
    wanted = ask(world, 4, target=0.5)
    for line, found in zip(lines(tmp_path / "out.jsonl"), wanted, strict=True):
        assert [tuple(row[:3]) for row in line["triplets"]] == list(found.triplets)
        assert line["target"] == 0.5 and line["presence"] == found.selection["presence"]
    # another selection is another file
    assert run("--target", 0.6) == 2
    assert "of --target 0.5, found 0.6" in capsys.readouterr().err
    assert run("--forms", "paths", "--token-budget", 800, "--overwrite") == 0
    for line in lines(tmp_path / "out.jsonl"):
        assert line["form"] == "paths" and line["tokens"] <= 800
    monkeypatch.delitem(scout.exported.metadata, "calibration")
    assert run("--target", 0.5, "--overwrite") == 2
    assert "holds no calibration" in capsys.readouterr().err
    # refused before anything was touched
    assert all(line["form"] == "paths" for line in lines(tmp_path / "out.jsonl"))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"target": 1.0}, "--target: found 1.0, expected a number between 0 and 1"),
        ({"token_budget": 0}, "--token-budget: found 0, expected at least 1"),
        ({"token_budget": 500}, "--token-budget: found 500, expected at least"),
        ({"form": "tree"}, "--form: 'tree', expected one of lines, paths"),
    ],
)
def test_invalid_selections_are_refused(wrong, says):
    with pytest.raises(UserError, match=says):
        SelectionConfig(**wrong)


def test_a_damaged_calibration_is_refused(world, scout, monkeypatch):
    about = {**MAP.to_dict(), "log_rank": "steep"}
    monkeypatch.setitem(scout.exported.metadata, "calibration", about)
    with pytest.raises(
        UserError, match="calibration: log_rank: expected `float`, found `str`"
    ):
        ask(world, 3, target=0.5)


@pytest.mark.extended
def test_an_export_is_evaluated_like_a_run(world, tmp_path):
    """Every retriever by name, both forms, a target calibrated on dev."""
    asked = RetrievalSettings(
        run=world.policy,
        shards=world.shards.path,
        split=world.shards.splits[-1],
        out=tmp_path / "out",
        k=(1, 4),
        retrievers=("kgscout", "bm25", "ppr"),
        target=(0.5,),
        token_budget=(700,),
        calibrate_on="dev",
    )
    report = evaluate_run(asked)
    assert report["retrievers"] == ["kgscout", "bm25", "ppr"]
    assert (tmp_path / "out" / "retrieved_bm25.jsonl").exists()
    assert report["counts"]["retrievers"]["bm25"]["b"] >= 0
    assert f"questions of {asked.calibrate_on}" in report["tokens"]["calibration"]
    labels = {row["selection"] for row in report["tokens"]["rows"]}
    assert {"K = 1", "K = 4", "target 0.5", "700 tokens"} <= labels
    wrong = dataclasses.replace(asked, calibrate_on="nowhere")
    with pytest.raises(UserError, match=r"--calibrate-on: .* has no split 'nowhere'"):
        evaluate_run(wrong)
    learned = dataclasses.replace(asked, calibrate_on="train")
    with pytest.raises(UserError, match="--calibrate-on: train, expected a split that"):
        evaluate_run(learned)


@pytest.mark.parametrize("name", ["cosine", "prize_triplets", "prize_paths"])
def test_another_retriever_ranks_the_same_candidates(world, name):
    everything = ask(world, 1000)
    for whole, found in zip(everything, ask(world, 4, retriever=name), strict=True):
        assert 0 < len(found) <= 4 and set(found.triplets) <= set(whole.triplets)
        assert found.selection == {} and (np.diff(found.scores) <= 0).all()
    with pytest.raises(UserError, match="--retriever cosine: found a target"):
        ask(world, 4, retriever="cosine", target=0.5)
    with pytest.raises(UserError, match="--retriever: found 'best'"):
        SelectionConfig(retriever="best")  # pyright: ignore[reportArgumentType]
