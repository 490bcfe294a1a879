"""The ``kgscout`` command: one table of commands, and the entry points over it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from kgscout_jax.cli.arguments import similar
from kgscout_jax.cli.runner import Command, guarded, run_command
from kgscout_jax.errors import UserError

COMMANDS: Mapping[str, Command] = {
    "prep": Command(
        "prep SOURCE",
        "turn a data set or your own graph into a folder of shards",
        "data_prep.settings:PrepSettings",
        "data_prep.__main__:prepare_and_inspect",
    ),
    "graph": Command(
        "graph",
        "index triplet files, of any size, as a folder that opens at once",
        "data_prep.graph_command:GraphSettings",
        "data_prep.graph_command:graph",
    ),
    "neighbourhood": Command(
        "neighbourhood",
        "the part of a graph, or of a SPARQL endpoint, around some entities",
        "data_prep.neighbourhood_command:NeighbourhoodSettings",
        "data_prep.neighbourhood_command:neighbourhood_folder",
    ),
    "perturb": Command(
        "perturb",
        "make mistakes in a graph on purpose: relations, tails, deletions",
        "kgscout_jax.perturb.settings:PerturbSettings",
        "kgscout_jax.perturb.command:perturb_graph",
        uses_jax=True,
    ),
    "ingest": Command(
        "ingest DOCS",
        "make a graph of documents: text, Markdown, HTML, PDF",
        "kgscout_jax.ingest.settings:IngestSettings",
        "kgscout_jax.ingest.run:ingest",
    ),
    "store": Command(
        "store import|export",
        "copy a graph into FalkorDB or Neo4j, or out of it",
        "kgscout_jax.stores.settings:StoreSettings",
        "kgscout_jax.stores.command:copy_graph",
    ),
    "inspect": Command(
        "inspect PATH",
        "what is in a folder of shards, or in a graph, and what it lacks",
        "data_prep.inspect_command:InspectSettings",
        "data_prep.inspect_command:inspect",
    ),
    "synth": Command(
        "synth GRAPH",
        "write questions with answers from a graph alone, to train on",
        "data_prep.synth.settings:SynthSettings",
        "data_prep.synth.run:synth",
    ),
    "fit": Command(
        "fit GRAPH",
        "a policy for a graph, without labels: synth, prep, train, export",
        "kgscout_jax.fit.settings:FitSettings",
        "kgscout_jax.fit.run:fit",
    ),
    "train": Command(
        "train",
        "train the policy on shards",
        "kgscout_jax.learn.config:TrainConfig",
        "kgscout_jax.cli.train:train",
    ),
    "runs": Command(
        "runs RUN",
        "the state of a training run, or of several, and their curves",
        "kgscout_jax.runs.settings:RunsSettings",
        "kgscout_jax.runs.show:show_runs",
    ),
    "eval retrieval": Command(
        "eval retrieval",
        "measure retrievers on a split: metrics, table, plots",
        "kgscout_jax.evaluate.settings:RetrievalSettings",
        "kgscout_jax.evaluate.retrieval.run:evaluate_run",
        uses_jax=True,
    ),
    "eval answers": Command(
        "eval answers",
        "answer a split with a reader, or judge a file of predictions",
        "kgscout_jax.evaluate.settings:AnswerSettings",
        "kgscout_jax.cli.eval_answers:eval_answers",
    ),
    "eval open": Command(
        "eval open",
        "answer open questions in several ways, and judge the answers",
        "kgscout_jax.okgqa.settings:OpenSettings",
        "kgscout_jax.okgqa.run:evaluate_open",
        uses_jax=True,
    ),
    "questions": Command(
        "questions",
        "write open questions about a graph with a language model, and score them",
        "kgscout_jax.okgqa.settings:QuestionSettings",
        "kgscout_jax.okgqa.writing.run:make_questions",
    ),
    "eval robustness": Command(
        "eval robustness",
        "measure retrievers on graphs with mistakes: figures against their share",
        "kgscout_jax.evaluate.robustness.settings:RobustnessSettings",
        "kgscout_jax.evaluate.robustness.run:measure_robustness",
        uses_jax=True,
    ),
    "export": Command(
        "export RUN OUT",
        "write what inference needs of a run, and nothing else",
        "kgscout_jax.export.settings:ExportSettings",
        "kgscout_jax.export.export_run:export_run",
        uses_jax=True,
    ),
    "retrieve": Command(
        "retrieve",
        "the triplets for a file of questions, without gold answers",
        "kgscout_jax.inference.settings:RetrieveSettings",
        "kgscout_jax.inference.batch:retrieve_file",
        uses_jax=True,
    ),
    "ask": Command(
        "ask QUESTION",
        "answer questions from a graph, with the evidence and a picture",
        "kgscout_jax.inference.settings:AskSettings",
        "kgscout_jax.cli.ask:ask",
        uses_jax=True,
    ),
    "verify": Command(
        "verify STATEMENT",
        "check statements: supported, contradicted or unknown in a graph",
        "kgscout_jax.verify.settings:VerifySettings",
        "kgscout_jax.cli.verify:verify",
    ),
    "serve": Command(
        "serve",
        "answer HTTP requests: /retrieve, /answer, /healthz, /metrics",
        "kgscout_jax.serve.settings:ServeSettings",
        "kgscout_jax.serve.server:serve",
    ),
    "mcp": Command(
        "mcp",
        "be a tool of a language model (Model Context Protocol)",
        "kgscout_jax.serve.settings:McpSettings",
        "kgscout_jax.serve.mcp_server:serve_mcp",
    ),
    "push": Command(
        "push POLICY REPO",
        "pass an exported policy on, to the Hugging Face hub or a folder",
        "kgscout_jax.inference.settings:PushSettings",
        "kgscout_jax.cli.push:push",
        uses_jax=True,
    ),
    "completion": Command(
        "completion SHELL",
        "complete commands and flags in bash, zsh or fish",
        "kgscout_jax.cli.completion:CompletionSettings",
        "kgscout_jax.cli.completion:print_completion",
    ),
}
EVALUATIONS = ("retrieval", "answers", "open", "robustness")


def main(args: Sequence[str] | None = None) -> int:
    """Run the ``kgscout`` command; returns the exit code."""
    args = list(sys.argv[1:] if args is None else args)
    if not args or args[0] in ("-h", "--help"):
        print(usage(), end="")
        return 0 if args else 2
    name, rest = args[0], args[1:]
    if name == "--version":
        from kgscout_jax import __version__

        print(__version__)
        return 0
    if name == "eval":
        return eval_main(rest, "kgscout eval")
    if name not in COMMANDS:
        names = dict.fromkeys(command.split()[0] for command in COMMANDS)
        return guarded(lambda: _unknown(name, list(names)))
    return run_command(COMMANDS[name], rest, f"kgscout {name}")


def train_main(args: Sequence[str], prog: str) -> int:
    """Train the policy; returns the exit code."""
    return run_command(COMMANDS["train"], args, prog)


def eval_main(args: Sequence[str], prog: str) -> int:
    """Evaluate one of ``EVALUATIONS``; returns the exit code."""
    if not args:
        return guarded(_no_evaluation)
    name = args[0]
    if name in ("-h", "--help"):
        print(
            f"usage: {prog} {'|'.join(EVALUATIONS)} ...   (--help behind it says more)"
        )
        return 0
    if name not in EVALUATIONS:
        return guarded(lambda: _unknown(name, EVALUATIONS))
    return run_command(COMMANDS[f"eval {name}"], args[1:], f"{prog} {name}")


def usage() -> str:
    """The help of ``kgscout`` itself: a line for each command."""
    lines = [f"  {each.usage:<17} {each.summary}" for each in COMMANDS.values()]
    return "\n".join(
        [
            "usage: kgscout COMMAND ...        (kgscout COMMAND --help says more)",
            "",
            *lines,
            "",
            "Example: kgscout prep world --out shards/ && "
            "kgscout train --shards shards/ --run run/",
            "",
        ]
    )


def _no_evaluation() -> int:
    names = ", ".join(EVALUATIONS)
    raise UserError(f"eval: found nothing behind it, expected one of {names}")


def _unknown(name: str, expected: Sequence[str]) -> int:
    names = ", ".join(expected)
    raise UserError(
        f"unknown command {name!r}, expected one of {names}{similar(name, expected)}"
    )
