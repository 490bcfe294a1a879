"""Whole batches with a real server: what is written, shown and refused."""

import json

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


def test_without_a_model_the_extractive_reader_answers(shards, tmp_path, capsys):
    """The extractive reader; the retriever scout needs a run, the others none."""
    code = batch(shards, tmp_path, "--retrievers", "cosine", "ppr", "--k", 3)
    assert code == 0
    found = metrics(tmp_path)
    assert found["context"]["reader"] == "extractive"
    assert found["spending"]["cosine"]["3"]["cost"] == 0
    assert not (tmp_path / "replies").exists()
    assert "tokens" not in capsys.readouterr().out


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
    assert shown.startswith("# prompt thesis, version ") and "4 triplets" in shown
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
        (("--prompt", "zero_shot"), "prompt 'thesis', expected 'zero_shot'"),
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


def test_a_folder_of_something_else_is_refused(shards, tmp_path, capsys):
    (tmp_path / "batch.json").write_text('{"format": "cake"}')
    assert batch(shards, tmp_path, "--retrievers", "cosine") == 2
    assert "not of a batch of answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more, message",
    [
        (("--retrievers", "scout"), "--run: none, expected a trained run"),
        (("--retrievers", "cosine", "cosine"), "expected each once"),
        (("--retrievers", "none", "--k", "0"), "--k: 0, expected a positive"),
        (("--retrievers", "none", "--limit", "0"), "--limit: 0, expected a positive"),
        (("--retrievers", "none", "--rules", "pg_akv"), "--rules: pg_akv, expect"),
        (("--retrievers", "none", "--model", "m"), "--model without --llm"),
        (("--retrievers", "none", "--llm", "http://x/v1"), "--llm without --model"),
        (("--retrievers", "none", "--split", "moon"), "no split 'moon'"),
        (("--predictions", "x.jsonl"), "expected one of the two"),
        (("--retrievers", "none", "--prompt", "poem", "--llm", "http://x/v1",
          "--model", "m"), "prompt: 'poem': expected one of"),
        (("--retrievers", "none", "--extra", "[1]", "--llm", "http://x/v1",
          "--model", "m"), "--extra: list, expected a JSON object"),
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
    assert batch(shards, tmp_path, *command) == 0
    assert batch(shards, tmp_path, *command, "scout", "--run", run) == 0
    assert metrics(tmp_path)["retrievers"] == ["cosine", "scout"]
    assert batch(shards, tmp_path, *command) == 0
    capsys.readouterr()
    assert (
        batch(shards, tmp_path, *command, "--llm", "http://x/v1", "--model", "m") == 2
    )
    assert "holds a batch with model None, expected 'm'" in capsys.readouterr().err
