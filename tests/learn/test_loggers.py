"""TensorBoard and W&B get each point once, however often a run is resumed."""

from __future__ import annotations

import dataclasses
import json
import math
import struct
import sys
import time
from collections.abc import Iterator

import pytest
from training import tiny

from kgscout_jax.errors import UserError
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.loggers import Loggers, check_loggers, open_loggers, scalars

ABOUT = {"config": {"k": 4, "estimator": "reinforce"}}


def rows_to(step: int, start: int = 0) -> list[dict]:
    """A row every second step, and one at the end of each epoch of four."""
    rows = []
    for i in range(start + 1, step + 1):
        if i % 2 == 0:
            rows.append({"kind": "step", "step": i, "epoch": 1, "loss": i / 4})
        if i % 4 == 0:
            rows.append({"kind": "epoch", "step": i, "epoch": 1, "dev_hit@10": i / 8})
    return rows


def write_run(run: RunFolder, names, *, upto: int, killed: bool = False) -> None:
    """Train up to a step, as training does: keep rows, log new ones."""
    saved = upto_of(run)
    run.drop_rows_after(saved)
    loggers = open_loggers(names, run.path, ABOUT, run.metrics())
    for row in rows_to(upto, saved):
        run.log(row)
        loggers.log(row)
    if not killed:
        loggers.close()
        return
    for sink in loggers.sinks.values():  # what is on its way is on its way
        sink.close(True)


def upto_of(run: RunFolder) -> int:
    """The last checkpoint: of the epoch before the last row."""
    last = max((row["step"] for row in run.metrics()), default=0)
    return last // 4 * 4


@pytest.fixture
def run(tmp_path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.write_config(ABOUT)
    return run


def test_scalars_are_the_finite_numbers_of_a_row():
    row = {"kind": "epoch", "step": 4, "epoch": 1, "dev_hit@10": 1, "x": math.nan}
    assert scalars({**row, "name": "text"}) == {"epoch/dev_hit_at_10": 1.0}


# --- TensorBoard


def points(run: RunFolder) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard's own reader finds, nothing thinned out."""
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="the extra tensorboard is not installed",
    )
    found = reader.EventAccumulator(
        str(run.path / "tensorboard"), size_guidance={reader.SCALARS: 0}
    )
    found.Reload()
    return {
        tag: [(event.step, event.value) for event in found.Scalars(tag)]
        for tag in found.Tags()["scalars"]
    }


def test_tensorboard_has_each_point_once_after_a_kill(run):
    pytest.importorskip("tensorboardX")
    write_run(run, ["tensorboard"], upto=7, killed=True)
    assert [step for step, _ in points(run)["step/loss"]] == [2, 4, 6]
    write_run(run, ["tensorboard"], upto=12)
    expected = {
        "step/loss": [(i, i / 4) for i in (2, 4, 6, 8, 10, 12)],
        "epoch/dev_hit_at_10": [(i, i / 8) for i in (4, 8, 12)],
    }
    assert points(run) == expected
    assert len(list((run.path / "tensorboard").iterdir())) == 1


def test_a_run_that_is_first_logged_when_resumed_is_logged_whole(run):
    pytest.importorskip("tensorboardX")
    write_run(run, [], upto=5)
    assert not (run.path / "tensorboard").exists()
    write_run(run, ["tensorboard"], upto=8)
    assert [step for step, _ in points(run)["step/loss"]] == [2, 4, 6, 8]


# --- W&B, offline, the real package


BLOCK = 32768


def records(data: bytes) -> Iterator[bytes]:
    """The records of a .wandb file: LevelDB's log format behind a header of 7 bytes."""
    at, parts = 7, b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:  # no header fits: the rest of the block is filler
            at += BLOCK - at % BLOCK
            continue
        _, length, part = struct.unpack("<IHB", data[at : at + 7])
        at += 7 + length
        parts += data[at - length : at]
        if part in (1, 4):  # a whole record, or the last part of one
            yield parts
            parts = b""


def sent(run: RunFolder) -> list[dict]:
    """The history in the files that W&B keeps until they are synced."""
    from wandb.proto.wandb_internal_pb2 import Record

    history = []
    for file in sorted(run.path.glob("wandb/offline-run-*/*.wandb")):
        for data in records(file.read_bytes()):
            record = Record.FromString(data)
            if record.WhichOneof("record_type") != "history":
                continue
            items = {
                (item.key or "/".join(item.nested_key)): json.loads(item.value_json)
                for item in record.history.item
            }
            history.append({k: v for k, v in items.items() if k[0] != "_"})
    return history


