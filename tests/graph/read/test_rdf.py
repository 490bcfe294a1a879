"""Turtle, TriG and N-Quads: the names of N-Triples, languages, nodes, mistakes."""

from __future__ import annotations

import itertools
import json

import networkx as nx
import pytest
from graph.graph_files import in_format, read_triplets

from kgscout_jax.errors import UserError

TURTLE = """\
@prefix x: <http://x.org/ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Caf%C3%A9 a x:Place ; rdfs:label "Café"@fr , "coffee"@en , "Kaffee \\"x\\""@de-AT ;
    x:opened 1979 ; x:blank "" ; x:open true .
_:b0 x:near <Paris/> , _:b0 .
<< x:a x:b x:c >> x:said x:d .
"""


def read(tmp_path, name, text, **how):
    (tmp_path / name).write_text(text, "utf-8")
    return list(read_triplets(tmp_path / name, **how))


def test_turtle_gives_the_triplets_worked_out_by_hand(tmp_path):
    notes: dict[str, int] = {}
    text = TURTLE.replace("<< x:a x:b x:c >> x:said x:d .\n", "")
    assert read(tmp_path, "kg.ttl", text, notes=notes) == [
        ("Café", "type", "Place"),
        ("Café", "label", "Café"),
        ("Café", "label", "coffee"),
        ("Café", "label", 'Kaffee "x"'),
        ("Café", "opened", "1979"),
        ("Café", "open", "true"),
        ("_:b0", "near", "Paris"),
        ("_:b0", "near", "_:b0"),
    ]
    assert notes == {"blank_triplets": 1}


@pytest.mark.parametrize(
    ("language", "labels"),
    [(None, 3), ("en", 1), ("EN", 1), ("de", 1), ("de-AT", 1), ("de-CH", 0), ("f", 0)],
)
@pytest.mark.parametrize("name", ["kg.ttl", "kg.nt"])
def test_literals_of_other_languages_are_left_out(tmp_path, name, language, labels):
    line = '<http://x/a> <http://x/label> "{}"{} .\n'
    tags = [("café", "@fr"), ("coffee", "@en"), ("Kaffee", "@de-AT"), ("5", "")]
    text = "".join(itertools.starmap(line.format, tags))
    notes: dict[str, int] = {}
    found = read(tmp_path, name, text, language=language, notes=notes)
    assert len(found) == labels + 1  # literals without a language are always kept
    assert notes.get("other_language", 0) == 3 - labels


@pytest.mark.parametrize("name", ["kg.ttl", "kg.nt"])
def test_literals_are_written_as_people_do(tmp_path, name):
    xsd = "http://www.w3.org/2001/XMLSchema#"
    values = [
        ("+1094", "decimal", "1094"),
        ("1949-05-23T00:00:00Z", "dateTime", "1949-05-23"),
        ("1949-05-23T10:00:00Z", "dateTime", "1949-05-23T10:00:00Z"),
        ("+49 30", "string", "+49 30"),
        ("9.25E1", "double", "92.5"),
    ]
    line = '<http://x/a> <http://x/r> "{}"^^<{}{}> .\n'
    text = "".join(line.format(value, xsd, kind) for value, kind, _ in values)
    assert [tail for *_, tail in read(tmp_path, name, text)] == [x for *_, x in values]


SCHEMA = """\
@prefix x: <http://x/> .  @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix wb: <http://wikiba.se/ontology#> .
x:capital a owl:ObjectProperty ; rdfs:comment "of a state" .
x:P6 wb:directClaim x:p6 ; x:note "a property" .  x:area rdfs:range x:Number .
x:State a owl:Class ; rdfs:subClassOf x:Place .
x:Peru a x:State ; x:capital x:Lima ; wb:sitelinks 3 .
"""


def test_what_is_said_of_properties_is_no_fact(tmp_path):
    notes: dict[str, int] = {}
    assert read(tmp_path, "kg.ttl", SCHEMA, notes=notes) == [
        ("State", "subClassOf", "Place"),
        ("Peru", "type", "State"),
        ("Peru", "capital", "Lima"),
    ]
    assert notes == {"schema_triplets": 7}


THESAURUS = """\
@prefix x: <http://x/> .  @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
x:hazards a skos:ConceptScheme . x:term a owl:AnnotationProperty .
x:flood a skos:Concept , owl:NamedIndividual .
"""


@pytest.mark.parametrize("name", ["kg.ttl", "kg.nt"])
def test_that_a_thing_is_a_concept_says_nothing_of_it(tmp_path, name):
    notes: dict[str, int] = {}
    facts = "x:flood a x:Hazard ; skos:broader x:water ."
    text = in_format(THESAURUS + facts, name)
    assert set(read(tmp_path, name, text, notes=notes)) == {
        ("flood", "type", "Hazard"),
        ("flood", "broader", "water"),
    }
    assert notes == {"schema_triplets": 4}
    # A file of nothing else is a list of concepts.
    notes.clear()
    text = in_format(THESAURUS, name)
    assert set(read(tmp_path, name, text, notes=notes)) == {
        ("hazards", "type", "ConceptScheme"),
        ("flood", "type", "Concept"),
        ("flood", "type", "NamedIndividual"),
    }
    assert notes == {"schema_triplets": 1}


