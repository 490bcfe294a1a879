"""Checks array annotations at run time: what ``--jaxtyping-packages`` names.

Other annotations, those of containers among them, are left to pyright: beartype would
refuse protocols, and the stand-ins that tests pass for objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from beartype import beartype

F = TypeVar("F", bound=Callable)
ARRAY = re.compile(
    r"(<class ')?(jaxtyping\.)?(Float|Int|UInt|Bool|Num|Shaped|Key)\w*\["
)


def check(function: F) -> F:
    """The function, whose calls raise where an array's shape or dtype is another.

    Dataclasses of arrays may hold anything: JAX rebuilds them with shapes as leaves.
    """
    if function.__name__ == "__init__":
        return function
    hints = function.__annotations__
    function.__annotations__ = {
        name: hint for name, hint in hints.items() if ARRAY.match(str(hint))
    }
    return beartype(function)
