"""What a word of a question may say of candidates: a step, or what nodes are called.

A step costs nothing where a relation has the word itself, and something where it has a
related one. Figures of costs: ``explained_steps``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.chain_nodes import named_step_ends
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.node_classes import NodeClasses, called_nodes, node_classes
from kgscout_jax.text.asked_kind import noun_synonyms
from kgscout_jax.text.kinds import (
    NAMED,
    base_noun,
    end_nouns,
    is_attribute,
    names_same,
    singular_form,
)
from kgscout_jax.text.question_chain import ChainWord
from kgscout_jax.text.relation_phrases import own_forms, relation_forms, word_forms
from kgscout_jax.text.relation_words import RANK_ADVERBS

RELATED = 0.1
"""Cost of a step that a word names by a related one."""
LESS_LIKELY = 0.3
"""The same where others are called by that word itself."""

Arc = tuple[int, int]
"""A relation, and the end that a step along it leads to."""


class StepWord(NamedTuple):
    """What a word of the question says."""

    named: frozenset[int]
    """Relations."""
    arcs: dict[Arc, float]
    """Steps that it may be, and what each costs."""
    called: Bool[np.ndarray, "v"]
    """True at nodes that relations or classes call so."""
    joined: bool
    """Whether it may say the same step as the word before it."""
    is_rank: bool
    """Whether it is "first" or "last", and joined."""
    is_people: bool
    """Whether it says no more than that people are meant."""
    is_attribute: bool
    """Whether it calls what others have, such as a currency, rather than things."""
    is_unknown: bool
    """Whether it is a noun, or one in plural, and says nothing else here."""


def _nouns(word: str) -> frozenset[str]:
    """What a word calls things, in singular."""
    noun = base_noun(word)
    return frozenset({noun} | noun_synonyms({noun}))


@lru_cache(maxsize=1 << 14)
def _calls(word: str, relation: str) -> tuple[bool, bool]:
    """Whether a relation calls its heads and its tails what a word does."""
    nouns = _nouns(word)
    head, tail = (
        any(weight >= NAMED and names_same(n, nouns) for n, weight in end.items())
        for end in end_nouns(relation)
    )
    return head, tail


@dataclass(frozen=True)
class StepWords:
    """The words of one question."""

    around: LocalGraph
    """Its candidates."""
    v: int
    """Number of nodes."""

    def read(self, word: ChainWord, before: frozenset[int]) -> StepWord:
        """What a word says here; ``before``: relations that the one before it names."""
        relations, arcs = self.around.relations, self._named_arcs(word)
        named = frozenset(number for number, _ in arcs)
        calls = np.array([_calls(word.text, each) for each in relations], bool)
        for number, end in np.argwhere(calls).tolist():
            arcs.setdefault((number, end), RELATED)
        if word.joined:  # An "engine type" is no step from a type.
            arcs = {arc: cost for arc, cost in arcs.items() if arc[0] not in before}
        noun = base_noun(word.text)
        of_class = called_nodes(_nouns(word.text), self._classes, self.around, self.v)
        called = of_class.called | of_class.members
        node, end = self.around.ends
        called[node[calls.ravel()[end]]] = True
        is_noun = word.is_noun or singular_form(word.text) != word.text
        return StepWord(
            named=named,
            arcs=arcs,
            called=called,
            joined=word.joined,
            is_rank=word.joined and word.text in RANK_ADVERBS,
            is_people=noun == "person",
            is_attribute=is_attribute(noun),
            is_unknown=is_noun and not (called.any() or named),
        )

    def _named_arcs(self, word: ChainWord) -> dict[Arc, float]:
        """The steps by relations that have the word, or a related one."""
        forms = word_forms(word.text)
        arcs: dict[Arc, float] = {}
        for number, relation in enumerate(self.around.relations):
            if ends := named_step_ends(word.text, word.clause, relation):
                own = own_forms(forms & relation_forms(relation))
                arcs |= {(number, end): 0.0 if own else RELATED for end in ends}
        if all(arcs.values()):
            return arcs
        # Who designed it seldom is who developed it.
        return {arc: cost and LESS_LIKELY for arc, cost in arcs.items()}

    @cached_property
    def _classes(self) -> NodeClasses:
        return node_classes(self.around)
