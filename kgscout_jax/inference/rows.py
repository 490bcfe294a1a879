"""Rows without a name that have what a question names: transfers, orders, edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.edge_kinds import kind_verbs
from kgscout_jax.graph.row_id import table_of_row
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.class_members import class_relations
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.topic_neighbours import Topic, without_topic
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.text.kinds import TAIL, base_noun
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.value_question_parser import NUMERALS, ORDINALS
from kgscout_jax.text.value_words import (
    is_explained,
    relation_keys,
    says_when,
    word_key,
)
from kgscout_jax.text.values import is_date, is_year, quantity_of
from kgscout_jax.text.words import FUNCTION_WORDS, WORD

START_WORDS = frozenset("since start started from begin began joined hired".split())
"""Words of relations to the day on which something begins."""
_DOINGS = frozenset(
    "place placed make made play played happen happened occur occurred take took hold "
    "held record recorded strike struck hit ever overall all many number include "
    "includes included contain contains contained involve involves involved get gets "
    "got receive receives received give gives gave given earn earns earned".split()
)
"""What rows of any table do: "orders placed", "matches played"."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows that have all that a question names."""

    graph: KnowledgeGraph
    text: str
    """The question."""
    rows: Int[np.ndarray, "w"]
    rest: str
    """The question without those names."""
    names: tuple[str, ...]
    relations: frozenset[int] = frozenset()
    """Those by which the rows have it."""

    @staticmethod
    def of(text: str, graph: KnowledgeGraph) -> Rows:
        """All rows of a graph, for a question."""
        rows = np.unique(graph.triplets[:, 0])
        return Rows.among(rows, text, graph)

    @staticmethod
    def among(nodes: Int[np.ndarray, "n"], text: str, graph: KnowledgeGraph) -> Rows:
        """The rows among nodes."""
        rows = np.unique(nodes[graph.unnamed_mask[nodes]])
        return Rows(graph=graph, text=text, rows=rows, rest=text, names=())

    def joined(self, topic: Topic, nodes: Int[np.ndarray, "n"]) -> Rows:
        """Those of the rows among nodes, which a topic joins."""
        return replace(
            self.with_rows(
                np.intersect1d(self.rows, nodes), without_topic(self.rest, topic, ())
            ),
            names=(*self.names, topic.name),
        )

    def with_rows(self, rows: Int[np.ndarray, "w"], rest: str) -> Rows:
        """Some of the rows, and what of the question does not choose them."""
        return replace(self, rows=rows, rest=rest)

    def answers(
        self, passed: Int[np.ndarray, "p"], column: int, measure: int
    ) -> EntitySet | None:
        """What some of the rows lead to, shown by these and what was compared of them.

        Args:
            passed: these rows.
            column: the relation to what is asked for.
            measure: the relation to what was compared.
        """
        rows = self.triplets
        won = np.isin(rows[:, 0], passed) & (rows[:, 1] == column)
        found = EntitySet.of(
            np.unique(rows[won, 2]), (column, TAIL), MATCH_PROBABILITY, counted=False
        )
        return found and found.shown_by(passed, measure)

    @cached_property
    def triplets(self) -> Int[np.ndarray, "m 3"]:
        """What the rows hold."""
        _, ids = self.graph.by_head.rows(self.rows)
        return np.asarray(self.graph.triplets[ids])

    def of_class(self, nouns: frozenset[str]) -> Rows:
        """The rows of the classes that a question names; all without any."""
        groups = [each for each in self.by_class() if each.class_nouns & nouns]
        rows = [each.rows for each in groups]
        return replace(self, rows=np.unique(np.concatenate(rows))) if rows else self

    def by_class(self) -> list[Rows]:
        """The rows of each class, and those without one."""
        of_class = np.isin(self.triplets[:, 1], class_relations(self.graph))
        heads, _, classes = self.triplets[of_class].T
        groups = [heads[classes == each] for each in np.unique(classes)]
        groups.append(np.setdiff1d(self.rows, heads))
        return [replace(self, rows=np.unique(rows)) for rows in groups if len(rows)]

    @cached_property
    def columns(self) -> list[int]:
        """The relations of the rows, but for those to their classes."""
        classes = class_relations(self.graph)
        return np.setdiff1d(self.triplets[:, 1], classes).tolist()

    @cached_property
    def times(self) -> list[int]:
        """The relations to days, or else to years."""
        names = self.graph.relation_names
        days = [i for i in self.columns if self.leads_to_all(is_date, i)]
        return days or [
            i
            for i in self.columns
            if self.leads_to_all(is_year, i)
            and (
                says_when(names[i])
                or START_WORDS.intersection(relation_words(names[i]))
            )
        ]

    @cached_property
    def numbers(self) -> list[int]:
        """The relations to numbers that are no times."""
        names = self.graph.relation_names
        return [
            i
            for i in self.columns
            if self.leads_to_all(is_plain_number, i) and not says_when(names[i])
        ]

    @cached_property
    def nouns(self) -> frozenset[str]:
        """What the rows are called: by their classes, or else by their table."""
        ids = texts_of(self.graph.entities, self.rows[:1])
        tables = [table for each in ids if (table := table_of_row(each))]
        return self.class_nouns or frozenset(base_noun(t.casefold()) for t in tables)

    @cached_property
    def class_nouns(self) -> frozenset[str]:
        """What the classes of the rows are called."""
        rows = self.triplets
        of_class = rows[np.isin(rows[:, 1], class_relations(self.graph)), 2]
        classes = texts_of(self.graph.entities, np.unique(of_class)[:10])
        return frozenset(base_noun(name.casefold()) for name in classes)

    def leads_to_all(self, test: Callable[[str], bool], relation: int) -> bool:
        """Whether all that a relation leads to passes a test of names."""
        tails = np.unique(self.triplets[self.triplets[:, 1] == relation, 2])
        return all(map(test, texts_of(self.graph.entities, tails)))

    def is_noun(self, name: str) -> bool:
        """Whether a name says what rows are, or nothing."""
        words = WORD.findall(name.casefold())
        names = self.nouns | FUNCTION_WORDS | _DOINGS
        return all(word in names or base_noun(word) in names for word in words)

    def unexplained(self, relations: Sequence[int], nouns: frozenset[str]) -> list[str]:
        """Words of the rest that neither these relations nor nouns explain."""
        names = self.graph.relation_names
        known = {*relations, *self.relations}
        keys = frozenset[str]().union(*(relation_keys(names[each]) for each in known))
        keys |= {word_key(noun) for noun in self.nouns}
        verbs = (verb for noun in self.class_nouns for verb in kind_verbs(noun))
        keys |= set(map(word_key, verbs))
        nouns |= self.nouns
        return [
            word
            for word in WORD.findall(self.rest.casefold())
            if not (
                is_explained(word, keys, nouns)
                or word in _DOINGS
                or word in ORDINALS
                or word in NUMERALS
            )
        ]


def is_plain_number(name: str) -> bool:
    """Whether a name is a number, perhaps with a unit, and no day."""
    return quantity_of(name) is not None and not is_date(name)
