"""Runs that end when their dev score has stopped rising, and the score they choose."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from training import Stopped, epochs, final, same_bits, stop_after_saves, tiny

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.retrieval.run import evaluate_run
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.early_stopping import out_of_patience
from kgscout_jax.learn.estimators import cross_entropy
from kgscout_jax.learn.train import dev_score, train
from kgscout_jax.runs.run_folder import read_run
from kgscout_jax.runs.status import state_of
from kgscout_jax.utils.io import read_json

pytestmark = pytest.mark.usefixtures("kgscout_cache")
SELECTIONS = ("reward", "path_triplet_recall", "hits@1")
PEER = {
    "policy": "mlp",
    "estimator": "bce",
    "select": "path_triplet_recall",
    "patience": 1,
    "epochs": 12,
}


@pytest.mark.parametrize(
    ("scores", "patience", "ends"),
    [
        ([], 1, False),
        ([None, None], 1, False),
        ([1.0, 2.0, 3.0], 1, False),
        ([1.0, 3.0, 2.0], 1, True),
        ([1.0, 3.0, 2.0], 2, False),
        ([1.0, 3.0, 3.0], 1, True),  # equal is not higher
        ([1.0, 3.0, 2.0, 4.0], 2, False),
        ([1.0, 3.0, 2.0], None, False),
    ],
)
def test_patience_counts_epochs_since_the_first_highest_score(scores, patience, ends):
    assert out_of_patience(scores, patience) is ends


def test_each_selection_has_its_dev_score(shards, tmp_path):
    row = {"dev_reward": 4.0, "dev_hits@1": 0.5, "dev_path_triplet_recall": 0.25}
    scores = {name: dev_score(row, name) for name in SELECTIONS}
    assert scores == {"reward": 4.5, "path_triplet_recall": 0.25, "hits@1": 0.5}
    assert dev_score({}, "hits@1") is None
    with pytest.raises(UserError, match="--select: found hits@1, expected it with"):
        tiny(shards, tmp_path, select="hits@1", policy="mlp")


@pytest.mark.extended
def test_a_run_ends_when_triplet_recall_stops_rising(shards, tmp_path, monkeypatch):
    config = tiny(shards, tmp_path / "run", **PEER)
    train(config)
    measured = epochs(config.run)
    scores = [row["dev_score"] for row in measured]
    assert scores == [row["dev_path_triplet_recall"] for row in measured]
    assert 1 < len(scores) < 12
    assert scores[-1] <= scores[-2] == max(scores)
    assert state_of(read_run(config.run)).state == "finished"
    whole = final(config.run)
    train(config)  # has nothing to do
    assert epochs(config.run) == measured
    same_bits(final(config.run), whole)
    # Killed and resumed, it ends at the same step.
    stop_after_saves(monkeypatch, 2)
    again = tiny(shards, tmp_path / "again", **PEER, save_every=2)
    with pytest.raises(Stopped):
        train(again)
    assert state_of(read_run(again.run)).state == "stopped"
    train(again)
    assert epochs(again.run) == measured
    same_bits(final(again.run), whole)
    # The score is the metric of the evaluation.
    best = RunFolder.existing(config.run).best_first[0]
    evaluate_run(
        RetrievalSettings(
            run=config.run, shards=shards.path, out=tmp_path / "out", split="dev",
            k=config.budgets, retrievers=("kgscout",),
        )
    )  # fmt: skip
    report = read_json(tmp_path / "out" / "metrics.json")
    assert report["context"]["step"] == best
    recalls = report["kgscout"]["path_triplet_recall"].values()
    expected = np.mean([one["value"] for one in recalls])
    (row,) = [row for row in measured if row["step"] == best]
    assert row["dev_score"] == pytest.approx(expected, abs=1e-5)


def test_patience_needs_a_dev_split(shards, tmp_path, monkeypatch):
    without_dev = property(lambda _: ["train"])
    monkeypatch.setattr(type(shards), "splits", without_dev)
    with pytest.raises(UserError, match="--patience: found no dev split"):
        train(tiny(shards, tmp_path / "run", **PEER))


def test_positives_weigh_as_asked():
    logits = jnp.array([2.0, -1.0, 0.5])
    mask, on_path = jnp.ones(3, bool), jnp.array([True, False, False])
    losses = np.log1p(np.exp([-2.0, -1.0, 0.5]))
    weighted = float(cross_entropy(logits, mask, on_path, 7.0))
    assert weighted == pytest.approx((7 * losses[0] + losses[1] + losses[2]) / 3)
