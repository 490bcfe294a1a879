"""What a preposition rules out: "transfers to X" are none of ``transferred_from`` X.

Some graphs have two relations of the same name but for the direction:
``transferred_to`` and ``transferred_from``, ``source_airport`` and
``destination_airport``, ``departsFrom`` and ``arrivesAt``. "To" or "from" before a
topic says at which of them it stands, and at the end of a question at which its answer
does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.question_clause import topic_as_one
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words
from kgscout_jax.text.words import name_span

_TO = (
    "to into towards destination target recipient receiver arrival arrivals arrives "
    "arrive lands incoming end ends"
).split()
_FROM = (
    "from origin source sender departure departures departs depart leaves outgoing "
    "start starts"
).split()
_SIDES = {**dict.fromkeys(_TO, +1), **dict.fromkeys(_FROM, -1)}
"""+1 of words for where something goes, -1 for where it comes from."""
_PREPOSITIONS = frozenset("to into from".split())
_ADJECTIVES = frozenset("incoming outgoing arrivals departures".split())
_SAYING = _PREPOSITIONS | _ADJECTIVES | {"out"}
"""Words of questions, one of which says every direction."""
_PASSED = frozenset("the a an any".split())


class OpposedNodes(NamedTuple):
    """Nodes as many steps from a topic, by relations of two directions."""

    meant: Bool[np.ndarray, "v"]
    other: Bool[np.ndarray, "v"]
    """Those that only the direction leads to that is not meant."""

    def logits(
        self, answers: Float32[np.ndarray, "v"], penalty: float
    ) -> Float32[np.ndarray, "v"]:
        """Logits of the nodes: what is meant takes the rank of the other direction.

        A policy that likes "from" as an answer has read all but the preposition.
        """
        if not self.other.any():
            return answers
        best = [answers[each].max(initial=-np.inf) for each in self]
        gain = max(best[1] - best[0], 0.0) if np.isfinite(best[0]) else 0.0
        return (
            answers + np.float32(gain) * self.meant - np.float32(penalty) * self.other
        )


def opposed_nodes(
    question: str, words: Sequence[str], around: LocalGraph, v: int
) -> list[OpposedNodes]:
    """What is meant, and what only the other direction leads to.

    Args:
        question: the question.
        words: of it, see ``question_tokens``.
        around: its candidates.
        v: number of nodes.
    """
    if _SAYING.isdisjoint(words):
        return []
    sides = relation_sides(around.relations)
    if not sides.any():
        return []
    out, of_triplet = list[OpposedNodes](), sides[around.relation_index]
    tokens = topic_as_one(words)
    places = [i for i, word in enumerate(tokens) if word == TOPIC]
    if len(places) == len(around.mentions):
        for place, topic in zip(places, _in_order(question, around), strict=True):
            if side := _side_of_topic(tokens, place):
                out += _beside_topic(side, of_triplet, topic, around, v)
    if side := _side_of_answer(tokens):
        is_topic = around.topic_mask(v)
        near = is_topic.copy()
        near[around.nodes[near[around.nodes].any(axis=1)].ravel()] = True
        heads, tails = around.nodes.T
        beside = near[heads] & ~is_topic[tails]
        meant, other = np.zeros((2, v), bool)
        meant[tails[beside & (of_triplet == side)]] = True
        other[tails[beside & (of_triplet == -side)]] = True
        out.append(OpposedNodes(meant, other & ~meant))
    return out


def _in_order(question: str, around: LocalGraph) -> Sequence[Int[np.ndarray, "g"]]:
    """The topics in the order of the question, which those that a caller names may not
    have."""
    names = (around.names_of(each[:1])[0] for each in around.mentions)
    spans = [name_span(question, name) for name in names]
    if any(span is None for span in spans):
        return around.mentions
    order = sorted(range(len(spans)), key=lambda i: spans[i] or ())
    return [around.mentions[i] for i in order]


def relation_sides(relations: Sequence[str]) -> Int[np.ndarray, "r"]:
    """The direction that each relation's name says; 0 where no other one says the
    opposite.

    >>> relation_sides(["sent_to", "sent_from", "married_to", "origin"]).tolist()
    [1, -1, 0, 0]
    >>> relation_sides(["departsFrom", "arrivesAt"]).tolist()
    [-1, 1]
    """
    stems = dict[tuple[str, ...], dict[int, list[int]]]()
    for i, relation in enumerate(relations):
        side, stem = _direction(relation)
        if side:
            stems.setdefault(stem, {}).setdefault(side, []).append(i)
    out = np.zeros(len(relations), np.int64)
    for numbers in stems.values():
        if len(numbers) == 2:
            for side, own in numbers.items():
                out[own] = side
    return out


@lru_cache(maxsize=1 << 14)
def _direction(relation: str) -> tuple[int, tuple[str, ...]]:
    """The direction that a relation's name says, 0 for none, and its other words."""
    words = relation_words(relation)
    found = {_SIDES[word] for word in words if word in _SIDES}
    stem = (w for w in words if w not in _SIDES and w not in PREPOSITIONS)
    return (found.pop() if len(found) == 1 else 0), tuple(stem)


def _side_of_topic(tokens: Sequence[str], place: int) -> int:
    """The direction that the words before a topic say; 0 for none."""
    before = [word for word in tokens[:place] if word not in _PASSED]
    if before[-2:] == ["out", "of"]:
        return -1
    if before and before[-1] in _PREPOSITIONS:
        return _SIDES[before[-1]]
    said = [_SIDES[word] for word in tokens if word in _ADJECTIVES]
    return said[0] if len(said) == 1 and tokens.count(TOPIC) == 1 else 0


def _side_of_answer(tokens: Sequence[str]) -> int:
    """The direction that the words beside the question word say; 0 for none.

    >>> _side_of_answer(["where", "did", TOPIC, "move", "to"])
    1
    >>> _side_of_answer(["from", "which", "club", "came", TOPIC])
    -1
    """
    if tokens[:1] and tokens[0] in _PREPOSITIONS and len(tokens) > 1:
        return _SIDES[tokens[0]] if tokens[1] != TOPIC else 0
    return _SIDES[tokens[-1]] if tokens and tokens[-1] in _PREPOSITIONS else 0


def _beside_topic(
    side: int,
    of_triplet: Int[np.ndarray, "n"],
    topic: Int[np.ndarray, "g"],
    around: LocalGraph,
    v: int,
) -> list[OpposedNodes]:
    """What each direction leads to in one step and in two."""
    is_topic = np.zeros(v, bool)
    is_topic[topic] = True
    levels = []
    for each in (side, -side):
        first, second = np.zeros((2, v), bool)
        slots = (of_triplet == each) & is_topic[around.nodes].any(axis=1)
        first[around.nodes[slots].ravel()] = True
        first &= ~is_topic
        second[around.nodes[first[around.nodes].any(axis=1)].ravel()] = True
        levels.append((first, second & ~first & ~is_topic))
    (near, far), (other_near, other_far) = levels
    return [
        OpposedNodes(near, other_near & ~near),
        OpposedNodes(far, other_far & ~(near | far)),
    ]
