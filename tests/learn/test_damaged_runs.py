"""Damage in a training run's folder is one line, whatever libraries say of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from training import tiny
from written_shards import write_shards

from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoint_errors import DamagedCheckpoint
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.train import train
from kgscout_jax.learn.trained_policy import load_policy


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A run of one epoch."""
    folder = tmp_path_factory.mktemp("runs")
    run = folder / "run"
    train(tiny(write_shards(folder / "shards"), run, epochs=1))
    return run


@pytest.mark.extended
def test_reads_that_fail_together_are_one_error(finished, tmp_path, capsys):
    run = shutil.copytree(finished, tmp_path / "run")
    folder = RunFolder(run)
    for file in run.glob("checkpoints/5/state/d/*"):
        os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(DamagedCheckpoint):
        folder.load(5)
    folder.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"policy": 0.5}, "config.json: policy: expected `object`, found `float`"),
        ({"encoder": None}, "config.json: encoder: expected `object`, found `null`"),
        ({"policy": {"kind": [1]}}, "policy.kind: "),
    ],
)
def test_a_damaged_config_is_one_line(finished, tmp_path, change, told):
    run = shutil.copytree(finished, tmp_path / "run")
    file = run / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(UserError, match=re.escape(told)):
        load_policy(run)
