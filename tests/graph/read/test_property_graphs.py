"""Graphs of nodes and edges: GraphML, GEXF, Neo4j's CSV and JSON, lists of nodes."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph.graph_files import facts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.folder_files import graph_files, source_files
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.graph.read.triplets import TripletFiles

HERE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
WRITERS = {".graphml": nx.write_graphml, ".gexf": nx.write_gexf}


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def films() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_node("n0", name="Alien", year=1979)
    graph.add_node("n1", name="Ridley Scott")
    graph.add_node("n2", name="Alien")
    graph.add_node("Heat")
    graph.add_edge("n0", "n1", relation="directed by", since=1977)
    graph.add_edge("n2", "Heat", relation="seen <&> with")
    return graph


FILMS = {
    "Alien | directed by | Ridley Scott",
    "Alien (n2) | seen <&> with | Heat",
    "Alien | year | 1979",
}


def row(number: str, source: str, target: str, **properties: str) -> set[str]:
    """The facts of the row of an edge, whose ends are as KIND:NAME."""
    ends = [end.split(":") for end in (source, target)]
    return {
        f"_:{number} | {name} | {value}" for name, value in (*ends, *properties.items())
    }


SINCE = row("kg:1", "source:Alien", "target:Ridley Scott", since="1977")


@pytest.mark.parametrize("suffix", WRITERS)
def test_files_of_networkx_name_nodes_and_keep_equal_names_apart(tmp_path, suffix):
    path = tmp_path / f"kg{suffix}"
    WRITERS[suffix](films(), path)
    assert facts(path) == FILMS | SINCE
    packed = tmp_path / f"kg{suffix}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert facts(packed) == FILMS | SINCE
    assert facts(path, "source,=knows,target") == {
        "Alien | knows | Ridley Scott",
        "Alien (n2) | knows | Heat",
        "Alien | year | 1979",
    }
    with pytest.raises(UserError, match=r"edge without the attribute since; found the"):
        facts(path, "source,since,target")
    typed = nx.MultiDiGraph()  # networkx writes it where GEXF has the direction.
    typed.add_edge("a", "b", type="knows")
    WRITERS[suffix](typed, path)
    assert facts(path) == {"a | knows | b"}


NAME = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), min_codepoint=32),
    min_size=1,
    max_size=5,
)


@given(
    edges=st.lists(st.tuples(NAME, NAME, NAME), min_size=1, max_size=5),
    suffix=st.sampled_from(list(WRITERS)),
)
@HERE
def test_a_written_networkx_graph_reads_as_the_graph_itself(tmp_path, edges, suffix):
    graph = nx.MultiDiGraph()
    for head, relation, tail in edges:
        graph.add_edge(head.lower(), tail.lower(), relation=relation)
    expected = KnowledgeGraph.from_networkx(graph)
    WRITERS[suffix](graph, tmp_path / f"kg{suffix}")
    names = {expected.triplet(i) for i in range(len(expected.triplets))}
    found = KnowledgeGraph.open(tmp_path / f"kg{suffix}")
    if len(expected.entities) == len(graph):  # else: equal in lower case
        assert {found.triplet(i) for i in range(len(found.triplets))} == names


def test_graphml_of_yed_and_defaults_and_nested_graphs(tmp_path):
    text = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://y.com">
<key for="node" id="d6" yfiles.type="nodegraphics"/>
<key for="edge" id="d9" attr.name="label"><default>near</default></key>
<graph edgedefault="directed">
<node id="n0"><data key="d6"><y:ShapeNode>
<y:NodeLabel>Paris</y:NodeLabel></y:ShapeNode></data><graph><node id="n0::n1">
<data key="d6"><y:NodeLabel> Louvre </y:NodeLabel></data>
</node></graph></node>
<edge source="n0::n1" target="n0"><data key="d9">in</data></edge>
<edge source="n0" target="n0::n1"/>
<edge id="e" source="n0" target="x"><data key="d9"></data><data key="q">
<y:EdgeLabel>far from</y:EdgeLabel></data></edge>
</graph></graphml>"""
    assert facts(write(tmp_path / "kg.graphml", text)) == {
        "Louvre | in | Paris",
        "Paris | near | Louvre",
        "Paris | far from | x",
    }


