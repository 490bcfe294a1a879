"""Stems of words: what the forms of one verb share."""

from __future__ import annotations

import re
from functools import lru_cache

from kgscout_jax.text.kinds import IRREGULAR_VERBS, verbs_of_agents

_SHORT_VERBS = {"died": "die", "dies": "die", "dying": "die", "met": "meet"}
_ENDING = re.compile(r"(ies|ied|ing|ed|es|(?<!s)s|e)$")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """What the forms of a regular verb share, and the base form of an irregular one.

    >>> stem("mentors"), stem("carried"), stem("carry"), stem("wrote")
    ('mentor', 'car', 'car', 'writ')
    """
    word = IRREGULAR_VERBS.get(word, _SHORT_VERBS.get(word, word))
    short = _ENDING.sub("", word)
    short = (short if len(short) > 2 else word).removesuffix("y")
    if len(short) > 3 and short[-1] == short[-2] and short[-1] not in "sl":
        short = short[:-1]  # preferred
    return short


@lru_cache(maxsize=1 << 14)
def agent_stem(noun: str) -> str:
    """The stem of the verb of a noun for its doers; "" for other nouns.

    >>> agent_stem("commander"), agent_stem("mentor"), agent_stem("number")
    ('command', 'mentor', 'numb')
    """
    if verb := verbs_of_agents().get(noun):
        return stem(verb)
    return stem(noun[:-2]) if len(noun) > 5 and noun.endswith(("er", "or")) else ""
