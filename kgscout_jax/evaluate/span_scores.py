"""The measures of KG-RAG (section 5.3): EM, F1, accuracy, and hallucination twice.

The text defines a hallucinated answer by "the absence of perfect precision" and "the
presence of specific heuristic indicators, such as phrases like 'I don't know'". Read
literally, both must hold, so only answers that admit not to know could be hallucinated.
The figures of its table suggest the opposite: answers with foreign words that do *not*
admit it. Both readings are computed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgscout_jax.evaluate.answers.rules import normalize

UNSURE = re.compile(
    r"\b(do not know|don'?t know|cannot (find|answer|tell)|can'?t (find|answer|tell)|"
    r"could not find|unknown|not (stated|mentioned|provided|specified|available|given)|"
    r"no (information|answer)|i am sorry|i'?m sorry)\b",
    re.IGNORECASE,
)
"""What admits that the answer is not known."""


@dataclass(frozen=True)
class SpanScore:
    """The measures of one answer; each in [0, 1]."""

    exact: float
    f1: float
    accuracy: float
    """Any common word."""
    hallucination: float
    """Words that are not gold, without a word of doubt."""
    hallucination_literal: float
    """Words that are not gold, and a word of doubt: the text read literally."""


def span_score(answer: str, gold: Sequence[str]) -> SpanScore:
    """The measures of an answer against the gold answer that it fits best.

    Args:
        answer: a text; several answers in one.
        gold: spellings or answers that each would be right.
    """
    doubt = bool(UNSURE.search(answer))
    words = normalize(answer).split()
    best = (0.0, 0.0, 0.0)
    foreign = True
    for each in gold:
        wanted = normalize(each).split()
        common = sum((Counter(words) & Counter(wanted)).values())
        precision = common / len(words) if words else 0.0
        recall = common / len(wanted) if wanted else 0.0
        f1 = 2 * precision * recall / (precision + recall) if common else 0.0
        best = max(best, (float(words == wanted), f1, float(common > 0)))
        foreign &= precision < 1
    return SpanScore(*best, float(foreign and not doubt), float(foreign and doubt))
