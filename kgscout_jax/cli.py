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
  eval answers    judge a file of predicted answers by the rules of a paper
  export RUN OUT  write what inference needs of a run, and nothing else

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
        "export": export_main,
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
    """Measure: ``retrieval`` or ``answers``."""
    args = list(args)
    kinds: dict[str, Callable[[Sequence[str], str], None]] = {
        "retrieval": _eval_retrieval,
        "answers": _eval_answers,
    }
    if not args or args[0] not in kinds:
        if args[:1] in (["-h"], ["--help"]):
            print(f"usage: {prog} {'|'.join(kinds)} ...   (--help behind it says more)")
            return 0
        found = args[0] if args else "nothing"
        return guarded(lambda: _unknown(found, list(kinds)))
    return guarded(lambda: kinds[args[0]](args[1:], f"{prog} {args[0]}"))


def _eval_retrieval(args: Sequence[str], prog: str) -> None:
    from kgscout_jax.evaluate.settings import RetrievalSettings

    settings = parse(RetrievalSettings, args, prog)
    from kgscout_jax.setup import setup_jax

    setup_jax()
    from kgscout_jax.evaluate.run import evaluate_run

    evaluate_run(settings)


def _eval_answers(args: Sequence[str], prog: str) -> None:
    from kgscout_jax.evaluate.settings import AnswerSettings

    settings = parse(AnswerSettings, args, prog)
    from kgscout_jax.evaluate.answers import evaluate_predictions

    evaluate_predictions(settings)


def export_main(args: Sequence[str], prog: str) -> int:
    """Write the directory that inference loads."""

    def work() -> None:
        from kgscout_jax.export_settings import ExportSettings

        settings = parse(ExportSettings, args, prog)
        from kgscout_jax.setup import setup_jax

        setup_jax()
        from kgscout_jax.export import export_run

        export_run(settings)

    return guarded(work)
