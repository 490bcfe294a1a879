"""Questions whose answer is no entity: how many there are, and yes or no.

Counts ("how many") are answered by the size of a set of answers, unless the best
answer is a number that is asked for, see ``counts``.

Yes or no: "is X in Y?" names two entities or more, see ``yes_no``. A "no" says that the
walk does not arrive in this graph, not that the statement is false in the world.

Dates and other values are nodes of the graph, and answers like all others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Int

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link

AnswerKind = Literal["set", "count", "number", "yes_no"]
"""Entities; how many of them there are, or what their values give; or whether the walk
arrives at one."""
SUPPORTED = frozenset(("count", "number"))
"""Kinds of answers that are shown with the entities behind them."""
YES = 0.5
"""P(answer) of the named entity from which on the answer is yes."""
_YES_NO = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|can)\b", re.IGNORECASE
)


def asks_yes_no(question: str) -> bool:
    """Whether the question begins as one that is answered by yes or no."""
    return _YES_NO.match(question) is not None


def mentions(
    topics: Int[np.ndarray, "t"], links: Sequence[Link]
) -> list[Int[np.ndarray, "g"]]:
    """The topics grouped by the words of the question that name them.

    Links whose words overlap are readings of one name. Topics that the caller names
    are an entity each.

    Args:
        topics: entities.
        links: of the same entities; () for topics that the caller names.
    """
    if not links:
        return [np.array([topic], np.int32) for topic in dict.fromkeys(topics.tolist())]
    groups: list[list[int]] = []
    stop = -1
    for link in sorted(links, key=lambda link: link.start):
        if link.start >= stop:
            groups.append([])
        groups[-1].append(link.entity)
        stop = max(stop, link.stop)
    return [np.array(group, np.int32) for group in groups]
