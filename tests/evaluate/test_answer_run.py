"""Whole batches with a real server: what is written, shown and refused."""

import json

import numpy as np
import pytest
from evaluate.answer_world import (
    NOT_AVAILABLE,
    N,
    batch,
    contents,
    lines,
    metrics,
    sage,
)

from kgscout_jax.cli.main import eval_main
from kgscout_jax.evaluate.answers.cells import METRICS


def test_a_batch_with_a_model(shards, run, tmp_path, capsys):
    with sage() as server:
        code = batch(
            shards, tmp_path, "--run", run, "--k", 40, 5, "--retrievers", "none",
            "cosine", "scout", "--input-price", 1, "--output-price", 2, server=server,
        )  # fmt: skip
        assert code == 0
        # none once, and each retriever at each K; one question has no triplet at all,
        # so that its prompt is always the same
        distinct = {json.dumps(body["messages"]) for body in server.bodies}
        assert len(server.bodies) == len(distinct)
        assert len(distinct) <= N + 4 * (N - 1)
    found = metrics(tmp_path)
    assert found["ks"] == [5, 40] and found["n"] == {"5": N, "40": N}
    # at K = 40 every triplet is kept, by whatever retriever
    for name in ("cosine", "scout"):
        assert found["metrics"][name]["40"]["hit"]["value"] == pytest.approx(1300 / N)
        assert found["metrics"][name]["40"]["groundedness"]["value"] == 100
        assert found["failures"][name]["40"]["causes"]["not_in_graph"]["count"] == 1
    assert found["metrics"]["none"]["5"] == found["metrics"]["none"]["40"]
    assert found["metrics"]["none"]["5"]["hit"]["value"] == 0
    assert found["spending"]["none"]["5"]["outcomes"] == {"not_available": N}
    assert found["spending"]["scout"]["5"]["cost"] == pytest.approx(N * 14e-6)
    assert found["context"]["cross_dataset"] is True and found["context"]["step"] == 7
    assert found["missing"] == []
    # right exactly where the planted triplet is kept
    for line in lines(tmp_path, "cosine-k5"):
        kept = [relation for _, relation, _, _ in line["triplets"]]
        assert line["right"] == ("is.good" in kept)
        assert len(kept) <= 5 and line["triplets_in_prompt"] == len(kept)
        assert len(line["prompt_hash"]) == 64
        assert line["reply"].endswith("it says so.")
        assert list(line["metrics"]) == list(METRICS)
        if not line["right"]:
            assert line["failure"] in ("not_in_top_k", "not_in_graph")
            assert line["answers"] == [] and NOT_AVAILABLE in line["reply"]
        else:
            assert line["holds_answer"] == line["on_path"] == [kept.index("is.good")]
    # ranked once, at the largest K: the smaller is its beginning
    for small, large in zip(
        lines(tmp_path, "scout-k5"), lines(tmp_path, "scout-k40"), strict=True
    ):
        assert small["triplets"] == large["triplets"][:5]
    told = capsys.readouterr()
    assert "scout − cosine" in told.out and "Cross-dataset answers" in told.out
    assert (tmp_path / "table.md").read_text().count("## K = ") == 2
    assert (tmp_path / "answers_against_k.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_without_a_model_the_graph_itself_answers(shards, run, tmp_path, capsys):
    code = batch(
        shards, tmp_path, "--run", run, "--retrievers", "none", "cosine", "scout",
        "--k", 3, 40,
    )  # fmt: skip
    assert code == 0
    found = metrics(tmp_path)
    assert found["retrievers"] == ["cosine", "scout"]  # none is left out
    assert found["context"]["probabilities"] == "fitted here, 12 questions of dev"
    assert found["spending"]["cosine"]["3"]["cost"] == 0
    assert not (tmp_path / "replies").exists()
    told = capsys.readouterr()
    assert "tokens" not in told.out and "row none is left out" in told.err
    assert "the answer head of the policy" in told.out
    small, large, all_of_it = (
        lines(tmp_path, name) for name in ("cosine-k3", "cosine-k40", "scout-k3")
    )
    for few, many, scout in zip(small, large, all_of_it, strict=True):
        # all 40 triplets kept are all the candidates that scout has
        assert many["answers"] == scout["answers"]
        assert many["confidence"] == scout["confidence"]
        assert scout["metrics"]["groundedness"] in (1, None)
        # the network sees the three triplets and nothing else
        ends = {end for head, _, tail, _ in few["triplets"] for end in (head, tail)}
        kept = [triplet[:3] for triplet in few["triplets"]]
        assert set(few["answers"]) <= ends
        assert all(triplet in kept for path in few["paths"] for triplet in path)
        assert len(few["probabilities"]) == len(few["paths"]) == len(few["answers"])
        assert few["probabilities"] == sorted(few["probabilities"], reverse=True)
        if few["answers"]:
            assert few["confidence"] == few["probabilities"][0]
        else:
            assert (few["outcome"], few["confidence"]) == ("not_available", 0)
    answered = [line for line in small if line["answered"]]
    held = found["confidence"]["cosine"]["3"]["abstention"]
    assert held["answered"] == held["hits@1"]["n"] == len(answered)
    right = sum(line["metrics"]["hits@1"] for line in answered)
    share = pytest.approx(100 * right / len(answered)) if answered else None
    assert held["hits@1"]["value"] == share
    assert found["by_hop"]["1"]["scout"]["3"]["hit"]["n"] == N - 1
    assert (tmp_path / "risk_coverage.png").read_bytes()[:4] == b"\x89PNG"
    assert not (tmp_path / "routing.png").exists()


@pytest.mark.extended
def test_a_route_asks_the_model_where_the_graph_is_unsure(shards, run, tmp_path):
    more = ("--run", run, "--retrievers", "scout", "--k", 5, "--reader", "route")
    with sage() as server:
        assert batch(shards, tmp_path / "all", *more, server=server) == 0
        asked = len(server.bodies)
    found = metrics(tmp_path / "all")
    assert found["retrievers"] == ["scout, graph", "scout, model"]
    graph, model = (
        lines(tmp_path / "all", f"scout_{x}-k5") for x in ("graph", "model")
    )
    assert asked == N - sum(not line["triplets"] for line in model) + 1
    curve = found["routing"]["scout, model"]["5"]
    ends = [
        found["metrics"][name]["5"]["hits@1"]["value"] for name in found["retrievers"]
    ]
    assert curve["share"][0] == 0 and curve["share"][-1] == 100
    assert [curve["hits@1"][0], curve["hits@1"][-1]] == pytest.approx(ends)
    below = np.mean(sorted(line["confidence"] for line in graph)[4:6])
    with sage() as server:
        out, limit = tmp_path / "some", ("--route-below", below)
        assert batch(shards, out, *more, *limit, server=server) == 0
        assert len(server.bodies) == 5
    routed = lines(out, "scout_routed-k5")
    for line, ours, theirs in zip(routed, graph, model, strict=True):
        expected = theirs if line["confidence"] < below else ours
        assert line["answers"] == expected["answers"]
        assert line["metrics"] == expected["metrics"]
        assert line["right"] == expected["right"]
    curve = metrics(out)["routing"]["scout, routed"]["5"]
    assert curve["asked"] == 5 and curve["share"][-1] == pytest.approx(500 / N)
    mean = 100 * sum(line["metrics"]["hits@1"] for line in routed) / N
    assert curve["hits@1"][-1] == pytest.approx(mean)


@pytest.mark.extended
def test_likely_answers_stand_in_a_row_of_their_own(shards, run, tmp_path):
    command = ("--retrievers", "none", "scout", "--k", 5, "--limit", 3, "--run", run)
    with sage() as server:
        assert batch(shards, tmp_path / "without", *command, server=server) == 0
        before = {json.dumps(body["messages"]) for body in server.bodies}
    with sage() as server:
        more = (*command, "--likely-answers", 2)
        assert batch(shards, tmp_path / "with", *more, server=server) == 0
        after = {json.dumps(body["messages"]) for body in server.bodies}
    found = metrics(tmp_path / "with")
    assert found["retrievers"] == ["none", "scout", "scout + answers"]
    assert before <= after  # prompts without likely answers are the same
    told = [json.loads(text)[-1]["content"] for text in after - before]
    listed = [text.partition("Likely answers (probability): ")[2] for text in told]
    assert len(listed) == 3
    for text in listed:
        answers = text.splitlines()[0].split("; ")
        assert len(answers) == 2
        probabilities = [float(one.rstrip(")").rpartition("(")[2]) for one in answers]
        assert probabilities == sorted(probabilities, reverse=True)


def test_other_systems_are_read_beside_ours(shards, tmp_path):
    retrieved = tmp_path / "retrieved.jsonl"
    with sage() as server:
        assert (
            batch(shards, tmp_path / "a", "--retrievers", "cosine", server=server) == 0
        )
        with retrieved.open("w") as handle:
            for line in lines(tmp_path / "a", "cosine-k100"):
                triplets = [one for one in line["triplets"] if one[1] == "is.good"]
                row = {"id": line["id"], "retriever": "cosine", "triplets": triplets}
                handle.write(json.dumps(row) + "\n")
        more = ("--retrievers", "cosine", "--k", 1, "--against", retrieved)
        assert batch(shards, tmp_path / "b", *more, server=server) == 0
    found = metrics(tmp_path / "b")
    other = found["retrievers"][1]
    assert found["retrievers"][0] == "cosine" and other.startswith("cosine (")
    assert found["metrics"][other]["1"]["hit"]["value"] == pytest.approx(1300 / N)
    assert other in found["paired"]


def test_show_prompt_prints_the_first_prompt_and_writes_nothing(
    shards, tmp_path, capsys
):
    more = ("--retrievers", "none", "cosine", "--k", 2, 4, "--show-prompt")
    out = tmp_path / "out"
    assert batch(shards, out, *more) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# prompt one_shot, version ") and "4 triplets" in shown
    assert "--- user" in shown and not out.exists()
    arguments = [
        "answers", "--shards", str(shards), "--retrievers", "none", "--show-prompt"
    ]  # fmt: skip
    assert eval_main(arguments, "eval.py") == 0
    assert "0 triplets" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, message",
    [
        (("--temperature", "0.7"), "temperature 0.1, expected 0.7 as asked for"),
        (("--prompt", "zero_shot"), "prompt 'one_shot', expected 'zero_shot'"),
        (("--split", "dev"), "split 'test', expected 'dev'"),
        (("--seed", "3"), "seed 0, expected 3"),
    ],
)
def test_other_settings_are_refused(shards, tmp_path, capsys, change, message):
    with sage() as server:
        command = ("--retrievers", "cosine", "--limit", 1)
        assert batch(shards, tmp_path, *command, server=server) == 0
        before = contents(tmp_path)
        capsys.readouterr()
        assert batch(shards, tmp_path, *command, *change, server=server) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {tmp_path}: holds a batch with {message}")
    assert said.count("\n") == 1
    assert contents(tmp_path) == before


