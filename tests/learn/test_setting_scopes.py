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
from kgscout_jax.learn.network_kind import with_policy_of
from kgscout_jax.learn.setting_scopes import NETWORK, SCOPES, check_scopes

ROOT = Path(__file__).parents[2]


def config(words, run="new"):
    args = ["--shards", "s", "--run", str(run), *words.split()]
    return parse(TrainConfig, args, "kgscout train")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--width 3", "--width 3 has no effect, it is read with --policy walk only"),
        ("--policy mlp --heads 8", "--heads 8 has no effect, it is read with --policy"),
        ("--policy walk --tower-hidden 8 4", "--tower-hidden 8 4 has no effect"),
        ("--policy mlp --answer-width 0", "--answer-width 0 has no effect"),
        ("--samples 4", "it is read with --estimator reinforce only"),
        ("--no-normalise-advantage", "--normalise-advantage False has no effect"),
        ("--estimator bce --k-low 3", "--k-low 3 has no effect"),
        ("--estimator reinforce --question-noise 0.5",
         "it is read with --estimator closed_form or bce only"),
    ],
)  # fmt: skip
def test_a_setting_that_nothing_reads_is_told(words, says, caplog):
    check_scopes(config(words))
    assert says in caplog.text


def test_a_least_budget_above_the_largest_is_refused():
    message = "--k-low: found 10, expected at most --k 5"
    with pytest.raises(UserError, match=message):
        check_scopes(config("--k 5 --k-low 10"))


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
def test_what_is_read_or_the_default_needs_no_word(words, caplog):
    check_scopes(config(words))
    assert not caplog.records


def test_the_network_of_init_decides_what_is_read(tmp_path, caplog, capsys):
    init = tmp_path / "walk"
    init.mkdir()
    (init / "config.json").write_text('{"policy": {"kind": "walk"}}')
    words = f"--init {init} --select hits@1 --answer-weight 3 --heads 8 --width 3"
    given = config(words)
    found = with_policy_of(given, init)
    assert (found.policy, found.question_noise) == ("walk", 0.5)
    check_scopes(found)
    why = f"has no effect, the network is that of --init {init}"
    assert caplog.messages == [f"--heads 8 {why}", f"--width 3 {why}"]
    words = ["--shards", "s", "--run", "new", "--init", str(init), "--policy", "mlp"]
    assert main(["train", *words]) == 2
    said = capsys.readouterr().err
    assert f"--policy: found mlp, expected walk, the network of --init {init}" in said


def test_every_scope_is_of_a_setting():
    assert set(SCOPES) | NETWORK <= {field.name for field in fields(TrainConfig)}


def test_a_run_that_exists_is_resumed_as_it_was_started(tmp_path, caplog):
    words = "--policy mlp --width 3"
    (tmp_path / "config.json").write_text("{}")
    check_scopes(config(words, tmp_path))
    assert not caplog.records


def test_the_command_tells_it_before_it_reads_shards(tmp_path, capsys):
    args = ["--shards", str(tmp_path / "none"), "--run", str(tmp_path / "run")]
    assert main(["train", *args, "--width", "3"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "--width 3 has no effect" in first and second.startswith("error: ")


def test_the_commands_of_the_pages_set_nothing_for_nothing(caplog):
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
    assert not caplog.records
