"""Which words of a question that compares values say no more than that.

A word that is left over may name what the graph does not hold: "the latest film by Jane
Doe", where nothing is called Jane Doe.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.classes import is_class
from kgscout_jax.retrieve.value_test import Attribute
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.compared_phrase import phrase_end, without_rank
from kgscout_jax.text.kinds import base_noun, is_past, singular_form
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.second_test import SecondTest
from kgscout_jax.text.value_limits import NUMBER_WORDS, UP_TO
from kgscout_jax.text.value_question import AMOUNT_WORDS, START_KEYS, ValueQuestion
from kgscout_jax.text.value_question_parser import NUMERALS, ORDINALS
from kgscout_jax.text.value_words import (
    DATING_KEYS,
    MEASURE_KEYS,
    RATED_KEYS,
    is_comparing,
    is_explained,
    measured_keys,
    relation_keys,
    with_release,
    word_key,
)
from kgscout_jax.text.values import CURRENCIES, is_year
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, folded
from kgscout_jax.types import display_name

_FILLERS = AMOUNT_WORDS | frozenset(
    "all ever overall people person many one ones give find show worth lasts lasted "
    "got gets take takes took taking made our my we here everyone everybody anyone "
    "anybody listed".split()
)
_MONEY = frozenset("money cash capital funding".split())
"""Nouns for values in a currency."""
_WHOLE = re.compile(
    r"\b(?:of|in|at|on) (?:the|our|this) ([a-z]+)\W*$"
    r"|\b(?:that )?(?:the|our|this) ([a-z]+) (?:has|have|owns|keeps|sells|offers)"
    r"(?: ever)?(?: [a-z]+)?\W*$"
)
"""What may say of which graph a question is: "the oldest book in the library", "the
dearest device the hospital has bought"."""
_TAKES_TO = re.compile(r"\btakes? (?:the )?(?:\w+est|(?:most|least) time)( to [a-z]+)")
"""What is done in the time that is compared: "takes the longest to make"."""
_DEED = re.compile(
    r"\b(?:we|they|you|i)(?: all| ever)? ([a-z]+)|\bbeen ([a-z]+ing)\b"
    r"|\bto ([a-z]+)\W*$"
)
"""What is done with all that is compared: "we sell", "been running", "to make"."""
_OF_ALL = re.compile(
    r"(?:out |which |what )?of (?:all )?(?:the|our|my|these|those) ([a-z]+)\b\W",
    re.IGNORECASE,
)
"""What is compared, at the beginning: "of all the towns, which is the largest"."""


def unexplained_words(
    text: str,
    graph: KnowledgeGraph,
    attributes: Sequence[Attribute],
    asked: ValueQuestion,
    explained: Set[str] = frozenset(),
    second: SecondTest | None = None,
) -> list[str]:
    """Words that neither values nor what is asked for explain.

    They may name what the graph does not hold: "the latest film by Jane Doe".

    Args:
        text: the question, without its topic.
        graph: the graph.
        attributes: the relations to values that are compared.
        asked: what the question wants of values.
        explained: keys of other words, of what values count or other values say.
        second: another test of the question.
    """
    text, nouns = with_release(folded(text)), compared_nouns(text, asked)
    text = UP_TO.sub("under ", text)
    if asked.stop:
        text = text[: asked.start] + text[asked.stop :]
    if asked.rival is not None:
        name = folded(display_name(graph.entities[asked.rival]))
        text = text.replace(name, " ")
    limits = (*asked.limits, *(second.asked.limits if second else ()))
    for limit in limits:
        text = text.replace(limit, " ")
    keys = asked.word.implied.union(*(measured_keys(a.relation) for a in attributes))
    keys |= DATING_KEYS if asked.word.dated else frozenset()
    if asked.word.dated and not keys.isdisjoint(START_KEYS):
        keys |= START_KEYS  # "hired last" by ``start_date``
    forms = frozenset[str]().union(*(relation_forms(a.relation) for a in attributes))
    whole = _WHOLE.search(text) if asked.is_superlative else None
    none = frozenset[str]()
    if whole and not _is_said(whole[1] or whole[2], graph):
        text = text[: whole.start()]
    if done := _TAKES_TO.search(text):
        text = text[: done.start(1)] + text[done.end(1) :]
    deeds = {verb for found in _DEED.findall(text) for verb in found}
    return [
        word
        for word in WORD.findall(text)
        if not (
            word in deeds
            or is_explained(word, keys, nouns)
            or word in _FILLERS
            or word_key(word) in explained
            or not word_forms(word).isdisjoint(forms)
            or (len(limits) > 0 and word in NUMBER_WORDS)
            or (asked.is_superlative and (word in ORDINALS or word in NUMERALS))
            or (word.isdigit() and not (asked.is_superlative and is_year(word)))
            or MEASURE_KEYS.get(word_key(word), none) & asked.word.implied
        )
    ]


