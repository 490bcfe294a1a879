"""Answers from the graph for a batch: what the network sees, and on which scale."""

import json

import jax
import numpy as np
import pytest
from policy_factory import SETTINGS, random_policy, small_config, trained_policy
from written_shards import DIMENSION, ENCODER

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.graph_reader import (
    GraphReader,
    cross_fitted_scales,
    export_scale,
)
from kgscout_jax.evaluate.answers.kept import kept_candidates
from kgscout_jax.export.write import export_policy
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import init_weights
from kgscout_jax.retrieve.answer_scale import AnswerScale, fit_answer_scale
from kgscout_jax.retrieve.baselines import Cosine
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.split_answers import gold_counts


def test_kept_candidates_are_those_of_the_ranking(shards, tmp_path):
    opened = Shards.open(shards)
    split = opened.split("test")
    ranking = Cosine().rank(opened, split, 5)
    kept = kept_candidates(opened, split, ranking, 3)
    table = np.asarray(opened.triplets)
    for i, ids in enumerate(split.candidates):
        best = zip(
            ranking.heads[i, :3], ranking.relations[i, :3], ranking.tails[i, :3],
            strict=True,
        )  # fmt: skip
        best = {tuple(map(int, one)) for one in best} - {(-1, -1, -1)}
        expected = [at >= 0 and tuple(map(int, table[at])) in best for at in ids]
        assert kept[i].tolist() == expected
    # another system's file: its names of the graph's triplets, and one that is unknown
    names, relations = opened.entities, opened.relations
    head, relation, tail = table[split.candidates[0, 4]]
    triplets = [
        ["Atlantis", "lies in", "the sea"],
        [names[head].upper(), relations[relation], names[tail]],
        [names[tail], relations[relation], names[head]],
    ]
    path = tmp_path / "theirs.jsonl"
    line = {"id": split.questions[0].id, "triplets": triplets}
    path.write_text(json.dumps(line) + "\n")
    kept = kept_candidates(opened, split, External(path).rank(opened, split, 9), 9)
    assert np.argwhere(kept).tolist() == [[0, 4]]


def test_dev_is_read_on_scales_of_its_other_half(shards, run):
    opened = Shards.open(shards)
    split = opened.split("dev")
    reader = GraphReader(load_policy(run), opened, split)
    found = reader._all_candidates()
    counts = gold_counts(split, np.arange(len(split)))
    for half, scale in enumerate(reader.scales):
        other = slice(1 - half, None, 2)
        assert scale == fit_answer_scale(
            found.logits[other],
            found.margins[other],
            found.is_answer[other],
            counts[other],
            split="dev",
            doubts=found.doubts[other],
            of_set=found.of_set[other],
        )
    assert reader.scales == cross_fitted_scales(found, split)
    assert reader.context["probabilities"].startswith("each half of the questions on")
    assert reader.context["probabilities"].endswith("12 questions of dev")


def test_a_policy_without_an_answer_head_is_refused(shards):
    opened = Shards.open(shards)
    config = MlpConfig(dimension=DIMENSION, width=4)
    policy = Policy(config, init_weights(jax.random.key(0), config))
    trained = trained_policy(policy, ENCODER)
    with pytest.raises(UserError, match="the mlp network has no answer head"):
        GraphReader(trained, opened, opened.split("test"), AnswerScale())


def test_an_exports_calibration_is_taken(run, tmp_path):
    scale = AnswerScale(slope=2.0, threshold=0.3, questions=9, split="dev")
    policy = random_policy(small_config("walk", DIMENSION))
    trained = trained_policy(policy, ENCODER, settings=SETTINGS)
    export_policy(trained, tmp_path / "with", answer_scale=scale, stablehlo=False)
    assert export_scale(tmp_path / "with") == scale
    assert export_scale(run) is None
