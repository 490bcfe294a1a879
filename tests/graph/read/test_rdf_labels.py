"""Names that RDF files give: Wikidata, DBpedia, languages, relations."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from graph.graph_files import in_format
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.cli.main import main as kgscout
from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.display_names import LabelTable, named_entities
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read import wikibase_statements
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.types import entity_key

WIKIDATA = """\
<http://www.wikidata.org/entity/Q42> <http://www.wikidata.org/prop/direct/P31> <http://www.wikidata.org/entity/Q5> .
<http://www.wikidata.org/entity/Q42> <http://www.w3.org/2000/01/rdf-schema#label> "Дуглас Адамс"@ru .
<http://www.wikidata.org/entity/Q42> <http://www.w3.org/2004/02/skos/core#prefLabel> "Douglas Adams"@de .
<http://www.wikidata.org/entity/Q42> <http://www.w3.org/2000/01/rdf-schema#label> "Douglas N. Adams"@en .
<http://www.wikidata.org/entity/Q42> <http://schema.org/name> "D. Adams"@en .
<http://www.wikidata.org/entity/Q42> <http://schema.org/description> "author"@en .
<http://www.wikidata.org/entity/Q5> <http://www.w3.org/2000/01/rdf-schema#label> "human"@en-GB .
<http://www.wikidata.org/entity/Q5> <http://www.w3.org/2000/01/rdf-schema#label> "Mensch"@de .
<http://www.wikidata.org/entity/P31> <http://www.w3.org/2000/01/rdf-schema#label> "instance of"@en .
<http://www.wikidata.org/entity/P31> <http://www.w3.org/2000/01/rdf-schema#label> "ist ein"@de .
<http://www.wikidata.org/entity/Q7> <http://www.wikidata.org/prop/direct/P9> <http://www.wikidata.org/entity/Q5> .
"""  # noqa: E501
DBPEDIA = """\
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix dbo: <http://dbpedia.org/ontology/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
dbr:New_York_City dbo:mayor dbr:Caf%C3%A9 ; rdfs:label "New York City"@en , "纽约"@zh .
dbo:mayor rdfs:label "Bürgermeister"@de .
"""


def triplets(graph: KnowledgeGraph) -> set[str]:
    return {" | ".join(graph.triplet(i)) for i in range(len(graph))}


def both(path: Path, language: str | None = None) -> set[str]:
    """The triplets of a file, in memory and in a folder."""
    out = path.with_suffix(".graph")
    small = KnowledgeGraph.open(path, options=ReadOptions(language=language))
    build_graph([path], out, BuildSettings(language=language), overwrite=True)
    large = KnowledgeGraph.open(out, verify=True)
    assert triplets(large) == triplets(small)
    assert large.unnamed_mask.tolist() == small.unnamed_mask.tolist()
    return triplets(small)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (None, "Douglas N. Adams | instance of | human"),
        ("en", "Douglas N. Adams | instance of | human"),
        ("de", "Douglas Adams | ist ein | Mensch"),
        ("ru", "Дуглас Адамс | instance of | human"),  # else English
        ("fr", "Douglas N. Adams | instance of | human"),
    ],
)
def test_entities_and_properties_of_wikidata_have_their_labels(
    tmp_path, language, expected
):
    path = tmp_path / "wikidata.nt"
    path.write_text(WIKIDATA, "utf-8")
    person, _, kind = expected.split(" | ")
    facts = {expected, f"Q7 | P9 | {kind}"}
    if language in (None, "en"):
        facts.add(f"{person} | description | author")
    assert both(path, language) == facts


def test_labels_of_dbpedia_are_names_and_no_facts(tmp_path):
    path = tmp_path / "dbpedia.ttl"
    path.write_text(DBPEDIA, "utf-8")
    # A property in words keeps its name.
    assert both(path) == {"New York City | mayor | Café"}
    graph = KnowledgeGraph.open(path.with_suffix(".graph"))
    assert graph.find("New_York_City") == graph.find("new york city") == 0
    # Given a relation of labels, that one counts and others are facts.
    build = BuildSettings(label_relation="skos:prefLabel")
    build_graph([path], tmp_path / "g", build)
    assert len(KnowledgeGraph.open(tmp_path / "g")) == 4


def test_a_name_of_foaf_counts_where_there_is_no_label(tmp_path):
    path = tmp_path / "kg.ttl"
    path.write_text(
        "@prefix f: <http://xmlns.com/foaf/0.1/> . @prefix : <http://x.org/> .\n"
        "@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':a f:name "Ann Lee" ; f:knows :b . :b f:name "Bo" ; r:label "Bo Ek" .\n',
        encoding="utf-8",
    )
    graph = KnowledgeGraph.open(path)
    assert [graph.triplet(i) for i in range(len(graph))] == [
        ("Ann Lee", "knows", "Bo Ek")
    ]


def test_equal_labels_of_different_entities_stay_apart(tmp_path):
    text = "".join(
        f'<http://x/Q{i}> <http://x/r> "{note}" .\n'
        f'<http://x/Q{i}> <http://www.w3.org/2000/01/rdf-schema#label> "Paris"@en .\n'
        for i, note in ((1, "city"), (2, "hero"), (3, "paris"))
    )
    (tmp_path / "kg.nt").write_text(text)
    small = KnowledgeGraph.open(tmp_path / "kg.nt")
    assert triplets(small) == {
        "Paris | r | city",
        "Paris (Q2) | r | hero",
        "Paris (Q3) | r | paris (text)",
    }
    build_graph([tmp_path / "kg.nt"], tmp_path / "graph")
    large = KnowledgeGraph.open(tmp_path / "graph")
    assert large.find_every("Paris").tolist() == [5, 0, 2, 4]
    assert len(large) == len(small) == 3


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdABxy"), max_size=6)
)
def test_names_from_labels_are_all_different(labels):
    table = LabelTable()
    for id, label in labels.items():
        table(id, label, 0)
    names = named_entities("abcdefg", table)
    assert len({entity_key(name) for name in names}) == 7
    for id, name in zip("abcdefg", names, strict=True):
        assert name.startswith(labels.get(id, id))


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "kg.nt").write_text(WIKIDATA, "utf-8")
    build_graph([tmp_path / "kg.nt"], tmp_path / "graph")
    return tmp_path / "graph"


def test_named_relations_are_known_by_both_names_later(tmp_path, folder):
    (tmp_path / "more.tsv").write_text("Q9\tP31\tQ5\n")
    update_graph(folder, add=[tmp_path / "more.tsv"])
    graph = KnowledgeGraph.open(folder, verify=True)
    assert list(graph.relations) == ["instance of", "description", "P9"]
    assert "Q9 | instance of | human" in triplets(graph)
    (tmp_path / "wrong.tsv").write_text("Q9\tinstance of\tQ5\nQ42\tP31\tQ5\n")
    update_graph(folder, remove=[tmp_path / "wrong.tsv"])
    left = triplets(KnowledgeGraph.open(folder))
    assert left == {"Douglas N. Adams | description | author", "Q7 | P9 | human"}


def test_relations_are_named_by_a_file(tmp_path, folder, capsys):
    file = tmp_path / "names.csv"
    file.write_text("relation,name\nP9,child of\ninstance of,is a\nP8,none\n")
    assert kgscout(["graph", "--out", str(folder), "--relation-names", str(file)]) == 0
    assert "1 names of no relation" in capsys.readouterr().out
    graph = KnowledgeGraph.open(folder, verify=True)
    assert list(graph.relations) == ["is a", "description", "child of"]
    assert list(GraphFolder.open(folder).relation_ids) == ["P31", "description", "P9"]
    file.write_text("P9\tdescription\nP31\tP31\n")  # two of one name stay apart
    file = file.rename(tmp_path / "names.tsv")
    update_graph(folder, BuildSettings(relation_names=file))
    names = list(KnowledgeGraph.open(folder).relations)
    assert names == ["P31", "description", "description (P9)"]


def test_a_name_triplet_of_a_table_names_an_identifier(tmp_path):
    table = tmp_path / "drugs.tsv"
    table.write_text(
        "DB00945\ttreats\tDOID:1234\nDB00945\tname\tAspirin\nDOID:1234\tlabel\tfever\n"
        "TP53\tname\ttumor protein p53\n"  # people say TP53
    )
    build_graph([table], tmp_path / "graph")
    expected = {("Aspirin", "treats", "fever"), ("TP53", "name", "tumor protein p53")}
    for graph in (
        KnowledgeGraph.open([table]),
        KnowledgeGraph.open(tmp_path / "graph"),
    ):
        rows = np.asarray(graph.triplets).tolist()
        names, relations = graph.entities, graph.relations
        assert {(names[h], relations[r], names[t]) for h, r, t in rows} == expected


@pytest.mark.parametrize("prefix", ["prop/direct", "prop", "prop/statement"])
@pytest.mark.parametrize(
    ("label", "language", "expected"),
    [
        ("", None, "place of birth"),
        ("", "de", "place of birth"),
        ('"birthplace"@en', None, "birthplace"),  # of the file
        ('"birthplace"@en', "fr", "birthplace"),
        ('"Geburtsort"@de', "de", "Geburtsort"),
        ('"Geburtsort"@de', None, "place of birth"),  # in the language
    ],
)
def test_properties_of_wikidata_have_names_without_the_file(
    tmp_path, prefix, label, language, expected
):
    wikidata, is_called = "http://www.wikidata.org", "<http://schema.org/name>"
    path = tmp_path / "kg.nt"
    text = (
        f"<{wikidata}/entity/Q1> <{wikidata}/{prefix}/P19> <{wikidata}/entity/Q2> .\n"
    )
    name = f"<{wikidata}/entity/P19> {is_called} {label} .\n"
    path.write_text(text + name * bool(label))
    assert both(path, language) == {f"Q1 | {expected} | Q2"}
    path.write_text(text.replace("www.wikidata", "our-wikibase"))
    assert both(path, language) == {"Q1 | P19 | Q2"}


def test_the_known_properties_of_wikidata_are_packaged_and_different():
    file = Path(wikibase_statements.__file__).with_name("wikidata_properties.txt")
    rows = [line.split(" ", 1) for line in file.read_text("utf-8").splitlines()]
    ids = [int(id.removeprefix("P")) for id, _ in rows]
    assert ids == sorted({*ids})
    assert len({name for _, name in rows}) == len(rows) > 300
    settings = tomllib.loads((file.parents[3] / "pyproject.toml").read_text("utf-8"))
    packaged = settings["tool"]["setuptools"]["package-data"]["kgscout_jax"]
    assert "graph/read/*.txt" in packaged


STATEMENTS = """\
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pr: <http://www.wikidata.org/prop/reference/> .
@prefix ref: <http://www.wikidata.org/reference/> .
@prefix v: <http://www.wikidata.org/value/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix wb: <http://wikiba.se/ontology#> .
@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
wds:Q1-A a wb:Statement , wb:BestRank ; wb:rank wb:NormalRank ; ps:P166 wd:Q2 ;
  pq:P585 "1903" ; prov:wasDerivedFrom ref:0123456789012345678901234567890123456789 .
