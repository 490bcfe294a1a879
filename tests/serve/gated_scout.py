"""A scout whose time a test controls: for what batching does, not what it finds."""

from __future__ import annotations

import threading

import numpy as np

from kgscout_jax.inference.result import RetrievalResult


class GatedScout:
    """Finds a question's own words; waits at ``gate`` and notes each batch."""

    def __init__(self):
        self.encoder = self.exported = None
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        """Set when a batch has come to the gate."""
        self.batches: list[list[str]] = []

    def retrieve_many(self, questions, graphs, k, *, topics, selection):
        assert len(questions) == len(graphs) == len(k) == len(topics)
        self.batches.append(list(questions))
        self.entered.set()
        assert self.gate.wait(120)
        if "poison" in questions:
            raise ZeroDivisionError("poison")
        return [self.alone(*each) for each in zip(questions, k, strict=True)]

    def alone(self, question: str, k: int) -> RetrievalResult:
        words = question.split()[:k]
        return RetrievalResult(
            question=question,
            triplets=tuple((question, "says", word) for word in words),
            scores=-np.arange(len(words), dtype=np.float32),
            relation_match=tuple(0.5 for _ in words),
        )
