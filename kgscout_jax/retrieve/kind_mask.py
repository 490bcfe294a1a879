"""Which nodes are not of the kind that a question asks for, by the relations around.

A policy that has not seen a graph often stops at the entity between: "when were the
films by Mann released" at a film. But heads of ``directed_by`` are films, and a film is
no year. Where another node may be of the kind that is asked for, such nodes lose
``PENALTY`` of their logit, and triplets at no node of that kind ``TRIPLET_PENALTY``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.kind_penalties import DOUBT, PENALTY, kind_penalties
from kgscout_jax.retrieve.kind_weights import leads_to_asked, named_weights
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.other_forms import (
    asks_for_time_of_day,
    forms_of_names,
    measured_mask,
)
from kgscout_jax.retrieve.other_places import other_places
from kgscout_jax.retrieve.type_pairs import type_pairs
from kgscout_jax.text.asked_kind import SORT_OF, AskedKind, asked_kind
from kgscout_jax.text.kinds import TAIL, base_noun
from kgscout_jax.text.name_forms import value_mask
from kgscout_jax.text.words import WORD

TRIPLET_PENALTY = 6.0
"""Logits that a triplet loses: with more, triplets on the way to the answer suffer."""
MOST_ANYWHERE = 2
"""Times as many nodes of the right kind as of another at one end of a relation, from
which on all there are of that kind; beside a topic half of them do."""
_FLAGS = frozenset(("yes", "no", "true", "false"))
_SORT = re.compile(rf"{SORT_OF}([a-z]+)")


@dataclass(frozen=True)
class KindMask:
    """Which nodes of one question's candidates are of another kind than it asks for."""

    penalties: Float32[np.ndarray, "v"]
    """``PENALTY`` at nodes of another kind, ``DOUBT`` where nothing tells the kind."""
    nodes: Int[np.ndarray, "n 2"]
    """Of head and tail of each candidate."""
    starts: Int[np.ndarray, "t"]
    """The topics' nodes, none of which is an answer."""
    by_form: Bool[np.ndarray, "v"]
    """True at nodes whose names are of another form: a date is no place."""
    called: Bool[np.ndarray, "v"]
    """True at nodes that a class or a relation calls what is asked for."""
    conflict: Bool[np.ndarray, "v"]
    """True at nodes that are called something else, where nothing is called that: no
    author is who "translated" a book."""
    guessed: Bool[np.ndarray, "v"]
    """True at what may be called so as well, where things are asked for that no node is
    surely called: what has side effects may be a drug, and others may be one."""

    @property
    def wrong(self) -> Bool[np.ndarray, "v"]:
        """True at nodes of another kind."""
        return self.penalties >= PENALTY

    def without(self, nodes: Bool[np.ndarray, "v"]) -> KindMask:
        """The mask of the others: these are of the kind that is asked for."""
        penalties = np.where(nodes, np.float32(0), self.penalties)
        return replace(
            self,
            penalties=penalties,
            by_form=self.by_form & ~nodes,
            conflict=self.conflict & ~nodes,
        )

    def node_logits(self, logits: Float32[np.ndarray, "v"]) -> Float32[np.ndarray, "v"]:
        """Logits of the answer head, lower at nodes of another kind.

        Where no node within ``PENALTY`` of the best one may be of that kind, the names
        of relations may mean something else. Then only nodes of another form lose.
        """
        lowered = logits - self.penalties
        if self.wrong[np.argmax(lowered)]:
            return logits - np.float32(PENALTY) * self.by_form
        return lowered

    def triplet_logits(
        self, logits: Float32[np.ndarray, "n"]
    ) -> Float32[np.ndarray, "n"]:
        """Logits of the candidates, lower where neither end may be the answer."""
        possible = ~self.wrong
        possible[self.starts] = False
        return logits - np.float32(TRIPLET_PENALTY) * ~possible[self.nodes].any(axis=1)


