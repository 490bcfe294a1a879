"""Embeddings of single words, kept: questions share most of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float16

from kgscout_jax.inference.inputs import QuestionVectors
from kgscout_jax.text.words import question_words

KEPT = 2**15
"""Words kept at most: 24 MiB of 384 dimensions."""


class WordVectors:
    """Embeds words, each new one once; safe to use from many threads."""

    def __init__(
        self, encode: Callable[[Sequence[str]], Float16[np.ndarray, "n d"]]
    ) -> None:
        self._encode = encode
        self._kept: dict[str, np.ndarray] = {}

    def of(self, words: Sequence[str]) -> list[Float16[np.ndarray, "d"]]:
        """The embedding of each word."""
        kept = self._kept
        vectors = {word: kept[word] for word in set(words) if word in kept}
        if new := sorted(set(words) - vectors.keys()):
            vectors |= dict(zip(new, self._encode(new), strict=True))
            if len(kept) + len(new) > KEPT:
                kept = self._kept = {}
            kept.update({word: vectors[word] for word in new})
        return [vectors[word] for word in words]

    def beside(
        self,
        vectors: Sequence[QuestionVectors],
        texts: Sequence[str],
        names: Sequence[Sequence[str]],
    ) -> list[QuestionVectors]:
        """``vectors`` with the words of the questions.

        Args:
            vectors: of the questions as a whole.
            texts: the questions.
            names: names of the topics of each.
        """
        words = [question_words(*each) for each in zip(texts, names, strict=True)]
        rows = iter(self.of([word.text for each in words for word in each]))
        return [
            replace(
                vector,
                words=[next(rows) for _ in each],
                places=[word.distance for word in each],
            )
            for vector, each in zip(vectors, words, strict=True)
        ]