def test_a_folder_of_something_else_is_refused(shards, run, tmp_path, capsys):
    (tmp_path / "batch.json").write_text('{"format": "cake"}')
    assert batch(shards, tmp_path, "--run", run, "--retrievers", "cosine") == 2
    assert "not of a batch of answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more, message",
    [
        (("--retrievers", "scout"), "--run: none, expected a trained run"),
        (("--retrievers", "cosine"), "--run: none, expected a trained run for the gr"),
        (("--run", "x", "--retrievers", "none"), "without triplets only a language"),
        (("--run", "x", "--reader", "route"), "--llm: none, expected a server"),
        (("--run", "x", "--route-below", "0.5"), "expected --reader route with it"),
        (("--run", "x", "--likely-answers", "3"), "expected --llm and --model"),
        (("--retrievers", "cosine", "cosine"), "expected each once"),
        (("--run", "x", "--k", "0"), "--k: found 0, expected at least 1"),
        (("--run", "x", "--limit", "0"), "--limit: found 0, expected at least 1"),
        (("--retrievers", "none", "--rules", "pg_akv"), "--rules: pg_akv, expect"),
        (("--retrievers", "none", "--model", "m"), "--model without --llm"),
        (("--retrievers", "none", "--llm", "http://x/v1"), "--llm without --model"),
        (("--run", "x", "--split", "moon"), "no split 'moon'"),
        (("--predictions", "x.jsonl"), "expected one of the two"),
        (("--retrievers", "none", "--prompt", "poem", "--llm", "http://x/v1",
          "--model", "m"), "prompt: 'poem': expected one of"),
        (("--retrievers", "none", "--extra", "[1]", "--llm", "http://x/v1",
          "--model", "m"), "--extra: found [1], expected a JSON object"),
        (("--retrievers", "none", "--extra", "{", "--llm", "http://x/v1",
          "--model", "m"), "--extra: not valid JSON"),
    ],
)  # fmt: skip
def test_contradicting_settings_are_one_line(shards, tmp_path, capsys, more, message):
    out = tmp_path / "out"
    assert batch(shards, out, *more) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1 and message in said
    assert not (out / "metrics.json").exists()


