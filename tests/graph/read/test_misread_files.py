"""Files of databases and tools that read well and mean something else."""

from __future__ import annotations

import json
import logging
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph.graph_files import facts

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import graph_linker
from kgscout_jax.graph.read.options import ReadOptions

ROWS_OF_TABLES = """\
@prefix l: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix v: <http://ex.org/vocab/> .
<http://ex.org/person/1> l:label "Ann" ; v:worksFor <http://ex.org/company/1> .
<http://ex.org/company/1> l:label "Acme" ; v:locatedIn <http://ex.org/city/1> .
<http://ex.org/city/1> v:since <http://dbpedia.org/resource/1984> .
"""
TICKETS = """\
head,relation,tail
PROJ-1234,label,bug
PROJ-1234,label,urgent
CHEBI:15365,label,aspirin
CHEBI:15365,treats,PROJ-1234
"""
LISTS = '{"nodes": [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Acme"}], %s}'
EDGE = '"%s": [{"source": 1, "target": 2, "type": "WORKS_AT"}]'
RELATIONSHIPS = """"rels": [{"type": "relationship", "label": "WORKS_AT",
    "start": {"id": 1}, "end": {"id": 2}}]"""


FILES = [
    (
        "rows.ttl",
        ROWS_OF_TABLES,
        {"Ann | worksFor | Acme", "Acme | locatedIn | city/1"}
        | {"city/1 | since | 1984"},
    ),
    (
        "tickets.csv",
        TICKETS,
        {"PROJ-1234 | label | bug", "PROJ-1234 | label | urgent"}
        | {"aspirin | treats | PROJ-1234"},
    ),
    (
        "missing.csv",
        "head,relation,tail\nAnn,spouse,NULL\nn/a,knows,Bo\nBo,age,\nAnn,knows,Bo\n",
        {"Ann | knows | Bo"},
    ),
    (
        "no_value.csv",
        "name;lake;depth;firm;state\nNord;k. A.;12;Philips N.V.;N.C.\n"
        "Ufer;Dieksee;keine Angabe;n.c.;s/o\nSand;Non renseigné;Sin datos;k.A.;n.d.\n",
        {"Nord | depth | 12", "Nord | firm | Philips N.V.", "Nord | state | N.C."}
        | {"Ufer | lake | Dieksee"},
    ),
    (
        "caret.csv",
        'Subj^Pred^Obj\nAnn^knows^Bo\nBo^likes^"^"\nAnn^age^\n' + "a^b^c\n" * 30,
        {"Ann | knows | Bo", "Bo | likes | ^", "a | b | c"},
    ),
    (
        "yago.tsv",
        "<id_1>\t<Ulm>\t<isLocatedIn>\t<Germany>\t\n"
        "\t<Ulm>\trdf:type\t<wordnet_city_108524735>\t\n"
        '<id_3>\t<Ann>\t<wasBornOnDate>\t"1855-##-##"^^xsd:date\t1855.0\n',
        {"Ulm | isLocatedIn | Germany", "Ulm | rdf:type | city"}
        | {"Ann | wasBornOnDate | 1855"},
    ),
    (
        "freebase.tsv",
        'm.01\ttype.object.name\t"Köln"@de\nm.01\ttype.object.name\t"Cologne"@en\n'
        'm.01\tlocation.founded\t"0050"^^<http://www.w3.org/2001/XMLSchema#gYear>\n'
        'm.01\tlocation.area\t"405"\nHeroes\tmusic.album.title\t"Heroes"\n',
        {"Cologne | location.founded | 0050", "Cologne | location.area | 405"}
        | {'Heroes | music.album.title | "Heroes"'},
    ),
    (
        "header.csv",
        "entity_x,relation,entity_y\nAnn,knows,Bo\nBo,likes,Ann\n",
        {"Ann | knows | Bo", "Bo | likes | Ann"},
    ),
    (
        "no_header.tsv",
        "x\trelation\tBo\nAnn\tknows\tBo\n",
        {"x | relation | Bo", "Ann | knows | Bo"},
    ),
    ("rels.json", LISTS % RELATIONSHIPS, {"Ann | WORKS_AT | Acme"}),
    *(
        (f"{name}.json", LISTS % EDGE % name, {"Ann | WORKS_AT | Acme"})
        for name in ("relationships", "relations", "triples")
    ),
]


