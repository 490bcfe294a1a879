"""What ``inspect`` prints: what the cuts lost, and what a question takes up."""

from __future__ import annotations

import json
import re

import pytest
import written_shards
from prep_factory import NEEDS_ENCODER
from written_shards import planted, write_shards

from data_prep.accounting import STAGES
from data_prep.inspect_command import InspectSettings, inspect
from kgscout_jax.cli.main import main as kgscout
from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


@NEEDS_ENCODER
def test_inspect_prints_what_each_cut_left(cut, capsys):
    inspect(InspectSettings(paths=(cut.path,), verify=True))
    output = capsys.readouterr().out
    assert "train: 6 questions of 8 read; dropped without an answer 2" in output
    assert "all-MiniLM-L6-v2, d = 384" in output
    assert "every checksum agrees" in output
    assert "cut subgraphs 0." in output  # seconds of a stage
    header = next(line for line in output.splitlines() if "questions    topic" in line)
    stages = [stage.removeprefix("in ") for stage in (*STAGES, *STAGES[1:])]
    assert " ".join(header.split()) == "hop questions topic " + " ".join(stages)


@pytest.mark.parametrize(("table", "share"), [("float16", 1.05), ("int8", 0.55)])
def test_inspect_counts_the_bytes_of_a_question(
    tmp_path, capsys, monkeypatch, table, share
):
    monkeypatch.setattr(written_shards, "DIMENSION", 384)
    questions = [planted(i, triplets=1000) for i in range(10)]
    out = tmp_path / "shards"
    encoder = {"dimension": 384}
    shards = write_shards(out, {"train": questions}, encoder=encoder, table=table)
    assert shards.split("train").n_real.tolist() == [1000] * 10
    inspect(InspectSettings(paths=(out,)))
    output = " ".join(capsys.readouterr().out.split())

    def figure(pattern: str) -> float:
        match = re.search(pattern, output)
        assert match, output
        return float(match[1].replace(",", ""))

    each = figure(r"([\d,]+) bytes a question without tables")
    arrays, text = figure(r"\(arrays ([\d,]+),"), figure(r"text ([\d,]+)\)")
    own = [file.stat().st_size for file in (out / "train").iterdir()]
    assert each == round(sum(own) / 10) <= 16_000
    assert abs(arrays + text - each) <= 1 and text > 0
    assert figure(r"tables ([\d,]+) bytes a candidate triplet") <= share * 768
    assert "10,000 of them" in output and table in output
    files = [f for f in out.rglob("*") if f.is_file() and f.name != "manifest.json"]
    total = figure(r"total ([\d,]+) bytes a question, tables and names included")
    assert total == round(sum(f.stat().st_size for f in files) / 10)
    assert "over 10 questions" in output


MESSY = "".join(f"n{i}\tP31\tQ5\n" for i in range(30)) + "x\x1b[2J\tisOf\tQ5\n"


@pytest.mark.parametrize("folder", [True, False])
def test_inspect_tells_what_a_graph_lacks_and_what_to_do(tmp_path, capsys, folder):
    file = tmp_path / "kg.tsv"
    file.write_text(MESSY)
    path = file
    if folder:
        path = tmp_path / "graph"
        assert kgscout(["graph", "--kg", str(file), "--out", str(path)]) == 0
        capsys.readouterr()
    assert kgscout(["inspect", str(path), *(["--verify"] if folder else [])]) == 0
    output = capsys.readouterr().out
    assert "  triplets      31; 0 duplicates dropped\n" in output
    assert "  hubs                 31  'Q5' (31 in, 0 out)\n" in output
    assert "'P31': an identifier (1 of 2 relations, 97% of the triplets)." in output
    assert "kgscout graph --relation-names FILE" in output
    assert "'isOf': says little" in output
    assert "\x1b" not in output
    assert ("every checksum agrees" in output) == folder
    assert kgscout(["inspect", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["triplets"] == 31 and found["entities"] == 32
    assert any("an identifier" in line for line in found["advice"])


def test_inspect_reads_nodes_and_edges_as_one_graph(tmp_path, capsys):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text(":ID,name\n1,Ada\n2,Bern\n")
    edges.write_text(":START_ID,:END_ID,:TYPE\n1,2,BORN_IN\n")
    assert kgscout(["inspect", str(nodes), str(edges)]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"{nodes} {edges}\n")
    assert "'Ada' (0 in, 1 out)" in output
    assert kgscout(["inspect"]) == 2
    assert "expected a folder of shards, a GRAPH" in capsys.readouterr().err


def test_inspect_tells_of_ids_without_their_nodes(tmp_path, capsys):
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("Source,Target,Label\n" + "".join(f"{i},9,r\n" for i in range(4)))
    assert kgscout(["inspect", str(edges)]) == 0
    assert "numbers       4 of 4 heads are whole numbers" in capsys.readouterr().out
    nodes.write_text("id,name\n0,Ann\n1,Bob\n2,Cid\n3,Dan\n")
    assert kgscout(["inspect", str(nodes), str(edges)]) == 0
    said = capsys.readouterr().out
    assert "nodes         1 nodes of edges are not among the nodes given" in said
    assert "whole numbers" not in said


def test_a_folder_of_triplet_files_is_told_from_unfinished_shards(tmp_path, capsys):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.csv").write_text("Ann,knows,Bo\n")
    (folder / "b.tsv").write_text("Bo\tlives_in\tBern\n")
    for name in ("notes.md", ".hidden.csv", "README.txt", "schema.sql"):
        (folder / name).write_text("of no graph")
    assert kgscout(["inspect", str(folder)]) == 0
    assert "triplets      2;" in capsys.readouterr().out
    files = [folder / "a.csv", folder / "b.tsv"]
    both, graph = map(KnowledgeGraph.open, (folder, files))
    assert both.triplets.tolist() == graph.triplets.tolist()
    build_graph([folder], tmp_path / "graph")
    built = KnowledgeGraph.open(tmp_path / "graph")
    assert {*built.entities} == {"Ann", "Bo", "Bern"}
    (folder / "c.mdb").write_bytes(b"PK")
    with pytest.raises(UserError, match=r"c\.mdb: unknown triplet format"):
        KnowledgeGraph.open(folder)
    write_shards(tmp_path / "shards", {"train": [planted(0, triplets=9)]})
    (tmp_path / "shards" / "manifest.json").unlink()
    assert kgscout(["inspect", str(tmp_path / "shards")]) == 2
    assert "the folder is unfinished" in capsys.readouterr().err


def test_inspect_takes_columns_for_graphs_only(tmp_path, capsys):
    file = tmp_path / "kg.csv"
    file.write_text("a,b,knows\n")
    assert kgscout(["inspect", str(file), "--columns", "1,3,2"]) == 0
    assert "'knows'" in capsys.readouterr().out
    write_shards(tmp_path / "shards", {"train": [planted(0, triplets=9)]})
    for args in (["shards", "--json"], ["shards", "--columns", "1,2,3"]):
        assert kgscout(["inspect", str(tmp_path / args[0]), *args[1:]]) == 2
        assert "are for graphs, expected a GRAPH" in capsys.readouterr().err
    assert kgscout(["inspect", str(tmp_path / "none")]) == 2
    assert "none: no such file or folder" in capsys.readouterr().err
