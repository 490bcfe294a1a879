"""What the commands around a trained scout are asked to do: retrieve, ask, push."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from kgscout_jax.errors import UserError


def at_least_one(**values: int) -> None:
    """Raise UserError where a number is below 1."""
    for name, value in values.items():
        if value < 1:
            flag = name.replace("_", "-")
            raise UserError(f"--{flag}: found {value}, expected at least 1")


@dataclass(frozen=True, kw_only=True)
class RetrieveSettings:
    """Retrieve triplets for a file of questions, without gold answers.

    Example: kgscout retrieve policy/ --kg GRAPH --questions q.jsonl --out kept.jsonl

    A run that was stopped goes on with the same command. A question that fails becomes
    a line with the field error.
    """

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OUT")]
    """The exported policy: a folder, or owner/name on the Hugging Face hub."""
    kg: tuple[Path, ...]
    """Triplet files, or one GRAPH folder."""
    questions: Path
    """One JSON a line: id, question, and q_entity (a name or a list) where the topics
    are known; else they are linked. Plain or .gz."""
    out: Path
    """File to write: a line of JSON for each question, in their order."""
    k: int = 100
    """How many triplets at most."""
    target: float | None = None
    """Keep the fewest triplets that hold an answer with this chance, at most --k; needs
    a policy exported with --calibrate."""
    form: Annotated[Literal["lines", "paths"], tyro.conf.arg(aliases=["--forms"])] = (
        "lines"
    )
    """Triplets best first, or closed into paths from the topics, chain by chain."""
    token_budget: int | None = None
    """Keep as many triplets as a prompt of so many tokens holds, at most --k."""
    batch_size: int = 32
    """Questions at a time."""
    embed: Annotated[bool, tyro.conf.arg(name="embed")] = False
    """Embed all triplets of the graph first, once, and keep that beside a GRAPH folder;
    else those that the questions need."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Begin anew where there is a file already, or a part of one."""

    def __post_init__(self) -> None:
        at_least_one(k=self.k, batch_size=self.batch_size)
        if self.target is not None and not 0 < self.target < 1:
            raise UserError(
                f"--target: found {self.target}, expected a number between 0 and 1"
            )
        if self.token_budget is not None:
            at_least_one(token_budget=self.token_budget)


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """Answer a question from a graph, and show the triplets behind the answer.

    Example: kgscout ask policy/ --kg my.tsv "Who directed Heat?" --html heat.html
    """

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OUT")]
    """The exported policy: a folder, or owner/name on the Hugging Face hub."""
    question: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="QUESTION")]
    """The question, in quotes."""
    kg: tyro.conf.UseAppendAction[tuple[Path, ...]]
    """A triplet file or a GRAPH folder; give it again for further files."""
    topic: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """An entity that the question is about; give it again for further ones. Default:
    they are linked."""
    k: int = 30
    """How many triplets at most."""
    llm: str | None = None
    """Base URL of an OpenAI-compatible server, with the version:
    http://127.0.0.1:8080/v1. Default: the extractive reader, offline."""
    model: str | None = None
    """The model's name there."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; local servers need none."""
    html: Path = Path("ask.html")
    """The picture of the kept triplets."""

    def __post_init__(self) -> None:
        at_least_one(k=self.k)
        if (self.llm is None) != (self.model is None):
            given, other = ("llm", "model") if self.llm else ("model", "llm")
            raise UserError(f"--{given} without --{other}: expected both, or neither")


@dataclass(frozen=True, kw_only=True)
class PushSettings:
    """Pass an exported policy on: to the Hugging Face hub, or to another folder.

    Example: kgscout push policy/ my-name/my-scout
    """

    policy: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT")]
    """Folder of the exported policy."""
    repo: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="REPO")]
    """owner/name on the hub (log in first: hf auth login), or a folder such as ./copy.
    """
    public: Annotated[bool, tyro.conf.arg(name="public")] = False
    """A repository that is new may be seen by everybody."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Replace the exported policy that is in the folder."""
