"""JSON in the forms of other programs: databases, and graphs made of texts."""

from __future__ import annotations

import json

import pytest
from graph_facts import facts, write

from kgscout_jax.errors import UserError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            [
                {
                    "nodes": [
                        {"id": "Ann", "type": "Person", "properties": {"born": 1980}},
                        {"id": "Rome", "type": "City", "properties": {}},
                    ],
                    "relationships": [
                        {
                            "source": {"id": "Ann", "type": "Person"},
                            "target": {"id": "Rome", "type": "City"},
                            "type": "BORN_IN",
                            "properties": {},
                        }
                    ],
                    "source": {"page_content": "Ann was born in Rome."},
                }
            ],
            {
                "Ann | BORN_IN | Rome",
                "Ann | type | Person",
                "Rome | type | City",
                "Ann | born | 1980",
            },
            id="documents of LangChain",
        ),
        pytest.param(
            [
                {
                    "source": {"id": "p1", "label": "Ann", "type": "Person"},
                    "relation": {"id": "r1", "label": "works in"},
                    "target": {"id": "d1", "label": "Cardiology", "type": "Unit"},
                },
                {
                    "source": {"id": "p1", "label": "Ann", "type": "Person"},
                    "relation": {"id": "r2", "label": "joined on"},
                    "target": {"id": None, "label": "2011-09-01", "type": "date"},
                },
            ],
            {
                "Ann | works in | Cardiology",
                "Ann | joined on | 2011-09-01",
                "Ann | type | Person",
                "Cardiology | type | Unit",
            },
            id="triplets of objects",
        ),
        pytest.param(
            {
                "graph": {
                    "label": "firm",
                    "nodes": {"a": {"label": "Ann"}, "b": {"label": "Acme"}},
                    "edges": [{"source": "a", "target": "b", "relation": "works at"}],
                }
            },
            {"Ann | works at | Acme"},
            id="JSON Graph Format",
        ),
        pytest.param(
            {
                "nodes": {"Ann": {"label": "PERSON", "name": "Ann", "properties": {}}},
                "relations": {
                    "e": {"label": "KNOWS", "source_id": "Ann", "target_id": "Bo"}
                },
                "triplets": [["Ann", "KNOWS", "Bo"]],
            },
            {"Ann | KNOWS | Bo", "Ann | label | PERSON"},
            id="property graph of LlamaIndex",
        ),
        pytest.param(
            {"name": {"0": "Ann", "1": "Bo"}, "age": {"0": 41, "1": None}},
            {"Ann | age | 41"},
            id="columns of pandas",
        ),
        pytest.param(
            {
                "columns": ["name", "age"],
                "index": [0, 1],
                "data": [["Ann", 41], ["Bo", 39]],
            },
            {"Ann | age | 41", "Bo | age | 39"},
            id="a split data frame of pandas",
        ),
        pytest.param(
            [
                {
                    "_id": {"$oid": "64f1"},
                    "name": "Rex",
                    "born": {"$date": "2017-05-12T00:00:00Z"},
                    "kg": {"$numberDecimal": "19.4"},
                    "__v": 0,
                }
            ],
            {"Rex | born | 2017-05-12", "Rex | kg | 19.4"},
            id="MongoDB",
        ),
        pytest.param(
            {
                "data": {
                    "games": {
                        "totalCount": 2,
                        "edges": [
                            {"node": {"name": "Azul", "maker": {"name": "Next Move"}}},
                            {"node": {"name": "Catan", "maker": {"name": "Kosmos"}}},
                        ],
                    }
                }
            },
            {
                "Azul | maker | Next Move",
                "Catan | maker | Kosmos",
                "Azul | type | game",
                "Catan | type | game",
            },
            id="GraphQL",
        ),
        pytest.param(
            {
                "nodes": [
                    {"kind": "Drug", "identifier": "DB1", "name": "Aspirin"},
                    {"kind": "Disease", "identifier": 7, "name": "Gout"},
                ],
                "edges": [
                    {
                        "source_id": ["Drug", "DB1"],
                        "target_id": ["Disease", 7],
                        "kind": "treats",
                    }
                ],
            },
            {
                "Aspirin | treats | Gout",
                "Aspirin | kind | Drug",
                "Gout | kind | Disease",
                "Aspirin | identifier | DB1",
                "Gout | identifier | 7",
            },
            id="Hetionet",
        ),
        pytest.param(
            {
                "entities": ["Ann", "Bo"],
                "edges": ["knows"],
                "relations": [["Ann", "knows", "Bo"]],
            },
            {"Ann | knows | Bo"},
            id="KGGen",
        ),
        pytest.param(
            [
                {"text": "Ann knows Bo.", "triples": [["Ann", "knows", "Bo"]]},
                {
                    "text": "Bo is a cook.",
                    "triples": [{"head": "Bo", "type": "job", "tail": "cook"}],
                },
            ],
            {"Ann | knows | Bo", "Bo | job | cook"},
            id="sentences with their triplets",
        ),
        pytest.param(
            [
                {
                    "source": "Ann",
                    "target": "Bo",
                    "type": "KNOWS",
                    "properties": {"since": 2011},
                }
            ],
            {
                "Ann | KNOWS | Bo",
                "_:kg:1 | source | Ann",
                "_:kg:1 | target | Bo",
                "_:kg:1 | since | 2011",
            },
            id="edges with their properties in an object",
        ),
        pytest.param(
            [
                {
                    "n": {
                        "identity": 1,
                        "labels": ["Ward"],
                        "properties": {"name": "W"},
                    },
                    "r": {
                        "identity": 9,
                        "start": 1,
                        "end": 2,
                        "type": "IN",
                        "properties": {},
                    },
                    "m": {"identity": 2, "labels": [], "properties": {"name": "Unit"}},
                }
            ],
            {"W | IN | Unit", "W | type | Ward"},
            id="rows of a query of Neo4j",
        ),
        pytest.param(
            [
                {
                    "id": {"@type": "g:Int64", "@value": 1},
                    "label": "ship",
                    "outE": {
                        "ownedBy": [
                            {"id": "e", "inV": {"@type": "g:Int64", "@value": 2}}
                        ]
                    },
                    "properties": {
                        "name": [{"id": "p", "value": "Petrel"}],
                        "built": [
                            {
                                "id": "q",
                                "value": {"@type": "g:Date", "@value": 86400000},
                            }
                        ],
                    },
                },
                {
                    "id": {"@type": "g:Int64", "@value": 2},
                    "label": "firm",
                    "inE": {
                        "ownedBy": [
                            {"id": "e", "outV": {"@type": "g:Int64", "@value": 1}}
                        ]
                    },
                    "properties": {"name": [{"id": "r", "value": "Acme"}]},
                },
            ],
            {
                "Petrel | ownedBy | Acme",
                "Petrel | type | ship",
                "Acme | type | firm",
                "Petrel | built | 1970-01-02",
            },
            id="GraphSON",
        ),
        pytest.param(
            {
                "type": "FeatureCollection",
                "features": [
                    {
                        "type": "Feature",
                        "properties": {"@id": "node/1", "name": "Old Mill", "beds": 4},
                        "geometry": {"type": "Point", "coordinates": [7.5, 46.9]},
                    },
                    {
                        "type": "Feature",
                        "properties": {"name": "Raven Crag", "natural": "peak"},
                        "geometry": {"type": "Polygon", "coordinates": []},
                    },
                ],
            },
            {
                "Old Mill | beds | 4",
                "Old Mill | latitude | 46.9",
                "Old Mill | longitude | 7.5",
                "Raven Crag | natural | peak",
                "Old Mill | type | feature",
                "Raven Crag | type | feature",
            },
            id="GeoJSON",
        ),
    ],
)
def test_a_value_is_read_as_its_form_says(tmp_path, value, expected):
    assert facts(write(tmp_path / "kg.json", json.dumps(value))) == expected


