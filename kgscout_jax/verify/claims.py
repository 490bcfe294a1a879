"""Atomic claims of a text: one subject, one relation, one object each.

Sentences are cut at clauses and at lists of names: "Cast Away stars Tom Hanks and Helen
Hunt, and was released in 2000" gives three claims. A clause without a subject has that
of the clause before it, and so has a sentence that begins with a pronoun. "Founded in
1902, Acme makes cranes" has the subject of what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from data_prep.synth.words import is_participle, is_third_person
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.graph.link.question_tokens import tokenise_question
from kgscout_jax.graph.link.stop_words import STOP_WORDS
from kgscout_jax.verify.mentions import Mention, find_mentions

_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|vs|No|Inc|Corp|Ltd|Co|etc"
    r"|e\.g|i\.e|ca|approx)$"
)
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|\n+")
_LIST = re.compile(
    r"\s*(?:,(?:\s+the)?|&|,?\s*(?:and|or|nor|as well as)\b(?:\s+(?:the|a|an))?)\s*",
    re.I,
)
_RELATIVE = re.compile(r"\s*,?\s*\b(?:who|which|whose)\b\s*", re.I)
_APPOSITION = re.compile(r"\s*,\s+(?=(?:an?|the)\s)", re.I)
_CLAUSE = re.compile(
    r"\s*(?:[,;]\s*)?\b(?:and|but|while|whereas)\b\s+(?=\w)|\s*;\s*", re.I
)
_JOINT = re.compile(
    r"\s*[,;]?\s*(?:\b(?:and|but|while|whereas)\b)?\s*(?:the\s+)?", re.I
)
_RESUME = re.compile(r"\s*,\s+(?=\w)")
_PRONOUN = re.compile(r"\s*(he|she|it|they|its|his|her|their)\b", re.I)
_AUXILIARIES = frozenset(
    "is are was were be been has have had does do did can could will would may".split()
)
_OPENING = re.compile(r"(?:in|on|at|by|from|for|as|since|during)\s+(?:the\s+)?", re.I)
_MARKER = re.compile(r"^[ \t]*(?:[-*•–]|\(?\d{1,3}[.)])[ \t]+", re.M)
_RESPECTIVELY = re.compile(r",?\s*\brespectively\b", re.I)
_COMMA = re.compile(r"\s*,\s+(?:and\s+)?")
_POSSESSIVE = ("its", "his", "her", "their")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement about one pair of names, and those names."""

    text: str
    mentions: tuple[Mention, ...]
    """In their order; spans of ``text``."""


def sentences(text: str, linker: Linker | None = None) -> Iterator[str]:
    """The sentences of a text, without white space or list markers around them.

    With a linker, a full stop within an entity's name ends none, and a sentence may
    begin with an entity's name in lower case ("zlib depends on ...").

    >>> list(sentences("J. R. R. Tolkien wrote it. He was born in 1892."))
    ['J. R. R. Tolkien wrote it.', 'He was born in 1892.']
    """
    exact = [] if linker is None else _exact_names(text, linker)

    def unmarked(match: re.Match[str]) -> str:
        first, last = match.span()
        is_name = any(first <= start < last < stop for start, stop, _ in exact)
        return match.group() if is_name else ""

    if (plain := _MARKER.sub(unmarked, text)) != text:
        yield from sentences(plain, linker)
        return
    names = _names_with_stops(text, exact)
    openings = {first for first, _, name in exact if name.lower() not in STOP_WORDS}
    start = 0
    for match in _END.finditer(text):
        at, dotted = match.start(), match.group().startswith(".")
        following = len(text) - len(text[match.end() :].lstrip())
        goes_on = text[following : following + 1].islower()
        goes_on = goes_on and following not in openings
        if any(first <= at < last for first, last in names) or (
            dotted and (goes_on or _ABBREVIATION.search(text[start:at]))
        ):
            continue
        if sentence := " ".join(text[start : match.end()].split()):
            yield sentence
        start = match.end()
    if sentence := " ".join(text[start:].split()):
        yield sentence


def _exact_names(text: str, linker: Linker) -> list[tuple[int, int, str]]:
    """Where entities' names stand in a text: first and last character, and the name."""
    tokens = tokenise_question(text)
    return [
        (c.start, c.stop, linker.index.text_of(c.surface))
        for c in (linker.candidates(tokens) if len(tokens) else ())
        if c.how == "exact"
    ]


def _names_with_stops(
    text: str, exact: Iterable[tuple[int, int, str]]
) -> list[tuple[int, int]]:
    """Spans of entities' names that hold full stops or other ends of sentences."""
    out = []
    for start, stop, name in exact:
        # A full stop that the name ends with lies behind its last token.
        end = max(stop, start + len(name)) if text.startswith(name, start) else stop
        last = bool(re.fullmatch(r"\W*", text[end:]))
        if _END.search(text[start:end] + " ") and not (last and end > stop):
            out.append((start, end))
    return out


