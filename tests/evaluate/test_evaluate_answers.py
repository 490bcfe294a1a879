"""``eval.py answers``: what is read, printed, written and refused."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kgscout_jax.cli.main import eval_main
from kgscout_jax.evaluate.answers.predictions import (
    LABELS,
    NOTES,
    prediction_report,
    read_predictions,
    split_prediction,
)
from kgscout_jax.evaluate.answers.rules import RULES

LINES = [
    {
        "id": "q0",
        "question": "who?",
        "prediction": " Paris\nLyon, the city\n",
        "ground_truth": ["Lyon", "The Paris!", "Nice"],
        "input": "ignored",
    },
    {"id": "q1", "prediction": ["A and B"], "ground_truth": ["a and", "B"]},
    {"id": "q1", "question": "when?", "prediction": "", "ground_truth": "1999"},
    {"id": 7, "prediction": ["x", "y", "x"], "ground_truth": ["y"]},
    {"id": "q4", "question": "", "prediction": ["x"], "ground_truth": []},
]  # fmt: skip
# m = 2 of 3 gold, 2 predictions; 2 of 2, 1 prediction; 0; 1 of 1, 3 predictions; 0
PRECISION = [1, 2, 0, 1 / 3, 0]
RECALL = [2 / 3, 1, 0, 1, 0]
F1 = [0.8, 4 / 3, 0, 0.5, 0]


def write(path, lines=LINES):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_figures_are_printed_to_ten_digits(tmp_path, capsys):
    path = write(tmp_path / "predictions.jsonl")
    args = ["answers", "--predictions", str(path), "--rules", "rog"]
    assert eval_main(args, "eval.py") == 0
    out = capsys.readouterr().out
    told = dict(re.findall(r"^(\S+):\s+(\d+\.\d{10})$", out, re.M))
    expected = {
        "Accuracy": RECALL,
        "Hit": [1, 1, 0, 1, 0],
        "Hits@1": [1, 1, 0, 0, 0],
        "F1": F1,
        "Precision": PRECISION,
        "Recall": RECALL,
    }
    assert told == {
        name: f"{100 * sum(values) / 5:.10f}" for name, values in expected.items()
    }
    assert re.search(r"^n:\s+5$", out, re.M)
    notes = re.findall(r"^note: (\d) of 5 questions with (.*)$", out, re.M)
    assert {(int(count), note) for count, note in notes} == {
        (1, NOTES["no_prediction"]),
        (1, NOTES["no_gold"]),
        (2, NOTES["repeated_id"]),
        (1, NOTES["precision_over_1"]),
        (1, NOTES["repeated_prediction"]),
    }


def test_the_folder_holds_the_listed_files(tmp_path, capsys):
    path, out = write(tmp_path / "predictions.jsonl"), tmp_path / "out"
    args = ["answers", "--predictions", str(path), "--out", str(out), "--intervals"]
    assert eval_main(args, "eval.py") == 0
    value = json.loads((out / "metrics.json").read_text())
    assert (value["rules"], value["n"]) == ("rog", 5)
    assert list(value["definitions"]) == list(value["metrics"])
    f1 = value["metrics"]["f1"]
    assert f1["value"] == pytest.approx(100 * np.mean(F1)) and f1["n"] == 5
    assert f1["low"] < f1["value"] < f1["high"]
    assert f"[{f1['low']:.2f}, {f1['high']:.2f}]" in capsys.readouterr().out
    lines = [json.loads(x) for x in (out / "questions.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["q0", "q1", "q1", "7", "q4"]
    assert lines[0]["prediction"] == ["Paris", "Lyon, the city"]
    assert [line["f1"] for line in lines] == pytest.approx(F1)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_set_counts_every_question(tmp_path, name):
    predictions = read_predictions(write(tmp_path / "p.jsonl"))
    report, columns = prediction_report(predictions, RULES[name], resamples=20)
    assert set(columns) <= set(LABELS)
    assert all(len(column) == 5 for column in columns.values())
    assert not np.isnan(np.stack(list(columns.values()))).any()
    assert {entry["n"] for entry in report["metrics"].values()} == {5}


def test_a_string_is_split_at_line_feeds_only():
    assert split_prediction(" a\n\n b\r\nc\n") == ["a", "", " b\r", "c"]
    assert split_prediction("a\u2028b\x0bc") == ["a\u2028b\x0bc"]
    assert split_prediction("") == [""]
    assert split_prediction([]) == []
    assert split_prediction([" a\nb"]) == [" a\nb"]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", ": no predictions in it, expected one JSON object a line"),
        ("\n{", ":2: not valid JSON"),
        ("[1]", ":1: expected a JSON object, got list"),
        ('{"id": "a", "ground_truth": []}', ":1: no field 'prediction', expected"),
        ('{"prediction": []}', ":1: no field 'ground_truth'"),
        (
            '{"prediction": null, "ground_truth": []}',
            ":1: prediction: expected a string or a list of strings, got null",
        ),
        (
            '{"prediction": ["x", 3], "ground_truth": []}',
            ":1: prediction[1]: expected a string, got int",
        ),
        (
            '{"id": [], "prediction": "", "ground_truth": []}',
            ":1: id: expected a string or a number, got list",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path, capsys, text, message):
    path = tmp_path / "predictions.jsonl"
    path.write_text(text)
    assert eval_main(["answers", "--predictions", str(path)], "eval.py") == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"error: {path}{message}")
    assert captured.err.count("\n") == 1 and captured.out == ""


def test_unknown_rules_and_files_are_refused(tmp_path, capsys):
    path = tmp_path / "none.jsonl"
    assert eval_main(["answers", "--predictions", str(path)], "eval.py") == 2
    assert "no such file" in capsys.readouterr().err
    args = ["answers", "--predictions", str(path), "--rules", "squad"]
    assert eval_main(args, "eval.py") == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert eval_main(["anwsers"], "eval.py") == 2
    assert "expected one of retrieval, answers" in capsys.readouterr().err


def test_help_is_light():
    """No array library is imported before the arguments are known."""
    root = Path(__file__).resolve().parents[2]
    code = (
        "import sys, kgscout_jax.cli.main as c\n"
        "try: c.eval_main(['answers', '--help'], 'eval.py')\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'jax', 'scipy', 'openai'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--rules" in run.stdout and run.stdout.endswith("[]\n")


def test_lone_surrogates_are_judged_and_written_as_question_marks(tmp_path):
    row = {"id": "\udfff", "prediction": ["half \ud800", "b"], "ground_truth": ["b"]}
    path, out = write(tmp_path / "predictions.jsonl", [row]), tmp_path / "out"
    to = ["--out", str(out)]
    assert eval_main(["answers", "--predictions", str(path), *to], "") == 0
    (line,) = (out / "questions.jsonl").read_text().splitlines()
    assert json.loads(line)["prediction"] == ["half ?", "b"]
    assert (out / "metrics.json").exists()


@pytest.mark.parametrize("place", ["file", "below a file", "loop", "long"])
def test_an_out_that_cannot_be_a_folder_is_one_line(tmp_path, place, capsys):
    path, out = write(tmp_path / "predictions.jsonl"), tmp_path / "out"
    if place == "loop":
        out.symlink_to(out)
    else:
        out.write_text("")
    out = {"below a file": out / "x", "long": tmp_path / ("x" * 300)}.get(place, out)
    to = ["--out", str(out)]
    assert eval_main(["answers", "--predictions", str(path), *to], "") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {tmp_path}/") and "cannot be written" in line
