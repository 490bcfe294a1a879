"""Verdicts on claims, the evidence for them, and where one begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kgscout_jax.types import Triplet
from kgscout_jax.verify.arcs import Path

Verdict = Literal["supported", "contradicted", "unknown"]
OPPOSITE: dict[Verdict, Verdict] = {
    "supported": "contradicted",
    "contradicted": "supported",
    "unknown": "unknown",
}


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Where a verdict begins; chosen on planted statements (recipes/verify.md)."""

    behind: float = 1.5
    """A joining relation may be so much less likely than the likeliest, in nats."""
    support: float = 0.4
    """Least P(relation) of a joining relation."""
    bare: float = 0.1
    """``support`` of a claim that names no relation: "Heat is a drama"."""
    bare_behind: float = 1.0
    """``behind`` of such a claim."""
    alike: float = 0.5
    """Least share of the relations of one thing that another of its kind has."""
    despite: float = 0.6
    """``contradict`` where the graph joins the names by another relation."""
    value: float = 0.5
    """``contradict`` of a number, which any of several relations may lead to."""
    rival: float = 0.5
    """A relation that contradicts may be so much less likely than the likeliest."""
    contradict: float = 0.25
    """Least P(relation) of a contradiction."""
    functional: float = 0.83
    """Least functionality of a relation that contradicts."""
    sources: int = 10
    """Least number of tails of a relation that contradicts from tail to head."""


@dataclass(frozen=True, kw_only=True)
class ClaimVerdict:
    """One claim and what the graph says of it."""

    text: str
    verdict: Verdict
    triplets: tuple[Triplet, ...] = ()
    """Those that say so; () where it is unknown."""
    probability: float = 0.0
    """P(the claim states the relation of these triplets)."""

    def to_json(self) -> dict[str, Any]:
        """The claim as JSON fields."""
        triplets = [list(triplet) for triplet in self.triplets]
        return {"text": self.text, "verdict": self.verdict, "triplets": triplets}


@dataclass(frozen=True)
class Evidence:
    """Triplets for one reading of a claim."""

    ids: tuple[int, ...]
    log_probability: float


NO_EVIDENCE = Evidence((), -np.inf)


def likelihood(evidence: Evidence) -> float:
    """Its log-probability."""
    return evidence.log_probability


def likeliest(
    fits: dict[Path, tuple[float, tuple[int, ...]]], least: float
) -> Evidence:
    """The triplets of the likeliest path, if all paths are together likely enough."""
    if not fits:
        return NO_EVIDENCE
    total = min(float(np.logaddexp.reduce([value for value, _ in fits.values()])), 0.0)
    if total < np.log(least):
        return NO_EVIDENCE
    return Evidence(max(fits.values(), key=lambda each: each[0])[1], total)


def flat(groups: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """All triplets of some groups, each once."""
    return tuple(dict.fromkeys(i for group in groups for i in group))
