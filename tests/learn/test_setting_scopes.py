"""Flags of `kgscout train` that nothing would read, by network and estimator."""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from kgscout_jax.cli.main import main
from kgscout_jax.cli.runner import parse
from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.setting_scopes import SCOPES, check_scopes

ROOT = Path(__file__).parents[2]


def config(words, run="new"):
    args = ["--shards", "s", "--run", str(run), *words.split()]
    return parse(TrainConfig, args, "kgscout train")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--width 3", "--width: found 3, expected it with --policy walk only"),
        ("--policy mlp --heads 8", "--heads: found 8, expected it with --policy"),
        ("--policy walk --tower-hidden 8 4", "--tower-hidden: found 8 4, expected it"),
        ("--policy mlp --answer-width 0", "--answer-width: found 0, expected it with"),
        ("--samples 4", "--samples: found 4, expected it with --estimator"),
        ("--no-normalise-advantage", "--normalise-advantage: found False, expected it"),
        ("--estimator bce --k-low 3", "--k-low: found 3, expected it with --est"),
        ("--estimator reinforce --question-noise 0.5",
         "--question-noise: found 0.5, expected it with --estimator closed_form or"),
        ("--k 5 --k-low 10", "--k-low: found 10, expected at most --k 5"),
    ],
)  # fmt: skip
def test_a_setting_that_nothing_reads_is_refused(words, says):
    with pytest.raises(UserError, match=re.escape(says)):
        check_scopes(config(words))


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--k 1",
        "--policy walk --width 3 --answer-width 0 --word-rank 0 --without walks",
        "--policy walk --estimator reinforce --samples 4 --entropy-weight 0.1",
        "--policy mlp --estimator bce --positive-weight 5 --entropy-weight 0.1",
        "--preset thesis --epochs 3",
        "--heads 8 --k 20 --k-low 10 --bce-weight 2 --question-noise 0.1",
        # the default, said
        "--policy mlp --width 128 --samples 128 --question-noise 0",
        "--policy walk --estimator reinforce --question-noise 0.5",
    ],
)
def test_what_is_read_or_the_default_is_accepted(words):
    check_scopes(config(words))


def test_every_scope_is_of_a_setting():
    assert set(SCOPES) <= {field.name for field in fields(TrainConfig)}


def test_a_run_that_exists_is_resumed_as_it_was_started(tmp_path):
    words = "--policy mlp --width 3"
    with pytest.raises(UserError):
        check_scopes(config(words, tmp_path))
    (tmp_path / "config.json").write_text("{}")
    check_scopes(config(words, tmp_path))


def test_the_command_refuses_before_it_reads_shards(tmp_path, capsys):
    args = ["--shards", str(tmp_path / "none"), "--run", str(tmp_path / "run")]
    assert main(["train", *args, "--width", "3"]) == 2
    says = "error: --width: found 3, expected it with --policy walk only\n"
    assert capsys.readouterr().err == says
    assert not (tmp_path / "run").exists()


def test_the_commands_of_the_pages_are_accepted():
    lines = set()
    for page in (*ROOT.glob("docs/*.md"), *ROOT.glob("recipes/figures/*.json")):
        text = page.read_text().replace("\\\n", " ")
        lines |= set(re.findall(r"kgscout train (--shards [^\n`&\"$]+)", text))
    recorded = [line for line in lines if "PART" not in line and "..." not in line]
    assert len(recorded) > 60
    for line in recorded:
        check_scopes(
            parse(TrainConfig, shlex.split(line, comments=True), "kgscout train")
        )