@pytest.mark.slow
def test_wandb_is_sent_each_point_once_after_a_kill(run, monkeypatch):
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(run.path.parent / name))
    write_run(run, ["wandb"], upto=7, killed=True)
    first = json.loads((run.path / "wandb.json").read_text())
    assert (first["step"], first["kinds"]) == (6, ["step"])
    time.sleep(1.1)  # W&B names folders by the second
    write_run(run, ["wandb"], upto=12)
    assert len(list(run.path.glob("wandb/offline-run-*"))) == 2
    assert json.loads((run.path / "wandb.json").read_text())["id"] == first["id"]
    found = sent(run)
    losses = [(row["step"], row["step/loss"]) for row in found if "step/loss" in row]
    assert losses == [(i, i / 4) for i in (2, 4, 6, 8, 10, 12)]
    hits = [
        (r["step"], r["epoch/dev_hit_at_10"])
        for r in found
        if "epoch/dev_hit_at_10" in r
    ]
    assert hits == [(i, i / 8) for i in (4, 8, 12)]
    names = [path.name for path in run.path.glob("wandb/offline-run-*/*.wandb")]
    assert set(names) == {f"run-{first['id']}.wandb"}


def test_wandb_that_cannot_begin_is_one_line(run, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="the extra wandb is not installed")

    def refuses(**_):
        raise wandb.errors.UsageError("no key\nconfigured")

    monkeypatch.setattr(wandb, "init", refuses)
    with pytest.raises(
        UserError, match=r"^--log wandb: no key configured .*offline\)$"
    ):
        open_loggers(["wandb"], run.path, ABOUT, [])


# --- training


@pytest.mark.extended
def test_training_logs_and_what_it_logs_to_may_change(
    shards, tmp_path, kgscout_cache, monkeypatch
):
    pytest.importorskip("tensorboardX")
    from kgscout_jax.learn.train import train

    config = tiny(shards, tmp_path / "run", log=("tensorboard",))
    monkeypatch.setattr("kgscout_jax.learn.loggers.find_spec", lambda _: None)
    with pytest.raises(UserError, match="--log tensorboard: tensorboardX is not inst"):
        train(config)
    assert not config.run.exists()
    monkeypatch.undo()
    run = train(config)
    found = points(run)
    rows = run.metrics("epoch")
    reward = [(row["step"], pytest.approx(row["dev_reward"])) for row in rows]
    assert found["epoch/dev_reward"] == reward and len(rows) == config.epochs
    loss = [(r["step"], pytest.approx(r["loss"])) for r in run.metrics("step")]
    assert found["step/loss"] == loss
    train(dataclasses.replace(config, log=()))  # finished: nothing left, none refused
    assert points(run) == found


# --- without them, and when they fail


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_missing_library_is_one_line(name, monkeypatch):
    package = {"tensorboard": "tensorboardX", "wandb": "wandb"}[name]
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr("kgscout_jax.learn.loggers.find_spec", lambda _: None)
    says = rf"--log {name}: {package} is not .*pip install 'kgscout-jax\[{name}\]'$"
    with pytest.raises(UserError, match=says):
        check_loggers([name])


def test_one_that_fails_is_given_up_and_the_others_go_on(caplog):
    class Sink:
        def __init__(self, fails: bool) -> None:
            self.fails, self.rows, self.ended = fails, [], None

        def log(self, row):
            self.rows.append(row)
            if self.fails:
                raise OSError("disk full")

        def close(self, failed):
            self.ended = failed

    bad, good = Sink(True), Sink(False)
    loggers = Loggers({"bad": bad, "good": good})
    for row in rows_to(4):
        loggers.log(row)
    assert len(bad.rows) == 1 and len(good.rows) == 3
    assert "--log bad: cannot log (disk full)" in caplog.text
    try:
        raise RuntimeError
    except RuntimeError:
        loggers.close()
    assert (bad.ended, good.ended) == (None, True)


def test_nothing_is_imported_unless_asked():
    import subprocess

    code = (
        "import sys, kgscout_jax.learn.loggers as l; l.open_loggers((), '', {}, [])\n"
    )
    code += "print([m for m in ('wandb', 'tensorboardX', 'jax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
