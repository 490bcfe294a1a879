"""kgscout runs: what a folder tells of a run, in whatever state it was left."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from written_shards import write_shards

from kgscout_jax.cli.main import main
from kgscout_jax.cli.runner import parse
from kgscout_jax.data.shards import Shards
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import ThesisTrainConfig, TrainConfig
from kgscout_jax.learn.resume_command import resume_command
from kgscout_jax.retrieve.baselines import Cosine, cosine_scores
from kgscout_jax.retrieve.protocol import top_k
from kgscout_jax.runs.curves import Curve
from kgscout_jax.runs.run_folder import read_run
from kgscout_jax.runs.shard_facts import cosine_hits
from kgscout_jax.runs.status import state_of
from kgscout_jax.runs.table import _bytes, _duration
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.short_names import short_names

SETTINGS: dict[str, Any] = {
    "k": 12,
    "k_low": 2,
    "epochs": 2,
    "batch_size": 8,
    "learning_rate": 1e-2,
    "warmup_steps": 2,
    "tower_hidden": (8, 4),
    "gate_hidden": 8,
    "combiner_hidden": 4,
    "heads": 2,
    "save_every": 3,
}
STEPS = 5  # of an epoch: 40 questions


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Shards:
    return write_shards(tmp_path_factory.mktemp("shards"))


@pytest.fixture(scope="module")
def finished(shards, tmp_path_factory) -> Path:
    """A run at its end, with the rows and the checkpoints that training writes."""
    run = RunFolder(tmp_path_factory.mktemp("runs") / "one")
    config = TrainConfig(shards=shards.path, run=run.path, **SETTINGS)
    manifest = shards.manifest
    about = {key: manifest[key] for key in ("source", "fingerprint", "settings")}
    run.write_config({"config": config.to_dict(), "policy": {}, "shards": about})
    state = {"params": {"kernel": np.ones((3, 2), np.float32)}, "step": np.int32(0)}
    for step in range(1, 2 * STEPS + 1):
        row: dict[str, Any] = {"kind": "step", "step": step}
        row |= {"epoch": -(-step // STEPS), "k": 3.5, "entropy": 6.0 / step}
        row |= {"grad_norm": 1.5 + step % 3, "hit": 0.5, "loss": -step - step % 2}
        run.log({**row, "temperature": 1 - step / 99, "questions_per_second": 40.0})
        if step % STEPS:
            continue
        row = {"kind": "epoch", "step": step, "epoch": step // STEPS}
        row |= {"train_reward": 5 + step / 10, "train_answer_hit@10": 0.75}
        row |= {"dev_reward": 4 + step / 10, "dev_answer_hit@10": step / 20}
        run.log({**row, "dev_answer_hit@12": 0.25 + step / 20, "seconds": 2.0})
        run.save(step, state, row["dev_reward"])
    run.close()
    return run.path


@pytest.fixture
def run(finished, tmp_path) -> Path:
    """A copy of the finished run, to be changed."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture
def runs(capsys):
    """Call the command; (exit code, stdout, stderr)."""

    def call(*args) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["runs", *map(str, args)])
        return code, *capsys.readouterr()

    return call


def state(runs, *paths) -> Any:
    """The only run of ``--json``, or all of them."""
    code, out, err = runs(*paths, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out, parse_constant=pytest.fail)["runs"]
    return found[0] if len(found) == 1 else found


def keep_rows(run: Path, upto: int) -> list[dict]:
    """Drop rows and checkpoints beyond a step, as if training had been killed there."""
    file = run / "metrics.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows = [row for row in rows if row["step"] <= upto]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for each in (run / "checkpoints").iterdir():
        if int(each.name) > upto:
            shutil.rmtree(each)
    return rows


# --- states


def test_a_finished_run_shows_its_figures(runs, finished, shards):
    found = state(runs, finished)
    folder = RunFolder(finished)
    assert found["state"] == "finished" and found["problems"] == []
    assert (found["step"], found["total_steps"]) == (2 * STEPS, 2 * STEPS)
    assert (found["epoch"], found["epochs"], found["k"]) == (2, 2, 12)
    assert (found["estimator"], found["source"]) == ("closed_form", "tiny")
    assert found["checkpoints"] == folder.steps
    assert found["best"]["step"] == folder.best_first[0] and found["best"]["kept"]
    folder.close()
    best = next(
        r for r in folder.metrics("epoch") if r["step"] == found["best"]["step"]
    )
    dev = {k[4:]: v for k, v in best.items() if k.startswith("dev_")}
    assert found["best"]["dev"] == dev and "answer_hit@10" in dev
    assert found["last"]["loss"] == folder.metrics("step")[-1]["loss"]
    files = [path for path in finished.rglob("*") if path.is_file()]
    assert found["disk_bytes"] == sum(path.stat().st_size for path in files)
    assert found["resume"] is None and found["seconds_left"] == 0
    code, out, _ = runs(finished)
    assert code == 0 and out.splitlines()[0] == f"{finished}  finished"
    assert "10 of 10 (100%), epoch 2 of 2" in out and "to go on" not in out