def test_a_file_of_cytoscape_is_a_graph(tmp_path):
    value = {
        "elements": {
            "nodes": [{"data": {"id": "1", "name": "Aspirin"}}, {"data": {"id": "2"}}],
            "edges": [{"data": {"source": "1", "target": "2", "interaction": "hits"}}],
        }
    }
    path = write(tmp_path / "net.cyjs", json.dumps(value))
    assert facts(path) == {"Aspirin | hits | 2"}


def test_collections_of_arangodb_are_one_graph(tmp_path):
    clubs = [{"_key": "7", "_id": "clubs/7", "_rev": "x", "name": "Ajax"}]
    persons = [{"_key": "7", "_id": "persons/7", "_rev": "x", "name": "Ann"}]
    edge = {"_key": "1", "_id": "plays_for/1", "_from": "persons/7", "_to": "clubs/7"}
    write(tmp_path / "clubs.json", json.dumps(clubs))
    write(tmp_path / "persons.json", json.dumps(persons))
    write(tmp_path / "plays_for.json", json.dumps([edge | {"since": 2019}]))
    found = facts(tmp_path)
    assert {
        "Ann | plays_for | Ajax",
        "Ann | type | person",
        "Ajax | type | club",
    } <= found
    assert any(fact.endswith("since | 2019") for fact in found)


def test_nodes_and_edges_may_be_two_files(tmp_path):
    write(tmp_path / "nodes.json", '[{"id": "n1", "name": "Ann"}, {"id": "n2"}]')
    edges = '[{"source": "n1", "target": "n2", "type": "knows"}]'
    write(tmp_path / "edges.json", edges)
    assert facts(tmp_path) == {"Ann | knows | n2"}


