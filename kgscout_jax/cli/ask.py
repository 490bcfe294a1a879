"""Questions answered at the terminal: the answers, the evidence, the picture."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.settings import AskSettings
from kgscout_jax.reason.path_text import path_line
from kgscout_jax.types import Answer
from kgscout_jax.utils.progress import slow_step

if TYPE_CHECKING:
    from kgscout_jax.reason.readers.protocol import Reader

JOINERS = "\u200c\u200d"
"""Invisible, but part of words."""
MAX_NAME = 300
"""Characters of a name that are printed."""
MAX_PRINTED = 20
"""Answers that are printed."""


def ask(settings: AskSettings) -> int:
    """Answer the question of the settings, or those of standard input.

    Returns:
        1 if the model failed or, of several questions, one could not be answered.

    Raises:
        UserError: the policy, the graph or the only question cannot be read.
    """
    reader = model_reader(settings)
    with slow_step("reading the graph"):
        graph = open_graph(settings.kg, options=settings.read_options)
    with slow_step("loading the policy and its encoder"):
        scout = Scout.from_pretrained(settings.policy)
    selection = SelectionConfig(
        form=settings.form or ("answers" if scout.exported.has_answers else "lines"),
        min_probability=settings.min_probability,
    )
    selection.check(scout.exported)
    escape_unwritable_letters()
    terminal = Terminal(settings, scout, graph, selection, reader)
    if settings.question is not None:
        return terminal.answer(settings.question)
    failed = 0
    for question in standard_input_questions():
        try:
            failed |= terminal.answer(question)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            failed = 1
        print(flush=True)
    return failed


def standard_input_questions() -> Iterator[str]:
    """The questions that are typed at a prompt, or the lines of a pipe.

    Those of a pipe are printed, so that it is clear which answer belongs to which.
    """
    if not sys.stdin.isatty():
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        for line in sys.stdin:
            if question := line.strip():
                print(f"question: {escape(question)}")
                yield question
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 (input gets a history)
    print("A question a line; Ctrl-D ends.")
    while True:
        try:
            question = input("question: ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return
        if question:
            yield question


@dataclass(frozen=True)
class Terminal:
    """Answers questions from one graph and prints what was found."""

    settings: AskSettings
    scout: Scout
    graph: KnowledgeGraph
    selection: SelectionConfig
    reader: Reader | None

    def answer(self, question: str) -> int:
        """Print answers and evidence, write the picture; 1 if the model failed, else 0.

        Raises:
            UserError: the question cannot be answered, or the picture not be written.
        """
        settings, reader = self.settings, self.reader
        result = self.scout.retrieve(
            question,
            self.graph,
            settings.k,
            topics=settings.topic or None,
            selection=self.selection,
        )
        print_topics(result)
        if self.scout.exported.has_answers:
            print_answers(result)
        elif reader is None:
            print(
                "this policy gives evidence only: train one with answers, or give --llm"
            )
        print_evidence(result)
        reading = None if reader is None else reader.read([result.evidence()])[0]
        answers = None
        if reader is not None and reading is not None:
            if reading.outcome == "error":
                print(f"no answer: {short_name(reading.error or 'the model failed')}")
            else:
                names = "; ".join(map(short_name, reading.answers))
                print(f"answer ({escape(reader.name)}): {names or 'none found'}")
            answers = reading.answers or None
        result.to_html(settings.html, answers=answers)
        print(f"picture: {escape(str(settings.html))}")
        return int(reading is not None and reading.outcome == "error")


def model_reader(settings: AskSettings) -> Reader | None:
    """The language model that answers; None where none is named.

    Raises:
        UserError: the settings cannot work, or a library is missing.
    """
    if settings.llm is None or settings.model is None:
        return None
    from kgscout_jax.reason.readers import make_reader

    return make_reader(settings.llm, settings.model, key_env=settings.key_env)


def print_topics(result: RetrievalResult) -> None:
    """Print where the search started."""
    how = {link.name: f" ({link.how}, {link.score:.2f})" for link in result.links}
    topics = ", ".join(short_name(name) + how.get(name, "") for name in result.topics)
    print(f"topics: {topics or 'none found in the graph'}")
    if result.topics_not_found:
        print(
            f"not in the graph: {', '.join(map(short_name, result.topics_not_found))}"
        )


def print_answers(result: RetrievalResult) -> None:
    """Print the answers of the graph with their probabilities, and below each its path.

    Where the policy is not sure, its guesses in one line.
    """
    if result.abstained:
        guesses = "; ".join(map(with_probability, result.best_guesses))
        print(f"not sure; best guesses: {guesses or 'none'}")
        return
    shown = [*result.answers, *(result.support if result.kind == "count" else ())]
    for place, answer in enumerate(shown[:MAX_PRINTED]):
        counted = result.kind == "count" and place
        print(f"{'  one of them' if counted else 'answer'}: {with_probability(answer)}")
        if answer.path:
            path = path_line(answer.path, answer.name)
            print(f"    {escape(path)}")
    if len(shown) > MAX_PRINTED:
        print(f"and {len(shown) - MAX_PRINTED} more")


def with_probability(answer: Answer) -> str:
    """A name and its probability."""
    return f"{short_name(answer.name)} ({answer.probability:.2f})"


def print_evidence(result: RetrievalResult) -> None:
    """Print a table of the triplets."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not result.triplets:
        print("no triplets")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, right in (("#", True), ("score", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for name in ("head", "relation", "tail"):
        table.add_column(name, overflow="fold")
    for rank, (*names, score) in enumerate(result.scored, start=1):
        # Text: what looks like markup in a name is not.
        cells = [Text(short_name(name)) for name in names]
        table.add_row(str(rank), f"{score:.2f}", *cells)
    Console().print(table)


def escape_unwritable_letters() -> None:
    """Write letters outside standard output's encoding as escapes, without an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def short_name(name: str) -> str:
    """A name as it is printed: escaped, and of a length that people read."""
    text = escape(name[: MAX_NAME + 1])
    return text if len(text) <= MAX_NAME else text[:MAX_NAME] + "…"


def escape(text: str) -> str:
    """The text with escapes for all that a terminal could take for a command."""
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode()
        for c in text
    )