def test_the_network_is_the_one_trained_not_the_flag(runs, run):
    """Earlier versions recorded ``--policy``, whatever the network of ``--init``."""
    about = json.loads((run / "config.json").read_text())
    about["config"]["policy"], about["policy"] = "mlp", {"kind": "walk"}
    (run / "config.json").write_text(json.dumps(about))
    assert state(runs, run)["policy"] == "walk"
    about["policy"] = {"dimension": 384}  # the thesis's network has no kind
    (run / "config.json").write_text(json.dumps(about))
    assert state(runs, run)["policy"] == "thesis"


def test_cosine_is_that_of_the_retriever(shards):
    dev = shards.split("dev")
    # preparation writes candidates by cosine; these shards were not prepared
    scores, ids = cosine_scores(shards, dev), np.asarray(dev.candidates)
    order, _ = top_k(scores, ids >= 0, ids, ids.shape[1])
    dev = dataclasses.replace(
        dev,
        candidates=np.take_along_axis(ids, order, axis=1),
        nodes=np.take_along_axis(np.asarray(dev.nodes), order[..., None], axis=1),
    )
    rankings = Cosine().rank(shards, dev, 30)
    ks = (1, 5, 20, 30)
    hits = {}
    for k in ks:
        kept = [
            {shards.entities[i].lower() for i in (*heads[:k], *tails[:k]) if i >= 0}
            for heads, tails in zip(rankings.heads, rankings.tails, strict=True)
        ]
        gold = [set(map(str.lower, question.answers)) for question in dev.questions]
        both = zip(kept, gold, strict=True)
        hits[k] = float(np.mean([bool(a & b) for a, b in both]))
    assert cosine_hits(dev, {"dev_questions": 500}, ks) == pytest.approx(hits, abs=1e-6)
    assert 0 < hits[20] < 1
    assert cosine_hits(dev, {}, ks) == cosine_hits(dev, {"dev_questions": 0}, ks) == {}


def test_without_its_shards_a_run_has_no_cosine_figures(runs, run):
    about = json.loads((run / "config.json").read_text())
    about["config"]["shards"] = "/nowhere"
    (run / "config.json").write_text(json.dumps(about))
    found = state(runs, run)
    assert found["state"] == "finished" and found["best"]["cosine"] == {}
    about["shards"]["fingerprint"] = "another"
    about["config"]["shards"] = str(run.parent)
    (run / "config.json").write_text(json.dumps(about))
    assert state(runs, run)["best"]["cosine"] == {}


def test_a_stopped_run_shows_the_command_that_resumes_it(runs, run):
    keep_rows(run, 8)
    with open(run / "metrics.jsonl", "a") as handle:
        handle.write('{"kind": "step", "step": 9, "epo')  # what a killed process left
    found = state(runs, run)
    assert found["state"] == "stopped" and found["problems"] == []
    assert found["total_steps"] == 2 * STEPS and found["epoch"] == 2
    assert found["resumes_at"] == max(found["checkpoints"])
    words = shlex.split(found["resume"])
    assert words[:2] == ["kgscout", "train"]
    config = parse(TrainConfig, words[2:], "kgscout train")
    about = json.loads((run / "config.json").read_text())
    assert config.to_dict() == {**about["config"], "run": str(run)}
    code, out, _ = runs(run)
    assert code == 0 and f"\n  {found['resume']}\n" in out
    assert f"to go on after step {found['resumes_at']}:" in out


