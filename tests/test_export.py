"""Exports: the same logits in every form, whole or absent, and refused when damaged."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from safetensors.numpy import load_file, save_file
from written_shards import ENCODER, write_shards

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.export.hub import is_hub_name
from kgscout_jax.export.load import CHECKED, FILES, named_leaves
from kgscout_jax.export.write import (
    export_policy,
    from_pretrained,
    load_exported,
    load_trained,
    push,
)
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.trained_policy import TrainedPolicy, load_policy
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.module import Policy
from kgscout_jax.policy.registry import weight_shapes
from kgscout_jax.utils.io import sha256_file

ROOT = Path(__file__).resolve().parents[1]
D = 16
CONFIG = DualTowerConfig(
    dimension=D,
    heads=2,
    tower_hidden=(8, 4),
    gate_hidden=8,
    combiner_hidden=4,
    ppr_mean=(-8.0, -9.0),
    ppr_std=(2.0, 3.0),
)
SETTINGS = {"hops": 2, "max_triplets": 2000, "candidates": 50, "direction": "both"}
OLDER = {"cut": "ppr", "select": "cosine", "ppr_threshold": None, "hub_degree": None}
"""What was done before there was a choice."""


@pytest.fixture(scope="module", autouse=True)
def compilation_cache(tmp_path_factory):
    """What one export compiles, the next one finds."""
    settings: dict[str, Any] = {
        "jax_compilation_cache_dir": str(tmp_path_factory.mktemp("cache")),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    with pytest.MonkeyPatch.context() as environment:
        for name, value in settings.items():
            jax.config.update(name, value)
            environment.setenv(name.upper(), str(value))  # for commands and processes
        yield
    for name, value in before.items():
        jax.config.update(name, value)


def make_policy(config: DualTowerConfig = CONFIG, seed: int = 0) -> Policy:
    """A policy in which no parameter is 0 or what it was at the start."""
    policy = nnx.eval_shape(lambda: Policy.initial(config, 0))
    graphdef, state = nnx.split(policy)
    g = np.random.default_rng(seed)

    def draw(leaf):
        size = 3 * leaf.shape[0] ** -0.5 if len(leaf.shape) == 2 else 0.3
        return jnp.asarray(size * g.normal(size=leaf.shape), jnp.float32)

    return nnx.merge(graphdef, jax.tree.map(draw, state))


def make_trained(**shards: Any) -> TrainedPolicy:
    """As ``load_policy`` gives it; ``shards``: more of what the run says of them."""
    config = TrainConfig(shards=Path("/nowhere/shards"), run=Path("/nowhere/run"), k=12)
    about = {
        "config": config.to_dict(),
        "policy": CONFIG.to_dict(),
        "encoder": ENCODER,
        "shards": {"source": "tiny", "fingerprint": "tiny", **shards},
    }
    return TrainedPolicy(make_policy(), 7, about)


TRAINED = make_trained(settings={**SETTINGS, "seed": 0, "limit": None})


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """An export; tests that change it take a copy."""
    return export_policy(TRAINED, tmp_path_factory.mktemp("export") / "policy")


@pytest.fixture
def copy(folder, tmp_path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def python(code: str, *arguments: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def unit(g: np.random.Generator, *shape: int) -> np.ndarray:
    x = g.normal(size=(*shape, D))
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)


def arguments(seed: int = 0) -> tuple[np.ndarray, ...]:
    """What the exported call takes, in the shapes of the golden inputs."""
    g = np.random.default_rng(seed)
    mask = np.arange(7) < np.array([6, 0, 7])[:, None]
    ppr = (g.random((3, 7, 2)) ** 4).astype(np.float32)
    return unit(g, 3), unit(g, 3, 7), unit(g, 3, 7), ppr, mask


@jax.jit
def by_network(state, inputs):
    return nnx.merge(nnx.split(TRAINED.policy)[0], state)(inputs)


def network_logits(policy: Policy, inputs: PolicyInputs) -> np.ndarray:
    return np.asarray(by_network(nnx.state(policy), inputs))


# --- the same logits in every form


def test_an_export_holds_five_files_and_no_path_of_its_machine(folder):
    assert sorted(os.listdir(folder)) == sorted(FILES)
    assert b"nowhere" not in b"".join(f.read_bytes() for f in folder.iterdir())
    modes = {(folder / name).stat().st_mode & 0o777 for name in FILES}
    assert len(modes) == 1  # as the umask has it


def test_what_was_exported_is_what_is_loaded(folder):
    exported = load_exported(folder)
    assert exported.config.to_dict() == CONFIG.to_dict()
    assert exported.encoder.to_dict() == ENCODER
    assert vars(exported.preparation) == {**SETTINGS, **OLDER}
    assert exported.k == 12
    assert exported.about["training"]["step"] == 7
    before = named_leaves(nnx.to_pure_dict(nnx.state(TRAINED.policy)))
    after = named_leaves(nnx.to_pure_dict(nnx.state(exported.policy)))
    assert before.keys() == after.keys() == load_file(folder / CHECKED[0]).keys()
    for name in before:
        assert np.array_equal(before[name], after[name]), name


def test_logits_are_those_of_the_trained_network(folder):
    exported = load_exported(folder)
    question, triplets, relations, ppr, mask = map(jnp.asarray, arguments())
    index = jnp.asarray(np.random.default_rng(1).integers(0, 5, (3, 7)), jnp.int32)
    for inputs in (
        PolicyInputs.from_full(question, triplets, relations, ppr, mask),
        PolicyInputs(question, triplets, relations[:, :5], index, ppr, mask),
    ):
        expected = network_logits(TRAINED.policy, inputs)
        assert np.std(expected[np.isfinite(expected)]) > 0.1  # no constant
        assert np.array_equal(np.asarray(exported.logits(inputs)), expected)
        assert np.array_equal(network_logits(exported.policy, inputs), expected)


def test_stablehlo_takes_any_number_of_questions_and_candidates(folder):
    exported = load_exported(folder)
    golden = exported.golden
    # The second question without its padding; all three with two more to the right.
    narrow = [golden.question[1:2], *(x[1:2, :4] for x in golden.arguments[1:])]
    wide = [golden.question]
    for x in golden.arguments[1:]:
        wide.append(np.pad(x, [(0, 0), (0, 2), *[(0, 0)] * (x.ndim - 2)]))
    for inputs, expected in (
        (golden.arguments, golden.logits),
        (narrow, golden.logits[1:2, :4]),
        (wide, np.pad(golden.logits, [(0, 0), (0, 2)], constant_values=-np.inf)),
    ):
        found = np.asarray(exported.stablehlo(*inputs))
        assert found.shape == expected.shape and found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-5)
    call = jax.export.deserialize(bytearray((folder / CHECKED[1]).read_bytes()))
    assert call.platforms == ("cpu", "cuda", "tpu")


def test_golden_inputs_have_padding_and_an_empty_question(folder):
    golden = load_exported(folder).golden
    assert golden.mask.sum(axis=1).tolist() == [7, 4, 0]
    inputs = golden.inputs
    expected = network_logits(TRAINED.policy, inputs)
    np.testing.assert_allclose(golden.logits, expected, atol=1e-5)


@pytest.mark.parametrize("hidden", [(8, 4), (3,), (4, 4, 4)])
def test_weight_shapes_are_those_of_the_network(hidden):
    config = DualTowerConfig(dimension=8, heads=4, tower_hidden=hidden, gate_hidden=5)
    policy = nnx.eval_shape(lambda: Policy.initial(config, 0))
    network = named_leaves(nnx.to_pure_dict(nnx.state(policy)))
    shapes = named_leaves(weight_shapes(config))
    assert {k: v.shape for k, v in shapes.items()} == {
        k: v.shape for k, v in network.items()
    }


BARE = """
import sys
blocked = ["optax", "orbax", "orbax.checkpoint", "flax", "torch", "kgscout_jax.learn"]
sys.modules |= dict.fromkeys(blocked)  # importing one of them raises
import numpy as np
from kgscout_jax.export.write import load_exported
exported = load_exported(sys.argv[1])
golden = exported.golden
for logits in (exported.logits(golden.inputs), exported.stablehlo(*golden.arguments)):
    np.testing.assert_allclose(logits, golden.logits, atol=1e-5)
