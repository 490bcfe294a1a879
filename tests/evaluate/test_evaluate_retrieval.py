"""The whole evaluation: the files it writes and what stands in them."""

import dataclasses
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from shards_factory import shards_of, with_split
from split_factory import Case

from kgscout_jax.data.shards import Ragged
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.commands import commands_of
from kgscout_jax.evaluate.retrieval.evaluation import check_ks, evaluate_retrieval
from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS, VARIANT
from kgscout_jax.evaluate.retrieval.seeds import SeedRuns, seed_runs
from kgscout_jax.evaluate.retrieval.tables import (
    console_table,
    gain,
    is_cross_dataset,
    report_markdown,
)
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.retrieve.baselines import PPR, Ceiling, Cosine
from kgscout_jax.retrieve.protocol import rank_candidates
from kgscout_jax.utils.tables import figure, markdown_table

if TYPE_CHECKING:
    from kgscout_jax.learn.trained_policy import TrainedPolicy

KS = [4, 1, 2, 2]


class Oracle:
    """Knows the answers, but some: triplets that hold one come first."""

    name = "kgscout"

    def __init__(self, *unknown):
        self.unknown = unknown

    def rank(self, shards, split, k):
        scores = np.zeros(split.candidates.shape)
        for i in set(range(len(split))) - {*self.unknown}:
            gold = split.answers[i][split.answers[i] >= 0]
            scores[i] = np.isin(split.nodes[i], gold).any(axis=1)
        return rank_candidates(self.name, shards, split, scores, k)


def world(hops=(1, 2, None), copies=6):
    """Stars of seven triplets, one of which leads to the answer."""
    cases = []
    for i in range(copies):
        leaves = [(f"hub{i}", f"r{j}", f"leaf{i}.{j}") for j in range(7)]
        last = (f"leaf{i}.{i % 7}", "is", f"end{i}")
        cases.append(
            Case(
                triplets=[*leaves, last],
                topics=[f"hub{i}"],
                answers=[f"end{i}"] if i else [f"end{i}", "nowhere"],
                hop=hops[i % len(hops)],
            )
        )
    relevant = [[case.triplets[-1]] if i < 2 else [] for i, case in enumerate(cases)]
    return shards_of(cases, relevant=relevant)


CONTEXT = {"run": "R", "trained_on": "webqsp", "measured_on": "metaqa"}
HISTORY = [{"kind": "epoch", "epoch": 1, "train_reward": 1.0, "dev_reward": 2.0}]


