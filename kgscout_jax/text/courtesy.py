"""Words around a question that only ask for an answer: "could you tell me"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_POLITE = re.compile(
    r"^(?:please |hi |hello |hey |, )*"
    r"(?:(?:can|could|would|will) (?:you|anyone|anybody|someone|somebody) (?:please )?"
    r"(?:tell|show|give)(?: me| us)?|(?:i|we) (?:(?:want|need|wish) to|(?:would|d) "
    r"(?:like|love) to|wanna) know|let me know|please) (?:please )?"
)
_ASKS = re.compile(
    r"^(?:(?:please )?(?:tell|remind) (?:me|us)|(?:do|does) (?:you|anyone|anybody|"
    r"someone|somebody) (?:happen to )?know|(?:i|we) (?:wonder|(?:am|m) wondering)"
    r"|any idea|know) (?=(?:who|whom|whose|what|which|where|when|how) )"
)
_BEHIND = re.compile(r" (?:,? ?please|,? ?thanks|,? ?thank you)$")


def without_courtesy(words: Sequence[str]) -> list[str]:
    """The words of a question without those that only ask for an answer.

    >>> " ".join(without_courtesy("could you tell me who directed heat".split()))
    'who directed heat'
    >>> " ".join(without_courtesy("i want to know the director of heat".split()))
    'tell me the director of heat'
    >>> " ".join(without_courtesy("do you know what its budget is please".split()))
    'what its budget is'
    """
    text = " ".join(words)
    short = _ASKS.sub("", _POLITE.sub("tell me ", _BEHIND.sub("", text)))
    return [*words] if short == text else short.split(" ")
