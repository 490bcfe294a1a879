"""Where a question names some of its candidates' nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.inference.inputs import Candidates

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link


class Mention(NamedTuple):
    """A name in a question."""

    nodes: frozenset[int]
    """What it may mean."""
    start: int
    stop: int


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
            names = [re.escape(name_of(int(entity))) for entity in group]
            found = re.finditer(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", question, re.I)
            spans = [match.span() for match in found][:1]
        if nodes and spans:
            starts, stops = zip(*spans, strict=True)
            out.append(Mention(nodes, min(starts), max(stops)))
    return sorted(out, key=lambda each: each.start)
