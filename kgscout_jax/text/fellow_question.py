"""Questions for those that have the same as one: "who is on the same team as Ann"."""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.question_clause import topic_as_one
from kgscout_jax.text.yes_no_claim import yes_no_claim

_NOUN_WORDS = 3
"""Words of what they have in common, at most."""


def shared_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun, in singular, of what those that are asked for have in common with the
    topic; () for other questions.

    Args:
        words: of the question, see ``question_tokens``.

    >>> shared_noun(["who", "else", "is", "on", "the", "same", "team", "as", ""])
    ('team',)
    >>> shared_noun(["is", "", "on", "the", "same", "team", "as", ""])
    ()
    >>> shared_noun(["who", "is", "at", "the", "same", "time", "here"])
    ()
    """
    words = topic_as_one(words)
    if words.count(TOPIC) != 1 or words[-2:] != ["as", TOPIC] or "same" not in words:
        return ()
    noun = words[words.index("same") + 1 : -2]
    if not 0 < len(noun) <= _NOUN_WORDS or yes_no_claim(words):
        return ()
    return (*noun[:-1], base_noun(noun[-1]))