def test_before_the_first_epoch_ends_there_is_no_best_step(runs, run):
    rows = keep_rows(run, 3)
    found = state(runs, run)
    assert found["total_steps"] == 2 * STEPS  # of the shards
    assert (found["state"], found["best"]) == ("stopped", None)
    assert found["step"] == max([3, *(row["step"] for row in rows)])
    shutil.rmtree(run / "checkpoints")
    (run / "metrics.jsonl").unlink()
    found = state(runs, run)
    assert (found["step"], found["epoch"], found["resumes_at"]) == (0, 1, 0)
    assert found["seconds_spent"] is found["seconds_left"] is found["updated"] is None
    assert "to go on anew:" in runs(run)[1]
    assert "best    - (no epoch has ended" in runs(run)[1]
    code, _, err = runs(run, "--plot")
    assert code == 0 and "nothing to draw" in err


def test_a_locked_folder_is_a_running_run(runs, run):
    keep_rows(run, 8)
    with locked(run, "training"):
        assert state(runs, run)["state"] == "running"
        assert state(runs, run)["resume"] is None
    assert state(runs, run)["state"] == "stopped"
    (run / ".lock").touch()  # left by a process that was killed
    assert state(runs, run)["state"] == "stopped"
    with locked(run, "training"):  # looking leaves no lock behind
        pass


def test_a_part_of_a_deleted_checkpoint_is_no_damage(runs, run):
    before = state(runs, run)
    folder = run / "checkpoints"
    leftover = folder / str(STEPS - 1) / "state"  # neither the newest nor the best
    shutil.copytree(folder / str(STEPS) / "state", leftover)
    found = state(runs, run)
    assert (found["state"], found["problems"]) == ("finished", [])
    assert found["checkpoints"] == before["checkpoints"]
    file = run / "metrics.jsonl"
    row = {"kind": "epoch", "step": STEPS - 1, "epoch": 1, "dev_reward": 99.0}
    file.write_text(file.read_text() + json.dumps(row) + "\n")
    found = state(runs, run)  # now it is the best
    assert found["problems"][0].startswith(f"{leftover.parent}: damaged checkpoint")


def test_damage_is_reported_and_the_rest_is_shown(runs, run):
    lines = (run / "metrics.jsonl").read_text().splitlines()
    (run / "metrics.jsonl").write_text("\n".join([lines[0], "{x", *lines[1:]]) + "\n")
    found = state(runs, run)
    assert found["state"] == "damaged" and found["step"] == 2 * STEPS
    assert found["problems"] == [f"{run}/metrics.jsonl:2: not a row of metrics"]
    latest = max(found["checkpoints"])
    (run / "checkpoints" / str(latest) / "state" / "manifest.ocdbt").unlink()
    found = state(runs, run)
    assert latest not in found["checkpoints"]
    assert found["problems"][-1].endswith("damaged checkpoint, no state/manifest.ocdbt")
    (run / "config.json").write_text("{")
    found = state(runs, run)
    assert found["k"] is None and found["resume"] is None
    assert found["problems"][0].startswith(f"{run}/config.json: not valid JSON")
    code, out, _ = runs(run, "--plot")
    assert code == 0 and "damaged: " in out and "Loss (per question)" in out


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"estimator": "reinforce", "normalise_advantage": False, "samples": 3},
        {"estimator": "reinforce", "learning_rate": 1e-3, "entropy_weight": 0.0},
        {"tower_hidden": (), "questions_per_epoch": 7, "init": Path("a b/$HOME'")},
        {"tower_hidden": (3,), "seed": -1, "dtype": "bfloat16", "clip_norm": 1e-9},
    ],
)
def test_the_resume_command_parses_to_the_same_settings(more):
    config = TrainConfig(shards=Path("my shards;x"), run=Path("old"), **more)
    saved = json.loads(json.dumps(config.to_dict()))
    words = shlex.split(resume_command(saved, Path("new run")))
    assert parse(TrainConfig, words[2:], "x") == TrainConfig(
        shards=Path("my shards;x"), run=Path("new run"), **more
    )
    plain = resume_command(
        TrainConfig(shards=Path("s"), run=Path("r")).to_dict(), Path("r")
    )
    assert plain == "kgscout train --shards s --run r"


def test_the_resume_command_of_a_preset_names_it():
    config = ThesisTrainConfig(shards=Path("s"), run=Path("r"), epochs=30)
    said = resume_command(config.to_dict(), Path("r"))
    assert said == "kgscout train --shards s --run r --preset thesis --epochs 30"
    assert parse(TrainConfig, shlex.split(said)[2:], "x") == config


