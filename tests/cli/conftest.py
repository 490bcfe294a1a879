"""What tests of commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest


@pytest.fixture
def refused(capsys) -> Callable[..., str]:
    """Call a command that must exit with 2 and say why on one line."""

    def call(command: Callable[..., int], args: Sequence[Any], says: str) -> str:
        capsys.readouterr()
        code = command([str(arg) for arg in args], "command")
        captured = capsys.readouterr()
        assert code == 2, captured.err
        lines = captured.err.splitlines()
        assert [line for line in lines if line.startswith("error: ")] == lines[-1:]
        assert "Traceback" not in captured.err
        assert re.search(says, lines[-1]), lines[-1]
        return lines[-1]

    return call
