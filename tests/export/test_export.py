"""Exports: the same logits in every form, whole or absent."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from export.conftest import trained
from policy_factory import SETTINGS, random_policy, small_config, trained_policy
from safetensors.numpy import load_file
from written_shards import ENCODER, write_shards

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.export import export_policy, from_pretrained, load_exported, push
from kgscout_jax.export.export_run import calibration_shards
from kgscout_jax.export.format import FILES, MODEL, STABLEHLO, named_leaves
from kgscout_jax.export.golden import argument_names
from kgscout_jax.export.hub import is_hub_name
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.export.settings import ExportSettings
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.shard_sets import (
    common_settings,
    is_trained_on,
    set_folders,
    with_found_shards,
)
from kgscout_jax.learn.trained_policy import TrainedPolicy, load_policy
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import policy_logits

ROOT = Path(__file__).resolve().parents[2]
OLDER = {"cut": "ppr", "select": "cosine", "ppr_threshold": None, "hub_degree": None}
"""What was done before there was a choice."""

every_architecture = pytest.mark.parametrize("architecture", ["thesis", "walk", "mlp"])


def make_trained(**shards: Any) -> TrainedPolicy:
    """The thesis's policy; ``shards``: what the run says of its shards."""
    policy = random_policy(small_config("thesis", 16), gain=3.0)
    return trained_policy(policy, ENCODER, **shards)


def python(code: str, *arguments: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def network_logits(policy: Policy, inputs: PolicyInputs) -> np.ndarray:
    call = jax.jit(lambda weights, x: policy_logits(weights, policy.config, x))
    return np.asarray(call(policy.weights, inputs))


# --- the same logits in every form


def test_an_export_holds_five_files_and_no_path_of_its_machine(folder):
    assert sorted(os.listdir(folder)) == sorted(FILES)
    assert b"nowhere" not in b"".join(f.read_bytes() for f in folder.iterdir())
    modes = {(folder / name).stat().st_mode & 0o777 for name in FILES}
    assert len(modes) == 1  # as the umask has it


@every_architecture
def test_what_was_exported_is_what_is_loaded(exports, architecture):
    folder, original = exports(architecture), trained(architecture)
    exported = load_exported(folder)
    assert exported.config == original.policy.config
    assert exported.encoder.to_dict() == ENCODER
    assert dataclasses.asdict(exported.preparation) == {**SETTINGS, **OLDER}
    assert exported.k == 12
    assert exported.metadata["training"]["step"] == 7
    before, after = named_leaves(original.policy.weights), load_file(folder / MODEL)
    assert before.keys() == after.keys()
    for name, leaf in named_leaves(exported.policy.weights).items():
        assert np.array_equal(before[name], leaf), name


@every_architecture
def test_logits_are_those_of_the_trained_network(exports, architecture):
    policy, exported = (
        trained(architecture).policy,
        load_exported(exports(architecture)),
    )
    full = exported.golden.inputs
    index = np.random.default_rng(1).integers(0, 5, full.mask.shape)
    unique = full._replace(
        relations=full.relations[:, :5], relation_index=jnp.asarray(index, jnp.int32)
    )
    for inputs in (full, unique):
        expected = network_logits(policy, inputs)
        assert np.std(expected[np.isfinite(expected)]) > 0.1  # no constant
        assert np.array_equal(np.asarray(exported.logits(inputs)), expected)
        assert np.array_equal(network_logits(exported.policy, inputs), expected)


@every_architecture
def test_stablehlo_takes_any_number_of_questions_and_candidates(exports, architecture):
    folder = exports(architecture)
    exported = load_exported(folder)
    golden = exported.golden
    names = argument_names(exported.config)
    assert len(golden.arguments) == len(names)
    by_candidate = {"triplets", "relations", "ppr", "mask", "nodes"}
    narrow, wide = [], []
    for name, x in zip(names, golden.arguments, strict=True):
        # The second question without its padding; all three with two more candidates.
        narrow.append(x[1:2, :4] if name in by_candidate else x[1:2])
        more = [(0, 0), (0, 2 * (name != "question")), *[(0, 0)] * (x.ndim - 2)]
        filler = NO_WORD if name == "word_places" else 0
        wide.append(np.pad(x, more[: x.ndim], constant_values=filler))
    for inputs, expected in (
        (golden.arguments, golden.logits),
        (narrow, golden.logits[1:2, :4]),
        (wide, np.pad(golden.logits, [(0, 0), (0, 2)], constant_values=-np.inf)),
    ):
        out = exported.stablehlo(*inputs)
        logits = np.asarray(out[0] if exported.has_answers else out)
        assert logits.shape == expected.shape and logits.dtype == np.float32
        np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-5)
    call = jax.export.deserialize(bytearray((folder / STABLEHLO).read_bytes()))
    assert call.platforms == ("cpu", "cuda", "tpu")