def find_claims(text: str, linker: Linker) -> Iterator[Claim]:
    """The atomic claims of a text, in their order."""
    subject = ""
    for sentence in sentences(text, linker):
        match = _PRONOUN.match(sentence)
        if match and subject:
            owner = "'s" * (match.group(1).lower() in _POSSESSIVE)
            sentence = subject + owner + sentence[match.end() :]
        mentions = find_mentions(sentence, linker)
        if ordered := _subject_first(sentence, mentions):
            sentence, mentions = ordered, find_mentions(ordered, linker)
        if mentions:
            subject = sentence[mentions[0].start : mentions[0].stop]
        for clause in _clauses(sentence, mentions):
            yield from _atoms(clause, linker)


def _subject_first(sentence: str, mentions: list[Mention]) -> str | None:
    """A sentence that opens with a participle, with its subject before that."""
    if len(mentions) < 3:
        return None
    first, second = mentions[:2]
    opening = sentence[: first.stop]
    words = opening.split()
    if not _COMMA.fullmatch(sentence[first.stop : second.start]) or first.start == 0:
        return None
    if not words[0].isalpha() or not is_participle(words[0].lower()):
        return None
    subject, rest = sentence[second.start : second.stop], sentence[second.stop :]
    return f"{subject}, {opening[0].lower()}{opening[1:]}, {rest.lstrip(' ,')}"


def _clauses(sentence: str, mentions: list[Mention]) -> Iterator[str]:
    """The clauses of a sentence, each with a subject."""
    named = [mention for mention in mentions if not mention.plain]
    if len(named) < 3:
        yield sentence
        return
    outer = sentence[named[0].start : named[0].stop]
    text = sentence[: named[0].stop]
    relative, size = False, 1
    for i, mention in enumerate(named[1:], start=1):
        before = named[i - 1]
        between = sentence[before.stop : mention.start]
        following = named[i + 1].start if i + 1 < len(named) else len(sentence)
        acts = begins_with_verb(sentence[mention.stop : following])
        part = sentence[before.stop : mention.stop]
        subject = sentence[before.start : before.stop]
        if _LIST.fullmatch(between) and not (acts and size > 1):
            text += part
        elif (match := _RELATIVE.match(between)) and between[match.end() :].strip():
            if size > 1:
                yield text
            owner = "'s " if "whose" in match.group().lower() else " "
            text, relative, size = subject + owner + part[match.end() :], True, 1
        elif size > 1 and acts and (match := _JOINT.fullmatch(between)):
            yield text
            outer = sentence[mention.start : mention.stop]
            text, relative, size = outer, False, 0
        elif match := _APPOSITION.match(between):
            if size > 1:
                yield text
            text, size = f"{subject} is {part[match.end() :]}", 1
        elif size > 1 and (
            (match := _CLAUSE.match(between))
            or (
                (match := _COMMA.match(between))
                and begins_with_verb(between[match.end() :])
            )
            or (relative and (match := _RESUME.match(between)))
        ):
            yield text
            text, relative, size = f"{outer} {part[match.end() :]}", False, 1
        else:
            text += part
        size += 1
    yield text + sentence[named[-1].stop :]


def begins_with_verb(text: str) -> bool:
    """Whether words begin with a verb: " was born in ", " stars "."""
    words = text.lower().replace("'s", " 's").split()
    if not words or not words[0].isalpha():
        return False
    first = words[1] if words[0].endswith("ly") and len(words) > 1 else words[0]
    return first in _AUXILIARIES or bool(is_third_person(first) or is_participle(first))


def _atoms(clause: str, linker: Linker) -> Iterator[Claim]:
    """One claim for each name of a list of names."""
    mentions = find_mentions(clause, linker)
    groups: list[list[Mention]] = []
    for mention in mentions:
        between = clause[groups[-1][-1].stop : mention.start] if groups else "x"
        opening = len(groups) == 1 and _OPENING.fullmatch(clause[: groups[0][0].start])
        if groups and _LIST.fullmatch(between) and not (opening and "," in between):
            groups[-1].append(mention)
        else:
            groups.append([mention])
    lists = [group for group in groups if len(group) > 1]
    if len(lists) == 2 and (word := _RESPECTIVELY.search(clause)):
        (a, b), size = lists, len(lists[0])
        if len(b) == size:
            tail = clause[b[-1].stop : word.start()] + clause[word.end() :]
            for one, two in zip(a, b, strict=True):
                text = clause[: a[0].start] + clause[one.start : one.stop]
                text += clause[a[-1].stop : b[0].start] + clause[two.start : two.stop]
                yield from _atoms(text + tail, linker)
            return
    longest = max(groups, key=len, default=[])
    if len(longest) < 2 or len(groups) < 2:
        yield Claim(text=clause, mentions=tuple(mentions))
        return
    start, stop = longest[0].start, longest[-1].stop
    for one in longest:
        text = clause[:start] + clause[one.start : one.stop] + clause[stop:]
        yield from _atoms(text, linker)
