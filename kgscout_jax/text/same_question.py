"""Questions whether two entities have the same of something.

"Do Ann and Bo have the same employer", "was Ann born in the same city as Bo", "is Ann's
employer that of Bo".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.question_clause import topic_as_one

_VERBS = {"do": "does", "did": "does", "are": "is", "were": "was"}
"""A verb of two -> that of one."""
_PLACE = "@"
"""Stands for a topic in the forms below."""
_NOUN = "(?P<noun>[^@]+?)"
_OWN = "(?:its|his|her|their|the|an?)"
_SAME = "(?:the (?:very )?same|a common|one)"
_EQUAL = "(?:the same(?: as)?|identical(?: to| with)?|equal(?: to)?)"
_THAT = "(?:the one|the ones|that|those|the (?P=noun))"
_BETWEEN = frozenset("border borders boundary frontier".split())
"""What two share that lie side by side: no third one has it."""
_OF_NOUN = [
    re.compile(form)
    for form in (
        rf"(?:do|did|have) @ and @ (?:have |share )?{_SAME} {_NOUN}",
        rf"(?:do|did) @ and @ share (?:{_OWN} )?{_NOUN}(?: in common)?",
        rf"(?:does|did) @ (?:share|have) {_SAME} {_NOUN} (?:with|as) @",
        rf"(?:does|did) @ share {_OWN} {_NOUN} with @",
        rf"(?:is|are|was|were) the {_NOUN} of @ (?:also )?(?:{_EQUAL} )?{_THAT} of @",
        rf"(?:is|are|was|were) the {_NOUN} of @ {_EQUAL} @ s(?: (?P=noun))?",
        rf"(?:is|are|was|were) @ s {_NOUN} (?:{_EQUAL} )?(?:{_THAT} of @|@ s)",
        rf"(?:is|are|was|were) @ s {_NOUN} {_EQUAL} @ s (?P=noun)",
        rf"(?:is|are|was|were) the {_NOUN} of @ and (?:{_THAT} )?(?:of )?@ {_EQUAL}",
    )
]
_OF_VERB = [
    re.compile(form)
    for form in (
        r"(?P<verb>do|did|are|were) @ and @ (?P<said>[^@]+?) the same (?P<noun>[^@]+)",
        r"(?P<verb>does|did|is|was) @ (?P<said>[^@]+?) the same (?P<noun>[^@]+) as @",
    )
]


def same_questions(words: Sequence[str]) -> list[list[str]]:
    """The questions for what one of them has, the first that states a relation counts.

    [] for other questions.

    Args:
        words: of the question, ``TOPIC`` for those of its topics' names.

    >>> same_questions("do  and  have the same home town".split(" "))
    [['the', 'home', 'town', 'of', '']]
    >>> same_questions("is  s home town the same as that of ".split(" "))
    [['the', 'home', 'town', 'of', '']]
    >>> for words in same_questions("do  and  play for the same club".split(" ")):
    ...     " ".join(word or "X" for word in words)
    'the club of X'
    'what club does X play for'
    'what does X play for'
    >>> same_questions("is the capital of  the same as ".split(" "))
    []
    >>> same_questions("does  share a border with ".split(" "))
    []
    """
    text = " ".join(word or _PLACE for word in topic_as_one(words))
    if text.count(_PLACE) != 2:
        return []
    for form in _OF_NOUN:
        found = form.fullmatch(text)
        if found and found["noun"] not in _BETWEEN:
            return [["the", *found["noun"].split(), "of", TOPIC]]
    for form in _OF_VERB:
        if found := form.fullmatch(text):
            verb = _VERBS.get(found["verb"], found["verb"])
            rest, noun = [verb, TOPIC, *found["said"].split()], found["noun"].split()
            of_noun = ["the", *noun, "of", TOPIC]
            return [of_noun, ["what", *noun, *rest], ["what", *rest]]
    return []
