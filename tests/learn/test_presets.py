"""``--preset thesis``: its values by their sources, and what contradicts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_prep.settings import PrepSettings
from kgscout_jax.cli.runner import parse
from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import ThesisTrainConfig, TrainConfig
from kgscout_jax.learn.estimator_updates import Reinforce, update_class

TRAIN = ["--preset", "thesis", "--shards", "s", "--run", "r"]
PREP = ["rog", "--preset=thesis", "--out", "o"]


def test_training_has_the_values_of_the_thesis():
    config = parse(TrainConfig, [*TRAIN, "--epochs", "50"], "train")
    found = config.to_dict()
    # Sections 3.3.3 to 3.3.5 and 4.2.
    expected = {
        "policy": "thesis",
        "estimator": "reinforce",
        "k": 100,
        "samples": 1,
        "baseline": "greedy",
        "normalise_advantage": False,
        "entropy_weight": 0.0,
        "question_noise": 0.0,
        "staleness": 0,
        "reward": "scipy",
        "reward_direction": "directed",
        "select": "reward",
    }
    assert {name: found[name] for name in expected} == expected
    assert config.epochs == 50 and config.budgets == (100,)
    assert update_class(config) is Reinforce and not config.stale
    assert config == ThesisTrainConfig(shards=(Path("s"),), run=Path("r"), epochs=50)


def test_preparation_has_the_cuts_of_the_thesis():
    settings = parse(PrepSettings, [*PREP, "--train-questions", "3000"], "prep")
    written = settings.to_manifest()
    expected = {
        "cut": "ppr",
        "select": "cosine",
        "candidates": 1000,
        "direction": "directed",
        "max_triplets": None,
        "ppr_threshold": None,
        "train_questions": 3000,
    }
    assert {name: written[name] for name in expected} == expected
    assert settings.encoder == "all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("settings", "words", "message"),
    [
        (TrainConfig, [*TRAIN, "--samples", "128"], "--samples: found 128, expected 1"),
        (TrainConfig, [*TRAIN, "--entropy-weight", "1"], "--entropy-weight: found 1.0"),
        (TrainConfig, [*TRAIN, "--normalise-advantage"], "--normalise-advantage: "),
        (TrainConfig, [*TRAIN, "--reward", "host"], "--reward: found host"),
        (TrainConfig, [*TRAIN, "--staleness", "1"], "--staleness: found 1, expected 0"),
        (PrepSettings, [*PREP, "--cut", "guided"], "--cut: found guided, expected ppr"),
        (PrepSettings, [*PREP, "--candidates", "9"], "--candidates: found 9"),
        (TrainConfig, ["--preset", "other"], "found 'other', expected thesis"),
    ],
)
def test_what_contradicts_a_preset_is_refused_by_name(settings, words, message):
    with pytest.raises(UserError, match=message):
        parse(settings, words, "x")


def test_a_preset_is_not_claimed_for_other_values():
    with pytest.raises(UserError, match="with --preset thesis"):
        TrainConfig(shards=(Path("s"),), run=Path("r"), preset="thesis")
