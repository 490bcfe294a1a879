"""Names of a question that a graph does not hold: nobody of it is called Casablanca.

What is found without them answers another question. A word with a capital is such a
name if no entity and no relation has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from kgscout_jax.graph.link.classes import is_class, tails_of
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.graph.link.index import equal_ranges
from kgscout_jax.graph.link.links import Link
from kgscout_jax.graph.link.question_tokens import tokenise_question
from kgscout_jax.graph.link.stop_words import GRAMMAR, STOP_WORDS
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.word_segmentation import word_costs

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

LEAST_SMALL = 2
"""Words without a capital from which on capitals tell something; one is enough that is
no word of grammar."""
SAMPLE = 1_000
"""The first names of a graph, which tell how it writes names."""
SHARE = 0.05
"""Share of identifiers among them, from which on others are missed."""
_CODE = re.compile(r"\b[a-z]\w*(?:[-_]\w+)+\b")
"""An identifier of several words in small letters."""
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w-]*[A-Z])[A-Za-z][\w-]*\d[\w-]*(?![\w-])")
"""An identifier of letters, a capital among them, and digits: JAK2, CLN-31."""
_LAST = re.compile(
    r"\b(?:with|for|of|in|at|to|by|from|on|against) (?:the |an? )?([a-z]{4,})\W*$"
)
"""What a question ends with, in small letters."""
_WORD = re.compile(r"[^\W\d_]+")
_OF_NAME = re.compile(r" (of|for) (?:the )?([^\W\d_]+)")
"""How a name goes on behind its first word."""
_OPENING = " \"'(\u201c\u2018"
_ENDS = (".", "?", "!", ":")
_TIMES = frozenset(
    "january february march april may june july august september october november "
    "december monday tuesday wednesday thursday friday saturday sunday".split()
)


def absent_names(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> tuple[str, ...]:
    """The names of a question that a graph does not hold.

    Args:
        question: the question.
        links: the entities that were found in it.
        graph: the graph.
    """
    unlinked = _absent_codes(question, links, graph) or _absent_noun(
        question, links, graph
    )
    if unlinked:
        return unlinked
    words = [*_WORD.finditer(question)]
    small = [word[0] for word in words if word[0].islower()]
    if len(small) < LEAST_SMALL and GRAMMAR.issuperset(small):
        return ()  # capitals tell nothing
    if called := _absent_member(question, links, graph):
        return called
    free = [
        word[0]
        for word in words[1:]
        if _is_name(word[0])
        and not question[: word.start()].rstrip(_OPENING).endswith(_ENDS)
        and not any(x.start <= word.start() and word.end() <= x.stop for x in links)
    ]
    if other := _other_names(question, links):
        return other
    if not free:
        return ()
    known = linker_of(graph).index.tables.words
    said = graph.relation_index.relations
    absent = []
    for word in dict.fromkeys(free):
        low, high = equal_ranges(known, tokenise_question(word).hashes)
        noun = base_noun(word.casefold())
        if not (high > low).all() and noun not in said and word.casefold() not in said:
            absent.append(word)
    return tuple(absent)


def _other_names(question: str, links: Sequence[Link]) -> tuple[str, ...]:
    """The names that were linked to others of which they share only a part: no
    Department of Music is the Department of Physics, and no King Lear King Duncan."""
    out = []
    for link in links:
        said = question[link.start : link.stop]
        words = [word for word in _WORD.findall(said) if _is_name(word)]
        known = [word.casefold() for word in _WORD.findall(link.name)]
        if link.how == "fuzzy" and len(words) > 1:
            found = [get_close_matches(word.casefold(), known, 1) for word in words]
            if any(found) and not all(found):
                out.append(said)
                continue
        rest = _OF_NAME.match(question, link.stop) if link.how == "fuzzy" else None
        if rest is None or f" {rest[1]} " not in link.name or rest[2].islower():
            continue
        own = [word.casefold() for word in _WORD.findall(link.name)]
        if not get_close_matches(rest[2].casefold(), own, 1):
            out.append(question[link.start : rest.end()])
    return tuple(out)


def _absent_member(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> tuple[str, ...]:
    """A name such as "Edinburgh Castle", where Edinburgh is no castle, and nothing else
    is named; () of other questions."""
    if len(links) != 2:
        return ()
    first, last = sorted(links, key=lambda link: link.start)
    name = question[first.start : last.stop]
    written = all(word[:1].isupper() for word in name.split())
    beside = question[first.stop : last.start] == " "
    if not (written and beside and is_class(graph, last.entity)):
        return ()
    is_other = is_class(graph, first.entity) or last.entity in tails_of(
        graph, first.entity
    )
    return () if is_other else (name,)


def _absent_codes(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> tuple[str, ...]:
    """Names such as ``billing-portal`` and ``CLN-31`` of a graph that has others of
    their form."""
    spans = [(link.start, link.stop) for link in links]
    sure = [(link.start, link.stop) for link in links if link.how != "fuzzy"]
    free = [
        match[0]
        for match in _CODE.finditer(question)
        if not any(b < match.end() and match.start() < e for b, e in sure)
        and not any(b <= match.start() and match.end() <= e for b, e in spans)
    ]
    marked = [
        match[0]
        for match in _IDENTIFIER.finditer(question)
        if not any(b <= match.start() and match.end() <= e for b, e in spans)
    ]
    if not (free or marked):
        return ()
    names = [str(graph.entities[i]) for i in range(min(len(graph.entities), SAMPLE))]
    codes = sum(_CODE.fullmatch(name) is not None for name in names)
    forms = {_form(name) for name in names} if marked else set[str]()
    out = [each for each in marked if _form(each) in forms]
    return (*(free if codes >= SHARE * len(names) else ()), *out)


def _form(name: str) -> str:
    """Where a name has capitals, small letters and digits.

    >>> _form("CLN-31"), _form("JAK2") == _form("EGFR1")
    ('A-9', True)
    """
    name = re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", name))
    return re.sub(r"\d+", "9", name)


def _absent_noun(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> tuple[str, ...]:
    """A rare noun at the end, as in "the genes associated with lupus", of a question
    that names nothing but kinds; () of other questions."""
    found = _LAST.search(question)
    if found is None or found[1] in word_costs():
        return ()
    if not all(is_class(graph, link.entity) for link in links):
        return ()
    word, said = found[1], graph.relation_index.relations
    low, high = equal_ranges(
        linker_of(graph).index.tables.words, tokenise_question(word).hashes
    )
    known = (high > low).all() or word in said or base_noun(word) in said
    return () if known else (word,)


def _is_name(word: str) -> bool:
    """Whether a word is written as a name, such as Rome and iPhone, and no month."""
    plain = word.casefold()
    return (
        len(word) > 2
        and any(map(str.isupper, word))
        and any(map(str.islower, word))
        and plain not in STOP_WORDS
        and plain not in _TIMES
    )
