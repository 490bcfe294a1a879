"""Folds of shards: every question is tested once, with what was prepared for it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from written_shards import planted, write_shards

from kgscout_jax.data.shards import Shards

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "recipes"))
import folds


def arrays_of(shards: Shards, split_name: str) -> dict[str, dict]:
    """What each question of a split has, by its id."""
    split = shards.split(split_name)
    out = {}
    for i, question in enumerate(split.questions):
        edges = {f"edges {way}": rows[i] for way, rows in split.path_edges.items()}
        paths = {f"path {way}": rows[i] for way, rows in split.path_triplets.items()}
        real = int(split.n_real[i])
        out[question.id] = {
            "embedding": split.question_embeddings[i],
            "candidates": split.candidates[i][:real],
            "nodes": split.nodes[i][:real],
            "ppr": split.node_ppr[i],
            "topics": split.topics[i][split.topics[i] >= 0],
            "answers": split.answers[i][split.answers[i] >= 0],
            **edges,
            **paths,
        }
    return out


def test_folds_partition_the_questions_and_keep_what_was_prepared(tmp_path):
    cases = {
        "train": [planted(i) for i in range(23)],
        "dev": [planted(i, triplets=30) for i in range(23, 40)],
    }
    whole = write_shards(tmp_path / "shards", cases)
    prepared = arrays_of(whole, "train") | arrays_of(whole, "dev")
    folds.write_folds(whole, tmp_path / "folds", 4, seed=1)
    tested = []
    for fold in range(4):
        shards = Shards.open(tmp_path / "folds" / str(fold), verify=True)
        parts = {name: arrays_of(shards, name) for name in ("train", "dev", "test")}
        ids = [name for part in parts.values() for name in part]
        assert sorted(ids) == sorted(prepared)
        tested += parts["test"]
        for part in parts.values():
            for name, arrays in part.items():
                for key, value in arrays.items():
                    np.testing.assert_array_equal(value, prepared[name][key], key)
    assert sorted(tested) == sorted(prepared)