wd:Q1 wdt:P166 wd:Q2 ; p:P166 wds:Q1-A ; r:label "Marie Curie"@en ; wdt:P569 "1867" ;
  wdt:P570 <http://www.wikidata.org/.well-known/genid/0a1c> ;
  <http://x/wrote> <http://x/.well-known/genid/book> ;
  p:P569 wds:Q1-B , wds:Q1-C ; p:P99991 wds:Q1-D , wds:Q1-E .
wd:Q2 r:label "Nobel Prize"@en .  wd:P166 r:label "award received"@en .
wd:P569 r:label "date of birth"@en . wd:P585 r:label "point in time"@en .
wds:Q1-B a wb:BestRank ; wb:rank wb:NormalRank ; ps:P569 "1867" ;
  psv:P569 v:01234567890123456789012345678901 .
v:01234567890123456789012345678901 wb:timePrecision 9 .
wds:Q1-C wb:rank wb:DeprecatedRank ; ps:P569 "1868" ; pq:P585 "1900" .
wds:Q1-D wb:rank wb:NormalRank ; ps:P99991 "5" ; pq:P585 "1904" .
wds:Q1-E ps:P99991 <http://www.wikidata.org/.well-known/genid/0a1b> .
ref:0123456789012345678901234567890123456789 pr:P854 <http://nobel.org/curie> .
<http://www.wikidata.org/wiki/Special:EntityData/Q1> wb:identifiers 3 ;
  <http://schema.org/version> 17 .
