"""JSON in the forms of other programs: databases, and graphs made of texts."""

from __future__ import annotations

import json

import pytest
from graph_facts import facts, write


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