for name in ("flax", "optax"):  # flax itself imports optax
    del sys.modules[name]
exported.policy
assert not any(sys.modules[name] for name in blocked if name not in ("flax", "optax"))
assert not [m for m in sys.modules if m.startswith("kgscout_jax.learn.")]
print("loaded")
"""


def test_loading_needs_neither_optax_nor_orbax_nor_the_training_code(folder):
    assert python(BARE, str(folder), JAX_PLATFORMS="cpu") == "loaded\n"


# --- damaged, foreign, newer


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Apply ``change`` to the JSON in config.json."""
    file = path / "config.json"
    about = json.loads(file.read_text())
    change(about)
    file.write_text(json.dumps(about))


def seal(path: Path) -> None:
    """Write down the files' present sizes and checksums, as a forger would."""
    sums = {
        name: {
            "bytes": (path / name).stat().st_size,
            "sha256": sha256_file(path / name),
        }
        for name in CHECKED
    }
    edit(path, lambda about: about.update(files=sums))


def change_weights(path: Path, change: Callable[[dict[str, np.ndarray]], Any]) -> None:
    leaves = load_file(path / "model.safetensors")
    change(leaves)
    save_file(leaves, path / "model.safetensors")
    seal(path)


def change_golden(path: Path, **arrays: np.ndarray) -> None:
    with np.load(path / "golden.npz") as before:
        np.savez(path / "golden.npz", **{**before, **arrays})
    seal(path)


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