@every_architecture
def test_golden_inputs_have_padding_and_an_empty_question(exports, architecture):
    golden = load_exported(exports(architecture)).golden
    assert golden.mask.sum(axis=1).tolist() == [7, 4, 0]
    assert golden.topics is None or golden.topics.any(axis=1).all()
    expected = network_logits(trained(architecture).policy, golden.inputs)
    np.testing.assert_allclose(golden.logits, expected, rtol=1e-4, atol=1e-5)


BARE = """
import sys
blocked = ["optax", "orbax", "orbax.checkpoint", "flax", "torch", "kgscout_jax.learn"]
sys.modules |= dict.fromkeys(blocked)  # importing one of them raises
import numpy as np
from kgscout_jax.export import load_exported
exported = load_exported(sys.argv[1])
golden = exported.golden
called = exported.stablehlo(*golden.arguments)
called = called if exported.has_answers else (called, None)
for logits, answers in (exported.outputs(golden.inputs)[:2], called):
    np.testing.assert_allclose(logits, golden.logits, atol=1e-5)
    if answers is not None:
        np.testing.assert_allclose(answers, golden.answers, atol=1e-5)
for name in ("flax", "optax"):  # flax itself imports optax
    del sys.modules[name]
exported.policy
assert not any(sys.modules[name] for name in blocked if name not in ("flax", "optax"))
assert not [m for m in sys.modules if m.startswith("kgscout_jax.learn.")]
print("loaded")
"""


@pytest.mark.extended
def test_loading_needs_neither_optax_nor_orbax_nor_the_training_code(folder):
    assert python(BARE, str(folder), JAX_PLATFORMS="cpu") == "loaded\n"


# --- whole or absent


def broken() -> TrainedPolicy:
    """Finite parameters and infinite logits: found out in the middle of an export."""
    trained = make_trained(settings=SETTINGS)
    trained.policy.log_temperature[...] = jnp.float32(-1000.0)
    return trained


def test_a_failed_export_leaves_nothing(tmp_path):
    with pytest.raises(UserError, match="logits are not finite"):
        export_policy(broken(), tmp_path / "policy")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_leaves_what_was_there(copy):
    before = {f.name: f.read_bytes() for f in copy.iterdir()}
    with pytest.raises(UserError, match="logits are not finite"):
        export_policy(broken(), copy, overwrite=True)
    assert {f.name: f.read_bytes() for f in copy.iterdir()} == before
    assert list(copy.parent.iterdir()) == [copy]


def test_only_an_export_is_replaced_and_only_when_asked(copy, folder, tmp_path):
    (copy / "old").touch()
    with pytest.raises(UserError, match="holds an exported policy; give --overwrite"):
        export_policy(trained(), copy)
    export_policy(load_trained(copy), copy, overwrite=True)
    assert sorted(os.listdir(copy)) == sorted(FILES)
    for name in ("model.safetensors", "golden.npz", "README.md"):
        assert (copy / name).read_bytes() == (folder / name).read_bytes()
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter").touch()
    with pytest.raises(UserError, match="is there and not an exported policy"):
        export_policy(trained(), other, overwrite=True)
    assert sorted(tmp_path.iterdir()) == [copy, other]


