"""``train --perturb``: shards with mistakes below the run, and a run on them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from prep_factory import NEEDS_ENCODER
from scout_factory import shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.cli.perturbed_shards import parse_perturbation
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError

pytestmark = NEEDS_ENCODER


@pytest.mark.slow
def test_a_run_on_shards_with_mistakes(tmp_path, kgscout_cache, capsys):
    before = shared_world("walk").shards
    run = tmp_path / "run"
    words = ["train", "--shards", str(before.path), "--run", str(run), "--epochs", "1"]
    words += ["--policy", "mlp", "--k", "4", "--perturb", "rs:0.5"]
    assert main(words) == 0
    config = json.loads((run / "config.json").read_text())["config"]
    folder = run / "perturbed" / f"{before.path.name}-rs-0.5"
    assert (config["shards"], config["perturb"]) == (str(folder), None)
    after = Shards.open(folder, verify=True)
    assert after.splits == ["train", "dev"]
    assert after.manifest["perturbation"] == {
        "method": "rs", "level": 0.5, "seed": config["seed"]
    }  # fmt: skip
    wrong = (np.asarray(after.triplets) != before.triplets).any(axis=1)
    assert 0.3 < wrong.mean() <= 0.5
    np.testing.assert_array_equal(
        after.triplet_embeddings[~wrong[: len(after.triplet_embeddings)]],
        before.triplet_embeddings[~wrong[: len(after.triplet_embeddings)]],
    )
    for name in after.splits:
        old, new = before.split(name), after.split(name)
        assert [q.answers for q in new.questions] == [q.answers for q in old.questions]
        for i in range(len(new)):
            ids = new.candidates[i][new.candidates[i] >= 0]
            assert set(ids) == set(old.candidates[i]) - {-1}
            vectors = np.asarray(new.question_embeddings[i], np.float32)
            cosines = after.triplet_vectors(ids) @ vectors
            assert (np.diff(cosines) < 1e-6).all()
            for way, paths in new.path_triplets.items():
                gold = np.asarray(old.path_triplets[way][i])
                np.testing.assert_array_equal(paths[i], gold[~wrong[gold]])
    written = (folder / "manifest.json").stat().st_mtime_ns
    assert main(words) == 0  # resumes: nothing is left to do, nothing is written again
    assert (folder / "manifest.json").stat().st_mtime_ns == written
    assert "finished, nothing left" in capsys.readouterr().err
    assert main([*words[:-1], "xx:0.5"]) == 2
    assert "--perturb: found 'xx:0.5', expected METHOD:" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["er", "er:", "er:2", "er:-1", "er:nan", ":0.5"])
def test_a_perturbation_is_a_method_and_a_share(text):
    assert parse_perturbation("er:0.3") == ("er", 0.3)
    with pytest.raises(UserError, match="expected METHOD:LEVEL"):
        parse_perturbation(text)
