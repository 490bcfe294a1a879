"""Noun phrases, clauses and questions for one link of a path, from frames."""

from __future__ import annotations

import random
import re
from collections.abc import Set
from dataclasses import dataclass

from data_prep.synth.frames import Frame, frames
from data_prep.synth.link_words import LinkWords
from data_prep.synth.node_types import EndType
from data_prep.synth.readings import Reading, word_list
from data_prep.synth.words import (
    in_number,
    verb_form,
    with_article,
)
from kgscout_jax.text.kinds import kind_words, noun_kind
from kgscout_jax.text.values import is_date

SHORT = 60
"""Characters up to which a phrase may stand in the middle of a question."""
ANYWHERE = 0.5
"""How often a question may have such a phrase in another place than the last."""
_MIDNIGHT = re.compile(
    r"(?<=^\d{4}-\d\d-\d\d)[T ]00:00(:00(\.0+)?)?(Z|[+-]\d\d:\d\d)?$"
)
GENERIC = ("thing", "entity", "item")
"""Type words of entities that nothing is known about."""


@dataclass(frozen=True)
class Phrase:
    """A noun phrase: what a link starts from."""

    text: str
    many: bool = False
    """Whether it is a plural."""
    bare: bool = False
    """Whether it is the name of a topic and nothing more."""