KERNEL = "gate.output.kernel"
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no config": (
        lambda p: (p / "config.json").unlink(),
        r"copy: no config\.json, this is not an exported policy",
    ),
    "truncated config": (
        lambda p: truncate(p / "config.json"),
        r"config\.json: not valid JSON",
    ),
    "a list": (
        lambda p: (p / "config.json").write_text("[{}]"),
        r"config\.json: not the configuration of a kgscout-policy",
    ),
    "a run": (
        lambda p: (p / "config.json").write_text(json.dumps(TRAINED.about)),
        r"config\.json: not the .*; this is a run, see kgscout export",
    ),
    "newer": (
        lambda p: edit(p, lambda a: a.update(version=2)),
        r"config\.json: format version is 2, expected 1; written by a newer",
    ),
    "half a config": (
        lambda p: edit(p, lambda a: a.pop("encoder")),
        r"config\.json: damaged, no encoder",
    ),
    "no object": (
        lambda p: edit(p, lambda a: a.update(policy=[1])),
        r"config\.json: policy is \[1\], expected an object",
    ),
    "check switched off": (
        lambda p: edit(p, lambda a: a.update(tolerance=1e9)),
        r"config\.json: tolerance is 1000000000\.0, expected above 0, up to 1",
    ),
    "unknown policy field": (
        lambda p: edit(p, lambda a: a["policy"].update(layers=3)),
        r"config\.json: policy\.layers: unknown field",
    ),
    "policy field of another type": (
        lambda p: edit(p, lambda a: a["policy"].update(ppr_mean="ab")),
        r"config\.json: policy: could not convert",
    ),
    "encoder field of another type": (
        lambda p: edit(p, lambda a: a["encoder"].update(name=3)),
        r"config\.json: encoder\.name: 3, expected a string",
    ),
    "preparation field missing": (
        lambda p: edit(p, lambda a: a["preparation"].pop("hops")),
        r"config\.json: preparation\.hops: missing",
    ),
    "preparation out of range": (
        lambda p: edit(p, lambda a: a["preparation"].update(direction="up")),
        r"config\.json: preparation\.direction: 'up', expected one of directed, both",
    ),
    "another encoder": (
        lambda p: edit(p, lambda a: a["encoder"].update(dimension=384)),
        r"config\.json: encoder\.dimension is 384, expected 16",
    ),
    "no checksum": (
        lambda p: edit(p, lambda a: a["files"].pop("golden.npz")),
        r"config\.json: damaged, no size and checksum of golden\.npz",
    ),
    "no model": (
        lambda p: (p / "model.safetensors").unlink(),
        r"model\.safetensors: missing",
    ),
    "no stablehlo": (
        lambda p: (p / "policy.stablehlo").unlink(),
        r"policy\.stablehlo: missing",
    ),
    "truncated model": (
        lambda p: truncate(p / "model.safetensors"),
        r"model\.safetensors: \d+ bytes, expected \d+: truncated",
    ),
    "a changed byte": (
        lambda p: flip(p / "policy.stablehlo"),
        r"policy\.stablehlo: checksum differs",
    ),
    "no safetensors": (
        lambda p: ((p / "model.safetensors").write_bytes(b"\x80\x04K\x01."), seal(p)),
        r"model\.safetensors: not a whole safetensors file",
    ),
    "shape": (
        lambda p: change_weights(p, lambda w: w.update({KERNEL: w[KERNEL][:3]})),
        r"gate\.output\.kernel is F32 \(3, 1\), expected F32 \(8, 1\)",
    ),
    "dtype": (
        lambda p: change_weights(
            p, lambda w: w.update({KERNEL: w[KERNEL].astype(np.float16)})
        ),
        r"gate\.output\.kernel is F16 \(8, 1\), expected F32",
    ),
    "sizes": (
        lambda p: edit(p, lambda a: a["policy"].update(gate_hidden=9)),
        r"model\.safetensors: gate\.hidden\.0\.bias is F32 \(8,\), expected F32 \(9,\)",
    ),
    "a parameter missing": (
        lambda p: change_weights(p, lambda w: w.pop(KERNEL)),
        r"gate\.output\.kernel is missing of this policy",
    ),
    "a parameter too many": (
        lambda p: change_weights(p, lambda w: w.update(extra=w[KERNEL])),
        r"extra is not a parameter of this policy",
    ),
    "pickled golden": (
        lambda p: change_golden(p, mask=np.array([[{}]], dtype=object)),
        r"golden\.npz: not a whole \.npz file \(Object arrays",
    ),
    "no npz": (
        lambda p: ((p / "golden.npz").write_bytes(b"PK\x03\x04 no"), seal(p)),
        r"golden\.npz: not a whole \.npz file",
    ),
    "golden of other sizes": (
        lambda p: change_golden(p, question=np.zeros((3, 5), np.float32)),
        r"golden\.npz: question is float32 \(3, 5\), expected float32 \(3, 16\)",
    ),
    "other weights": (
        lambda p: change_weights(p, lambda w: w.update({KERNEL: w[KERNEL] + 1})),
        r"model\.safetensors: its logits differ by .* those in golden\.npz, expected",
    ),
    "nan": (
        lambda p: change_weights(p, lambda w: w.update({KERNEL: w[KERNEL] * np.nan})),
        r"model\.safetensors: its logits differ by nan",
    ),
    "another number of heads": (
        lambda p: edit(p, lambda a: a["policy"].update(heads=4)),
        r"model\.safetensors: its logits differ by",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_damaged_is_refused_in_one_line(copy, name):
    damage, message = DAMAGES[name]
    damage(copy)
    with pytest.raises(UserError, match=message) as caught:
        load_exported(copy)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(copy))


