"""What a traced program does, counted in its jaxpr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def equations(jaxpr: Any, turns: int = 1) -> Iterator[tuple[Any, int]]:
    """(equation, how often it runs) of a jaxpr and all jaxprs within.

    Loops count once per turn where the number of turns is known (scan), else once; of
    alternatives all count.
    """
    for equation in jaxpr.eqns:
        yield equation, turns
        length = equation.params.get("length", 1) if "jaxpr" in equation.params else 1
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from equations(inner, turns * length)


def memory_moves(jaxpr: Any) -> tuple[int, int]:
    """How many gathers and scatters run."""
    gathers = scatters = 0
    for equation, turns in equations(jaxpr):
        gathers += turns * (equation.primitive.name == "gather")
        scatters += turns * equation.primitive.name.startswith("scatter")
    return gathers, scatters
