"""Sizes of the walk policy, see ``walk``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kgscout_jax.errors import UserError
from kgscout_jax.policy.config import PprNetworkConfig, check_int
from kgscout_jax.policy.topology import DISTANCE_WIDTH
from kgscout_jax.policy.word_cover import cover_width

PARTS = ("absolute", "walks", "distances", "products", "residual")
"""What a network can be without. absolute: question, relation and triplet each by
itself, so that only likenesses are left; residual: the cosines past all layers."""


@dataclass(frozen=True, kw_only=True)
class WalkConfig(PprNetworkConfig):
    """Sizes and constants of the network."""

    architecture: ClassVar[str] = "walk"
    sizes: ClassVar[tuple[str, ...]] = (
        "width",
        "hidden",
        "walkers",
        "steps",
        "condition",
    )
    absent: ClassVar[Mapping[str, Any]] = {
        "answers": 0,
        "question_hidden": 0,
        "return_gates": False,
        "word_rank": 0,
        "without": (),
    }

    width: int = 128
    """Of the first layer over candidates."""
    hidden: int = 64
    """Of the second."""
    walkers: int = 8
    """Walks that start at the topics, each with weights of its own."""
    steps: int = 3
    """Of each walk."""
    condition: int = 64
    """Width of the layer that reads weights off question and relation."""
    question_hidden: int = 64
    """Width of a hidden layer over the question before that one; 0 for none."""
    answers: int = 64
    """Width of the answer head; 0 for a policy that only ranks triplets."""
    return_gates: bool = True
    """Whether each walker learns how much of it goes on after it has come back to a
    topic. The actors of *other* films of a director are not reached through the film
    that the question names; the father of somebody's son is."""

    word_rank: int = 16
    """Rank of the learned likeness of words and relations; 0 for a policy that does not
    read the words of the question."""

    without: tuple[str, ...] = ()
    """Of ``PARTS``: what is left out, to measure what it is worth."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "without", tuple(self.without))
        if not set(self.without) <= set(PARTS):
            raise UserError(
                f"policy.without: {list(self.without)}, expected some of {PARTS}"
            )
        for name in ("question_hidden", "answers", "word_rank"):
            check_int(name, getattr(self, name), least=0)
        if not isinstance(self.return_gates, bool):
            raise UserError(
                f"policy.return_gates: {self.return_gates!r}, expected true or false"
            )

    def to_dict(self) -> dict[str, Any]:
        """Every field; ``without`` only where it says something."""
        fields = super().to_dict()
        if not self.without:
            del fields["without"]
        return fields

    @property
    def features(self) -> int:
        """Columns beside the embeddings: distances, PPR, cosines, walks."""
        words = 2 * cover_width(self.steps) if self.word_rank else 0
        return DISTANCE_WIDTH + 2 + 2 + 2 * self.walkers * (self.steps + 1) + words
