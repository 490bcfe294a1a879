"""Questions about what a description stands for: "who taught the composer of Salome".

The description, "the composer of Salome", is a question of its own. Its answer takes
its place in the question. Words are read by position, without a grammar; the rules are
for English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kgscout_jax.text.between_noun import AUXILIARIES, VAGUE
from kgscout_jax.text.kinds import (
    base_verb,
    has_participle_ending,
    is_past,
    noun_kind,
    singular_form,
)
from kgscout_jax.text.nested_question import NestedQuestion
from kgscout_jax.text.question_clause import BE
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.words import FUNCTION_WORDS

_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_OWNER = re.compile(r"(?: ?['’]s|(?<=s)['’])(?=\s)")
_NOUN_OWNER = re.compile(r" ([a-z]+)(?:['’]s|(?<=s)['’])(?=\s)")
_ARTICLES = frozenset("the a an any all some every each our my your".split())
_RELATIVE = frozenset("that which who whom".split())
_ASKING = frozenset("who whom whose what which where when how many much".split())
_VAGUE = (VAGUE - {"many"}) | frozenset("full year years date set most".split())
"""Words that are neither asked for nor a step; "how many" asks."""
_STOPS = FUNCTION_WORDS | PREPOSITIONS
_ASKED_OF_NOTHING = FUNCTION_WORDS | _VAGUE | frozenset("else show find get".split())
MAX_NOUNS = 4
"""Words of a description before what joins it to the topic."""
MAX_CLAUSE = 5
"""Words of a clause between "that" and the topic, with "that"."""


class _Word(NamedTuple):
    """A word, casefolded, and where it stands in the question."""

    text: str
    begin: int
    end: int


def described_topic(question: str, topic: tuple[int, int]) -> NestedQuestion | None:
    """The two steps of a question about what a description stands for; None for others.

    Args:
        question: the question.
        topic: where the name of its one topic begins and ends; of several the first
            begins and the last ends.

    >>> found = described_topic("Who taught the composer of Salome?", (27, 33))
    >>> found.inner, found.outer("Richard Strauss")
    ('Who is the composer of Salome?', 'Who taught Richard Strauss?')
    >>> found = described_topic("Which city does Ann's boss work from?", (16, 19))
    >>> found.inner, found.outer("Bob")
    ("Who is Ann's boss?", 'Which city does Bob work from?')
    >>> question = "Who rules the country whose capital is Rome?"
    >>> found = described_topic(question, (39, 43))
    >>> found.inner, found.outer("Italy")
    ('Rome is the capital of which country?', 'Who rules Italy?')
    >>> found = described_topic("Salome composer's teacher", (0, 6))
    >>> found.inner, found.outer("Strauss")
    ('Who is the composer of Salome?', "Strauss's teacher")
    >>> described_topic("Who is the composer of Salome?", (23, 29))
    """
    begin, end = topic
    before = _words(question, 0, begin)
    owner = _OWNER.match(question, end)
    if owner is None and (noun := _NOUN_OWNER.match(question, end)):
        found = _of_noun(question, before, topic, noun)
    elif owner is not None:
        found = _owned(question, before, topic, owner.end())
    else:
        found = _joined(question, before, _words(question, end, len(question)), topic)
    if found is None:
        return None
    inner, (start, stop) = found
    nested = NestedQuestion(inner, question[:start], question[stop:])
    return nested if _asks_beyond(nested) else None


def _of_noun(
    question: str, before: Sequence[_Word], topic: tuple[int, int], noun: re.Match[str]
) -> tuple[str, tuple[int, int]]:
    """ "Heat director's wife": as of ``_owned``, the director of Heat."""
    asking = _asking(noun[1], has_article=False)
    inner = f"{asking} {noun[1]} of {question[slice(*topic)]}?"
    return inner, (_article(before, topic[0]), noun.end(1))


def _words(question: str, begin: int, end: int) -> list[_Word]:
    found = _WORD.finditer(question, begin, end)
    return [_Word(match[0].casefold(), *match.span()) for match in found]


def _owned(
    question: str, before: Sequence[_Word], topic: tuple[int, int], rest: int
) -> tuple[str, tuple[int, int]] | None:
    """ "Ann's boss": the inner question, and where the description stands."""
    nouns, is_owner = list[_Word](), False
    for word in _words(question, rest, len(question)):
        between = question[nouns[-1].end if nouns else rest : word.begin]
        if word.text in _STOPS or re.search(r"[^\s]", between):
            break
        nouns.append(word)
        if _OWNER.match(question, word.end):
            is_owner = True  # "Ann's boss's boss": no verb is among the nouns
            break
    if not is_owner:
        nouns = _without_verb(nouns, before)
    if not 0 < len(nouns) <= MAX_NOUNS:
        return None
    start, stop = _article(before, topic[0]), nouns[-1].end
    asking = _asking(nouns[-1].text)
    return f"{asking} {question[start:stop]}?", (start, stop)


def _without_verb(nouns: list[_Word], before: Sequence[_Word]) -> list[_Word]:
    """The words of a noun phrase without the verb of the question behind them."""
    helped = any(word.text in AUXILIARIES for word in before)
    while len(nouns) > 1 and is_past(nouns[-1].text):
        nouns, helped = nouns[:-1], False
    if helped and len(nouns) > 1:
        nouns = nouns[:-1]
    return nouns


def _joined(
    question: str,
    before: Sequence[_Word],
    after: Sequence[_Word],
    topic: tuple[int, int],
) -> tuple[str, tuple[int, int]] | None:
    """ "The composer of X", "the firm that X works for": as of ``_owned``."""
    words = [*before]
    while words and words[-1].text in _ARTICLES:
        words.pop()
    is_bare = len(words) == len(before)
    place = _joint(words, is_bare=is_bare) if words else None
    if place is None:
        return None
    end: int | None = topic[1]
    if is_bare and {word.text for word in words[place:]} <= _RELATIVE:
        end = _clause_end(after, words[:place])  # "the firm that X works for"
    start = _noun_start(question, words[:place])
    if start is None or end is None:
        return None
    inner = _inner(question, words, start, place, topic, end)
    return inner, (words[start].begin, end)


def _joint(words: Sequence[_Word], *, is_bare: bool) -> int | None:
    """The place of what joins a noun to the topic behind these words; None for none.

    Args:
        words: the words before the topic and its article.
        is_bare: whether it has no article.
    """
    last, n = words[-1].text, len(words)
    for i in range(n - 1, max(n - 1 - MAX_CLAUSE, 1), -1):
        if words[i].text in _RELATIVE:  # "the service that produces X"
            return i
        if words[i].text == "whose" and last in BE and i < n - 2:
            return i  # "the country whose capital is X"
        if words[i].text in _ARTICLES:
            break
    if last in PREPOSITIONS:
        has_participle = n > 2 and _is_participle(words[-2].text)
        return n - 1 - has_participle
    if last.endswith("ing") and n > 1:
        return n - 1
    if is_bare and n > 1 and words[-2].text == "the":
        return n  # "the firm X works for"
    return None


def _inner(
    question: str,
    words: Sequence[_Word],
    start: int,
    place: int,
    topic: tuple[int, int],
    end: int,
) -> str:
    """The question for a description.

    Args:
        question: the question.
        words: the words before the topic.
        start: the place of the first word of the description's noun phrase.
        place: that of what joins it to the topic.
        topic: where the topic begins and ends.
        end: where the description ends.
    """
    noun, has_article = words[place - 1], words[start].text in _ARTICLES
    if place == len(words) - 1 and words[place].text == "of":
        asking = _asking(noun.text, has_article)
        return f"{asking} {question[words[start].begin : end]}?"
    nouns = question[words[start + has_article].begin : noun.end]
    if end > topic[1]:
        return f"Which {nouns} {_clause(question, topic, end)}?"
    rest = question[words[place].begin : end]
    if words[place].text == "whose":
        own = question[words[place + 1].begin : words[-2].end]
        return f"{question[slice(*topic)]} is the {own} of which {nouns}?"
    if words[place].text in _RELATIVE:
        return f"Which {nouns} {question[words[place].end : end].strip()}?"
    if words[place].text.endswith("ing"):
        return f"Name the {nouns} {rest}."
    return f"Which {nouns} {_be(noun.text)} {rest}?"


def _clause(question: str, topic: tuple[int, int], end: int) -> str:
    """ "Ann works for" as a question asks it: "does Ann work for"."""
    rest = _words(question, topic[1], end)
    verb = next((word for word in rest if word.text not in _STOPS), rest[0])
    name, is_present = question[slice(*topic)], verb.text.endswith("s")
    base = base_verb(verb.text) or (singular_form(verb.text) if is_present else None)
    if rest[0].text in FUNCTION_WORDS or base is None:
        return question[topic[0] : end]
    helping = "does" if is_present else "did"
    return f"{helping} {name} {base}{question[verb.end : end]}"


def _is_participle(word: str) -> bool:
    return is_past(word) or has_participle_ending(word) or word.endswith("ing")


def _noun_start(question: str, before: Sequence[_Word]) -> int | None:
    """The place of the first word of the noun phrase that ends here; None for none."""
    for i in range(len(before) - 1, max(len(before) - 2 - MAX_NOUNS, -1), -1):
        text = before[i].text
        if text in _ARTICLES:
            return i if i < len(before) - 1 else None
        gap = (
            question[before[i].end : before[i + 1].begin] if i + 1 < len(before) else ""
        )
        if text in _STOPS or gap.strip():
            break
    if not before or before[-1].text in _STOPS | _VAGUE:
        return None
    noun = before[-1].text
    return len(before) - 1 if singular_form(noun) != noun else None


def _clause_end(after: Sequence[_Word], before: Sequence[_Word]) -> int | None:
    """Where the clause behind a topic ends: "the firm that Ann works for"."""
    content = [i for i, word in enumerate(after) if word.text not in _STOPS]
    if any(word.text in AUXILIARIES for word in before):
        if len(content) < 2:
            return None  # "what did the film Heat win"
        return after[content[-1] - 1].end
    return after[-1].end if content else None


def _article(before: Sequence[_Word], begin: int) -> int:
    """Where the description begins: "the" before an owner is of it."""
    return before[-1].begin if before and before[-1].text == "the" else begin


def _asking(noun: str, has_article: bool = True) -> str:
    """How the inner question begins."""
    who = "Who" if noun_kind(noun) == "person" else "What"
    return f"{who} {_be(noun)}{'' if has_article else ' the'}"


def _be(noun: str) -> str:
    plural = singular_form(noun) != noun and not noun.endswith("ss")
    return "are" if plural else "is"


def _asks_beyond(nested: NestedQuestion) -> bool:
    """Whether the question still asks something without the description."""
    before, after = (
        [word.text for word in _words(part, 0, len(part))]
        for part in (nested.before, nested.after)
    )
    if before and (before[-1] in _ASKING or before[-1] in ("and", "or")):
        return False  # "Which films by X won", "the age and the wife of X"
    content = [word for word in before if word not in _ASKED_OF_NOTHING]
    behind = [word for word in after if word not in _ASKED_OF_NOTHING]
    asked = next(
        (i for i, word in enumerate(before) if word in ("which", "what")), None
    )
    if asked is not None and asked < 2 and content:
        # "Which films of the director of X": the noun is what is asked for
        helped = any(word in AUXILIARIES for word in before)
        rest = [w for w in before[asked + 1 :] if w in _STOPS]
        return len(content) > 1 or (helped and bool(behind)) or bool(rest)
    if before and before[0] in ("where", "when"):
        return bool(content or behind or {*after} & PREPOSITIONS)
    asks = not {*before}.isdisjoint(_ASKING)
    is_owner = _OWNER.match(nested.after) is not None  # "Heat director's wife"
    return bool(content or (behind and (asks or (is_owner and not before))))
