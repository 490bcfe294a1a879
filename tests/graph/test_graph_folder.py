"""GRAPH folders: equal to graphs in memory, changed in place, refused when damaged."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build import settings as build_settings
from kgscout_jax.graph.build import stages, versions
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.knowledge_graph import GraphBuilder, KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.graph.read import arrow_batches
from kgscout_jax.graph.walk.subgraph import cut_subgraphs
from kgscout_jax.types import display_name, entity_key
from kgscout_jax.utils.lock import locked

NAMES = st.one_of(
    st.sampled_from(
        ["A", "a", " A ", "B", "b  c", "B\u2003C", "Ä", "ä", "Q42", "_:b0"]
    ),
    st.text(
        st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=6
    ).filter(str.strip),
)
RELATIONS = st.sampled_from(["r", "R", "r  s", "r s", " r"])
TRIPLETS = st.lists(st.tuples(NAMES, RELATIONS, NAMES), min_size=1, max_size=30)
IN_FOLDER = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    """Nothing here survives the machine: do not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of a few rows, so that a dozen triplets take every path of a million."""
    monkeypatch.setattr(build_settings, "BYTES_PER_ROW", (2 << 30) // 5)
    monkeypatch.setattr(arrow_batches, "ROWS", 3)
    monkeypatch.setattr(arrow_batches, "BLOCK_BYTES", 64)
    monkeypatch.setattr(stages, "BLOCK", 4)


def write_tsv(path: Path, rows) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return path


def memory_graph(*pieces) -> KnowledgeGraph:
    builder = GraphBuilder()
    builder.add([row for piece in pieces for row in piece])
    return builder.build()[0]


def assert_equal(found: KnowledgeGraph, expected: KnowledgeGraph) -> None:
    """Ids, names, order, indices and look-ups agree."""
    assert list(found.entities) == list(expected.entities)
    assert list(found.relations) == list(expected.relations)
    assert found.triplets.dtype == np.int32
    assert found.triplets.tolist() == expected.triplets.tolist()
    everything = np.arange(len(expected.entities), dtype=np.int32)[::-1]
    for side in ("by_head", "by_tail"):
        one, other = getattr(found, side), getattr(expected, side)
        assert one.offsets.tolist() == other.offsets.tolist()
        assert one.rows(everything)[1].tolist() == other.rows(everything)[1].tolist()
        assert one.rows(everything)[1].dtype == np.int32
    assert found.unnamed_mask.tolist() == expected.unnamed_mask.tolist()
    for i, name in enumerate(expected.entities):
        assert found.find(f" {name.upper()} ") == expected.find(name.upper())
        assert found.find(name) == i
        assert found.find_every(name).tolist() == [i]
    assert found.find("not there") is None
    assert found.find("half \ud800") is None
    assert found.find_every("not there").tolist() == []
    for i in range(len(expected.triplets)):
        assert found.triplet(i) == expected.triplet(i)


def without_header(rows):
    """Whether a file of these rows has no header, no blank line and no mark."""
    first = [cell.strip().lower() for cell in rows[0]]
    return (
        "\ufeff" not in rows[0][0]
        and not {"head", "relation", "tail"} <= set(first)
        and not {"subject", "predicate", "object"} <= set(first)
    )


@given(TRIPLETS.filter(without_header), TRIPLETS.filter(without_header))
@IN_FOLDER
def test_a_folder_equals_the_graph_in_memory(tmp_path, small_chunks, one, two):
    files = [write_tsv(tmp_path / "one.tsv", one), write_tsv(tmp_path / "two.tsv", two)]
    out = tmp_path / "graph"
    build_graph(files, out, overwrite=True)
    found = KnowledgeGraph.open(out, verify=True)
    expected = memory_graph(one, two)
    assert_equal(found, expected)
    assert found.duplicates == expected.duplicates
    assert found.folder == out and expected.folder is None
    assert {path.name for path in out.iterdir()} == {
        "manifest.json",
        found.storage.manifest["data"],
    }
    assert_equal(open_graph([out]), open_graph(files))


@given(st.lists(TRIPLETS.filter(without_header), min_size=3, max_size=3), st.data())
@IN_FOLDER
def test_an_update_equals_set_operations_on_triplets(
    tmp_path, small_chunks, pieces, data
):
    first, second, other = pieces
    out = tmp_path / "graph"
    build_graph([write_tsv(tmp_path / "a.tsv", first)], out, overwrite=True)
    before = KnowledgeGraph.open(out)
    removed = data.draw(st.lists(st.sampled_from([*first, *other]), min_size=1))
    removed = removed if without_header(removed) else first
    folder = update_graph(
        out,
        add=[write_tsv(tmp_path / "b.tsv", second)],
        remove=[write_tsv(tmp_path / "c.tsv", removed)],
    )
    found = KnowledgeGraph.open(out, verify=True)
    # Names: the old ones, then those that a graph of both would add, in its order.
    both = memory_graph(first, second)
    assert list(found.entities) == list(both.entities)
    assert list(found.relations) == list(both.relations)

    def identity(row):
        return entity_key(row[0]), display_name(row[1]), entity_key(row[2])

    gone = set(map(identity, removed))
    kept = set(map(identity, first)) - gone
    expected = kept | set(map(identity, second))
    rows = [tuple(row) for row in found.triplets.tolist()]
    assert rows == sorted(set(rows))
    assert {identity(found.triplet(i)) for i in range(len(rows))} == expected
    notes = folder.manifest["notes"]
    known = set(map(identity, first))
    assert notes["removed"] == len(known & gone)
    assert notes["not_there_to_remove"] == sum(
        identity(row) not in known for row in removed
    )
    assert notes["duplicates_added"] == len(second) + len(kept) - len(expected)
    assert all(found.find(name) == i for i, name in enumerate(both.entities))
    assert [about["use"] for about in folder.manifest["sources"]] == [
        *("kg", "add", "remove")
    ]
    # What was opened before the update is still the old graph.
    assert_equal(before, memory_graph(first))


def test_adding_twice_changes_nothing(tmp_path):
    rows = [("a", "r", "b"), ("b", "s", "c")]
    out, file = tmp_path / "graph", write_tsv(tmp_path / "a.tsv", rows)
    build_graph([file], out)
    folder = update_graph(out, add=[file])
    assert folder.manifest["notes"]["duplicates_added"] == 2
    assert_equal(KnowledgeGraph.of_folder(folder), memory_graph(rows))
    update_graph(out, remove=[file])
    empty = KnowledgeGraph.open(out)
    assert empty.triplets.shape == (0, 3)
    assert list(empty.entities) == ["a", "b", "c"]
    assert empty.by_tail.rows(np.arange(3))[1].tolist() == []
    update_graph(out, add=[file])
    assert_equal(KnowledgeGraph.open(out), memory_graph(rows))


LABELS = (
    "id\tname\nm.01\tAlien\nM.02\t Ridley  Scott\nm.04\tAlien\nm.99\tNobody\nm.01\tX\n"
)
IDS = [("m.01", "by", "m.02"), ("m.01", "cvt", "m.03"), ("m.04", "year", "1979")]


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
def test_labels_become_names_and_ids_stay_identities(tmp_path, small_chunks, suffix):
    text = LABELS if suffix == ".tsv" else LABELS.replace("\t", ",")
    (tmp_path / f"labels{suffix}").write_text(text + f"m.03{text[2]}  \n")
    source = BuildSettings(labels=tmp_path / f"labels{suffix}")
    folder = build_graph(
        [write_tsv(tmp_path / "a.tsv", IDS)], tmp_path / "graph", source
    )
    graph = KnowledgeGraph.open(tmp_path / "graph", verify=True)
    shown = ["Alien", "Ridley Scott", "m.03", "Alien", "1979"]
    assert list(graph.entities) == shown
    assert graph.entities[:2] == shown[:2] and graph.entities[-1] == "1979"
    assert list(graph.ids) == ["m.01", "m.02", "m.03", "m.04", "1979"]
    assert graph.unnamed_mask.tolist() == [False, False, True, False, False]
    assert graph.find("ALIEN") == 0
    assert graph.find_every(" alien").tolist() == [0, 3]
    assert graph.find("m.04") == 3 and graph.find("M.04") == 3
    assert graph.find("m.99") is None and graph.find("X") is None
    assert graph.find_all(["m.01", "Alien", "Ridley Scott"]).tolist() == [0, 1]
    assert graph.triplet(0) == ("Alien", "by", "Ridley Scott")
    assert folder.manifest["notes"] == {"blank_labels": 1, "labels_of_no_entity": 1}
    assert folder.manifest["counts"]["labels"] == 3
    # More labels for the same graph, and for what is added; the first label stays.
    (tmp_path / "more.tsv").write_text("m.03\tCast\nm.04\tAliens\nm.05\tJones\n")
    update_graph(
        tmp_path / "graph",
        BuildSettings(labels=tmp_path / "more.tsv"),
        add=[write_tsv(tmp_path / "b.tsv", [("m.03", "who", "m.05")])],
    )
    graph = KnowledgeGraph.open(tmp_path / "graph", verify=True)
    assert list(graph.entities) == [*shown[:2], "Cast", "Alien", "1979", "Jones"]
    assert not graph.unnamed_mask.any()
    assert graph.find("jones") == 5
    # Labels stay through an update that brings none.
    update_graph(tmp_path / "graph", remove=[tmp_path / "b.tsv"])
    assert KnowledgeGraph.open(tmp_path / "graph").entities[5] == "Jones"


@pytest.mark.parametrize(
    "relation", ["rdfs:label", "label", "<http://www.w3.org/2000/01/rdf-schema#label>"]
)
def test_triplets_of_the_label_relation_name_their_heads(tmp_path, relation):
    (tmp_path / "kg.ttl").write_text(
        """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix e: <http://www.wikidata.org/entity/> .
        e:Q103569 rdfs:label "Alien"@en , "Alien, le huitième passager"@fr ;
            e:P57 e:Q56005 ; e:P161 [ e:P1 e:Q1 ] .
        e:Q56005 rdfs:label "Ridley Scott"@en-GB .
        """
    )
    source = BuildSettings(label_relation=relation, language="en")
    folder = build_graph([tmp_path / "kg.ttl"], tmp_path / "graph", source)
    graph = KnowledgeGraph.of_folder(folder)
    node = f"_:{tmp_path.name}/kg#1"
    named = {graph.triplet(i) for i in range(len(graph.triplets))}
    assert named == {
        ("Alien", "P57", "Ridley Scott"),
        ("Alien", "P161", node),
        (node, "P1", "Q1"),
    }
    unnamed = {graph.entities[i] for i in np.flatnonzero(graph.unnamed_mask)}
    assert unnamed == {node, "Q1"}
    assert folder.manifest["notes"]["label_triplets"] == 2
    assert folder.manifest["notes"]["other_language"] == 1


def test_subgraphs_of_a_folder_equal_those_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rng.integers(0, 30, (120, 3))]
    build_graph([write_tsv(tmp_path / "a.tsv", rows)], tmp_path / "graph")
    topics = [np.array([0, 3], np.int32), np.array([], np.int32), np.array([7])]
    one, other = (
        cut_subgraphs(graph, topics, hops=2, max_triplets=20)
        for graph in (memory_graph(rows), KnowledgeGraph.open(tmp_path / "graph"))
    )
    assert one.triplet_ids.tolist() == other.triplet_ids.tolist()
    assert type(other.triplet_ids) is np.ndarray
    assert one.ppr.tolist() == other.ppr.tolist()


# --- refusals and crashes ------------------------------------------------------------


@pytest.fixture
def whole(tmp_path):
    out = tmp_path / "graph"
    build_graph([write_tsv(tmp_path / "a.tsv", IDS)], out)
    return out


def alter(folder: Path, **changes) -> None:
    """Change fields of the manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changes}))


