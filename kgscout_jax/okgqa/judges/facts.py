"""Atomic facts of an answer: sentence by sentence, as FActScore and SAFE split it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgscout_jax.okgqa.judges.protocol import (
    JUDGED,
    NO_ANSWER,
    NO_FACTS,
    UNREADABLE,
    Item,
    text_of,
)
from kgscout_jax.okgqa.prompts import fill
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.prompts import prompt_text

FACTS_TOKENS = 200
_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"”’)\]]))\s+(?=[\"“‘(\[]?[^\W_a-zß-ÿ])")
_SHORT = re.compile(
    r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|ca|approx))\.$"
)
_WORD = re.compile(r"\w{4,}")
_FACT = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+(.+)$")


@dataclass(frozen=True)
class Facts:
    """What an answer states, or why that is unknown."""

    texts: tuple[str, ...]
    outcome: str
    """JUDGED, NO_ANSWER, NO_FACTS, or the failure of a sentence if all of them failed.
    """
    failed: int = 0
    """Sentences whose facts the model did not give."""
    invented: int = 0
    """Facts left out because no longer word of them is in the answer: small models
    repeat those of the prompt's examples."""


def sentences(text: str) -> list[str]:
    """The sentences of a text; initials and common abbreviations end none.

    >>> sentences("Dr. J. Smith was born in 1950. He moved to the U.S. in 1970! Why?")
    ['Dr. J. Smith was born in 1950.', 'He moved to the U.S. in 1970!', 'Why?']
    """
    out: list[str] = []
    for line in text.splitlines():
        start = len(out)
        for piece in _END.split(line.strip()):
            if len(out) > start and _SHORT.search(out[-1]):
                out[-1] += " " + piece
            elif piece:
                out.append(piece)
    return [one for one in out if any(c.isalpha() for c in one)]


def fact_lines(reply: str) -> list[str]:
    """The facts in a reply: its lines with a bullet or a number, without repeats.

    >>> fact_lines("Facts:\\n- A is B.\\n2. C is D.\\n- A is B.\\nDone")
    ['A is B.', 'C is D.']
    """
    found = [match[1] for line in reply.splitlines() if (match := _FACT.match(line))]
    texts = [prompt_text(text) for text in found]
    return list(dict.fromkeys(text for text in texts if text))


def is_of(fact: str, answer: str) -> bool:
    """Whether any word of a fact with four letters or more is in the answer.

    >>> is_of("Japan signed the treaty of Kyoto.", "Lima is the capital of Peru.")
    False
    """
    words = set(_WORD.findall(fact.lower()))
    return not words or bool(words & {*_WORD.findall(answer.lower())})


def atomic_facts(model: Model, items: Sequence[Item]) -> list[Facts]:
    """The facts of each item's answer, one request per sentence."""
    parts = [sentences(item.answer or "") for item in items]
    owner = [i for i, each in enumerate(parts) for _ in each]
    prompts = [
        fill("facts", sentence=prompt_text(text)) for each in parts for text in each
    ]
    replies = model.ask("atomic facts", prompts, max_tokens=FACTS_TOKENS)
    texts: list[list[str]] = [[] for _ in items]
    invented = [0] * len(items)
    failures: list[list[str]] = [[] for _ in items]
    for i, (reply,) in zip(owner, replies, strict=True):
        text, outcome = text_of(reply)
        found = fact_lines(text) if outcome == JUDGED else []
        if not found:
            failures[i].append(UNREADABLE if outcome == JUDGED else outcome)
        own = [fact for fact in found if is_of(fact, items[i].answer or "")]
        invented[i] += len(found) - len(own)
        texts[i] += own
    out = []
    for i, item in enumerate(items):
        unique = tuple(dict.fromkeys(texts[i]))
        if item.answer is None:
            outcome = NO_ANSWER
        elif not parts[i]:
            outcome = NO_FACTS
        else:
            outcome = JUDGED if unique else [*failures[i], NO_FACTS][0]
        out.append(Facts(unique, outcome, len(failures[i]), invented[i]))
    return out
