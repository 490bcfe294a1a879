"""A question before its wording: topics, paths, answers, triplets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shape = Literal["chain", "implied", "pair", "count", "superlative", "comparison"]


@dataclass(frozen=True)
class Leg:
    """A path from one topic."""

    topic: int
    links: tuple[tuple[int, ...], ...]
    """Each link is one arc type, or two through an entity without a name."""
    sizes: tuple[int, ...]
    """Entities after each link."""

    @property
    def path(self) -> tuple[int, ...]:
        """Arc types from the topic on."""
        return tuple(arc for link in self.links for arc in link)

    def steps_back(self, half: int) -> int:
        """Arcs after which a path that goes there and back is at its topic; 0 for none.

        Args:
            half: relations of the graph: arc ``r + half`` is the reverse of arc ``r``.
        """
        back = _back(self.links[0], half)
        return 2 * len(back) if self.links[1:2] == (back,) else 0

    def turns_in_place(self, half: int) -> bool:
        """Whether a step and its reverse lead to no other entities than before: to the
        vehicles with the number of a vehicle.

        Args:
            half: relations of the graph.
        """
        return any(
            self.links[i] == _back(self.links[i - 1], half)
            and self.sizes[i] == self.sizes[i - 2]
            for i in range(2, len(self.links))
        )


def _back(link: tuple[int, ...], half: int) -> tuple[int, ...]:
    """The link that leads back."""
    return tuple((arc + half) % (2 * half) for arc in reversed(link))


@dataclass(frozen=True)
class ValueTest:
    """What a literal of each candidate is tested for."""

    relation: int
    is_date: bool
    test: Literal["highest", "lowest", "above", "below"]
    threshold: str = ""
    """The literal to compare with, if it is not that of a second topic."""


@dataclass(frozen=True)
class Draft:
    """One question in terms of the graph."""

    shape: Shape
    legs: tuple[Leg, ...]
    """One path, or two that meet at the answers. In a comparison with the value of a
    second topic, the second path leads from that topic to its value."""
    answers: tuple[int, ...]
    """Ascending entities."""
    triplets: tuple[int, ...]
    """Ascending ids of the triplets on the paths to the answers."""
    value: ValueTest | None = None
    returns: bool = False
    """Whether the first path leads back to its topic, which is no answer."""
    implied: int = 0
    """Links of the first path that the wording leaves out: the currency of an airport
    is that of its country."""
    typed: bool = False
    """Whether only the types at the ends tell its relations from others."""

    @property
    def signature(self) -> tuple[tuple[int, ...], ...]:
        """Its paths without topics, and the relation of its value.

        The combination occurs in one split only.
        """
        paths = {leg.path for leg in self.legs}
        if self.value is not None:
            paths |= {(self.value.relation,)}
        return tuple(sorted(paths))

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal questions."""
        legs = tuple(sorted((leg.topic, leg.path) for leg in self.legs))
        return (self.shape, legs, self.value)
