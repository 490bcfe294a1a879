"""One changed byte of a GRAPH folder is an error and never another graph."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from graph.graph_files import write_tsv

from kgscout_jax.cli.runner import guarded
from kgscout_jax.errors import UserError
from kgscout_jax.graph import folder as graph_folder
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.utils import block_checksums, manifest

ROWS = [(f"head {i} ü", f"relation {i % 7}", f"tail {i % 50}") for i in range(300)]


def flip(file: Path, rng: random.Random) -> None:
    """Changes one bit."""
    raw = bytearray(file.read_bytes())
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    file.write_bytes(raw)


@pytest.fixture
def large_files(monkeypatch):
    """Files of a few kilobytes are large: only ends and blocks are compared."""
    monkeypatch.setattr(graph_folder, "WHOLE_BYTES", 0)
    monkeypatch.setattr(manifest, "END_BYTES", 64)
    monkeypatch.setattr(block_checksums, "BLOCK_BYTES", 256)


@pytest.fixture
def whole(tmp_path):
    out = tmp_path / "graph"
    build_graph([write_tsv(tmp_path / "a.tsv", ROWS)], out)
    return out


def test_every_flipped_bit_is_noticed_on_opening(whole):
    rng, files = random.Random(0), sorted((whole / "v0001").iterdir())
    for file in files * 2:
        raw = file.read_bytes()
        flip(file, rng)
        with pytest.raises(UserError, match=f"{file.name}: damaged: checksum differs"):
            KnowledgeGraph.open(whole)
        file.write_bytes(raw)
    KnowledgeGraph.open(whole)


def test_names_of_large_files_are_right_or_damaged(tmp_path, large_files, whole):
    rng, noticed = random.Random(1), 0
    expected = list(KnowledgeGraph.open(whole).entities)
    assert (whole / "v0001/blocks.npz").exists()
    assert expected == list(KnowledgeGraph.open(whole, verify=True).entities)
    for name in ["entities.utf8", "entities.npy"] * 15:
        copy = tmp_path / "copy"
        shutil.copytree(whole, copy)
        flip(copy / "v0001" / name, rng)
        try:
            names = KnowledgeGraph.open(copy).entities
        except UserError as error:
            assert name in str(error) and "damaged" in str(error)
            shutil.rmtree(copy)
            continue
        bad = set()
        assert isinstance(names, Strings)
        for i in rng.sample(range(len(expected)), len(expected)):
            try:
                assert names[i] == expected[i]
            except UserError as error:
                assert "damaged" in str(error) and "\n" not in str(error)
                bad.add(i)
        with pytest.raises(UserError, match="damaged"):
            list(names)
        with pytest.raises(UserError, match="damaged"):
            names.take(np.array(sorted(bad)))
        noticed += len(bad) > 0
        shutil.rmtree(copy)
    assert noticed > 10


def test_an_update_does_not_seal_damage(tmp_path, large_files, whole):
    path = whole / "v0001/by_tail.npy"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    KnowledgeGraph.open(whole)
    more = write_tsv(tmp_path / "b.tsv", [("x", "y", "z")])
    with pytest.raises(UserError, match=r"by_tail\.npy: damaged"):
        update_graph(whole, add=[more])


def test_an_error_in_damaged_data_is_one_line(large_files, whole, capsys, monkeypatch):
    """A triplet of no entity raises an index error; the cause is told."""
    monkeypatch.setattr(manifest, "_opened", {})
    path = whole / "v0001/triplets.npy"
    raw = bytearray(path.read_bytes())
    at = 128 + 12 * 150 + 3  # the high byte of a head
    raw[at] ^= 0x40
    path.write_bytes(raw)
    assert guarded(lambda: print(KnowledgeGraph.open(whole).triplet(150))) == 2
    assert capsys.readouterr().err == (
        f"error: {path}: damaged: checksum differs from the manifest\n"
    )
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x40]) + raw[at + 1 :])
    with pytest.raises(IndexError):  # a defect keeps its traceback
        guarded(lambda: len(KnowledgeGraph.open(whole).ids[10**6]))


def test_strings_of_a_file_that_is_not_text_are_damaged(whole):
    graph = KnowledgeGraph.open(whole)
    storage = graph.storage
    assert storage is not None
    blob = storage.arrays["entities.utf8"].copy()
    blob[7] = 0xFF
    storage.arrays["entities.utf8"] = blob
    with pytest.raises(UserError, match=r"entities\.utf8: damaged: no UTF-8 text"):
        list(storage.strings("entities"))
