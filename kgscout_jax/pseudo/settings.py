"""Settings of pseudo-graphs and of their verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least

DraftForm = Literal["cypher", "triplets"]
"""How the model writes a pseudo-graph: code that an engine runs, or plain lines."""
Ends = Literal["both", "heads"]


@dataclass(frozen=True, kw_only=True)
class PseudoSettings:
    """One way from a question to a verified graph."""

    form: DraftForm = "cypher"
    """What the model writes."""
    matches: int = 10
    """Facts of the graphs that each pseudo-triplet finds."""
    entities: int = 10
    """First step of pruning: entities with most of the facts found."""
    threshold: float = 0.7
    """Second step: the least mean cosine of an entity's facts."""
    ends: Ends = "both"
    """Where an entity stands in its facts: at either end, or as the head (paper)."""
    facts: int = 30
    """Facts that the model compares a pseudo-graph with, at most."""

    def __post_init__(self) -> None:
        check_at_least(1, "", matches=self.matches, entities=self.entities)
        check_at_least(1, "", facts=self.facts)
        check_threshold(self.threshold)


def check_threshold(value: float) -> None:
    """Raises UserError unless the value is a cosine."""
    if not -1 <= value <= 1:
        raise UserError(f"--threshold: {value}, expected a cosine from -1 to 1")
