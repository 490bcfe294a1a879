"""What every command does around its work: logging, one-line errors, exit codes."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from kgscout_jax.errors import UserError

C = TypeVar("C")


def guarded(work: Callable[[], int | None]) -> int:
    """The exit code of ``work``: bad input is one line on stderr and 2.

    Interrupted from the keyboard: 130. Anything else that is raised is a defect and
    keeps its traceback.
    """
    logging.basicConfig(
        level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True
    )
    logging.getLogger("kgscout").setLevel(logging.INFO)
    try:
        return work() or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def parse(config: type[C], args: Sequence[str], prog: str) -> C:
    """The arguments as a config dataclass; exits 0 on --help.

    Raises:
        UserError: a flag is unknown, missing or has a bad value.
    """
    import tyro

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(config, args=list(args), prog=prog)
    except SystemExit as stop:
        if stop.code != 2:
            raise
    raise UserError(f"{out_of_box(said.getvalue())} (see {prog} --help)")


def out_of_box(said: str) -> str:
    """The message in a box that tyro drew, above its first rule, as one line."""
    lines = [line.strip("│ ") for line in said.splitlines() if line[:1] == "│"]
    rules = [i for i, line in enumerate(lines) if line and not line.strip("─")]
    return " ".join(lines[: rules[0] if rules else None])