def test_no_folder(tmp_path):
    with pytest.raises(UserError, match="absent: no such folder"):
        load_exported(tmp_path / "absent")


def test_a_foreign_stablehlo_is_refused_when_it_is_used(copy):
    (copy / "policy.stablehlo").write_bytes(b"something else, of no use to JAX" * 9)
    seal(copy)
    exported = load_exported(copy)  # safetensors is the export
    with pytest.raises(UserError, match=r"policy\.stablehlo: JAX .* cannot run it"):
        _ = exported.stablehlo


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
        export_policy(TRAINED, copy)
    export_policy(load_trained(copy), copy, overwrite=True)
    assert sorted(os.listdir(copy)) == sorted(FILES)
    for name in ("model.safetensors", "golden.npz", "README.md"):
        assert (copy / name).read_bytes() == (folder / name).read_bytes()
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter").touch()
    with pytest.raises(UserError, match="is there and not an exported policy"):
        export_policy(TRAINED, other, overwrite=True)
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
    assert vars(exported.preparation) == {**SETTINGS, **OLDER, "hops": None}
    data = exported.about["training"]["data"]
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
    path = export_policy(TRAINED, tmp_path / "policy", metrics=file)
    card = (path / "README.md").read_text()
    assert "Measured on the test split of y" in card
    assert re.search(r"\| kgscout +\| 0\.625 \[0\.500, 0\.750\] \|", card)
    assert "&lt;b&gt;answer\\_hit&lt;/b&gt; n = 8." in card
    assert "<b>" not in card


