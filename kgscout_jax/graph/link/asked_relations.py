"""Words of a question that name a relation, though an entity is called the same.

"Does Fizz have a license" asks for the license of Fizz, not whether it is linked to the
keyword ``license``; so do "what license does Fizz use", "the same license" and "who is
the account manager of Fizz", where somebody's title is Account Manager. "Hair", where
there is a relation ``hair_color``, is no misspelt ``fair``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kgscout_jax.graph.link.links import Link
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.text.words import WORD

_NAMED = re.compile(
    r"\b(?:(?:have|has|had|there) +(?:an?|any)|the +same) +(.+?)"
    r"(?= +(?:for|of|in|on|at|as|with) |[?!.,]|$)"
    r"|\b(?:is|are|was|were) +the +(.+?)(?= +(?:for|of) )"
    r"|\b(?:what|which) +(.+?)(?= +(?:do|does|did|is|are|was|were|has|have|had)\b)",
    re.IGNORECASE,
)
"""What something has or not, what two have alike, and what is asked for."""
_COMPARED = re.compile(
    r"\b(?:most|least|fewest|more|fewer|less|highest|lowest|largest|smallest) +(.+?)"
    r"(?= +(?:for|of|in|on|at|as|with|than) |[?!.,]|$)",
    re.IGNORECASE,
)
"""What is compared: nothing else need be named then."""


def without_asked_relations(
    question: str, links: Sequence[Link], relations: Callable[[], RelationIndex]
) -> list[Link]:
    """The links but for those within a relation's name; ``relations`` may take long.

    All of them where there would be none else, and nothing is compared. Corrected
    spellings of a relation's words are never kept.
    """

    def outside(pattern: re.Pattern[str], links: Sequence[Link]) -> list[Link]:
        others = [*links]
        for found in pattern.finditer(question):
            place = found.lastindex or 0
            start, stop = found.span(place)
            kept = [x for x in others if x.stop <= start or stop <= x.start]
            if len(kept) < len(others):
                words = WORD.findall(found[place].casefold())
                others = kept if relations().has_name(words) else others
        return others

    def is_misread(link: Link) -> bool:
        word = question[link.start : link.stop].casefold()
        if link.how != "fuzzy" or word in WORD.findall(link.name.casefold()):
            return False
        return word in relations().relations

    links = [link for link in links if not is_misread(link)]
    found = outside(_COMPARED, links)
    return outside(_NAMED, found) or found
