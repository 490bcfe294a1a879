"""``kgscout fit``: one command from a graph to a policy; resumed, ended early."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn.training import Stopped, stop_after_saves
from markupsafe import escape
from policy_factory import random_policy, small_config, trained_policy
from prep_factory import NEEDS_ENCODER
from written_shards import planted, write_shards

from kgscout_jax.cli.main import main
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.export.load import load_exported
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.export.write import export_policy, parameters_of
from kgscout_jax.fit.run import calibration_set, fit
from kgscout_jax.fit.settings import FitSettings
from kgscout_jax.fit.stages import halfway
from kgscout_jax.fit.work import PARTS, REPORT, RESULT, Work, identity_of, inputs_of
from kgscout_jax.learn import train as train_module
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.module import Policy
from kgscout_jax.text.encoder import SentenceEncoder

pytestmark = NEEDS_ENCODER
PREPARATION = {"hops": 2, "max_triplets": 60, "candidates": 24, "direction": "both"}
SMALL = ["--synthetic-questions", "100", "--learning-rate", "0.01", "--workers", "1"]


def write_graph(folder: Path) -> Path:
    """Films with directors, writers, years, genres, players and towns."""
    rows = []
    for i in range(50):
        film, director = f"Picture {chr(65 + i % 26)}{i}", f"Maker {i % 30}"
        rows += [
            (film, "directed_by", director),
            (film, "written_by", f"Author {i % 25}"),
            (film, "release_year", str(1950 + i % 40)),
            (film, "has_genre", ["Drama", "Comedy", "War", "Noir"][i % 4]),
            (film, "starred_actors", f"Player {i % 40}"),
            (director, "born_in", f"Town {i % 30 % 12}"),
            (f"Town {i % 12}", "lies_in", f"Land {i % 5}"),
            (f"Author {i % 25}", "married_to", f"Player {i % 25}"),
        ]
    file = folder / "films.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in dict.fromkeys(rows)))
    return file


def write_questions(folder: Path) -> Path:
    """Questions as people ask them: a few to train on, a few to measure."""
    folder.mkdir()
    for split, films in (("train", range(20)), ("test", range(20, 32))):
        lines = [
            {
                "id": i,
                "question": f"Who made Picture {chr(65 + i % 26)}{i}?",
                "q_entity": [f"Picture {chr(65 + i % 26)}{i}"],
                "answer": [f"Maker {i % 30}"],
            }
            for i in films
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{split}.jsonl").write_text(text)
    return folder


@pytest.fixture(scope="module")
def world(kgscout_cache, tmp_path_factory) -> Path:
    """A folder with a graph, real questions, and a base policy of random weights."""
    folder = tmp_path_factory.mktemp("fit")
    write_graph(folder)
    write_questions(folder / "asked")
    encoder = SentenceEncoder().identity
    config = small_config("walk", encoder.dimension, (-3, -3), (2, 2))
    policy = random_policy(dataclasses.replace(config, steps=1, walkers=2))
    trained = trained_policy(policy, encoder.to_dict(), settings=PREPARATION)
    export_policy(trained, folder / "base", stablehlo=False)
    return folder


def command(world: Path, out: Path, *more: Any) -> list[str]:
    base = ["--base", str(world / "base")]
    return ["fit", str(world / "films.tsv"), "--out", str(out), *base, *SMALL,
            *map(str, more)]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def compiled_once() -> Iterator[None]:
    """Trainings, which are on as many questions here, share their jitted functions."""
    made: dict[Any, Steps] = {}

    def shared(policy: Policy, config: TrainConfig, *parts: Any) -> Steps:
        sets = tuple(Path(path.name) for path in config.shards)
        places = {"run": Path(), "init": None, "shards": sets}
        key = policy.config, dataclasses.replace(config, **places)
        if key not in made:
            made[key] = Steps(policy, config, *parts)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_module, "Steps", shared)
        yield


@pytest.fixture(scope="module")
def fitted(world) -> Path:
    """The policy of a command that was stopped while it trained, and then resumed."""
    out = world / "policy"
    first = command(world, out, "--questions", world / "asked")
    with pytest.MonkeyPatch.context() as patch:
        stop_after_saves(patch, 2)  # the base policy's, and that of the first pass
        with pytest.raises(Stopped):
            main(first)
    assert not out.exists()
    before = (world / "policy.work" / "synthetic" / "manifest.json").stat().st_mtime_ns
    assert main([*first, "--seed", "5"]) == 2  # not with the work of other settings
    assert main(first) == 0
    after = (world / "policy.work" / "synthetic" / "manifest.json").stat().st_mtime_ns
    assert before == after
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def weights(path: Path) -> dict[str, np.ndarray]:
    return parameters_of(load_trained(path).policy.weights)


@pytest.mark.extended
def test_the_policy_is_an_export_calibrated_for_the_graph(fitted):
    exported = load_exported(fitted)
    assert exported.metadata["calibration"]["questions"] == 10
    assert exported.answer_scale.questions == 10
    assert exported.preparation.hops == 3  # of the questions, more than of the base
    assert exported.preparation.candidates == PREPARATION["candidates"]
    names = [each["name"] for each in exported.metadata["training"]["sets"]]
    assert names == ["synthetic", "real"]


@pytest.mark.extended
def test_the_figures_are_those_of_the_evaluation(fitted):
    result = json.loads((fitted / RESULT).read_text())
    assert result["gains"] and result["step"] > 0
    assert result["epochs"][0]["step"] == 0
    scores = {row["step"]: row["dev_score"] for row in result["epochs"]}
    assert scores[result["step"]] == max(scores.values()) > scores[0]
    assert result["trained_on"] == {"synthetic": 80, "real": 20}
    sizes = {name: one["questions"] for name, one in result["measured"].items()}
    assert sizes == {"synthetic": 10, "real": 12}
    for name, one in result["measured"].items():
        assert one["split"] == "test"
        folder = fitted.with_name("policy.work") / "measured" / name
        lines = (folder / "questions.jsonl").read_text().splitlines()
        metrics = [json.loads(line)["metrics"] for line in lines]
        *hits, first = one["rows"]
        assert (first["metric"], [row["k"] for row in hits]) == (
            "hits@1",
            [10, 30, 100],
        )
        for row in hits:
            for column in ("base", "fitted", "cosine"):
                values = [m[column]["answer_hit"][str(row["k"])] for m in metrics]
                assert row[column]["value"] == pytest.approx(np.mean(values))
        for row in one["rows"]:
            gain = row["fitted"]["value"] - row["base"]["value"]
            assert row["difference"]["difference"] == pytest.approx(gain)
        counts = {group["title"]: group["count"] for group in one["examples"]}
        assert sum(counts.values()) == one["questions"]
        of_fitted = counts["Right by both"] + counts["Right by the fitted policy only"]
        assert of_fitted == round(first["fitted"]["value"] * one["questions"])


def test_few_real_questions_calibrate_nothing(tmp_path):
    def shards(dev: int) -> Shards:
        splits = {"train": 2, "dev": dev, "test": 2}
        cases = {name: [planted(i, 3) for i in range(n)] for name, n in splits.items()}
        return write_shards(tmp_path / str(dev), cases)

    synthetic, few, enough = shards(3), shards(49), shards(50)
    assert calibration_set({"synthetic": synthetic}) == "synthetic"
    assert calibration_set({"synthetic": synthetic, "real": few}) == "synthetic"
    assert calibration_set({"synthetic": synthetic, "real": enough}) == "real"
    reported = write_shards(
        tmp_path / "dev", {"dev": [planted(i, 3) for i in range(60)]}
    )
    assert calibration_set({"synthetic": synthetic, "real": reported}) == "synthetic"


@pytest.mark.extended
def test_the_page_needs_no_network_and_shows_every_example(fitted):
    page = (fitted / REPORT).read_text("utf-8")
    assert not re.search(r"https?://|src=|<script|<link|url\(", page)
    result = json.loads((fitted / RESULT).read_text())
    for one in result["measured"].values():
        for group in one["examples"]:
            for example in group["questions"]:
                assert escape(example["question"]) in page
    assert "Real questions: 12 of test, held out" in page
    assert "calibrated on 10 synthetic dev questions." in page


@pytest.mark.extended
def test_the_same_command_does_nothing_and_another_asks(world, fitted, capsys):
    before = contents(fitted)
    again = command(world, fitted, "--questions", world / "asked")
    assert main(again) == 0
    out = capsys.readouterr().out
    assert "complete already" in out and "an answer among 10 triplets" in out
    assert main([*again, "--seed", "5"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert contents(fitted) == before


def test_halfway_is_the_mean_of_both_policies():
    config = small_config("walk", 8)
    base, trained = (
        TrainedPolicy(Policy.initial(config, seed), seed, {"seed": seed})
        for seed in (1, 2)
    )
    mean = halfway(base, trained)
    assert (mean.step, mean.metadata) == (2, {"seed": 2})
    leaves = [parameters_of(each.policy.weights) for each in (base, trained, mean)]
    for name, leaf in leaves[2].items():
        np.testing.assert_allclose(leaf, (leaves[0][name] + leaves[1][name]) / 2)
        assert leaf.dtype == leaves[1][name].dtype


@pytest.mark.extended
def test_a_base_that_is_as_good_is_exported_with_a_calibration(
    world, fitted, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(train_module, "dev_score", lambda row, select: 1.0)
    settings = FitSettings(
        graph=(world / "films.tsv",),
        questions=world / "asked",
        out=tmp_path / "policy",
        base=str(fitted),
        synthetic_questions=100,
        learning_rate=0.01,
        workers=1,
    )
    result = fit(settings)
    assert not result["gains"] and result["step"] == 0
    assert [row["epoch"] for row in result["epochs"]] == [0, 1, 2]  # not 3
    assert "is as good on this graph" in capsys.readouterr().out
    assert "is as good on this graph" in (settings.out / REPORT).read_text()
    ours, base = weights(settings.out), weights(fitted)
    for name, leaf in base.items():
        np.testing.assert_array_equal(ours[name], leaf)
    assert load_exported(settings.out).metadata["calibration"]["questions"] == 10
    assert set(result["measured"]["synthetic"]["rows"][0]) == {
        "metric", "k", "base", "cosine",
    }  # fmt: skip
    assert result["trained_on"] == {"synthetic": 80, "real": 20}


@pytest.fixture
def refused(capsys) -> Callable[..., None]:
    """Checks that a command ends with one line that says why."""

    def check(says: str, *args: Any) -> None:
        assert main([str(arg) for arg in args]) == 2
        (line,) = [x for x in capsys.readouterr().err.splitlines() if "error" in x]
        assert re.search(says, line), line

    return check


def test_malformed_questions_are_refused_before_any_work(world, tmp_path, refused):
    file = tmp_path / "asked.jsonl"
    args = command(world, tmp_path / "out", "--questions", file)
    file.write_text('{"id": 1, "question": "Who?", "q_entity": ["Maker 1"]}\n')
    refused("asked.jsonl: no question of test has an answer", *args)
    file.write_text('{"id": 1, "question": "Who?", "answer": ["A"]}\n{"id": 2}\n')
    refused(f"^error: {file}:2: ", *args)
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_other_real_questions_keep_what_does_not_depend_on_them(world, tmp_path):
    asked, work = tmp_path / "asked", tmp_path / "work"
    shutil.copytree(world / "asked", asked)
    settings = FitSettings(
        graph=(world / "films.tsv",), out=tmp_path / "out", questions=asked, work=work
    )
    base = load_trained(world / "base")

    def kept() -> set[str]:
        """The parts that the work has once it is opened with the questions there."""
        opened = Work(settings, identity_of(inputs_of(settings), base))
        parts = {part for part in PARTS if (work / part).exists()}
        for part in PARTS:
            (work / part).mkdir(exist_ok=True)
            (work / part / "file").touch()
        with opened.stage("training", ["training"]):
            pass
        return parts

    assert kept() == set()
    assert kept() == set(PARTS)
    file = asked / "test.jsonl"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    assert kept() == {"questions", "synthetic"}  # the run has those shards
    shutil.rmtree(asked)
    settings = dataclasses.replace(settings, questions=None)
    assert kept() == {"questions", "synthetic"}
    settings = dataclasses.replace(settings, questions=world / "asked" / "test.jsonl")
    assert kept() == {"questions", "synthetic", "run"}  # measured only
    settings = dataclasses.replace(settings, seed=1)
    with pytest.raises(UserError, match="holds the work of another graph"):
        kept()


def test_bad_input_is_one_line(world, tmp_path, refused):
    codes = tmp_path / "codes.tsv"
    codes.write_text("m.0a\tknows\tm.0b\nm.0b\tknows\tm.0c\n")
    few = tmp_path / "few.tsv"
    few.write_text(
        "".join(f"Film {i}\tdirected_by\tMaker {i % 7}\n" for i in range(40))
    )
    broken = tmp_path / "broken.tsv"
    broken.write_text("one column\n")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "file").touch()

    def args(graph: Path, *more: Any, out: Path = tmp_path / "out") -> list[Any]:
        return ["fit", graph, "--out", out, "--base", world / "base", *more]

    films = world / "films.tsv"
    refused("nowhere.tsv: no such file", *args(tmp_path / "nowhere.tsv"))
    refused("broken.tsv:1", *args(broken))
    # Mended or another one: what could not be read leaves no work to protect.
    refused("codes.tsv: no question can be asked", *args(codes))
    no_more = "few.tsv: gives 0 dev and 0 test .*; the graph gives no more, use .* as"
    refused(no_more, *args(few))
    refused("holds the work of another graph", *args(films))
    refused("--columns: expected three columns", *args(films, "--columns", "a,b"))
    refused(
        "expected the columns a, b, c",
        *args(films, "--columns", "a,b,c", "--overwrite"),
    )
    refused("--hops: found 0, expected at least 1", *args(films, "--hops", 0))
    refused("not an exported policy", *args(films, out=foreign))
    refused("is there and not of kgscout", *args(films, "--work", foreign))
    refused("nothing: expected JSON lines", *args(films, "--questions", "nothing"))
    refused("no such", *args(films, "--base", tmp_path / "nowhere"))
    shutil.rmtree(tmp_path / "out.work")
    assert not (tmp_path / "out").exists()
