"""Tables of pages: equal to what their extracts give, and made of what runs wrote."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import project_pages
import pytest

from kgscout_jax.errors import UserError

ROOT = project_pages.ROOT
sys.path.append(str(ROOT / "recipes"))

import extracts  # noqa: E402
import fit_gains  # noqa: E402
import tables  # noqa: E402

CARD = "kgscout_jax/export/base/README.md"
PAGES = [*project_pages.PAGES, ROOT / CARD]


def test_the_tables_of_the_pages_are_those_of_their_extracts():
    marked = [page for page in PAGES if tables.REGION.search(page.read_text("utf-8"))]
    assert marked, "no page has a table that is written from figures"
    assert tables.main(["check", *map(str, marked)]) == 0
    for page in PAGES:  # no region is left open, none is unread
        text = page.read_text("utf-8")
        regions = len(tables.REGION.findall(text))
        assert text.count("<!-- table: ") == text.count("<!-- end -->") == regions, page


def test_every_extract_is_in_a_table():
    text = "".join(page.read_text("utf-8") for page in PAGES)
    words = [found["words"].split()[0] for found in tables.REGION.finditer(text)]
    used = {name for first in words for name in first.split(",")}
    files = list(tables.FIGURES.glob("*.json"))
    extracts = {path.stem for path in files if "kind" in json.loads(path.read_text())}
    assert extracts and extracts <= used


def test_numbers_of_parameters_on_pages_are_those_of_the_code():
    known = set(re.findall(r"[\d,]{6,}", tables.rewritten(
        "<!-- table: parameters -->\n<!-- end -->"
    )))  # fmt: skip
    assert len(known) == 5
    for page in PAGES:
        # Recipes have figures of earlier versions, the bundled policy is its own.
        if page.parent.name not in ("recipes", "base"):
            named = re.findall(r"(\d[\d,]{5,}) parameters", page.read_text("utf-8"))
            assert set(named) <= known, page


# --- from results to a page


def retrieval(seed: int, questions: range) -> tuple[dict, list[dict]]:
    """metrics.json and questions.jsonl of two retrievers at two K, by our own code."""
    g = np.random.default_rng(seed)
    lines = [
        {
            "id": f"q{i}",
            "question": "?",
            "hop": 1 + i % 2,
            "n_real": 9,
            "metrics": {
                name: {
                    "answer_hit": {k: float(g.random() < p) for k in ("2", "5")},
                    "triplet_recall": {"2": None, "5": None},
                }
                for name, p in (("kgscout", 0.8), ("cosine", 0.4))
            },
        }
        for i in questions
    ]

    def mean(name: str, k: str, hop: int | None = None, minus: str = "") -> dict:
        values = np.array(
            [
                line["metrics"][name]["answer_hit"][k]
                - (line["metrics"][minus]["answer_hit"][k] if minus else 0)
                for line in lines
                if hop in (None, line["hop"])
            ]
        )
        value = {"difference" if minus else "value": float(values.mean())}
        return {
            **value,
            "low": value and min(values) - 0.25,
            "high": 2,
            "n": len(values),
        }

    def figures(hop: int | None = None) -> dict:
        return {
            name: {
                "answer_hit": {k: mean(name, k, hop) for k in ("2", "5")},
                "answer_hit[n_real>K]": {k: mean(name, k, hop) for k in ("2", "5")},
            }
            for name in ("kgscout", "cosine")
        }

    differences = {k: mean("kgscout", k, minus="cosine") for k in ("2", "5")}
    report = {
        **figures(),
        "by_hop": {"1": figures(1), "2": figures(2)},
        "paired": {"kgscout": {"answer_hit": differences}},
        "counts": {"questions": len(lines)},
        "retrievers": ["kgscout", "cosine"],
        "reference": "cosine",
        "ks": [2, 5],
        "split": "test",
        "context": {
            "measured_on": "toy",
            "step": 7,
            "commands": [
                f"kgscout train --shards /far/away/toy --run /far/run --seed {seed}",
                "kgscout eval retrieval --also mlp=/far/away/mlp --out 'my results'",
            ],
        },
    }
    return report, lines


def results(folder: Path, report: dict, lines: list[dict]) -> str:
    folder.mkdir()
    (folder / "metrics.json").write_text(json.dumps(report))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "questions.jsonl").write_text(text)
    return str(folder)


@pytest.fixture
def figures(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "figures"
    folder.mkdir()
    monkeypatch.setattr(tables, "FIGURES", folder)
    return folder


def collect(figures: Path, name: str, *words: str) -> dict:
    file = figures / f"{name}.json"
    assert tables.main(["collect", *words, "--into", str(file)]) == 0
    return json.loads(file.read_text())


def table_of(figures: Path, words: str) -> list[list[str]]:
    page = tables.rewritten(f"<!-- table: {words} -->\n<!-- end -->", figures)
    rows = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_a_table_has_means_over_seeds_and_the_lowest_bounds(figures, tmp_path):
    reports = [retrieval(seed, range(40)) for seed in range(3)]
    folders = [results(tmp_path / str(i), *one) for i, one in enumerate(reports)]
    value = collect(figures, "toy", *folders, "--names", "kgscout=walk")
    assert value["questions"] == 40 and value["rows"] == ["walk", "cosine"]
    collect(figures, "grown", *folders[:1], "--names", "kgscout=walk")
    more = *folders[1:], "--names", "kgscout=walk", "--append"
    assert collect(figures, "grown", *more) == value
    assert "/far" not in json.dumps(value) and len(value["commands"]) == 4
    header, _, walk, cosine, gain = table_of(figures, "toy metrics=answer_hit low=yes")
    assert header == ["metric", "retriever", "K = 2", "K = 5"]
    means = [
        np.mean([report["kgscout"]["answer_hit"][k]["value"] for report, _ in reports])
        for k in ("2", "5")
    ]
    assert walk == ["answer_hit", "walk", *(f"{m:.3f}, low -0.250" for m in means)]
    assert cosine[:2] == ["", "cosine"] and gain[1] == "walk − cosine"
    assert re.fullmatch(r"\+0\.\d{3}, low -1\.250", gain[2])
    by_hop = table_of(figures, "toy hops rows=walk ks=5")
    assert by_hop[2][:3] == ["1", "20", "walk"] and len(by_hop) == 4
    (row,) = table_of(figures, "toy sets rows=walk ks=5")[2:]
    assert row == ["toy, 40 test", "walk", f"{means[1]:.3f}"]
    page = tables.rewritten("<!-- table: toy commands -->\n<!-- end -->", figures)
    assert "kgscout train --shards toy --run run --seed 2" in page
    assert "--also mlp=mlp --out 'my results'" in page


def test_folds_are_pooled_question_by_question(figures, tmp_path):
    parts = [retrieval(0, range(30)), retrieval(1, range(30, 40))]
    folders = [results(tmp_path / str(i), *one) for i, one in enumerate(parts)]
    value = collect(figures, "toy", *folders, "--folds", "2")
    assert value["questions"] == 40 and len(value["seeds"]) == 1
    found = value["seeds"][0]["figures"]["kgscout"]["answer_hit"]["2"]
    hits = [
        line["metrics"]["kgscout"]["answer_hit"]["2"]
        for _, part in parts
        for line in part
    ]
    assert found[0] == pytest.approx(np.mean(hits)) and found[3] == 40
    assert 0 < found[1] < found[0] < found[2] <= 1  # over the questions of both
    assert value["seeds"][0]["by_hop"]["1"]["cosine"]["answer_hit"]["5"][3] == 20
    paired = value["seeds"][0]["paired"]
    assert list(paired) == ["kgscout"] and paired["kgscout"]["answer_hit"]["2"][0] > 0
    assert extracts.measured({}) == {}  # a row alone has no differences
    with pytest.raises(UserError, match="question 'q0' is in two folds"):
        extracts.extract([Path(folders[0])] * 2, folds=2)


def test_answers_are_a_row_for_each_number_of_hops(figures, tmp_path):
    figure = {"value": 93.4, "low": 92.0, "high": 95.0, "n": 10}
    by_k = {"30": {"hit": figure, "hits@1": figure, "macro_f1": figure}}
    report = {
        "rules": "rog",
        "metrics": {"scout": by_k},
        "by_hop": {"1": {"scout": by_k}, "2": {"scout": by_k}},
        "paired": {},
        "confidence": {"scout": {"30": {"calibration_error": {"best": 0.027}}}},
        "reference": "scout",
        "ks": [30],
        "n": {"30": 10},  # a sample
        "context": {"measured_on": "toy", "split": "test", "questions": 50},
    }
    assert extracts.description(report)["questions"] == 10
    collect(figures, "said", results(tmp_path / "a", report, []))
    rows = table_of(figures, "said metrics=hits@1,ece_best")
    assert rows[0] == ["test split", "questions", "Hits@1", "ECE, best answer"]
    assert rows[2] == ["toy, 1 hop", "10", "0.934", "–"]
    assert rows[4] == ["toy, all", "10", "0.934", "0.027"]


def test_robustness_is_a_row_for_each_kind_of_mistake(figures, tmp_path):
    def cell(value: float, key: str = "value") -> dict:
        return {key: value, "low": value - 0.1, "high": value + 0.1, "n": 10}

    def nested(key: str, last: float) -> dict:
        levels = {"0": cell(0.9, key), "0.5": cell(0.7, key), "1": cell(last, key)}
        return {"answer_hit": {"kgscout": {"er": levels, "ed": levels}}}

    report = {
        "figures": nested("value", 0.25),
        "paired": nested("difference", -0.65),
        "methods": ["er", "ed"],
        "levels": ["0", "0.5", "1"],
        "k": 30,
        "split": "dev",
        "context": {"measured_on": "toy", "questions": 10, "commands": ["eval x"]},
    }
    value = collect(figures, "mistakes", results(tmp_path / "r", report, []))
    assert value["kind"] == "robustness"
    rows = table_of(figures, "mistakes low=yes")
    assert rows[0] == ["answer_hit", "K = 30", "0", "0.5", "1", "1 − 0"]
    cells = ["0.900, low 0.800", "0.700, low 0.600", "0.250, low 0.150"]
    change = "-0.650, low -0.750"
    assert rows[2] == ["edge rewiring", "kgscout", *cells, change]
    assert rows[3][0] == "edge deletion"


def test_bad_marks_and_results_are_one_line(figures, tmp_path, capsys):
    report, lines = retrieval(0, range(4))
    one = results(tmp_path / "a", report, lines)
    other = results(tmp_path / "b", {**report, "split": "dev"}, lines)
    into = ["--into", str(figures / "x.json")]
    assert tables.main(["collect", one, other, *into]) == 2
    assert "split is dev, expected test as in" in capsys.readouterr().err
    assert tables.main(["collect", one, "--folds", "2", *into]) == 2
    assert "found 1 results, expected a multiple of 2" in capsys.readouterr().err
    collect(figures, "toy", one)
    into = ["--into", str(figures / "toy.json"), "--append"]
    assert tables.main(["collect", other, *into]) == 2
    assert "--append: split is dev, expected test as" in capsys.readouterr().err
    page = tmp_path / "page.md"
    for words, message in (
        ("toy pie", "view 'pie', expected one of"),
        ("toy metrics k=3", "'k=3', expected metrics="),
        ("nothing", "nothing.json"),
    ):
        page.write_text(f"<!-- table: {words} -->\n<!-- end -->\n")
        assert tables.main(["write", str(page)]) == 2
        assert message in capsys.readouterr().err
    page.write_text("<!-- table: toy sets -->\nold\n<!-- end -->\nafter\n")
    assert tables.main(["check", str(page)]) == 1
    assert tables.main(["write", str(page)]) == 0
    assert tables.main(["check", str(page)]) == 0
    assert "old" not in page.read_text() and page.read_text().endswith("after\n")


def test_open_answers_are_rows_of_triplets_and_prompt(tmp_path):
    def cell(prompt: str, value: float, **more):
        judged = {"correctness": {"value": value, "low": value - 5, "n": 40}}
        return {"name": prompt, "answers": 40, "words": 7.6, "metrics": judged,
                "against_closed_book": {}, **more}  # fmt: skip

    change = {"correctness": {"difference": 12.5, "low": 2.5, "n": 40}}
    report = {
        "cells": [cell("cot", 50), cell("cot/ppr/paths", 62.5,
                                        against_closed_book=change)],
        "n": 40, "settings": {"questions": "some.jsonl", "k": 10},
        "context": {"command": "kgscout eval open --questions /data/some.jsonl"},
    }  # fmt: skip
    (tmp_path / "metrics.json").write_text(json.dumps(report))
    into = tmp_path / "open.json"
    assert tables.main(["collect", str(tmp_path), "--into", str(into)]) == 0
    mark = "<!-- table: open open low=yes paired=cot/ppr/paths -->\n<!-- end -->"
    rows = [
        [part.strip() for part in line.split("|")[1:-1]]
        for line in tables.rewritten(mark, tmp_path).splitlines()
        if line.startswith("|")
    ]
    assert rows[0] == ["triplets", "prompt", "correctness", "words"]
    assert rows[2:] == [
        ["none", "CoT", "0.500, low 0.450", "8"],
        ["ppr, paths", "CoT", "0.625, low 0.575", "8"],
        ["ppr, paths − none", "CoT", "+0.125, low +0.025", ""],
    ]
    assert "--questions some.jsonl" in into.read_text()


def test_fits_are_compared_with_policies_of_the_same_questions(tmp_path, capsys):
    measured = {"questions": 2, "rows": [
        {"metric": "answer_hit", "k": 10, "base": {"value": 0.5},
         "fitted": {"value": 0.6}, "cosine": {"value": 0.1},
         "difference": {"difference": 0.1, "low": -0.05, "high": 0.2}},
        {"metric": "hits@1", "k": None, "base": {"value": 0.25},
         "fitted": {"value": 0.5},
         "difference": {"difference": 0.25, "low": 0.0, "high": 0.5}},
    ]}  # fmt: skip
    fit = {"measured": {"real": measured}, "trained_on": {"synthetic": 9},
           "seconds": {"training": 3.4}, "settings": {"seed": 0}}  # fmt: skip
    (tmp_path / "towns").mkdir()
    (tmp_path / "towns" / "fit.json").write_text(json.dumps(fit))
    trained = {"figures": {"trained": {"answer_hit": {"10": [0.7, 0.6, 0.8, 2]}}}}
    (tmp_path / "zero_shot_towns.json").write_text(json.dumps({"seeds": [trained]}))
    into = tmp_path / "fit.json"
    args = ["collect", str(tmp_path / "towns"), "--into", str(into)]
    assert fit_gains.main(args) == 0
    mark = "<!-- table: fit fits -->\n<!-- end -->"
    lines = tables.rewritten(mark, tmp_path).splitlines()
    rows = [
        [part.strip() for part in line.split("|")[1:-1]]
        for line in lines
        if "|" in line
    ]
    assert rows[2:] == [
        ["towns, 2", "answer_hit@10", "0.500", "0.600", "+0.100 [-0.050, +0.200]",
         "0.700", "50%"],
        ["", "Hits@1", "0.250", "0.500", "+0.250 [+0.000, +0.500]", "–", "–"],
    ]  # fmt: skip
    del fit["measured"]["real"]
    (tmp_path / "towns" / "fit.json").write_text(json.dumps(fit))
    assert fit_gains.main(args) == 2
    assert "towns/fit.json: no questions of people" in capsys.readouterr().err