class Speaker:
    """Words questions for one split; records the frames it used."""

    def __init__(self, split: str, rng: random.Random) -> None:
        self.split, self.rng = split, rng
        self.used: list[str] = []
        self.kinds: set[str] = set()
        """The conditions that the last phrase gives to a question about it."""

    def say(
        self,
        words: LinkWords,
        form: str,
        source: Phrase,
        many: bool,
        *,
        alone: bool = True,
    ) -> str | None:
        """One link in a form: q (question), np, rel (clause) or vp (predicate).

        None where no frame of the split fits. ``alone``: nothing stands around it.
        """
        own = (words.there or words).readings
        readings = list(own)
        self.rng.shuffle(readings)
        if self.rng.random() < 0.25:
            readings.sort(key=lambda pair: pair != own[0])
        way = "same." if words.there else ""
        for reading, is_subject in readings:
            category = f"{reading.kind}.{'out' if is_subject else 'in'}.{way}{form}"
            slots, conditions = self._slots(reading, is_subject, words, source, many)
            conditions |= {"alone"} if alone else set()
            fitting = [
                frame
                for frame in frames(category, self.split)
                if frame.conditions <= conditions and self._fits(frame, words, source)
            ]
            if not source.bare:
                # A long phrase in the middle hides what the words behind it belong to.
                last = [frame for frame in fitting if frame.text.endswith("{S}")]
                short = fitting if len(source.text) < SHORT else []
                anywhere = form == "q" and self.rng.random() < ANYWHERE
                fitting = short if anywhere or not last else last
            if fitting:
                self.kinds = conditions & {"person", "nonperson", "place", "time"}
                return self.fill(self.rng.choice(fitting), slots)
        return None

    def frame(
        self,
        category: str,
        conditions: set[str],
        missing: Set[str] = frozenset(),
    ) -> Frame | None:
        """A frame of a category whose conditions hold, without ``missing`` slots."""
        fitting = [
            frame
            for frame in frames(category, self.split)
            if frame.conditions <= conditions and not frame.slots & missing
        ]
        return self.rng.choice(fitting) if fitting else None

    def fill(self, frame: Frame, slots: dict[str, str]) -> str:
        """The frame with its slots filled."""
        self.used.append(frame.id)
        return tidy(frame.text.format_map(slots))

    def type_word(self, end: EndType, many: bool) -> str:
        """A word for the entities at an end, in singular or plural."""
        generic = ("person",) if end.kind == "person" else GENERIC
        name = self.rng.choice(end.names) if end.names else self.rng.choice(generic)
        prefix = "other " if name.startswith("other ") else ""
        name = name.removeprefix(prefix)
        name = self.rng.choice(kind_words()["type_synonyms"].get(name, [name]))
        return prefix + in_number(name, many)

    def _fits(self, frame: Frame, words: LinkWords, source: Phrase) -> bool:
        if words.excludes_topic and not frame.slots & {"T", "Tp", "T1"}:
            return False
        return source.bare or len(source.text) <= SHORT or "Sp" not in frame.slots

    def _slots(
        self,
        reading: Reading,
        is_subject: bool,
        words: LinkWords,
        source: Phrase,
        many: bool,
    ) -> tuple[dict[str, str], set[str]]:
        """The slots' values, and the conditions that hold."""
        target, there = words.target, words.there
        own = reading.object_type if is_subject else reading.subject_type
        own = own if there is None else ""
        if own and not words.excludes_topic:
            target = EndType((own, *target.names[:1]), target.kind)
        noun = reading.words if reading.kind == "noun" else ""
        of_target = noun if is_subject and there is None else ""
        conditions = kind_conditions(target.kind, of_target)
        conditions |= {"many"} if many else {"one"}
        conditions |= {"bare"} if source.bare else set()
        if reading.particle:
            conditions.add("indirect")
        elif reading.words not in word_list("intransitive"):
            conditions.add("direct")
        conditions |= {"present"} if reading.present else set()
        conditions |= {"back"} if words.excludes_topic else set()
        if reading.particle in ("in", "at", "on"):
            conditions.add("locative")
        if len(reading.particle.split()) > 1:
            conditions.discard("indirect")
        chosen = self.type_word(target, many)
        one, plural = in_number(chosen, False), in_number(chosen, True)
        if self.rng.random() < 0.3 and target.names[:1] == (own,):
            one = in_number(own, False)
        slots = {
            "S": source.text,
            "Sp": possessive(source),
            "T": chosen,
            "T1": one,
            "Tp": plural,
            "n": in_number(noun, many),
            "n1": in_number(noun, source.many and not is_subject),
            "ns": in_number(noun, True),
            "an1": with_article(in_number(noun, False)),
            "isT": "are" if many else "is",
            "hasT": "have" if many else "has",
            "isS": "are" if source.many else "is",
            "hasS": "have" if source.many else "has",
            "shareT": "share" if many else "shares",
            "shareS": "share" if source.many else "shares",
            "doS": "do" if source.many else "does",
            "relT": "who" if target.kind == "person" else "that",
            "prep": reading.particle,
        }
        # The preposition stands before the object: what is asked for, or the source.
        dated = target.names[:1] == ("date",) if is_subject else is_date(source.text)
        if there is not None:
            middle = self.type_word(there.target, False)
            slots |= {"M": middle, "aM": with_article(middle)}
            dated = middle == "date"
        if target.kind == "time" and reading.kind != "noun":
            conditions.discard("nonperson")  # "what was it founded on" asks no date
        if reading.particle in ("in", "on") and dated:
            slots["prep"] = "on"
        slots |= self._verb_slots(reading, source.many, many)
        return slots, conditions

    def _verb_slots(
        self, reading: Reading, source_many: bool, many: bool
    ) -> dict[str, str]:
        """The verb forms of a reading."""
        prefix, _, verb = reading.words.rpartition(" ")
        prefix += " " * bool(prefix)

        def form(tag: str) -> str:
            return prefix + (verb_form(verb, tag) if reading.kind == "active" else verb)

        def be(plural: bool) -> str:
            present = "are" if plural else "is"
            return present if reading.present else "were" if plural else "was"

        def act(plural: bool) -> str:
            if not reading.present:
                return form("VBD")
            return prefix + verb if plural else form("VBZ")

        do = "do" if source_many else "does"
        return {
            "base": prefix + verb,
            "pp": form("VBN") if reading.kind == "active" else reading.words,
            "ing": form("VBG"),
            "actS": act(source_many),
            "actT": act(many),
            "act1": act(False),
            "actP": act(True),
            "actInf": prefix + verb if reading.present else f"have {form('VBN')}",
            "didS": do if reading.present else "did",
            "wasS": be(source_many),
            "wasT": be(many),
            "was1": be(False),
            "wasP": be(True),
        }


def kind_conditions(kind: str, noun: str = "") -> set[str]:
    """The conditions on the kind of targets that hold.

    Where the targets are people that a noun calls otherwise, such as tags, neither
    "who" nor "what" is safe.
    """
    if kind == "mixed":
        return set()
    if kind == "person":
        return {"person"} if not noun or noun_kind(noun) == "person" else set()
    return {"nonperson", noun_kind(noun) if noun and kind == "thing" else kind}


def possessive(source: Phrase) -> str:
    """The genitive of a phrase."""
    return source.text + ("'" if source.many and source.text.endswith("s") else "'s")


def tidy(text: str) -> str:
    """The text with single spaces, none before a comma."""
    text = " ".join(text.split()).strip(" ,:")
    for wrong, right in ((" ,", ","), (" :", ":")):
        text = text.replace(wrong, right)
    return re.sub(r"\bthe (?=the\b)", "", text, flags=re.IGNORECASE)


def spoken(name: str) -> str:
    """A name as people say it: dates without a time of day that is midnight.

    >>> spoken("1853-03-30T00:00:00Z")
    '1853-03-30'
    """
    return _MIDNIGHT.sub("", name)
