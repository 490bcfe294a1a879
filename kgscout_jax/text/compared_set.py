"""What a question compares, where words beside its topic say it.

"Which of the packages that curl depends on is the largest" compares what curl depends
on, "the oldest of the children of Ann" the children of Ann, "those with Ann as mentor"
whose mentor she is, "those with the same mentor as Ann" all who have one of hers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.question_clause import around_topic, leading_verb
from kgscout_jax.text.words import FUNCTION_WORDS

_RELATIVE = frozenset("that which who whom".split())
_BEGIN = frozenset("the which what same".split())
_HAVING = frozenset("have has having with".split())
_ENDS = FUNCTION_WORDS | _RELATIVE | _HAVING | frozenset(",;:")
"""Words that no noun holds."""
_PASSED = _ENDS | frozenset("among one ones other".split())
_NOUNS = 3
"""Words of a noun."""
_BEFORE = 2
"""Words before the set, such as "the oldest things"; more say another step."""


class ComparedSet(NamedTuple):
    """What is compared."""

    words: list[str]
    """A question for it, of one clause or one noun, see ``answer_ends``."""
    same: bool = False
    """Whether it is all that have what the question asks for, as the topic has."""


def compared_set(words: Sequence[str]) -> ComparedSet | None:
    """What is compared; None where no words say it.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> compared_set(["the", "packages", "that", TOPIC, "depends", "on", "is"]).words
    ['what', 'does', '', 'depends', 'on']
    >>> compared_set(["which", "of", "the", "sons", "of", TOPIC, "is", "oldest"]).words
    ['the', 'sons', 'of', '']
    >>> compared_set(["those", "with", TOPIC, "as", "mentor", ",", "who"]).words
    ['which', 'have', '', 'as', 'mentor']
    >>> compared_set(["which", "firm", "with", "the", "same", "owner", "as", TOPIC])
    ComparedSet(words=['the', 'owner', 'of', ''], same=True)
    """
    if (parts := around_topic(words)) is None:
        return None
    before, after = parts
    last = before[-1] if before else ""
    start = len(before)
    if last in _RELATIVE:
        noun = leading_verb(after)
        found = ComparedSet(["what", "does", TOPIC, *noun])
    elif last in _HAVING and after[:1] == ["as"]:
        noun = [*takewhile(lambda word: word not in _ENDS, after[1:])]
        found = ComparedSet(["which", "have", TOPIC, "as", *noun])
    elif last in ("of", "as"):
        start = max((i for i, w in enumerate(before) if w in _BEGIN), default=start)
        noun, same = before[start + 1 : -1], last == "as"
        found = ComparedSet(["the", *noun, "of", TOPIC], same)
        if same != (before[start : start + 1] == ["same"]):
            return None
    else:
        return None
    others = [word for word in before[:start] if word not in _PASSED]
    is_noun = 0 < len(noun) <= _NOUNS and _ENDS.isdisjoint(noun[:1])
    return found if is_noun and len(others) <= _BEFORE else None
