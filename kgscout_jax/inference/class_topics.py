"""Classes that a question's words name without being what it is about.

"Which river is the longest" compares rivers. Where the graph states the class of each
river in a triplet, ``River`` is an entity as well, and a walk from it would start at
all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.graph.link.classes import is_class, is_class_of_rows, tails_of
from kgscout_jax.inference.answer_kinds import asks_yes_no
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.text.asked_kind import SORT_OF, asked_kind
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.stems import stem
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

_OF_ONE = frozenset("of that which who whom whose where".split())
"""Words behind a noun that say which one is meant."""
_SORT = re.compile(rf"{SORT_OF}$")
_CALLED = re.compile(r"\s+(?:(?:called|named)\s+)?[\"'\u201c\u2018]?", re.I)
"""Between a class and the name of what is of it."""
_SUBJECT = re.compile(r"(?:which|what|how many)\s+(?:\w+\s+){1,2}", re.I)
"""What stands before a verb."""
_POSSESSIVE = re.compile(r"\b(?:her|his|its|their)\s+$")
_AT = re.compile(r"\s+(?:at|in|on|for|with|to|through|by)\s+(?:the\s+)?", re.I)


def without_class_topics(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> SearchStart:
    """The start without linked classes that are nouns of the question.

    Those are written small, or asked for. The same object where there are none.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    if not start.links:
        return start
    kind = asked_kind(text, [])
    nouns = {word for noun in (kind.nouns if kind else ()) for word in noun.split()}

    def is_noun(link: Link) -> bool:
        name = text[link.start : link.stop]
        words = WORD.findall(name.casefold())
        return name.islower() or nouns.issuperset(map(base_noun, words))

    classes = [
        link.entity
        for link in start.links
        if is_noun(link) and is_class(graph, link.entity)
    ]
    if not classes:
        return start
    return replace(
        start,
        ids=start.ids[~np.isin(start.ids, classes)],
        links=tuple(link for link in start.links if link.entity not in classes),
    )


def without_own_classes(
    question: str, links: Sequence[Link], graph: KnowledgeGraph
) -> list[Link]:
    """The links without classes that stand beside what is of them: "order 10248", "the
    ship called Astra", "the Astra ship".

    Nor is a class a topic that is a part of another noun, or whose one is meant: "the
    course code of Databases", "the office of the instructor of Databases", "who leads
    the project that Ann works on".

    Args:
        question: the question.
        links: of it.
        graph: the graph.
    """

    def is_part(link: Link) -> bool:
        behind = question[link.stop :].casefold()
        following = WORD.match(behind[1:]) if behind[:1] == " " else None
        return (
            question[link.start : link.stop].islower()
            and following is not None
            and is_class(graph, link.entity)
            and any(not is_class(graph, other.entity) for other in links)
            and (following[0] in _OF_ONE or is_of_relation(following[0]))
        )

    def is_of_relation(word: str) -> bool:
        said = stem(word)
        return any(said in map(stem, relation_words(r)) for r in graph.relation_names)

    def stand_beside(name: Link, link: Link) -> bool:
        """Whether at most a noun is between a name and its class: "the Rossio metro
        stop"."""
        between = question[name.stop : link.start]
        words = between.split()
        return between[:1].isspace() and (
            not words
            or (
                len(words) == 1
                and words[0].isalpha()
                and words[0] not in FUNCTION_WORDS
            )
        )

    def is_verb(link: Link) -> bool:
        """That "which lines stop at Rossio" names no stop."""
        at = _AT.match(question, link.stop)
        return (
            at is not None
            and any(each.start == at.end() for each in links)
            and _SUBJECT.fullmatch(question[: link.start]) is not None
            and not question[max(each.stop for each in links) :].strip(" ?.")
            and is_class(graph, link.entity)
        )

    def is_own(link: Link) -> bool:
        return any(
            (
                _CALLED.fullmatch(question[link.stop : other.start]) is not None
                or stand_beside(other, link)
            )
            and link.entity in tails_of(graph, other.entity)
            and is_class(graph, link.entity)
            for other in links
        )

    def is_held(link: Link) -> bool:
        """That a wine is one says nothing to "is Steilhang a German wine"."""
        others = [other.entity for other in links if not is_class(graph, other.entity)]
        return (
            asks_yes_no(question)
            and len(others) > 1
            and question[link.start : link.stop].islower()
            and is_class(graph, link.entity)
            and any(link.entity in tails_of(graph, other) for other in others)
        )

    def is_sorted(link: Link) -> bool:
        """That "what kind of ship is the White Stork" starts from no ship."""
        before = question[: link.start].casefold()
        return _SORT.search(before) is not None and is_class(graph, link.entity)

    def is_possessed(link: Link) -> bool:
        """That "who sold Ann her phone" asks for no list of phones."""
        before = question[: link.start].casefold()
        return (
            _POSSESSIVE.search(before) is not None
            and question[link.start : link.stop].islower()
            and any(not is_class(graph, other.entity) for other in links)
            and is_class(graph, link.entity)
        )

    def is_of_rows(link: Link) -> bool:
        """That "is there a road from Arden to Bray" asks for no list of roads."""
        return (
            question[link.start : link.stop].islower()
            and any(not is_class(graph, other.entity) for other in links)
            and is_class_of_rows(graph, link.entity)
        )

    if len(links) < 2:
        return [*links]
    rules = (is_own, is_part, is_held, is_sorted, is_verb, is_possessed, is_of_rows)
    return [
        link for link in links if not any(is_left_out(link) for is_left_out in rules)
    ]
