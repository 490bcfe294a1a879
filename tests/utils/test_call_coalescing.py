"""Work of many threads in few rounds: right results, errors where they belong."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgscout_jax.utils.call_coalescing import CallCoalescer


class Squares:
    """Squares of numbers, told how many at a time; 13 cannot be squared."""

    def __init__(self) -> None:
        self.rounds: list[list[int]] = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, numbers: list[int]) -> list[int]:
        self.rounds.append(list(numbers))
        assert self.go.wait(60)
        if 13 in numbers:
            raise ArithmeticError
        return [number**2 for number in numbers]


def waiting(coalescer: CallCoalescer, count: int) -> None:
    """Return once so many calls wait."""
    for _ in range(1000):
        if len(coalescer._waiting) == count:
            return
        threading.Event().wait(0.005)
    raise AssertionError(f"{len(coalescer._waiting)} wait, expected {count}")


def test_a_single_caller_is_served_at_once():
    squares = Squares()
    coalescer = CallCoalescer(squares, threading.Lock())
    assert [coalescer(each) for each in ([2, 3], [], [5])] == [[4, 9], [], [25]]
    assert squares.rounds == [[2, 3], [], [5]]


def test_waiting_calls_are_joined():
    squares = Squares()
    coalescer = CallCoalescer(squares, threading.Lock())
    squares.go.clear()
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(coalescer, [1])
        while not squares.rounds:
            threading.Event().wait(0.005)
        others = [pool.submit(coalescer, [i] * (i % 3)) for i in range(2, 10)]
        waiting(coalescer, 8)
        squares.go.set()
        assert first.result() == [1]
        assert [o.result() for o in others] == [[i**2] * (i % 3) for i in range(2, 10)]
    assert len(squares.rounds) == 2


@pytest.mark.parametrize("bad", range(2, 7))
def test_a_failing_call_fails_alone(bad):
    squares = Squares()
    coalescer = CallCoalescer(squares, threading.Lock())
    squares.go.clear()
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(coalescer, [1])
        while not squares.rounds:
            threading.Event().wait(0.005)
        others = {
            i: pool.submit(coalescer, [13 if i == bad else i]) for i in range(2, 7)
        }
        waiting(coalescer, 5)
        squares.go.set()
        assert first.result() == [1]
        failed = [i for i, other in others.items() if other.exception()]
        assert failed == [bad]
        assert all(o.result() == [i**2] for i, o in others.items() if i not in failed)