def kind_mask(
    question: str,
    topics: Sequence[str],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    *,
    flagged: bool = False,
) -> KindMask | None:
    """What is of another kind; None where the question, or nothing here, tells it.

    Args:
        question: the question.
        topics: names that it mentions.
        around: its candidates.
        unnamed: True at nodes without a name.
        flagged: whether the question asks for what flags say: yes and no may decide.
    """
    asked = asked_kind(question, topics) or kind_of_class(question, topics)
    if asked is None or not len(around.nodes):
        return None
    pairs = type_pairs(around, len(unnamed))
    named = any(leads_to_asked(asked.nouns, relation) for relation in around.relations)
    named = named or bool(pairs.named(asked.nouns).any())
    if asked.or_named and named:
        asked = replace(asked, kind="thing")
    found = kind_penalties(asked, named, around, unnamed, pairs)
    if found.stated and not any(
        named_weights(asked.nouns, r)[TAIL] for r in around.relations
    ):
        asked = replace(asked, number=False)  # "how many tracks", by ``track_no``
    penalties, by_form = found.lost, np.zeros(len(unnamed), bool)
    there = around.used
    of_day = asks_for_time_of_day(question)
    if forms := forms_of_names(asked, around, of_day=of_day):
        lost = there[forms.other]
        penalties[lost] = np.maximum(penalties[lost], PENALTY)
        penalties[there[forms.right]] = 0.0
        # A time zone is no date, and "what time" asks for one of the day.
        by_form[lost] = of_day or not any("time" in n.split() for n in asked.nouns)
    elif asked.which:
        values = there[value_mask(around.names) | measured_mask(around.names)]
        if named or found.stated:  # No aircraft is 2002, where others are called so.
            others = values[penalties[values] >= DOUBT]
            penalties[others], by_form[others] = PENALTY, True
        else:
            penalties[values] = np.maximum(penalties[values], DOUBT)
    alike = _alike_at_ends(penalties, around)
    penalties[alike & ~by_form & ~found.of_other] = 0.0
    other = other_places(asked.nouns, around, len(unnamed))
    other[there] |= _other_words(question, around, flagged=flagged)
    penalties[other], by_form[other] = PENALTY, True
    some = penalties[there]
    if ((some >= PENALTY).all() and not by_form.any()) or not (
        some.any() or found.called.any() or found.conflict.any()
    ):
        return None
    guesses = asked.kind == "thing" and bool(asked.nouns) and not found.stated
    return KindMask(
        penalties,
        around.nodes,
        around.starts,
        by_form,
        called=found.called & (penalties == 0),
        conflict=found.conflict,
        guessed=~found.of_kind & guesses,
    )


def _alike_at_ends(
    penalties: Float32[np.ndarray, "v"], around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """True at nodes of another kind where as many of the right kind stand at the same
    end of a relation, beside a topic or anywhere: of some drugs only one triplet is
    here, which does not call them so."""
    is_topic = around.topic_mask(len(penalties))
    wrong = penalties == PENALTY  # more, where classes say so
    right = penalties == 0
    out = np.zeros_like(wrong)
    slots, side = np.nonzero(is_topic[around.nodes[:, ::-1]])
    beside = around.nodes[slots, side], 2 * around.relation_index[slots] + side
    size = 2 * len(around.relations)
    for least, (node, end) in ((1, beside), (MOST_ANYWHERE, around.ends)):
        others = least * np.bincount(end, wrong[node], size)
        out[node[(np.bincount(end, right[node], size) >= others)[end]]] = True
    return out & wrong & ~is_topic


def _other_words(
    question: str, around: LocalGraph, *, flagged: bool
) -> Bool[np.ndarray, "k"]:
    """True at names of ``around.used`` that are no answers as words: no ship is a kind
    of ship, and no planet "no", unless flags are asked for."""
    out = np.zeros(len(around.used), bool)
    if sort := _SORT.search(question.casefold()):
        noun = base_noun(sort[1])
        out |= np.array([base_noun(name) == noun for name in around.folded_names])
    if not flagged:
        out |= np.array([name in _FLAGS for name in around.folded_names])
    return out


def kind_of_class(question: str, topics: Sequence[str]) -> AskedKind | None:
    """What "which car is the best" asks for, where ``car`` is its topic; None for other
    questions.
    """
    small = {base_noun(word) for word in WORD.findall(question) if word.islower()}
    classes = small & {base_noun(topic.casefold()) for topic in topics}
    found = asked_kind(question, []) if classes else None
    if found is None or not found.which or classes.isdisjoint(found.nouns):
        return None
    return found
