"""What a yes-or-no question states of two names, and whether triplets say so in words.

The walk follows edges both ways and over several steps: to it "is Leo the father of
Tom" and "is Tom the father of Leo" are one question. The words tell them apart. A
triplet that holds what they state the other way round is a "no"; a path each of whose
relations they state, in that direction, is a "yes"; and where names are joined only by
relations that no word is left for, a "yes" of the walk is not sure.

Synonyms are not looked for: what the words do not state is left to the walk. But a "no"
of the walk about two names that a triplet joins is none, where they state nothing here.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.hypernodes import OBJECT, SUBJECT
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.question_mentions import Mention
from kgscout_jax.inference.yes_no import Stated
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import HEAD, TAIL
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words
from kgscout_jax.text.stated_relation import all_answer_ends
from kgscout_jax.text.words import ARTICLES
from kgscout_jax.verify.relation_words import (
    ClaimWords,
    claim_words,
    content_lemmas,
    direction,
    is_mutual,
    readings_of,
    stated_lemmas,
)

STEPS = 4
"""The most triplets between two names."""
_COPULAS = frozenset("is are was were has have had".split())
_AUXILIARIES = frozenset("do does did can".split())
_RELATED = frozenset("related relates similar opposite see adjacent narrower".split())
"""Words of relations by which one thing is none of the other."""
_WITHIN = frozenset(("in", "at", "within", "from"))
"""Words before a place that what is meant lies in: "born in France" by a city's
``country``."""


class Sense(NamedTuple):
    """How the words state one relation."""

    lemmas: frozenset[str]
    """The words that do."""
    sign: int
    """1 if the first name is on the side of its head, -1 if of its tail, 0: unclear."""
    again: bool
    """Whether it may be stated once and followed more often."""
    both_ways: bool


@cache
def transitive_lemmas() -> frozenset[str]:
    """Lemmas of relations that lead on: what is in Lyon is in France."""
    return content_lemmas("located lies contains part situated belongs within".split())


def statement_words(
    question: str, a: Mention, b: Mention, others: Sequence[Mention] = ()
) -> ClaimWords:
    """The words around two names, in the order of a statement.

    "Is Leo the father of Tom" states that Leo is the father of Tom.
    """
    for each in others:
        blank = " " * (each.stop - each.start)
        question = question[: each.start] + blank + question[each.stop :]
    words = claim_words(question, (a.start, a.stop), (b.start, b.stop))
    first = words.before[:1]
    if first and first[0] in _COPULAS:
        between = (*first, *words.between)
        return dataclasses.replace(words, before=words.before[1:], between=between)
    if first and first[0] in _AUXILIARIES:
        return dataclasses.replace(words, before=words.before[1:])
    return words


def read_statement(
    question: str,
    candidates: Candidates,
    mentions: Sequence[Mention],
    relation_of: Callable[[int], str],
    unnamed: Bool[np.ndarray, "v"],
    classes_of: Callable[[frozenset[int]], frozenset[int]],
) -> Stated | None:
    """What the triplets say of a question's statement; None: its words do not tell.

    Args:
        question: the question.
        candidates: of it.
        mentions: its names.
        relation_of: the name of a relation.
        unnamed: True at nodes without a name, which are steps of one fact.
        classes_of: the nodes that are classes of nodes, or classes of those.
    """
    names = [relation_of(int(relation)) for relation in candidates.relations]
    pairs = []
    for a, b in combinations(mentions, 2):
        if a.nodes & b.nodes:
            continue
        others = [each for each in mentions if each not in (a, b)]
        words = statement_words(question, a, b, others)
        ends = a.nodes, b.nodes
        pairs.append(_Pair(candidates, names, words, *ends, unnamed, classes_of))
    alone = len(mentions) == 2
    if alone and any(each.is_said for each in pairs):
        return "yes"
    if any(pair.is_related for pair in pairs):
        return "unsure"
    if any(pair.is_turned for pair in pairs):
        return "no"
    if alone and any(each.is_stated or each.is_called for each in pairs):
        return "yes"
    if any(pair.is_half_called or pair.is_unstated for pair in pairs):
        return "open"
    joined = any(pair.direct or pair.is_explained for pair in pairs)
    return None if joined or not pairs else "unsure"


@dataclass(frozen=True)
class _Pair:
    """Two names of a question, the words around them and the triplets."""

    candidates: Candidates
    relations: Sequence[str]
    words: ClaimWords
    a: frozenset[int]
    b: frozenset[int]
    unnamed: Bool[np.ndarray, "v"]
    classes_of: Callable[[frozenset[int]], frozenset[int]]

    @cached_property
    def senses(self) -> list[Sense | None]:
        """How the words state each relation; None: they do not."""
        return [_sense(self.words, relation) for relation in self.relations]

    @cached_property
    def direct(self) -> list[tuple[int, int]]:
        """(relation, 1 from A to B or -1) of each triplet that joins the two."""
        index = self.candidates.relation_index.tolist()
        out = []
        for (head, tail), relation in zip(
            self.candidates.nodes.tolist(), index, strict=True
        ):
            if head in self.a and tail in self.b:
                out.append((relation, 1))
            elif head in self.b and tail in self.a:
                out.append((relation, -1))
        return out

    @property
    def is_turned(self) -> bool:
        """Whether triplets hold what is stated the other way round, and none does it.

        Only where the words state a relation as a whole: "born" alone is not "born in".
        """
        found = set()
        for relation, way in self.direct:
            sense = self.senses[relation]
            if sense is not None and sense.lemmas and not sense.both_ways:
                found.add(sense.sign * way)
        return found == {-1}

    @property
    def is_stated(self) -> bool:
        """Whether a path says all that the words state."""
        return self._joins(spare=0, strict=True)

    @property
    def is_said(self) -> bool:
        """Whether a triplet answers by B what the question says of A: "does A play for
        B" by ``plays_for_club``, as it answers "what does A play for"."""
        between = [word.casefold() for word in self.words.between]
        if not self.direct or not between or self.words.after:
            return False
        helper = between.pop(0) if between[0] in _COPULAS else "does"
        ends = all_answer_ends(["what", helper, TOPIC, *between], self.relations)
        return any((TAIL if way > 0 else HEAD) in ends[r] for r, way in self.direct)

    @property
    def _has_article(self) -> bool:
        """Whether B stands behind "a"."""
        return self.words.between[-1:] in (("a",), ("an",))

    @property
    def _asks_for_class(self) -> bool:
        """Whether the words ask no more than "is A a B"."""
        return self._has_article and not self.words.content

    @property
    def is_related(self) -> bool:
        """Whether "is A a B" asks of two that triplets but relate: a heat wave is no
        drought by ``related``."""
        said = [{*relation_words(self.relations[each])} for each, _ in self.direct]
        related = bool(said) and not any(map(_RELATED.isdisjoint, said))
        return related and self._asks_for_class

    @property
    def is_called(self) -> bool:
        """Whether "is A a B" asks for no more than a triplet from A to B, or than that
        A is of a class of a class B."""
        if not self._asks_for_class:
            return False
        return any(way > 0 for _, way in self.direct) or not self.b.isdisjoint(
            self.classes_of(self.a)
        )

    @property
    def is_half_called(self) -> bool:
        """Whether "is A a B card" is so but for what follows B, which nothing says."""
        rest = self.words.content <= content_lemmas(self.words.after)
        return self._has_article and rest and any(way > 0 for _, way in self.direct)

    @property
    def is_unstated(self) -> bool:
        """Whether triplets join the two, and the words state no relation at all: they
        may be other words for the one that joins them."""
        states = any(sense and sense.lemmas for sense in self.senses)
        said = bool(self.direct and self.words.content)
        return said and not (states or self._has_article)

    @property
    def is_explained(self) -> bool:
        """Whether a path needs no more relations than the words may stand for."""
        used = [sense.lemmas for sense in self.senses if sense is not None]
        spare = len(self.words.content - frozenset().union(*used))
        return self._joins(spare=spare, strict=False)

    @cached_property
    def _arcs(self) -> dict[int, list[tuple[int, int, int]]]:
        """Node -> (node beyond, relation, 1 along the triplet or -1)."""
        arcs: dict[int, list[tuple[int, int, int]]] = {}
        index = self.candidates.relation_index.tolist()
        for (head, tail), relation in zip(
            self.candidates.nodes.tolist(), index, strict=True
        ):
            arcs.setdefault(head, []).append((tail, relation, 1))
            arcs.setdefault(tail, []).append((head, relation, -1))
        return arcs

    def _joins(self, *, spare: int, strict: bool) -> bool:
        """Whether a path leads from A to B.

        Args:
            spare: its relations that no word states, at most.
            strict: whether its words must tell the direction, and all words be used.
        """
        State = tuple[int, frozenset[str], int]
        first: list[State] = [(node, frozenset(), spare) for node in sorted(self.a)]
        queue = deque((state, 0) for state in first)
        known = set(first)
        while queue:
            (node, used, left), steps = queue.popleft()
            if node in self.b and (not strict or self.words.content <= used):
                return True
            if steps == STEPS or node in self.b:
                continue
            for beyond, relation, way in self._arcs.get(node, ()):
                after = self._after(relation, way, used, left, strict)
                if self._is_part(node, relation):
                    after = after or (used, left)
                if after is None or beyond in self.a:
                    continue
                state = (beyond, *after)
                if state not in known:
                    known.add(state)
                    queue.append((state, steps + 1))
        return False

    def _is_part(self, node: int, relation: int) -> bool:
        """Whether a step out of a node is a part of the fact that led there."""
        return bool(self.unnamed[node]) or self.relations[relation] in (SUBJECT, OBJECT)

    def _after(
        self, relation: int, way: int, used: frozenset[str], left: int, strict: bool
    ) -> tuple[frozenset[str], int] | None:
        """(words used, spare ones) after a step; None where it may not be taken."""
        sense = self.senses[relation]
        if sense is None:
            return (used, left - 1) if left else None
        if sense.sign == -way or (strict and not (sense.sign or sense.both_ways)):
            return None
        if not (sense.again or sense.lemmas - used):
            return None
        return used | sense.lemmas, left


def _sense(words: ClaimWords, relation: str) -> Sense | None:
    """How words state a relation; None where they do not.

    By its lemmas; or by a preposition before the second name, where the relation leads
    on ("lives in France" over ``located in``) or no other word is there.
    """
    if lemmas := stated_lemmas(words.content, relation):
        again = lemmas <= transitive_lemmas()
        return Sense(lemmas, direction(words, relation), again, is_mutual(relation))
    own = relation_words(relation)
    nearest = [word for word in words.between if word not in ARTICLES][-1:]
    if len(own) == 1 and own[0] in PREPOSITIONS & set(words.all):
        sign = int(own == nearest)
        return Sense(frozenset(own), sign, own[0] in ("in", "within"), False)
    if nearest and nearest[0] in _WITHIN and needs_no_word(relation):
        return Sense(frozenset(), 1, True, False)
    for reading in readings_of(relation):
        leads_on = content_lemmas(reading.words.split()) <= transitive_lemmas()
        if [reading.particle] == nearest and (leads_on or not words.content):
            sign = -1 if reading.inverted else 1
            return Sense(frozenset(), sign, leads_on, False)
    return None