def evaluate(out, **options):
    shards, _ = world()
    retrievers = [Oracle(), Cosine(), PPR(), Ceiling()]
    options = {"retrievers": retrievers, "ks": KS, "resamples": 100, **options}
    return evaluate_retrieval(shards, "dev", out=out, **options)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The report and the folder of an evaluation with everything on."""
    out = tmp_path_factory.mktemp("plain") / "out"
    return evaluate(out, context=CONTEXT, history=HISTORY), out


def test_metrics_json(plain):
    report, out = plain
    assert report == json.loads((out / "metrics.json").read_text())
    names = ["kgscout", "cosine", "ppr", "ceiling"]
    assert report["retrievers"] == names and report["ks"] == [1, 2, 4]
    metrics = [*DEFINITIONS, *(name + VARIANT for name in DEFINITIONS)]
    assert list(report["definitions"]) == metrics
    assert list(report["by_hop"]) == ["1", "2", "unknown"]
    for table in (report, *report["by_hop"].values()):
        for name in names:
            assert list(table[name]) == metrics
            for by_k in table[name].values():
                assert list(by_k) == ["1", "2", "4"]
                for entry in by_k.values():
                    assert list(entry) == ["value", "low", "high", "n"]
                    if entry["n"]:
                        assert 0 <= entry["low"] <= entry["value"] <= entry["high"] <= 1
    for k in ("1", "2", "4"):
        assert report["kgscout"]["answer_hit"][k]["value"] == 1
        assert (
            report["ceiling"]["answer_hit"][k] == report["ceiling"]["answer_hit"]["1"]
        )
        assert report["kgscout"]["triplet_recall"][k]["n"] == 2
        assert report["by_hop"]["1"]["ppr"]["answer_hit"][k]["n"] == 2
    assert report["counts"]["questions"] == 6
    assert report["counts"]["by_hop"] == {"1": 2, "2": 2, "unknown": 2}
    assert report["counts"]["with_more_candidates_than"] == {"1": 6, "2": 6, "4": 6}


def test_differences_are_paired_with_cosine(plain):
    report, _ = plain
    assert list(report["paired"]) == ["kgscout", "ppr"]
    entry = report["paired"]["kgscout"]["answer_hit"]["1"]
    assert list(entry) == ["difference", "low", "high", "n", "relative_gain"]
    ours = report["kgscout"]["answer_hit"]["1"]["value"]
    base = report["cosine"]["answer_hit"]["1"]["value"]
    assert entry["difference"] == pytest.approx(ours - base)
    expected = None if base == 0 else pytest.approx((ours - base) / base)
    assert entry["relative_gain"] == expected


def test_without_the_reference_there_are_no_pairs(plain, tmp_path):
    unfinished = [{"kind": "step", "reward": 1.0}]
    report = evaluate(
        tmp_path / "out", reference="nobody", context=CONTEXT, history=unfinished
    )
    assert not (tmp_path / "out/reward_against_epoch.png").exists()
    assert report["paired"] == {}
    for key in set(report) - {"paired", "seconds", "reference"}:
        assert report[key] == plain[0][key]
    assert "cosine, relative gain" not in (tmp_path / "out/table.md").read_text()


def test_the_folder_holds_the_listed_files(plain):
    _, out = plain
    assert sorted(path.name for path in out.iterdir()) == [
        *(f"metric_against_k.{kind}" for kind in ("pdf", "png", "svg")),
        "metrics.json",
        "questions.jsonl",
        "retrieved.jsonl",
        "retrieved_cosine.jsonl",
        "retrieved_ppr.jsonl",
        *(f"reward_against_epoch.{kind}" for kind in ("pdf", "png", "svg")),
        *(f"table.{kind}" for kind in ("csv", "md", "tex")),
    ]
    rows = [
        json.loads(line) for line in (out / "retrieved.jsonl").read_text().splitlines()
    ]
    assert {row["retriever"] for row in rows} == {"kgscout"}
    assert [len(row["triplets"]) for row in rows] == [4] * 6


def test_rankings_of_an_earlier_evaluation_are_deleted(tmp_path):
    out = tmp_path / "out"
    evaluate(out)
    theirs = out / "retrieved_ppr.jsonl"
    (out / "retrieved_target_0.5.jsonl").write_text("")
    report = evaluate(out, retrievers=[Oracle()], against=[theirs])
    assert report["retrievers"] == ["kgscout", "ppr"]
    # what was just read is not lost
    assert sorted(out.glob("retrieved*")) == [out / "retrieved.jsonl", theirs]
    evaluate(out, retrievers=[Cosine()])
    assert sorted(out.glob("retrieved*")) == [out / "retrieved.jsonl"]


def test_seeds_have_their_mean_and_deviation_in_one_table(tmp_path):
    seeds = SeedRuns(
        runs=("s0", "s1", "s2"), seeds=(0, 1, 2), others=(Oracle(1), Oracle(1, 2))
    )
    report = evaluate(tmp_path / "out", repeats=seeds)
    found = report["seeds"]["figures"]["answer_hit"]["1"]
    assert report["seeds"]["runs"] == ["s0", "s1", "s2"]
    values = found["of_runs"]
    assert values[0] > values[1] > values[2]
    assert found["value"] == pytest.approx(np.mean(values))
    assert found["std"] == pytest.approx(np.std(values, ddof=1))
    assert found["low"] <= found["value"] <= found["high"]
    base = report["cosine"]["answer_hit"]["1"]["value"]
    paired = report["seeds"]["paired"]["answer_hit"]["1"]
    assert paired["difference"] == pytest.approx(found["value"] - base)
    text = (tmp_path / "out/table.md").read_text()
    assert "## kgscout, 3 seeds (0, 1, 2)" in text
    cell = f"{found['value']:.3f} ± {found['std']:.3f} [{found['low']:.3f}, "
    assert cell in text and "answer_hit − cosine" in text
    assert (
        f"{found['value']:.3f},{found['std']:.3f},"
        in (tmp_path / "out/table.csv").read_text()
    )


def run_of(seed, **config):
    """A run with these settings, as far as ``seed_runs`` looks."""
    metadata = {
        "config": {"k": 10, "shards": "x", "seed": seed, **config},
        "shards": {"source": "tiny", "fingerprint": config.pop("fingerprint", "f")},
    }
    return cast("TrainedPolicy", SimpleNamespace(metadata=metadata, policy=None))


def test_seeds_of_another_configuration_are_refused():
    first = {Path("a"): run_of(0)}
    assert seed_runs({**first, Path("b"): run_of(1, shards="y")}).seeds == (0, 1)
    for other, message in (
        (run_of(1, k=20), "--seeds: b: k is 20, expected 10 as in a"),
        (run_of(0), "--seeds: b: seed 0, expected another"),
        (run_of(1, fingerprint="g"), "--seeds: b: trained on other shards"),
    ):
        with pytest.raises(UserError, match=message):
            seed_runs({**first, Path("b"): other})


def test_questions_jsonl_holds_the_metrics_of_each_question(plain):
    report, out = plain
    text = (out / "questions.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert [(row["id"], row["hop"]) for row in rows][:3] == [
        ("q0", 1), ("q1", 2), ("q2", None)
    ]  # fmt: skip
    assert rows[0]["question"] and {row["n_real"] for row in rows} == {8}
    for name in report["retrievers"]:
        for metric in DEFINITIONS:
            for k in map(str, report["ks"]):
                values = [row["metrics"][name][metric][k] for row in rows]
                counted = [value for value in values if value is not None]
                estimate = report[name][metric][k]
                assert len(counted) == estimate["n"]
                assert np.mean(counted) == pytest.approx(estimate["value"])


def test_against_its_own_file_gives_the_same_row(plain, tmp_path):
    _, out = plain
    copy = tmp_path / "theirs" / "retrieved.jsonl"
    copy.parent.mkdir()
    lines = (out / "retrieved.jsonl").read_text().splitlines()
    copy.write_text("\n".join(lines))
    part = tmp_path / "part" / "retrieved.jsonl"
    part.parent.mkdir()
    part.write_text("\n".join([*lines[1:], '{"id": "q9", "triplets": []}']))
    out = tmp_path / "out"
    report = evaluate(out, against=[copy, part, copy])
    same, missing = "kgscout (theirs)", "kgscout (part)"
    order = ["kgscout", "cosine", "ppr", same, missing, f"{same} 2", "ceiling"]
    assert report["retrievers"] == order
    assert report[same] == report["kgscout"]
    notes = report["counts"]["retrievers"][missing]
    assert notes == {"missing": 1, "unknown": 1, "repeated": 0}
    assert report[missing]["answer_hit"]["4"]["value"] == pytest.approx(5 / 6)
    assert report[missing]["answer_hit"]["4"]["n"] == 6
    assert "1 questions without a line" in (out / "table.md").read_text()
    assert not (out / f"retrieved_{same}.jsonl").exists()


def test_table_md_holds_definitions_and_differences(plain):
    report, out = plain
    text = (out / "table.md").read_text()
    assert text.startswith("# Cross-dataset retrieval on `dev` of metaqa\n")
    assert "trained on webqsp, measured on metaqa" in text
    for name, definition in DEFINITIONS.items():
        assert f"## {name}\n\n{definition} n = " in text
    assert "### answer_hit, by hop" in text and "n_real > K" in text
    assert "| kgscout − cosine" in text and "kgscout, relative gain" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({len(line) for line in block.splitlines()}) == 1
    same = report_markdown({**report, "context": {}})
    assert same.startswith("# Retrieval on `dev`\n") and "Cross" not in same


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, False),
        ({"trained_on": "a", "measured_on": "a"}, False),
        ({"trained_on": "a", "measured_on": "b"}, True),
        ({"trained_on": "a", "measured_on": "b", "cross_dataset": False}, False),
        ({"trained_on": "a"}, False),
    ],
)
def test_is_cross_dataset(context, expected):
    assert is_cross_dataset(context) is expected


def test_figures_and_gains_by_hand():
    entry = {"value": 0.76, "low": 0.7, "high": 0.8149, "n": 3}
    assert figure(entry) == "0.760 [0.700, 0.815]"
    assert figure(entry, interval=False) == "0.760"
    assert figure(entry, digits=1, interval=False) == "0.8"
    minus = {"difference": -0.01, "low": -0.02, "high": 0.0}
    assert figure(minus, sign="+") == "-0.010 [-0.020, +0.000]"
    assert figure({"value": None, "low": None, "high": None, "n": 0}) == "–"
    assert (gain(0.1575), gain(-0.1), gain(None)) == ("↑ 15.8%", "↓ 10.0%", "–")


def test_markdown_table_is_aligned_and_escaped():
    assert markdown_table(["name", "K"], [["a|b", "1"], ["c", "1000"]]) == (
        "| name |    K |\n| :--- | ---: |\n| a\\|b |    1 |\n| c    | 1000 |"
    )


def test_the_console_leaves_out_metrics_without_a_question(plain, tmp_path):
    from rich.console import Console

    report, _ = plain
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(console_table(report))
    text = console.export_text()
    for word in ("answer_hit", "kgscout", "ceiling", "K = 4", "relative to cosine"):
        assert word in text
    # A metric that no question counts for is left out.
    shards, split = world()
    none = Ragged(np.empty(0, np.int32), np.zeros(len(split) + 1, np.int64))
    bare = dataclasses.replace(split, path_triplets={"both": none})
    bare_report = evaluate_retrieval(
        with_split(shards, bare), "dev", [PPR(), Ceiling()], [1], tmp_path / "bare"
    )
    empty = {"value": None, "low": None, "high": None, "n": 0}
    assert bare_report["ppr"]["path_triplet_recall"]["1"] == empty
    console.print(console_table(bare_report))
    assert "path_triplet_recall" not in console.export_text()


def test_impossible_requests_are_refused(tmp_path):
    shards, split = world()
    retrievers = [Cosine()]
    with pytest.raises(UserError, match="no split 'test'; present: dev"):
        evaluate_retrieval(shards, "test", retrievers, [1], tmp_path)
    with pytest.raises(UserError, match="--k: found 0, expected at least 1"):
        evaluate_retrieval(shards, "dev", retrievers, [3, 0], tmp_path)
    with pytest.raises(UserError, match="--k: found nothing"):
        check_ks([])
    nothing = dataclasses.replace(split, questions=[])
    with pytest.raises(UserError, match="split 'dev' has no questions"):
        evaluate_retrieval(
            with_split(shards, nothing), "dev", retrievers, [1], tmp_path
        )
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UserError, match="cannot be made a folder"):
        evaluate_retrieval(shards, "dev", retrievers, [1], file)
    with pytest.raises(UserError, match="no such file"):
        evaluate_retrieval(
            shards, "dev", retrievers, [1], tmp_path, against=[tmp_path / "none"]
        )
    with pytest.raises(ValueError, match="names of retrievers"):
        evaluate_retrieval(shards, "dev", [Cosine(), Cosine()], [1], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_an_export_has_no_command_that_trained_it(tmp_path):
    settings = RetrievalSettings(run=tmp_path, shards=tmp_path, out=tmp_path)
    runs = {tmp_path: {"config": {"policy": "walk"}}}  # without folders of shards
    (command,) = commands_of(settings, "kgscout eval retrieval", runs)
    assert command.startswith("kgscout eval retrieval --run")
