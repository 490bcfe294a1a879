"""Embeddings of questions and of their single words, from many threads at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float16

from kgscout_jax.inference.inputs import QuestionVectors
from kgscout_jax.text.encoder import JOINT_SIZES, QUESTION_BATCH, SentenceEncoder
from kgscout_jax.text.linearize import question_text
from kgscout_jax.text.words import QuestionWord, question_words
from kgscout_jax.utils.call_coalescing import CallCoalescer
from kgscout_jax.utils.turns import native_work

MOST_WORDS = 2**15
"""Words held at most, since questions share most of theirs: 24 MiB of 384
dimensions."""
COMMON_WORDS = (6, 10, 14, 22)
"""Words of questions of 8, 12, 16 and 24 tokens."""


def joint_batches() -> Iterator[list[str]]:
    """Texts of every joint size in common lengths, which compile the encoder for them.

    Words of a question are encoded together as well, so every size occurs.
    """
    for size, words in itertools.product(JOINT_SIZES, COMMON_WORDS):
        yield ["a" + " a" * (words - 1)] * size


class QuestionEncoder:
    """Embeds questions as in preparation; calls of several threads are coalesced."""

    def __init__(self, encoder: SentenceEncoder, *, joint: bool = False) -> None:
        """
        Args:
            encoder: of the policy.
            joint: encode questions that come together in one pass, see
                ``SentenceEncoder.encode_jointly``; otherwise one by one.
        """
        self.encoder, self.joint = encoder, joint
        self._embed = CallCoalescer(self._run, encoder.lock)
        self._words: dict[str, np.ndarray] = {}

    def _run(self, texts: Sequence[str]) -> Float16[np.ndarray, "b d"]:
        if self.joint:
            return self.encoder.encode_jointly(texts)
        return self.encoder.encode(texts, batch_size=QUESTION_BATCH)

    def encode(self, questions: Sequence[str]) -> Float16[np.ndarray, "b d"]:
        """Embeddings of questions, or of words."""
        identity = self.encoder.identity
        texts = [identity.query_prefix + question_text(text) for text in questions]
        with native_work():
            rows = self._embed(texts)
        return np.array(rows, np.float16).reshape(len(texts), identity.dimension)

    def words(self, words: Sequence[str]) -> list[Float16[np.ndarray, "d"]]:
        """The embedding of each word; each new one is embedded once."""
        held = self._words
        vectors = {word: held[word] for word in set(words) if word in held}
        if new := sorted(set(words) - vectors.keys()):
            vectors |= dict(zip(new, self.encode(new), strict=True))
            if len(held) + len(new) > MOST_WORDS:
                held = self._words = {}
            held.update({word: vectors[word] for word in new})
        return [vectors[word] for word in words]

    def with_words(
        self,
        vectors: Sequence[QuestionVectors],
        texts: Sequence[str],
        names: Sequence[Sequence[str]],
        definition_of: Callable[[int], str | None],
    ) -> list[QuestionVectors]:
        """``vectors`` with the words of the questions.

        Args:
            vectors: of the questions as a whole.
            texts: the questions.
            names: names of the topics of each.
            definition_of: index of a question that has no words -> what stands for
                them; None: nothing does.
        """
        words = [question_words(*each) for each in zip(texts, names, strict=True)]
        for i, each in enumerate(words):
            if not each and (phrase := definition_of(i)):
                words[i] = [QuestionWord(phrase, -1)]
        rows = iter(self.words([word.text for each in words for word in each]))
        return [
            replace(
                vector,
                words=[next(rows) for _ in each],
                places=[word.distance for word in each],
            )
            for vector, each in zip(vectors, words, strict=True)
        ]
