"""The commands as people call them: help, and errors of one line."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from data_prep.__main__ import main as prep_main
from kgscout_jax.cli.main import COMMANDS, eval_main, main, train_main
from kgscout_jax.cli.runner import imported, run_command

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
KGSCOUT = str(Path(PYTHON).parent / "kgscout")
HEAVY = (
    "flax", "jax", "matplotlib", "networkx", "orbax", "pyarrow", "scipy",
    "sentence_transformers", "torch", "transformers",
)  # fmt: skip


# --- help


@pytest.mark.extended
@pytest.mark.parametrize(
    ("command", "tells"),
    [
        ([KGSCOUT, "--help"], "usage: kgscout COMMAND"),
        ([KGSCOUT, "train", "--help"], "usage: kgscout train"),
        ([PYTHON, "train.py", "--help"], "--estimator"),
        ([PYTHON, "eval.py", "--help"], "retrieval"),
        ([PYTHON, "eval.py", "retrieval", "--help"], "--against"),
        ([PYTHON, "-m", "data_prep", "--help"], "--max-triplets"),
        ([PYTHON, "-m", "data_prep", "inspect", "--help"], "--verify"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else "",
)
def test_help_is_there_at_once(command, tells):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [PYTHON, "-X", "importtime", *command[command[0] == PYTHON :]],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert tells in done.stdout
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "kgscout_jax.cli.runner" in imported
    assert not imported & set(HEAVY)
    # Of the processor, for the machine may be busy; an idle one takes a third of it.
    assert after.ru_utime - before.ru_utime < 1.0


@pytest.mark.parametrize(
    "command", ["prep", "train", "ask", "retrieve", "eval answers"]
)
def test_help_is_in_groups_and_every_option_is_in_one(command):
    done = subprocess.run(
        [PYTHON, "-m", "kgscout_jax", *command.split(), "--help"],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
    )  # fmt: skip
    settings = imported(COMMANDS[command].settings)
    titles = re.findall(r"^╭─ (.*?) ─", done.stdout, re.M)
    assert set(settings.groups) < set(titles)
    assert "{None}" not in done.stdout and "default: None" not in done.stdout
    rest = done.stdout.partition("╭─ other options")[2]
    assert re.findall(r" (--[\w-]+)", rest) == ["--help"]
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


@pytest.mark.extended
def test_bash_completes_commands_flags_and_choices(tmp_path):
    script = """eval "$(python -m kgscout_jax completion bash)"
for line in "kgscout re" "kgscout eval ret" "kgscout ask --top" "kgscout ask --form pa"
do
  COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _tyro_kgscout
  echo "${COMPREPLY[@]}"