def test_missing_flags_are_named(shards, tmp_path, capsys):
    assert eval_main(["answers"], "eval.py") == 2
    assert "neither --predictions nor --run" in capsys.readouterr().err
    arguments = ["answers", "--shards", str(shards), "--retrievers", "none"]
    assert eval_main(arguments, "eval.py") == 2
    assert "--out: none" in capsys.readouterr().err
    assert eval_main(["answers", "--run", "x"], "eval.py") == 2
    assert "--shards: none" in capsys.readouterr().err


def test_a_refused_key_is_one_line(shards, tmp_path, capsys):
    with sage(lambda *_: "401") as server:
        assert batch(shards, tmp_path, "--retrievers", "none", server=server) == 2
    said = capsys.readouterr().err.splitlines()
    assert (
        said[-1].startswith(f"error: {server.url}: HTTP 401: ")
        and "bad key" in said[-1]
    )


def test_a_later_command_may_add_a_run(shards, run, tmp_path, capsys):
    command = ("--k", 2, "--limit", 2, "--retrievers", "cosine")
    with sage() as server:
        assert batch(shards, tmp_path, *command, server=server) == 0
        more = (*command, "scout", "--run", run)
        assert batch(shards, tmp_path, *more, server=server) == 0
        assert metrics(tmp_path)["retrievers"] == ["cosine", "scout"]
        assert batch(shards, tmp_path, *command, server=server) == 0
    capsys.readouterr()
    assert batch(shards, tmp_path, *command, "--run", run) == 2
    assert "holds a batch with model 'm', expected None" in capsys.readouterr().err
