"""Words around a question that only ask for an answer: "could you tell me"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GREETING = re.compile(
    r"^(?:please |hi |hello |hey |, )+(?=(?:name|list|show|give|find|tell|identify|who"
    r"|whom|whose|what|which|where|when|how|is|are|was|were|do|does|did|has|have) )"
)
_POLITE = re.compile(
    r"^(?:please |hi |hello |hey |, )*"
    r"(?:(?:can|could|would|will) (?:you|anyone|anybody|someone|somebody) (?:please )?"
    r"(?:tell|show|give|find|list|name)(?: me| us)?|(?:i|we) (?:(?:want|need|wish) to"
    r"|(?:would|d) (?:like|love) to|wanna) know|let me know|please"
    r"|(?:i|we) (?:need|want)(?= the )|i m looking for|i am looking for"
    r"|we re looking for|we are looking for|looking for) (?:please )?"
)
_ASKS = re.compile(
    r"^(?:(?:please )?(?:tell|remind) (?:me|us)|(?:do|does) (?:you|anyone|anybody|"
    r"someone|somebody) (?:happen to )?know|(?:i|we) (?:wonder|(?:am|m) wondering)"
    r"|any idea|know) (?=(?:who|whom|whose|what|which|where|when|how) )"
)
_EMBEDDED = re.compile(r"^(who|what|where|when) (the [^,;:]+) (is|are|was|were)$")
_BEHIND = re.compile(
    r" (?:,? ?please|,? ?thanks|,? ?thank you|these days|nowadays|at the moment"
    r"|right now|at present|so far)$"
)


def without_courtesy(words: Sequence[str]) -> list[str]:
    """The words of a question without those that only ask for an answer.

    >>> " ".join(without_courtesy("could you tell me who directed heat".split()))
    'who directed heat'
    >>> " ".join(without_courtesy("i want to know the director of heat".split()))
    'tell me the director of heat'
    >>> " ".join(without_courtesy("do you know what its budget is please".split()))
    'what its budget is'
    >>> " ".join(without_courtesy("do you know who the head of heat is".split()))
    'who is the head of heat'
    >>> " ".join(without_courtesy("hey , please name the heads of heat".split()))
    'name the heads of heat'
    """
    text = " ".join(words)
    short = _GREETING.sub("", _BEHIND.sub("", text))
    asked = _ASKS.sub("", _POLITE.sub("tell me ", short))
    if asked != short:
        asked = _EMBEDDED.sub(r"\1 \3 \2", asked)
    short = asked
    return [*words] if short == text else short.split(" ")
