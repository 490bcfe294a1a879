"""Graphs from and to Python's own, and what misuse says."""

from __future__ import annotations

import builtins
import datetime

import numpy as np
import pandas as pd
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

ROWS = [("Alien", "by", "Ridley Scott"), ("Alien", "in", "1979"), ("Heat", "by", "x")]


def rows(graph: KnowledgeGraph) -> list[tuple[str, str, str]]:
    return [graph.triplet(i) for i in range(len(graph))]


def test_a_graph_goes_to_pandas_and_networkx_and_back():
    graph = KnowledgeGraph.from_triplets(ROWS)
    table = graph.to_pandas()
    assert list(table.columns) == ["head", "relation", "tail"]
    assert list(table.itertuples(index=False, name=None)) == rows(graph) == ROWS
    assert rows(KnowledgeGraph.from_pandas(table)) == ROWS
    drawn = graph.to_networkx()
    assert set(drawn.edges(keys=True)) == {(h, t, r) for h, r, t in ROWS}
    assert sorted(rows(KnowledgeGraph.from_networkx(drawn))) == sorted(ROWS)
    empty = KnowledgeGraph.from_triplets([])
    assert len(empty.to_pandas()) == len(empty.to_networkx()) == len(empty) == 0
    assert empty  # a graph without triplets is a graph


def test_labelled_nodes_of_networkx_are_ids_with_names(tmp_path):
    (tmp_path / "kg.tsv").write_text("m.1\tby\tm.2\nm.3\tby\tm.2\n")
    (tmp_path / "l.tsv").write_text("m.1\tAlien\nm.3\tAlien\n")
    build = BuildSettings(labels=tmp_path / "l.tsv")
    build_graph([tmp_path / "kg.tsv"], tmp_path / "graph", build)
    drawn = KnowledgeGraph.open(tmp_path / "graph").to_networkx()
    names = {"m.1": "Alien", "m.2": "m.2", "m.3": "Alien"}
    assert dict(drawn.nodes(data="name")) == names
    assert drawn.number_of_edges() == 2


def test_columns_of_a_table_are_found_or_named():
    day = datetime.date(1979, 5, 25)
    table = pd.DataFrame(
        {"target": [1979, day], "year": [1, 2], "source": ["Alien", "A"], "type": "in"}
    )
    facts = [("Alien", "in", "1979"), ("A", "in", "1979-05-25")]
    assert rows(KnowledgeGraph.from_pandas(table)) == facts
    graph = KnowledgeGraph.from_pandas(table, columns=("source", "type", "year"))
    assert rows(graph) == [("Alien", "in", "1"), ("A", "in", "2")]


def test_len_and_repr_are_short(tmp_path):
    graph = KnowledgeGraph.from_triplets(ROWS)
    assert len(graph) == 3
    assert repr(graph) == "KnowledgeGraph(3 triplets, 5 entities, 2 relations)"
    (tmp_path / "kg.tsv").write_text("a\tr\tb\n")
    build_graph([tmp_path / "kg.tsv"], tmp_path / "graph")
    opened = repr(KnowledgeGraph.open(tmp_path / "graph"))
    assert opened.startswith(f"KnowledgeGraph('{tmp_path}/graph': 1 triplets, ")


def test_open_takes_what_kg_takes(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tr\tb\n")
    (tmp_path / "b.csv").write_text("from,to,type\nc,d,r\n")
    assert rows(KnowledgeGraph.open(str(tmp_path / "a.tsv"))) == [("a", "r", "b")]
    both = KnowledgeGraph.open([tmp_path / "a.tsv", str(tmp_path / "b.csv")])
    assert rows(both) == [("a", "r", "b"), ("c", "r", "d")]
    with pytest.raises(UserError, match="verify: expected a GRAPH folder, found the f"):
        KnowledgeGraph.open(tmp_path / "a.tsv", verify=True)


GRAPH = KnowledgeGraph.from_triplets(ROWS)
TABLE = pd.DataFrame({"head": ["a", None], "relation": "r", "tail": "b"})


@pytest.mark.parametrize(
    ("misuse", "expected"),
    [
        (lambda: KnowledgeGraph.from_triplets([("a", "b")]),
         "triplets[0]: expected (head, relation, tail), found ('a', 'b')"),
        (lambda: KnowledgeGraph.from_triplets([("a", "r", "b"), "abc"]),
         "triplets[1]: expected (head, relation, tail), found 'abc'"),
        (lambda: KnowledgeGraph.from_triplets([("a", "r", 1979)]),
         "triplets[0]: the tail is 1979, expected a string"),
        (lambda: KnowledgeGraph.from_triplets([(None, "r", "b")]),
         "triplets[0]: the head is None, expected a string"),
        (lambda: KnowledgeGraph.from_triplets([np.zeros(3)]), "triplets[0]: the head"),
        (lambda: KnowledgeGraph.from_triplets("films.tsv"), "triplets: expected (head"),
        (lambda: KnowledgeGraph.from_triplets(7), "triplets: expected (head, relation"),
        (lambda: KnowledgeGraph.from_triplets([7]), "triplets[0]: expected (head"),
        (lambda: KnowledgeGraph.from_triplets(TABLE), "triplets: found a table"),
        (lambda: KnowledgeGraph.from_triplets([(" ", "r", "b")]), "an entity is empty"),
        (lambda: GRAPH.with_triplets([("a", "b")]), "triplets[0]: expected (head"),
        (lambda: GRAPH.without_triplets([("a", 1, "b")]), "triplets[0]: the relation"),
        (lambda: GRAPH.find(7), "name: expected a string, found 7"),
        (lambda: GRAPH.find_every(None), "name: expected a string, found None"),
        (lambda: GRAPH.find_all("Alien"), "names: found one string 'Alien'"),
        (lambda: KnowledgeGraph.open(7), "path: expected a GRAPH folder or triplet f"),
        (lambda: KnowledgeGraph.open([]), "path: expected a GRAPH folder or triplet f"),
        (lambda: KnowledgeGraph.open([7]), "path: expected a path, found 7"),
        (lambda: KnowledgeGraph.open(""), "path: expected a path, found ''"),
        (lambda: KnowledgeGraph.from_networkx("x"), "graph: expected a networkx graph"),
        (lambda: KnowledgeGraph.from_pandas("x"), "table: expected a pandas DataFrame"),
        (lambda: KnowledgeGraph.from_pandas(TABLE), "table: row 1: column 'head'"),
        (lambda: KnowledgeGraph.from_pandas(TABLE[["head"]]), "table: expected"),
        (lambda: KnowledgeGraph.from_pandas(TABLE, columns=("head", "x", "tail")),
         "columns: expected three of ['head', 'relation', 'tail'], found ('head', 'x'"),
        (lambda: KnowledgeGraph.from_pandas(TABLE, columns="head"), "columns: "),
    ],
)  # fmt: skip
def test_misuse_names_the_argument(misuse, expected):
    with pytest.raises(UserError) as caught:
        misuse()
    assert expected in str(caught.value) and "\n" not in str(caught.value)


def test_to_pandas_without_pandas_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UserError, match="pip install pandas"):
        GRAPH.to_pandas()
