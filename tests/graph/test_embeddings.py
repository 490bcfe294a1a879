"""Embeddings of graphs: the encoder's own, reused, resumed, refused when damaged."""

from __future__ import annotations

import json
import random
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prep_factory import NEEDS_ENCODER

from kgscout_jax.errors import UserError
from kgscout_jax.graph import embeddings
from kgscout_jax.graph.arrays import match_rows
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.embedding_table import EmbeddingTable
from kgscout_jax.graph.embeddings import LazyEmbeddings, embeddings_of, stored_table
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize, relation_phrase

A = [("Ann", "lives.in", "Town"), ("Bob", "lives in", "Town"), ("Town", "near", "Mu")]
B = [("Aaron", "lives.in", "Mu"), ("Ann", "knows", "Bob")]


class RecordingEncoder(SentenceEncoder):
    """The encoder, recording the strings that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.fails_after: int | None = None

    def stream(self, texts, **more):
        if self.fails_after is not None and len(self.texts) >= self.fails_after:
            raise KeyboardInterrupt
        self.texts += texts
        return super().stream(texts, **more)


@pytest.fixture(scope="module")
def encoder() -> RecordingEncoder:
    return RecordingEncoder()


@pytest.fixture(autouse=True)
def no_texts_yet(request):
    if "encoder" in request.fixturenames:
        encoder = request.getfixturevalue("encoder")
        encoder.texts, encoder.fails_after = [], None


def assert_encoded(
    graph: KnowledgeGraph, source: EmbeddingTable | LazyEmbeddings, encoder
) -> None:
    """Assert that the rows are those of the encoder, to the bit."""
    texts = [linearize(graph.triplet(i)) for i in range(len(graph.triplets))]
    expected = SentenceEncoder.encode(encoder, texts)
    assert np.array_equal(source.rows(np.arange(len(texts))), expected)
    phrases = [relation_phrase(name) for name in graph.relations]
    assert np.array_equal(source.relations, SentenceEncoder.encode(encoder, phrases))


def write(path: Path, triplets) -> Path:
    path.write_text("".join("\t".join(t) + "\n" for t in triplets))
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    build_graph([write(tmp_path / "a.tsv", A)], tmp_path / "graph")
    return tmp_path / "graph"


# --- matching rows

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=20)


@given(ROWS, ROWS)
def test_matching_rows_are_equal_and_complete(old, new):
    old, new = sorted(set(old)), sorted(set(new))
    rows = match_rows(
        np.array(old, np.int32).reshape(-1, 3), np.array(new, np.int32).reshape(-1, 3)
    )
    places = {row: i for i, row in enumerate(old)}
    assert rows.tolist() == [places.get(row, -1) for row in new]


def test_rows_with_the_largest_ids_match():
    top = np.iinfo(np.int32).max
    rows = np.array(
        [[0, 0, 0], [top - 1, 9, top], [top, 5, 0], [top, 9, top]], np.int32
    )
    assert match_rows(rows, rows).tolist() == [0, 1, 2, 3]
    assert match_rows(rows[1:3], rows).tolist() == [-1, 0, 1, -1]


# --- changes of graphs in memory


@given(st.data())
def test_ids_stay_when_triplets_are_added_or_removed(data):
    rng = random.Random(data.draw(st.integers(0, 999)))
    every = [(f"e{rng.randrange(6)}", f"r{rng.randrange(3)}", f"e{rng.randrange(6)}")
             for _ in range(12)]  # fmt: skip
    first, more, gone = every[:6], every[6:], rng.sample(every, 5)
    graph = KnowledgeGraph.from_triplets(first)
    other = graph.without_triplets(gone).with_triplets(more)

    def triplets(g):
        return {g.triplet(i) for i in range(len(g.triplets))}

    assert triplets(other) == (set(first) - set(gone)) | set(more)
    assert list(other.entities)[: len(graph.entities)] == list(graph.entities)
    assert list(other.relations)[: len(graph.relations)] == list(graph.relations)
    rows = list(map(tuple, other.triplets.tolist()))
    assert rows == sorted(rows)


def test_spellings_of_one_identity_are_one_entity():
    graph = KnowledgeGraph.from_triplets(A).with_triplets(
        [(" ANN ", "lives.in", "town")]
    )
    assert len(graph.triplets) == len(A) and len(graph.entities) == 4
    assert (
        len(graph.without_triplets([("ann", "lives.in", "TOWN")]).triplets)
        == len(A) - 1
    )


def test_networkx_edges_become_triplets():
    multi = nx.MultiDiGraph()
    multi.add_edge("Ann", "Bob", key="knows")
    multi.add_edge("Ann", "Bob", relation="likes")
    graph = KnowledgeGraph.from_networkx(multi)
    found = {graph.triplet(i) for i in range(len(graph.triplets))}
    assert found == {("Ann", "knows", "Bob"), ("Ann", "likes", "Bob")}
    plain = nx.Graph()
    plain.add_edge(1, 2, label="next")
    graph = KnowledgeGraph.from_networkx(plain, relation="label")
    assert graph.triplet(0) == ("1", "next", "2")
    with pytest.raises(UserError, match=r"edge 1 to 2: .*'relation', found 'label'"):
        KnowledgeGraph.from_networkx(plain)


# --- tables


@NEEDS_ENCODER
def test_a_changed_graph_embeds_only_its_new_triplets(encoder):
    graph = KnowledgeGraph.from_triplets(A)
    assert_encoded(graph, graph.embed(encoder), encoder)
    encoder.texts = []
    assert graph.embed(encoder) is graph.embed(encoder) and not encoder.texts
    more = graph.without_triplets(A[:1]).with_triplets(B)
    source = more.embed(encoder)
    new = {linearize(t) for t in B}
    assert {text for text in encoder.texts if text in new} == new
    assert not {linearize(t) for t in A} & set(encoder.texts)
    assert_encoded(more, source, encoder)
    # Graphs in between that were not embedded are not held.
    encoder.texts = []
    last = (
        more.with_triplets([("Mu", "near", "Ann")])
        .without_triplets(B[:1])
        .with_triplets(A)
    )
    assert last.embeddings.previous == more.embeddings.tables
    source = last.embed(encoder)
    phrases = {relation_phrase(name) for name in last.relations}
    new = {linearize(t) for t in [("Mu", "near", "Ann"), A[0]]}
    assert set(encoder.texts) - phrases == new and not last.embeddings.previous
    assert_encoded(last, source, encoder)


@NEEDS_ENCODER
def test_a_folder_opens_with_its_table(folder, encoder):
    graph = KnowledgeGraph.open(folder)
    assert_encoded(graph, graph.embed(encoder), encoder)
    encoder.texts = []
    graph = KnowledgeGraph.open(folder)
    source = embeddings_of(graph, encoder)
    assert isinstance(source, EmbeddingTable) and not encoder.texts
    assert isinstance(source.triplets, np.memmap) or source.triplets.base is not None
    assert_encoded(graph, source, encoder)
    KnowledgeGraph.open(folder, verify=True)  # the graph itself is as it was


@NEEDS_ENCODER
def test_a_changed_folder_embeds_only_its_new_triplets(folder, encoder, tmp_path):
    KnowledgeGraph.open(folder).embed(encoder)
    more, gone = write(tmp_path / "b.tsv", B), write(tmp_path / "c.tsv", A[1:2])
    update_graph(folder, add=[more], remove=[gone])
    graph = KnowledgeGraph.open(folder)
    assert isinstance(embeddings_of(graph, encoder, cache=tmp_path), LazyEmbeddings)
    encoder.texts = []
    source = KnowledgeGraph.open(folder).embed(encoder)
    assert not {linearize(t) for t in A} & set(encoder.texts)
    assert {linearize(t) for t in B} <= set(encoder.texts)
    assert_encoded(graph, source, encoder)
    (stored,) = (folder / embeddings.FOLDER).iterdir()
    assert len([f for f in stored.iterdir() if f.suffix == ".npy"]) == 3


@NEEDS_ENCODER
def test_a_rebuilt_folder_is_embedded_from_scratch(folder, encoder, tmp_path):
    KnowledgeGraph.open(folder).embed(encoder)
    build_graph([write(tmp_path / "b.tsv", B + A)], folder, overwrite=True)
    graph = KnowledgeGraph.open(folder)
    assert_encoded(graph, graph.embed(encoder), encoder)


@NEEDS_ENCODER
def test_embedding_continues_after_a_kill(folder, encoder, monkeypatch):
    monkeypatch.setattr(embeddings, "ROWS_PER_BLOCK", 1)
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
    assert_encoded(graph, source, encoder)


@NEEDS_ENCODER
def test_a_graph_without_a_table_embeds_the_rows_in_use(encoder, tmp_path):
    graph = KnowledgeGraph.from_triplets(A + B)
    source = embeddings_of(graph, encoder, cache=tmp_path)
    assert isinstance(source, LazyEmbeddings) and not encoder.texts
    source.rows(np.array([2]))
    assert encoder.texts == [linearize(graph.triplet(2))]
    source.rows(np.array([2, 0, 2]))
    assert encoder.texts[1:] == [linearize(graph.triplet(0))]
    assert_encoded(graph, source, encoder)


@NEEDS_ENCODER
def test_lazy_embeddings_hold_a_bounded_number_of_rows(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "MAX_CACHED_ROWS", 2)
    graph = KnowledgeGraph.from_triplets(A + B)
    source = embeddings_of(graph, encoder, cache=tmp_path)
    for _ in range(2):
        for i in range(len(graph.triplets)):
            assert source.rows(np.array([i])).shape == (1, 384)
            assert len(source._ids) <= 3
    assert_encoded(graph, source, encoder)


# --- damage


def table_file(folder: Path, name: str) -> Path:
    (file,) = folder.rglob(f"*.{name}.npy")
    return file


@NEEDS_ENCODER
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(folder, encoder, value):
    KnowledgeGraph.open(folder).embed(encoder)
    for name in ("triplets", "relations"):
        file = table_file(folder, name)
        table = np.load(file)
        whole = table.copy()
        table[1, 5] = value
        np.save(file, table)
        graph = KnowledgeGraph.open(folder)
        says = rf"{name}\.npy: 1 of {len(table)} rows of embeddings of {name} are not"
        with pytest.raises(UserError, match=says):
            source = embeddings_of(graph, encoder)
            assert isinstance(source, EmbeddingTable)
            source.check_finite()
        np.save(file, whole)


@NEEDS_ENCODER
def test_damaged_files_are_refused(folder, encoder):
    KnowledgeGraph.open(folder).embed(encoder)
    file = table_file(folder, "triplets")
    raw = file.read_bytes()
    file.write_bytes(raw[:-9])
    with pytest.raises(UserError, match=r"triplets\.npy: not a whole \.npy file"):
        embeddings_of(KnowledgeGraph.open(folder), encoder)
    file.write_bytes(raw)
    (manifest,) = (folder / embeddings.FOLDER).rglob("manifest.json")
    original = json.loads(manifest.read_text())
    for change, message in (
        ({"format": "x"}, "not the manifest"),
        ({"version": 9}, "format version is 9, expected 1"),
        (
            {"counts": {"triplets": 7, "relations": 3}},
            r"expected float16\[7, 384\]|ids",
        ),
        ({"mark": None}, "damaged"),
    ):
        manifest.write_text(json.dumps(original | change))
        with pytest.raises(UserError, match=message):
            embeddings_of(KnowledgeGraph.open(folder), encoder)
