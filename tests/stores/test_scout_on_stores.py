"""Scout on a store: what it reads by parts gives the answers of the whole graph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from film_world import film_triplets

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.stores.connect import connect, store_url
from kgscout_jax.stores.embedded import EmbeddedStore
from kgscout_jax.stores.neighbourhood import neighbourhood
from kgscout_jax.stores.protocol import Step, Store
from kgscout_jax.text.cache import EmbeddingCache

QUOTED = ('The "Heat" of O\'Brien', 'said: "so"', '"Kes"')


def url_of(port: int, name: str) -> str:
    return f"falkordb://127.0.0.1:{port}/{name}"


@pytest.fixture(scope="module")
def imported(server: int, films: Path, export: Path) -> str:
    """The URL of a store into which the films were imported by the command."""
    url = url_of(server, "films")
    assert main(["store", "import", "--store", url, "--kg", str(films)]) == 0
    return url


@pytest.fixture(params=["embedded", "falkordb"])
def store(request, scout, graph) -> Store:
    if request.param == "embedded":
        return EmbeddedStore(graph, EmbeddingCache(scout.encoder).embed)
    return connect(request.getfixturevalue("imported"), 384)


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        ("Who directed Heat?", None),
        ("Where does Studio 1 lie?", None),
        ("Who made it?", ["Alien", "Kes"]),
    ],
)
def test_triplets_and_scores_are_those_of_the_whole_graph(
    store, scout, graph, question, topics
):
    found = scout.retrieve(question, store, 20, topics=topics)
    whole = scout.retrieve(question, graph, 20, topics=topics)
    assert found.topics == whole.topics != ()
    scores = dict(zip(whole.triplets, whole.scores.tolist(), strict=True))
    assert set(found.triplets) == scores.keys()
    for triplet, score in zip(found.triplets, found.scores.tolist(), strict=True):
        assert score == pytest.approx(scores[triplet], abs=1e-3)


def test_a_misspelled_name_is_found_by_its_vector(store, scout):
    found = scout.retrieve("Which films did Akira Kurosava direct?", store, 5)
    assert "Akira Kurosawa" in found.topics


def test_a_store_and_a_graph_go_together(store, scout, graph):
    pair = ["Who directed Heat?", "Who directed Ran?"]
    found = scout.retrieve_many(pair, [store, graph], 3)
    assert [each.topics for each in found] == [("Heat",), ("Ran",)]


def test_a_hub_gives_its_best_relations_within_the_limit():
    spokes = [("hub", "many", f"n{i}") for i in range(50)]
    graph = KnowledgeGraph.from_triplets(
        [*spokes, ("hub", "one", "x"), ("x", "next", "y"), ("y", "next", "z")]
    )
    store = EmbeddedStore(graph, lambda texts: np.zeros((len(texts), 4), np.float16))

    def order(steps) -> list[Step]:
        return sorted(steps, key=lambda step: step.triplets)

    small = neighbourhood(store, ["hub"], order, hops=2, limit=10)
    triplets = {small.triplet(i) for i in range(len(small))}
    assert {("hub", "one", "x"), ("x", "next", "y")} <= triplets
    assert len(triplets) == 6  # a half of ten each step: one and four of the spokes
    assert ("y", "next", "z") not in triplets


def test_ask_retrieve_and_export_take_the_url(imported, export, tmp_path, capsys):
    ask = ["ask", str(export), "--kg", imported, "--json"]
    assert main([*ask, "Who directed Heat?", "--k", "3"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["topics"] == ["Heat"] and len(said["triplets"]) == 3
    assert main([*ask, "Who?", "--topic", "Heet"]) == 2
    assert "no entity of the graph is called 'Heet'" in capsys.readouterr().err
    questions, out = tmp_path / "q.jsonl", tmp_path / "out.jsonl"
    questions.write_text(json.dumps({"id": "1", "question": "Who directed Ran?"}))
    assert main(["retrieve", str(export), "--kg", imported, "--questions",
                 str(questions), "--out", str(out)]) == 0  # fmt: skip
    assert json.loads(out.read_text())["topics"] == ["Ran"]


def test_an_export_gives_back_the_import(server, export, tmp_path, capsys):
    triplets = {*film_triplets(), QUOTED}
    out, folder = tmp_path / "out.tsv", tmp_path / "G"
    url = url_of(server, "round")
    connect(url, 384).write(sorted(triplets), {})
    for target in (out, folder):
        command = ["store", "export", "--store", url, "--kg", str(target)]
        assert main(command) == 0
        graph = KnowledgeGraph.open(target)
        assert {graph.triplet(i) for i in range(len(graph))} == triplets
        assert main(command) == 2  # nothing is overwritten unasked
    capsys.readouterr()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis://h/x", "expected falkordb://HOST:PORT/NAME"),
        ("falkordb://127.0.0.1:1/x", "127.0.0.1:1"),
        ("falkordb://127.0.0.1:99999/x", "expected falkordb://HOST:PORT/NAME"),
        ("falkordb://127.0.0.1", "no name of a graph"),
    ],
)
def test_a_wrong_url_is_one_line(url, says):
    pytest.importorskip("falkordb")
    with pytest.raises(UserError, match=says):
        connect(url, 4)


def test_a_url_survives_being_a_path():
    url = "falkordb://127.0.0.1:6379/films"
    assert store_url([Path(url)]) == url
    assert store_url([Path("films.tsv")]) is None
    with pytest.raises(UserError, match="a store alone"):
        store_url(["films.tsv", Path(url)])