def test_a_diverged_policy_is_refused(tmp_path):
    trained = make_trained(settings=SETTINGS)
    trained.policy.gate.output.bias[...] = jnp.full(1, jnp.nan)
    with pytest.raises(UserError, match=r"parameter gate\.output\.bias: not finite"):
        export_policy(trained, tmp_path / "policy")


# --- what the run and its shards say


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Path:
    """Shards that tell how they were prepared."""
    path = tmp_path_factory.mktemp("tiny") / "shards"
    write_shards(path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["settings"] = {**SETTINGS, "hops": None}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def test_the_preparation_comes_from_the_shards(shards, tmp_path):
    path = export_policy(make_trained(), tmp_path / "policy", shards=shards)
    exported = load_exported(path)
    assert exported.preparation.hops is None
    data = exported.metadata["training"]["data"]
    assert data["questions"] == {"train": 40, "dev": 12, "test": 14}
    assert "train 40, dev 12, test 14" in (path / "README.md").read_text()


def test_without_the_shards_the_preparation_is_asked_for(tmp_path):
    message = r"/nowhere/shards: no such .*; --shards tells where the run's are"
    with pytest.raises(UserError, match=message):
        export_policy(make_trained(), tmp_path / "policy")


def test_other_shards_are_refused(shards, tmp_path):
    trained = make_trained(fingerprint="another")
    with pytest.raises(UserError, match="fingerprint tiny, expected another"):
        export_policy(trained, tmp_path / "policy", shards=shards)


def metrics(step: int = 7) -> dict[str, Any]:
    """A metrics.json with one retriever whose name is not to be believed."""
    figure = {"value": 0.625, "low": 0.5, "high": 0.75, "n": 8}
    names = ("answer_hit", "answer_recall", "path_hit", "path_triplet_recall")
    return {
        "kgscout": {name: {"10": figure} for name in names},
        "a|b": {name: {"10": figure} for name in names},
        "definitions": {name: f"<b>{name}</b>" for name in names},
        "retrievers": ["kgscout", "a|b"],
        "ks": [10],
        "split": "test",
        "context": {"run": "x", "step": step, "trained_on": "tiny", "measured_on": "y"},
    }


def test_the_card_shows_the_figures(tmp_path):
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps(metrics()))
    path = export_policy(trained(), tmp_path / "policy", metrics=file)
    card = (path / "README.md").read_text()
    assert "Measured on the test split of y" in card
    assert re.search(r"\| kgscout +\| 0\.625 \[0\.500, 0\.750\] \|", card)
    assert "&lt;b&gt;answer\\_hit&lt;/b&gt; n = 8." in card
    assert "<b>" not in card


def test_figures_of_another_step_are_refused(tmp_path):
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps(metrics(step=8)))
    with pytest.raises(UserError, match=r"metrics\.json: step is 8, expected 7"):
        export_policy(trained(), tmp_path / "policy", metrics=file)
    file.write_text("{}")
    with pytest.raises(UserError, match=r"not the metrics\.json of"):
        export_policy(trained(), tmp_path / "policy", metrics=file)
    assert list(tmp_path.iterdir()) == [file]


