"""Where a question names some of its candidates' nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link


class Mention(NamedTuple):
    """A name in a question."""

    nodes: frozenset[int]
    """What it may mean."""
    start: int
    stop: int


def _span(question: str, name: str) -> tuple[int, int] | None:
    """Where a name stands in a question; None where it does not.

    Of an identifier ("concept_athlete_ann_lee") the longest run of its words counts.
    """
    words = [name]
    if len(name.split()) == 1 and len(parts := WORD.findall(name)) > 1:
        words = parts
    for size in range(len(words), 0, -1):
        for i in range(len(words) - size, -1, -1):
            run = words[i : i + size]
            if size < len(words) and FUNCTION_WORDS.issuperset(map(str.casefold, run)):
                continue
            pattern = r"[\W_]+".join(map(re.escape, run))
            if found := re.search(rf"(?<!\w){pattern}(?!\w)", question, re.IGNORECASE):
                return found.span()
    return None


def question_mentions(
    question: str,
    candidates: Candidates,
    groups: Sequence[Int[np.ndarray, "g"]],
    links: Sequence[Link],
    name_of: Callable[[int], str],
) -> list[Mention]:
    """The names of a question among its candidates, in their order.

    Args:
        question: the question.
        candidates: of it.
        groups: entities that each name may mean.
        links: of them; () for topics that the caller names.
        name_of: the name of an entity.
    """
    out = []
    for group in groups:
        nodes = frozenset(candidates.nodes_of(group).tolist())
        spans = [(x.start, x.stop) for x in links if x.entity in group]
        if not links:
            names = [name_of(int(entity)) for entity in group]
            spans = [span for name in names if (span := _span(question, name))][:1]
        if nodes and spans:
            starts, stops = zip(*spans, strict=True)
            out.append(Mention(nodes, min(starts), max(stops)))
    return sorted(out, key=lambda each: each.start)