APOC = """"_id","_labels","name","born","_start","_end","_type","roles"
"0",":Movie:Film","The Matrix","",,,,
"1",":Person","Keanu Reeves","1964",,,,
"2",":Person","","1961",,,,
,,,,"1","0","ACTED_IN","[""Neo""]"
,,,,"2","0","ACTED_IN",""
"""
APOC_JSON = [
    {"type": "node", "id": "0", "labels": ["Movie", "Film"],
     "properties": {"name": "The Matrix"}},
    {"type": "node", "id": "1", "labels": ["Person"],
     "properties": {"name": "Keanu Reeves", "born": 1964}},
    {"type": "node", "id": "2", "properties": {"born": 1961, "at": {"x": 1}}},
    {"id": "9", "type": "relationship", "label": "ACTED_IN",
     "properties": {"roles": ["Neo"]},
     "start": {"id": "1", "labels": ["Person"]}, "end": {"id": "0"}},
    {"id": "8", "type": "relationship", "label": "ACTED_IN",
     "start": {"id": "2"}, "end": {"id": "0"}},
]  # fmt: skip
ACTED = {"Keanu Reeves | ACTED_IN | The Matrix", "2 | ACTED_IN | The Matrix"}
KNOWN = {
    "The Matrix | type | Movie",
    "The Matrix | type | Film",
    "Keanu Reeves | type | Person",
    "Keanu Reeves | born | 1964",
    "2 | born | 1961",
}


def test_exports_of_neo4j(tmp_path):
    table = write(tmp_path / "all.csv", APOC)
    lines = write(tmp_path / "lines.json", "\n".join(map(json.dumps, APOC_JSON)))
    for path in (table, lines):
        person = {"2 | type | Person"} if path is table else set()
        neo = row(
            f"{path.stem}:1", "Person:Keanu Reeves", "Movie:The Matrix", roles="Neo"
        )
        assert facts(path) == ACTED | KNOWN | person | neo
    # Ids of two exports are different nodes, and names are the same ones.
    other = APOC.replace("Keanu Reeves", "Carrie-Anne Moss")
    moss = {
        fact.replace("Keanu Reeves", "Carrie-Anne Moss").replace(":all:", ":b:")
        for fact in facts(table)
    }
    both = facts([table, write(tmp_path / "b.csv", other)])
    assert both == facts(table) | moss


def test_properties_that_are_left_out_are_told_once(tmp_path, caplog):
    path = tmp_path / "films.graphml"
    graph = films()
    graph.edges["n0", "n1", 0]["weight"] = 0.5
    nx.write_graphml(graph, path)
    with caplog.at_level("INFO", logger="kgscout"):
        facts(path)
        assert [m for m in caplog.messages if "left out" in m][-1].endswith(
            "films.graphml: properties are left out: 'weight' (1); "
            "--properties reads them"
        )
        caplog.clear()
        KnowledgeGraph.open([path], options=ReadOptions(properties=True))
    assert not caplog.messages


def test_the_header_of_import_files_may_stand_in_a_file_of_its_own(tmp_path):
    write(tmp_path / "roles-header.csv", ":START_ID(P),role,:END_ID(G),:TYPE\n")
    write(tmp_path / "roles-part1.csv", '1,"Neo",Drama,IN\n')
    write(tmp_path / "roles-part2.csv", "2,,Drama,IN\n")
    write(tmp_path / "people_header.csv", "id:ID(P),name,:LABEL\n")
    write(tmp_path / "people.csv", "1,Keanu,Actor\n2,Carrie,Actor\n")
    write(tmp_path / "genres.csv", "genre:ID(G),:LABEL\nDrama,Genre\n")
    assert {
        "Keanu | type | Actor",
        "Keanu | IN | Drama",
        "Carrie | IN | Drama",
        "Drama | type | Genre",
    } <= facts(graph_files([tmp_path]))
    sources = {each.name for each in source_files([tmp_path])}
    assert {"people.csv", "people_header.csv", "roles-header.csv"} <= sources
    write(tmp_path / "people.csv", "1,Keanu,Actor\n2,Carrie\n")
    with pytest.raises(UserError, match=r"people\.csv:2: expected 3"):
        facts(graph_files([tmp_path]))


