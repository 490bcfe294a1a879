"""The ``kgscout`` command and the thin entry points: parse, then hand over.

Nothing heavy is imported before the arguments are known to be good.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.errors import UserError

USAGE = """\
usage: kgscout COMMAND ...        (kgscout COMMAND --help says more)

  prep SOURCE     turn a data set or your own graph into a folder of shards
  graph           index triplet files, of any size, as a folder that opens at once
  inspect SHARDS  what is in a folder of shards, and what each cut lost
  train           train the policy on shards
  runs RUN        the state of a training run, or of several, and their curves
  eval retrieval  measure retrievers on a split: metrics, table, plots
  eval answers    answer a split with a reader, or judge a file of predictions
  export RUN OUT  write what inference needs of a run, and nothing else
  retrieve OUT    the triplets for a file of questions, without gold answers
  ask OUT         answer one question from a graph, with the evidence and a picture
  serve OUT       answer HTTP requests: /retrieve, /answer, /healthz, /metrics
  mcp OUT         be a tool of a language model (Model Context Protocol)
  push OUT REPO   pass an exported policy on, to the Hugging Face hub or a folder

Example: kgscout prep world --out shards/ && kgscout train --shards shards/ --run run/
"""


def main(args: Sequence[str] | None = None) -> int:
    """Run the ``kgscout`` command; returns the exit code."""
    args = list(sys.argv[1:] if args is None else args)
    commands: dict[str, Callable[[Sequence[str], str], int]] = {
        "prep": prep_main,
        "inspect": inspect_main,
        "graph": graph_main,
        "train": train_main,
        "runs": runs_main,
        "eval": eval_main,
        "export": export_main,
        "retrieve": retrieve_main,
        "ask": ask_main,
        "serve": serve_main,
        "mcp": mcp_main,
        "push": push_main,
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


def graph_main(args: Sequence[str], prog: str) -> int:
    """Build or change a GRAPH folder."""
    from data_prep.__main__ import graph_main as data_prep_graph

    return data_prep_graph(args, prog)


def inspect_main(args: Sequence[str], prog: str) -> int:
    """Print what is in a folder of shards."""
    from data_prep.__main__ import inspect_main as data_prep_inspect

    return data_prep_inspect(args, prog)


def train_main(args: Sequence[str], prog: str) -> int:
    """Train the policy."""

    def work() -> None:
        from kgscout_jax.learn.config import TrainConfig

        config = parse(TrainConfig, args, prog)
        from kgscout_jax.utils.jax_memory import keep_memory
        from kgscout_jax.utils.jax_setup import setup_jax

        keep_memory()
        setup_jax()
        from kgscout_jax.learn.train import train

        train(config)

    return guarded(work)


def runs_main(args: Sequence[str], prog: str) -> int:
    """Show the state of runs."""

    def work() -> int:
        from kgscout_jax.runs.settings import RunsSettings

        settings = parse(RunsSettings, args, prog)
        from kgscout_jax.runs.show import show_runs

        return show_runs(settings)

    return guarded(work)


def eval_main(args: Sequence[str], prog: str) -> int:
    """Measure: ``retrieval`` or ``answers``."""
    args = list(args)
    kinds: dict[str, Callable[[Sequence[str], str], int | None]] = {
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
    from kgscout_jax.utils.jax_setup import setup_jax

    setup_jax()
    from kgscout_jax.evaluate.retrieval.run import evaluate_run

    evaluate_run(settings)


def _eval_answers(args: Sequence[str], prog: str) -> int:
    from kgscout_jax.evaluate.settings import AnswerSettings

    settings = parse(AnswerSettings, args, prog)
    if settings.predictions is not None and settings.run is settings.shards is None:
        from kgscout_jax.evaluate.answers.predictions import evaluate_predictions

        evaluate_predictions(settings)
        return 0
    if settings.run is settings.shards is None:
        raise UserError(
            f"neither --predictions nor --run, expected one (see {prog} --help)"
        )
    from kgscout_jax.utils.jax_setup import setup_jax

    setup_jax()
    from kgscout_jax.evaluate.answers.run import evaluate_answers

    return evaluate_answers(settings)


def export_main(args: Sequence[str], prog: str) -> int:
    """Write the directory that inference loads."""

    def work() -> None:
        from kgscout_jax.export.settings import ExportSettings

        settings = parse(ExportSettings, args, prog)
        from kgscout_jax.utils.jax_setup import setup_jax

        setup_jax()
        from kgscout_jax.export.write import export_run

        export_run(settings)

    return guarded(work)


def retrieve_main(args: Sequence[str], prog: str) -> int:
    """Retrieve triplets for a file of questions."""

    def work() -> int:
        from kgscout_jax.inference.settings import RetrieveSettings

        settings = parse(RetrieveSettings, args, prog)
        from kgscout_jax.utils.jax_setup import setup_jax

        setup_jax()
        from kgscout_jax.inference.batch import retrieve_file

        return retrieve_file(settings)

    return guarded(work)


def ask_main(args: Sequence[str], prog: str) -> int:
    """Answer one question."""

    def work() -> int:
        from kgscout_jax.inference.settings import AskSettings

        settings = parse(AskSettings, args, prog)
        from kgscout_jax.utils.jax_setup import setup_jax

        setup_jax()
        from kgscout_jax.cli.ask import ask

        return ask(settings)

    return guarded(work)


def push_main(args: Sequence[str], prog: str) -> int:
    """Pass an exported policy on."""

    def work() -> None:
        from kgscout_jax.inference.settings import PushSettings

        settings = parse(PushSettings, args, prog)
        from kgscout_jax.utils.jax_setup import setup_jax

        setup_jax()
        from kgscout_jax.export.hub import push

        where = push(
            settings.policy,
            settings.repo,
            private=not settings.public,
            overwrite=settings.overwrite,
        )
        print(f"pushed to {where}")

    return guarded(work)


def serve_main(args: Sequence[str], prog: str) -> int:
    """Serve an exported policy over HTTP."""

    def work() -> int:
        from kgscout_jax.serve.settings import ServeSettings

        settings = parse(ServeSettings, args, prog)
        try:
            from kgscout_jax.serve.server import serve
        except ModuleNotFoundError as error:
            raise _without(error, "serve") from None
        return serve(settings)

    return guarded(work)


def mcp_main(args: Sequence[str], prog: str) -> int:
    """Serve an exported policy as a tool of a language model."""

    def work() -> int:
        from kgscout_jax.serve.settings import McpSettings

        settings = parse(McpSettings, args, prog)
        try:
            from kgscout_jax.serve.mcp_server import serve_mcp
        except ModuleNotFoundError as error:
            raise _without(error, "mcp") from None
        return serve_mcp(settings)

    return guarded(work)


def _without(error: ModuleNotFoundError, extra: str) -> Exception:
    """What to tell of a library that is not installed; our own modules always are."""
    if (error.name or "").startswith("kgscout_jax"):
        return error
    return UserError(
        f"{error.name} is not installed: pip install 'kgscout-jax[{extra}]'"
    )
