"""Exports of small random policies, each written once in a process."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from policy_factory import SETTINGS, random_policy, small_config, trained_policy
from written_shards import DIMENSION, ENCODER

from kgscout_jax.export import export_policy
from kgscout_jax.learn.trained_policy import TrainedPolicy


@functools.cache
def trained(architecture: str = "thesis") -> TrainedPolicy:
    """A policy in which no parameter is 0 or what it was at the start."""
    policy = random_policy(small_config(architecture, DIMENSION), gain=3.0)
    settings = {**SETTINGS, "seed": 0, "limit": None}
    return trained_policy(policy, ENCODER, settings=settings)


@pytest.fixture(scope="session")
def exports(tmp_path_factory, kgscout_cache) -> Callable[[str], Path]:
    """The export of ``trained(architecture)``; tests that change it take a copy."""

    @functools.cache
    def export(architecture: str) -> Path:
        out = tmp_path_factory.mktemp("export") / architecture
        return export_policy(trained(architecture), out)

    return export


@pytest.fixture
def folder(exports) -> Path:
    """The export of the thesis's network."""
    return exports("thesis")


@pytest.fixture
def copy(folder, tmp_path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))
