"""Shards and encoders that the tests of preparation share."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from prep_factory import settings_for, write_input

from data_prep import driver
from data_prep.driver import prepare
from kgscout_jax.data.shards import Shards
from kgscout_jax.text.encoder import SentenceEncoder


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session", autouse=True)
def encoder_of():
    """The encoders by name and backend; every preparation here shares their models."""
    shared = functools.cache(SentenceEncoder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "SentenceEncoder", shared)
        yield shared


@pytest.fixture(scope="session")
def encoder(encoder_of) -> SentenceEncoder:
    return encoder_of("all-MiniLM-L6-v2", backend="auto")


@pytest.fixture(scope="session")
def source(tmp_path_factory) -> Path:
    return write_input(tmp_path_factory.mktemp("input"))


@pytest.fixture(scope="session")
def cut(source, cache, tmp_path_factory) -> Shards:
    """Balls cut to 12 triplets, all of them candidates."""
    out = tmp_path_factory.mktemp("shards") / "cut"
    return prepare(settings_for(source, out, cache, max_triplets=12))


@pytest.fixture(scope="session")
def ranked(source, cache, tmp_path_factory) -> Shards:
    """Whole balls, of which the 8 nearest triplets are candidates."""
    out = tmp_path_factory.mktemp("shards") / "ranked"
    settings = settings_for(
        source, out, cache, max_triplets=0, candidates=8, direction="directed"
    )
    return prepare(settings)
