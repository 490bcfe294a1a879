"""Guesses at an answer as extra queries: HyDE (Gao et al., 2023) over graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float16


def with_hypotheses(
    questions: Float16[np.ndarray, "b d"],
    hypotheses: Sequence[Float[np.ndarray, "_ d"]],
) -> Float16[np.ndarray, "b d"]:
    """Each question's embedding averaged with those of its hypotheses, as unit vectors.

    Args:
        questions: unit vectors.
        hypotheses: per question unit vectors of its guesses; none leaves it as it is.
    """
    out = np.array(questions, np.float16)
    for i, rows in enumerate(hypotheses):
        if len(rows):
            every = np.concatenate([np.float32(questions[i : i + 1]), np.float32(rows)])
            mean = every.mean(axis=0)
            out[i] = mean / max(float(np.linalg.norm(mean)), 1e-6)
    return out