@pytest.mark.parametrize(
    ("name", "text", "expected"), FILES, ids=[name for name, *_ in FILES]
)
def test_a_file_holds_the_facts_that_people_see_in_it(tmp_path, name, text, expected):
    file = tmp_path / name
    file.write_text(text, "utf-8")
    assert facts(file) == expected


def test_lists_without_edges_are_named(tmp_path):
    file = tmp_path / "graph.json"
    file.write_text(LISTS % '"adjacency": [[{"id": 2}], []]')
    with pytest.raises(UserError, match=r"expected edges or links .* 'adjacency'"):
        KnowledgeGraph.open(file, options=ReadOptions(properties=True))


def test_what_is_left_out_or_named_is_told(tmp_path, caplog):
    file = tmp_path / "drugs.csv"
    rows = ["DB00945,name,Aspirin", "DB00945,treats,fever", "DB00945,cost,NULL"]
    file.write_text("\n".join(["head,relation,tail", *rows]))
    with caplog.at_level(logging.INFO, "kgscout"):
        KnowledgeGraph.open(file)
    told = " ".join(caplog.messages)
    assert "1 of its triplets say how an identifier is called" in told
    assert "1 row has no value at an end (NULL), is left out" in told


@pytest.mark.parametrize("name", ["kg.jsonl", "kg.parquet"])
def test_triplets_whose_tail_is_null_are_left_out_and_counted(tmp_path, caplog, name):
    rows = [("Ann", "boss", "Bo"), ("Bo", "boss", None), ("Cy", "boss", "Bo")]
    columns = ("head", "relation", "tail")
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    if name.endswith(".jsonl"):
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)))
    else:
        pq.write_table(pa.Table.from_pylist(records), tmp_path / name)
    with caplog.at_level(logging.INFO, "kgscout"):
        assert facts(tmp_path / name) == {"Ann | boss | Bo", "Cy | boss | Bo"}
    assert "1 row has no value at an end (null), is left out" in " ".join(
        caplog.messages
    )


def test_composed_and_decomposed_names_are_one_entity(tmp_path):
    composed, decomposed = (
        unicodedata.normalize(form, "Zürich") for form in ("NFC", "NFD")
    )
    assert composed != decomposed
    file = tmp_path / "cities.tsv"
    text = f"ETH\tlocated in\t{composed}\n{decomposed}\tin country\tSwitzerland\n"
    file.write_text(text, "utf-8")
    assert len(facts(file)) == 2
    graph = KnowledgeGraph.open(file)
    assert len(graph.entities) == 3
    assert graph.find(decomposed) == graph.find(composed) is not None


@pytest.mark.parametrize("suffix", [".nt", ".ttl"])
def test_blank_nodes_of_different_files_are_different(tmp_path, suffix):
    files = [tmp_path / f"{name}{suffix}" for name in ("one", "two")]
    for file, city in zip(files, ("Oslo", "Bergen"), strict=True):
        statements = [
            f"<http://e/{file.stem}> <http://e/address> _:b0 .",
            f'_:b0 <http://e/city> "{city}" .',
        ]
        file.write_text("\n".join(statements) + "\n")
    assert "_:b0 | city | Oslo" in facts(files[0])
    blank = [f"_:{tmp_path.name}/{name}#b0" for name in ("one", "two")]
    assert facts(files) == {
        *(f"one | address | {blank[0]}", f"two | address | {blank[1]}"),
        *(f"{blank[0]} | city | Oslo", f"{blank[1]} | city | Bergen"),
    }


def test_ids_of_labelled_entities_are_found_and_linked(tmp_path):
    file = tmp_path / "drugs.tsv"
    file.write_text("DB00945\ttreats\tfever\nDB00945\tname\tAspirin\n")
    graph = KnowledgeGraph.open(file)
    assert graph.find("DB00945") == graph.find("aspirin") is not None
    links = graph_linker(graph).link("What does DB00945 treat?")
    assert [graph.entities[link.entity] for link in links] == ["Aspirin"]


def test_rows_of_edges_are_no_names_to_link(tmp_path):
    file = Path(tmp_path / "jobs.csv")
    file.write_text("head,relation,tail,since\nAnn,works at,Acme,2019\n")
    graph = KnowledgeGraph.open(file, options=ReadOptions(properties=True))
    assert "_:jobs:2" in graph.entities
    links = graph_linker(graph).link("Who works at Acme?")
    assert [graph.entities[link.entity] for link in links] == ["Acme"]
