"""The name of the bundled policy, wherever a run or an export is taken."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from export.conftest import trained
from written_shards import write_shards

from kgscout_jax.cli.main import main, train_main
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.setup import write_or_check_config
from kgscout_jax.export import bundled, from_pretrained, load_exported
from kgscout_jax.export.bundled import NAME, folder_of, identity_of
from kgscout_jax.export.format import MODEL, named_leaves
from kgscout_jax.export.load import load_calibration
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.serve.settings import ServeSettings
from kgscout_jax.serve.startup import check_paths
from recipes.base_bundle import data_rows, known_data
from recipes.base_bundle import main as base_bundle


@pytest.fixture
def base(exports, monkeypatch) -> Path:
    """A small policy in the place of the bundled one."""
    folder = exports("walk")
    monkeypatch.setattr(bundled, "FOLDER", folder)
    return folder


def test_its_name_and_no_name_are_the_same_policy(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for exported in (from_pretrained(), from_pretrained(NAME), load_exported(NAME)):
        assert exported.path == base
    assert load_trained(Path(NAME)).step == 7
    assert load_calibration(Path(NAME)) is None
    check_paths(ServeSettings(kg=((".",),)))
    check_paths(ServeSettings(policy=NAME, kg=((".",),)))
    assert main(["push", NAME, "./copy"]) == 0
    assert load_exported("copy").config == load_exported(base).config


def test_a_folder_of_its_name_is_asked_about(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = shutil.copytree(base, tmp_path / NAME)
    with pytest.raises(UserError, match=f"{NAME}: .*{folder} names the folder"):
        load_trained(Path(NAME))
    assert from_pretrained().path == base
    assert folder_of(folder) == folder and load_exported(folder).path == folder


def test_what_files_record_of_it_is_the_same_from_every_directory(
    base, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert identity_of(NAME) == identity_of(base) == NAME
    assert identity_of("run") == str(tmp_path / "run")
    # what earlier versions recorded, with the directory they ran in
    write_or_check_config(tmp_path, {"run": f"/elsewhere/{NAME}", "step": 7})
    write_or_check_config(tmp_path, {"run": identity_of(NAME), "step": 7})
    with pytest.raises(UserError, match=f"with run '{NAME}', expected '{tmp_path}/r'"):
        write_or_check_config(tmp_path, {"run": identity_of("r"), "step": 7})
    folder = shutil.copytree(base, tmp_path / NAME)
    assert identity_of(folder) == str(folder)


@pytest.mark.slow
def test_training_starts_from_it(base, tmp_path, kgscout_cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shards = write_shards(tmp_path / "shards")
    args = ["--shards", str(shards.path), "--run", str(tmp_path / "run")]
    args += ["--init", NAME, "--epochs", "1", "--batch-size", "8", "--k", "4"]
    args += ["--learning-rate", "1e-9"]  # so that it stays where it began
    assert train_main(args, "train.py") == 0
    tuned, initial = load_policy(tmp_path / "run"), load_trained(base)
    assert tuned.policy.config == initial.policy.config
    before = named_leaves(initial.policy.weights)
    for name, leaf in named_leaves(tuned.policy.weights).items():
        np.testing.assert_allclose(leaf, before[name], atol=1e-6, err_msg=name)


@pytest.mark.extended
def test_the_recipe_writes_the_card_with_licences_and_hash(tmp_path, capsys):
    run = RunFolder(tmp_path / "run")
    run.write_config(trained("walk").metadata)
    run.save(7, {"params": trained("walk").policy.weights}, 0.5)
    run.close()
    (tmp_path / "data.json").write_text('{"tiny": ["forty hubs", "CC0"]}')
    out = tmp_path / "base"

    def bundle(*more: str) -> int:
        return base_bundle([str(run.path), "--out", str(out), *more])

    assert bundle() == 2 and not out.exists()
    assert "set tiny: its licence is not known" in capsys.readouterr().err
    assert bundle("--data", str(tmp_path / "data.json")) == 0
    exported = load_exported(out)
    assert exported.metadata["version"] == 2
    card = (out / "README.md").read_text()
    assert "| tiny | forty hubs | 100% | CC0 |" in card and "<!-- table: " in card
    assert f"sha256: `{exported.metadata['files'][MODEL]['sha256']}`" in card


@pytest.mark.parametrize(
    ("name", "content", "licence"),
    [
        ("webqsp", "^WebQSP", "Freebase, CC BY 2.5"),
        ("cwq.shards", "^ComplexWebQuestions", "Apache-2.0"),
        ("world3", "^built-in questions", "GeoNames, CC BY 4.0"),
        ("sy_pq", "^questions that kgscout synth .* PathQuestion", "Freebase"),
        ("synth-metaqa", "^questions that kgscout synth .* MetaQA", "CC BY 3.0"),
        ("sg_courts", "^questions that kgscout synth .* courts-db", "BSD-2-Clause"),
    ],
)
def test_a_set_is_known_by_its_name(name, content, licence):
    weights = {name: 1.0, "worded-arts": 1.5, "worded-sports": 1.5}
    records = [{"name": each, "weight": weight} for each, weight in weights.items()]
    row, worded = data_rows(records, known_data())
    assert row[0] == name and re.search(content, row[1]) and licence in row[3]
    assert row[2] == "25%"
    assert worded[::2] == ["worded", "75%"] and "in 16 fields" in worded[1]
