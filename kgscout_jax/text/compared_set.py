"""What a question compares, where words beside its topic say it.

"Which of the packages that curl depends on is the largest" compares what curl depends
on, "the oldest of the children of Ann" the children of Ann.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.stated_relation import topic_as_one
from kgscout_jax.text.words import FUNCTION_WORDS

_RELATIVE = frozenset("that which who whom".split())
_BEGIN = frozenset("the which what".split())
_NOUNS = 3
"""Words of a noun."""


def compared_set(words: Sequence[str]) -> list[str]:
    """A question for what is compared, of one clause or one noun; [] for none.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> compared_set(["the", "packages", "that", TOPIC, "depends", "on", "is"])
    ['what', 'does', '', 'depends', 'on']
    >>> compared_set(["which", "of", "the", "children", "of", TOPIC, "is", "tallest"])
    ['the', 'children', 'of', '']
    """
    tokens = topic_as_one(words)
    if tokens.count(TOPIC) != 1:
        return []
    at = tokens.index(TOPIC)
    before, after = tokens[:at], tokens[at + 1 :]
    if before[-1:] and before[-1] in _RELATIVE:
        verb = after[: 2 if after[1:2] and after[1] in PREPOSITIONS else 1]
        return ["what", "does", TOPIC, *verb] if verb else []
    if before[-1:] != ["of"]:
        return []
    start = max((i for i, word in enumerate(before) if word in _BEGIN), default=at) + 1
    noun = before[start:-1]
    if not 0 < len(noun) <= _NOUNS or not FUNCTION_WORDS.isdisjoint(noun):
        return []
    return ["the", *noun, "of", TOPIC]
