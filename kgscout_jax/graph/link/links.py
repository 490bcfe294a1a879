"""Entities that a question names, and how sure they must be."""

from __future__ import annotations

from dataclasses import dataclass

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.candidates import Match


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """Options of linking."""

    k: int = 3
    """The most links per question."""
    threshold: float = 0.5
    """Links less likely than this are left out, except the first."""
    threshold_full: float = 0.3
    """The same for links by a whole name, such as wget in "curl and wget"."""
    threshold_identifier: float = 0.05
    """The same for links by a whole name without capitals, such as libc6, by one beside
    another link, "gold and silver", and by names of a statement that are written
    otherwise."""
    floor: float = 0.0125
    """A first link less likely than this is left out too."""
    floor_full: float = 0.005
    """The same for links by a whole name."""
    fuzzy: bool = True
    """Also look for misspelt and partial names."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UserError(f"--k: expected at least 1, found {self.k}")
        names = ("threshold", "threshold_full", "threshold_identifier")
        for name in (*names, "floor", "floor_full"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise UserError(f"--{name}: expected 0 to 1, found {value}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """An entity and the part of the question, ``text[start:stop]``, that names it."""

    entity: int
    name: str
    """Display name."""
    score: float
    """Estimated probability that the question is about the entity."""
    how: Match
    start: int
    stop: int
