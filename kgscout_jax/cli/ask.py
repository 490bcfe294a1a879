"""One question answered at the terminal: the answer, the evidence, the picture."""

from __future__ import annotations

import io
import sys

from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.settings import AskSettings
from kgscout_jax.reason.readers import make_reader

JOINERS = "\u200c\u200d"
"""Invisible, but part of words."""
MAX_NAME = 300
"""Characters of a name that are printed."""


def ask(settings: AskSettings) -> int:
    """Print answers and evidence, write the picture; 1 if the reader failed, else 0.

    Raises:
        UserError: the policy, the graph or the question cannot be read.
    """
    reader = make_reader(settings.llm, settings.model, key_env=settings.key_env)
    graph = open_graph(settings.kg, options=settings.read_options)
    scout = Scout.from_pretrained(settings.policy)
    topics = settings.topic or None
    result = scout.retrieve(settings.question, graph, settings.k, topics=topics)
    (reading,) = reader.read([result.evidence()])
    result.to_html(settings.html, answers=reading.answers)
    print_evidence(result)
    if reading.outcome == "error":
        print(f"no answer: {short_name(reading.error or 'the reader failed')}")
    else:
        answers = "; ".join(map(short_name, reading.answers))
        print(f"answer ({escape(reader.name)}): {answers or 'none found'}")
    print(f"picture: {escape(str(settings.html))}")
    return int(reading.outcome == "error")


def print_evidence(result: RetrievalResult) -> None:
    """Print where the search started and a table of the triplets."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    escape_unwritable_letters()
    how = {link.name: f" ({link.how}, {link.score:.2f})" for link in result.links}
    topics = ", ".join(short_name(name) + how.get(name, "") for name in result.topics)
    print(f"topics: {topics or 'none found in the graph'}")
    if result.topics_not_found:
        print(
            f"not in the graph: {', '.join(map(short_name, result.topics_not_found))}"
        )
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