ANSWERS = {**metrics(), "definitions": {"hit": "Rules rog: ..."}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (ANSWERS, "not the metrics.json of kgscout eval retrieval"),
        ({"kgscout": {}}, "kgscout.answer_hit.10: expected `object`, found `null`"),
        ({"a|b": 1}, "a|b.answer_hit.10: expected `object`, found `null`"),
        ({"retrievers": ["a|b"]}, "retrievers: found a|b, expected kgscout among them"),
        ({"retrievers": "kgscout"}, "retrievers: expected `array`, found `str`"),
        ({"ks": []}, "ks: expected `array` of length >= 1"),
        ({"ks": ["10"]}, "ks[0]: expected `int`, found `str`"),
        ({"split": None}, "split: expected `str`, found `null`"),
    ],
)
def test_wrong_metrics_are_refused_by_field(tmp_path, change, says):
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps({**metrics(), **change}))
    with pytest.raises(UserError) as refused:
        export_policy(trained(), tmp_path / "policy", metrics=file)
    assert str(refused.value) == f"{file}: {says}"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("figure", "says"),
    [
        ([1], "expected `object`, found `array`"),
        ({"value": "x", "low": 0, "high": 1, "n": 1},
         "value: expected `float | null`, found `str`"),
        ({"value": 0.5, "low": None, "high": 1, "n": 1},
         "a value without low and high, expected both"),
    ],
)  # fmt: skip
def test_a_wrong_figure_is_named(tmp_path, figure, says):
    content = metrics()
    content["kgscout"]["path_hit"]["10"] = figure
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps(content))
    with pytest.raises(UserError) as refused:
        export_policy(trained(), tmp_path / "policy", metrics=file)
    place = "kgscout.path_hit.10: "
    assert str(refused.value) == f"{file}: {place}{says}"


