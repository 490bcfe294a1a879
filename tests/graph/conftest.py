"""Fixtures of all tests of graphs."""

import os

import pytest
from graph.graph_files import IDS, write_tsv

from kgscout_jax.graph.build.driver import build_graph


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    """Does not wait for the disk: no test outlives a crash of the machine."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def whole(tmp_path):
    """A GRAPH folder of the triplets ``IDS``, that are in a.tsv beside it."""
    out = tmp_path / "graph"
    build_graph([write_tsv(tmp_path / "a.tsv", IDS)], out)
    return out
