"""Nodes that answer no question by what they are: files, ids, words, other years."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.media_files import asks_for_media, media_files
from kgscout_jax.text.relation_words import last_word, relation_words

_ID_WORDS = frozenset(("id", "uuid"))
"""Last words of relations to ids."""
_IDS = frozenset("id ids identifier identifiers uuid code codes".split())
"""Words of questions for ids."""


def unwanted_nodes(
    question: str,
    words: Sequence[str],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    other_years: Bool[np.ndarray, "r"],
) -> Bool[np.ndarray, "v"]:
    """True at nodes that a question does not ask for by name, whatever it asks.

    Args:
        question: the question.
        words: of the question, see ``question_tokens``.
        around: its candidates.
        unnamed: True at nodes without a name.
        other_years: relations of years that are not asked for.
    """
    v = len(unnamed)
    out = unnamed | _unwanted_ids(words, around, unnamed)
    out |= _only_tails(other_years, around, v)
    if not asks_for_media(question):
        out[around.used] |= np.array(media_files(around.names), bool)
    # The state "Found" does not say who found X. A choice has its words on purpose.
    said = {*words} - {TOPIC, "or"}
    if "or" not in words:
        named = [name in said for name in around.folded_names]
        out[around.used] |= np.array(named, bool)
    return out


def _unwanted_ids(
    words: Sequence[str], around: LocalGraph, unnamed: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """True at nodes that are but ids, unless the question asks for one.

    An order without a name is called by its ``order_id``.
    """
    if not _IDS.isdisjoint(words):
        return np.zeros_like(unnamed)
    of_ids = np.array([last_word(r) in _ID_WORDS for r in around.relations], bool)
    if not of_ids.any():
        return np.zeros_like(unnamed)
    names = [relation_words(each) for each in around.relations]
    nouns = {*map(base_noun, words)}
    called = np.array([not nouns.isdisjoint(name[-2:-1]) for name in names], bool)
    own = called[around.relation_index] & ~unnamed[around.nodes[:, 0]]
    called[around.relation_index[own]] = False
    out = _only_tails(of_ids & ~called, around, len(unnamed))
    # Nor is "order 12" itself what is asked of it.
    is_start = np.isin(around.nodes[:, 0], around.starts)
    out[around.nodes[is_start & of_ids[around.relation_index], 1]] = True
    return out


def _only_tails(
    relations: Bool[np.ndarray, "r"], around: LocalGraph, v: int
) -> Bool[np.ndarray, "v"]:
    """True at nodes that are tails of these relations, and stand nowhere else."""
    out = np.zeros(v, bool)
    if relations.any():
        slots = relations[around.relation_index]
        out[around.nodes[slots, 1]] = True
        out[around.nodes[~slots].ravel()] = False
        out[around.nodes[slots, 0]] = False
    return out
