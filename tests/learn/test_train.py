"""Whole training runs on tiny shards: learning, resuming bit for bit, refusing."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from policy_factory import small_config
from training import (
    REINFORCE,
    ROOT,
    STEPS,
    Stopped,
    command,
    epochs,
    final,
    place_of_good,
    rows,
    same_bits,
    stop_after_saves,
    tiny,
)
from written_shards import DIMENSION, NOWHERE, PLANTED, planted, write_shards

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.config_checks import check_budget
from kgscout_jax.learn.train import initialised_config, train
from kgscout_jax.learn.trained_policy import check_encoder, load_policy
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.utils.lock import locked

pytestmark = pytest.mark.usefixtures("kgscout_cache")


# --- learning


@pytest.mark.parametrize("estimator", ["closed_form", "reinforce"])
def test_what_was_planted_is_learned(shards, finished, leaving_one_out, estimator):
    run = finished if estimator == "closed_form" else leaving_one_out
    trained = load_policy(run, step=4 * STEPS).policy
    fresh = Policy.initial(trained.config, TrainConfig.seed)
    assert place_of_good(fresh, shards) > 2
    assert place_of_good(trained, shards) < 0.5
    assert epochs(run)[-1]["dev_answer_hit@4"] > 0.9
    assert epochs(run)[-1]["train_answer_hit@4"] > 0.9


@pytest.mark.parametrize(
    "baseline",
    [
        pytest.param("greedy", marks=pytest.mark.extended),
        pytest.param("moving_average", marks=pytest.mark.extended),
        "leave_one_out",
    ],
)
def test_every_baseline_runs(shards, moving, leaving_one_out, tmp_path, baseline):
    run = {"moving_average": moving, "leave_one_out": leaving_one_out}.get(baseline)
    if run is None:
        run = tmp_path
        train(tiny(shards, run, **REINFORCE, baseline=baseline))
    logged = rows(run)
    for row in logged:
        assert all(math.isfinite(v) for k, v in row.items() if k != "kind")
    steps = [row for row in logged if row["kind"] == "step"]
    assert {"reward", "loss", "entropy", "grad_norm", "temperature"} <= set(steps[0])
    assert 0 <= steps[0]["reward"] <= 10
    assert steps[0]["grad_norm"] > 0
    assert steps[-1]["reward"] > steps[0]["reward"]


# --- the run's folder


def test_a_run_holds_its_config_and_a_row_for_each_step_and_epoch(shards, finished):
    about = json.loads((finished / "config.json").read_text())
    assert set(about) == {"config", "policy", "encoder", "shards", "started_in"}
    assert about["config"]["tower_hidden"] == [8, 4]
    assert about["policy"]["dimension"] == DIMENSION
    assert about["shards"].items() >= {"source": "tiny", "fingerprint": "tiny"}.items()
    kinds = [(row["kind"], row["step"]) for row in rows(finished)]
    assert kinds == [
        ("step", 5), ("epoch", 5), ("step", 10), ("epoch", 10),
        ("step", 15), ("epoch", 15), ("step", 20), ("epoch", 20),
    ]  # fmt: skip


def test_the_latest_two_checkpoints_and_the_best_stay(finished):
    folder = RunFolder.existing(finished)
    scored = {row["step"]: row["dev_reward"] for row in epochs(finished)}
    top = max(scored.values())
    assert folder.latest_step == 20
    assert scored[folder.best_first[0]] == pytest.approx(top)
    kept = set(folder.steps)
    folder.close()
    assert {20, folder.best_first[0]} <= kept
    assert len(kept) <= 3
    on_disk = {path.name for path in (finished / "checkpoints").iterdir()}
    assert on_disk == {str(step) for step in kept}


def test_a_policy_is_loaded_at_its_best(shards, finished):
    trained = load_policy(finished)
    folder = RunFolder.existing(finished)
    assert trained.step == folder.best_first[0]
    leaves = folder.load(trained.step)
    folder.close()
    temperature = np.asarray(trained.policy.weights.log_temperature)
    np.testing.assert_array_equal(leaves["params/log_temperature"], temperature)
    latest = load_policy(finished, step=20)
    assert latest.step == 20
    check_encoder(trained.metadata, shards, finished)


def test_a_step_without_checkpoint_is_refused(finished):
    with pytest.raises(UserError, match=r"no checkpoint of step 7.*20"):
        load_policy(finished, step=7)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(UserError, match="no such run"):
        load_policy(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"no config\.json, this is not a run"):
        load_policy(tmp_path)


def test_a_run_without_a_checkpoint_is_refused(finished, tmp_path):
    shutil.copy(finished / "config.json", tmp_path / "config.json")
    with pytest.raises(UserError, match="no checkpoint yet"):
        load_policy(tmp_path)


# --- resuming


def test_a_run_stopped_after_a_save_resumes_bit_for_bit(
    shards, moving, tmp_path, monkeypatch
):
    stop_after_saves(monkeypatch, 1, 6)  # in the first epoch, and in the third
    more = {**REINFORCE, "baseline": "moving_average", "save_every": 3}
    config = tiny(shards, tmp_path, **more)
    for _ in range(2):
        with pytest.raises(Stopped):
            train(config)
    train(config)
    same_bits(final(tmp_path), final(moving))
    assert rows(tmp_path) == rows(moving)


def kill_at(process: subprocess.Popen, run: Path, moment: int, delay: float) -> bool:
    """SIGKILL once so many new files are below the checkpoints; False: too late."""

    def files() -> set[str]:
        return {
            f"{folder}/{name}"
            for folder, names, others in os.walk(run / "checkpoints")
            for name in (*names, *others)
        }

    known = files()
    while process.poll() is None:
        if len(files() - known) >= moment:
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.001)
    return False


@pytest.mark.slow
def test_a_killed_run_resumes_bit_for_bit(shards, finished, tmp_path):
    # A checkpoint is about 20 files: some moments are in the middle of a save.
    rng = random.Random(3)
    config = tiny(shards, tmp_path / "run", save_every=2)
    for _ in range(2):
        process = subprocess.Popen(command(config), cwd=ROOT, stderr=subprocess.PIPE)
        moment, delay = rng.randint(2, 40), rng.choice([0.0, 0.0, 0.02])
        if kill_at(process, config.run, moment, delay):
            break
    else:
        pytest.fail("every run ended before its moment")
    train(config)
    same_bits(final(config.run), final(finished))
    assert rows(config.run) == rows(finished)


def test_a_torn_line_of_metrics_is_dropped(shards, finished, tmp_path):
    run = shutil.copytree(finished, tmp_path / "run")
    whole = (run / "metrics.jsonl").read_text()
    later = json.dumps({"kind": "step", "step": 23, "epoch": 5}) + "\n"
    (run / "metrics.jsonl").write_text(whole + later + '{"kind": "st')
    folder = RunFolder(run)
    folder.drop_rows_after(20)
    assert (run / "metrics.jsonl").read_text() == whole
    folder.drop_rows_after(12)
    assert [row["step"] for row in rows(run)] == [5, 5, 10, 10]


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"learning_rate": 3e-3}, "--learning-rate 0.01, found 0.003"),
        ({"tower_hidden": (8, 8)}, r"--tower-hidden 8 4, found 8 8"),
        ({"epochs": 5}, "--epochs 4, found 5"),
    ],
)
def test_other_settings_are_refused(shards, finished, change, flag):
    before = (finished / "config.json").read_bytes()
    with pytest.raises(UserError, match=f"was started with {flag}") as caught:
        train(tiny(shards, finished, **change))
    assert "\n" not in str(caught.value)
    assert (finished / "config.json").read_bytes() == before


def test_a_finished_run_stays_as_it_is(shards, finished, tmp_path):
    # Moved shards and another rhythm of saving are fine.
    run = shutil.copytree(finished, tmp_path / "run")
    moved = Shards.open(shutil.copytree(shards.path, tmp_path / "moved"))
    train(tiny(moved, run, save_every=3))
    assert rows(run) == rows(finished)
    same_bits(final(run), final(finished))


# --- starting from another run


@pytest.mark.slow
def test_a_run_of_an_earlier_version_keeps_its_network(shards, tmp_path):
    """Its config.json lacks the settings of what walks had not then."""
    off = {"answer_width": 0, "question_hidden": 0, "question_noise": 0.0}
    off["word_rank"] = 0
    sizes = {"policy": "walk", "width": 4, "walkers": 2, "walk_steps": 1, "epochs": 1}
    train(tiny(shards, tmp_path / "new", **sizes, **off))
    assert "params/walkers/returns" in final(tmp_path / "new")
    about = json.loads((tmp_path / "new" / "config.json").read_text())
    for name in (*off, "answer_weight"):
        del about["config"][name]
    for name in ("answers", "question_hidden", "return_gates", "word_rank"):
        del about["policy"][name]
    run = tmp_path / "earlier"
    run.mkdir()
    (run / "config.json").write_text(json.dumps(about))
    train(tiny(shards, run, **sizes, **off))
    assert "params/walkers/returns" not in final(run)
    config = load_policy(run).policy.config
    assert isinstance(config, WalkConfig) and not config.return_gates


def test_init_starts_from_another_runs_parameters(
    shards, finished, tmp_path, monkeypatch
):
    stop_after_saves(monkeypatch, 2)
    with pytest.raises(Stopped):
        train(tiny(shards, tmp_path, init=finished, policy=None, save_every=1))
    assert RunFolder.existing(tmp_path).config["config"]["policy"] == "mlp"
    start = load_policy(finished)
    folder = RunFolder.existing(finished)
    before = folder.load(start.step)
    folder.close()
    # The warm-up's first step is of size 0.
    after = final(tmp_path)
    assert (int(after["step"]), int(before["step"])) == (1, start.step)
    params = [name for name in after if name.startswith("params/")]
    assert len(params) == 8
    for name in params:
        np.testing.assert_array_equal(after[name], before[name])
    # Step 0 is measured like any epoch: the same parameters have the same dev score.
    (first,) = epochs(tmp_path)
    (best,) = (row for row in epochs(finished) if row["step"] == start.step)
    assert (first["step"], first["epoch"]) == (0, 0)
    assert first["dev_score"] == best["dev_score"]
    assert RunFolder.existing(tmp_path).dev_score(0) == first["dev_score"]


def test_more_triplets_than_candidates_are_refused(shards, tmp_path):
    config = tiny(shards, tmp_path / "run", k=51)
    check_budget(config, {Path("films"): 51, Path("books"): None})
    with pytest.raises(UserError, match=r"--k: found 51, expected at most 50.* films"):
        check_budget(config, {Path("films"): 50})
    with pytest.raises(UserError, match="--k: found 9, expected at most 8, the cand"):
        train(tiny(shards, tmp_path / "run", k=9, candidates=8))
    assert not (tmp_path / "run").exists()


def test_init_from_no_run_is_refused(shards, tmp_path):
    with pytest.raises(UserError, match="no such run"):
        train(tiny(shards, tmp_path / "run", init=tmp_path / "nowhere"))
    (file := tmp_path / "films.tsv").touch()
    with pytest.raises(UserError, match=r"films\.tsv: found a file, expected a run"):
        train(tiny(shards, tmp_path / "run", init=file))
    assert not (tmp_path / "run").exists()


def test_init_of_another_network_is_refused(shards, finished, tmp_path):
    says = f"--policy: found walk, expected mlp, the network of --init {finished}"
    with pytest.raises(UserError, match=says):
        train(tiny(shards, tmp_path / "run", init=finished, policy="walk"))
    says = "--select: found hits@1, expected it with a policy that answers only"
    with pytest.raises(UserError, match=says):
        more = {"policy": None, "select": "hits@1"}
        train(tiny(shards, tmp_path / "run", init=finished, **more))
    assert not (tmp_path / "run").exists()


def test_a_run_that_names_another_network_than_its_init_is_resumed(tmp_path):
    """Earlier versions recorded ``--policy`` and its default, whatever the init."""
    config = TrainConfig(shards=tmp_path, run=tmp_path, init=tmp_path)
    network = small_config("walk", 4, (-3, -3), (2, 2))
    resumed = initialised_config(config, network, {"config": {"policy": "thesis"}})
    assert (resumed.policy, resumed.question_noise) == ("thesis", 0.0)
    new = initialised_config(config, network, None)
    assert (new.policy, new.question_noise) == ("walk", 0.5)


def test_a_locked_run_is_refused(shards, tmp_path):
    held = locked(tmp_path / "run", "training")
    with held, pytest.raises(UserError, match="another training is writing here"):
        train(tiny(shards, tmp_path / "run"))
    assert not (tmp_path / "run" / "config.json").exists()


def test_a_budget_of_one_needs_no_other_flag(shards, tmp_path):
    assert tiny(shards, tmp_path / "run", k=1).budgets == (1,)


def test_init_from_a_run_of_another_encoder_is_refused(finished, tmp_path):
    other = write_shards(tmp_path / "shards", encoder={"weights_sha256": "f" * 64})
    with pytest.raises(UserError, match="encoder random with weights_sha256 fff"):
        train(tiny(other, tmp_path / "run", init=finished))


# --- data that is hard to learn from


@pytest.mark.extended
def test_no_gradient_where_every_candidate_is_selected(shards, tmp_path):
    train(tiny(shards, tmp_path, k=40, k_low=40))
    for row in rows(tmp_path):
        assert all(math.isfinite(v) for k, v in row.items() if k != "kind")
        assert row.get("grad_norm", 0) == 0
    assert {row["dev_answer_hit@40"] for row in epochs(tmp_path)} == {1}


@pytest.mark.extended
@pytest.mark.parametrize(
    "more", [REINFORCE, {"dtype": "bfloat16", "questions_per_epoch": 9}]
)
def test_questions_of_every_size_train_to_finite_parameters(tmp_path, more):
    # A batch in which everything is kept, others in which much is not, and questions
    # without a candidate.
    sizes = [1, 2, 3, 4, 5, 9, 13, 17, 21, 25, 29, 32]
    cases = {
        "train": [*(planted(i, size) for i, size in enumerate(sizes)), NOWHERE],
        "dev": [NOWHERE, planted(20, 9)],
    }
    shards = write_shards(tmp_path / "shards", cases)
    run = tmp_path / "run"
    train(tiny(shards, run, **more, batch_size=4, epochs=1))
    for row in rows(run):
        assert all(math.isfinite(v) for k, v in row.items() if k != "kind")
    assert [row["step"] for row in epochs(run)] == [3]
    leaves = final(run)
    assert all(np.isfinite(leaf).all() for leaf in leaves.values())
    params = [leaf for name, leaf in leaves.items() if name.startswith("params/")]
    assert {leaf.dtype for leaf in params} == {np.dtype(np.float32)}


def test_shards_without_a_trainable_question_are_refused(tmp_path):
    shards = write_shards(
        tmp_path / "shards", {"train": [NOWHERE], "dev": [planted(0)]}
    )
    with pytest.raises(UserError, match="no training question has an answer"):
        train(tiny(shards, tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_shards_without_a_train_split_are_refused(tmp_path):
    shards = write_shards(tmp_path / "shards", {"dev": PLANTED["dev"]})
    with pytest.raises(UserError, match="no split 'train'; present: dev"):
        train(tiny(shards, tmp_path / "run"))


@pytest.mark.extended
def test_without_a_dev_split_the_latest_checkpoint_is_the_best(shards, tmp_path):
    folder = shutil.copytree(shards.path, tmp_path / "shards")
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["splits"]["dev"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    train(tiny(Shards.open(folder), tmp_path / "run"))
    assert not any(
        key.startswith("dev") for row in rows(tmp_path / "run") for key in row
    )
    assert load_policy(tmp_path / "run").step == 4 * STEPS


def test_a_loss_that_is_not_finite_stops_the_run(shards, tmp_path):
    # The closed form, by the command: tests/cli/test_evaluation_commands.py.
    table = np.array(shards.relation_embeddings)
    table[0] = np.inf
    poisoned = write_shards(tmp_path / "shards", relation_embeddings=table)
    with pytest.raises(UserError, match=r"(loss|grad_norm) is (nan|inf) at step \d"):
        train(tiny(poisoned, tmp_path / "run", **REINFORCE))


# --- settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "--k: found 0, expected at least 1"),
        ({"learning_rate": 0.0}, "--learning-rate: found 0.0, expected above 0"),
        ({"weight_decay": -1.0}, "--weight-decay: found -1.0, expected at least 0"),
        ({"questions_per_epoch": 0}, "--questions-per-epoch: found 0"),
        (
            {"estimator": "reinforce", "baseline": "leave_one_out", "samples": 1},
            "--samples: found 1, expected at least 2 with leave_one_out",
        ),
    ],
)
def test_settings_are_checked(shards, tmp_path, wrong, message):
    with pytest.raises(UserError, match=message):
        tiny(shards, tmp_path, **wrong)


def test_heads_that_do_not_divide_the_dimension_are_refused(shards, tmp_path):
    with pytest.raises(UserError, match="3 does not divide dimension 16"):
        train(tiny(shards, tmp_path / "run", policy="thesis", heads=3))
