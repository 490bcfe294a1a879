"""A graph's linker: its index beside the GRAPH folder, and aliases from a file."""

from __future__ import annotations

import gzip
import json
import logging

import numpy as np
import pytest
from graph.graph_files import write_tsv

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import LinkIndex, build_index
from kgscout_jax.graph.link.aliases import read_aliases
from kgscout_jax.graph.link.graph_index import (
    graph_linker,
    linker_of,
    open_or_build_index,
    rules_sha256,
)

TRIPLETS = [
    ("Tom Hanks", "starred_in", "Cast Away"),
    ("Tom Hanks", "starred_in", "Big"),
    ("Tom Hanks", "award", "m.0abc"),
    ("Tom Hanks!", "starred_in", "Home Video"),
    ("United States of America", "contains", "New York"),
]


@pytest.fixture
def graph() -> KnowledgeGraph:
    return KnowledgeGraph.from_triplets(TRIPLETS)


def test_a_graph_in_memory_is_indexed_with_its_degrees(graph):
    index = open_or_build_index(graph)
    names = len(index) - len(index.aliases)
    assert names == len(graph.entities) - 1, "the mid is left out"
    link = graph_linker(graph).link("what was tom hanks in")[0]
    assert link.name == "Tom Hanks"
    rows = graph.triplets[:, [0, 2]]
    for surface in range(len(index)):
        degree = (rows == index.entity_of(surface)).sum()
        assert np.isclose(index.tables.degrees[surface], np.log1p(degree))


def test_names_in_camel_case_are_topics():
    people = "CharlesBabbage", "CharlieBabbage", "JamesSmith", "AdaLovelace"
    graph = KnowledgeGraph.from_triplets([(each, "bornIn", "York") for each in people])
    linker = graph_linker(graph)
    for name, words in (
        ("CharlesBabbage", "Charles Babbage"),
        ("CharlieBabbage", "Charlie Babbage"),
        ("JamesSmith", "james smith"),
        ("AdaLovelace", "Ada Lovelace"),
    ):
        link = linker.link(f"Where was {words} born?")[0]
        assert (link.name, link.how) == (name, "normalised")


def test_a_stored_index_is_opened_not_built(graph, tmp_path, caplog):
    caplog.set_level(logging.INFO, "kgscout")
    first = graph_linker(graph, folder=tmp_path)
    before = (tmp_path / "keys.npy").stat().st_mtime_ns
    again = graph_linker(graph, folder=tmp_path)
    assert isinstance(again.index.tables.keys.base, np.memmap)
    assert (tmp_path / "keys.npy").stat().st_mtime_ns == before
    assert not (tmp_path / "names_data.npy").exists(), "the graph has its names"
    assert again.link("tom hanks") == first.link("tom hanks")
    assert not caplog.records


def test_an_index_that_is_damaged_or_of_other_names_is_rebuilt(graph, tmp_path, caplog):
    caplog.set_level(logging.INFO, "kgscout")
    build_index(["Somebody"]).save(tmp_path, aliases_sha256=rules_sha256())
    assert graph_linker(graph, folder=tmp_path).link("tom hanks")[0].name == "Tom Hanks"
    assert "built over 1 names" in caplog.text
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"version": 1}))
    assert graph_linker(graph, folder=tmp_path).link("tom hanks")[0].name == "Tom Hanks"
    assert "version 1, expected 4" in caplog.text
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest
    (tmp_path / "keys.npy").write_bytes(b"")
    assert graph_linker(graph, folder=tmp_path).link("tom hanks")[0].name == "Tom Hanks"
    LinkIndex.open(tmp_path, graph.entities)


def test_an_index_is_in_memory_if_its_folder_cannot_be_written(graph, tmp_path, caplog):
    caplog.set_level(logging.INFO, "kgscout")
    (tmp_path / "file").write_text("")
    linker = graph_linker(graph, folder=tmp_path / "file" / "link")
    assert linker.link("tom hanks")[0].name == "Tom Hanks"
    assert "cannot be written" in caplog.text


def test_aliases_are_linked_and_a_changed_file_rebuilds_the_index(graph, tmp_path):
    file, folder = tmp_path / "aliases.tsv", tmp_path / "link"
    file.write_text("united states of america\tColumbia\nTom Hanks\tForrest\n\n")
    linker = graph_linker(graph, aliases=file, folder=folder)
    link = linker.link("who leads columbia")[0]
    assert (link.name, link.how) == ("United States of America", "alias")
    file.write_text("United States of America\tUncle Sam\n")
    linker = graph_linker(graph, aliases=file, folder=folder)
    assert linker.link("who is uncle sam")[0].how == "alias"
    assert all(link.how != "alias" for link in linker.link("who leads columbia"))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which American films were released in 2000?", "United States of America"),
        ("who leads the USA", "United States of America"),
        ("What does American Home Video sell?", "Home Video"),
    ],
)
def test_what_is_from_a_country_names_it(graph, question, name):
    assert graph_linker(graph).link(question)[0].name == name