DAMAGE = {
    "gone": (lambda g: shutil.rmtree(g), "no such (GRAPH|file or) folder"),
    "no manifest": (lambda g: (g / "manifest.json").unlink(), "no manifest.json"),
    "no json": (lambda g: (g / "manifest.json").write_text("{"), "not valid JSON"),
    "list": (
        lambda g: (g / "manifest.json").write_text("[]"),
        "expected a GRAPH folder",
    ),
    "shards": (lambda g: alter(g, format="kgscout-shards"), "found shards"),
    "newer": (
        lambda g: alter(g, version=2),
        "format version is 2, expected 1",
    ),
    "hashes": (
        lambda g: alter(g, hash_version=7),
        "hashed in version 7, expected 1",
    ),
    "no files": (lambda g: alter(g, files={}), "damaged, no files"),
    "counts": (lambda g: alter(g, counts={"entities": 3}), "damaged"),
    "data": (lambda g: alter(g, data="../elsewhere"), "damaged"),
    "missing": (lambda g: (g / "v0001/by_tail.npy").unlink(), "missing, though"),
    "short": (
        lambda g: (g / "v0001/entities.utf8").write_bytes(b"x"),
        "1 bytes, expected",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_folders_are_refused_in_one_line(whole, case):
    damage, expected = DAMAGE[case]
    damage(whole)
    for opening in (KnowledgeGraph.open, lambda g: open_graph([g]), update_graph):
        with pytest.raises(UserError, match=expected) as caught:
            opening(whole)
        assert str(whole) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_verify_finds_changed_bytes(whole):
    path = whole / "v0001/triplets.npy"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    KnowledgeGraph.open(whole)
    with pytest.raises(UserError, match=r"triplets\.npy: checksum differs"):
        KnowledgeGraph.open(whole, verify=True)


def test_an_array_of_another_shape_is_refused(whole):
    manifest = json.loads((whole / "manifest.json").read_text())
    alter(whole, counts={**manifest["counts"], "entities": 3})
    with pytest.raises(UserError, match=r"expected int64\[4\], found int64\[6\]"):
        KnowledgeGraph.open(whole)


def file_contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_an_error_leaves_the_old_graph_or_no_folder(tmp_path, whole):
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tb\tc\n" * 20 + "a\tb\n")
    before = file_contents(whole)
    for work in (
        lambda: update_graph(whole, add=[bad]),
        lambda: update_graph(whole, remove=[bad]),
        lambda: update_graph(whole, add=[tmp_path / "none.tsv"]),
        lambda: build_graph([bad], whole, overwrite=True),
        lambda: build_graph([tmp_path / "a.tsv"], whole),
    ):
        with pytest.raises(UserError):
            work()
        assert file_contents(whole) == before
    with pytest.raises(UserError, match=r"bad\.tsv:21: expected 3"):
        build_graph([bad], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_killed_update_leaves_the_old_graph(tmp_path, whole, monkeypatch):
    """Whatever a killed update leaves, the old graph opens, and the next one cleans."""
    expected = memory_graph(IDS)
    more = write_tsv(tmp_path / "b.tsv", [("x", "y", "z")])

    class Killed(BaseException):
        pass

    def kill(*_, **__):
        raise Killed

    monkeypatch.setattr(versions, "delete_unlisted", lambda _: None)  # as if killed
    for where, name in (
        (stages.CanonicalSort, "write"),
        (stages.Build, "_write_unnamed"),
        (stages.Build, "_publish"),
        (versions, "write_json"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, kill)
            with pytest.raises(Killed):
                update_graph(whole, add=[more])
        # An abandoned folder of the same name stands in nobody's way.
        assert_equal(KnowledgeGraph.open(whole, verify=True), expected)
        shutil.rmtree(whole / ".v0002.part", ignore_errors=True)
    assert (whole / "v0002").is_dir()
    monkeypatch.undo()
    update_graph(whole, add=[more])
    found = KnowledgeGraph.open(whole, verify=True)
    assert_equal(found, memory_graph(IDS, [("x", "y", "z")]))
    assert {path.name for path in whole.iterdir()} == {
        "manifest.json",
        found.storage.manifest["data"],
    }


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
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = file_contents(whole)
    monkeypatch.setattr(stages.CanonicalSort, "write", full)
    for out, work in ((whole, update_graph), (tmp_path / "new", None)):
        with pytest.raises(UserError, match=r"cannot be written \(No space left"):
            if work is None:
                build_graph([tmp_path / "a.tsv"], out)
            else:
                work(out, add=[tmp_path / "a.tsv"])
    assert file_contents(whole) == before
    assert not (tmp_path / "new").exists()


def test_open_graph_takes_files_or_one_folder(tmp_path, whole):
    with pytest.raises(UserError, match="found nothing"):
        open_graph([])
    with pytest.raises(UserError, match="exactly one GRAPH folder"):
        open_graph([whole, tmp_path / "a.tsv"])
    with pytest.raises(UserError, match="no manifest"):
        open_graph([tmp_path])
    assert_equal(open_graph([tmp_path / "a.tsv"]), open_graph([whole]))


def test_builds_without_triplets_or_with_invalid_settings_are_refused(tmp_path):
    with pytest.raises(UserError, match="found none"):
        build_graph([], tmp_path / "graph")
    for memory in (0.01, float("inf"), float("nan")):
        with pytest.raises(UserError, match=rf"--memory: found {memory}, expected 0"):
            BuildSettings(memory=memory)
    with pytest.raises(UserError, match="--label-relation"):
        BuildSettings(label_relation=" ")
    (tmp_path / "kg.nt").write_text('<http://x/a> <http://x/b> "hallo"@de .\n')
    with pytest.raises(UserError, match="no triplets"):
        build_graph(
            [tmp_path / "kg.nt"], tmp_path / "graph", BuildSettings(language="en")
        )
    assert not (tmp_path / "graph").exists()


def test_blank_lines_are_skipped_and_blank_names_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tr\tb\n \t \t \nc\tr\td\n")
    folder = build_graph([tmp_path / "a.tsv"], tmp_path / "graph")
    assert_equal(
        KnowledgeGraph.of_folder(folder),
        memory_graph([("a", "r", "b"), ("c", "r", "d")]),
    )
    (tmp_path / "b.tsv").write_text("a\tr\tb\nc\t\u2003\td\n")
    with pytest.raises(UserError, match=r"b\.tsv:2: the relation is empty"):
        build_graph([tmp_path / "b.tsv"], tmp_path / "graph2")


def test_opening_maps_arrays_and_decodes_no_names(whole, monkeypatch):
    folder = GraphFolder.open(whole)
    assert not isinstance(folder.names, list)
    assert isinstance(folder.arrays["triplets"].base, np.memmap)
    assert KnowledgeGraph.of_folder(folder).by_head.triplet_ids is None
