"""A result as text for a terminal: topics, answers, evidence, how it came about."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kgscout_jax.errors import escape
from kgscout_jax.inference.answer_kinds import SUPPORTED
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.result_view import NEAREST
from kgscout_jax.reason.path_text import path_line
from kgscout_jax.types import Answer

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link

MAX_NAME = 300
"""Characters of a name that are printed."""
MAX_PRINTED = 20
"""Answers, and rows of evidence, that are printed."""


def print_topics(result: RetrievalResult) -> None:
    """Print where the search started, and how the question was read."""
    if result.read_as:
        print(f"read as: {short_name(result.read_as)}")
    how = {link.name: f" ({link.how}, {link.score:.2f})" for link in result.links}
    topics = ", ".join(short_name(name) + how.get(name, "") for name in result.topics)
    compared = "none; the values of the whole graph were compared"
    none = compared if result.answers else "none found in the graph"
    print(f"topics: {topics or none}")
    if result.topics_not_found:
        print(
            f"not in the graph: {', '.join(map(short_name, result.topics_not_found))}"
        )


def print_answers(result: RetrievalResult) -> None:
    """Print the answers of the graph with their probabilities, and below each its path.

    Where the policy is not sure, its guesses in one line.
    """
    if result.nearest:
        print("not sure: without a topic no answer follows; name one with --topic")
        return
    if result.abstention_note:
        note = escape(result.abstention_note)
        print(f"not sure: {note[0].lower()}{note[1:]}")
        return
    if result.abstained:
        guesses = "; ".join(map(with_probability, result.best_guesses))
        print(f"not sure; best guesses: {guesses or 'none'}")
        return
    shown = [*result.answers, *(result.support if result.kind in SUPPORTED else ())]
    for place, answer in enumerate(shown[:MAX_PRINTED]):
        counted = result.kind in SUPPORTED and place
        print(f"{'  one of them' if counted else 'answer'}: {with_probability(answer)}")
        if answer.path:
            path = path_line(answer.path, answer.name)
            print(f"    {escape(path)}")
            print_sources(result, answer)
    if len(shown) > MAX_PRINTED:
        print(f"and {len(shown) - MAX_PRINTED} more")


def print_sources(result: RetrievalResult, answer: Answer) -> None:
    """Print where the triplets of an answer's path stand."""
    ranks = [result.triplets.index(each) for each in answer.path]
    for text in dict.fromkeys(map(result.source_text, ranks)):
        if text:
            print(f"    source: {escape(text)}")


def with_probability(answer: Answer) -> str:
    """A name and its probability."""
    return f"{short_name(answer.name)} ({answer.probability:.2f})"


def print_evidence(result: RetrievalResult, most: int | None = None) -> None:
    """Print a table of the triplets, or of the ``most`` best."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not result.triplets:
        note = escape(result.empty_note)
        print(f"no triplets: {note[0].lower()}{note[1:]}")
        return
    if result.nearest:
        print(NEAREST[0].lower() + NEAREST[1:])
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, right in (("#", True), ("score", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    sources = ("source",) if result.provenance or result.sources else ()
    for name in ("head", "relation", "tail", *sources):
        table.add_column(name, overflow="fold")
    for rank, (*names, score) in enumerate(result.scored[:most], start=1):
        # Text: what looks like markup in a name is not.
        names += [result.source_text(rank - 1)] * len(sources)
        cells = [Text(short_name(name)) for name in names]
        table.add_row(str(rank), f"{score:.2f}", *cells)
    Console().print(table)
    if (more := len(result) - len(result.scored[:most])) > 0:
        print(f"and {more} more triplets: --explain prints them, --html draws them")


def print_explanation(
    result: RetrievalResult, others: Sequence[Link], seconds: Mapping[str, float]
) -> None:
    """Print how a result came about.

    Args:
        result: of the question.
        others: the likeliest entities for its topics, chosen or not.
        seconds: of each step.
    """
    chosen = {(link.name, link.start) for link in result.links}
    for link in others:
        use = "topic" if (link.name, link.start) in chosen else "not chosen"
        words = short_name(result.question[link.start : link.stop])
        print(
            f"link: {words!r} -> {short_name(link.name)} "
            f"({link.how}, {link.score:.2f}): {use}"
        )
    print(f"considered: {result.n_candidates} triplets, selected: {len(result)}")
    if "presence" in result.selection:
        presence, target = result.selection["presence"], result.selection["target"]
        print(f"an answer is among them with {presence:.2f}, asked for {target:.2f}")
        print(f"calibrated on: {result.selection['calibration_graph']} graph")
    rank = {triplet: i for i, triplet in enumerate(result.triplets, start=1)}
    for answer in (*result.answers, *result.best_guesses)[:MAX_PRINTED]:
        places = ", ".join(f"#{rank[t]}" for t in answer.path if t in rank)
        print(f"path of {short_name(answer.name)}: {places or 'none'}")
    steps = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    print(f"time: {steps}")


def escape_unwritable_letters() -> None:
    """Write letters outside standard output's encoding as escapes, without an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def short_name(name: str) -> str:
    """A name as it is printed: escaped, and of a length that people read."""
    text = escape(name[: MAX_NAME + 1])
    return text if len(text) <= MAX_NAME else text[:MAX_NAME] + "…"