done"""
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["retrieve", "retrieval", "--topic", "paths"]


def test_the_command_alone(capsys):
    assert main([]) == 2
    assert "usage: kgscout" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "command", ["prep", "graph", "inspect", "retrieve", "ask", "serve", "mcp"]
)
def test_every_command_that_reads_graphs_takes_their_columns(command, capsys):
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert all(f"--{name}" in text for name in ("columns", "properties", "language"))


# --- errors are one line


def run_main(args: Sequence[str], prog: str) -> int:
    return main(args)


def inspect_main(args: Sequence[str], prog: str) -> int:
    return run_command(COMMANDS["inspect"], args, prog)


TRAIN = ["--shards", "nowhere", "--run", "run"]
FILE = __file__
WORLD = ["world", "--out", "x"]
EVAL = ["retrieval", "--shards", "nowhere", "--run", "run", "--out", "out"]


@pytest.mark.parametrize(
    ("command", "args", "says"),
    [
        (run_main, ["trian"], "unknown command 'trian', .* prep, graph.*mean train"),
        (run_main, ["ask", "--kg", "x", "--tpic", "y"], "--tpic.*did you mean --topic"),
        (train_main, [], "--shards"),
        (train_main, [*TRAIN, "--k", "many"], "--k: found 'many', expected an integer"),
        (train_main, [*TRAIN, "--policy", "wlak"], "--policy: found 'wlak', expected "
         "one of thesis, walk, mlp; did you mean walk?"),
        (train_main, [*TRAIN, "--policy", "None"], "'None', expected one of thesis, w"),
        (train_main, [*TRAIN, "--preset", "mine"], "found 'mine', expected thesis$"),
        (train_main, [*TRAIN, "--resident-gb", "x"], "found 'x', expected a number$"),
        (train_main, ["--shards", FILE, "--run", "r"], "found a file, expected a fold"),
        (run_main, ["runs", FILE], "found a file, expected a run"),
        (train_main, [*TRAIN, "--k", "0"], "--k: found 0, expected at least 1"),
        (train_main, [*TRAIN, "--k"], "--k"),
        (train_main, [*TRAIN, "--estimator", "guess"], "'guess'.*closed_form"),
        (train_main, [*TRAIN, "--learning-rat", "1"], "did you mean --learning-rate"),
        (train_main, TRAIN, "nowhere: no such folder of shards"),
        (eval_main, [], "eval: found nothing behind it, expected one of retrieval"),
        (eval_main, ["everything"], "'everything'.*retrieval"),
        (eval_main, ["retrieval"], "--run"),
        (eval_main, EVAL, "nowhere: no such folder of shards"),
        (eval_main, [*EVAL, "--k", "10", "0"], "--k: found 0, expected at least 1"),
        (eval_main, [*EVAL, "--k", "ten"], "--k: found 'ten', expected an integer"),
        (prep_main, [], "--out"),
        (prep_main, ["csv", "--out", "x"], "'csv'.*rog.*nsm.*kg"),
        (prep_main, ["rog"], "--out"),
        (prep_main, ["rog", "--out", "x", "--hops", "0"], "--hops: found 0, expected"),
        (prep_main, ["rog", "--out", "x", "--seed", "a"], "--seed.*'a'"),
        (prep_main, ["rog", "--out", "x", "--direction", "up"], "'up'.*both"),
        (inspect_main, [], "shards|PATH"),
        (inspect_main, ["nowhere"], "nowhere: no such file or folder"),
        (prep_main, [*WORLD, "--max-triplets", "90", "--candidates", "200"],
         "--max-triplets: found 90, expected at least --candidates 200"),
        (train_main, [*TRAIN[:2], "--run", FILE], "found a file, expected a folder of"),
        (run_main, ["ask", "Who?", "--kg", FILE, "--html", os.sep],
         "--html: found the folder /, expected a file to write"),
        (run_main, ["ask", "Who?", "--kg", FILE, "--k", "9" * 20],
         "--k: found 9+, expected at most 2147483647"),
        (inspect_main, [""], "PATHS: found '', expected a file or folder"),
        (run_main, ["ask", "--kg", "", "Who?"], "--kg: found '', expected a file or"),
        (run_main, ["verify", "X", "--kg="], "--kg: found '', expected a file or f"),
        (run_main, ["serve", "--kg", ""], "--kg: found '', expected a file or fold"),
        (run_main, ["fit", "x", "--out", ""], "--out: found '', expected a file or"),
        (run_main, ["export", "run", ""], "OUT: found '', expected a file or folder"),
        (inspect_main, ["n" * 5000], r"n{200}\.\.\.n{60}: File name too long"),
        (eval_main, [*EVAL[:2], "s" * 300, *EVAL[3:]], "s{300}: File name too long"),
    ],
)  # fmt: skip
def test_bad_arguments(refused, command, args, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(command, args, says)
    assert not list(tmp_path.iterdir())  # nothing was begun


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


GOOD_ROW = '{"id": "1", "question": "Who?", "q_entity": ["a"], "answer": ["b"]}\n'
ROG_ROW = json.dumps({**json.loads(GOOD_ROW), "a_entity": [], "graph": []}) + "\n"


@pytest.mark.parametrize(
    ("source", "files", "says"),
    [
        ("kg", {"q/test.jsonl": GOOD_ROW}, r"graph\.tsv: no such file"),
        ("kg", {"graph.tsv": "a\tr\tb\n"}, r"q: no such folder"),
        ("kg", {"graph.tsv": "a\tr\tb\n", "q/notes.txt": ""}, r"q: .*train\.jsonl"),
        (
            "kg",
            {"graph.tsv": "a\tr\tb\n", "q/test.jsonl": GOOD_ROW + '{"id": 2,\n'},
            r"q/test\.jsonl:2: not valid JSON",
        ),
        (
            "kg",
            {"graph.tsv": "a\tr\tb\n", "q/test.jsonl": GOOD_ROW + "[1]\n"},
            r"q/test\.jsonl:2: expected a JSON object, got list",
        ),
        (
            "kg",
            {"graph.tsv": "a\tr\tb\n", "q/test.jsonl": GOOD_ROW * 2},
            r"q/test\.jsonl:2: question id '1' occurs twice, first at .*:1",
        ),
        (
            "kg",
            {"graph.tsv": "a\tr\tb\n", "q/train.jsonl": '{"id": 1, "question": "?"}'},
            r"q/train\.jsonl:1: field 'answer' is missing; found: id, question",
        ),
        (
            "kg",
            {"graph.tsv": "a\tr\tb\n", "q/test.jsonl": GOOD_ROW.replace('["a"]', "3")},
            r"q/test\.jsonl:1: field 'q_entity': expected a list of strings, found int",
        ),
        (
            "kg",
            {"graph.tsv": "a\tr\tb\na\tr\n", "q/test.jsonl": GOOD_ROW},
            r"graph\.tsv:2: ",
        ),
        ("kg", {"graph.tsv": "\n", "q/test.jsonl": GOOD_ROW}, r"graph\.tsv: "),
        ("rog", {"q/test.jsonl": ROG_ROW}, r"q: the graph of every question is empty"),
        (
            "rog",
            {"q/test.jsonl": ROG_ROW.replace("[]}", '[["a", "r"]]}')},
            r"q/test\.jsonl:1: field 'graph': .* found a row of 2",
        ),
        ("rog", {"q/other.txt": ""}, r"q: expected train-\*\.parquet, train\.jsonl"),
        ("metaqa", {"q/kb.txt": ""}, r"q"),
        ("nsm", {"q/train_simple.json": ""}, r"q"),
        ("pathquestion", {"q/PQ-2H.txt": ""}, r"q"),
    ],
)
def test_bad_data(refused, source, files, says, tmp_path):
    folder = write(tmp_path, files)
    args = [source, "--out", folder / "out", "--input", folder / "q"]
    if source == "kg":
        args += ["--kg", folder / "graph.tsv"]
    refused(prep_main, args, says)
    assert not (folder / "out" / "manifest.json").exists()


def test_a_parquet_file_without_a_column(refused, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"id": ["1"], "question": ["Who?"], "answers": [["b"]]})
    pq.write_table(table, tmp_path / "test-00000-of-00001.parquet")
    args = ["rog", "--input", tmp_path, "--out", tmp_path / "out"]
    says = r"test-00000-of-00001\.parquet: column '\w+' is missing; found: id, question"
    refused(prep_main, args, says)


def test_a_parquet_file_that_is_none(refused, tmp_path):
    (tmp_path / "test-00000-of-00001.parquet").write_bytes(b"PAR1 no more")
    args = ["rog", "--input", tmp_path, "--out", tmp_path / "out"]
    refused(prep_main, args, r"test-00000-of-00001\.parquet")


def test_an_encoder_that_nobody_has(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    write(tmp_path, {"graph.tsv": "a\tr\tb\n", "q/test.jsonl": GOOD_ROW})
    args = ["kg", "--kg", tmp_path / "graph.tsv", "--input", tmp_path / "q"]
    args += ["--out", tmp_path / "out", "--encoder", "nobody/model"]
    refused(prep_main, args, "encoder 'nobody/model': neither a folder nor")
