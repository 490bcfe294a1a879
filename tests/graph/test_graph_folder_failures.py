"""GRAPH folders: damaged, foreign, locked, and builds that fail or are killed."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest
from graph.graph_files import IDS, assert_equal, memory_graph, write_tsv

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build import stages, versions
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.utils.lock import locked


def manifest(**changes):
    """Changes fields of the manifest."""

    def change(folder: Path) -> None:
        fields = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(fields | changes))

    return change


def content(name: str, text: str):
    return lambda folder: (folder / name).write_text(text)


def without(name: str):
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (shutil.rmtree, "no such (GRAPH|file or) folder"),
        (without("manifest.json"), "no manifest.json"),
        (content("manifest.json", "{"), "not valid JSON"),
        (content("manifest.json", "[]"), "expected a GRAPH folder"),
        (manifest(format="kgscout-shards"), "found shards"),
        (manifest(version=2), "format version is 2, expected 1"),
        (manifest(hash_version=7), "hashed in version 7, expected 1"),
        (manifest(files={}), "damaged, no files"),
        (manifest(counts={"entities": 3}), "damaged"),
        (manifest(data="../elsewhere"), "damaged"),
        (without("v0001/by_tail.npy"), "missing, though"),
        (content("v0001/entities.utf8", "x"), "1 bytes, expected"),
    ],
)
def test_damaged_folders_are_refused_in_one_line(whole, damage, expected):
    damage(whole)
    for opening in (KnowledgeGraph.open, lambda g: open_graph([g]), update_graph):
        with pytest.raises(UserError, match=expected) as caught:
            opening(whole)
        assert str(whole) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_an_array_of_another_shape_is_refused(whole):
    counts = json.loads((whole / "manifest.json").read_text())["counts"]
    manifest(counts={**counts, "entities": 3})(whole)
    with pytest.raises(UserError, match=r"expected int64\[4\], found int64\[6\]"):
        KnowledgeGraph.open(whole)


def file_contents(folder: Path) -> dict[str, bytes]:
    files = filter(Path.is_file, folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_an_error_leaves_the_old_graph_or_no_folder(tmp_path, whole):
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tb\tc\n" * 20 + "a\tb\n")
    before = file_contents(whole)
    for run in (
        lambda: update_graph(whole, add=[bad]),
        lambda: update_graph(whole, remove=[bad]),
        lambda: update_graph(whole, add=[tmp_path / "none.tsv"]),
        lambda: build_graph([bad], whole, overwrite=True),
        lambda: build_graph([tmp_path / "a.tsv"], whole),
    ):
        with pytest.raises(UserError):
            run()
        assert file_contents(whole) == before
    with pytest.raises(UserError, match=r"bad\.tsv:21: expected 3"):
        build_graph([bad], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_killed_update_leaves_the_old_graph(tmp_path, whole, monkeypatch):
    """Whatever a killed update leaves, the old graph opens, and the next one cleans."""
    expected = memory_graph(IDS)
    more = write_tsv(tmp_path / "b.tsv", [("x", "y", "z")])
    monkeypatch.setattr(versions, "delete_unlisted", lambda _: None)  # as if killed
    for where, name in (
        (stages.CanonicalSort, "write"),
        (stages.Build, "_write_unnamed"),
        (stages.Build, "_publish"),
        (versions, "write_json"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                update_graph(whole, add=[more])
        # An abandoned folder of the same name stands in nobody's way.
        assert_equal(KnowledgeGraph.open(whole, verify=True), expected)
        shutil.rmtree(whole / ".v0002.part", ignore_errors=True)
    assert (whole / "v0002").is_dir()
    monkeypatch.undo()
    update_graph(whole, add=[more])
    found = KnowledgeGraph.open(whole, verify=True)
    assert_equal(found, memory_graph(IDS, [("x", "y", "z")]))
    data = found.storage.manifest["data"]
    assert {path.name for path in whole.iterdir()} == {"manifest.json", data}


def test_foreign_and_locked_folders_are_refused(tmp_path, whole):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("")
    with pytest.raises(UserError, match=r"found thesis\.tex"):
        build_graph([tmp_path / "a.tsv"], other)
    (other / "thesis.tex").rename(other / "manifest.json")
    (other / "manifest.json").write_text('{"format": "kgscout-shards"}')
    with pytest.raises(UserError, match="found shards"):
        build_graph([tmp_path / "a.tsv"], other, overwrite=True)
    assert [path.name for path in other.iterdir()] == ["manifest.json"]
    with pytest.raises(UserError, match="expected a folder to write, found a file"):
        build_graph([tmp_path / "a.tsv"], tmp_path / "a.tsv")
    with (
        locked(whole, "kgscout graph"),
        pytest.raises(UserError, match="another kgscout graph is writing here"),
    ):
        update_graph(whole, add=[tmp_path / "a.tsv"])


def test_a_full_disk_is_a_one_line_error(tmp_path, whole, monkeypatch):
    before = file_contents(whole)
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(stages.CanonicalSort, "write", full)
    for run in (
        lambda: update_graph(whole, add=[tmp_path / "a.tsv"]),
        lambda: build_graph([tmp_path / "a.tsv"], tmp_path / "new"),
    ):
        with pytest.raises(UserError, match=r"the disk is full \(.* free there\)"):
            run()
    assert file_contents(whole) == before
    assert not (tmp_path / "new").exists()


def test_builds_without_triplets_or_with_invalid_settings_are_refused(tmp_path):
    with pytest.raises(UserError, match="found none"):
        build_graph([], tmp_path / "graph")
    for memory in (0.01, float("inf"), float("nan")):
        with pytest.raises(UserError, match=rf"--memory: found {memory}, expected 0"):
            BuildSettings(memory=memory)
    with pytest.raises(UserError, match="--label-relation"):
        BuildSettings(label_relation=" ")
    (tmp_path / "kg.nt").write_text('<http://x/a> <http://x/b> "hallo"@de .\n')
    english = BuildSettings(language="en")
    with pytest.raises(UserError, match="no triplets"):
        build_graph([tmp_path / "kg.nt"], tmp_path / "graph", english)
    assert not (tmp_path / "graph").exists()
