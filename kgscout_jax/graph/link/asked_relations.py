"""Words of a question that name a relation, though an entity is called the same.

"Does Fizz have a license" asks for the license of Fizz, not whether it is linked to the
keyword ``license``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kgscout_jax.graph.link.linker import Link
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.text.words import WORD

_HAD = re.compile(
    r"\b(?:have|has|had|there) +(?:an?|any) +(.+?)(?= +(?:for|of|in|on|at) |[?!.,]|$)",
    re.IGNORECASE,
)
"""What something has or not."""


def without_asked_relations(
    question: str, links: Sequence[Link], relations: Callable[[], RelationIndex]
) -> list[Link]:
    """The links but for those within a relation's name; ``relations`` may take long.

    All links where there would be none else.
    """
    had = _HAD.search(question)
    if had is None or not relations().has_name(WORD.findall(had[1].casefold())):
        return [*links]
    start, stop = had.span(1)
    others = [link for link in links if link.stop <= start or stop <= link.start]
    return others or [*links]