POWER = """\
@prefix x: <http://x/> .
x:A x:power [ a x:Quantity ; x:value 310 ; x:unitCode "MAW" ; x:unitText "MW" ] ,
    [ x:value 5 ; x:value 6 ] ; x:staff [ x:value 12 ] ; x:place [ x:lat 1.5 ] .
"""


ONTOLOGY = """\
@prefix : <http://x/> .  @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:madeFrom a owl:ObjectProperty .
:Feta r:subClassOf :Cheese , [ a owl:Restriction ;
    owl:onProperty :madeFrom ; owl:someValuesFrom [ owl:unionOf (:Sheep :Goat) ] ] ,
  [ owl:onProperty :weight ; owl:hasValue 250 ] ,
  [ owl:onProperty :ripensIn ; owl:allValuesFrom :Brine ] ,
  [ owl:onProperty :soldIn ; owl:onClass :Box ; owl:minQualifiedCardinality 1 ] ,
  [ owl:onProperty :holds ; owl:onClass :Hole ; owl:maxQualifiedCardinality 1 ] ,
  [ owl:onProperty :age ; owl:someValuesFrom [ owl:onDatatype xsd:integer ;
      owl:withRestrictions ([ xsd:minInclusive 2 ]) ] ] .
:Brie owl:equivalentClass [ owl:intersectionOf (:Cheese
    [ a owl:Restriction ; owl:onProperty :origin ; owl:hasValue :France ]
    [ owl:complementOf :Feta ]) ] ; r:subClassOf [ owl:unionOf (:Soft :Hard) ] .
:Blue owl:intersectionOf (:Cheese [ owl:onProperty :has ; owl:someValuesFrom :Mould ]) .
:x a [ owl:onProperty :origin ; owl:hasValue :Spain ] ; :parts (:y) .
[ a owl:AllDisjointClasses ; owl:members (:Feta :Brie) ] .
[ owl:onProperty :has ; owl:someValuesFrom :Mould ] r:subClassOf :Blue .
"""


@pytest.mark.parametrize("name", ["kg.ttl", "kg.nt"])
def test_a_restriction_is_the_triplet_that_it_says(tmp_path, name):
    found = set(read(tmp_path, name, in_format(ONTOLOGY, name)))
    # A list of something else stays as it is.
    of_list = {each for each in found if each[1] in ("parts", "first", "rest")}
    assert len(of_list) == 3
    assert found - of_list == {
        ("Feta", "subClassOf", "Cheese"),
        ("Feta", "madeFrom", "Sheep"),
        ("Feta", "madeFrom", "Goat"),
        ("Feta", "weight", "250"),
        ("Feta", "ripensIn", "Brine"),
        ("Feta", "soldIn", "Box"),
        ("Brie", "subClassOf", "Cheese"),
        ("Brie", "origin", "France"),
        ("Blue", "subClassOf", "Cheese"),
        ("Blue", "has", "Mould"),
        ("x", "origin", "Spain"),
    }


def test_a_value_with_its_unit_is_a_literal(tmp_path):
    found = read(tmp_path, "kg.ttl", POWER)
    assert {(r, t) for h, r, t in found if h == "A" and not t.startswith("_:")} == {
        ("power", "310 MW"),
        ("staff", "12"),
    }
    # Two values, and a place, are nodes as before.
    inner = sorted((r, t) for h, r, t in found if h != "A")
    assert inner == [("lat", "1.5"), ("value", "5"), ("value", "6")]
    many = "@prefix x: <http://x/> . x:a x:of ( " + "x:b " * 1_500 + ") ."
    assert len(read(tmp_path, "list.ttl", many)) == 3_001


def test_nodes_without_label_are_numbered(tmp_path):
    text = "@prefix x: <http://x/> . x:a x:r [ x:s [ x:t x:b ] ] , ( x:c ) ; x:u _:n1 ."
    found = read(tmp_path, "kg.v2.ttl", text)
    assert read(tmp_path, "kg.v2.ttl", text) == found  # and not by chance

    def shape(rows):
        return nx.MultiDiGraph((h, t, {"relation": r}) for h, r, t in rows)

    expected = [
        *[("a", "r", "1"), ("1", "s", "2"), ("2", "t", "b"), ("a", "u", "_:n1")],
        *[("a", "r", "3"), ("3", "first", "c"), ("3", "rest", "nil")],
    ]
    assert nx.is_isomorphic(
        shape(found),
        shape(expected),
        edge_match=nx.isomorphism.categorical_multiedge_match("relation", None),
    )
    names = {name for h, _, t in found for name in (h, t)}
    stem = f"_:{tmp_path.name}/kg#"
    numbered = {name for name in names if name.startswith("_:")}
    assert numbered == {f"{stem}1", f"{stem}2", f"{stem}3", "_:n1"}