def test_entities_of_wikibase_have_the_names_of_their_properties(tmp_path):
    def snak(kind, value):
        return {"property": "P1", "datavalue": {"type": kind, "value": value}}

    def entity(kind, id, name, claims):
        labels = {"en": {"language": "en", "value": name}}
        return {"type": kind, "id": id, "labels": labels, "claims": claims}

    day = {"time": "+1844-02-01T00:00:00Z", "precision": 10}
    to_town = snak("wikibase-entityid", {"id": "Q2"})
    claims = [
        {
            "mainsnak": to_town,
            "rank": "normal",
            "qualifiers": {"P1": [snak("time", day)]},
        },
        {"mainsnak": snak("quantity", {"amount": "+48"}), "rank": "normal"},
        {"mainsnak": snak("string", "no more"), "rank": "deprecated"},
        {"mainsnak": {"snaktype": "somevalue", "property": "P1"}, "rank": "normal"},
    ]
    rows = [
        entity("property", "P1", "located in", []),
        entity("item", "Q1", "Skerry Light", {"P1": claims}),
        entity("item", "Q2", "Tiree", {}),
    ]
    assert facts(write(tmp_path / "dump.json", json.dumps(rows))) == {
        "Skerry Light | located in | Tiree",
        "Skerry Light | located in | 48",
        "_:dump:1 | source | Skerry Light",
        "_:dump:1 | target | Tiree",
        "_:dump:1 | located in | 1844-02",
    }


def test_a_text_about_an_edge_is_its_relation(tmp_path):
    said = "Bo employs Ann since 2018.<SEP>Ann is the head and owner of the Bo."
    keys = "".join(
        f'<key id="{name}" for="edge" attr.name="{name}" attr.type="string"/>'
        for name in ("description", "keywords", "source_id")
    )
    path = write(
        tmp_path / "kg.graphml",
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f'{keys}<graph edgedefault="undirected"><node id="Ann"/><node id="Bo"/>'
        f'<edge source="Ann" target="Bo"><data key="description">{said}</data>'.replace(
            "<SEP>", "&lt;SEP&gt;"
        )
        + '<data key="keywords">work</data><data key="source_id">chunk-1</data></edge>'
        "</graph></graphml>",
    )
    assert facts(path) == {
        "Bo | employs | Ann",
        "Bo | employs since 2018 | Ann",
        "Ann | is head of | Bo",
        "Ann | is owner of | Bo",
        "Ann | is the head and owner of | Bo",
    }


def test_bills_of_materials_are_graphs_of_components(tmp_path):
    cyclonedx = {
        "bomFormat": "CycloneDX",
        "components": [
            {"type": "library", "bom-ref": "a@1", "name": "alpha", "version": "1"},
            {
                "type": "library",
                "bom-ref": "b@2",
                "name": "beta",
                "licenses": [{"license": {"id": "MIT"}}],
            },
        ],
        "dependencies": [{"ref": "a@1", "dependsOn": ["b@2"]}],
        "vulnerabilities": [
            {
                "id": "CVE-1",
                "ratings": [{"severity": "high"}],
                "affects": [{"ref": "b@2"}],
            }
        ],
    }
    assert facts(write(tmp_path / "bom.json", json.dumps(cyclonedx))) == {
        "alpha | type | library",
        "beta | type | library",
        "alpha | version | 1",
        "beta | license | MIT",
        "alpha | depends on | beta",
        "CVE-1 | type | vulnerability",
        "CVE-1 | severity | high",
        "CVE-1 | affects | beta",
    }
    spdx = {
        "spdxVersion": "SPDX-2.3",
        "packages": [
            {"SPDXID": "S-a", "name": "alpha", "supplier": "Organization: Acme"},
            {"SPDXID": "S-b", "name": "beta", "licenseConcluded": "NOASSERTION"},
        ],
        "relationships": [
            {
                "spdxElementId": "S-a",
                "relationshipType": "DEPENDS_ON",
                "relatedSpdxElement": "S-b",
            }
        ],
    }
    assert facts(write(tmp_path / "spdx.json", json.dumps(spdx))) == {
        "alpha | type | package",
        "beta | type | package",
        "alpha | supplier | Acme",
        "alpha | depends on | beta",
    }


def test_an_ontology_in_obo_has_the_names_of_its_relations(tmp_path):
    text = """format-version: 1.2

[Term]
id: D:1
name: rust
synonym: "red rust" EXACT []
is_a: D:2 ! disease
relationship: R:1 F:1 {source="x"} ! fungus

[Term]
id: D:2
name: disease

[Term]
id: F:1
name: fungus
def: "It rusts." [A:1]

[Term]
id: D:3
name: old rust
is_obsolete: true

[Typedef]
id: R:1
name: caused by
"""
    assert facts(write(tmp_path / "kg.obo", text)) == {
        "rust | synonym | red rust",
        "rust | is_a | disease",
        "rust | caused by | fungus",
        "fungus | definition | It rusts.",
    }


def test_a_graph_in_gml_has_the_labels_of_its_nodes(tmp_path):
    text = (
        'graph [ directed 1 node [ id 0 label "Ann" born 1980 graphics [ x 1.0 ] ]\n'
        'node [ id 1 label "A &#38; Co" ]\n'
        'edge [ source 0 target 1 label "works at" weight 2 ] ]\n'
    )
    assert facts(write(tmp_path / "kg.gml", text)) == {
        "Ann | works at | A & Co",
        "Ann | born | 1980",
    }
    with pytest.raises(UserError, match=r"bad\.gml: no readable GML: "):
        facts(write(tmp_path / "bad.gml", "graph [ node ["))