def test_unknown_settings_stay_in_the_resume_command():
    saved = {**TrainConfig(shards=Path("s"), run=Path("r")).to_dict(), "estimator": "x"}
    del saved["seed"]
    said = resume_command({**saved, "new_thing": 4}, Path("r"))
    assert said == "kgscout train --shards s --run r --estimator x --new-thing 4"


# --- time


def test_seconds_spent_and_left_by_hand(tmp_path):
    """Two epochs of 10 steps of 8 questions, the third under way, at half the speed."""
    run = tmp_path / "run"
    run.mkdir()
    config = {"batch_size": 8, "epochs": 4}
    (run / "config.json").write_text(json.dumps({"config": config, "policy": {}}))
    rows = []
    for epoch in (1, 2, 3):
        for step in (5, 10):
            row = {"kind": "step", "step": 10 * epoch - 10 + step, "epoch": epoch}
            rows.append(row | {"questions_per_second": 4.0 if epoch < 3 else 2.0})
    rows[2:2] = [{"kind": "epoch", "step": 10, "epoch": 1, "seconds": 30.0}]
    # of the second only the part after it was resumed: the speed tells more
    rows[5:5] = [{"kind": "epoch", "step": 20, "epoch": 2, "seconds": 6.0}]
    rows = rows[:-1]  # up to step 25
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = state_of(read_run(run))
    assert (found.step, found.total_steps, found.epoch) == (25, 40, 3)
    assert found.seconds_spent == 30 + 80 / 4 + 40 / 2
    # as fast as the last whole epoch, from the start: there is no checkpoint
    assert found.seconds_left == 40 * 20 / 10
    assert found.questions_per_second == 2.0


# --- several, refused, odd


def test_several_runs_are_one_table(runs, run, finished, tmp_path):
    keep_rows(run, 8)
    shutil.copytree(finished, tmp_path / "other")
    (tmp_path / "nothing").mkdir()
    found = state(runs, tmp_path)
    assert [Path(each["run"]).name for each in found] == ["other", "run"]
    code, out, _ = runs(tmp_path)
    assert code == 0 and "hit@12" in out
    assert [w for w in ("finished", "stopped") if w in out] == ["finished", "stopped"]
    assert f"{run}: to go on after step" in out
    assert len(state(runs, run, tmp_path, finished)) == 3  # each once


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "no such run"),
        (lambda path: path.mkdir(), "no config.json, in it or in a folder of it"),
        (lambda path: path.write_text(""), "found a file, expected a run"),
    ],
)
def test_refused_folders(runs, tmp_path, make, says):
    make(tmp_path / "x")
    code, out, err = runs(tmp_path / "x")
    assert (code, out) == (2, "") and f"x: {says}" in err


def test_refused_arguments(runs, finished, tmp_path):
    code, _, err = runs(finished, "--plot", "x.pdf")
    assert code == 2 and "--plot: found x.pdf, expected a file named .png" in err
    code, _, err = runs(finished, "--plot", "a.png", "b.png")
    assert code == 2 and "--plot: found 2 files, expected at most 1" in err
    assert runs()[0] == 2
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "config.json").write_text("{}")
    code, _, err = runs(tmp_path)
    assert code == 2 and "an exported policy, expected a run" in err


