"""Common nouns of a question: "hut" in "which hut was built first" names no hut.

The rules read the words around it, because no list of nouns holds them all. They are
for English.
"""

from __future__ import annotations

from kgscout_jax.graph.link.question_tokens import QuestionTokens
from kgscout_jax.graph.link.stop_words import (
    GRAMMAR,
    PREPOSITIONS,
    STOP_WORDS,
)
from kgscout_jax.text.kinds import is_past, listed_words, noun_kind, singular_form
from kgscout_jax.text.value_words import SUPERLATIVES, adjective, is_comparing
from kgscout_jax.text.words import ARTICLES

_QUANTIFIERS = frozenset("all any few many most several some these those".split())
_PASTS = frozenset(
    "sold bought flew drew grew wore drove fought spoke chose brought sent lent caught "
    "began sank threw rode stole got had made took gave held ran met lost ate".split()
)
"""Past forms that have no ending."""
MOST_WORDS = 3
"""Words that one noun may consist of."""
_BEGUN = frozenset("that which who whose with without".split())
"""Words behind a noun that a question begins with."""
_CLAUSES = frozenset("of by that which who whose".split())
"""Words that say which ones are meant: "the games of Dana Wolfe"."""


def is_asked_noun(question: QuestionTokens, first: int, last: int) -> bool:
    """Whether words ``first`` to ``last`` surely say what kind of thing is asked for.

    They follow "which" or "what", a quantifier in the plural, or a superlative, or
    begin a question without any: "firms with more than 10 employees", "rivers over".
    """
    after = question.words[last + 1 : last + 2]
    if first == 0:
        begins = not _BEGUN.isdisjoint(after) or any(map(is_comparing, after))
        return _is_plural(question, last) and begins
    small = all(_is_small(question, i) for i in range(first, last + 1))
    if not small or question.words[last] in STOP_WORDS:
        return False
    begins = last < MOST_WORDS and STOP_WORDS.isdisjoint(question.words[:last])
    if begins and _is_plural(question, last) and _BEGUN.issuperset(after):
        return True  # "Swiss firms"
    while _is_noun_before(question, first, last):
        first -= 1
    before = question.words[first - 1]
    if _is_plural(question, last) and not _noun_follows(question, last):
        asks = before in _QUANTIFIERS or before == "which"
        return asks or _is_what(question, first - 1) or _is_superlative(before)
    asks = before in ("which", "every", "each") or _is_what(question, first - 1)
    return (asks or _is_superlative(before)) and _ends_noun(question, last)


def _is_noun_before(question: QuestionTokens, first: int, last: int) -> bool:
    """Whether the word before a phrase belongs to it: "stock" before "exchanges"."""
    before = question.words[first - 1]
    if (
        first < 2
        or last - first >= MOST_WORDS - 1
        or not _is_small(question, first - 1)
    ):
        return False
    counts = before in STOP_WORDS or before in _QUANTIFIERS or _is_superlative(before)
    return not counts and not _ends_noun(question, first - 1)


def is_modified_noun(question: QuestionTokens, i: int, name: str) -> bool:
    """Whether word ``i`` is one of a kind that a noun tells from others: "department"
    in "the dermatology department", where ``name`` has no such word."""
    if i < 2 or not (_is_small(question, i) and _is_small(question, i - 1)):
        return False
    kind = question.words[i - 1]
    tells = kind not in STOP_WORDS and kind not in name.casefold().split()
    return tells and question.words[i - 2] in ARTICLES


def is_described_noun(question: QuestionTokens, i: int) -> bool:
    """Whether word ``i``, beside a name, is rather a kind of thing than a name.

    "The games of", "the nuclear spin of", and "the studio" where other words have
    capitals.
    """
    if not _is_small(question, i):
        return False
    before = question.words[i - 1] if i else ""
    after = question.words[i + 1 : i + 2]
    if before in ("which", "what"):
        return STOP_WORDS.issuperset(after) and not _noun_follows(question, i)
    if "of" in after and _begins_with_article(question, i):
        return True
    if not _is_plural(question, i) and before not in ARTICLES:
        return False
    if _CLAUSES.intersection(after):
        return True
    capitals = any(question.text[start].isupper() for start in question.starts[1:])
    return capitals and _ends_noun(question, i)


def _is_small(question: QuestionTokens, i: int) -> bool:
    """Whether a word has no capital, but for those of a plural such as "CVEs".

    What is joined to others, as in "mary_of_teck", is none.
    """
    start, stop = question.starts[i], question.stops[i]
    written = question.text[start:stop]
    if {"_", "-"}.intersection(question.text[max(start - 1, 0) : stop + 1]):
        return False
    plural_of_capitals = written[-1:] == "s" and written[:-1].isupper()
    return written[0].islower() or (plural_of_capitals and len(written) > 2)


def _begins_with_article(question: QuestionTokens, i: int) -> bool:
    """Whether a noun phrase of small words that ends at word ``i`` has an article."""
    while i and question.words[i - 1] not in STOP_WORDS and _is_small(question, i - 1):
        i -= 1
    return i > 0 and question.words[i - 1] in ARTICLES


def _is_plural(question: QuestionTokens, i: int) -> bool:
    """Whether a word has the ending of a plural."""
    return singular_form(question.words[i]) != question.words[i]


def _is_what(question: QuestionTokens, i: int) -> bool:
    """Whether a word is a "what" before a noun, unlike that of "say what he wrote"."""
    begins = i == 0 or question.words[i - 1] in PREPOSITIONS
    return question.words[i] == "what" and begins


def _is_superlative(word: str) -> bool:
    return word in SUPERLATIVES or adjective(word, "est") is not None


def _noun_follows(question: QuestionTokens, i: int) -> bool:
    """Whether word ``i`` stands before another noun: "steelers players"."""
    after = question.words[i + 1 : i + 2]
    if not after or after[0] in GRAMMAR or after[0] in listed_words("verbs"):
        return False
    return _is_plural(question, i + 1) or noun_kind(after[0]) != "thing"


def _ends_noun(question: QuestionTokens, i: int) -> bool:
    """Whether a verb, a function word or nothing stands behind word ``i``."""
    after = question.words[i + 1 : i + 2]
    word = "".join(after)
    verb = is_past(word) or word in _PASTS or word in listed_words("verbs")
    named = i + 2 < len(question) and not _is_small(question, i + 2)
    acts = named and _is_plural(question, i + 1)  # "which exchange lists Siemens"
    return verb or acts or GRAMMAR.issuperset(after)
