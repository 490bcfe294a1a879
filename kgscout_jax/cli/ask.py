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
"""Not to be seen, but part of words."""
MAX_SHOWN = 300
"""Characters of a name that are printed."""


def ask(settings: AskSettings) -> int:
    """Print answers and evidence, write the picture; 1 if the reader failed, else 0.

    Raises:
        UserError: the policy, the graph or the question cannot be read.
    """
    reader = make_reader(settings.llm, settings.model, key_env=settings.key_env)
    graph = open_graph(settings.kg)
    scout = Scout.from_pretrained(settings.policy)
    topics = settings.topic or None
    found = scout.retrieve(settings.question, graph, settings.k, topics=topics)
    (reading,) = reader.read([found.evidence()])
    found.to_html(settings.html, answers=reading.answers)
    print_evidence(found)
    if reading.outcome == "error":
        print(f"no answer: {shown(reading.error or 'the reader failed')}")
    else:
        said = "; ".join(map(shown, reading.answers))
        print(f"answer ({plain(reader.name)}): {said or 'none found'}")
    print(f"picture: {plain(str(settings.html))}")
    return int(reading.outcome == "error")


def print_evidence(found: RetrievalResult) -> None:
    """Print where the search started and a table of the triplets."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    speakable()
    how = {link.name: f" ({link.how}, {link.score:.2f})" for link in found.links}
    topics = ", ".join(shown(name) + how.get(name, "") for name in found.topics)
    print(f"topics: {topics or 'none found in the graph'}")
    if found.topics_not_found:
        print(f"not in the graph: {', '.join(map(shown, found.topics_not_found))}")
    if not found.triplets:
        print("no triplets")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, right in (("#", True), ("score", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for name in ("head", "relation", "tail"):
        table.add_column(name, overflow="fold")
    for rank, (*names, score) in enumerate(found.scored, start=1):
        # Text: what looks like markup in a name is not.
        cells = [Text(shown(name)) for name in names]
        table.add_row(str(rank), f"{score:.2f}", *cells)
    Console().print(table)


def speakable() -> None:
    """Have letters that standard output cannot write written out, not raised."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def shown(name: str) -> str:
    """A name as it is printed: plain, and of a length that people read."""
    text = plain(name[: MAX_SHOWN + 1])
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def plain(text: str) -> str:
    """The text with what a terminal could take for a command written out."""
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode()
        for c in text
    )
