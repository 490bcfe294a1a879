"""The commands as people call them: help, one-line errors, a whole evaluation."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from policy.plain_policy import plain_logits
from written_shards import GOOD, NOWHERE, PLANTED, write_shards

from data_prep.__main__ import main as prep_main
from kgscout_jax.cli.main import COMMANDS, eval_main, main, train_main
from kgscout_jax.cli.runner import imported, run_command
from kgscout_jax.data.shards import Shards
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.types import entity_key

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
KGSCOUT = str(Path(PYTHON).parent / "kgscout")
HEAVY = (
    "flax", "jax", "matplotlib", "networkx", "orbax", "pyarrow", "scipy",
    "sentence_transformers", "torch", "transformers",
)  # fmt: skip


# --- help


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


# --- errors are one line


@pytest.fixture
def refused(capsys) -> Callable[..., str]:
    """Call a command that must exit with 2 and say why on one line."""

    def call(command: Callable[..., int], args: Sequence[Any], says: str) -> str:
        capsys.readouterr()
        code = command([str(arg) for arg in args], "command")
        captured = capsys.readouterr()
        assert code == 2, captured.err
        lines = captured.err.splitlines()
        assert [line for line in lines if line.startswith("error: ")] == lines[-1:]
        assert "Traceback" not in captured.err
        assert re.search(says, lines[-1]), lines[-1]
        return lines[-1]

    return call


def run_main(args: Sequence[str], prog: str) -> int:
    return main(args)


def inspect_main(args: Sequence[str], prog: str) -> int:
    return run_command(COMMANDS["inspect"], args, prog)


TRAIN = ["--shards", "nowhere", "--run", "run"]
EVAL = ["retrieval", "--shards", "nowhere", "--run", "run", "--out", "out"]


@pytest.mark.parametrize(
    ("command", "args", "says"),
    [
        (run_main, ["trian"], "unknown command 'trian', .* prep, graph.*mean train"),
        (run_main, ["ask", "--kg", "x", "--tpic", "y"], "--tpic.*did you mean --topic"),
        (train_main, [], "--shards"),
        (train_main, [*TRAIN, "--k", "many"], "--k.*'many'"),
        (train_main, [*TRAIN, "--k", "0"], "--k: found 0, expected at least 1"),
        (train_main, [*TRAIN, "--k"], "--k"),
        (train_main, [*TRAIN, "--estimator", "guess"], "'guess'.*closed_form"),
        (train_main, [*TRAIN, "--learning-rat", "1"], "did you mean --learning-rate"),
        (train_main, TRAIN, "nowhere: no such folder of shards"),
        (eval_main, [], "unknown command 'nothing', expected one of retrieval"),
        (eval_main, ["everything"], "'everything'.*retrieval"),
        (eval_main, ["retrieval"], "--run"),
        (eval_main, EVAL, "nowhere: no such folder of shards"),
        (eval_main, [*EVAL, "--k", "10", "0"], "--k: 0, expected a positive number"),
        (eval_main, [*EVAL, "--k", "ten"], "--k.*'ten'"),
        (prep_main, [], "--out"),
        (prep_main, ["csv", "--out", "x"], "'csv'.*rog.*nsm.*kg"),
        (prep_main, ["rog"], "--out"),
        (prep_main, ["rog", "--out", "x", "--hops", "0"], "--hops: found 0, expected"),
        (prep_main, ["rog", "--out", "x", "--seed", "a"], "--seed.*'a'"),
        (prep_main, ["rog", "--out", "x", "--direction", "up"], "'up'.*both"),
        (inspect_main, [], "shards|PATH"),
        (inspect_main, ["nowhere"], "nowhere: no such folder of shards"),
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


# --- train, evaluate


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Shards:
    return write_shards(tmp_path_factory.mktemp("shards"))


TINY = """--k 4 --k-low 2 --epochs 4 --batch-size 8 --learning-rate 0.01
    --warmup-steps 2 --tower-hidden 8 4 --gate-hidden 8 --combiner-hidden 4
    --heads 2""".split()


@pytest.fixture(scope="module")
def run(shards, tmp_path_factory, kgscout_cache) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    args = ["--shards", str(shards.path), "--run", str(folder), *TINY]
    assert train_main(args, "train.py") == 0
    return folder


def evaluate(run: Path, shards: Path, out: Path, *more: Any) -> dict[str, Any]:
    """What ``eval.py retrieval`` writes into metrics.json."""
    args = ["--run", run, "--shards", shards, "--out", out, *more]
    assert eval_main(["retrieval", *map(str, args)], "eval.py") == 0
    return json.loads((out / "metrics.json").read_text())


KS = ("--k", 1, 4, 30)


@pytest.fixture(scope="module")
def results(run, shards, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("results") / "out"
    evaluate(run, shards.path, out, *KS)
    return out


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_is_written(results):
    assert {file.name for file in results.iterdir()} == {
        "metrics.json", "table.md", "table.csv", "table.tex", "questions.jsonl",
        "retrieved.jsonl", "retrieved_cosine.jsonl",
        "retrieved_bm25.jsonl", "retrieved_ppr.jsonl",
        *(f"metric_against_k.{form}" for form in ("png", "pdf", "svg")),
        *(f"reward_against_epoch.{form}" for form in ("png", "pdf", "svg")),
    }  # fmt: skip
    table = (results / "table.md").read_text()
    for name in ("kgscout", "cosine", "bm25", "ppr", "ceiling", "Recall and tokens"):
        assert name in table
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["counts"]["questions"] == len(PLANTED["test"])
    assert metrics["counts"]["without_candidates"] == 1
    assert metrics["context"]["trained_on"] == metrics["context"]["measured_on"]
    assert not metrics["context"]["cross_dataset"]


@pytest.mark.parametrize("name", ["kgscout", "cosine", "ppr"])
def test_retrieved_lines(results, shards, name):
    file = "retrieved.jsonl" if name == "kgscout" else f"retrieved_{name}.jsonl"
    split = shards.split("test")
    ids = {
        (shards.entities[h], shards.relations[r], shards.entities[t]): i
        for i, (h, r, t) in enumerate(shards.triplets.tolist())
    }
    found = records(results / file)
    assert [record["id"] for record in found] == [q.id for q in split.questions]
    for i, (record, info) in enumerate(zip(found, split.questions, strict=True)):
        assert list(record) == [
            "id", "question", "retriever", "triplets", "answers", "seconds"
        ]  # fmt: skip
        assert record["retriever"] == name
        assert record["question"] == info.text
        assert record["answers"] == list(info.answers)
        assert record["seconds"] >= 0
        # As many as the largest K, or as there are.
        assert len(record["triplets"]) == min(30, split.n_real[i])
        own = set(split.candidates[i][split.candidates[i] >= 0].tolist())
        order = []
        for head, relation, tail, score in record["triplets"]:
            number = ids[head, relation, tail]
            assert number in own
            order.append((-score, number))
        assert order == sorted(order)  # by score, ties by triplet id
        assert len(set(order)) == len(order)


def with_lists(tree: Any) -> Any:
    """The tree, in which dicts of "0", "1", ... are lists."""
    if not isinstance(tree, dict):
        return tree
    tree = {key: with_lists(value) for key, value in tree.items()}
    return [tree[str(i)] for i in range(len(tree))] if "0" in tree else tree


def test_scores_are_the_networks_logits(results, run, shards):
    folder = RunFolder.existing(run)
    step = json.loads((results / "metrics.json").read_text())["context"]["step"]
    leaves = folder.load(step)
    config = DualTowerConfig.from_dict(folder.config["policy"])
    folder.close()
    nested: dict[str, Any] = {}
    for name, leaf in leaves.items():
        if name.startswith("params/"):
            *path, last = name.split("/")[1:]
            place = nested
            for key in path:
                place = place.setdefault(key, {})
            place[last] = leaf
    split, i = shards.split("test"), 3
    rows = split.candidates[i]
    relations = shards.relation_embeddings[shards.triplets[rows, 1]]
    logits = plain_logits(
        with_lists(nested), config, split.question_embeddings[i],
        shards.triplet_embeddings[rows], relations, split.ppr_of(np.array([i]))[0],
    )  # fmt: skip
    scores = [
        triplet[3] for triplet in records(results / "retrieved.jsonl")[i]["triplets"]
    ]
    np.testing.assert_allclose(scores, np.sort(logits)[::-1][:30], atol=1e-4)


def test_figures_can_be_counted_from_the_lines(results):
    metrics = json.loads((results / "metrics.json").read_text())
    for name in ("kgscout", "cosine", "ppr"):
        file = "retrieved.jsonl" if name == "kgscout" else f"retrieved_{name}.jsonl"
        for k in (1, 4, 30):
            hits = []
            for record in records(results / file):
                gold = set(map(entity_key, record["answers"]))
                kept = record["triplets"][:k]
                hits.append(
                    any(entity_key(e) in gold for t in kept for e in (t[0], t[2]))
                )
            figure = metrics[name]["answer_hit"][str(k)]
            assert figure["value"] == pytest.approx(np.mean(hits))
            assert figure["n"] == len(hits)
    # It has learned what was planted: the others cannot know.
    ours = metrics["kgscout"]["answer_hit"]["4"]["value"]
    assert ours > metrics["cosine"]["answer_hit"]["4"]["value"]
    assert ours == metrics["ceiling"]["answer_hit"]["4"]["value"]
    best = [r["triplets"][0][1] for r in records(results / "retrieved.jsonl")[:12]]
    assert best.count(GOOD) >= 10


def test_against_our_own_lines(results, run, shards, tmp_path):
    others = ["--against", results / "retrieved.jsonl", results / "retrieved_ppr.jsonl"]
    metrics = evaluate(run, shards.path, tmp_path / "again", *KS, *others)
    (ours,) = (n for n in metrics["retrievers"] if re.match(r"kgscout \(", n))
    (ppr,) = (n for n in metrics["retrievers"] if re.match(r"ppr \(", n))
    assert metrics[ours] == metrics["kgscout"]
    assert metrics[ppr] == metrics["ppr"]
    assert metrics["counts"]["retrievers"][ours]["missing"] == 0
    # Nothing but the times changes from one evaluation to the next.
    for file in ("retrieved.jsonl", "retrieved_cosine.jsonl"):
        one, other = (records(place / file) for place in (results, tmp_path / "again"))
        for record in [*one, *other]:
            del record["seconds"]
        assert one == other


def test_another_data_set(run, tmp_path):
    other = write_shards(tmp_path / "shards", {"dev": PLANTED["dev"]}, fingerprint="2")
    more = ("--split", "dev", "--k", 4)
    metrics = evaluate(run, other.path, tmp_path / "out", *more)
    assert metrics["context"]["cross_dataset"]
    assert metrics["split"] == "dev"


def test_a_split_without_any_candidate(run, tmp_path):
    shards = write_shards(tmp_path / "shards", {"test": [NOWHERE, NOWHERE]})
    metrics = evaluate(run, shards.path, tmp_path / "out", "--k", 4)
    assert metrics["kgscout"]["answer_hit"]["4"]["value"] == 0
    assert [r["triplets"] for r in records(tmp_path / "out/retrieved.jsonl")] == [
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--split", "validation"], "no split 'validation'; present: train, dev, test"),
        (["--step", "3"], "tiny: no checkpoint of step 3, there are: "),
        (["--against", "nowhere.jsonl"], r"nowhere\.jsonl: no such file"),
        (["--k", "-1"], "--k"),
    ],
)
def test_refused_evaluations(refused, run, shards, tmp_path, more, says):
    out = tmp_path / "out"
    args = ["retrieval", "--run", run, "--shards", shards.path, "--out", out, *more]
    refused(eval_main, args, says)
    assert not (out / "metrics.json").exists()


def test_a_malformed_line_of_others(refused, run, shards, results, tmp_path):
    file = tmp_path / "theirs.jsonl"
    file.write_text((results / "retrieved.jsonl").read_text() + '{"id": "q99"}\n')
    args = ["retrieval", "--run", run, "--shards", shards.path, "--out", tmp_path]
    count = len(PLANTED["test"]) + 1
    says = rf"theirs\.jsonl:{count}: 'triplets' is missing"
    refused(eval_main, [*args, "--against", file], says)


def test_shards_of_another_encoder(refused, run, tmp_path):
    other = write_shards(
        tmp_path / "shards",
        {"test": PLANTED["test"]},
        encoder={"name": "another", "weights_sha256": "f" * 64},
    )
    args = ["retrieval", "--run", run, "--shards", other.path, "--out", tmp_path / "o"]
    says = "encoder another with weights_sha256 ffffffffffff, expected random with 0000"
    refused(eval_main, args, says)


def test_no_run_to_evaluate(refused, shards, tmp_path):
    args = ["retrieval", "--shards", shards.path, "--out", tmp_path / "out"]
    refused(eval_main, [*args, "--run", tmp_path / "no"], "no: no such run")
    refused(
        eval_main, [*args, "--run", shards.path], "no config.json, this is not a run"
    )


def test_damaged_shards(refused, shards, run, tmp_path):
    folder = shutil.copytree(shards.path, tmp_path / "shards")
    with open(folder / "test" / "candidates.npy", "r+b") as handle:
        handle.truncate(200)
    says = r"test/candidates\.npy: 200 bytes, expected \d+: truncated or changed"
    out = tmp_path / "out"
    args = ["retrieval", "--run", run, "--shards", folder, "--out", out]
    refused(eval_main, args, says)
    refused(train_main, ["--shards", folder, "--run", tmp_path / "run", *TINY], says)
    refused(inspect_main, [folder], says)


def test_training_that_cannot_start(refused, shards, run, tmp_path):
    nothing = write_shards(tmp_path / "shards", {"train": [NOWHERE], "dev": [NOWHERE]})
    args = ["--shards", nothing.path, "--run", tmp_path / "run", *TINY]
    refused(train_main, args, "no training question has an answer and a candidate")
    args = ["--shards", shards.path, "--run", run, *TINY, "--seed", "1"]
    refused(
        train_main, args, "tiny: was started with --seed 0, found 1; choose another"
    )


def test_a_run_that_diverges_says_so_and_no_more(
    refused, shards, tmp_path, kgscout_cache
):
    table = np.array(shards.relation_embeddings)
    table[0] = np.nan
    poisoned = write_shards(tmp_path / "shards", relation_embeddings=table)
    args = ["--shards", poisoned.path, "--run", tmp_path / "run", *TINY]
    refused(train_main, args, r"^error: .*(loss|grad_norm) is nan at step \d")


def test_inspect(shards, capsys):
    assert inspect_main([str(shards.path), "--verify"], "inspect") == 0
    said = capsys.readouterr().out
    assert "train: 40 questions of 40 read" in said
    assert "every checksum agrees" in said


@pytest.mark.parametrize(
    "command", ["prep", "graph", "inspect", "retrieve", "ask", "serve", "mcp"]
)
def test_every_command_that_reads_graphs_takes_their_columns(command, capsys):
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert all(f"--{name}" in text for name in ("columns", "properties", "language"))
