"""Engines: results in order, errors of items raised here, no worker left behind."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.utils.engine import Engine, LocalEngine, _in_order
from kgscout_jax.utils.engine_settings import engine_of
from kgscout_jax.utils.ray_engine import RayEngine

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


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def heavy_modules(_: int) -> list[str]:
    return [name for name in ("jax", "torch") if name in sys.modules]


@pytest.fixture(scope="module")
def ray_engine():
    with pytest.MonkeyPatch.context() as patch:
        here = Path(__file__).parent
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, here))))
        with RayEngine(workers=2) as engine:
            yield engine
    import ray

    assert not ray.is_initialized()


ENGINES = [
    "here", "two", pytest.param("ray", marks=[NEEDS_RAY, pytest.mark.slow])
]  # fmt: skip


@pytest.fixture(params=ENGINES, scope="module")
def engine(request):
    if request.param == "ray":
        yield request.getfixturevalue("ray_engine")
        return
    with LocalEngine({"here": 1, "two": 2}[request.param]) as local:
        yield local
    assert not multiprocessing.active_children()


def test_results_come_in_the_order_of_the_items(engine: Engine):
    results = list(engine.map(square, range(20)))
    assert [r for r, _ in results] == [i * i for i in range(20)]
    processes = {pid for _, pid in results}
    assert (os.getpid() in processes) != engine.is_remote
    # an actor of Ray may start when the others have done all
    least = 2 if isinstance(engine, LocalEngine) and engine.is_remote else 1
    assert least <= len(processes) <= (2 if engine.is_remote else 1)
    assert list(engine.map(square, [])) == []
    if isinstance(engine, LocalEngine) and engine.is_remote:
        assert list(engine.map(heavy_modules, range(2))) == [[], []]


def test_an_error_of_an_item_is_raised_here_and_the_engine_goes_on(engine: Engine):
    results = engine.map(partial(fails, 4), range(9))
    with pytest.raises(UserError, match=r"^item 4: found nothing, expected"):
        for number, result in enumerate(results):
            assert result == number
    assert list(engine.map(partial(fails, 99), range(3))) == [0, 1, 2]


def test_a_dead_worker_is_one_line_and_none_is_left():
    before = set(multiprocessing.active_children())  # of the engine that tests share
    with LocalEngine(2) as engine, pytest.raises(UserError, match="fewer --workers"):
        list(engine.map(die_at_three, range(6)))
    assert set(multiprocessing.active_children()) == before


ORPHANS = """
import os, signal, sys, time
from kgscout_jax.utils.engine import LocalEngine

with LocalEngine(2) as engine:
    assert list(engine.map(str, range(4))) == list("0123")
    print(*engine._pool._processes, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_killed_parent():
    process = subprocess.run(
        [sys.executable, "-c", ORPHANS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    assert process.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in process.stdout.split()]
    assert len(workers) == 2
    until = time.monotonic() + 120
    while any(map(_alive, workers)):
        assert time.monotonic() < until, "a worker outlived its parent"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has awaited does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_at_most_a_window_of_items_is_submitted():
    submissions, most = [], 0

    def submit(item: int):
        submissions.append(item)
        return lambda: item

    for i, result in enumerate(_in_order(submit, range(50), 7)):
        assert result == i
        most = max(most, len(submissions) - i - 1)
    assert len(submissions) == 50 and most <= 7


def test_engines_by_name():
    local, ray = engine_of("local", 3), engine_of("ray", address="10.0.0.1:6379")
    assert isinstance(local, LocalEngine) and local.workers == 3
    assert isinstance(ray, RayEngine) and ray.address == "10.0.0.1:6379"


@NEEDS_RAY
def test_a_cluster_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # by the tests before
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    says = f"^--engine ray: {address}: no cluster answers \\(Connection refused\\)$"
    with pytest.raises(UserError, match=says), RayEngine(address):
        pass


def test_ray_that_is_not_installed_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'kgscout-jax\[ray\]'"):
        list(RayEngine().map(abs, [1]))
