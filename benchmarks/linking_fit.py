"""Weights of the scoring model, fitted on questions whose topics are known.

The loss of a question is that of its candidates as independent decisions (which makes a
score a probability) plus twice that of its best true candidate against all of them
(which puts it first).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Bool, Float64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.graph.link.question_tokens import tokenise_question
from kgscout_jax.graph.link.scoring import FEATURES, WEIGHTS, features
from kgscout_jax.graph.link.stop_words import STOP_WORDS

Example = tuple[Float64[np.ndarray, "k f"], Bool[np.ndarray, "k"]]
"""Features of a question's candidates, and which of them are topics."""


def training_examples(
    linker: Linker, questions: Iterable[tuple[str, Sequence[int]]]
) -> list[Example]:
    """An example per question (text, topic entities) that has a candidate."""
    out = []
    for text, topics in questions:
        question = tokenise_question(text)
        candidates = linker.candidates(question)
        if candidates:
            topic_ids = set(topics)
            true = [linker.index.entity_of(c.surface) in topic_ids for c in candidates]
            out.append((features(question, linker.index, candidates), np.array(true)))
    return out


def fit_weights(
    training: Sequence[Example], *, ridge: float = 1.0
) -> Float64[np.ndarray, "f"]:
    """The weights of ``FEATURES`` that fit the examples best.

    Raises:
        UserError: no example has a true candidate.
    """
    from scipy.optimize import minimize

    if not any(true.any() for _, true in training):
        raise UserError("linking: no question has a topic among its candidates")
    x = np.concatenate([rows for rows, _ in training])
    y = np.concatenate([true for _, true in training]).astype(float)
    sizes = np.array([len(true) for _, true in training])
    starts = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(training)), sizes)
    solved = np.array([true.any() for _, true in training])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ weights
        alone = (np.logaddexp(0, z) - y * z).sum()
        slope = 1 / (1 + np.exp(-z)) - y
        whole = np.exp(z - np.maximum.reduceat(z, starts)[owner])
        total = np.add.reduceat(whole, starts)
        # A question without a true candidate has no ranking loss.
        hit = np.where(solved, np.add.reduceat(whole * y, starts), total)
        hit = np.maximum(hit, 1e-30)
        ranking = (np.log(total) - np.log(hit)).sum()
        pull = whole / total[owner] - whole * y / hit[owner]
        slope = slope + 2 * np.where(solved[owner], pull, 0)
        shrink = np.where(np.arange(len(weights)) > 0, weights, 0)
        value = alone + 2 * ranking + ridge / 2 * (shrink**2).sum()
        return float(value), x.T @ slope + ridge * shrink

    # A feature that no example has (no aliases, say) keeps its weight.
    idle = ~x.any(axis=0)
    best = minimize(
        loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B",
        options={"maxiter": 2000},
    )  # fmt: skip
    return np.where(idle, WEIGHTS, best.x)


def misspell(text: str, rng: np.random.Generator) -> str:
    """The text with one of its longer telling words misspelt, if it has one.

    A character is left out, doubled, replaced or swapped with the next one.
    """
    words = text.split(" ")
    long = [
        i for i, w in enumerate(words) if len(w) > 4 and w.lower() not in STOP_WORDS
    ]
    if not long:
        return text
    i = int(rng.choice(long))
    word = words[i]
    at = int(rng.integers(1, len(word) - 1))
    words[i] = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + "aeiorstln"[int(rng.integers(9))] + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )[int(rng.integers(4))]
    return " ".join(words)
