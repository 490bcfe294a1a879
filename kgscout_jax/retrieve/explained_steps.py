"""Nodes at the end of steps that the words of a question explain best.

``chain_nodes`` follows steps each of which a word names. People also say of what kind
the nodes between are ("games by studios from Poland"), and let a preposition stand for
a step or two: who is from Poland was born, or has an office, in a city there. Here each
word names a step, or says what nodes are called; a step that no word names costs, and
so does a word that nothing here explains. The cheapest reading counts, if there is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.chain_nodes import MOST, chain_here
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.retrieve.step_words import RELATED, Arc, StepWord, StepWords
from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.kin_words import one_word_kin
from kgscout_jax.text.kinds import HEAD, TAIL, base_noun, noun_kind
from kgscout_jax.text.question_chain import ChainWord
from kgscout_jax.text.question_clause import around_topic
from kgscout_jax.text.relation_phrases import relation_forms
from kgscout_jax.text.relation_words import relation_words

WITHIN = 0.1
"""Cost of steps to what lies within a place, after "in" or "from"."""
UNSAID = 0.4
"""Cost of another step that a preposition stands for."""
UNKNOWN = 0.2
"""Cost of a noun that calls nothing here."""
HIGHEST = 0.8
"""Cost of a reading, at most."""
_DEPTH = 3
"""Steps to what lies within a place."""
_PLACING = frozenset("in from at on near inside within".split())
"""Words before a topic that may stand for where something is."""
_LINKING = _PLACING | frozenset("of by with for".split())
"""Words before a topic that may stand for any step."""

_ORIGIN = frozenset("birth birthplace native origin hometown nationality".split())
"""Words of relations to where somebody is from."""

Mask = Bool[np.ndarray, "v"]


class _State(NamedTuple):
    """Nodes that the words up to one of them lead to."""

    nodes: Mask
    cost: float
    hops: int
    relations: frozenset[int]
    """Of the last step."""
    end: int
    """Where that led."""
    unsaid: bool = False
    """Whether no word says the last step, nor what it leads to."""
    described: bool = False
    """Whether a word says what the nodes are called."""
    called: bool = False
    """Whether the one step so far leads to what a word calls so."""


def explained_nodes(
    question: str,
    topics: Sequence[str],
    around: LocalGraph,
    unnamed: Mask,
    likely: Mask,
) -> Mask | None:
    """The nodes at the end of the steps that explain a question; None: there are none.

    Two steps or more from its one topic, or one to what the question calls so and to be
    there ("clubs from London"): single relations are ``stated_nodes``.

    Args:
        question: the question.
        topics: names that it mentions.
        around: its candidates.
        unnamed: True at nodes without a name.
        likely: True at nodes that may be of the kind of the answer.
    """
    chain = None
    if len(around.mentions) == 1:
        chain = chain_here(question, topics, around.relations)
    if chain is None or any(one_word_kin(word.text) for word in chain.words):
        return None  # ``chain_nodes`` knows relatives.
    steps, words = _Steps(around, len(unnamed)), StepWords(around, len(unnamed))
    tokens = question_tokens(question, topics)
    if ";" in tokens:
        return None  # Two clauses, of which one says nothing of the answer.
    preposition = _preposition(tokens)
    noun = chain.words[0].text if chain.words else chain.kind or ""
    states = [*steps.first(preposition, noun_kind(base_noun(noun)) == "person")]
    named = frozenset[int]()
    for each in chain.words:
        word = words.read(each, named)
        named = word.named
        states = _cheapest(s for state in states for s in steps.after(state, word))
    if chain.kind is not None:
        word = words.read(ChainWord(chain.kind), named)
        states = _cheapest(
            s for state in states for s in steps.after(state, word, likely)
        )
    ends = _cheapest(
        state._replace(nodes=state.nodes & likely & ~steps.start & ~unnamed)
        for state in states
        if state.hops and not state.unsaid
    )
    if not ends or (len(ends) > 1 and np.isclose(ends[1].cost, ends[0].cost)):
        return None
    best = ends[0]
    is_way = best.hops > 1 or (best.called and preposition in _PLACING)
    return best.nodes if is_way and best.nodes.sum() <= MOST else None


def _preposition(tokens: Sequence[str]) -> str:
    """The word beside the topic that may stand for a step; "" for none."""
    parts = around_topic(tokens)
    if parts is None:
        return ""
    before, after = parts
    if after[:1] == ["s"]:
        return "of"
    before = [word for word in before if word not in ("the", "a", "an")]
    return before[-1] if before and before[-1] in _LINKING else ""


def _cheapest(states: Iterable[_State]) -> list[_State]:
    """Each set of nodes once, by its least cost, the cheapest first.

    Without those that cost more than ``HIGHEST``: no word lowers a cost.
    """
    best: dict[bytes, _State] = {}
    for state in states:
        if state.cost > HIGHEST:
            continue
        key = state.nodes.tobytes()
        known = best.get(key)
        if b"\1" in key and (known is None or state.cost < known.cost):
            best[key] = state
    return sorted(best.values(), key=lambda state: state.cost)


@lru_cache(maxsize=1 << 14)
def _says_origin(relation: str) -> bool:
    """Whether who is from a place is so by a relation.

    >>> [_says_origin(each) for each in ("place_of_birth", "birth_year", "lives_in")]
    [True, False, False]
    """
    is_time = noun_kind(" ".join(relation_words(relation))) == "time"
    return not is_time and not _ORIGIN.isdisjoint(relation_forms(relation))


@dataclass(frozen=True)
class _Steps:
    """The steps of one question."""

    around: LocalGraph
    v: int

    @cached_property
    def start(self) -> Mask:
        """True at the topic."""
        out = np.zeros(self.v, bool)
        out[self.around.starts] = True
        return out

    def first(self, preposition: str, people: bool) -> Iterator[_State]:
        """Where the words may begin: at the topic, or after steps that need no word.

        ``people``: whether the first word calls people.
        """
        yield _State(self.start, 0.0, 0, frozenset(), HEAD)
        if not preposition:
            return
        implied = frozenset(
            number
            for number, relation in enumerate(self.around.relations)
            if needs_no_word(relation)
            or (people and preposition == "from" and _says_origin(relation))
        )
        if preposition in _PLACING:
            nodes = within = self.start
            for depth in range(1, _DEPTH + 1):
                inside = self._over(nodes, [(number, HEAD) for number in implied])
                nodes = np.logical_or.reduce([*inside.values(), within]) & ~within
                within = within | nodes
                yield _State(nodes, WITHIN, depth, implied, HEAD)
        every = [(number, HEAD) for number in range(len(self.around.relations))]
        for (relation, _), nodes in self._over(self.start, every).items():
            if preposition not in _PLACING or relation not in implied:
                step = frozenset([relation])
                yield _State(nodes, UNSAID, 1, step, HEAD, unsaid=True)

    def after(
        self, state: _State, word: StepWord, likely: Mask | None = None
    ) -> Iterator[_State]:
        """Where a word leads: a step on, or to those of the nodes that it calls so.

        ``likely``: nodes that may be of the kind of the answer, which the word says;
        None for other words.
        """
        if word.joined and not word.named.isdisjoint(state.relations):
            yield state
        if word.is_rank:
            yield state._replace(cost=state.cost + UNKNOWN)
        here = state.nodes & word.called
        is_here = bool(here.any())
        if not state.hops and word.is_people:
            yield state  # What people in Bern speak is what Bern does.
        if state.hops and not state.described:  # No two nouns call the same nodes.
            said = state._replace(unsaid=False)
            if is_here:
                is_first = state.hops == 1 and (state.unsaid or state.cost == WITHIN)
                yield said._replace(nodes=here, described=True, called=is_first)
            elif word.is_unknown if likely is None else not word.is_attribute:
                nodes = state.nodes if likely is None else state.nodes & likely
                yield said._replace(nodes=nodes, cost=state.cost + UNKNOWN)
        on = {} if state.unsaid else self._over(state.nodes, word.arcs)
        back = {}
        if state.hops and is_here:  # "Players with an agent from Acme" have them.
            back = self._over(here, [(r, HEAD) for r, end in word.arcs if end == TAIL])
        for (relation, end), cost in word.arcs.items():
            step = frozenset([relation])
            is_return = step <= state.relations and end != state.end
            if is_return and state.hops:
                continue
            cost, hops = state.cost + cost, state.hops + 1
            if (nodes := on.get((relation, end))) is not None:
                yield _State(nodes & ~state.nodes, cost, hops, step, end)
            nodes = back.get((relation, HEAD)) if end == TAIL else None
            if nodes is not None:
                cost += RELATED
                yield _State(nodes & ~state.nodes, cost, hops, step, HEAD)

    def _over(self, nodes: Mask, arcs: Collection[Arc]) -> dict[Arc, Mask]:
        """Where each arc leads from these nodes; without those that lead nowhere."""
        is_arc = np.zeros((len(self.around.relations), 2), bool)
        if arcs:
            is_arc[(*np.array([*arcs]).T,)] = True
        slots, side = np.nonzero(nodes[self.around.nodes])
        relation, end = self.around.relation_index[slots], 1 - side
        there = is_arc[relation, end]
        slots, relation, end = slots[there], relation[there], end[there]
        found, row = np.unique(2 * relation + end, return_inverse=True)
        out = np.zeros((len(found), self.v), bool)
        out[row, self.around.nodes[slots, end]] = True
        return {
            divmod(key, 2): mask for key, mask in zip(found.tolist(), out, strict=True)
        }