"""


@pytest.mark.parametrize("name", ["kg.ttl", "kg.nt"])
def test_a_statement_of_wikidata_is_its_triplet_and_a_row_of_its_qualifiers(
    tmp_path, name
):
    path = tmp_path / name
    path.write_text(in_format(STATEMENTS, name), "utf-8")
    assert both(path) == {
        "Marie Curie | award received | Nobel Prize",
        "_:Q1-A | source | Marie Curie",
        "_:Q1-A | award received | Nobel Prize",
        "_:Q1-A | point in time | 1903",
        "Marie Curie | date of birth | 1867",
        "Marie Curie | wrote | book",  # no value of Wikibase
        "_:Q1-D | source | Marie Curie",  # behind another value, which is not here
        "_:Q1-D | P99991 | 5",
        "_:Q1-D | point in time | 1904",
    }
    graph = KnowledgeGraph.open(path)
    unnamed = np.array(graph.entities)[graph.unnamed_mask]
    assert {*unnamed} == {"_:Q1-A", "_:Q1-D"}


def test_statements_far_from_their_items_are_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(wikibase_statements, "MOST_HELD", 2)
    items = "".join(f"wd:Q{i} p:P1 wds:Q{i}-A .\n" for i in range(1, 5))
    values = "".join(f'wds:Q{i}-A ps:P1 "{i}" ; pq:P2 "x" .\n' for i in range(1, 5))
    prefixes = STATEMENTS[: STATEMENTS.index("wds:Q1-A a")]
    path = tmp_path / "kg.ttl"
    path.write_text(f"{prefixes}{items}{values}")
    found = triplets(KnowledgeGraph.open(path))
    for i in range(1, 5):
        row = {
            f"_:Q{i}-A | source | Q{i}",
            f"_:Q{i}-A | P1 | {i}",
            f"_:Q{i}-A | P2 | x",
        }
        assert row <= found