def test_named_graphs_are_merged(tmp_path):
    expected = [("a", "r", "b"), ("a", "r", "c")]
    text = "<http://x/a> <http://x/r> <http://x/b> <http://x/g> .\n"
    text += "<http://x/a> <http://x/r> <http://x/c> .\n"
    assert read(tmp_path, "kg.nq", text) == expected
    text = "@prefix x: <http://x/> . x:g { x:a x:r x:b . } x:a x:r x:c ."
    assert read(tmp_path, "kg.trig", text) == expected


def test_json_ld_gives_the_triplets_of_its_context(tmp_path):
    text = """{"@context": {"@vocab": "http://x/", "by": {"@type": "@id"}},
     "@graph": [{"@id": "http://y/Alien", "by": "http://y/Scott", "year": "1979"}]}"""
    assert sorted(read(tmp_path, "kg.jsonld", text)) == [
        ("Alien", "by", "Scott"), ("Alien", "year", "1979"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ttl", "<http://x/a> <http://x/r> <http://x/b> ."),
        ("nq", "<http://x/a> <http://x/r> <http://x/b> <http://x/g> .\n"),
        ("jsonld", '{"@id": "http://x/a", "http://x/r": {"@id": "http://x/b"}}'),
    ],
)
def test_a_byte_order_mark_is_left_out(tmp_path, name, text):
    assert read(tmp_path, f"kg.{name}", "\ufeff" + text) == [("a", "r", "b")]
    for short in ("", "\ufeff"):
        with pytest.raises(UserError, match=f"kg.{name}:"):
            read(tmp_path, f"kg.{name}", short)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("jsonld", b'{"@context": {"@vocab": "http://x/"},\n', ":2: not valid RDF"),
        ("ttl", b"<http://x/a> <http://x/b> <c\n", ":1: not valid RDF: Unexpected end"),
        ("ttl", b"@prefix x: <http://x/> .\nx:a y:b x:c .", ":2: not valid RDF"),
        ("ttl", b"<http://x/a> <http://x/b>\n\n", ":"),
        ("ttl", b'<http://x/a> "b" <http://x/c> .', ":1: not valid RDF"),
        ("ttl", b"<http://x/a> <http://x/b> <http://x/\xe9> .", ":1: not valid RDF"),
        ("nq", b"<http://x/a>\n", ":2: not valid RDF"),
        ("ttl", b"# nothing\n", ": holds no triplets"),
        ("trig", b"", ": holds no triplets"),
        ("ttl", None, ": no such file"),
    ],
)
def test_an_error_names_file_and_line(tmp_path, name, text, expected):
    path = tmp_path / f"kg.{name}"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(UserError) as caught:
        list(read_triplets(path))
    assert str(caught.value).startswith(f"{path}{expected}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("BookStore", 1),
        ("NewsMediaOrganization", 1),
        (["Restaurant", "Thing"], 1),
        ("Hotel", 1),
        ("SportsTeam", 1),
        ("Museum", 1),
        ("AdministrativeArea", 1),
        ("TrainStation", 1),
        ("Book", 2),
        ("ImageGallery", 2),
        ("FoodService", 2),
    ],
)
def test_places_and_organisations_of_one_name_are_one(tmp_path, kind, count):
    thing = {"@type": kind, "name": "Foxglove"}
    pages = [{"@type": "Page", "@id": f"p{i}", "about": thing} for i in range(2)]
    text = json.dumps({"@context": "https://schema.org", "@graph": pages})
    found = read(tmp_path, "kg.jsonld", text)
    assert len({tail for _, relation, tail in found if relation == "about"}) == count


def test_contexts_by_address_are_vocabularies(tmp_path):
    page = {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@id": "https://a.org/soup/#recipe",
                "@type": "Recipe",
                "name": "Soup &amp; Bread",
                "suitableForDiet": "https://schema.org/VeganDiet",
                "author": {"@id": "https://a.org/ann#person"},
            },
            {
                "@id": "https://a.org/ann#person",
                "type": "Person",
                "url": "http://b.org",
            },
        ],
    }
    assert read(tmp_path, "kg.jsonld", json.dumps(page)) == [
        ("soup#recipe", "type", "Recipe"),
        ("soup#recipe", "name", "Soup & Bread"),
        ("soup#recipe", "suitableForDiet", "VeganDiet"),
        ("soup#recipe", "author", "ann#person"),
        ("ann#person", "type", "Person"),
        ("ann#person", "url", "http://b.org"),
    ]


@pytest.mark.parametrize("name", ["kg.rdf", "kg.owl"])
def test_xml_and_turtle_by_their_beginning(tmp_path, name):
    xml = (
        '<?xml version="1.0"?><rdf:RDF xmlns:x="http://x/" '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="http://x/a"><x:b rdf:resource="http://x/c"/>'
        "</rdf:Description></rdf:RDF>"
    )
    turtle = "@prefix x: <http://x/> .\nx:a x:b x:c ."
    assert (
        read(tmp_path, name, xml) == read(tmp_path, name, turtle) == [("a", "b", "c")]
    )
