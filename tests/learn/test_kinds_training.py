"""The walk policy and the supervised MLP: they learn, resume and are measured."""

from __future__ import annotations

import shlex

import pytest
from training import (
    REINFORCE,
    Stopped,
    epochs,
    final,
    place_of_good,
    rows,
    same_bits,
    stop_after_saves,
    tiny,
)

from kgscout_jax.cli.runner import parse
from kgscout_jax.evaluate.retrieval.run import evaluate_run
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.train import train
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.policy.module import Policy
from kgscout_jax.utils.io import read_json

pytestmark = pytest.mark.usefixtures("kgscout_cache")
KINDS = {
    "walk": {"policy": "walk", "width": 16, "walkers": 3, "walk_steps": 2},
    "mlp": {"policy": "mlp", "estimator": "bce"},
}


@pytest.fixture(
    scope="module", params=[pytest.param("walk", marks=pytest.mark.extended), "mlp"]
)
def finished(request, shards, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / request.param
    train(tiny(shards, run, **KINDS[request.param]))
    return request.param, run


def test_what_was_planted_is_learned(shards, finished):
    kind, run = finished
    trained = load_policy(run)
    assert trained.metadata["policy"]["kind"] == kind
    fresh = Policy.initial(trained.policy.config, TrainConfig.seed)
    assert place_of_good(fresh, shards) > 2 * place_of_good(trained.policy, shards)
    assert epochs(run)[-1]["dev_answer_hit@4"] > 0.9
    losses = [row["loss"] for row in rows(run) if row["kind"] == "step"]
    assert losses[-1] < losses[0]


@pytest.mark.slow
def test_a_stopped_run_resumes_bit_for_bit(shards, finished, tmp_path, monkeypatch):
    kind, run = finished
    stop_after_saves(monkeypatch, 2)
    config = tiny(shards, tmp_path / "run", **KINDS[kind], save_every=2)
    with pytest.raises(Stopped):
        train(config)
    train(config)
    same_bits(final(config.run), final(run))


@pytest.mark.extended
def test_runs_are_compared_in_one_table(shards, finished, tmp_path, capsys):
    kind, run = finished
    report = evaluate_run(
        RetrievalSettings(
            run=run,
            shards=shards.path,
            out=tmp_path,
            split="dev",
            k=(2, 4),
            retrievers=("kgscout", "cosine"),
            also=(f"twin={run}",),
            reference="twin",
        )
    )
    assert report["retrievers"] == ["kgscout", "cosine", "twin"]
    assert report["twin"] == report["kgscout"]
    paired = read_json(tmp_path / "metrics.json")["paired"]
    assert paired["kgscout"]["answer_hit"]["4"]["difference"] == 0
    assert paired["cosine"]["answer_hit"]["4"]["difference"] < 0
    assert "twin" in capsys.readouterr().out
    # The commands that trained and measured give the same settings again.
    trained, measured = map(shlex.split, report["context"]["commands"])
    again = parse(TrainConfig, trained[2:], "train")
    assert again == tiny(shards, run, **KINDS[kind])
    assert parse(RetrievalSettings, measured[3:], "eval").also == (f"twin={run}",)


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(
            {**KINDS["mlp"], "estimator": "closed_form"}, marks=pytest.mark.slow
        ),
        pytest.param({**KINDS["walk"], "estimator": "bce"}, marks=pytest.mark.slow),
        pytest.param(
            {**KINDS["walk"], **REINFORCE, "answer_width": 0, "word_rank": 0},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {**KINDS["walk"], "connectivity_weight": 4.0, "word_rank": 0},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["mlp, closed form", "walk, bce", "walk, reinforce", "walk, connectivity"],
)
def test_any_network_learns_by_any_estimator(shards, choice, tmp_path):
    run = tmp_path / "run"
    train(tiny(shards, run, **choice))
    measured = epochs(run)
    assert measured[-1]["dev_answer_hit@4"] > 0.4  # .08 by chance
    if "connectivity_weight" in choice:
        first, *_, last = [row for row in rows(run) if row["kind"] == "step"]
        assert 0 < first["connectivity"] < last["connectivity"] <= 1
