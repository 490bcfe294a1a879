"""Embeddings of graphs: the encoder's own, reused, resumed, refused when damaged."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from graph.graph_files import write_tsv
from hypothesis import example, given
from hypothesis import strategies as st
from text.hash_encoder import DIMENSION, HashEncoder

from kgscout_jax.errors import UserError
from kgscout_jax.graph import embedding_table, embeddings
from kgscout_jax.graph.arrays import match_rows
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.embedding_table import EmbeddingTable
from kgscout_jax.graph.embeddings import LazyEmbeddings, embeddings_of, stored_table
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.linearize import linearize, relation_phrase
from kgscout_jax.utils import block_checksums, manifest

A = [("Ann", "lives.in", "Town"), ("Bob", "lives in", "Town"), ("Town", "near", "Mu")]
B = [("Aaron", "lives.in", "Mu"), ("Ann", "knows", "Bob")]


@pytest.fixture
def encoder() -> HashEncoder:
    return HashEncoder()


def assert_encoded(
    graph: KnowledgeGraph, source: EmbeddingTable | LazyEmbeddings
) -> None:
    """Assert that the rows are those of the encoder, to the bit."""
    texts = [linearize(graph.triplet(i)) for i in range(len(graph.triplets))]
    rows = source.rows(np.arange(len(texts)))
    assert np.array_equal(rows, HashEncoder().encode(texts))
    phrases = [relation_phrase(name) for name in graph.relations]
    assert np.array_equal(source.relations, HashEncoder().encode(phrases))


@pytest.fixture
def folder(tmp_path) -> Path:
    build_graph([write_tsv(tmp_path / "a.tsv", A)], tmp_path / "graph")
    return tmp_path / "graph"


TOP = np.iinfo(np.int32).max
LARGEST = [(0, 0, 0), (TOP - 1, 9, TOP), (TOP, 5, 0), (TOP, 9, TOP)]
ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=20)


@given(ROWS, ROWS)
@example(LARGEST, LARGEST)
@example(LARGEST[1:3], LARGEST)
def test_matching_rows_are_equal_and_complete(old, new):
    old, new = sorted(set(old)), sorted(set(new))
    rows = match_rows(*(np.array(r, np.int32).reshape(-1, 3) for r in (old, new)))
    places = {row: i for i, row in enumerate(old)}
    assert rows.tolist() == [places.get(row, -1) for row in new]


def test_old_tables_are_outdated_only_by_camel_case(encoder, tmp_path, folder):
    graph = KnowledgeGraph.open(folder)
    graph.embed(encoder)
    tables = [path.name for path in (folder / embeddings.FOLDER).iterdir()]
    assert tables == [encoder.identity.version_1.fingerprint]
    rows = write_tsv(tmp_path / "b.tsv", [*A, ("Ann", "birthPlace", "Mu")])
    build_graph([rows], tmp_path / "split")
    split = KnowledgeGraph.open(tmp_path / "split")
    assert_encoded(split, split.embed(encoder))
    tables = [path.name for path in (tmp_path / "split" / embeddings.FOLDER).iterdir()]
    assert tables == [encoder.identity.fingerprint]


def test_a_changed_graph_embeds_only_its_new_triplets(encoder):
    graph = KnowledgeGraph.from_triplets(A)
    assert_encoded(graph, graph.embed(encoder))
    encoder.texts = []
    assert graph.embed(encoder) is graph.embed(encoder) and not encoder.texts
    more = graph.without_triplets(A[:1]).with_triplets(B)
    source = more.embed(encoder)
    new = {linearize(t) for t in B}
    assert {text for text in encoder.texts if text in new} == new
    assert not {linearize(t) for t in A} & set(encoder.texts)
    assert_encoded(more, source)
    # Graphs in between that were not embedded are not held.
    encoder.texts = []
    last = more.with_triplets([("Mu", "near", "Ann")]).without_triplets(B[:1])
    last = last.with_triplets(A)
    assert last.embeddings.previous == more.embeddings.tables
    source = last.embed(encoder)
    phrases = {relation_phrase(name) for name in last.relations}
    new = {linearize(t) for t in [("Mu", "near", "Ann"), A[0]]}
    assert set(encoder.texts) - phrases == new and not last.embeddings.previous
    assert_encoded(last, source)


def test_a_folder_opens_with_its_table(folder, encoder):
    graph = KnowledgeGraph.open(folder)
    assert_encoded(graph, graph.embed(encoder))
    encoder.texts = []
    graph = KnowledgeGraph.open(folder)
    source = embeddings_of(graph, encoder)
    assert isinstance(source, EmbeddingTable) and not encoder.texts
    assert isinstance(source.triplets, np.memmap) or source.triplets.base is not None
    assert_encoded(graph, source)
    KnowledgeGraph.open(folder, verify=True)  # the graph itself is as it was


def test_a_changed_folder_embeds_only_its_new_triplets(folder, encoder, tmp_path):
    KnowledgeGraph.open(folder).embed(encoder)
    more, gone = write_tsv(tmp_path / "b.tsv", B), write_tsv(tmp_path / "c.tsv", A[1:2])
    update_graph(folder, add=[more], remove=[gone])
    graph = KnowledgeGraph.open(folder)
    assert isinstance(embeddings_of(graph, encoder, cache=tmp_path), LazyEmbeddings)
    encoder.texts = []
    source = KnowledgeGraph.open(folder).embed(encoder)
    assert not {linearize(t) for t in A} & set(encoder.texts)
    assert {linearize(t) for t in B} <= set(encoder.texts)
    assert_encoded(graph, source)
    (stored,) = (folder / embeddings.FOLDER).iterdir()
    assert len([f for f in stored.iterdir() if f.suffix == ".npy"]) == 3


def test_a_rebuilt_folder_is_embedded_from_scratch(folder, encoder, tmp_path):
    KnowledgeGraph.open(folder).embed(encoder)
    build_graph([write_tsv(tmp_path / "b.tsv", B + A)], folder, overwrite=True)
    graph = KnowledgeGraph.open(folder)
    assert_encoded(graph, graph.embed(encoder))


def test_embedding_continues_after_a_kill(folder, encoder, monkeypatch):
    monkeypatch.setattr(embeddings, "SAVED_ROWS", 1)
    graph = KnowledgeGraph.open(folder)
    encoder.fails_after = len(graph.relations) + 2
    with pytest.raises(KeyboardInterrupt):
        graph.embed(encoder)
    assert stored_table(KnowledgeGraph.open(folder), encoder.identity) is None
    encoder.texts, encoder.fails_after = [], None
    graph = KnowledgeGraph.open(folder)
    source = graph.embed(encoder)
    sent = [text for text in encoder.texts if text in {linearize(t) for t in A}]
    assert len(sent) == 1
    assert_encoded(graph, source)


def test_rows_embedded_on_demand_or_by_a_stopped_run_are_not_embedded_again(
    folder, encoder, tmp_path, monkeypatch
):
    monkeypatch.setenv("KGSCOUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(embeddings, "CACHED_FROM", 0)
    monkeypatch.setattr(embeddings, "SAVED_ROWS", 2)
    graph = KnowledgeGraph.from_triplets(A + B)
    embeddings_of(graph, encoder).rows(np.array([1, 3]))  # on demand
    encoder.fails_after = len(encoder.texts) + 2
    with pytest.raises(KeyboardInterrupt):
        KnowledgeGraph.from_triplets(A + B).embed(encoder)
    encoder.texts, encoder.fails_after = [], None
    again = KnowledgeGraph.from_triplets(A + B)
    assert_encoded(again, again.embed(encoder))
    known = {linearize(graph.triplet(i)) for i in (1, 3)}
    sent = [text for text in encoder.texts if text in {linearize(t) for t in A + B}]
    assert not known & set(sent) and len(sent) < len(graph) - 2
    encoder.texts = []
    stored = KnowledgeGraph.open(folder)  # of A
    assert_encoded(stored, stored.embed(encoder))
    assert not [text for text in encoder.texts if text in set(map(linearize, A))]


def test_a_graph_without_a_table_embeds_the_rows_in_use(encoder, tmp_path):
    graph = KnowledgeGraph.from_triplets(A + B)
    source = embeddings_of(graph, encoder, cache=tmp_path)
    assert isinstance(source, LazyEmbeddings) and not encoder.texts
    source.rows(np.array([2]))
    assert encoder.texts == [linearize(graph.triplet(2))]
    source.rows(np.array([2, 0, 2]))
    assert encoder.texts[1:] == [linearize(graph.triplet(0))]
    assert_encoded(graph, source)


def test_lazy_embeddings_hold_a_bounded_number_of_rows(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "MAX_CACHED_ROWS", 2)
    graph = KnowledgeGraph.from_triplets(A + B)
    source = embeddings_of(graph, encoder, cache=tmp_path)
    assert isinstance(source, LazyEmbeddings)
    for _ in range(2):
        for i in range(len(graph.triplets)):
            assert source.rows(np.array([i])).shape == (1, DIMENSION)
            assert len(source._ids) <= 3
    assert_encoded(graph, source)


LINE = KnowledgeGraph.from_triplets([(f"n{i}", "next", f"n{i + 1}") for i in range(40)])


@given(st.lists(st.lists(st.integers(0, 39), max_size=12), max_size=12))
def test_rows_are_the_encoders_in_whatever_order_they_come(calls):
    rows = HashEncoder().encode([linearize(LINE.triplet(i)) for i in range(40)])
    with tempfile.TemporaryDirectory() as cache:
        encoder = HashEncoder()
        lazy = LazyEmbeddings(LINE, encoder, EmbeddingCache(encoder, Path(cache)))
        for ids in calls:
            found = lazy.rows(np.array(ids, np.int32))
            assert found.shape == (len(ids), DIMENSION)
            assert np.array_equal(found, rows[ids])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["triplets", "relations"])
def test_rows_that_are_not_finite_are_refused(folder, encoder, name, value):
    KnowledgeGraph.open(folder).embed(encoder)
    (file,) = folder.rglob(f"*.{name}.npy")
    table = np.load(file)
    table[1, 5] = value
    np.save(file, table)
    without_checksums(file.parent / "manifest.json")  # of an encoder that gave these
    says = rf"{name}\.npy: 1 of {len(table)} rows of embeddings of {name} are not"
    with pytest.raises(UserError, match=says):
        embeddings_of(KnowledgeGraph.open(folder), encoder).check_finite()


def without_checksums(file: Path) -> None:
    """Rewrites a manifest as versions before checksums did."""
    fields = json.loads(file.read_text())
    fields.pop("files")
    file.write_text(json.dumps(fields))


@pytest.mark.parametrize("large", [False, True])
def test_a_flipped_bit_is_no_embedding(folder, encoder, monkeypatch, large):
    if large:  # only the ends of files are compared on opening
        monkeypatch.setattr(embedding_table, "WHOLE_BYTES", 0)
        monkeypatch.setattr(manifest, "END_BYTES", 4)
        monkeypatch.setattr(block_checksums, "BLOCK_BYTES", 16)
    graph = KnowledgeGraph.open(folder)
    before = np.array(graph.embed(encoder).rows(np.arange(3)))
    opened = embeddings_of(KnowledgeGraph.open(folder), encoder)
    np.testing.assert_array_equal(opened.rows(np.arange(3)), before)
    (file,) = folder.rglob("*.triplets.npy")
    raw = bytearray(file.read_bytes())
    raw[128 + 16 + 5] ^= 1  # of the second row
    file.write_bytes(raw)
    opened = None
    if large:
        opened = embeddings_of(KnowledgeGraph.open(folder), encoder)
        np.testing.assert_array_equal(opened.rows(np.array([0, 2])), before[[0, 2]])
    with pytest.raises(UserError, match=r"triplets\.npy: damaged"):
        (opened or embeddings_of(KnowledgeGraph.open(folder), encoder)).rows(
            np.array([0, 1])
        )


def test_damaged_files_are_refused(folder, encoder):
    KnowledgeGraph.open(folder).embed(encoder)
    (file,) = folder.rglob("*.triplets.npy")
    raw = file.read_bytes()
    file.write_bytes(raw[:-9])
    with pytest.raises(UserError, match=r"triplets\.npy: .* truncated .*delete"):
        embeddings_of(KnowledgeGraph.open(folder), encoder)
    (file_list,) = (folder / embeddings.FOLDER).rglob("manifest.json")
    whole = file_list.read_text()
    without_checksums(file_list)  # a table of an earlier version
    with pytest.raises(UserError, match=r"triplets\.npy: not a whole \.npy file"):
        embeddings_of(KnowledgeGraph.open(folder), encoder)
    file_list.write_text(whole)
    file.write_bytes(raw)
    original = json.loads(file_list.read_text())
    for change, message in (
        ({"format": "x"}, "not the manifest"),
        ({"version": 9}, "format version is 9, expected 1"),
        ({"counts": {"triplets": 7, "relations": 3}}, r"expected float16\[7, 8\]|ids"),
        ({"mark": None}, "damaged"),
    ):
        file_list.write_text(json.dumps(original | change))
        with pytest.raises(UserError, match=message):
            embeddings_of(KnowledgeGraph.open(folder), encoder)
