"""An exploration at the terminal, with the sources of its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgscout_jax.cli.answer_text import short_name
from kgscout_jax.errors import escape
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.types import Triplet

if TYPE_CHECKING:
    from kgscout_jax.explore.settings import Exploration
    from kgscout_jax.graph.provenance import Source


def print_exploration(found: Exploration, graph: GraphOrStore, *, steps: bool) -> None:
    """Print the answer, the path and its sources; with ``steps`` each step too."""
    if steps:
        print("\n".join(map(escape, found.log().splitlines())))
    print(f"answer (exploration): {short_name(found.answer)}")
    for triplet in found.path:
        print(f"    {escape(' | '.join(triplet))}")
        for source in places(triplet, graph):
            print(f"        source: {escape(str(source))}")
    tokens = found.prompt_tokens + found.reply_tokens
    print(
        f"exploration: {found.outcome}, {found.tries} tries, {found.calls} requests, "
        f"{tokens} tokens, {found.malformed} malformed"
    )
    if found.error is not None:
        print(f"no answer: {short_name(found.error)}")


def exploration_object(found: Exploration, graph: GraphOrStore) -> dict[str, Any]:
    """The exploration as JSON values, its path with the sources."""
    record = found.to_dict()
    record["path"] = [
        {
            **dict(zip(("head", "relation", "tail"), triplet, strict=True)),
            **sources(triplet, graph),
        }
        for triplet in found.path
    ]
    return record


def sources(triplet: Triplet, graph: GraphOrStore) -> dict[str, Any]:
    """The sources of a triplet as the JSON field ``provenance``; {} if unknown."""
    if getattr(graph, "provenance", None) is None:
        return {}
    return {"provenance": [each.to_json() for each in places(triplet, graph)]}


def places(triplet: Triplet, graph: GraphOrStore) -> tuple[Source, ...]:
    """Where documents state a triplet; () if unknown."""
    provenance = getattr(graph, "provenance", None)
    return () if provenance is None else provenance.of(triplet)
