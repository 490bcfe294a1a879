"""``python -m data_prep SOURCE ...``, and with ``inspect`` or ``graph`` as SOURCE."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgscout_jax.cli.main import COMMANDS
from kgscout_jax.cli.runner import run_command
from kgscout_jax.utils.interrupts import sigterm_interrupts

if TYPE_CHECKING:
    from data_prep.settings import PrepSettings


def main(args: Sequence[str] | None = None, prog: str = "python -m data_prep") -> int:
    """Prepare or inspect shards, or index a graph; returns the exit code."""
    args = list(sys.argv[1:] if args is None else args)
    if args[:1] in (["inspect"], ["graph"]):
        return run_command(COMMANDS[args[0]], args[1:], f"{prog} {args[0]}")
    return run_command(COMMANDS["prep"], args, prog)


def prepare_and_inspect(settings: PrepSettings) -> None:
    """Prepare shards, and print a summary when they are complete."""
    with sigterm_interrupts():
        from data_prep.driver import prepare, prepare_partition
        from data_prep.inspect_command import InspectSettings, inspect

        whole = settings.part is None
        shards = prepare(settings) if whole else prepare_partition(settings)
    if shards is not None:
        inspect(InspectSettings(paths=(settings.out,)))


if __name__ == "__main__":
    sys.exit(main())
