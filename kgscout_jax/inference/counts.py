"""How many answers there are: those of one reading of the question.

Nodes above the threshold may answer the question in several senses: the packages that
depend on numpy, and the dates of their release. A count is the size of one set, that of
the best node: all that a topic has by the same relation, or further away all that lie
behind the same relation at the same distance. A number of the graph is the answer
itself where its relation is asked for: "how many employees".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.retrieve.readings import joined_alike, node_readings
from kgscout_jax.text.amounts import is_amount
from kgscout_jax.text.kinds import is_past
from kgscout_jax.text.name_forms import is_numeral, value_mask
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.value_words import relation_keys, word_key
from kgscout_jax.text.words import FUNCTION_WORDS, WORD


def _keys(words: str) -> frozenset[str]:
    return frozenset(map(word_key, words.split()))


_NUMBERS_OF = (
    (
        _keys("people persons inhabitants residents"),
        _keys("population inhabitants capacity attendance headcount staff"),
    ),
    (
        _keys("work works working workers staff personnel"),
        _keys("employees staff headcount workforce workers personnel"),
    ),
)
"""Keys of what is counted, and of relations that lead to a number of that and do not
say so."""
_NUMBERS = frozenset("number count total".split())
"""Words of relations whose tails are numbers, also with a unit: "4 notes"."""


def is_asked_number(
    question: str,
    node: int,
    candidates: Candidates,
    logits: Float32[np.ndarray, "n"],
    name_of: Callable[[int], str],
    relation_of: Callable[[int], str],
) -> bool:
    """Whether a node is a number that answers "how many" itself.

    Args:
        question: the question.
        node: of its candidates.
        candidates: of it.
        logits: of the candidates.
        name_of: the name of an entity.
        relation_of: the name of a relation.
    """
    name = name_of(int(candidates.entities[node]))
    if not is_amount(name):
        return False
    relation = _best_relation(node, candidates, logits, relation_of)
    if not is_numeral(name) and _NUMBERS.isdisjoint(relation_words(relation)):
        return False  # a film may be called "12 Angry Men"
    if _leads_to_times(relation):
        return False  # "How many championships", of which it knows the years
    keys, asked = relation_keys(relation), _asked_keys(question)
    return bool(keys & asked) or any(
        asked & counted and keys & of_them for counted, of_them in _NUMBERS_OF
    )


def is_counted_time(
    question: str,
    node: int,
    candidates: Candidates,
    logits: Float32[np.ndarray, "n"],
    relation_of: Callable[[int], str],
) -> bool:
    """Whether a node is one of the times of what is counted: "championship year".

    Arguments as of ``is_asked_number``.
    """
    relation = _best_relation(node, candidates, logits, relation_of)
    named = relation_keys(relation) - _keys("year date")
    return _leads_to_times(relation) and bool(named & _asked_keys(question))


def _leads_to_times(relation: str) -> bool:
    """Whether tails of a relation are times, though they be written as numbers.

    >>> _leads_to_times("championship_year"), _leads_to_times("years_of_service")
    (True, False)
    >>> _leads_to_times("admitted_on"), _leads_to_times("depends_on")
    (True, False)
    """
    words = relation_words(relation)
    is_day = len(words) > 1 and words[-1] == "on" and is_past(words[-2])
    return is_day or not {"year", "date"}.isdisjoint(words)


def _best_relation(
    node: int,
    candidates: Candidates,
    logits: Float32[np.ndarray, "n"],
    relation_of: Callable[[int], str],
) -> str:
    """The relation of a node's best candidate."""
    here = np.flatnonzero((candidates.nodes == node).any(axis=1))
    best = here[logits[here].argmax()]
    return relation_of(int(candidates.relations[candidates.relation_index[best]]))


def _asked_keys(question: str) -> frozenset[str]:
    """Keys of a question's words."""
    words = set(WORD.findall(question.casefold())) - FUNCTION_WORDS
    return frozenset(map(word_key, words))


def values_among(
    nodes: Int[np.ndarray, "k"],
    candidates: Candidates,
    name_of: Callable[[int], str],
) -> Bool[np.ndarray, "k"]:
    """True for the nodes that are numbers or dates."""
    entities = candidates.entities[nodes].tolist()
    return value_mask([name_of(entity) for entity in entities])


def one_reading(
    order: Int[np.ndarray, "k"],
    candidates: Candidates,
    logits: Float32[np.ndarray, "n"],
) -> Int[np.ndarray, "c"]:
    """The nodes that are counted if they are answers: those of the best one's reading.

    Args:
        order: nodes, best first.
        candidates: of the question.
        logits: of the candidates.
    """
    around = candidates.nodes, candidates.relation_index, candidates.topics
    if (joined := joined_alike(int(order[0]), logits, *around)) is not None:
        return order[np.isin(order, joined)]
    readings = node_readings(logits, *around, len(candidates.entities))
    return order[readings[order] == readings[order[:1]]]


def set_size(
    probabilities: Float64[np.ndarray, "v"], threshold: float
) -> tuple[int, float]:
    """The number of answers, at least one, and the probability of exactly this set.

    Nodes of one reading are right or wrong together: whenever one of them is an answer,
    so are all that are more probable.

    Args:
        probabilities: P(answer) of the nodes of one reading, descending.
        threshold: nodes from this probability on are answers.
    """
    size = max(1, int((probabilities >= threshold).sum()))
    following = float(probabilities[size]) if size < len(probabilities) else 0.0
    return size, float(probabilities[size - 1]) - following
