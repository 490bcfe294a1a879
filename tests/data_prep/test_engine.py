"""Engines: results in order, errors as they were raised, no worker left behind."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from data_prep.engine import Engine, LocalEngine, RayEngine, _in_order, engine_of
from kgscout_jax.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
NEEDS_RAY = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
)


def square(number: int) -> tuple[int, int]:
    time.sleep(0.002 * (number % 5))
    return number * number, os.getpid()


def fails(at: int, number: int) -> int:
    if number == at:
        raise UserError(f"item {number}: found nothing, expected something")
    return number


def leave(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def imported(_: int) -> list[str]:
    return [name for name in ("jax", "torch") if name in sys.modules]


@pytest.fixture(scope="module")
def ray_engine():
    with pytest.MonkeyPatch.context() as patch, RayEngine(workers=2) as engine:
        here = Path(__file__).parent
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, here))))
        yield engine
    import ray

    assert not ray.is_initialized()


ENGINES = [
    "here", "two", pytest.param("ray", marks=[NEEDS_RAY, pytest.mark.slow])
]  # fmt: skip


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "ray":
        yield request.getfixturevalue("ray_engine")
        return
    with LocalEngine({"here": 1, "two": 2}[request.param]) as started:
        yield started


def test_results_in_order(engine: Engine):
    results = list(engine.map(square, range(20)))
    assert [r for r, _ in results] == [i * i for i in range(20)]
    processes = {pid for _, pid in results}
    assert (os.getpid() in processes) != engine.apart
    assert len(processes) == (2 if engine.apart else 1)
    assert list(engine.map(square, [])) == []


def test_an_error_is_raised_as_it_was(engine: Engine):
    got = engine.map(partial(fails, 4), range(9))
    with pytest.raises(UserError, match=r"^item 4: found nothing, expected"):
        for number, result in enumerate(got):
            assert result == number
    assert list(engine.map(partial(fails, 99), range(3))) == [0, 1, 2]  # and goes on


def test_workers_are_light():
    with LocalEngine(2) as engine:
        assert list(engine.map(imported, range(2))) == [[], []]


def test_a_worker_that_dies_is_told_in_one_line():
    with LocalEngine(2) as engine, pytest.raises(UserError, match="fewer --workers"):
        list(engine.map(leave, range(6)))


def test_no_worker_is_left():
    with LocalEngine(2) as engine:
        list(engine.map(square, range(4)))
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


ORPHANS = """
import os, signal, sys, time
from data_prep.engine import LocalEngine

with LocalEngine(2) as engine:
    assert list(engine.map(str, range(4))) == list("0123")
    print(*engine._pool._processes, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_killed_parent():
    done = subprocess.run(
        [sys.executable, "-c", ORPHANS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in done.stdout.split()]
    assert len(workers) == 2
    until = time.monotonic() + 20
    while any(map(_alive, workers)):
        assert time.monotonic() < until, "a worker outlived its parent"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has awaited does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_only_a_window_is_under_way():
    started, most = [], 0

    def submit(item: int):
        started.append(item)
        return lambda: item

    taken = 0
    for taken, result in enumerate(_in_order(submit, range(50), 7), start=1):
        assert result == taken - 1
        most = max(most, len(started) - taken)
    assert taken == 50 and most <= 7


def test_engines_by_name():
    local, ray = engine_of("local", 3), engine_of("ray", address="10.0.0.1:6379")
    assert isinstance(local, LocalEngine) and local.workers == 3
    assert isinstance(ray, RayEngine) and ray.address == "10.0.0.1:6379"
    assert engine_of("local").map(abs, [-1]) is not None


def test_ray_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'kgscout-jax\[ray\]'"):
        list(RayEngine().map(abs, [1]))
