"""Which nodes pass a question's test of values: the latest one, those above a limit.

The nodes to choose from are of one reading (see ``readings``), such as the films of a
director, or the two that a question names. Their values are the tails of one relation,
which the question's words name ("latest release year") or imply ("oldest").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.readings import joined_alike, node_readings
from kgscout_jax.text.relation_words import (
    RANK_ADVERBS,
    of_other_years,
    plain_words,
    relation_words,
)
from kgscout_jax.text.value_column import Value, ValueColumn
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.value_words import measured_keys, relation_keys, word_key
from kgscout_jax.text.values import quantity_of

PENALTY = 6.0
"""Logits that nodes lose which do not pass: with this loss probabilities mean what they
say (figures in ``recipes/base.md``)."""
GAP = 4.0
"""Nodes this far below the best one of their reading are not chosen from."""
JOINED_GAP = 8.0
"""The same of those that its topic has by the same relation."""
NEAR = 3.0
"""Nodes this far below the best node of all are not what the question asks for."""
MIN_COVERAGE = 0.5
"""Least share of the nodes to choose from whose values are known, for a superlative."""
_RANKS = frozenset(map(word_key, RANK_ADVERBS))
"""Keys of words that rank, and do not say which values: ``first_released``."""
_OF_LIFE = frozenset(map(word_key, ("birth", "death")))
"""Keys of relations to days that no other verb means."""
IMPLIED = 1.0
SAID = 1.5
WEIGHTS = (2.0, SAID, IMPLIED)
"""Of a relation's word that stands next to the comparing word, elsewhere in the
question, or that the comparing word implies."""
POPULATION = word_key("population")
SIZES = frozenset((word_key("area"), POPULATION))
SETTLEMENTS = frozenset(map(word_key, "city town village municipality".split()))
"""Their size is their population, that of anything else the area."""
USUAL = 0.01
"""Of the one of two sizes that is usually meant."""
BELOW = 1e-3
"""A value stands this far below the triplet that leads to its node."""
MIN_VALUE_SHARE = 0.8
"""Least share of a relation's tails that are values."""


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A relation to values: of each node the one that the test asks about."""

    relation: str
    match: float
    """How well the question's words fit, 0 to 2."""
    values: dict[int, Value]
    """By node; negated where a high value is a low one: "oldest" by age."""
    slots: dict[int, int]
    """The candidate that holds the value of each node."""
    limits: tuple[Value, ...] = ()
    """The question's limits as values of the relation, negated like those."""
    unread: frozenset[int] = frozenset()
    """Nodes none of whose values is comparable with the others."""
    unit: str = ""
    """What most values are written in: patients, $."""

    def slots_of(self, nodes: Sequence[int]) -> tuple[int, ...]:
        """The candidates that hold the values of ``nodes``."""
        return tuple(self.slots[node] for node in nodes)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a test found."""

    attribute: Attribute
    group: list[int]
    """The nodes to choose from."""
    passed: list[int]
    """Those of them that pass."""


@dataclass(frozen=True, kw_only=True)
class ValueTest:
    """The test of one question, and the values around."""

    question: ValueQuestion
    """With local nodes for its topics."""
    attributes: list[Attribute]
    """Best match first."""
    nodes: Int[np.ndarray, "n 2"]
    relation_index: Int[np.ndarray, "n"]
    starts: Int[np.ndarray, "t"]
    members: Bool[np.ndarray, "v"] | None = None
    """What the question says that it compares; None where it does not."""

    def apply(
        self,
        found: Outcome | None,
        logits: Float32[np.ndarray, "n"],
        answers: Float32[np.ndarray, "v"],
    ) -> tuple[Float32[np.ndarray, "n"], Float32[np.ndarray, "v"]]:
        """Logits of the candidates and of the nodes after the test.

        Nodes that do not pass lose ``PENALTY``. A triplet to a value rises to the best
        one at its node, those of entities that the question names above all others,
        those ahead first.

        Args:
            found: the outcome; None where nothing passes.
            logits: of the candidates.
            answers: of the nodes.
        """
        triplets = logits.copy()
        if (compared := self.compared) and self.named:
            ahead = self.ahead_first(compared, self.named)
            steps = BELOW * np.arange(len(ahead), 0, -1, dtype=np.float32)
            triplets[[*compared.slots_of(ahead)]] = logits.max() + steps
        if found is None:
            return triplets, answers
        best = np.full(len(answers), -np.inf, np.float32)
        np.maximum.at(best, self.nodes.ravel(), np.repeat(logits, 2))
        slots = [*found.attribute.slots_of(found.group)]
        triplets[slots] = np.maximum(triplets[slots], best[found.group] - BELOW)
        tested = answers - np.float32(PENALTY)
        top = answers if self.question.choice else answers[found.group]
        tested[found.passed] = np.maximum(answers[found.passed], top.max())
        return triplets, tested

    @property
    def named(self) -> list[int]:
        """The nodes that the question itself compares: "A or B", "is A older than"."""
        asked = self.question
        if asked.choice:
            return [*asked.choice]
        both = (asked.subject, asked.rival)
        return [node for node in both if node is not None]

    @cached_property
    def compared(self) -> Attribute | None:
        """The first attribute that all ``named`` nodes have; None without such."""
        named = {*self.named}
        return next((a for a in self.attributes if a.values.keys() >= named), None)

    def outcome(
        self, logits: Float32[np.ndarray, "n"], answers: Float32[np.ndarray, "v"]
    ) -> Outcome | None:
        """What passes; None where no values fit, or nothing passes."""
        if self.question.choice:
            compared = self.compared
            return compared and self._outcome(compared, self.named)
        others = logits.copy()  # a value must not tell the nodes that have it apart
        others[[s for a in self.attributes for s in a.slots.values()]] = -np.inf
        readings = node_readings(
            others, self.nodes, self.relation_index, self.starts, len(answers)
        )
        found: list[tuple[tuple[float, float], Attribute, list[int]]] = []
        for attribute in self.attributes:
            valued = np.setdiff1d([*attribute.values], self.starts).astype(np.int64)
            valued = valued[np.isfinite(answers[valued])]
            if self.members is not None:
                valued = valued[self.members[valued]]
            if not len(valued):
                continue
            best = valued[np.argmax(answers[valued])]
            top = float(answers[best])
            alike = joined_alike(
                int(best), others, self.nodes, self.relation_index, self.starts
            )
            if alike is None:
                rivals = (readings == readings[best]) & (answers >= top - GAP)
            else:
                rivals = np.zeros(len(answers), bool)
                rivals[alike] = answers[alike] >= top - JOINED_GAP
            if self.members is not None:
                rivals, top = self.members.copy(), float(answers.max())
            rivals[self.starts] = False
            group = valued[rivals[valued]].tolist()
            unread = any(rivals[node] for node in attribute.unread)
            known = not unread and self._known(len(group), rivals.sum())
            near = top >= answers.max() - NEAR or attribute.match >= SAID
            if near and known:
                found.append(((attribute.match, top), attribute, group))
        if not found or (len(found) > 1 and not any(a.match for _, a, _ in found)):
            return None
        _, attribute, group = max(found, key=lambda each: each[0])
        return self._outcome(attribute, group)

    def _known(self, valued: int, rivals: int) -> bool:
        """Whether enough values are known to tell the highest."""
        least = max(1, MIN_COVERAGE * rivals)
        return not self.question.is_superlative or valued > least

    def _outcome(self, attribute: Attribute, group: list[int]) -> Outcome | None:
        passed = self.passed(attribute, group)
        if not passed:
            return None
        return Outcome(attribute=attribute, group=group, passed=passed)

    def ahead_first(self, attribute: Attribute, nodes: Sequence[int]) -> list[int]:
        """Nodes that have a value, in the order that the test prefers."""
        key, high = attribute.values.__getitem__, self.question.prefers_high
        return sorted(nodes, key=key, reverse=high)

    def passed(self, attribute: Attribute, group: Sequence[int]) -> list[int]:
        """The nodes of ``group`` that pass; all of them have a value."""
        values, asked = attribute.values, self.question
        if asked.is_superlative and (asked.place, asked.count) != (1, 1):
            return self._at_places(attribute, group)
        if asked.is_superlative:
            extreme = max if asked.prefers_high else min
            best = extreme((values[node] for node in group), key=attrgetter("number"))
            # 1950 is no earlier than 1950-05-01.
            return [node for node in group if values[node].order(best) == 0]
        limits = attribute.limits
        if asked.rival is not None:
            limits = tuple(values[n] for n in (asked.rival,) if n in values)
        return [
            node for node in group if limits and _passes(asked, values[node], limits)
        ]

    def _at_places(self, attribute: Attribute, group: Sequence[int]) -> list[int]:
        """Those at the places that a superlative names, equal ones together."""
        values, asked = attribute.values, self.question
        levels: list[list[int]] = []
        for node in self.ahead_first(attribute, group):
            if levels and values[node].order(values[levels[-1][0]]) == 0:
                levels[-1].append(node)
            else:
                levels.append([node])
        if asked.place > 1:
            return levels[asked.place - 1] if len(levels) >= asked.place else []
        found: list[int] = []
        for level in levels:
            if len(found) < asked.count:
                found += level
        return found


def value_test(
    asked: ValueQuestion | None,
    around: LocalGraph,
    members: Bool[np.ndarray, "v"] | None = None,
    unnamed: Bool[np.ndarray, "v"] | None = None,
) -> ValueTest | None:
    """The test of a question; None where it compares no values that are here.

    Args:
        asked: with local nodes for its topics, -1 for one that is not here.
        around: its candidates; nothing is chosen from its topics.
        members: nodes that are compared, where the question says it.
        unnamed: True at nodes without a name, whose values are their owner's.
    """
    if asked is None:
        return None
    holders = around.nodes[:, 0]
    if unnamed is not None:
        holders = holders_of_values(holders, around.nodes, unnamed)
    spelt = defaultdict[tuple[str, ...], list[int]](list)
    for i, relation in enumerate(around.relations):
        spelt[relation.rpartition(".")[0], *plain_words(relation)].append(i)
    found = [_attribute(asked, same, around, holders) for same in spelt.values()]
    names = [around.relations[same[0]] for same in spelt.values()]
    years = of_other_years(names, asked.words | {*asked.limits})
    pairs = zip(found, years, strict=True)
    fitting = [each for each, other in pairs if each is not None and not other]
    named = [each for each in fitting if each.match]
    # "The most awards" says what is compared.
    says = asked.word.weak or asked.word.of_amount
    # "Contracts that lapse before 2020" have but one day.
    by_day = asked.limits_time and not asked.is_superlative
    if not named and by_day:  # Nobody is born when he died.
        fitting = [a for a in fitting if _OF_LIFE.isdisjoint(relation_keys(a.relation))]
    if not named and (says or not fitting or (len(fitting) > 1 and not by_day)):
        return None
    starts = around.starts
    if asked.rival is not None and asked.rival >= 0:
        starts = np.append(starts, asked.rival)
    return ValueTest(
        question=asked,
        attributes=sorted(named or fitting, key=lambda each: -each.match),
        nodes=around.nodes,
        relation_index=around.relation_index,
        starts=starts,
        members=members,
    )


def holders_of_values(
    heads: Int[np.ndarray, "n"],
    into: Int[np.ndarray, "m 2"],
    unnamed: Bool[np.ndarray, "v"],
) -> Int[np.ndarray, "n"]:
    """Heads, or their owner where they have no name and but one triplet leads to them.

    Freebase gives a film a node without a name for each cut, which has a runtime.

    Args:
        heads: nodes that have values.
        into: heads and tails of all triplets that lead to those without a name.
        unnamed: True at nodes without a name.
    """
    sole = unnamed & (np.bincount(into[:, 1], minlength=len(unnamed)) == 1)
    owner = np.arange(len(unnamed))
    leading = sole[into[:, 1]] & ~unnamed[into[:, 0]]
    owner[into[leading, 1]] = into[leading, 0]
    return owner[heads]


def _attribute(
    asked: ValueQuestion,
    same: Sequence[int],
    around: LocalGraph,
    holders: Int[np.ndarray, "n"],
) -> Attribute | None:
    """The values of a relation; None where it leads to others than are compared.

    ``same``: the spellings of its name, such as "founded in" and "was founded in".
    """
    relation, nodes = around.relations[same[0]], around.nodes
    slots = np.flatnonzero(np.isin(around.relation_index, same))
    keys = relation_keys(relation)
    if relation_words(relation)[-1:] == ["id"]:
        return None  # the first of the ships has no low ``ship_id``
    names = around.names_of(nodes[slots, 1]) if keys else []
    n_values = sum(quantity_of(name) is not None for name in names)
    if not n_values or n_values < MIN_VALUE_SHARE * len(names):
        return None
    column = ValueColumn.of(
        names, relation_words(relation), decimal_commas=around.decimal_commas
    )
    found = [column.read(name) for name in names]
    by_age = asked.word.of_age and "age" in keys and not column.dated
    other = asked.word.dated not in (None, column.dated) and not by_age
    # "The most expensive order" is no late one, whatever ``ordered_on`` says.
    if other and (asked.test == "within" or column.dated or not asked.near & keys):
        return None
    if column.dated and (
        asked.word.of_amount or (asked.limits and not asked.limits_time)
    ):
        return None  # "orders over 300" are none after the year 300
    limits = asked.limits_in(column)
    if limits is None or (asked.word.of_age and limits and by_age == asked.limits_time):
        return None  # nobody is 1990 years old, or born in 30
    values: dict[int, Value] = {}
    of_value: dict[int, int] = {}
    for slot, value in zip(slots.tolist(), found, strict=True):
        if value is None:
            continue
        node, value = int(holders[slot]), value.negated() if by_age else value
        old = values.get(node)
        if old is None or _is_ahead(asked, value, old, limits):
            values[node], of_value[node] = value, slot
    return Attribute(
        relation=relation,
        match=_match(asked, relation),
        values=values,
        slots=of_value,
        limits=tuple(each.negated() for each in limits) if by_age else limits,
        unread=frozenset(holders[slots].tolist()) - values.keys(),
        unit=column.unit,
    )


def _passes(asked: ValueQuestion, value: Value, limits: Sequence[Value]) -> bool:
    """Whether a value is beyond the limit, or within both of them."""
    order = value.order(limits[0])
    if asked.test == "within":
        as_exact = value.parts >= max(limit.parts for limit in limits)
        return order >= 0 >= value.order(limits[-1]) and as_exact
    if not asked.prefers_high:
        order = -order
    return order > 0 or (asked.inclusive and order == 0)


def _is_ahead(
    asked: ValueQuestion, value: Value, other: Value, limits: Sequence[Value]
) -> bool:
    """Whether a value of a node is to be tested rather than another one of it."""
    if asked.test == "within":
        return _passes(asked, value, limits)
    if asked.prefers_high:
        return value.number > other.number
    return value.number < other.number


def _match(asked: ValueQuestion, relation: str) -> float:
    """How well the question's words fit a relation's: 2 where all stand near."""
    keys = relation_keys(relation)
    if keys.isdisjoint(asked.words | asked.word.implied):
        measured = measured_keys(relation) & (asked.word.implied | asked.near)
        return IMPLIED * bool(measured)
    keys = keys - _RANKS or keys
    places = (asked.near, asked.words, asked.word.implied)
    weights = [
        max(
            weight * (key in words)
            for weight, words in zip(WEIGHTS, places, strict=True)
        )
        for key in keys
    ]
    both = asked.word.implied >= SIZES
    usual = word_key("area") if SETTLEMENTS.isdisjoint(asked.words) else POPULATION
    return sum(weights) / len(keys) + USUAL * (both and usual in keys)
