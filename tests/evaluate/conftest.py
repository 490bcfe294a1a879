"""Shards and a run that all tests of answers read and none writes to."""

import pytest
from evaluate.answer_world import write_run
from written_shards import write_shards


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    return write_shards(tmp_path_factory.mktemp("world") / "shards").path


@pytest.fixture(scope="session")
def run(tmp_path_factory, kgscout_cache):
    return write_run(tmp_path_factory.mktemp("world") / "run")