@settings(suppress_health_check=list(HealthCheck))
@given(
    tail=st.binary(max_size=60)
    | st.dictionaries(
        st.sampled_from(["kind", "step", "epoch", "loss", "seconds", "dev_reward",
                         "dev_answer_hit@x", "questions_per_second"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
        | st.sampled_from(["step", "epoch"]) | st.lists(st.integers(), max_size=2),
    ).map(lambda row: json.dumps({"kind": "epoch", "step": 10} | row).encode()),
    config=st.dictionaries(
        st.sampled_from(["epochs", "batch_size", "k", "estimator", "dev_questions"]),
        st.none() | st.integers() | st.text(max_size=4) | st.booleans(),
    ),
)  # fmt: skip
@example(tail=b'{"kind": "epoch", "step": 10, "epoch": []}', config={})
@example(tail=b'{"kind": "epoch", "step": -1e30, "loss": 1}', config={})
def test_any_content_of_the_files_is_shown_or_reported(runs, run, tail, config):
    about = json.loads((run / "config.json").read_text())
    kept = (run / "config.json").read_bytes(), (run / "metrics.jsonl").read_bytes()
    try:
        about["config"] |= config
        (run / "config.json").write_text(json.dumps(about))
        (run / "metrics.jsonl").write_bytes(kept[1] + tail + b"\n")
        found = state(runs, run)
        assert found["state"] in ("finished", "stopped", "damaged")
        assert runs(run, "--plot")[0] == 0
    finally:
        (run / "config.json").write_bytes(kept[0])
        (run / "metrics.jsonl").write_bytes(kept[1])


# --- curves


def test_the_running_mean_by_hand():
    values = np.array([0.0, 10, 20, 0, 10, 20, 0, 10])
    curve = Curve(run="r", name="", steps=np.arange(8.0), values=values, noisy=True)
    means = [values[max(0, i - 2) : i + 3].mean() for i in range(8)]
    np.testing.assert_allclose(curve.smooth(), means)
    short = Curve(run="r", name="", steps=np.arange(3.0), values=values[:3], noisy=True)
    assert short.smooth() is short.values


def test_curves_are_drawn_on_a_terminal(runs, finished, run):
    code, out, _ = runs(finished, "--plot")
    assert code == 0 and "\x1b" not in out
    for title in ("Loss (per question)", "Reward (mean, of at most 10)",
                  "Entropy (nats)", "Gradient norm (before clipping)",
                  "Temperature (tau)", "answer_hit@K, dev"):  # fmt: skip
        assert title in out
    assert "1 K = 10, 2 K = 12" in out and "1 dev, 2 train" in out
    code, out, _ = runs(finished, run, "--plot")
    assert "1 one\n2 run\n" in out


def test_a_straight_line_is_drawn_as_one(capsys):
    """A straight line from the lower left to the upper right."""
    from kgscout_jax.runs.curves import Panel
    from kgscout_jax.runs.terminal_plot import HEIGHT, LABEL_WIDTH, lines_of

    line = Curve(
        run="r",
        name="",
        steps=np.linspace(0, 100, 11),
        values=np.linspace(-1, 1, 11),
        noisy=False,
    )
    shown = lines_of(Panel(title="t", unit="u", curves=[line]), ["r"], 60, False)
    text = [each.plain for each in shown]
    assert {len(row) for row in text} == {60}
    plot = [row[LABEL_WIDTH + 1 :] for row in text[1 : 1 + HEIGHT]]
    assert text[1].startswith("        1│") and text[HEIGHT].startswith("       -1│")
    places = [[i for i, c in enumerate(row) if c not in " ⠀"] for row in plot]
    assert all(places) and places[0][-1] == 49 and places[-1][0] == 0
    assert all(a[0] > b[0] for a, b in itertools.pairwise(places))


@pytest.mark.usefixtures("own_pictures")
def test_curves_are_drawn_as_png(runs, finished, run, tmp_path):
    out = tmp_path / "new" / "x.png"
    keep_rows(run, 8)  # both are seen
    lines = (run / "metrics.jsonl").read_text().replace('"loss": -', '"loss": -2')
    (run / "metrics.jsonl").write_text(lines)
    code, said, err = runs(finished, run, "--json", "--plot", out)
    assert code == 0 and f"wrote {out}" in err
    assert len(json.loads(said)["runs"]) == 2
    image = matplotlib.image.imread(out)[..., :3]
    assert image.shape[0] > 500 and image.shape[1] > 1500
    for colour in (0x0072B2, 0xD55E00):  # a run each
        rgb = np.array([colour >> 16, colour >> 8 & 255, colour & 255]) / 255
        assert (np.abs(image - rgb).max(axis=-1) < 0.02).sum() > 200


def test_bytes_durations_and_short_names():
    assert [_bytes(n) for n in (0, 999, 12_345, 999_999, 5_000_000_000)] == [
        "0 B", "999 B", "12.3 kB", "1.0 MB", "5.0 GB"
    ]  # fmt: skip
    assert [_duration(s) for s in (None, 0.2, 125, 7260, 200_000, 3600)] == [
        "?", "0 s", "2 min 5 s", "2 h 1 min", "2 d 7 h", "1 h"
    ]  # fmt: skip
    assert short_names(["a/x", "b/x/", "c"]) == ["a/x", "b/x", "c"]
    assert short_names(["/r/one", "/r/two"]) == ["one", "two"]


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["runs", "--help"])
    assert stop.value.code == 0
    assert re.search("Example: kgscout runs runs/first --plot", capsys.readouterr().out)


def test_it_starts_without_jax(finished):
    import subprocess
    import sys

    code = (
        "import sys; from kgscout_jax.cli.main import main; "
        f"main(['runs', {str(finished)!r}]); "
        "sys.exit('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
