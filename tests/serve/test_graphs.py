"""What --kg names, and graphs by name."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.serve.graphs import Graphs, UnknownGraph, named_paths, open_graphs
from kgscout_jax.serve.settings import ServeSettings, ServiceSettings


def graph(name: str = "a") -> KnowledgeGraph:
    return KnowledgeGraph.from_triplets([(name, "b", "c")])


def test_names_are_given_or_those_of_the_files(tmp_path):
    (tmp_path / "x=y.tsv").write_text("a\tb\tc\n")
    strange = str(tmp_path / "x=y.tsv")
    kg = [["films.tsv.gz", "more.tsv"], ["towns=/data/t.tsv"], ["g/"], [strange]]
    assert named_paths(kg) == {
        "films": [Path("films.tsv.gz"), Path("more.tsv")],
        "towns": [Path("/data/t.tsv")],
        "g": [Path("g")],
        "x=y": [tmp_path / "x=y.tsv"],  # a file that is there is no name=PATH
    }


@pytest.mark.parametrize(
    ("kg", "told"),
    [
        ([], "--kg: expected at least one graph, found none"),
        ([[]], "--kg: expected triplet files or a GRAPH folder, found nothing"),
        ([["a.tsv"], ["b/a.txt"]], "two graphs are called 'a'.*--kg NAME=b/a.txt"),
        ([["x=a"], ["x=b"]], "two graphs are called 'x'"),
    ],
)
def test_invalid_kg_values_are_refused(kg, told):
    with pytest.raises(UserError, match=told):
        named_paths(kg)


def test_graphs_are_opened(tmp_path):
    (tmp_path / "one.tsv").write_text("a\tb\tc\n")
    (tmp_path / "two.tsv").write_text("d\te\tf\n")
    both = [str(tmp_path / "one.tsv"), str(tmp_path / "two.tsv")]
    opened = open_graphs([both, [f"second={both[1]}"]])
    assert [(name, len(g.triplets)) for name, g in opened.items()] == [
        ("one", 2),
        ("second", 1),
    ]
    with pytest.raises(UserError, match=r"nope\.tsv: no such file or folder"):
        open_graphs([[str(tmp_path / "nope.tsv")]])


def test_the_first_is_the_default_and_others_go_by_name():
    one, two = graph("1"), graph("2")
    graphs = Graphs({"one": one, "two": two})
    assert graphs.get() == graphs.get("one") == ("one", one)
    assert graphs.get("two") == ("two", two)
    for name in ("three", "", "ONE", "one ", "x" * 10_000):
        with pytest.raises(UnknownGraph, match="expected one of one, two") as told:
            graphs.get(name)
        assert len(str(told.value)) < 200
    with pytest.raises(UserError, match="at least one"):
        Graphs({})


def test_a_graph_is_replaced_in_one_step_from_many_threads():
    graphs = Graphs({"g": graph()})
    held = graphs.items()

    def add(i: int) -> None:
        for j in range(50):
            graphs.replace(f"{i}.{j}", graph())
            graphs.replace("g", graph(str(i)))

    threads = [threading.Thread(target=add, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(graphs.names) == 1 + 4 * 50  # none was lost
    assert graphs.names[0] == "g"
    assert [name for name, _ in held] == ["g"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("max_k", 0, "--max-k: found 0, expected at least 1"),
        ("max_question_chars", 0, "--max-question-chars: found 0"),
        ("max_batch", 0, "--max-batch: found 0"),
        ("max_queue", -1, "--max-queue: found -1"),
        (
            "batch_wait_ms",
            float("nan"),
            "--batch-wait-ms: found nan, expected at least 0",
        ),
        ("timeout", 0.0, "--timeout: 0, expected above 0"),
        ("timeout", float("inf"), "--timeout: inf, expected"),
        ("llm", "http://x/v1", "--llm without --model"),
        ("model", "m", "--model without --llm"),
    ],
)
def test_settings_are_checked(field, value, told):
    with pytest.raises(UserError, match=told):
        ServiceSettings(**{field: value})


@pytest.mark.parametrize("port", [-1, 65536])
def test_ports_are_checked(port):
    with pytest.raises(UserError, match=f"--port: {port}, expected 0 to 65535"):
        ServeSettings(policy="out", kg=(("x",),), port=port)
