"""Exports that are damaged, foreign or newer are refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.conftest import trained
from safetensors.numpy import load_file, save_file

from kgscout_jax.errors import UserError
from kgscout_jax.export import load_exported
from kgscout_jax.export.format import CHECKED
from kgscout_jax.utils.manifest import file_entry


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Apply ``change`` to the JSON in config.json."""
    file = path / "config.json"
    about = json.loads(file.read_text())
    change(about)
    file.write_text(json.dumps(about))


def update_checksums(path: Path) -> None:
    """Write down the files' present sizes and checksums, as a forger would."""
    sums = {name: file_entry(path / name) for name in CHECKED}
    edit(path, lambda about: about.update(files=sums))


def change_weights(path: Path, change: Callable[[dict[str, np.ndarray]], Any]) -> None:
    leaves = load_file(path / "model.safetensors")
    change(leaves)
    save_file(leaves, path / "model.safetensors")
    update_checksums(path)


def change_golden(path: Path, **arrays: np.ndarray) -> None:
    with np.load(path / "golden.npz") as before:
        np.savez(path / "golden.npz", **{**before, **arrays})
    update_checksums(path)


def replace(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    update_checksums(file.parent)


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
        lambda p: (p / "config.json").write_text(json.dumps(trained().metadata)),
        r"config\.json: not the .*; this is a run, see kgscout export",
    ),
    "newer": (
        lambda p: edit(p, lambda a: a.update(version=3)),
        r"config\.json: format version is 3, expected 1 or 2; written by a newer",
    ),
    "half a config": (
        lambda p: edit(p, lambda a: a.pop("encoder")),
        r"config\.json: Object missing required field `encoder`",
    ),
    "no object": (
        lambda p: edit(p, lambda a: a.update(policy=[1])),
        r"config\.json: policy: expected `object`, found `array`",
    ),
    "check switched off": (
        lambda p: edit(p, lambda a: a.update(tolerance=1e9)),
        r"config\.json: tolerance: expected `float` <= 1",
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
        r"config\.json: encoder\.name: expected `str`, found `int`",
    ),
    "preparation field missing": (
        lambda p: edit(p, lambda a: a["preparation"].pop("hops")),
        r"config\.json: preparation: Object missing required field `hops`",
    ),
    "preparation out of range": (
        lambda p: edit(p, lambda a: a["preparation"].update(direction="up")),
        r"config\.json: preparation\.direction: Invalid enum value 'up\'",
    ),
    "preparation field of a later version": (
        lambda p: edit(p, lambda a: a["preparation"].update(depth=1)),
        r"config\.json: preparation\.depth: unknown field",
    ),
    "encoder field of a later version": (
        lambda p: edit(p, lambda a: a["encoder"].update(pooling="max")),
        r"config\.json: encoder\.pooling: unknown field",
    ),
    "architecture of a later version": (
        lambda p: edit(p, lambda a: a["policy"].update(kind="forest")),
        r"config\.json: policy\.kind: 'forest', expected one of thesis, walk, mlp",
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
        r"policy\.stablehlo: damaged: checksum differs",
    ),
    "no safetensors": (
        lambda p: (
            (p / "model.safetensors").write_bytes(b"\x80\x04K\x01."),
            update_checksums(p),
        ),
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
        lambda p: (
            (p / "golden.npz").write_bytes(b"PK\x03\x04 no"),
            update_checksums(p),
        ),
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
    update_checksums(copy)
    exported = load_exported(copy)  # safetensors is the export
    with pytest.raises(UserError, match=r"policy\.stablehlo: JAX .* cannot run it"):
        _ = exported.stablehlo