def test_figures_of_another_step_are_refused(tmp_path):
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps(metrics(step=8)))
    with pytest.raises(UserError, match=r"metrics\.json: step is 8, expected 7"):
        export_policy(TRAINED, tmp_path / "policy", metrics=file)
    file.write_text("{}")
    with pytest.raises(UserError, match=r"not the metrics\.json of"):
        export_policy(TRAINED, tmp_path / "policy", metrics=file)
    assert list(tmp_path.iterdir()) == [file]


def test_the_code_in_the_card_runs(folder, monkeypatch):
    card = (folder / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(folder)
    for block in blocks:
        names: dict[str, Any] = {}
        exec(block, names)
        np.testing.assert_allclose(
            names["logits"], np.load("golden.npz")["logits"], atol=1e-5
        )


# --- passing it on


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
    flip(copy / "model.safetensors")
    with pytest.raises(UserError, match="checksum differs"):
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
from kgscout_jax.export.write import from_pretrained, push
for work in (
    lambda: from_pretrained("owner/name"),
    lambda: push(sys.argv[1], "owner/name", verify=False),
):
    try:
        work()
    except UserError as error:
        print(error)
"""


def test_without_a_network_the_hub_is_one_line(folder, tmp_path):
    said = python(OFFLINE, str(folder), HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    pulled, pushed = said.splitlines()
    assert pulled.startswith(
        "owner/name: not a folder here, and the hub did not give it ("
    )
    assert pushed.startswith("owner/name: the hub did not take it (")


# --- the command


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run's folder with a checkpoint, as training leaves it."""
    path = tmp_path_factory.mktemp("runs") / "first"
    folder = RunFolder(path)
    folder.write_config(TRAINED.about)
    pure = nnx.to_pure_dict(nnx.state(TRAINED.policy, nnx.Param))
    folder.save(7, {"params": pure}, 0.5)
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
        assert by_run.about["shards"][key] == by_export.about["shards"][key]
    assert by_run.about["encoder"] == by_export.about["encoder"]
    assert np.array_equal(
        network_logits(by_run.policy, inputs), network_logits(by_export.policy, inputs)
    )
    assert np.array_equal(
        network_logits(load_policy(run).policy, inputs),
        network_logits(by_run.policy, inputs),
    )
    with pytest.raises(UserError, match="holds step 7 only, not 3"):
        load_trained(folder, step=3)
