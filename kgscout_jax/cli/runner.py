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
    """The message in a box that tyro drew, as one line.

    Where the output knows no box-drawing characters, a title stands for the lid.
    """
    lines = said.splitlines()
    boxed = [line.strip("│ ") for line in lines if line.startswith("│")]
    parts: list[list[str]] = [[]]
    for line in boxed or lines:
        if line.strip() and not line.strip(" ─-"):
            parts.append([])
        else:
            parts[-1].append(line.strip())
    wanted = parts[0] if boxed else parts[min(1, len(parts) - 1)]
    return " ".join(" ".join(wanted).split())
