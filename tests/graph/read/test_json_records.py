"""Records of JSON: what names them, what objects in them are, where lists stand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from graph_facts import facts, write

from kgscout_jax.errors import UserError


def records(tmp_path: Path, value: object, name: str = "kg.json") -> set[str]:
    return facts(write(tmp_path / name, json.dumps(value, ensure_ascii=False)))


def test_json_objects_with_a_name_are_rows(tmp_path):
    ann = {"Name": "Ann", "likes": ["tea", "jam"], "born": None}
    rows = json.dumps([ann, {"Name": "Bo", "born": 2}])
    expected = {"Ann | likes | tea", "Ann | likes | jam", "Bo | born | 2"}
    assert facts(write(tmp_path / "kg.json", rows)) == expected


def test_a_title_beside_a_name_is_a_fact_of_records(tmp_path):
    rows = json.dumps([{"title": "Cook", "name": "Ann"}, {"label": "Oak", "name": "B"}])
    expected = {"Ann | title | Cook", "B | label | Oak"}
    assert facts(write(tmp_path / "kg.json", rows)) == expected
    rows = json.dumps([{"title": "Red", "label": "Oak"}, {"title": "Blue", "n": 1}])
    expected = {"Red | label | Oak", "Blue | n | 1"}
    assert facts(write(tmp_path / "kg.json", rows)) == expected


def test_records_of_json_have_codes_and_a_kind_as_rows_have(tmp_path):
    rows = [
        {"name": "France", "cca3": "FRA", "borders": ["ESP", "BEL"]},
        {"name": "Spain", "cca3": "ESP", "borders": ["FRA"]},
        {"name": "Belgium", "cca3": "BEL", "borders": ["FRA"]},
    ]
    found = facts(write(tmp_path / "countries.json", json.dumps(rows)))
    assert found == {
        *(f"{row['name']} | type | country" for row in rows),
        *(f"{row['name']} | cca3 | {row['cca3']}" for row in rows),
        "France | borders | Spain",
        "France | borders | Belgium",
        "Spain | borders | France",
        "Belgium | borders | France",
    }


def test_records_stand_among_triplets_or_before_them(tmp_path):
    triplet = {"head": "Ann", "relation": "near", "tail": "Bo"}
    expected = {"Ann | near | Bo", "Ann | born | 1"}
    assert records(tmp_path, [triplet, {"name": "Ann", "born": 1}]) == expected
    rows = [{"name": f"n{i}", "size": i} for i in range(1001)]
    rows.append({"head": "n1", "relation": "near", "tail": "n2"})
    path = write(tmp_path / "kg.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    found = facts(path)
    assert len(found) == 1002 and "n1 | near | n2" in found


@pytest.mark.parametrize(
    "text",
    [
        "name,capital,people\nFrance,Paris,68\nItaly,Rome,59\n",
        "code,born,full name\n7,1980,Ann Lee\n8,1981,Bo Ray\n9,1982,Cy Dee\n",
        "first_name,last_name,office\nAnn,Lee,A\nAnn,Ray,B\nBo,Lee,A\n",
        "name,title,born\nAnn,CEO,1\nBo,Cook,2\nCy,Cook,3\n",
        "tool_id,tool,price,shop\n7,Saw,5,A\n8,Axe,6,B\n9,Hoe,5,A\n",
        "id,name,manager_id\n1,Ann,\n2,Bo,1\n3,Cy,1\n",
        "iso,area,country,people\nFR,5,France,68\nIT,3,Italy,59\nES,5,Spain,47\n",
        "town,townLabel,riverLabel\nhttp://x/1,Ulm,Danube\nhttp://x/2,Bonn,Rhine\n",
    ],
)
def test_flat_records_read_as_the_same_table(tmp_path, text):
    rows = [*csv.DictReader(io.StringIO(text))]
    expected = facts(write(tmp_path / "kg.csv", text))
    assert expected and records(tmp_path, rows) == expected
    # A service returns them in an object, and says how many there are.
    assert records(tmp_path, {"count": 3, "data": {"items": rows}}) == expected


def test_an_object_with_a_name_is_an_entity_and_another_one_more_fields(tmp_path):
    rows = [
        {"name": "Ann", "team": {"id": 7, "name": "Sales", "floor": 2}, "home": None},
        {"name": "Bo", "team": {"id": 8, "name": "IT"}, "home": {"city": "Bern"}},
        {"name": "Cy", "teams": [{"name": "IT"}, {"name": "Sales"}], "team_id": 7},
    ]
    assert records(tmp_path, rows) == {
        "Ann | team | Sales",
        "Sales | floor | 2",
        "Bo | team | IT",
        "Bo | home_city | Bern",
        "Cy | teams | IT",
        "Cy | teams | Sales",
        "Cy | team_id | 7",
    }


def test_an_object_may_be_a_quantity_or_refer_to_a_record(tmp_path):
    ann, bo = {"type": "users", "id": "usr-1"}, {"type": "users", "id": "usr-2"}
    rows = [
        {"id": "pkg-1", "name": "moss", "size": {"value": 3, "unit": "kB"}},
        {"id": "pkg-2", "name": "fern", "keepers": [ann, bo], "instead": "pkg-1"},
        {"id": "pkg-3", "name": "oak", "keepers": [bo], "instead": "pkg-2"},
        {"id": "usr-1", "name": "Ann", "fee": {"amount": 0, "currency": "GBP"}},
        {"id": "usr-2", "name": "Bo", "at": {"value": 1, "rank": 2}},
        {"id": "usr-3", "name": "Cy", "card": {"id": "c-9", "type": "gold"}},
    ]
    assert records(tmp_path, rows) == {
        "moss | size | 3 kB", "fern | keepers | Ann", "fern | keepers | Bo",
        "oak | keepers | Bo", "fern | instead | moss", "oak | instead | fern",
        "Ann | fee | 0 GBP", "Bo | at_value | 1", "Bo | at_rank | 2",
        "Cy | card_id | c-9", "Cy | card_type | gold",  # There is no such record.
    }  # fmt: skip


def test_addresses_are_the_entities_of_these_ids(tmp_path):
    """As in OpenAlex: few references lead to works of the same file."""
    journal = {
        "id": "https://a.org/J1",
        "displayName": "Acta",
        "host": "https://a.org/P",
    }
    rows = [
        {
            "id": "https://a.org/W1",
            "display_name": "Soup",
            "title": "Soup",
            "ids": {"own": "https://a.org/W1"},
        },
        {
            "id": "https://a.org/W2",
            "display_name": "Bread",
            "ids": {"own": "https://a.org/W2", "mag": "77"},
            "cites": ["https://a.org/W1", "https://a.org/W9"],
            "place": {"source": {**journal, "host_name": "Acme"}},
        },
    ]
    assert records(tmp_path, rows) == {
        "Bread | ids_mag | 77",
        "Bread | cites | Soup",
        "Bread | cites | https://a.org/W9",
        "Bread | place_source | Acta",
        "Acta | host | Acme",
    }


def test_objects_of_a_list_without_a_name_are_nodes_without_one(tmp_path):
    order = {"day": 3, "goods": [{"name": "lamp"}, {"name": "desk"}]}
    expected = {
        "Ann | orders | _:kg:1.1",
        "_:kg:1.1 | day | 3",
        "_:kg:1.1 | goods | lamp",
        "_:kg:1.1 | goods | desk",
        "Ann | orders | _:kg:1.2",
        "_:kg:1.2 | day | 4",
    }
    row = {"name": "Ann", "orders": [order, {"day": 4}]}
    assert records(tmp_path, [row]) == expected


def test_what_a_record_says_of_an_entity_of_several_is_said_of_both(tmp_path):
    """Ann leads one project and not the other; a project has one budget."""
    rows = [
        {"name": "Ann", "projects": [{"name": "Atlas", "role": "lead"}]},
        {"name": "Bo", "projects": [{"name": "Atlas", "role": "cook"}, {"name": "X"}]},
    ]
    assert records(tmp_path, rows, "people.json") == {
        "Ann | type | person",
        "Bo | type | person",
        "Ann | projects | Atlas",
        "_:people:1.1 | person | Ann",
        "_:people:1.1 | projects | Atlas",
        "_:people:1.1 | role | lead",
        "Bo | projects | Atlas",
        "_:people:2.1 | person | Bo",
        "_:people:2.1 | projects | Atlas",
        "_:people:2.1 | role | cook",
        "Bo | projects | X",
    }
    for row in rows:
        row["projects"] = [{"name": "Atlas", "budget": 9}]
    assert records(tmp_path, rows) == {
        "Ann | projects | Atlas",
        "Bo | projects | Atlas",
        "Atlas | budget | 9",
    }


def test_lists_in_one_object_are_tables_of_what_they_are_called(tmp_path):
    lists = {
        "version": 2,
        "countries": [{"id": 1, "name": "France"}, {"id": 2, "name": "Italy"}],
        "rivers": [
            {"id": 1, "name": "Po", "length": 652, "country_id": 2},
            {"id": 2, "name": "Dora", "parent_id": 1},
        ],
    }
    expected = {
        "France | type | country",
        "Italy | type | country",
        "Po | type | river",
        "Dora | type | river",
        "Po | length | 652",
        "Po | country | Italy",
        "Dora | parent | Po",
    }
    assert records(tmp_path, lists) == expected


FIRM = {
    "name": "Acme", "city": "Bern", "partners": ["Nut", "Bolt"],
    "staff": [{"id": "L1", "name": "Ann", "languages": ["French"]},
              {"id": "L2", "name": "Bo", "mentor_id": "L1"},
              {"id": "L3", "name": "Cy", "mentor_id": "L2"}],
    "cases": [{"id": "C1", "title": "Hill", "lead_id": "L2"},
              {"id": "C2", "title": "Dale", "lead_id": "L1"}],
}  # fmt: skip
FIRM_FACTS = {
    *("Acme | city | Bern", "Acme | partners | Nut", "Acme | partners | Bolt"),
    *(f"Acme | staff | {name}" for name in ("Ann", "Bo", "Cy")),
    *(f"Acme | cases | {name}" for name in ("Hill", "Dale")),
    *("Ann | languages | French", "Bo | mentor | Ann", "Cy | mentor | Bo"),
    *("Hill | lead | Bo", "Dale | lead | Ann"),
}


@pytest.mark.parametrize(
    "value",
    [
        FIRM,
        {"status": "ok", "meta": {"page": 1}, "data": {"firm": FIRM}},
        {"data": {"total": 1, "firm": FIRM, "owner": {"name": "Zoe"}}},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_lists_in_a_record_are_tables_that_it_is_joined_to(tmp_path, value, indent):
    text = json.dumps(value, indent=indent)
    found = facts(write(tmp_path / "kg.json", text))
    assert {fact for fact in found if " | type | " not in fact} == FIRM_FACTS


def test_a_record_over_several_lines_is_that_of_one_line(tmp_path):
    value = {"name": "Ann", "work": [{"role": "lead", "project": "Atlas"}]}
    texts = [json.dumps(value, indent=indent) for indent in (None, 2)]
    found = [facts(write(tmp_path / "kg.json", text)) for text in texts]
    assert found[0] == found[1] and "_:kg:1.1 | project | Atlas" in found[0]


def test_a_record_with_many_objects_hides_no_line_behind_it(tmp_path):
    parts = [{"name": f"p{i}", "n": i} for i in range(1_200)]
    lines = [{"name": "Big", "parts": parts}, {"name": "Small", "city": "Bern"}]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    assert "Small | city | Bern" in facts(write(tmp_path / "kg.jsonl", text))


def test_objects_in_one_object_are_called_by_their_keys_or_these_are_ids(tmp_path):
    by_name = {"Ann": {"city": "Rome", "boss": "Bo"}, "Bo": {"city": "Bern"}}
    expected = {"Ann | city | Rome", "Ann | boss | Bo", "Bo | city | Bern"}
    assert records(tmp_path, by_name) == expected
    by_id = {"a1": {"name": "Ann", "n": 1}, "b2": {"name": "Bo", "boss_id": "a1"}}
    assert records(tmp_path, by_id) == {"Ann | n | 1", "Bo | boss | Ann"}


def test_events_of_json_are_nodes_without_a_name(tmp_path):
    rows = [
        {"day": day, "buyer": "Ann", "goods": goods, "count": 2}
        for day, goods in ((1, "lamp"), (1, "desk"), (2, "lamp"))
    ]
    found = records(tmp_path, rows, "sales.json")
    assert len(found) == 15
    assert {"_:sales:3 | goods | lamp", "_:sales:3 | type | sale"} <= found
    # Fewer fields may be misspelt ends of triplets.
    few = [{"a": "x", "b": "y", "c": 1} for _ in range(3)]
    with pytest.raises(UserError, match=r"kg\.json:1: expected a node or relationship"):
        records(tmp_path, few)


def test_bindings_of_a_query_are_rows(tmp_path):
    uri = "http://www.wikidata.org/entity/Q1653"
    row = {
        "river": {"type": "uri", "value": uri},
        "riverLabel": {"type": "literal", "xml:lang": "en", "value": "Danube"},
        "length": {"type": "literal", "value": "2850"},
    }
    result = {"head": {"vars": [*row]}, "results": {"bindings": [row]}}
    assert records(tmp_path, result) == {
        "Danube | length | 2850",
        "Danube | type | river",
    }


def test_linked_data_is_told_by_its_fields(tmp_path):
    graph = [{"name": "Ann", "@id": "x"}, {"name": "Bob", "@id": "y"}]
    with pytest.raises(UserError, match=r"kg\.json: JSON-LD is read from files"):
        records(tmp_path, graph)


def test_a_file_that_begins_as_linked_data_is_read_as_such(tmp_path):
    page = {"@context": "https://schema.org", "@type": "Person", "name": "Ann",
            "knows": {"@type": "Person", "name": "Bob"}}  # fmt: skip
    path = write(tmp_path / "kg.json", json.dumps(page))
    assert "Ann | knows | Bob" in facts(path)


def test_a_record_may_lack_its_name(tmp_path):
    rows = [{"name": "Ann", "n": 1}, {"name": None, "n": 2}]
    text = "\n".join(map(json.dumps, rows))
    found = facts(write(tmp_path / "kg.jsonl", text))
    assert {"Ann | n | 1", "_:kg:2 | n | 2"} <= found
