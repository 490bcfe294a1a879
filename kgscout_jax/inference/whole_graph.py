"""Questions about the values of a whole graph: "which project has the largest budget".

They name no entity to start from, or only the one whose value is a limit ("who started
after Elena"). Then all entities with a value of the relation that the question names
are compared, and those that pass take the place of the topics.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.answer_kinds import asks_yes_no
from kgscout_jax.inference.class_topics import is_class
from kgscout_jax.inference.entities_of_kind import entities_of_kind
from kgscout_jax.inference.relation_sides import triplets_of
from kgscout_jax.inference.topic_neighbours import (
    Topic,
    joined_by_one,
    joined_to,
    relation_before,
    without_topic,
)
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.retrieve.flag_nodes import flags_said, without_flag
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.value_test import Attribute, ValueTest, value_test
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.compared_phrase import (
    ComparedPhrase,
    compared_phrase,
    phrase_end,
    without_rank,
)
from kgscout_jax.text.gender_words import gender_question
from kgscout_jax.text.kin_words import gender_of, is_gender_relation
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.value_question import (
    NUMERALS,
    ORDINALS,
    ValueQuestion,
    value_question,
    without_test,
)
from kgscout_jax.text.value_words import (
    MEASURE_KEYS,
    is_comparing,
    is_explained,
    measured_keys,
    relation_keys,
    with_release,
    word_key,
)
from kgscout_jax.text.values import is_year, quantity_of, value_of
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, folded
from kgscout_jax.types import display_name

MAX_VALUES = 20_000
"""The most triplets of the relations that are compared."""
_FILLERS = frozenset(
    "all ever overall people person many one ones give find show worth lasts lasted "
    "got gets takes took made our we".split()
)
_WHOLE = re.compile(r"\b(?:of|in|at|on) (?:the|our|this) ([a-z]+)\W*$")
"""What may say of which graph a question is: "the oldest book in the library"."""
FEW = 0.2
"""Share of the entities with one relation below which others are not of their kind."""
RUNNERS_UP = 10
"""Entities that are compared as evidence for a superlative."""
MAX_CHOICE = 100
"""The most entities that pass; more are no answer that anybody reads."""


def compared_entities(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> ValueQuestion | None:
    """What a question wants of values, with entities for its topics."""
    named = _named_topics(text, graph, start)
    asked = value_question(text, [name for name, _ in named])
    if asked is None:
        return None
    asked = asked.with_topics(lambda i: named[i][1])
    # Bakers are compared, and not what ``star_baker`` says of them.
    asked = asked.without_keys({*map(word_key, _class_nouns(text, graph))})
    if asked.word.weak and asked.rival is not None:
        # "Licensed under the GPL" compares nothing with it.
        return asked if _has_values(graph, asked.rival) else None
    return asked


def _class_nouns(text: str, graph: KnowledgeGraph) -> list[str]:
    """The small words of a question that are classes of the graph."""
    words = {base_noun(word) for word in WORD.findall(text) if word.islower()}
    found = {word: graph.find(word) for word in words - FUNCTION_WORDS}
    return [
        w
        for w, entity in found.items()
        if entity is not None and is_class(graph, entity)
    ]


def _has_values(graph: KnowledgeGraph, entity: int) -> bool:
    """Whether a triplet leads from an entity to a value, or it is one."""
    _, ids = graph.by_head.rows(np.array([entity]))
    tails = np.unique(graph.triplets[ids[:MAX_VALUES], 2]).tolist()
    names = map(str, (graph.entities[each] for each in (entity, *tails)))
    return any(quantity_of(name) is not None for name in names)


def _named_topics(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> list[tuple[str, int]]:
    """What the question calls each topic, and the entity."""
    if start.links:
        return [(text[link.start : link.stop], link.entity) for link in start.links]
    return [(display_name(graph.entities[int(i)]), int(i)) for i in start.ids]


def walked_text(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> str:
    """The part of a question that a walk answers, without the test of values."""
    named = _named_topics(text, graph, start)
    names = [name for name, entity in named if entity != asked.rival]
    return without_test(text, asked, names)


def whole_graph_choice(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> ValueQuestion | None:
    """The question with the entities of the graph that pass as its ``choice``.

    Of a superlative also those that come next, as evidence. Beside a topic, those that
    one relation joins to it: "the largest country in Africa".

    None for a question that starts from other topics, or that nothing passes.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
        asked: what it wants of values, with entities for its topics.
    """
    if asked.choice or asks_yes_no(text):
        return None
    topics = _topics_beside(text, graph, start, asked)
    # "When was Heat last shown" asks for a day, and not for one of its shows.
    most = asked.is_superlative and not asked.word.weak
    if topics is None or len(topics) > most:
        return None
    found = _compared(text, graph, asked, *topics)
    if found is None or found.phrase is not None:
        return None
    choice = found.ahead if asked.is_superlative else found.passed
    return (
        replace(found.asked, choice=choice) if 0 < len(choice) <= MAX_CHOICE else None
    )


def question_about_one(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> tuple[str, int] | None:
    """The question about the one that values choose, and that entity.

    "Who is the mayor of the largest town" becomes "Who is the mayor of Rome". None
    where a question asks for what it compares, starts from a topic, or where not
    exactly one is ahead.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
        asked: what it wants of values, with entities for its topics.
    """
    if not asked.is_superlative or asked.choice or asks_yes_no(text):
        return None
    found = None
    if _topics_beside(text, graph, start, asked) == []:
        found = _compared(text, graph, asked)
    if found is None or found.phrase is None:
        return None
    phrase = found.phrase
    inner, rest = phrase.inner(text), WORD.findall(text[phrase.stop :].casefold())
    about = value_question(inner, [])
    if about is None or not FUNCTION_WORDS.issuperset({*rest} - {phrase.verb}):
        return None
    about = about.without_keys(about.words - asked.words)
    chosen = _compared(inner, graph, about)
    if chosen is None or chosen.phrase is not None or len(chosen.passed) != 1:
        return None
    (winner,) = chosen.passed
    return phrase.outer(text, display_name(graph.entities[winner])), winner


class _Compared(NamedTuple):
    """What the values of a whole graph say."""

    asked: ValueQuestion
    """The question; what names its topic names no value."""
    phrase: ComparedPhrase | None
    """Where the question names what it compares, if it asks for something else."""
    passed: tuple[int, ...] = ()
    """The entities that pass."""
    ahead: tuple[int, ...] = ()
    """Of a superlative those, and some that come next."""


def _compared(
    text: str,
    graph: KnowledgeGraph,
    asked: ValueQuestion,
    topic: Topic | None = None,
) -> _Compared | None:
    """What the values say; None where they are not what the question compares.

    Args:
        text: the question.
        graph: the graph.
        asked: what it wants of values.
        topic: one that all that is compared is joined to; None: none.
    """
    names = graph.relation_names
    fitting = [i for i, name in enumerate(names) if asked.may_mean(name)]
    if not fitting and (dated := asked.dated_by(names)) is not None:
        fitting, asked = [dated], asked.with_words_of(names[dated])
    if len(fitting) != 1:
        in_unit = [i for i, name in enumerate(names) if asked.has_unit_of(name)]
        if len(in_unit) == 1 and ({*in_unit} <= {*fitting} or not fitting):
            fitting, asked = in_unit, asked.with_words_of(names[in_unit[0]])
    rest = text
    if topic is None:
        ids = np.flatnonzero(np.isin(graph.triplets[:, 1], fitting))
    else:
        named = relation_before(text, topic, graph)
        rest = without_topic(text, topic, named)
        asked = asked.without_keys({*map(word_key, named)})
        _, ids = graph.by_head.rows(np.unique(joined_to(topic.entity, graph)[0]))
        ids = ids[np.isin(graph.triplets[ids, 1], fitting)]
    if not 0 < len(ids) <= MAX_VALUES:
        return None
    test = test_of(asked, graph, np.asarray(graph.triplets[ids]))
    if test is None:
        return None
    best = [a for a in test.attributes if a.match == test.attributes[0].match]
    keys = frozenset[str]().union(*(measured_keys(a.relation) for a in best))
    phrase = compared_phrase(text, asked, keys | MEASURE_KEYS.keys())
    if phrase is not None:
        return _Compared(asked, phrase)
    if unexplained_words(rest, graph, best, asked):
        return None
    flags, kind = flags_of(text, graph), without_rank(text, asked)
    if asked.is_superlative and FUNCTION_WORDS.issuperset(
        WORD.findall(kind[: asked.start].casefold())
    ):  # "Which is the most expensive product"
        stop = phrase_end(text, asked.start)
        noun = WORD.findall(text[asked.start : stop])[-1]
        is_kind = not is_comparing(noun) and word_key(noun) not in keys
        kind = f"Which {noun}{text[stop:]}" if is_kind else kind
    groups: list[tuple[Attribute, list[int]]] = []
    for attribute in best if best[0].match else ():
        heads = entities_of_kind(
            kind, graph, np.array([*attribute.values, *attribute.unread])
        )
        if not attribute.unread.isdisjoint(heads.tolist()):
            return None  # what cannot be read might pass
        if _are_other_rows(heads, text, graph):
            return None  # "Which country" asks for no row of a table
        if flags.holders is not None:
            heads = heads[np.isin(heads, flags.holders)]
        if topic is not None:
            heads = joined_by_one(heads, kind, graph, topic)
        group = [int(head) for head in heads if head != asked.rival]
        groups.append((attribute, group))
    # Songs are compared by their duration, and one is called as an album with a length.
    least = FEW * max((len(group) for _, group in groups), default=0)
    found: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for attribute, group in groups:
        if len(group) < least:
            continue
        passed = test.passed(attribute, group) if group else []
        ahead = test.ahead_first(attribute, group)[: max(RUNNERS_UP, len(passed))]
        found.add((tuple(passed), tuple(ahead)))
    # Height and altitude may say different things.
    return _Compared(asked, None, *found.pop()) if len(found) == 1 else None


def _are_other_rows(
    heads: Int[np.ndarray, "h"], text: str, graph: KnowledgeGraph
) -> bool:
    """Whether there are rows without a name that no class of the question has."""
    rows = heads[graph.unnamed_mask[heads]]
    if not len(rows):
        return False
    classes = graph.find_all(_class_nouns(text, graph))
    members = [joined_to(int(each), graph)[0] for each in classes]
    return not any(np.isin(rows, each).all() for each in members)


class GraphFlags(NamedTuple):
    """What a question says of entities that columns of yes and no hold."""

    rest: str
    """The question without the flags."""
    holders: Int[np.ndarray, "h"] | None = None
    """The entities that have them; None: it names none."""
    relation: int = -1
    """The last one."""
    are_people: bool = False
    """Whether it asks for people of a gender."""


def flags_of(text: str, graph: KnowledgeGraph) -> GraphFlags:
    """The flags of a question over a whole graph: "vegetarian dishes"."""
    flags = _of_gender(text, graph)
    names = [graph.relation_names[i] for i in graph.flag_relations]
    for place, wanted in flags_said(flags.rest, names):
        relation, name = graph.flag_relations[place], names[place]
        _, ids = graph.by_tail.rows(graph.find_all(sorted(wanted)))
        rows = np.asarray(graph.triplets[ids])
        heads, held = rows[rows[:, 1] == relation, 0], flags.holders
        flags = flags._replace(
            rest=without_flag(flags.rest, name),
            holders=np.unique(heads) if held is None else np.intersect1d(held, heads),
            relation=relation,
        )
    return flags


def _of_gender(text: str, graph: KnowledgeGraph) -> GraphFlags:
    """The people of the gender that a question asks for."""
    people = gender_question(text)
    if people is None:
        return GraphFlags(text)
    for relation, name in enumerate(graph.relation_names):
        if is_gender_relation(name):
            rows = triplets_of(graph, relation)
            tails = np.unique(rows[:, 2])
            genders = map(gender_of, texts_of(graph.entities, tails))
            wanted = tails[[each == people.gender for each in genders]]
            heads = np.unique(rows[np.isin(rows[:, 2], wanted), 0])
            return GraphFlags(people.rest, heads, relation, are_people=True)
    return GraphFlags(text)


def _topics_beside(
    text: str, graph: KnowledgeGraph, start: SearchStart, asked: ValueQuestion
) -> list[Topic] | None:
    """The topics that are more than a limit, or part of a name that is a noun here.

    None where the graph does not hold one.
    """
    nouns, asked_for = _compared_nouns(text, asked), asked_kind(text, [])

    def is_noun(link: Link) -> bool:
        name = text[link.start : link.stop]
        if link.how != "fuzzy":  # "Which database", where a keyword is called database
            plain = base_noun(name) if name.islower() else ""
            return asked_for is not None and plain in asked_for.nouns
        words = WORD.findall(name)
        return name.islower() and {base_noun(word) for word in words} <= nouns

    if start.unknown:
        return None
    if not start.links:
        ids = [entity for entity in start.ids.tolist() if entity != asked.rival]
        return [Topic(i, display_name(str(graph.entities[i]))) for i in ids]
    return [
        Topic.of_link(text, link)
        for link in start.links
        if not (
            link.entity == asked.rival or is_limit(text, link, asked) or is_noun(link)
        )
    ]


def unexplained_words(
    text: str,
    graph: KnowledgeGraph,
    attributes: Sequence[Attribute],
    asked: ValueQuestion,
) -> list[str]:
    """Words that neither values nor what is asked for explain.

    They may name what the graph does not hold: "the latest film by Jane Doe".
    """
    text, nouns = with_release(folded(text)), _compared_nouns(text, asked)
    if asked.stop:
        text = text[: asked.start] + text[asked.stop :]
    if asked.rival is not None:
        name = folded(display_name(graph.entities[asked.rival]))
        text = text.replace(name, " ")
    for limit in asked.limits:
        text = text.replace(limit, " ")
    keys = asked.word.implied.union(*(measured_keys(a.relation) for a in attributes))
    whole = _WHOLE.search(text) if asked.is_superlative else None
    none = frozenset[str]()
    if whole and not _is_said(whole[1], graph):
        text = text[: whole.start()]
    return [
        word
        for word in WORD.findall(text)
        if not (
            is_explained(word, keys, nouns)
            or word in _FILLERS
            or (asked.is_superlative and (word in ORDINALS or word in NUMERALS))
            or (word.isdigit() and not (asked.is_superlative and is_year(word)))
            or MEASURE_KEYS.get(word_key(word), none) & asked.word.implied
        )
    ]


def _compared_nouns(text: str, asked: ValueQuestion) -> frozenset[str]:
    """What a question may call the things that it compares, in singular.

    Of a superlative also a single word behind it or behind "which": "what is the most
    expensive part", no "largest Swiss city".
    """
    rest = text[: asked.start] + text[asked.stop :] if asked.stop else text
    kinds = (asked_kind(each, []) for each in (text, rest))
    found = {w for k in kinds if k for noun in k.nouns for w in noun.split()}
    if asked.is_superlative:
        every = WORD.findall(text.casefold())
        last = max((i for i, w in enumerate(every) if is_comparing(w)), default=None)
        behind = [] if last is None else every[last + 1 :]
        if behind and (behind[0].isdigit() or behind[0] in NUMERALS):
            behind = behind[1:]  # "top 3 towns"
        for words in (every[1:] if every[:1] == ["which"] else [], behind):
            if words and FUNCTION_WORDS.issuperset(words[1:2]):
                found.add(base_noun(words[0]))
    return frozenset(found)


def _is_said(word: str, graph: KnowledgeGraph) -> bool:
    """Whether a graph has an entity or a relation of this name."""
    keys = {word_key(word)}
    if any(not keys.isdisjoint(relation_keys(r)) for r in graph.relation_names):
        return True
    return len(graph.find_all([word])) > 0


def is_limit(text: str, link: Link, asked: ValueQuestion) -> bool:
    """Whether a link is from a limit, or a part of one, or from "the 5 largest"."""
    name = text[link.start : link.stop].casefold()
    if asked.count > 1 and name == str(asked.count):
        return True
    words = {*WORD.findall(name)} - FUNCTION_WORDS
    of_limits = {word for limit in asked.limits for word in WORD.findall(limit)}
    same = any(value_of(name) == value_of(limit) for limit in asked.limits)
    return same or (len(words) > 0 and words <= of_limits)


def test_of(
    asked: ValueQuestion, graph: KnowledgeGraph, rows: Int[np.ndarray, "k 3"]
) -> ValueTest | None:
    """The test over triplets of the graph, with entities as nodes."""
    relations, index = np.unique(rows[:, 1], return_inverse=True)
    around = LocalGraph(
        [graph.relation_names[relation] for relation in relations.tolist()],
        index,
        rows[:, [0, 2]],
        [],
        lambda nodes: texts_of(graph.entities, nodes),
    )
    return value_test(asked, around)
