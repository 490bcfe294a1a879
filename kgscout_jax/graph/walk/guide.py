"""Parameters of the guided walk, see ``guided_walk``."""

from __future__ import annotations

from dataclasses import dataclass

from kgscout_jax.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Guide:
    """Parameters of the walk."""

    temperature: float = 0.1
    """Of the choice among relations; smaller values follow the cosine more."""
    alpha: float = 0.8
    """Probability of continuing at each step."""
    threshold: float = 1e-4
    """Entities with less probability are not expanded."""

    per_triplet: float = 1e-6
    """Entities with less probability per triplet, except topics, are not expanded. A
    later step thus has at most 1 / per_triplet triplets in any graph."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UserError(f"temperature: {self.temperature}, expected more than 0")
        if not 0 <= self.alpha <= 1:
            raise UserError(f"alpha: {self.alpha}, expected a number from 0 to 1")
        if not 0 <= self.threshold < 1:
            raise UserError(f"threshold: {self.threshold}, expected 0 <= it < 1")
        if not 0 <= self.per_triplet < 1:
            raise UserError(f"per_triplet: {self.per_triplet}, expected 0 <= it < 1")
