"""Turns of threads: one runs Python, others compute outside of it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgscout_jax.utils.turns import interpreter_turn, native_work


def test_one_thread_at_a_time_has_the_turn():
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with interpreter_turn(), interpreter_turn():
                inside += 1
                most = max(most, inside)
                threading.Event().wait(1e-5)  # others run, if they may
                inside -= 1

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work) for _ in range(8)]:
            done.result(timeout=60)
    assert most == 1


def test_native_work_leaves_the_turn_to_others():
    other = threading.Event()

    def take_turn() -> None:
        with interpreter_turn():
            other.set()

    with ThreadPoolExecutor(1) as pool, interpreter_turn():
        taken = pool.submit(take_turn)
        assert not other.wait(0.05)
        with native_work():
            assert other.wait(60)
        taken.result(timeout=60)


def test_an_error_ends_the_turn_and_takes_it_back_after_native_work():
    with pytest.raises(ZeroDivisionError), interpreter_turn():
        with pytest.raises(KeyError), native_work():
            raise KeyError
        raise ZeroDivisionError
    with native_work(), ThreadPoolExecutor(1) as pool:  # without a turn: nothing

        def take_turn() -> bool:
            with interpreter_turn():
                return True

        assert pool.submit(take_turn).result(timeout=60)
