"""Neighbourhoods of entities, from graphs and from a real SPARQL endpoint."""

import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import networkx as nx
import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.cli.main import main
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.walk.neighbourhood import neighbourhood


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_a_neighbourhood_equals_networkx(seed, hops):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, (12, 2, 12), (int(rng.integers(1, 30)), 3))
    graph = KnowledgeGraph.from_triplets(
        (f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows
    )
    start = np.array([0, min(3, len(graph.entities) - 1)], np.int32)
    plain = nx.MultiGraph(graph.triplets[:, [0, 2]].tolist())
    steps = nx.multi_source_dijkstra_path_length(plain, set(start.tolist()))
    expected = [
        i
        for i, (h, _, t) in enumerate(graph.triplets)
        if min(steps.get(h, 99), steps.get(t, 99)) < hops
    ]
    found = neighbourhood(graph, start, hops=hops, threshold=0)
    assert found.tolist() == expected
    few = neighbourhood(graph, start, hops=hops, keep=2)
    assert len(few) <= 2 and set(few) <= set(found)


DATA = r"""
@prefix : <http://x.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:heat :P57 :mann ; :year 1995 ; rdfs:label "Heat"@en, "Hitze"@de .
:mann :born :chicago ; rdfs:label "Michael \"M\" Mann" .
:chicago :in :usa . :usa :has :washington .
:collateral :P57 :mann . :other :P57 :nobody .
:P57 rdfs:label "directed by"@en .
"""


class Server(ThreadingHTTPServer):
    """An endpoint over pyoxigraph that takes one of the protocol's ways."""

    daemon_threads = True

    def __init__(self, way):
        super().__init__(("127.0.0.1", 0), Handler)
        self.way, self.queries = way, []
        self.store = ox.Store()
        self.store.load(DATA.encode(), format=ox.RdfFormat.TURTLE)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/sparql"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        self.answer("get", urllib.parse.urlsplit(self.path).query)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        whole = self.headers["Content-Type"] == "application/sparql-query"
        self.answer("body" if whole else "form", body)

    def answer(self, way, text):
        if way != self.server.way:
            return self.send_error(405)
        query = text if way == "body" else urllib.parse.parse_qs(text)["query"][0]
        self.server.queries.append(query)
        found = self.server.store.query(query)
        assert isinstance(found, ox.QuerySolutions)
        reply = found.serialize(format=ox.QueryResultsFormat.JSON) or b""
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def endpoint(request):
    with Server(request.param) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


NAMES = {
    ("Heat", "directed by", 'Michael "M" Mann'),
    ("Heat", "year", "1995"),
    ("collateral", "directed by", 'Michael "M" Mann'),
    ('Michael "M" Mann', "born", "chicago"),
}


def neighbourhood_of(endpoint, out, *words):
    return main(["neighbourhood", "--sparql", endpoint.url, "--out", str(out), *words])


@pytest.mark.parametrize("endpoint", ["get", "form", "body"], indirect=True)
def test_an_endpoint_gives_two_hops_with_labels(endpoint, tmp_path):
    assert neighbourhood_of(endpoint, tmp_path / "g", "--entities", "Heat") == 0
    graph = KnowledgeGraph.open(tmp_path / "g", verify=True)
    found = {graph.triplet(i) for i in range(len(graph))}
    assert found == NAMES
    assert graph.find("mann") == graph.find('michael "m" mann')
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g"]


@pytest.mark.parametrize("endpoint", ["form"], indirect=True)
def test_names_cannot_change_a_query(endpoint, tmp_path, capsys):
    attack = 'Heat" } ?s ?p ?o } #'
    assert neighbourhood_of(endpoint, tmp_path / "g", "--entities", attack) == 2
    assert "has nothing named" in capsys.readouterr().err
    assert '"Heat\\" } ?s ?p ?o } #"' in endpoint.queries[-1]
    iri = "http://x.org/a> ?p ?o } #"
    assert neighbourhood_of(endpoint, tmp_path / "g", "--entities", iri) == 2
    assert "is no IRI" in capsys.readouterr().err
    wide = ("--entities", "http://x.org/heat", "--hops", "4", "--limit", "2")
    assert neighbourhood_of(endpoint, tmp_path / "g", *wide) == 0
    assert "only 2 statements" in capsys.readouterr().err


def test_a_graph_or_an_endpoint_that_is_there(tmp_path, capsys):
    file = tmp_path / "g.tsv"
    file.write_text("a\tr\tb\nb\tr\tc\nc\tr\td\nd\tr\te\n")
    out = ["--out", str(tmp_path / "small")]
    assert main(["neighbourhood", "--kg", str(file), "--entities", "A", *out]) == 0
    graph = KnowledgeGraph.open(tmp_path / "small")
    assert [graph.triplet(i) for i in range(len(graph))] == [
        ("a", "r", "b"),
        ("b", "r", "c"),
    ]
    words = ["neighbourhood", "--kg", str(file), "--entities", "nobody"]
    for wrong in (
        [*words, "--out", str(tmp_path / "x")],
        [*words, *out],
        ["neighbourhood", "--entities", "a", *out, "--overwrite"],
        ["neighbourhood", "--sparql", "ftp://x", "--entities", "a", "--out", "x"],
        [*words[:1], "--sparql", "http://127.0.0.1:9", *words[3:], "--out", "x"],
    ):
        assert main(wrong) == 2, wrong
    errors = capsys.readouterr().err
    for text in ("nothing named", "holds a graph", "neither", "ftp", "be reached"):
        assert text in errors
    assert not (tmp_path / "x").exists()