@every_architecture
def test_the_code_in_the_card_runs(exports, architecture, monkeypatch):
    folder = exports(architecture)
    card = (folder / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert len(blocks) == 3 and blocks[0].startswith("from kgscout_jax import")
    assert card.index("Scout") < card.index("kgscout ask") < card.index("## Data")
    golden = np.load(folder / "golden.npz")
    assert ("| `topics` | bool[b, v] |" in card) == ("topics" in golden)
    monkeypatch.chdir(folder)
    for block in blocks[1:]:
        names: dict[str, Any] = {}
        exec(block, names)
        logits = np.asarray(names["logits"])
        np.testing.assert_allclose(logits, golden["logits"], rtol=1e-4, atol=1e-5)
        assert ("answers" in names) == ("answers" in golden)
        if "answers" in golden:
            answers = np.asarray(names["answers"])
            expected = golden["answers"]
            np.testing.assert_allclose(answers, expected, rtol=1e-4, atol=1e-5)


# --- copies


def test_push_to_a_folder_and_from_there(folder, tmp_path):
    target = tmp_path / "shared" / "policy"
    assert push(folder, target) == str(target)
    assert sorted(os.listdir(target)) == sorted(FILES)
    assert from_pretrained(str(target)).k == 12
    with pytest.raises(UserError, match="give --overwrite"):
        push(folder, str(target))
    push(folder, str(target), overwrite=True)
    assert os.listdir(target.parent) == ["policy"]


def test_a_damaged_policy_is_not_pushed(copy, tmp_path):
    (copy / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(UserError, match="7 bytes, expected"):
        push(copy, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_names_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner" / "here").mkdir(parents=True)
    for name in ("owner/name", "Some-One/kg_scout.v2"):
        assert is_hub_name(name)
    for name in ("name", "./a/b", "../b", "/a/b", "~/b", "a/b/c", "a/", "owner/here"):
        assert not is_hub_name(name)


OFFLINE = """
import sys
from kgscout_jax.errors import UserError
from kgscout_jax.export import from_pretrained, push
for work in (
    lambda: from_pretrained("owner/name"),
    lambda: push(sys.argv[1], "owner/name", verify=False),
):
    try:
        work()
    except UserError as error:
        print(error)
"""


@pytest.mark.extended
def test_without_a_network_the_hub_is_one_line(folder, tmp_path):
    said = python(OFFLINE, str(folder), HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    pulled, pushed = said.splitlines()
    assert pulled.startswith(
        "owner/name: not a folder here, and the hub did not give it ("
    )
    assert pushed.startswith("owner/name: the hub did not take it (")


def test_several_sets_export_what_they_have_in_common(tmp_path):
    # A run on two sets, of which one is at hand.
    near = write_shards(tmp_path / "near")
    one = trained()
    sets = [
        {"name": "near", "weight": 1.0, "source": "a", "fingerprint": "tiny"},
        {"name": "far", "weight": 3.0, "source": "b", "fingerprint": "far"},
    ]
    settings = [{**SETTINGS, "hops": hops, "candidates": 9 - hops} for hops in (2, 4)]
    records = [
        {**record, "settings": each}
        for record, each in zip(sets, settings, strict=True)
    ]
    together = {
        "source": "a + b",
        "fingerprint": "both",
        "settings": common_settings(settings, [1, 3]),
    }
    config = {**one.metadata["config"], "shards": [str(near.path), "/nowhere/far"]}
    metadata = {
        **one.metadata,
        "config": config,
        "shards": together,
        "shard_sets": records,
    }
    run = dataclasses.replace(one, metadata=metadata)
    out = export_policy(run, tmp_path / "out", shards=near.path)
    exported = load_exported(out)
    assert exported.preparation.hops == 4 and exported.preparation.candidates == 7
    again = load_trained(out).metadata
    assert is_trained_on(again, "far") and not is_trained_on(again, "both")
    card = (out / "README.md").read_text()
    assert "near 25%, far 75%" in card and "Trained on 2 data sets" in card
    alien = write_shards(tmp_path / "alien", fingerprint="alien")
    with pytest.raises(UserError, match="alien, expected tiny or far: not the shards"):
        export_policy(run, tmp_path / "other", shards=alien.path)
    asked = ExportSettings(run=tmp_path / "run", out=tmp_path / "o", calibrate="dev")
    with pytest.raises(UserError, match="trained on 2 folders of shards, exp"):
        calibration_shards(run, asked)


# --- the command


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run's folder with a checkpoint, as training leaves it."""
    path = tmp_path_factory.mktemp("runs") / "first"
    folder = RunFolder(path)
    folder.write_config(trained().metadata)
    folder.save(7, {"params": trained().policy.weights}, 0.5)
    folder.close()
    return path


def test_the_command_exports_a_run(run, folder, tmp_path, capsys):
    out = tmp_path / "policy"
    assert main(["export", str(run), str(out), "--step", "7"]) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    name = "model.safetensors"
    assert (out / name).read_bytes() == (folder / name).read_bytes()
    assert main(["export", str(run), str(out)]) == 2
    assert "give --overwrite" in capsys.readouterr().err
    assert main(["export", str(out), str(tmp_path / "again")]) == 2
    says = f"error: {out}: an exported policy, expected a run\n"
    assert capsys.readouterr().err == says


def test_shards_of_a_relative_path_are_found_from_anywhere(shards, tmp_path):
    home, away = tmp_path / "home", tmp_path / "away"
    away.mkdir()
    shutil.copytree(shards, home / "sets/tiny")
    about = {**trained().metadata, "config": {"shards": "sets/tiny"}}
    moved = {**about, "started_in": "/nowhere"}
    for folder, metadata in (
        (away, {**about, "started_in": str(home)}),
        (home / "runs/first", about),
        (home / "first", moved),
    ):
        (found,) = set_folders(with_found_shards(metadata, folder)["config"])
        assert found == home / "sets/tiny"
    lost = with_found_shards(about, away)
    assert set_folders(lost["config"]) == [Path("sets/tiny")]


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["export", "--help"])
    assert stop.value.code == 0
    assert "Example: kgscout export runs/first policy/" in capsys.readouterr().out


def test_a_run_and_its_export_evaluate_alike(run, folder):
    inputs = load_exported(folder).golden.inputs
    by_run, by_export = load_trained(run), load_trained(folder)
    assert by_run.step == by_export.step == 7
    for key in ("source", "fingerprint"):
        assert by_run.metadata["shards"][key] == by_export.metadata["shards"][key]
    assert by_run.metadata["encoder"] == by_export.metadata["encoder"]
    assert np.array_equal(
        network_logits(by_run.policy, inputs), network_logits(by_export.policy, inputs)
    )
    assert np.array_equal(
        network_logits(load_policy(run).policy, inputs),
        network_logits(by_run.policy, inputs),
    )
    with pytest.raises(UserError, match="holds step 7 only, not 3"):
        load_trained(folder, step=3)
