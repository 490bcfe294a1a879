"""The words of each link of a path: its readings, and what stands at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from data_prep.synth.draft import Leg
from data_prep.synth.node_types import NUMBERS, EndType
from data_prep.synth.readings import Reading, lexicon, relation_readings, word_list
from data_prep.synth.words import is_participle, verb_form
from kgscout_jax.text.kinds import noun_kind
from kgscout_jax.text.relation_words import domain, relation_words


@dataclass(frozen=True)
class LinkWords:
    """How one link of a path can be said, from its source to its target."""

    readings: tuple[tuple[Reading, bool], ...]
    """Each with whether the source is its subject; the relation's own words first."""
    target: EndType
    source: EndType
    source_domain: str
    """The type that a dotted name states of the source; "" for none."""
    target_domain: str
    there: LinkWords | None = None
    """The link before, where this one leads back and both are said at once: films that
    share actors with Heat."""

    def with_other(self) -> LinkWords:
        """The words for targets beside the topic, which is among them itself."""
        names = self.target.names or (
            "person" if self.target.kind == "person" else "one",
        )
        others = tuple(f"other {name}" for name in names)
        return replace(self, target=EndType(others, self.target.kind))

    @property
    def excludes_topic(self) -> bool:
        """Whether the targets are those beside the topic: "other films"."""
        return any(name.startswith("other ") for name in self.target.names)

    def of_source(self) -> LinkWords:
        """The nouns for what the source has: its capital, not what it is of.

        Only nouns pass on what is left out: a country's currency is its cities', but
        what a country's author wrote was not written by the country.
        """
        nouns = (r for r in self.readings if r[1] and r[0].kind == "noun")
        return replace(self, readings=tuple(nouns))

    def typed(self) -> LinkWords:
        """The words with the types that the relation's dotted name states."""
        if not self.target_domain:
            return self
        return replace(self, target=EndType((self.target_domain,), self.target.kind))


class LinkLexicon:
    """The words of all links of a graph."""

    def __init__(self, relations: Sequence[str], ends: Sequence[EndType]) -> None:
        """``ends``: types at the head ends of all relations, then at the tail ends."""
        self.relations, self.ends = relations, ends
        self.dated = [end.kind == "time" for end in ends[len(relations) :]]
        self.counted = [end == NUMBERS for end in ends[len(relations) :]]
        self._links: dict[tuple[int, ...], LinkWords] = {}
        self._readings: dict[int, list[Reading]] = {}

    def words(self, link: tuple[int, ...]) -> LinkWords:
        """The words of a link: one arc type, or two through an unnamed entity."""
        if link not in self._links:
            self._links[link] = self._words(link)
        return self._links[link]

    def literal(self, relation: int) -> list[Reading]:
        """The readings of a relation to literals that are nouns."""
        readings = self._of(relation)
        nouns = [r for r in readings if r.kind == "noun" and not r.inverted]
        if nouns:
            return nouns
        phrase = " ".join(relation_words(self.relations[relation]))
        if not self.dated[relation] or phrase.endswith(("date", "year")):
            return [Reading("noun", phrase)]
        own, time = readings[0], self.ends[relation + len(self.relations)].names[0]
        if own.kind == "passive":
            verb = is_participle(own.words) or own.words
            phrase = lexicon()["events"].get(verb, verb_form(verb, "VBG"))
        return [Reading("noun", f"{phrase} {time}")]  # "released": the release year

    def implies(self, leg: Leg, implied: int) -> bool:
        """Whether people may leave out the first links of a path.

        The first link that is said needs a noun, and what has it must be a person if
        the topic is one and only then: a painting has no date of birth.
        """
        said = self.words(leg.links[implied])
        people = [
            words.source.kind in ("person", "mixed")
            for words in (self.words(leg.links[0]), said)
        ]
        return bool(said.of_source().readings) and people[0] == people[1]

    def _of(self, relation: int) -> list[Reading]:
        if relation not in self._readings:
            self._readings[relation] = relation_readings(
                self.relations[relation],
                dated=self.dated[relation],
                counted=self.counted[relation],
            )
        return self._readings[relation]

    def _words(self, link: tuple[int, ...]) -> LinkWords:
        half = len(self.relations)
        first, last = link[0], link[-1]
        source = self.ends[first]
        target = self.ends[last + half if last < half else last - half]
        forward_twice = len(link) == 2 and max(first, last) < half
        saying = last if forward_twice else first
        readings = self._of(saying % half)
        if forward_twice and self._same_object(first, last):
            readings = [*self._of(first), *readings]
        if len(link) == 2 and first < half <= last:
            readings = [r for r in readings if _names_target(r, target)]
        if len(link) == 2 and last == self._inverse(first):
            # Two winners of one award are not each other's winners.
            readings = [r for r in readings if set(r.words.split()) & reciprocal()]
        forward = saying < half
        return LinkWords(
            tuple((reading, reading.inverted != forward) for reading in readings),
            target,
            source,
            domain(self.relations[first]) if first < half else "",
            domain(self.relations[last % half]) if last >= half else "",
        )

    def _inverse(self, arc: int) -> int:
        half = len(self.relations)
        return arc - half if arc >= half else arc + half

    def _same_object(self, first: int, last: int) -> bool:
        """Whether both halves of a link name the same: places lived, location."""
        one, two = (" ".join(relation_words(self.relations[r])) for r in (first, last))
        kind = noun_kind(two)
        return bool(set(two.split()) & set(one.split())) or (
            kind in ("person", "place") and kind == noun_kind(one)
        )


def reciprocal() -> frozenset[str]:
    """Nouns of relations that hold both ways."""
    return word_list("reciprocal")


def _names_target(reading: Reading, target: EndType) -> bool:
    """Whether a reading of the way to an unnamed entity is about those beyond it.

    A spouse's spouse is the spouse; a medal's winner is not won.
    """
    noun = reading.words if reading.kind == "noun" else reading.object_type
    kind = noun_kind(noun)
    return noun in target.names or (kind != "thing" and kind == target.kind)
