"""GRAPH folders: equal to graphs in memory, updated as sets of triplets, labelled."""

from __future__ import annotations

import numpy as np
import pytest
from graph.graph_files import IDS, assert_equal, memory_graph, write_tsv
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build import settings as build_settings
from kgscout_jax.graph.build import stages
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.graph.read import arrow_batches
from kgscout_jax.graph.read.options import MISSING
from kgscout_jax.graph.walk.subgraph import cut_subgraphs
from kgscout_jax.types import display_name, entity_key

PRINTABLE = st.characters(blacklist_categories=("Cs", "Cc"))
NAMES = st.one_of(
    st.sampled_from("A|a| A |B|b  c|B\u2003C|Ä|ä|Q42|_:b0".split("|")),
    st.text(PRINTABLE, min_size=1, max_size=6).filter(
        lambda name: name.strip() and name not in MISSING
    ),
)
RELATIONS = st.sampled_from(["r", "R", "r  s", "r s", " r"])


def without_header(rows) -> bool:
    """Whether a file of these rows has no header, no blank line and no mark."""
    first = {cell.strip().lower() for cell in rows[0]}
    headers = {"head", "relation", "tail"}, {"subject", "predicate", "object"}
    return "\ufeff" not in rows[0][0] and not any(h <= first for h in headers)


TRIPLETS = st.lists(st.tuples(NAMES, RELATIONS, NAMES), min_size=1, max_size=30)
TRIPLETS = TRIPLETS.filter(without_header)
IN_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of a few rows, so that a dozen triplets take every path of a million."""
    monkeypatch.setattr(build_settings, "BYTES_PER_ROW", (2 << 30) // 5)
    monkeypatch.setattr(arrow_batches, "ROWS", 3)
    monkeypatch.setattr(arrow_batches, "BLOCK_BYTES", 64)
    monkeypatch.setattr(stages, "BLOCK", 4)


@given(TRIPLETS, TRIPLETS)
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
    data = found.storage.manifest["data"]
    assert {path.name for path in out.iterdir()} == {"manifest.json", data}
    assert_equal(open_graph([out]), open_graph(files))


@given(st.tuples(TRIPLETS, TRIPLETS, TRIPLETS), st.data())
@IN_FOLDER
def test_an_update_equals_set_operations_on_triplets(
    tmp_path, small_chunks, chunks, data
):
    first, second, other = chunks
    out = tmp_path / "graph"
    build_graph([write_tsv(tmp_path / "a.tsv", first)], out, overwrite=True)
    before = KnowledgeGraph.open(out)
    removed = data.draw(st.lists(st.sampled_from([*first, *other]), min_size=1))
    removed = removed if without_header(removed) else first
    add = [write_tsv(tmp_path / "b.tsv", second)]
    remove = [write_tsv(tmp_path / "c.tsv", removed)]
    folder = update_graph(out, add=add, remove=remove)
    found = KnowledgeGraph.open(out, verify=True)
    # Names: the old ones, then those that a graph of both would add, in its order.
    both = memory_graph(first, second)
    assert list(found.entities) == list(both.entities)
    assert list(found.relations) == list(both.relations)

    def identity(row):
        return entity_key(row[0]), display_name(row[1]), entity_key(row[2])

    known, new, gone = (set(map(identity, rows)) for rows in (first, second, removed))
    expected = known - gone | new
    rows = [tuple(row) for row in found.triplets.tolist()]
    assert rows == sorted(set(rows))
    assert {identity(found.triplet(i)) for i in range(len(rows))} == expected
    notes = folder.manifest["notes"]
    assert notes["removed"] == len(known & gone)
    absent = [row for row in removed if identity(row) not in known]
    assert notes["not_there_to_remove"] == len(absent)
    retained = len(known - gone)
    assert notes["duplicates_added"] == len(second) + retained - len(expected)
    assert all(found.find(name) == i for i, name in enumerate(both.entities))
    uses = [source["use"] for source in folder.manifest["sources"]]
    assert uses == ["kg", "add", "remove"]
    # What was opened before the update is still the old graph.
    assert_equal(before, memory_graph(first))


def test_triplets_are_added_twice_removed_and_added(tmp_path, whole):
    file, expected = tmp_path / "a.tsv", memory_graph(IDS)
    folder = update_graph(whole, add=[file])
    assert folder.manifest["notes"]["duplicates_added"] == len(IDS)
    assert_equal(KnowledgeGraph.of_folder(folder), expected)
    empty = KnowledgeGraph.of_folder(update_graph(whole, remove=[file]))
    assert empty.triplets.shape == (0, 3)
    assert list(empty.entities) == list(expected.entities)
    assert empty.by_tail.rows(np.arange(3))[1].tolist() == []
    assert_equal(KnowledgeGraph.of_folder(update_graph(whole, add=[file])), expected)


LABELS = (
    "id\tname\nm.01\tAlien\nM.02\t Ridley  Scott\nm.04\tAlien\nm.99\tNobody\nm.01\tX\n"
)


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
def test_labels_become_names_and_ids_stay_identities(tmp_path, small_chunks, suffix):
    text = LABELS if suffix == ".tsv" else LABELS.replace("\t", ",")
    (tmp_path / f"labels{suffix}").write_text(text + f"m.03{text[2]}  \n")
    source = BuildSettings(labels=tmp_path / f"labels{suffix}")
    triplets, out = write_tsv(tmp_path / "a.tsv", IDS), tmp_path / "graph"
    folder = build_graph([triplets], out, source)
    graph = KnowledgeGraph.open(out, verify=True)
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
    more = write_tsv(tmp_path / "b.tsv", [("m.03", "who", "m.05")])
    update_graph(out, BuildSettings(labels=tmp_path / "more.tsv"), add=[more])
    graph = KnowledgeGraph.open(out, verify=True)
    assert list(graph.entities) == [*shown[:2], "Cast", "Alien", "1979", "Jones"]
    assert not graph.unnamed_mask.any()
    assert graph.find("jones") == 5
    # Labels stay through an update that brings none.
    update_graph(out, remove=[more])
    assert KnowledgeGraph.open(out).entities[5] == "Jones"


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
    known = ("Alien", "P57", "Ridley Scott")
    assert named == {known, ("Alien", "P161", node), (node, "P1", "Q1")}
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


def test_open_graph_takes_files_or_one_folder(tmp_path, whole):
    with pytest.raises(UserError, match="found nothing"):
        open_graph([])
    with pytest.raises(UserError, match="exactly one GRAPH folder"):
        open_graph([whole, tmp_path / "a.tsv"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no manifest"):
        open_graph([tmp_path / "empty"])
    assert_equal(open_graph([tmp_path / "a.tsv"]), open_graph([whole]))


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
