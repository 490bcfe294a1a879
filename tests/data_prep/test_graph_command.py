"""``graph`` on the command line, and GRAPH folders where --kg is asked for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from data_prep.__main__ import main
from data_prep.graph_command import summary
from data_prep.sources import kg
from kgscout_jax.cli.main import main as kgscout
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError

QUESTIONS = {
    "id": "q",
    "question": "who?",
    "q_entity": ["Alien"],
    "answer": ["Ridley Scott"],
}


@pytest.fixture
def files(tmp_path) -> Path:
    (tmp_path / "a.tsv").write_text(
        "Alien\tdirected_by\tRidley Scott\nalien\tdirected_by\tRidley  Scott\n"
        "Alien\tcast\tm.01\n"
    )
    (tmp_path / "b.csv").write_text("Aliens,directed_by,James Cameron\n")
    (tmp_path / "labels.tsv").write_text("m.01\tcast of Alien\n")
    (tmp_path / "q").mkdir()
    (tmp_path / "q/train.jsonl").write_text(json.dumps(QUESTIONS) + "\n")
    return tmp_path


def output_of(capsys) -> str:
    out = capsys.readouterr()
    assert "Traceback" not in out.err
    return out.out + out.err


@pytest.mark.parametrize(
    "command",
    [lambda *args: main(["graph", *args]), lambda *args: kgscout(["graph", *args])],
)
def test_graph_builds_changes_and_verifies_a_folder(files, capsys, command):
    out = str(files / "graph")
    assert command("--kg", str(files / "a.tsv"), "--out", out) == 0
    text = output_of(capsys)
    assert "2 triplets, 3 entities, 2 relations" in text
    assert "1 duplicates dropped, 1 entities unnamed, 0 labelled" in text
    assert re.search(r"MB, [\d,.]+ bytes a triplet", text)
    assert re.search(r"[\d.]+ seconds, [\d.]+ GB of memory", text)
    assert command("--kg", str(files / "a.tsv"), "--out", out) == 2
    assert "holds a graph already" in output_of(capsys)
    add = ["--add", str(files / "b.csv"), "--remove", str(files / "b.csv")]
    assert command("--out", out, *add) == 0
    text = output_of(capsys)
    assert "3 triplets, 5 entities" in text
    assert "0 removed, 1 not there to remove" in text
    assert command("--out", out, "--labels", str(files / "labels.tsv"), "--verify") == 0
    text = output_of(capsys)
    assert "0 entities unnamed, 1 labelled" in text
    assert "every checksum agrees" in text


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--out", "G"], "error: expected --kg to build a graph"),
        (["--kg", "a.tsv"], "--out"),
        (["--out", "G", "--kg", "a.tsv", "--add", "b.csv"], "found both"),
        (["--out", "G", "--add", "b.csv"], "G: no such GRAPH folder"),
        (["--out", "G", "--verify"], "G: no such GRAPH folder"),
        (["--out", "G", "--kg", "no.tsv"], "no.tsv: no such file"),
        (["--out", "G", "--kg", "q"], "q: expected a triplet file, found a folder"),
        (["--out", "G", "--kg", "a.tsv", "--memory", "0"], "--memory: found 0.0"),
        (["--out", "q", "--kg", "a.tsv"], "q: expected a GRAPH folder or an empty one"),
        (["--out", "G", "--verify", "--label-relation", "x"], "--label-relation"),
    ],
)
def test_invalid_arguments_give_a_one_line_error(
    files, monkeypatch, capsys, args, expected
):
    monkeypatch.chdir(files)
    assert main(["graph", *args]) == 2
    text = output_of(capsys)
    assert text.startswith("error: ")
    assert expected in text
    assert text.count("\n") == 1
    assert not (files / "G").exists()


def test_help_shows_an_example():
    script = "from kgscout_jax.cli.main import main; main(['graph', '--help'])"
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        "Example: kgscout graph --kg facts.tsv.gz more.nt --out graph/" in found.stdout
    )


def test_kg_takes_a_graph_folder(files, capsys):
    out = files / "graph"
    names = [str(files / name) for name in ("a.tsv", "b.csv")]
    assert main(["graph", "--kg", *names, "--out", str(out)]) == 0
    one = kg.load(files / "q", [out])
    other = kg.load(files / "q", [files / "a.tsv", files / "b.csv"])
    assert list(one.graph.entities) == list(other.graph.entities)
    assert one.graph.triplets.tolist() == other.graph.triplets.tolist()
    assert one.questions == other.questions
    assert one.files[0] == out / "manifest.json"  # its checksums: the identity
    assert one.notes == {"unnamed_entities": 1}
    before = one.files[0].read_bytes()
    assert main(["graph", "--out", str(out), "--remove", names[1]]) == 0
    assert one.files[0].read_bytes() != before
    output_of(capsys)


def test_graph_folders_and_shards_refuse_each_other(files, capsys):
    out = files / "graph"
    assert main(["graph", "--kg", str(files / "a.tsv"), "--out", str(out)]) == 0
    output_of(capsys)
    with pytest.raises(UserError, match="kgscout-shards") as caught:
        Shards.open(out)
    assert "\n" not in str(caught.value)
    (out / "manifest.json").write_text('{"format": "kgscout-shards", "version": 1}')
    with pytest.raises(UserError, match=r"expected a GRAPH folder .* found shards"):
        kg.load(files / "q", [out])


def test_an_empty_graph_has_a_summary():
    counts = dict.fromkeys(
        ("triplets", "entities", "relations", "duplicates", "unnamed", "labels"), 0
    )
    lines = summary(Path("g"), {"counts": counts, "notes": {}, "files": {}}, 1.0)
    assert "0 triplets" in lines[1]


def test_graph_embeds_its_folder_at_once_or_later(files, capsys):
    out = files / "graph"
    assert kgscout(["graph", "--kg", str(files / "a.tsv"), "--out", str(out)]) == 0
    assert not (out / "embeddings").exists()
    assert kgscout(["graph", "--out", str(out), "--embed"]) == 0
    assert "every triplet is embedded by all-MiniLM-L6-v2" in output_of(capsys)
    assert len(list(out.glob("embeddings/*/manifest.json"))) == 1
    assert kgscout(["graph", "--out", str(out), "--embed", "--encoder", "/no"]) == 2
    assert "encoder '/no': neither a folder" in output_of(capsys)
