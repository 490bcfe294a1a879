"""The part of a question that names what is compared: "the town with the most people".

"Who is the mayor of the largest town" compares towns, and asks for none of them. The
phrase stands for the town that is found, and the rest of the question asks about it.
The rules are for English.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kgscout_jax.text.kinds import base_noun, is_past
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.value_question_parser import NUMERALS, ORDINALS
from kgscout_jax.text.value_words import is_comparing, word_key
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, folded

_ASKING = frozenset("all find give list many name names one people show tell".split())
"""Content words of a question that ask for nothing else: "show me the"."""
_PREDICATE = re.compile(
    r"(?<!that )(?<!which )(?<!who )\b(?:has|have|had|is|are|was|were)\b"
)
"""A verb whose subject is what is asked for: "which town of the lake has"."""
_RANK = re.compile(
    rf"\b(?:top )?(?:{'|'.join((*ORDINALS, *NUMERALS))}|\d+) $", re.IGNORECASE
)
"""Before a superlative: "the second largest", "the three largest"."""
_WHICH_ONE = ("who ", "which ", "what ")
_SUPPORT = re.compile(r"\b(?:do|does|did) $")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|has|have|had) $")
_FULL_VERBS = frozenset("do have has had".split())
_NAMING = frozenset("called named".split())
_IDENTITY = re.compile(r"(?:which|what)\b[\w ]* (?:is|are|was|were) $")
"""Before a phrase, it asks for what is compared: "which place is the largest town"."""


class ComparedPhrase(NamedTuple):
    """Where a question names what it compares, and asks for something else."""

    start: int
    stop: int
    noun: str
    """What is compared."""
    verb: str = ""
    """What the rest of the question says of it, where that stands behind it."""

    def inner(self, question: str) -> str:
        """The question for what is compared."""
        return f"Which {self.noun} is {question[self.start : self.stop]}?"

    def outer(self, question: str, name: str) -> str:
        """The question about the one that is found."""
        return question[: self.start] + name + question[self.stop :]


def without_rank(question: str, asked: ValueQuestion) -> str:
    """The question without the number before a superlative: "the 10 largest towns"."""
    return _RANK.sub("", question[: asked.start]) + question[asked.start :]


def asks_behind(question: str, start: int) -> bool:
    """Whether a verb of the question stands behind a superlative that begins here.

    As in "where was the oldest one born" and "what does the oldest one cost".
    """
    before = _RANK.sub("", question[:start].casefold()).removesuffix("the ")
    return bool(_SUPPORT.search(before) or _PASSIVE.search(before))


def phrase_end(question: str, start: int) -> int:
    """Where the words of a superlative and its noun end that begin at ``start``."""
    words = _content(folded(question), start)
    return words[-1].end() if words else start


def compared_phrase(
    question: str, asked: ValueQuestion, keys: frozenset[str]
) -> ComparedPhrase | None:
    """The phrase for what is compared; None where that is what the question asks for.

    Args:
        question: the question.
        asked: what it wants of values.
        keys: of the words of the relations that are compared, see ``word_key``.

    >>> from kgscout_jax.text.value_question_parser import value_question
    >>> question = "Who is the mayor of the largest town?"
    >>> asked = value_question(question, [])
    >>> compared_phrase(question, asked, frozenset({"popul"})).inner(question)
    'Which town is the largest town?'
    >>> question = "Who was the first clerk hired?"
    >>> asked = value_question(question, [])
    >>> compared_phrase(question, asked, frozenset({word_key("hired")}))
    >>> question = "Which town has the largest population?"
    >>> asked = value_question(question, [])
    >>> compared_phrase(question, asked, frozenset({"popul"}))
    """
    text = folded(question)
    head = _RANK.sub("", text[: asked.start])
    if asked.is_superlative and head.endswith("the "):
        head = head.removesuffix("the ")
        words, verb = _before_verb(text, head, asked.start)
        # "Who was the first employee hired" asks for no more than the first.
        if word_key(verb) in keys and text.startswith(_WHICH_ONE):
            verb = ""
        noun = words[-1][0] if words else ""
        if noun and not is_comparing(noun) and word_key(noun) not in keys:
            phrase = ComparedPhrase(len(head), words[-1].end(), noun, verb)
            return _nested(text, phrase)
    articles = [*re.finditer(r"\bthe ", head)]
    if not articles:
        return None
    start = articles[-1].start()
    named = _content(head, articles[-1].end())
    if not named or _PREDICATE.search(head, start):
        return None
    words, verb = _before_verb(text, head[:start], asked.start)
    stop = words[-1].end() if words else asked.start
    return _nested(text, ComparedPhrase(start, stop, named[0][0], verb))


def _before_verb(text: str, before: str, start: int) -> tuple[list[re.Match[str]], str]:
    """The words from ``start`` on, and the verb of the question behind them.

    "Belong" in "does the tallest girl belong to", "born" in "was the oldest one born".
    """
    words = _content(text, start)
    behind = WORD.search(text, words[-1].end()) if words else None
    if len(words) < 3 or (behind and behind[0] in _FULL_VERBS):
        return words, ""
    last = words[-1][0]
    acts = _PASSIVE.search(before) and is_past(last) and last not in _NAMING
    return (words[:-1], last) if _SUPPORT.search(before) or acts else (words, "")


def _content(text: str, start: int) -> list[re.Match[str]]:
    """The words from ``start`` on up to a function word or a sign."""
    found: list[re.Match[str]] = []
    for word in WORD.finditer(text, start):
        apart = text[found[-1].end() : word.start()] != " " if found else False
        if word[0] in FUNCTION_WORDS or apart:
            break
        found.append(word)
    return found


def _nested(text: str, phrase: ComparedPhrase) -> ComparedPhrase | None:
    """The phrase, if the question before it asks for something else."""
    before = text[: phrase.start]
    others = {
        word
        for word in WORD.findall(before)
        if word not in FUNCTION_WORDS | _ASKING
        and base_noun(word) != base_noun(phrase.noun)
    }
    asks_more = phrase.verb or (others and not _IDENTITY.match(before))
    return phrase if asks_more else None