def test_a_code_is_a_fact_of_the_node_whose_id_it_is(tmp_path):
    nodes = "iata:ID(Airport),name,:LABEL\nZRH,Zurich,Airport\nJFK,Kennedy,Airport\n"
    edges = ":START_ID(Airport),:END_ID(Airport),:TYPE\nZRH,JFK,ROUTE\n"
    found = facts([write(tmp_path / "n.csv", nodes), write(tmp_path / "e.csv", edges)])
    assert {"Zurich | iata | ZRH", "Zurich | ROUTE | Kennedy"} <= found
    rows = "id,title,city\nP-1,Ann,Bern\nP-2,Bo,Rom\n"
    found = facts([write(tmp_path / "p.csv", rows)])
    assert "Ann | id | P-1" in found
    # Numbers of rows say nothing of them.
    found = facts([write(tmp_path / "q.csv", rows.replace("P-", ""))])
    assert not [each for each in found if "| id |" in each]


def test_labels_that_repeat_beside_names_are_kinds(tmp_path):
    nodes = "id,label,name\n1,Ward,ICU\n2,Ward,A3\n3,Device,CT\n4,Device,MRI\n"
    edges = write(tmp_path / "edges.csv", "source,target,type\n3,1,INSTALLED_IN\n")
    found = facts([edges, write(tmp_path / "nodes.csv", nodes)])
    assert {"CT | INSTALLED_IN | ICU", "CT | type | Device"} <= found
    # Each label is another one: it says more of each node.
    nodes = "id,label,name\n1,Intensive care,ICU\n2,Surgery,A3\n3,Tomograph,CT\n"
    found = facts([edges, write(tmp_path / "nodes.csv", nodes)])
    assert {"CT | INSTALLED_IN | ICU", "CT | label | Tomograph"} <= found


def test_import_files_of_neo4j_share_their_ids(tmp_path):
    files = [
        write(
            tmp_path / "roles.csv",
            ":START_ID(P),role,:END_ID(M),:TYPE\n1,Neo,1,ACTED_IN\n2,,1,ACTED_IN\n",
        ),
        write(
            tmp_path / "m.csv", "m:ID(M),title,year:int,:LABEL\n1,The Matrix,1999,F\n"
        ),
        write(
            tmp_path / "p.csv", ":ID(P);name:string;x:IGNORE\n1;Keanu;y\n2;Keanu;y\n"
        ),
    ]
    expected = {
        "Keanu | ACTED_IN | The Matrix",
        "Keanu (P:2) | ACTED_IN | The Matrix",
        "The Matrix | year | 1999",
        "The Matrix | type | F",
    }
    neo = row("roles:1", "source:Keanu", "F:The Matrix", role="Neo")
    assert facts(files) == expected | neo
    # Without the nodes' files, ids are the names.
    alone = {"P:1 | ACTED_IN | M:1", "P:2 | ACTED_IN | M:1"}
    assert facts(files[0]) >= alone and len(facts(files[0])) == 5


def test_import_files_without_their_nodes_say_so_once(tmp_path, caplog):
    text = ":START_ID(A),:END_ID(B),:TYPE\n1,2,r\n2,3,r\n"
    path = write(tmp_path / "edges.csv", text)
    with caplog.at_level("INFO", logger="kgscout"):
        KnowledgeGraph.open(path)
    (message,) = caplog.messages
    assert message.startswith(f"{path}: no list of nodes is given, their ids (A, B)")
    assert message.endswith("give it too: --kg NODES.csv edges.csv")


def test_lists_of_nodes_and_edges(tmp_path):
    nodes = write(tmp_path / "nodes.csv", "Id,Label,Kind\na,Anna,person\nb,Bo,dog\n")
    text = "Source,Target,Type,Id,Label\na,b,Directed,0,owns\n"
    edges = write(tmp_path / "edges.csv", text)
    kinds = {"Anna | Kind | person", "Bo | Kind | dog"}
    assert facts([edges, nodes]) == {"Anna | owns | Bo", *kinds}
    assert facts(edges) == {"a | owns | b"}
    assert facts(nodes, properties=True) == facts(nodes) == kinds
    empty = write(tmp_path / "empty.csv", ":START_ID(A),:END_ID(A),:TYPE\n")
    with pytest.raises(UserError, match=r"holds no triplets$"):
        facts(empty)
    # Three columns in which an id occurs twice, or stands elsewhere, are triplets.
    for text in ("id,name,x\na,r,b\na,r,c\n", "name,id,x\na,r,b\nc,r,d\n"):
        assert len(facts(write(tmp_path / "kg.csv", text))) == 3


