"""Questions whether two entities have the same of something.

"Do Ann and Bo have the same employer", "were Ann and Bo born in the same city".
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.stated_relation import topic_as_one

_VERBS = {"do": "does", "did": "does", "are": "is", "were": "was"}
"""A verb of two -> that of one."""


def same_question(words: Sequence[str]) -> list[str]:
    """The question for what one of them has; [] for other questions.

    Args:
        words: of the question, ``TOPIC`` for those of its topics' names.

    >>> same_question("do  and  have the same home town".split(" "))
    ['the', 'home', 'town', 'of', '']
    >>> same_question("were  and  born in the same city".split(" "))
    ['what', 'was', '', 'born', 'in']
    """
    tokens = topic_as_one(words)
    verb = _VERBS.get(tokens[0]) if tokens else None
    if verb is None or tokens[1:4] != [TOPIC, "and", TOPIC] or "same" not in tokens:
        return []
    at = tokens.index("same")
    said, noun = tokens[4:at], tokens[at + 1 :]
    said = said[:-1] if said[-1:] == ["the"] else said
    if not said or not noun or TOPIC in (*said, *noun):
        return []
    if said in (["have"], ["share"]):
        return ["the", *noun, "of", TOPIC]
    return ["what", verb, TOPIC, *said]