def test_a_country_that_is_called_by_both_names_keeps_them_apart():
    graph = KnowledgeGraph.from_triplets([
        ("UK", "near", "France"), ("United Kingdom", "near", "France")
    ])  # fmt: skip
    linker = graph_linker(graph)
    assert [each.name for each in linker.link("Which firms are in the UK?")] == ["UK"]
    assert linker.link("Who is French?")[0].name == "France"


def test_aliases_of_a_gzipped_file_skip_unknown_names(graph, tmp_path, caplog):
    caplog.set_level(logging.INFO, "kgscout")
    file = tmp_path / "aliases.tsv.gz"
    with gzip.open(file, "wt") as handle:
        handle.write("Big\tThe Big One\r\nNobody\tNo one\n")
    big = graph.find("Big")
    assert read_aliases(file, graph.find_every) == [("The Big One", big)]
    assert "1 of 2 names are not in the graph" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Big\n", "aliases.tsv:1: expected name TAB alias, found 1 column"),
        ("Big\tA\nBig\tB\tC\n", "aliases.tsv:2: expected name TAB alias, found 3 col"),
        ("Big\t \n", "aliases.tsv:1: .* found 2 columns, one of them empty"),
        ("Nobody\tA\n", "none of its 1 names is in the graph"),
        (None, "no such file"),
    ],
)
def test_malformed_or_missing_aliases_are_refused(graph, tmp_path, text, message):
    file = tmp_path / "aliases.tsv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=message):
        graph_linker(graph, aliases=file)


def test_the_index_beside_a_graph_folder_goes_when_the_graph_changes(tmp_path):
    out = tmp_path / "graph"
    more = write_tsv(tmp_path / "b.tsv", [("Tom Hanks", "born_in", "Concord")])
    build_graph([write_tsv(tmp_path / "a.tsv", TRIPLETS)], out)
    linker = graph_linker(KnowledgeGraph.open(out))
    assert linker.link("what was tom hanks in")[0].name == "Tom Hanks"
    (kept,) = out.glob("v*/link/manifest.json")
    opened = graph_linker(KnowledgeGraph.open(out, verify=True))
    assert isinstance(opened.index.tables.keys.base, np.memmap)
    update_graph(out, add=[more])
    assert not kept.exists()
    linker = graph_linker(KnowledgeGraph.open(out))
    assert linker.link("what is in concord")[0].name == "Concord"


def test_a_name_that_triplets_give_leads_to_what_it_names():
    triplets = [
        ("Avatar (2009 film)", "name", "Avatar"), ("Avatar (2009 film)", "budget", "9"),
        ("Q183", "alt label", "FRG"), ("Q183", "capital", "Berlin"),
        ("Berlin", "alias", "Bern"), ("Bern", "in", "Switzerland"),
    ]  # fmt: skip
    linker = linker_of(KnowledgeGraph.from_triplets(triplets))
    names = [linker.link(f"who likes {name}")[0].name for name in ("Avatar", "FRG")]
    assert names == ["Avatar (2009 film)", "Q183"]
    # A city that is somebody's alias stays a city.
    assert linker.link("who likes Bern")[0].name == "Bern"


def test_a_row_without_a_name_goes_by_its_number():
    triplets = [
        ("_:orders:2", "order_id", "O17"), ("_:orders:2", "part", "Bolt"),
        ("_:orders:3", "order_id", "O18"), ("_:orders:3", "part", "Bolt"),
        ("_:orders:2", "owner_id", "P9"), ("_:orders:3", "owner_id", "P9"),
    ]  # fmt: skip
    graph = KnowledgeGraph.from_triplets(triplets)
    (link,) = linker_of(graph).link("which part is in order O17")
    assert graph.entities[link.entity] == "_:orders:2"
    # An id that several rows have is none of their own.
    (link,) = linker_of(graph).link("which parts has P9")
    assert link.name == "P9"


def test_what_codes_name_goes_by_its_own_address():
    triplets = [
        ("HX-1", "address", "5 Elm St"), ("HX-2", "address", "7 Oak Ave"),
        ("HX-1", "city", "Bern"), ("HX-2", "city", "Bern"),
        ("Ann Lee", "home address", "9 Mill Ln"), ("Bo Ray", "home address", "1 Hall"),
    ]  # fmt: skip
    linker = linker_of(KnowledgeGraph.from_triplets(triplets))
    assert linker.link("who sells 7 oak ave")[0].name == "HX-2"
    assert linker.link("who lives at 9 Mill Ln")[0].name == "9 Mill Ln"  # of a person