def compared_nouns(text: str, asked: ValueQuestion) -> frozenset[str]:
    """What a question may call the things that it compares, in singular.

    Of a superlative also a single word behind it or behind "which": "what is the most
    expensive part", no "largest Swiss city".
    """
    rest = text[: asked.start] + text[asked.stop :] if asked.stop else text
    kinds = (asked_kind(each, []) for each in (text, rest))
    found = {w for k in kinds if k for noun in k.nouns for w in noun.split()}
    if whole := _OF_ALL.match(text):
        found.add(base_noun(whole[1].casefold()))
    if asked.is_superlative:
        every = WORD.findall(text.casefold())
        behind = WORD.findall(text[asked.start :].casefold())[1:]
        while behind and (is_comparing(behind[0]) or behind[0] in RATED_KEYS):
            behind = behind[1:]
        if behind and (behind[0].isdigit() or behind[0] in NUMERALS):
            behind = behind[1:]  # "top 3 towns"
        for words in (every[1:] if every[:1] == ["which"] else [], behind):
            if words and _ends_phrase(words[1:2]):
                found.add(base_noun(words[0]))
    return frozenset(found)


def _ends_phrase(following: Sequence[str]) -> bool:
    """Whether the word that follows a noun, if any, is no noun itself."""
    return all(w in FUNCTION_WORDS or is_past(w) or is_comparing(w) for w in following)


def class_nouns(text: str, graph: KnowledgeGraph) -> list[str]:
    """The small words of a question that are classes of the graph."""
    words = {base_noun(word) for word in WORD.findall(text) if word.islower()}
    found = {word: graph.find(word) for word in words - FUNCTION_WORDS}
    return [
        w
        for w, entity in found.items()
        if entity is not None and is_class(graph, entity)
    ]


def counted_units(
    text: str,
    graph: KnowledgeGraph,
    asked: ValueQuestion,
    attributes: Sequence[Attribute],
) -> frozenset[str]:
    """The key of what is counted by values that another word names: "sold 9 copies".

    Or that says their unit: "enrolled the most patients" by "512 patients". None where
    the graph has an entity or a relation of this name.
    """
    behind = text[asked.start :].casefold()
    if asked.word.of_amount:
        found = re.match(r"(?:most|least) ([a-z]+)", behind)
    else:
        places = [behind.find(each) + len(each) for each in asked.limits[:1]]
        found = re.match(r" ([a-z]+)", behind[places[0] :]) if places else None
    noun = found[1] if found else ""
    if noun and all(_is_unit(noun, a.unit) for a in attributes):
        return frozenset((word_key(noun),))
    if singular_form(noun) == noun or _is_said(noun, graph):
        return frozenset()
    nouns = {*map(word_key, compared_nouns(text, asked)), word_key(noun)}
    others = asked.words - nouns
    named = all(not others.isdisjoint(relation_keys(a.relation)) for a in attributes)
    return frozenset((word_key(noun),)) if named else frozenset()


def _is_unit(noun: str, unit: str) -> bool:
    """Whether a noun says in what values are: patients, or money where that is $."""
    is_money = noun in _MONEY and len(unit) == 1 and unit in CURRENCIES
    return is_money or (unit != "" and base_noun(noun) == base_noun(unit))


def kind_text(text: str, asked: ValueQuestion, keys: frozenset[str]) -> str:
    """The question as one that says what it compares: "Which product"."""
    if found := _OF_ALL.match(text):  # "Of all the bakers, who was born last?"
        return f"Which {found[1]}"
    kind = without_rank(text, asked)
    if not asked.is_superlative or not FUNCTION_WORDS.issuperset(
        WORD.findall(kind[: asked.start].casefold())
    ):
        return kind
    # "Which is the most expensive product"
    stop = phrase_end(text, asked.start)
    words = WORD.findall(text[asked.start : stop])
    noun = next(w for w in reversed(words) if w not in _FILLERS or w == words[0])
    is_kind = not is_comparing(noun) and word_key(noun) not in keys
    return f"Which {noun}{text[stop:]}" if is_kind else kind


def _is_said(word: str, graph: KnowledgeGraph) -> bool:
    """Whether a graph has an entity or a relation of this name."""
    keys = {word_key(word)}
    if any(not keys.isdisjoint(relation_keys(r)) for r in graph.relation_names):
        return True
    return len(graph.find_all([word])) > 0
