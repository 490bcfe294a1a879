"""Exports with float16 parameters, and exports without ``policy.stablehlo``."""

from __future__ import annotations

import os

import jax.numpy as jnp
import numpy as np
import pytest
from export.conftest import trained
from export.test_damaged_exports import edit
from export.test_export import network_logits
from policy_factory import SETTINGS, random_policy, small_config, trained_policy
from safetensors.numpy import load_file
from written_shards import ENCODER

from kgscout_jax.errors import UserError
from kgscout_jax.export import export_policy, load_exported
from kgscout_jax.export.format import CHECKED, FILES, MODEL, STABLEHLO, named_leaves


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The walk policy, exported as small as it gets."""
    out = tmp_path_factory.mktemp("small") / "policy"
    return export_policy(trained("walk"), out, dtype="float16", stablehlo=False)


@pytest.mark.extended
def test_parameters_are_rounded_and_compute_in_float32(small):
    exported = load_exported(small)
    original, saved = trained("walk").policy, load_file(small / MODEL)
    leaves = named_leaves(exported.weights)
    assert {leaf.dtype for leaf in saved.values()} == {np.dtype(np.float16)}
    assert {leaf.dtype for leaf in leaves.values()} == {jnp.dtype(jnp.float32)}
    for name, before in named_leaves(original.weights).items():
        rounded = np.asarray(before).astype(np.float16)
        assert np.array_equal(saved[name], rounded), name
        assert np.array_equal(leaves[name], rounded.astype(np.float32)), name
    inputs, golden = exported.golden.inputs, exported.golden.logits
    logits = np.asarray(exported.logits(inputs))
    np.testing.assert_allclose(logits, golden, rtol=1e-6, atol=1e-6)
    full = network_logits(original, inputs)  # close to it, and not the same
    np.testing.assert_allclose(logits, full, rtol=2e-2, atol=2e-2)
    assert not np.array_equal(logits, full)


def test_without_stablehlo_the_files_are_those_that_are_there(small):
    assert sorted(os.listdir(small)) == sorted({*FILES} - {STABLEHLO})
    exported = load_exported(small)
    assert sorted(exported.metadata["files"]) == sorted({*CHECKED} - {STABLEHLO})
    assert STABLEHLO not in (small / "README.md").read_text()
    says = r"policy\.stablehlo: left out of this export .*; kgscout export without that"
    with pytest.raises(UserError, match=says):
        _ = exported.stablehlo


def test_only_what_older_readers_cannot_read_has_a_new_version(
    small, exports, tmp_path
):
    assert load_exported(exports("walk")).metadata["version"] == 1
    assert load_exported(small).metadata["version"] == 2
    half = export_policy(trained(), tmp_path / "half", dtype="float16")
    exported = load_exported(half)
    assert exported.metadata["version"] == 2
    golden = exported.golden  # both forms were rounded alike
    logits = exported.stablehlo(*golden.arguments)
    np.testing.assert_allclose(logits, golden.logits, rtol=1e-4, atol=1e-5)
    edit(small, lambda about: about.update(version=1))
    with pytest.raises(UserError, match=r"damaged, no size and .* policy\.stablehlo"):
        load_exported(small)
    edit(small, lambda about: about.update(version=2))


def test_a_parameter_beyond_float16_is_refused(tmp_path):
    policy = random_policy(small_config("thesis", 16))
    policy.gate.output.bias[...] = jnp.full(1, 70_000.0)
    large = trained_policy(policy, ENCODER, settings=SETTINGS)
    says = r"gate\.output\.bias: not finite, expected .* with values up to 65504"
    with pytest.raises(UserError, match=says):
        export_policy(large, tmp_path / "policy", dtype="float16")
    export_policy(large, tmp_path / "policy")
