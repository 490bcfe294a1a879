"""Those that a relation joins to the most others: "who directed the most films"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.class_members import class_members, of_class
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.relation_sides import (
    COLUMNS,
    Side,
    sides_called,
    triplets_of,
)
from kgscout_jax.inference.topic_neighbours import Topic, joined_by_one
from kgscout_jax.inference.value_answers import (
    FALLBACK_PROBABILITY,
    MATCH_PROBABILITY,
)
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import HEAD, TAIL, singular
from kgscout_jax.text.most_counted import MostCounted, most_counted
from kgscout_jax.text.question_clause import clause_noun
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import (
    PREPOSITIONS,
    relation_words,
)
from kgscout_jax.text.stated_relation import all_answer_ends
from kgscout_jax.text.words import FUNCTION_WORDS

MAX_WINNERS = 10
"""The most that may have equally many."""
LEAST = 2
"""The least number that is most."""
Named = Literal["counted", "asked", "verb"]
"""What the name of a relation says: what is counted, who has it, or only a verb."""


def tally_of(
    question: str, graph: KnowledgeGraph, topic: Topic | None = None
) -> EntitySet | None:
    """Who has the most; None for other questions, and where the graph does not tell.

    Args:
        question: the question, without its topic.
        graph: the graph: relations by name, and perhaps classes.
        topic: what they are joined to; None: all are counted.
    """
    asked = most_counted(question)
    if asked is None:
        return None
    if asked.clause:
        asked = asked._replace(asked=singular(clause_noun(asked.clause)))
    for sides, named in _sides(asked, graph):
        tallies = [_tally(asked, graph, side, named, topic) for side in sides]
        found = [tally for tally in tallies if tally is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _sides(
    asked: MostCounted, graph: KnowledgeGraph
) -> Iterator[tuple[list[Side], Named]]:
    """Relations that may be counted, likeliest first, and what their names say.

    "Who directed" says one; another is called by what is counted, ``award``, or by what
    is asked for, ``country``; or its verb is related, and one end is what is counted.
    """
    names = graph.relation_names
    if asked.clause:
        ends = enumerate(all_answer_ends(asked.clause, names))
        yield [(i, max(each)) for i, each in ends if len(each) == 1], "counted"
    if asked.counted:
        # ``plays_position`` has players too, and does not name them.
        noun = asked.counted[-1]
        sides = [
            (relation, 1 - end)
            for relation, end in sides_called(asked.counted, graph)
            if noun in relation_forms(names[relation])
        ]
        yield sides, "counted"
    if asked.asked:
        named: Named = "asked" if asked.counted else "counted"
        yield _called(asked.asked, graph), named
    if asked.clause and asked.counted:
        said = {*asked.clause} - {*asked.asked, TOPIC} - PREPOSITIONS - FUNCTION_WORDS
        forms = frozenset[str]().union(*map(word_forms, said))
        related = [i for i, name in enumerate(names) if forms & relation_forms(name)]
        last = [*asked.counted]
        to_counted = [i for i in related if relation_words(names[i])[-1:] == last]
        yield [(i, HEAD) for i in to_counted], "counted"
        yield [(i, end) for i in related for end in (HEAD, TAIL)], "verb"


def _called(noun: tuple[str, ...], graph: KnowledgeGraph) -> list[Side]:
    """Sides that a noun names, else the tails of relations that end in it."""
    if sides := sides_called(noun, graph):
        return sides
    names = [*map(relation_words, graph.relation_names)]
    return [(i, TAIL) for i, words in enumerate(names) if words[-1:] == [noun[-1]]]


def _tally(
    asked: MostCounted,
    graph: KnowledgeGraph,
    side: Side,
    named: Named,
    topic: Topic | None,
) -> EntitySet | None:
    """Those with the most by one relation; None: nobody, or they are of other kinds.

    Args:
        asked: what is asked for.
        graph: the graph.
        side: the relation.
        named: what the relation's name says.
        topic: what those are joined to that are compared; None: nothing.
    """
    relation, end = side
    rows = triplets_of(graph, relation)
    ours, others = rows[:, COLUMNS[end]], rows[:, COLUMNS[1 - end]]
    right, known = of_class(asked.counted, graph, others), True
    if right is None or (named == "counted" and not right.any()):
        if named == "verb" or (named == "asked" and _is_value(asked.counted, graph)):
            return None  # "The most forwards": those at ``Forward`` only
        right, known = np.ones(len(rows), bool), named == "counted"
    fits = of_class(asked.asked, graph, ours)
    if fits is not None and class_members(asked.asked, graph) is None:
        fits = None  # Drugs are beta blockers, and no class is called drug.
    kept = right if fits is None else right & fits
    if topic is not None:
        noun = " ".join(("which", *asked.asked))
        joined = joined_by_one(np.unique(ours[kept]), noun, graph, topic, 0)
        kept &= np.isin(ours, joined)
    pairs = np.unique(np.stack([ours[kept], others[kept]], axis=1), axis=0)
    if not len(pairs):
        return None
    entities, counts = np.unique(pairs[:, 0], return_counts=True)
    winners = entities[counts == counts.max()]
    if counts.max() < LEAST or len(winners) > MAX_WINNERS:
        return None
    probability = MATCH_PROBABILITY if known else FALLBACK_PROBABILITY
    return EntitySet.of(winners, side, probability, counted=False)


def _is_value(noun: tuple[str, ...], graph: KnowledgeGraph) -> bool:
    """Whether several triplets lead to what a noun names: a condition, and no kind."""
    found = graph.find(" ".join(noun))
    return found is not None and int(graph.by_tail.degrees(np.array([found]))[0]) > 1
