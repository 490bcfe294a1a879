"""What the row says that joins two topics: when Ann joined Acme, how much Bo paid Cy.

A property of an edge, or a cell of a table of events, stands in a row without a name
that both ends share. A walk passes that row from either end, and does not know that the
question names both. Of one topic "how much" asks for the sum over its rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.edge_kinds import kind_verbs
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.aggregate import aggregate_number, column_of
from kgscout_jax.inference.class_topics import without_class_topics
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.row_answers import Rows
from kgscout_jax.inference.row_ends import END_VERBS, may_mean_end, verbs_of_end
from kgscout_jax.inference.topic_neighbours import Topic, joined_to
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.retrieve.kind_weights import kind_weights
from kgscout_jax.text.aggregate_question import AggregateQuestion
from kgscout_jax.text.kinds import HEAD, KINDS, TAIL, Kind
from kgscout_jax.text.relation_groups import names_in_group
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words
from kgscout_jax.text.row_question import RowQuestion, row_question
from kgscout_jax.text.stems import stem
from kgscout_jax.text.value_words import measured_keys, says_when
from kgscout_jax.text.values import date_parts, is_date, is_year, quantity_of
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

MAX_ROWS = 10
"""The most rows that topics share; more are no answer to a question about one."""
MAX_SUM = 1000
"""The most rows of one topic that are added up."""
_BESIDE = frozenset("money funds cash total all altogether overall".split())
"""Words beside a number: what is transferred, and that it is a sum."""
_START = frozenset("since start started from begin began joined hired".split())
_STARTS = frozenset(
    map(stem, "join start begin become hire enter move appoint first".split())
)
"""Relations to the day on which something begins, and verbs for that."""
_YEAR = re.compile(r"\b(?:in|during|of|for) ((?:1\d|20)\d\d)\b")


def joined_row_values(
    text: str, graph: KnowledgeGraph, start: SearchStart
) -> EntitySet | None:
    """What the rows hold that join all topics; None where it is not surely asked for.

    Args:
        text: the question.
        graph: the graph.
        start: its topics.
    """
    asked = row_question(text)
    if asked is None or not graph.unnamed_mask.any():
        return None
    links = without_class_topics(text, graph, start).links
    topics = [Topic.of_link(text, link) for link in links]
    beside, _ = joined_to(links[0].entity, graph) if links else (start.ids, None)
    found = _shared_rows(asked, topics, Rows.among(beside, text, graph))
    if found is None:
        return None
    # What was received is no matter of rows that say who owns what.
    fitting = [
        (rows, columns[0])
        for rows in found.by_class()
        if len(columns := _columns(asked, topics, rows)) == 1
        and not _unexplained(asked, topics, columns[0], rows)
    ]
    named = [each for each in fitting if each[0].class_nouns]
    if len(fitting) != 1 and len(named) != 1:
        return None
    rows, column = (named or fitting)[0]
    values = rows.triplets[rows.triplets[:, 1] == column]
    if asked.is_any and len(values) > 1:
        return _sum(column, values, graph)
    tails = np.unique(values[:, 2])
    if len(topics) == 1 and asked.form == "time" and len(tails) > 1:
        return None
    answers = EntitySet.of(tails, (column, TAIL), MATCH_PROBABILITY, counted=False)
    return answers and answers.shown_by(rows.rows, column)


def _sum(
    column: int, values: Int[np.ndarray, "m 3"], graph: KnowledgeGraph
) -> EntitySet | None:
    """The sum of what several rows say."""
    asked = AggregateQuestion("sum", "total", (), "")
    numbers = texts_of(graph.entities, values[:, 2])
    number = aggregate_number(asked, numbers, column_of(column, graph))
    side = column, HEAD
    answers = EntitySet.of(values[:, 0], side, MATCH_PROBABILITY, counted=True)
    return answers.with_number(number) if answers and number else None


def _shared_rows(asked: RowQuestion, topics: list[Topic], found: Rows) -> Rows | None:
    """The rows that lead to each topic, as an end that the question may mean.

    None without any. One topic has rows enough for a sum, for a day, with a year, and
    for what is done, see ``_asks_object``.

    Args:
        asked: what is asked for.
        topics: the topics.
        found: all rows.
    """
    graph = found.graph
    for topic in topics:
        others, steps = joined_to(topic.entity, graph)
        fits = [
            asked.is_length or may_mean_end(found.text, topic.name, name)
            for name in (graph.relation_names[i] for i in (steps // 2).tolist())
        ]
        found = found.joined(topic, others[np.array(fits, bool)])
    if not topics or not len(found.rows):
        return None
    most = MAX_ROWS
    if len(topics) == 1:
        is_open = asked.is_any or asked.form == "time" or _asks_object(asked, found)
        most = MAX_SUM if is_open else 0
    if (match := _YEAR.search(found.rest)) and len(found.rows) <= MAX_SUM:
        found, most = _of_year(match, found), MAX_ROWS
    return found if 0 < len(found.rows) <= most else None


def _asks_object(asked: RowQuestion, found: Rows) -> bool:
    """Whether a question asks for what is done, and not for whom.

    "What does X export" is not what X ``EXPORTS_TO``, without the preposition.
    """
    graph = found.graph
    _, ids = graph.by_head.rows(graph.find_all(found.names))
    relations = np.unique(graph.triplets[ids, 1]).tolist()
    names = [relation_words(graph.relation_names[each]) for each in relations]
    said = {*WORD.findall(found.rest.casefold())}
    stems = {stem(word) for word in said}
    return asked.form == "name" and any(
        len(name) > 1 and name[-1] in PREPOSITIONS - said and stem(name[0]) in stems
        for name in names
    )


def _of_year(match: re.Match[str], found: Rows) -> Rows:
    """The rows with a day of a year, or with the year."""
    graph, year = found.graph, int(match[1])
    rows = found.triplets[np.isin(found.triplets[:, 1], _times(found))]
    names = texts_of(graph.entities, rows[:, 2])
    kept = [
        int(name) == year if is_year(name) else _year_of(name) == year for name in names
    ]
    rest = found.rest[: match.start()] + found.rest[match.end() :]
    return found.with_rows(np.unique(rows[np.array(kept, bool), 0]), rest)


def _year_of(name: str) -> int | None:
    parts = date_parts(name)
    return parts[0] if parts else None


def _columns(asked: RowQuestion, topics: list[Topic], found: Rows) -> list[int]:
    """The relations of the rows to what is asked for."""
    if asked.form == "time":
        return _times(found)
    names = found.graph.relation_names
    if asked.form == "name":
        return _names(asked.kind, topics, found)
    numbers = [
        i
        for i in found.columns
        if found.leads_to_all(_is_number, i) and not says_when(names[i])
    ]
    for key in asked.keys:
        if said := [i for i in numbers if key in measured_keys(names[i])]:
            return said
    return numbers if asked.is_any else []


def _times(found: Rows) -> list[int]:
    """The relations to days, or else to years."""
    names = found.graph.relation_names
    days = [i for i in found.columns if found.leads_to_all(is_date, i)]
    return days or [
        i
        for i in found.columns
        if found.leads_to_all(is_year, i)
        and (says_when(names[i]) or _START.intersection(relation_words(names[i])))
    ]


def _names(kind: Kind | None, topics: list[Topic], found: Rows) -> list[int]:
    """The relations to names of a kind, beside those to the topics.

    Who somebody is is said by the other end of an edge, and what is done by no end.
    Where something was by a relation such as ``met_in``.
    """
    graph, rows = found.graph, found.triplets
    entities = _entities(topics)
    own = np.unique(rows[np.isin(rows[:, 2], entities), 1])
    beside = np.concatenate([joined_to(each, graph)[0] for each in entities.tolist()])

    def fits(relation: int) -> bool:
        name = graph.relation_names[relation]
        is_end = np.isin(rows[rows[:, 1] == relation, 2], beside).all()
        if kind is None:
            return not is_end
        if kind == "person" and is_end:
            return True
        is_place = kind == "place" and relation_words(name)[-1:][0] in PREPOSITIONS
        return is_place or kind_weights(name)[TAIL, KINDS.index(kind)] > 0

    return [
        i
        for i in found.columns
        if i not in own and found.leads_to_all(_is_name, i) and fits(i)
    ]


def _is_number(name: str) -> bool:
    return quantity_of(name) is not None and not is_date(name)


def _is_name(name: str) -> bool:
    return quantity_of(name) is None and not is_date(name)


def _entities(topics: Iterable[Topic]) -> Int[np.ndarray, "t"]:
    return np.array([topic.entity for topic in topics])


def _unexplained(
    asked: RowQuestion, topics: list[Topic], column: int, found: Rows
) -> list[str]:
    """Words of the question that say more than that something joins the topics."""
    graph, entities = found.graph, _entities(topics)
    leading = found.triplets[np.isin(found.triplets[:, 2], entities), 1]
    relations = {*np.unique(leading).tolist(), *_edges(entities, graph)}
    names = [graph.relation_names[i] for i in relations]
    if asked.form == "name":
        names.append(graph.relation_names[column])
    others = [each.name for name in names for each in names_in_group(name)]
    stems = {stem(word) for name in (*names, *others) for word in relation_words(name)}
    stems = stems.union(*map(verbs_of_end, names))
    stems |= {stem(verb) for noun in found.class_nouns for verb in kind_verbs(noun)}
    if _START.intersection(relation_words(graph.relation_names[column])):
        stems |= _STARTS
    return [
        word
        for word in WORD.findall(found.rest.casefold())
        if not (
            word in FUNCTION_WORDS
            or word in asked.words
            or word in _BESIDE
            or stem(word) in stems
            or (found.is_noun(word) and stem(word) not in END_VERBS)
        )
    ]


def _edges(entities: Int[np.ndarray, "t"], graph: KnowledgeGraph) -> list[int]:
    """The relations that join topics to each other."""
    _, ids = graph.by_head.rows(entities)
    triplets = np.asarray(graph.triplets[ids])
    return np.unique(triplets[np.isin(triplets[:, 2], entities), 1]).tolist()
