"""Training on several sets: which steps are whose, and whole runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from training import (
    REINFORCE,
    ROOT,
    TINY,
    command,
    compilations,
    epochs,
    final,
    place_of_good,
    recorded,
    rows,
    same_bits,
    simulated,
)
from written_shards import NOWHERE, planted, write_shards

from kgscout_jax.cli.main import main
from kgscout_jax.data.batch_order import epoch_batches
from kgscout_jax.data.mixture import BatchStream, Mixture, sets_of_steps
from kgscout_jax.data.question_sampling import epoch_length
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.estimator_updates import Pipeline
from kgscout_jax.learn.run_config import mixed_ppr_statistics
from kgscout_jax.learn.shard_sets import common_settings
from kgscout_jax.learn.train import train
from kgscout_jax.learn.train_state import STALE_PARAMS
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.policy.inputs import ppr_statistics
from kgscout_jax.runs.curves import panels_of
from kgscout_jax.runs.run_folder import read_run
from kgscout_jax.runs.status import state_of

MIX: dict[str, Any] = {
    "mix": (1.0, 2.0),
    "epochs": 4,
    "save_every": 8,
    "policy": "mlp",  # compiles fastest
}
TWO_STEPS: dict[str, Any] = {"epochs": 1, "questions_per_epoch": 16}
"""One of each set."""
STEPS = 8  # of an epoch: 5 batches of the one set's questions, 3 of the other's


# --- the set of each step


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 200))
def test_each_set_has_its_share_of_the_steps(weights, steps):
    sets, turns = sets_of_steps(weights, steps)
    assert len(sets) == steps
    shares = np.array(weights) / sum(weights)
    counts = (sets[:, None] == np.arange(len(weights))).cumsum(axis=0)
    due = np.arange(1, steps + 1)[:, None] * shares
    bound = (1 + (len(weights) - 2) * shares) / 2
    assert (np.abs(counts - due) <= bound + 1e-9).all()
    whole = counts[sum(weights) - 1 :: sum(weights)]  # after each round it is exact
    rounds = np.arange(1, len(whole) + 1)
    np.testing.assert_array_equal(whole, rounds[:, None] * np.array(weights))
    np.testing.assert_array_equal(turns, counts[np.arange(steps), sets] - 1)
    shorter, _ = sets_of_steps(weights, steps // 2)
    np.testing.assert_array_equal(shorter, sets[: steps // 2])


def test_steps_by_hand():
    assert sets_of_steps([1, 1], 5)[0].tolist() == [0, 1, 0, 1, 0]
    assert sets_of_steps([1, 2, 1], 8)[0].tolist() == [1, 0, 2, 1, 1, 0, 2, 1]
    assert sets_of_steps([0.1, 0.3], 4)[0].tolist() == [1, 0, 1, 1]
    assert [epoch_length([40, 20], 8, n) for n in (None, 17, 999)] == [8, 3, 8]


@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=3),
    st.integers(1, 6),
    st.integers(0, 40),
    st.integers(0, 20),
)
def test_a_stream_is_one_pass_after_another(sizes, batch_size, first, count):
    options = {"batch_size": batch_size, "seed": 3}
    streams = [
        BatchStream(n_real=np.arange(n), rows=np.arange(n), number=i, **options)
        for i, n in enumerate(sizes)
    ]
    for number, stream in enumerate(streams):
        some = [b.tolist() for b in stream.batches(first, first + count)]
        long = [b.tolist() for b in stream.batches(0, first + count)]
        assert some == long[first:]
        for low in range(0, len(long) - stream.pass_length + 1, stream.pass_length):
            seen = [row for b in long[low : low + stream.pass_length] for row in b]
            assert sorted(seen) == list(range(sizes[number]))
            # The first set has the order that it has alone.
            epoch = low // stream.pass_length
            alone = epoch_batches(
                stream.n_real, stream.rows, window=16, epoch=epoch, **options
            )
            assert number or [b.tolist() for b in alone] == long[low:][: len(alone)]
    weights = [1.0 + i for i in range(len(sizes))]
    mixture = Mixture(streams, weights, first + count)
    for step, (number, batch) in enumerate(mixture.batches(first, first + count)):
        turn = int(mixture.turns[first + step])
        assert number == mixture.sets[first + step]
        (expected,) = streams[number].batches(turn, turn + 1)
        assert batch.tolist() == expected.tolist()


def test_sets_of_equal_size_have_different_orders():
    streams = [
        BatchStream(
            n_real=np.ones(32), rows=np.arange(32), batch_size=32, seed=0, number=i
        )
        for i in range(3)
    ]
    assert len({tuple(stream.batches(0, 1)[0]) for stream in streams}) == 3


# --- runs


def config_of(folders: tuple[Path, ...], run: Path, **more: Any) -> TrainConfig:
    return TrainConfig(shards=folders, run=run, **{**TINY, **MIX, **more})


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Shards:
    """A second set: fewer questions, of other sizes."""
    cases = {
        "train": [planted(i, 12) for i in range(20)],
        "dev": [planted(i, 12) for i in range(20, 26)] + [NOWHERE],
    }
    out = tmp_path_factory.mktemp("others") / "other"
    return write_shards(out, cases, fingerprint="other")


@pytest.fixture(scope="module")
def folders(shards, other) -> tuple[Path, Path]:
    return shards.path, other.path


@pytest.fixture(scope="module")
def mixed(shards, folders, kgscout_cache, tmp_path_factory) -> Path:
    """A run of closed_form on both sets that nobody disturbed."""
    run = tmp_path_factory.mktemp("runs") / "mixed"
    steps = recorded(config_of(folders, run))
    assert set(compilations(steps).values()) == {2}  # once for each set
    return run


def test_both_sets_are_learned_and_measured(shards, other, folders, mixed):
    trained = load_policy(mixed, step=4 * STEPS).policy
    assert place_of_good(trained, shards) < 0.5
    assert place_of_good(trained, other) < 0.5
    name = folders[0].name
    for row in epochs(mixed):
        for key in ("dev_reward", "dev_answer_hit@4", "train_reward"):
            one, two = row[f"{key}/{name}"], row[f"{key}/other"]
            assert row[key] == pytest.approx((one + 2 * two) / 3, abs=2e-6)
        assert row[f"dev_reward/{name}"] != row["dev_reward/other"]
    steps = [row for row in rows(mixed) if row["kind"] == "step"]
    # Every tenth step of a set, and the end of an epoch.
    assert [(row["step"], row["set"]) for row in steps] == [
        (8, name), (15, "other"), (16, "other"), (24, "other"), (29, name),
        (30, "other"), (32, name),
    ]  # fmt: skip


def test_config_json_describes_each_set_and_all_together(folders, mixed):
    about = json.loads((mixed / "config.json").read_text())
    assert about["config"]["shards"] == list(map(str, folders))
    assert [(s["name"], s["weight"]) for s in about["shard_sets"]] == [
        (folders[0].name, 1.0),
        ("other", 2.0),
    ]
    fingerprints = [s["fingerprint"] for s in about["shard_sets"]]
    assert fingerprints == ["tiny", "other"]
    assert about["shards"]["source"] == "tiny + tiny"
    assert about["shards"]["fingerprint"] not in fingerprints


def test_the_state_of_a_run_has_each_set(folders, mixed):
    run = read_run(mixed)
    state = state_of(run)
    assert state.state == "finished" and state.total_steps == 4 * STEPS
    assert state.best is not None and set(state.best.by_set) == {
        folders[0].name,
        "other",
    }
    one, two = state.best.by_set.values()
    assert set(state.best.dev) - {"score"} == set(one.dev) == set(two.dev)
    for name, cosine in state.best.cosine.items():
        by_hand = (one.cosine[name] + 2 * two.cosine[name]) / 3
        assert cosine == pytest.approx(by_hand, abs=2e-6)
    panels = {panel.title: panel for panel in panels_of([run])}
    for title in ("Dev reward", "Loss"):
        names = {curve.name for curve in panels[title].curves}
        assert names == set(state.best.by_set)


@pytest.mark.slow
def test_a_stopped_run_resumes_bit_for_bit(folders, tmp_path, monkeypatch):
    # The run stops before a stale step, and its folders move.
    config = {**REINFORCE, "epochs": 2}
    train(config_of(folders, tmp_path / "whole", **config))
    moved = tmp_path / "moved", tmp_path / "elsewhere"
    for old, new in zip(folders, moved, strict=True):
        new.symlink_to(old)
    call = Pipeline.__call__

    def signalling(self: Pipeline, state: Any, **about: Any) -> Any:
        if self.step == STEPS + 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return call(self, state, **about)

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "__call__", signalling)
        with pytest.raises(SystemExit):
            train(config_of(folders, tmp_path / "run", **config))
    stopped = final(tmp_path / "run")
    assert STEPS < stopped["step"] < 2 * STEPS
    assert any(name.startswith(STALE_PARAMS) for name in stopped)
    train(config_of(moved, tmp_path / "run", **config))
    same_bits(final(tmp_path / "run"), final(tmp_path / "whole"))
    assert rows(tmp_path / "run") == rows(tmp_path / "whole")


@pytest.mark.slow
def test_host_and_device_rewards_are_those_of_the_steps_set(shards, folders, tmp_path):
    for place in ("host", "device"):
        config = {**REINFORCE, "staleness": 0, "reward": place, **TWO_STEPS}
        train(config_of(folders, tmp_path / place, **config))
    same_rows(rows(tmp_path / "host"), rows(tmp_path / "device"))


@pytest.mark.slow
def test_two_devices_train_as_one(folders, tmp_path):
    train(config_of(folders, tmp_path / "one", **TWO_STEPS))
    config = config_of(folders, tmp_path / "two", **TWO_STEPS)
    words = ["--mix", "1", "2", "--policy", "mlp", "--questions-per-epoch", "16"]
    words += ["--devices", "2", "--shard-tables"]
    done = subprocess.run(
        [*command(config), *words],
        cwd=ROOT,
        env=simulated(2),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    same_rows(rows(tmp_path / "one"), rows(tmp_path / "two"))


def same_rows(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    """The same rows up to rounding."""
    for one, two in zip(some, others, strict=True):
        assert one.keys() == two.keys()
        for key, value in one.items():
            text = isinstance(value, str)
            assert two[key] == (value if text else pytest.approx(value, 1e-3, 1e-4))


# --- errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shards"], "--shards: expected a folder of shards, found none"),
        (["--shards", "a", "b", "./a"], "--shards: found a twice, expected it once"),
        (
            ["--shards", "a", "b", "--mix", "1", "2", "1"],
            "--mix: found 3 weights, expected 2, one for each of --shards",
        ),
        (
            ["--shards", "a", "b", "--mix", "1", "0"],
            "--mix: found 0.0, expected numbers above 0",
        ),
        (["--shards", "a", "--mix", "-1"], "--mix: found -1.0, expected numbers above"),
        (["--shards", "a", "--mix", "nan"], "--mix: found nan, expected numbers above"),
    ],
)
def test_wrong_sets_and_weights_are_one_line(words, message, capsys):
    assert main(["train", "--run", "run", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {message}") and said.count("\n") == 1


def test_sets_that_cannot_train_together_are_refused(shards, folders, mixed, tmp_path):
    alien = write_shards(tmp_path / "alien", encoder={"weights_sha256": "f" * 64})
    run = tmp_path / "run"
    with pytest.raises(UserError, match="alien: encoder random with weights"):
        train(config_of((shards.path, alien.path), run))
    empty = write_shards(tmp_path / "empty", {"train": [NOWHERE], "dev": [planted(0)]})
    with pytest.raises(UserError, match="empty: no training question has an answer"):
        train(config_of((shards.path, empty.path), run))
    assert not run.exists()
    with pytest.raises(UserError, match="was started on other shards"):
        train(config_of(folders[::-1], mixed))
    with pytest.raises(UserError, match=r"with --mix 1.0 2.0, found none"):
        train(config_of(folders, mixed, mix=()))


# --- what sets have in common


def test_the_common_preparation_holds_as_much_as_each_sets():
    small = {"hops": 2, "max_triplets": None, "candidates": 500, "cut": "guided"}
    large = {"hops": 4, "max_triplets": 900, "candidates": 200, "cut": "ppr"}
    own = {"hops": None, "max_triplets": None, "candidates": 10, "cut": "ppr"}
    assert common_settings([small, large, own], [2, 1, 1]) == {
        "hops": 4,
        "max_triplets": 900,
        "candidates": 500,
        "cut": "guided",
    }
    assert common_settings([own, own], [1, 1]) == own
    assert common_settings([small, large], [1, 1])["cut"] == "guided"


def test_ppr_statistics_count_a_set_by_its_weight(shards, other):
    one, two = shards.split("train"), other.split("train")
    ppr = [
        part.ppr_of(np.arange(len(part)))[part.candidates >= 0] for part in (one, two)
    ]
    n = np.lcm(*map(len, ppr))  # repeated, so that the second counts twice the first
    first, second = (np.repeat(x, n // len(x), axis=0) for x in ppr)
    pooled = np.concatenate([first, second, second])
    by_hand = ppr_statistics(pooled[None], np.ones((1, len(pooled)), bool))
    np.testing.assert_allclose(mixed_ppr_statistics([one, two], [1, 2]), by_hand, 1e-9)
    alone = ppr_statistics(one.ppr_of(np.arange(len(one))), one.candidates >= 0)
    assert mixed_ppr_statistics([one], [5]) == alone
