"""Questions in words, from drafts and frames."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from data_prep.synth.draft import Draft, Leg, ValueTest
from data_prep.synth.frames import Frame
from data_prep.synth.link_words import LinkLexicon, LinkWords
from data_prep.synth.node_types import EndType
from data_prep.synth.phrases import (
    Phrase,
    Speaker,
    kind_conditions,
    possessive,
    spoken,
    tidy,
)
from data_prep.synth.words import in_number, with_article
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

TRIES = 8
"""Wordings of a draft that are tried before it is dropped."""
SHARED = 0.5
"""How often a path that goes there and back is said by what both ends share."""
_IMPERATIVE = re.compile(
    r"(name|tell|give|find|list|show|identify|count|please|the|those|"
    r"i want|i need|i am|i wonder) ?"
)
_VAGUE = ("person", "place", "thing", "entity", "item", "location")
"""Types that people do not put before a name."""


@dataclass(frozen=True)
class Wording:
    """A question's text, and the frames it was made with."""

    text: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Wordings:
    """Words drafts of one graph."""

    graph: KnowledgeGraph
    lexicon: LinkLexicon

    def word(self, draft: Draft, split: str, rng: random.Random) -> Wording | None:
        """A wording for a split; None if no frames fit or it names an answer."""
        for _ in range(TRIES):
            speaker = Speaker(split, rng)
            text = self._text(draft, speaker, rng)
            if text is None:
                continue
            text = typing_style(text, rng)
            names = [self.graph.entities[answer] for answer in draft.answers]
            if not any(mentions(text, name) for name in names):
                return Wording(text, tuple(speaker.used))
        return None

    def _text(self, draft: Draft, speaker: Speaker, rng: random.Random) -> str | None:
        if draft.shape in ("chain", "implied"):
            return self._chain(draft, speaker, rng)
        if draft.shape == "pair":
            return self._pair(draft, speaker, rng)
        if draft.shape == "count":
            return self._set_question(draft, speaker, "count.q", {})
        assert draft.value is not None
        return self._valued(draft, draft.value, speaker, rng)

    # --- one path

    def _chain(self, draft: Draft, speaker: Speaker, rng: random.Random) -> str | None:
        leg = draft.legs[0]
        *before, (words, many) = self._said(leg, draft, rng)
        source = self._source(leg, draft, speaker, before)
        if source is None:
            return None
        if rng.random() < 0.68:
            return speaker.say(words, "q", source, many)
        phrase = speaker.say(words, "np", source, many)
        conditions = speaker.kinds | {"many" if many else "one"}
        if phrase is None:
            return None
        # "What is what she wrote" is no English: phrases that begin so stand alone.
        clause = phrase.split()[0] in ("what", "where", "whoever", "whichever")
        frame = speaker.frame("phrase.q", conditions, {"isT"} if clause else set())
        if frame is None:
            return None
        return speaker.fill(frame, {"NP": phrase, "isT": "are" if many else "is"})

    def _said(
        self, leg: Leg, draft: Draft, rng: random.Random
    ) -> list[tuple[LinkWords, bool]]:
        """What is said of a path, link by link, each with whether it leads to several.

        Of links that are implied nothing is said. A path that goes there and back is
        sometimes said at once, by what both ends share.
        """
        words = [self._words(leg, i, draft) for i in range(len(leg.links))]
        first, back = draft.implied, bool(leg.steps_back(len(self.graph.relations)))
        if back and not first and rng.random() < SHARED:
            # What shares something with the topic is another anyway.
            first, words[1] = 1, replace(words[1], there=words[0])
        elif back:
            words[1] = words[1].with_other()
        elif draft.returns and leg is draft.legs[0]:
            words[-1] = words[-1].with_other()
        sizes = (size > 1 for size in leg.sizes)
        return list(zip(words, sizes, strict=True))[first:]

    def _words(self, leg: Leg, i: int, draft: Draft) -> LinkWords:
        """The words of a path's link ``i``."""
        words = self.lexicon.words(leg.links[i])
        if draft.implied and i == draft.implied:
            words = words.of_source()
        return words.typed() if draft.typed else words

    def _source(
        self,
        leg: Leg,
        draft: Draft,
        speaker: Speaker,
        before: Sequence[tuple[LinkWords, bool]],
    ) -> Phrase | None:
        """What the last link of a path starts from: the topic, or a phrase for it.

        Args:
            leg: the path.
            draft: its question.
            speaker: says it.
            before: what is said of the links before the last.
        """
        first = self.lexicon.words(leg.links[0])
        source = self._topic(leg, first, speaker, typed=draft.typed)
        for words, many in before:
            text = speaker.say(words, "np", source, many, alone=False)
            if text is None:
                return None
            source = Phrase(text, many=many)
        return source

    def _topic(
        self, leg: Leg, words: LinkWords, speaker: Speaker, *, typed: bool
    ) -> Phrase:
        """The topic by name, sometimes with its type, always where that is needed."""
        rng = speaker.rng
        name = spoken(self.graph.entities[leg.topic])
        if "_" in name and " " not in name and rng.random() < 0.5:
            name = name.replace("_", " ")
        stated = words.source_domain if typed else ""
        known = words.source.names and words.source.kind != "time"
        if stated or (known and rng.random() < 0.12 and not name[:1].isdigit()):
            end = EndType((stated,), "thing") if stated else words.source
            type_word = speaker.type_word(end, False)
            said = {*_VAGUE, *(reading.words for reading, _ in words.readings)}
            if stated or not (mentions(name, type_word) or type_word in said):
                return Phrase(f"the {type_word} {name}")
        return Phrase(name, bare=True)

    # --- two paths

    def _pair(self, draft: Draft, speaker: Speaker, rng: random.Random) -> str | None:
        legs = list(draft.legs)
        rng.shuffle(legs)
        said = [self._said(leg, draft, rng) for leg in legs]
        words = [links[-1][0] for links in said]
        # One word for the answers, that of the side which knows more of them.
        known = max(words, key=lambda each: len(each.target.names))
        found = (
            self._source(leg, draft, speaker, links[:-1])
            for leg, links in zip(legs, said, strict=True)
        )
        sources = [source for source in found if source is not None]
        if len(sources) < 2:
            return None
        many = len(draft.answers) > 1
        frame = speaker.frame("pair.q", kind_conditions(known.target.kind))
        if frame is None:
            return None
        many &= bool(frame.slots & {"T", "NP", "NPs"})  # "who" is singular
        slots = {
            "T": speaker.type_word(known.target, many),
            "isT": "are" if many else "is",
        }
        for suffix, each, source in zip(("", "2"), words, sources, strict=True):
            if not self._forms(frame, suffix, each, source, speaker, many, slots):
                return None
        return speaker.fill(frame, slots)

    def _forms(
        self,
        frame: Frame,
        suffix: str,
        words: LinkWords,
        source: Phrase,
        speaker: Speaker,
        many: bool,
        slots: dict[str, str],
    ) -> bool:
        """Fill the forms of one link that a frame has slots for; False if one fails."""
        forms = {
            "NP": ("np", many), "NPs": ("np", True), "NPb": ("np", True),
            "REL": ("rel", many), "VP": ("vp", many),
        }  # fmt: skip
        for slot, (form, plural) in forms.items():
            if slot + suffix not in frame.slots:
                continue
            text = speaker.say(words, form, source, plural, alone=False)
            if text is None:
                return False
            if slot == "NPb":
                text = text.removeprefix("the ")
            slots[slot + suffix] = text
        return True

    # --- sets

    def _set_question(
        self, draft: Draft, speaker: Speaker, category: str, slots: dict[str, str]
    ) -> str | None:
        """A question about the set that the first path reaches."""
        leg = draft.legs[0]
        *before, (words, _) = self._said(leg, draft, speaker.rng)
        source = self._source(leg, draft, speaker, before)
        if source is None:
            return None
        plural = draft.shape == "count" or len(draft.answers) > 1
        frame = speaker.frame(category, kind_conditions(words.target.kind))
        if frame is None:
            return None
        # Clauses of "which film {REL} has the highest" speak of one, NPs of all.
        slots = slots | {
            "T": speaker.type_word(words.target, plural),
            "T1": speaker.type_word(words.target, False),
            "Tp": speaker.type_word(words.target, True),
            "isT": "are" if plural else "is",
            "hasT": "have" if plural else "has",
        }
        if not self._forms(frame, "", words, source, speaker, plural, slots):
            return None
        return speaker.fill(frame, slots)

    def _valued(
        self, draft: Draft, value: ValueTest, speaker: Speaker, rng: random.Random
    ) -> str | None:
        noun = rng.choice(self.lexicon.literal(value.relation)).words
        noun = in_number(noun, False)
        slots = {"m": noun, "am": with_article(noun)}
        category = {
            "highest": "latest" if value.is_date else "highest",
            "lowest": "earliest" if value.is_date else "lowest",
            "above": "after" if value.is_date else "more",
            "below": "before" if value.is_date else "less",
        }[value.test]
        if value.threshold:
            slots["V"] = spoken(value.threshold)
        elif draft.shape == "comparison":
            name = self.graph.entities[draft.legs[1].topic]
            frame = speaker.frame("value.np", set())
            if frame is None:
                return None
            rival = Phrase(name, bare=True)
            own = {"S": name, "Sp": possessive(rival), "m": slots["m"]}
            slots["V"] = speaker.fill(frame, own)
        return self._set_question(draft, speaker, f"{category}.q", slots)


def typing_style(text: str, rng: random.Random) -> str:
    """The text as people type: with and without a capital and a question mark."""
    text = tidy(text)
    question = _IMPERATIVE.match(text) is None
    if rng.random() < 0.45:
        text = text[:1].upper() + text[1:]
        text = re.sub(r"^I want|^i am", lambda m: m[0][:1].upper() + m[0][1:], text)
        end = "?" if question else rng.choice(("", "."))
    else:
        end = "?" if question and rng.random() < 0.35 else ""
    return text + end


def mentions(text: str, name: str) -> bool:
    """Whether the words of a name stand in a text one behind the other."""
    words = f" {_plain(text)} "
    return f" {_plain(name)} " in words


def _plain(text: str) -> str:
    spaced = "".join(c if c.isalnum() else " " for c in text.lower())
    return " ".join(spaced.split())