def test_parquet_of_nodes_and_edges_by_number_reads_as_the_same_csv(tmp_path):
    edges = {"source": [1, 2], "target": [2, 1], "type": ["knows", "loves"]}
    edges |= {"since": [2001, None]}
    nodes = {"id": [1, 2, 3], "name": ["Anna", "Bo", None], "born": [1970, None, 1999]}
    for name, columns in (("edges", edges), ("nodes", nodes)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        rows = [[*columns], *zip(*columns.values(), strict=True)]
        lines = [",".join("" if v is None else str(v) for v in row) for row in rows]
        write(tmp_path / f"{name}.csv", "\n".join(lines))
    named = {"Anna | knows | Bo", "Bo | loves | Anna"}
    born = {"Anna | born | 1970", "3 | born | 1999"}
    since = row("edges:1", "source:Anna", "target:Bo", since="2001")
    for one in ("parquet", "csv"):
        own = tmp_path / f"edges.{one}"
        by_id = row(
            "edges:1" if one == "parquet" else "edges:2",
            "source:1",
            "target:2",
            since="2001",
        )
        assert facts(own) == {"1 | knows | 2", "2 | loves | 1"} | by_id
        assert facts(tmp_path / f"nodes.{one}", properties=True) == born
        for other in ("parquet", "csv"):
            paths = [own, tmp_path / f"nodes.{other}"]
            assert facts(paths) == named | born | since


def test_given_columns_are_those_of_edges_beside_a_list_of_nodes(tmp_path):
    edges = write(tmp_path / "edges.csv", "von,nach,art\na,b,owns\n")
    nodes = write(tmp_path / "nodes.csv", "id,name\na,Anna\nb,Bo\n")
    columns = {"id": ["a", "b"], "name": ["Anna", "Bo"]}
    pq.write_table(pa.table(columns), tmp_path / "nodes.parquet")
    for of_nodes in (nodes, tmp_path / "nodes.parquet"):
        assert facts([edges, of_nodes], "von,art,nach") == {"Anna | owns | Bo"}
        assert facts([of_nodes, edges], "von,=has,nach") == {"Anna | has | Bo"}
    with pytest.raises(UserError, match="expected the columns id, x, nach, found 'id'"):
        facts([nodes, edges], "id,x,nach")


def test_json_lines_of_triplets(tmp_path):
    rows = [{"subject": "a", "predicate": "r", "object": 7, "since": True}]
    path = write(tmp_path / "kg.jsonl", "\n".join(map(json.dumps, rows)))
    assert facts(path) == {"a | r | 7"} | row(
        "kg:1", "source:a", "target:7", since="true"
    )
    assert facts(path, "subject,since,object") == {"a | true | 7"}


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_any_layout_is_read_as_its_objects_a_line(tmp_path, indent):
    rows = [{"head": "é" * (1 << 15), "relation": "r", "tail": i} for i in range(5)]
    rows += [{"x": {"y": ["]", 1]}, **row} for row in rows]
    lines = write(tmp_path / "kg.jsonl", "\n".join(map(json.dumps, rows)))
    text = json.dumps(rows, indent=indent, ensure_ascii=False)
    array = write(tmp_path / "kg.json", f"\ufeff\n {text}\n")
    assert facts(array) == facts(lines) and len(facts(array)) == 5
    elements = json.dumps(APOC_JSON, indent=indent)
    apoc = write(tmp_path / "all.jsonl", "\n".join(map(json.dumps, APOC_JSON)))
    assert facts(write(tmp_path / "all.json", elements)) == facts(apoc)


def test_json_of_networkx_names_nodes_and_keeps_equal_names_apart(tmp_path):
    graph = films()
    links = nx.node_link_data(graph, edges="links")
    cytoscape = nx.cytoscape_data(graph)
    for node in cytoscape["elements"]["nodes"]:  # as Cytoscape.js has them
        node["data"] = {k: v for k, v in node["data"].items() if k != "value"}
    documents = [
        links,
        nx.node_link_data(graph, edges="edges"),
        dict(reversed(links.items())),
        cytoscape,
    ]
    flat = [each for part in cytoscape["elements"].values() for each in part]
    for document in [*documents, {"elements": flat}]:
        for indent in (None, 2):
            path = write(tmp_path / "kg.json", json.dumps(document, indent=indent))
            assert facts(path) >= FILMS - {"Alien (n2) | seen <&> with | Heat"}
            assert facts(path) >= SINCE and len(facts(path)) == len(FILMS | SINCE)
    by_place = {
        "nodes": [{"name": "Ann", "group": 1}, {"name": "Bo"}],
        "links": [{"source": 0, "target": 1, "value": 3}],
    }
    path = write(tmp_path / "d3.json", json.dumps(by_place))
    known = {"Ann | knows | Bo", "Ann | group | 1"}
    assert facts(path, "source,=knows,target") == known
    with pytest.raises(UserError, match=r"d3\.json:1: an edge without a relation"):
        facts(path)


def test_json_lines_of_nodes_edges_and_arrays(tmp_path):
    rows = [
        {"id": "n1", "name": "Ann", "age": 30},
        {"type": "node", "key": "x", "id": "n2", "attributes": {"label": "Bo"}},
        {"source": "n1", "target": "n2", "relation": "knows"},
        {"from": "n2", "to": {"id": "n1"}, "kind": "likes"},
        ["Bo", "owns", "Rex"],
    ]
    path = write(tmp_path / "kg.jsonl", "\n".join(map(json.dumps, rows)))
    expected = {"Ann | knows | Bo", "Bo | likes | Ann", "Bo | owns | Rex"}
    assert facts(path) == facts(path, properties=True) == expected | {"Ann | age | 30"}
    arrays = [["a", "r", "b"], ["b", "r", 7]]
    for text in (json.dumps(arrays), "\n".join(map(json.dumps, arrays))):
        assert facts(write(tmp_path / "kg.json", text)) == {"a | r | b", "b | r | 7"}


def test_only_nodes_that_lack_a_record_among_others_are_counted_once(tmp_path):
    def note(rows: list[dict]) -> int:
        path = write(tmp_path / "kg.jsonl", "\n".join(map(json.dumps, rows)))
        notes: dict[str, int] = {}
        assert list(TripletFiles(notes=notes, files=[path]).rows(path))
        return notes.get("nodes_without_a_record", 0)

    edges = [{"head": "a", "relation": "r", "tail": tail} for tail in "bcb"]
    assert note(edges) == 0
    assert note([*edges, {"id": "a", "name": "Ann"}]) == 2


GRAPHML = '<graphml><graph><node id="a"/>{}</graph></graphml>'
EDGE = '<edge source="a" target="b" {}>{}</edge>'
JSON_ROW = '[{"head": "a", "relation": "r", "tail": "b"}'
ENTITY = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("kg.graphml", "<graphml><graph>", ":1: not valid XML (no element found)"),
        ("kg.graphml", "", ":1: not valid XML (no element found)"),
        ("kg.graphml", "<gexf/>", ":1: expected the element graphml, found 'gexf'"),
        ("kg.gexf", "<graphml/>", ":1: expected the element gexf, found 'graphml'"),
        ("kg.graphml", "<graphml/>", ": holds no triplets"),
        ("kg.graphml", ENTITY + "<graphml/>", ":1: a document type declaration"),
        ("kg.graphml", GRAPHML.format("\n<edge source='a'/>"),
         ":2: edge without the"),
        ("kg.graphml", GRAPHML.format("\n" + EDGE.format("id='4'", "")),
         ":2: an edge without a relation; found the attributes 'id' (--columns source"),
        ("kg.graphml", "<graphml>" + "<x>" * 300, ":1: more than 200 elements deep"),
        ("kg.graphml", '<?xml version="1.0" encoding="none"?><graphml/>',
         ":1: an unknown encoding of XML"),
        ("kg.jsonl", '{"a": 1}\n', ":1: expected a node or relationship of Neo4j, or"),
        ("kg.jsonl", '{"a": 1\n', ":1: not a JSON object a line"),
        ("kg.jsonl", "[\n1]", ":2: expected an object, found 1"),
        ("kg.json", "[" * 99_999, ":1: nested too deep"),
        ("kg.json", "[]", ": holds no triplets"),
        ("kg.json", '{"nodes": [1]}', ":1: expected an object, found 1"),
        ("kg.json", '{"nodes": [{}],\n"links": [{"a": 1}]}',
         ":2: an edge without source and target; found 'a'"),
        ("kg.json", '{"nodes": [], "links": [{"source": null, "target": 1}]}',
         ":1: 'source' is None, expected a node"),
        ("kg.json", '{"nodes": [\n', ":2: not valid JSON (Expecting value)"),
        ("kg.json", '{"nodes": []} x', ":1: expected the end of a JSON object, found"),
        ("kg.json", '{"nodes": [] "a"', ":1: expected , or } of a JSON object, found"),
        ("kg.json", "[{},", ":1: not valid JSON (Expecting value)"),
        ("kg.json", JSON_ROW, ":1: expected , or ] of a JSON array, found the end"),
        ("kg.json", JSON_ROW + "\n{", ":2: expected , or ] of a JSON array, found '{'"),
        ("kg.json", JSON_ROW + ",\n]", ":2: not valid JSON (Expecting value)"),
        ("kg.json", JSON_ROW + "]\n\nx", ":3: expected the end of a JSON array, found"),
        ("kg.jsonl", '{"head": "a", "relation": "", "tail": "b"}',
         ":1: 'relation' is '', expected a name"),
        ("kg.jsonl", '{"type": "node", "id": null}', ":1: a node without an id"),
        ("kg.jsonl", '{"type": "node", "id": 1, "properties": 3}',
         ":1: properties are 3"),
        ("kg.csv", APOC + ',,,,"1",,"X",\n', ":7: the tail is empty"),
        ("kg.csv", "_id,_labels,name,_start,_end\n1,:A,x,,\n,,,1,1\n",
         ":1: expected the column _type beside _start and _end; found the columns"),
        ("kg.csv", "role,:START_ID(A),:END_ID(B),x\nr,1,2,y\n",
         ":1: expected the column :TYPE beside :START_ID(A) and :END_ID(B); found"),
        ("kg.csv", APOC + "1,2\n", ":7: expected 8 comma-separated columns, as in the"),
    ],
)  # fmt: skip
def test_malformed_graphs_are_refused_with_file_and_line(
    tmp_path, name, text, expected
):
    path = write(tmp_path / name, text)
    with pytest.raises(UserError) as caught:
        KnowledgeGraph.open(path)
    assert f"{path}{expected}" in str(caught.value)
    with pytest.raises(UserError):
        build_graph([path], tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (GRAPHML[:32] + '"', "a" * 99_999),
        ('<graphml><graph><node id="a"><data key="k">', "a" * 99_999),
        ("<graphml>", "<!-- x" + "a" * 99_999),
    ],
)
def test_markup_bombs_are_refused_in_bounded_memory(tmp_path, start, piece):
    path = tmp_path / "kg.graphml.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start.encode())
        for _ in range(400):
            file.write(piece.encode())
    tracemalloc.start()
    with pytest.raises(UserError, match=r"kg\.graphml\.gz:1: "):
        KnowledgeGraph.open(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 << 20


def test_how_a_node_is_drawn_is_no_fact(tmp_path):
    graph = films()
    graph.add_node("Heat", x=0.5, y=2, color="red", size=4, year=1995)
    graph.add_node("n1", color="blue", vx=0.1)
    graph.edges["n0", "n1", 0]["weight"] = 0.5
    drawn = {
        *("Heat | x | 0.5", "Heat | y | 2", "Heat | size | 4", "Heat | color | red"),
        *("Ridley Scott | vx | 0.1", "_:kg:1 | weight | 0.5"),
    }
    path = tmp_path / "kg.graphml"
    nx.write_graphml(graph, path)
    kept = {"Heat | year | 1995", "Ridley Scott | color | blue"}
    assert facts(path) == FILMS | SINCE | kept
    assert facts(path, properties=True) == facts(path) | drawn


def test_sources_of_edges_and_nodes_of_biolink_are_no_facts(tmp_path):
    nodes, edges = tmp_path / "nodes.tsv", tmp_path / "edges.tsv"
    nodes.write_text(
        "id\tcategory\tname\tprovided_by\n"
        "C:1\tDrug\taspirin\tinfores:chebi\nM:1\tDisease\tfever\tinfores:mondo\n"
    )
    edges.write_text(
        "subject\tpredicate\tobject\tknowledge_level\tagent_type\tprovided_by\t"
        "primary_knowledge_source\taggregator_knowledge_source\tpublications\n"
        "C:1\ttreats\tM:1\tknowledge_assertion\tmanual_agent\tchebi.tsv\t"
        "infores:chebi\tinfores:monarch\tPMID:1\n"
    )
    assert facts([nodes, edges]) == {
        "aspirin | category | Drug",
        "fever | category | Disease",
        "aspirin | treats | fever",
        "_:edges:1 | type | treatment",
        "_:edges:1 | Drug | aspirin",
        "_:edges:1 | Disease | fever",
        "_:edges:1 | publications | PMID:1",
    }
    nodes.write_text("id\tname\tprovided_by\nC:1\tchat\tAcme\nM:1\tmail\tBorg\n")
    assert "chat | provided_by | Acme" in facts([nodes, edges])
