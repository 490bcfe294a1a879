"""Words of a question that name a relation, though an entity is called the same.

"Does Fizz have a license" asks for the license of Fizz, not whether it is linked to the
keyword ``license``; so do "what license does Fizz use" and "the same license".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kgscout_jax.graph.link.linker import Link
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.text.words import WORD

_NAMED = re.compile(
    r"\b(?:(?:have|has|had|there) +(?:an?|any)|the +same) +(.+?)"
    r"(?= +(?:for|of|in|on|at|as|with) |[?!.,]|$)"
    r"|\b(?:what|which) +(.+?)(?= +(?:do|does|did|is|are|was|were|has|have|had)\b)",
    re.IGNORECASE,
)
"""What something has or not, what two have alike, and what is asked for."""


def without_asked_relations(
    question: str, links: Sequence[Link], relations: Callable[[], RelationIndex]
) -> list[Link]:
    """The links but for those within a relation's name; ``relations`` may take long.

    All links where there would be none else.
    """
    others = [*links]
    for found in _NAMED.finditer(question):
        place = found.lastindex or 0
        if relations().has_name(WORD.findall(found[place].casefold())):
            start, stop = found.span(place)
            others = [x for x in others if x.stop <= start or stop <= x.start]
    return others or [*links]
