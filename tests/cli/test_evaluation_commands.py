"""Training and a whole evaluation by their commands: files, figures, refusals."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from policy.plain_policy import plain_logits
from written_shards import GOOD, NOWHERE, PLANTED, write_shards

from kgscout_jax.cli.main import COMMANDS, eval_main, train_main
from kgscout_jax.cli.runner import run_command
from kgscout_jax.data.shards import Shards
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.types import entity_key


def inspect_main(args: Sequence[str], prog: str) -> int:
    return run_command(COMMANDS["inspect"], args, prog)


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Shards:
    return write_shards(tmp_path_factory.mktemp("shards"))


TINY = """--k 4 --k-low 2 --epochs 4 --batch-size 8 --learning-rate 0.01
    --warmup-steps 2 --tower-hidden 8 4 --gate-hidden 8 --combiner-hidden 4
    --heads 2""".split()


@pytest.fixture(scope="module")
def run(shards, tmp_path_factory, kgscout_cache) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    args = ["--shards", str(shards.path), "--run", str(folder), *TINY]
    assert train_main(args, "train.py") == 0
    return folder


def evaluate(run: Path, shards: Path, out: Path, *more: Any) -> dict[str, Any]:
    """What ``eval.py retrieval`` writes into metrics.json."""
    args = ["--run", run, "--shards", shards, "--out", out, *more]
    assert eval_main(["retrieval", *map(str, args)], "eval.py") == 0
    return json.loads((out / "metrics.json").read_text())


KS = ("--k", 1, 4, 30)


@pytest.fixture(scope="module")
def results(run, shards, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("results") / "out"
    evaluate(run, shards.path, out, *KS)
    return out


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_is_written(results):
    assert {file.name for file in results.iterdir()} == {
        "metrics.json", "table.md", "table.csv", "table.tex", "questions.jsonl",
        "retrieved.jsonl", "retrieved_cosine.jsonl",
        "retrieved_bm25.jsonl", "retrieved_ppr.jsonl",
        *(f"metric_against_k.{form}" for form in ("png", "pdf", "svg")),
        *(f"reward_against_epoch.{form}" for form in ("png", "pdf", "svg")),
    }  # fmt: skip
    table = (results / "table.md").read_text()
    for name in ("kgscout", "cosine", "bm25", "ppr", "ceiling", "Recall and tokens"):
        assert name in table
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["counts"]["questions"] == len(PLANTED["test"])
    assert metrics["counts"]["without_candidates"] == 1
    assert metrics["context"]["trained_on"] == metrics["context"]["measured_on"]
    assert not metrics["context"]["cross_dataset"]


@pytest.mark.parametrize("name", ["kgscout", "cosine", "ppr"])
def test_retrieved_lines(results, shards, name):
    file = "retrieved.jsonl" if name == "kgscout" else f"retrieved_{name}.jsonl"
    split = shards.split("test")
    ids = {
        (shards.entities[h], shards.relations[r], shards.entities[t]): i
        for i, (h, r, t) in enumerate(shards.triplets.tolist())
    }
    found = records(results / file)
    assert [record["id"] for record in found] == [q.id for q in split.questions]
    for i, (record, info) in enumerate(zip(found, split.questions, strict=True)):
        assert list(record) == [
            "id", "question", "retriever", "triplets", "answers", "seconds"
        ]  # fmt: skip
        assert record["retriever"] == name
        assert record["question"] == info.text
        assert record["answers"] == list(info.answers)
        assert record["seconds"] >= 0
        # As many as the largest K, or as there are.
        assert len(record["triplets"]) == min(30, split.n_real[i])
        own = set(split.candidates[i][split.candidates[i] >= 0].tolist())
        order = []
        for head, relation, tail, score in record["triplets"]:
            number = ids[head, relation, tail]
            assert number in own
            order.append((-score, number))
        assert order == sorted(order)  # by score, ties by triplet id
        assert len(set(order)) == len(order)


def with_lists(tree: Any) -> Any:
    """The tree, in which dicts of "0", "1", ... are lists."""
    if not isinstance(tree, dict):
        return tree
    tree = {key: with_lists(value) for key, value in tree.items()}
    return [tree[str(i)] for i in range(len(tree))] if "0" in tree else tree


def test_scores_are_the_networks_logits(results, run, shards):
    folder = RunFolder.existing(run)
    step = json.loads((results / "metrics.json").read_text())["context"]["step"]
    leaves = folder.load(step)
    config = DualTowerConfig.from_dict(folder.config["policy"])
    folder.close()
    nested: dict[str, Any] = {}
    for name, leaf in leaves.items():
        if name.startswith("params/"):
            *path, last = name.split("/")[1:]
            place = nested
            for key in path:
                place = place.setdefault(key, {})
            place[last] = leaf
    split, i = shards.split("test"), 3
    rows = split.candidates[i]
    relations = shards.relation_embeddings[shards.triplets[rows, 1]]
    logits = plain_logits(
        with_lists(nested), config, split.question_embeddings[i],
        shards.triplet_embeddings[rows], relations, split.ppr_of(np.array([i]))[0],
    )  # fmt: skip
    scores = [
        triplet[3] for triplet in records(results / "retrieved.jsonl")[i]["triplets"]
    ]
    np.testing.assert_allclose(scores, np.sort(logits)[::-1][:30], atol=1e-4)


def test_figures_can_be_counted_from_the_lines(results):
    metrics = json.loads((results / "metrics.json").read_text())
    for name in ("kgscout", "cosine", "ppr"):
        file = "retrieved.jsonl" if name == "kgscout" else f"retrieved_{name}.jsonl"
        for k in (1, 4, 30):
            hits = []
            for record in records(results / file):
                gold = set(map(entity_key, record["answers"]))
                kept = record["triplets"][:k]
                hits.append(
                    any(entity_key(e) in gold for t in kept for e in (t[0], t[2]))
                )
            figure = metrics[name]["answer_hit"][str(k)]
            assert figure["value"] == pytest.approx(np.mean(hits))
            assert figure["n"] == len(hits)
    # It has learned what was planted: the others cannot know.
    ours = metrics["kgscout"]["answer_hit"]["4"]["value"]
    assert ours > metrics["cosine"]["answer_hit"]["4"]["value"]
    assert ours == metrics["ceiling"]["answer_hit"]["4"]["value"]
    best = [r["triplets"][0][1] for r in records(results / "retrieved.jsonl")[:12]]
    assert best.count(GOOD) >= 10


def test_against_our_own_lines(results, run, shards, tmp_path):
    others = ["--against", results / "retrieved.jsonl", results / "retrieved_ppr.jsonl"]
    metrics = evaluate(run, shards.path, tmp_path / "again", *KS, *others)
    (ours,) = (n for n in metrics["retrievers"] if re.match(r"kgscout \(", n))
    (ppr,) = (n for n in metrics["retrievers"] if re.match(r"ppr \(", n))
    assert metrics[ours] == metrics["kgscout"]
    assert metrics[ppr] == metrics["ppr"]
    assert metrics["counts"]["retrievers"][ours]["missing"] == 0
    # Nothing but the times changes from one evaluation to the next.
    for file in ("retrieved.jsonl", "retrieved_cosine.jsonl"):
        one, other = (records(place / file) for place in (results, tmp_path / "again"))
        for record in [*one, *other]:
            del record["seconds"]
        assert one == other


@pytest.mark.extended
def test_another_data_set(run, tmp_path):
    other = write_shards(tmp_path / "shards", {"dev": PLANTED["dev"]}, fingerprint="2")
    more = ("--split", "dev", "--k", 4)
    metrics = evaluate(run, other.path, tmp_path / "out", *more)
    assert metrics["context"]["cross_dataset"]
    assert metrics["split"] == "dev"


@pytest.mark.extended
def test_a_split_without_any_candidate(run, tmp_path):
    shards = write_shards(tmp_path / "shards", {"test": [NOWHERE, NOWHERE]})
    metrics = evaluate(run, shards.path, tmp_path / "out", "--k", 4)
    assert metrics["kgscout"]["answer_hit"]["4"]["value"] == 0
    assert [r["triplets"] for r in records(tmp_path / "out/retrieved.jsonl")] == [
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--split", "validation"], "no split 'validation'; present: train, dev, test"),
        (["--step", "3"], "tiny: no checkpoint of step 3, there are: "),
        (["--against", "nowhere.jsonl"], r"nowhere\.jsonl: no such file"),
        (["--k", "-1"], "--k"),
    ],
)
def test_refused_evaluations(refused, run, shards, tmp_path, more, says):
    out = tmp_path / "out"
    args = ["retrieval", "--run", run, "--shards", shards.path, "--out", out, *more]
    refused(eval_main, args, says)
    assert not (out / "metrics.json").exists()


def test_a_malformed_line_of_others(refused, run, shards, results, tmp_path):
    file = tmp_path / "theirs.jsonl"
    file.write_text((results / "retrieved.jsonl").read_text() + '{"id": "q99"}\n')
    args = ["retrieval", "--run", run, "--shards", shards.path, "--out", tmp_path]
    count = len(PLANTED["test"]) + 1
    says = rf"theirs\.jsonl:{count}: 'triplets' is missing"
    refused(eval_main, [*args, "--against", file], says)


def test_shards_of_another_encoder(refused, run, tmp_path):
    other = write_shards(
        tmp_path / "shards",
        {"test": PLANTED["test"]},
        encoder={"name": "another", "weights_sha256": "f" * 64},
    )
    args = ["retrieval", "--run", run, "--shards", other.path, "--out", tmp_path / "o"]
    says = "encoder another with weights_sha256 ffffffffffff, expected random with 0000"
    refused(eval_main, args, says)


def test_no_run_to_evaluate(refused, shards, tmp_path):
    args = ["retrieval", "--shards", shards.path, "--out", tmp_path / "out"]
    refused(eval_main, [*args, "--run", tmp_path / "no"], "no: no such run")
    refused(
        eval_main, [*args, "--run", shards.path], "no config.json, this is not a run"
    )


def test_damaged_shards(refused, shards, run, tmp_path):
    folder = shutil.copytree(shards.path, tmp_path / "shards")
    with open(folder / "test" / "candidates.npy", "r+b") as handle:
        handle.truncate(200)
    says = r"test/candidates\.npy: 200 bytes, expected \d+: truncated or changed"
    out = tmp_path / "out"
    args = ["retrieval", "--run", run, "--shards", folder, "--out", out]
    refused(eval_main, args, says)
    refused(train_main, ["--shards", folder, "--run", tmp_path / "run", *TINY], says)
    refused(inspect_main, [folder], says)


def test_training_that_cannot_start(refused, shards, run, tmp_path):
    nothing = write_shards(tmp_path / "shards", {"train": [NOWHERE], "dev": [NOWHERE]})
    args = ["--shards", nothing.path, "--run", tmp_path / "run", *TINY]
    refused(train_main, args, "no training question has an answer and a candidate")
    args = ["--shards", shards.path, "--run", run, *TINY, "--seed", "1"]
    refused(
        train_main, args, "tiny: was started with --seed 0, found 1; choose another"
    )


@pytest.mark.extended
def test_a_run_that_diverges_says_so_and_no_more(
    refused, shards, tmp_path, kgscout_cache
):
    table = np.array(shards.relation_embeddings)
    table[0] = np.nan
    poisoned = write_shards(tmp_path / "shards", relation_embeddings=table)
    args = ["--shards", poisoned.path, "--run", tmp_path / "run", *TINY]
    refused(train_main, args, r"^error: .*(loss|grad_norm) is nan at step \d")


def test_inspect(shards, capsys):
    assert inspect_main([str(shards.path), "--verify"], "inspect") == 0
    said = capsys.readouterr().out
    assert "train: 40 questions of 40 read" in said
    assert "every checksum agrees" in said
