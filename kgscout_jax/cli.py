"""The ``kgscout`` command and the thin entry points: parse, then hand over.

Nothing heavy is imported before the arguments are known to be good.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from kgscout_jax.entry import guarded, parse
from kgscout_jax.errors import UserError

USAGE = """\
usage: kgscout COMMAND ...        (kgscout COMMAND --help says more)

  prep SOURCE     turn a data set or your own graph into a folder of shards
  inspect SHARDS  what is in a folder of shards, and what each cut lost
  train           train the policy on shards
  eval retrieval  measure retrievers on a split: metrics, table, plots

Example: kgscout prep world --out shards/ && kgscout train --shards shards/ --run run/
"""


def main(args: Sequence[str] | None = None) -> int:
    """Run the ``kgscout`` command; returns the exit code."""
    args = list(sys.argv[1:] if args is None else args)
    commands: dict[str, Callable[[Sequence[str], str], int]] = {
        "prep": prep_main,
        "inspect": inspect_main,
        "train": train_main,
        "eval": eval_main,
    }
    if not args or args[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0 if args else 2
    if args[0] == "--version":
        from kgscout_jax import __version__

        print(__version__)
        return 0
    if args[0] not in commands:
        return guarded(lambda: _unknown(args[0], list(commands)))
    return commands[args[0]](args[1:], f"kgscout {args[0]}")


def _unknown(found: str, expected: Sequence[str]) -> int:
    raise UserError(f"unknown command {found!r}, expected one of {', '.join(expected)}")


def prep_main(args: Sequence[str], prog: str) -> int:
    """Prepare shards."""
    from data_prep.__main__ import main as data_prep_main

    return data_prep_main(args, prog)


def inspect_main(args: Sequence[str], prog: str) -> int:
    """Print what is in a folder of shards."""
    from data_prep.__main__ import inspect_main as data_prep_inspect

    return data_prep_inspect(args, prog)


def train_main(args: Sequence[str], prog: str) -> int:
    """Train the policy."""

    def work() -> None:
        from kgscout_jax.learn.config import TrainConfig

        config = parse(TrainConfig, args, prog)
        from kgscout_jax.setup import setup_jax

        setup_jax()
        from kgscout_jax.learn.loop import train

        train(config)

    return guarded(work)


def eval_main(args: Sequence[str], prog: str) -> int:
    """Measure: ``retrieval``."""
    args = list(args)
    if args[:1] != ["retrieval"]:
        if args[:1] in (["-h"], ["--help"]):
            print(f"usage: {prog} retrieval ...   ({prog} retrieval --help says more)")
            return 0
        found = args[0] if args else "nothing"
        return guarded(lambda: _unknown(found, ["retrieval"]))
    return guarded(lambda: _eval_retrieval(args[1:], f"{prog} retrieval"))


def _eval_retrieval(args: Sequence[str], prog: str) -> None:
    from kgscout_jax.evaluate.settings import RetrievalSettings

    settings = parse(RetrievalSettings, args, prog)
    from kgscout_jax.setup import setup_jax

    setup_jax()
    from kgscout_jax.evaluate.run import evaluate_run

    evaluate_run(settings)
