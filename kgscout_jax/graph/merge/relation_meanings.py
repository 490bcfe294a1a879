"""Relations of two schemas that mean the same, by their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float16, Float32, Int64

from kgscout_jax.text.linearize import relation_phrase

Embed = Callable[[list[str]], Float16[np.ndarray, "n d"]]
"""Texts to unit embeddings, such as ``EmbeddingCache.embed``."""
SAME = 0.8
"""Cosine from which two relations, each the other's nearest, mean the same."""


def relation_roles(
    base: Sequence[str], relations: Sequence[str], embed: Embed | None
) -> tuple[Int64[np.ndarray, "r"], Int64[np.ndarray, "s"]]:
    """A number for the meaning of each relation of two graphs.

    Args:
        base: the relations of one graph.
        relations: those of the other.
        embed: None: only relations of the same words have the same number.
    """
    numbers: dict[str, int] = {}
    left, right = (
        np.array(
            [numbers.setdefault(last_words(each), len(numbers)) for each in names],
            np.int64,
        )
        for names in (base, relations)
    )
    if embed is not None and len(left) and len(right):
        near = cosines(base, relations, embed)
        best = near.argmax(axis=1)
        same = (near.argmax(axis=0)[best] == np.arange(len(left))) & (
            near.max(axis=1) >= SAME
        )
        alone = ~np.isin(right, left)
        for i in np.flatnonzero(same & alone[best]).tolist():
            right[best[i]] = left[i]
    return left, right


def cosines(
    left: Sequence[str], right: Sequence[str], embed: Embed
) -> Float32[np.ndarray, "r s"]:
    """The cosine of each two relations: of their words, or of the last part's."""
    best = np.full((len(left), len(right)), -1, np.float32)
    for words in (relation_phrase, last_words):
        a, b = (
            embed([words(each) for each in names]).astype(np.float32)
            for names in (left, right)
        )
        np.maximum(best, a @ b.T, out=best)
    return best


def last_words(relation: str) -> str:
    """The words of a relation; of ``people.person.parents`` those of the last part."""
    return relation_phrase(relation.rsplit(".", 1)[-1]) or relation_phrase(relation)
