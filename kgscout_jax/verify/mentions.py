"""What a sentence names: entities of the graph, and names that the graph lacks.

A mention is a span of the sentence with the entities that it may mean. Spans come from
the linker's candidates; the longest whole names win, a part of a longer name
("Zemeckis") only where no whole name is. Capitalised words and numbers that no entity
explains are mentions without an entity: a sentence with them says something that the
graph cannot know. A number or date is one mention, however it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from data_prep.synth.words import lemmas
from kgscout_jax.graph.link.candidates import Candidate
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.graph.link.question_tokens import QuestionTokens, tokenise_question
from kgscout_jax.graph.link.stop_words import GRAMMAR, STOP_WORDS
from kgscout_jax.text.words import ARTICLES
from kgscout_jax.verify.values import Value, find_values, parse_value

FULL = 0.9
"""Least likeness of a whole name."""
PART = 0.8
"""Least likeness of a part of a name, and of a misspelt name."""
PART_COVERAGE = 0.45
"""Least share of a name, weighted by rarity, that a part of it must be."""
MAX_ENTITIES = 8
"""Entities that one span may mean."""
_NEW_SENTENCE = re.compile(r"[.!?:]\s*[\"'“(]*$")


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A span ``text[start:stop]`` and the entities that it may mean."""

    start: int
    stop: int
    entities: tuple[int, ...] = ()
    """Ids, likeliest first; () for a name that the graph lacks."""
    whole: bool = True
    """Whether the span is the whole name of its entities."""
    plain: bool = False
    """Whether it is a common word, in lower case, which may belong to the relation."""
    value: Value | None = None
    """The number or date that it is."""


def find_mentions(text: str, linker: Linker) -> list[Mention]:
    """The mentions of a sentence in their order; they do not overlap."""
    tokens = tokenise_question(text)
    if not len(tokens):
        return []
    full, partial = [], []
    for c in linker.candidates(tokens):
        if c.how != "fuzzy" and c.likeness >= FULL:
            if not _is_grammar(tokens, c):
                full.append(c)
        elif c.likeness >= PART and c.coverage >= PART_COVERAGE and c.misspelt < 0.5:
            partial.append(c)
    spans = _cover(full, [])
    spans = _cover([c for c in partial if _is_name(tokens, c)], spans)
    mentions = _with_values(text, [_mention(tokens, linker, group) for group in spans])
    covered = {
        i
        for i, (start, stop) in enumerate(zip(tokens.starts, tokens.stops, strict=True))
        if any(m.start < stop and start < m.stop for m in mentions)
    }
    mentions += _unknown_names(tokens, covered)
    return sorted(mentions, key=lambda mention: mention.start)


def _with_values(text: str, mentions: list[Mention]) -> list[Mention]:
    """The mentions, with numbers and dates that are no part of a longer name."""
    out = [replace(m, value=parse_value(text[m.start : m.stop])) for m in mentions]
    for start, stop, value in find_values(text):
        near = [m for m in out if m.start < stop and start < m.stop]
        if all(start <= m.start and m.stop <= stop for m in near):
            same = [m for m in near if (m.start, m.stop) == (start, stop)]
            entities = same[0].entities if same else ()
            out = [m for m in out if m not in near]
            out.append(Mention(start=start, stop=stop, entities=entities, value=value))
    return out


def _cover(
    candidates: list[Candidate], taken: list[list[Candidate]]
) -> list[list[Candidate]]:
    """Candidates by span, longest spans first, of what no span in ``taken`` covers."""
    groups = list(taken)
    for c in sorted(
        candidates, key=lambda c: (c.first - c.last, -c.likeness, c.first, c.surface)
    ):
        clash = [g for g in groups if c.first <= g[0].last and g[0].first <= c.last]
        if not clash:
            groups.append([c])
        elif (c.first, c.last) == (clash[0][0].first, clash[0][0].last) and (
            clash[0] not in taken
        ):
            clash[0].append(c)
    return groups


def _mention(tokens: QuestionTokens, linker: Linker, group: list[Candidate]) -> Mention:
    """The mention of candidates of one span."""
    index = linker.index
    best = sorted(group, key=lambda c: (-c.likeness, c.how != "exact", c.surface))
    entities = dict.fromkeys(index.entity_of(c.surface) for c in best)
    start, stop = min(c.start for c in group), max(c.stop for c in group)
    words = tokens.words[group[0].first : group[0].last + 1]
    text = tokens.text[start:stop]
    return Mention(
        start=start,
        stop=stop,
        entities=tuple(entities)[:MAX_ENTITIES],
        whole=best[0].how != "fuzzy",
        plain=len(words) <= 2 and text.islower() and all(w.isalpha() for w in words),
    )


def _is_grammar(tokens: QuestionTokens, c: Candidate) -> bool:
    """Whether a whole name is more likely words of the sentence: "film", "was"."""
    words = tokens.words[c.first : c.last + 1]
    content = [word for word in words if word not in STOP_WORDS]
    if content:
        return False
    if all(word in GRAMMAR for word in words) and len(words) < 3:
        return not _capital_inside(tokens, c)
    return tokens.text[c.start : c.stop].islower() and len(words) < 3


def _is_name(tokens: QuestionTokens, c: Candidate) -> bool:
    """Whether a part of a name stands there as a name: in capitals, or no word."""
    words = tokens.words[c.first : c.last + 1]
    if all(word in STOP_WORDS for word in words):
        return False
    text = tokens.text[c.start : c.stop]
    return not text.islower() or any(not word.isalpha() for word in words)


def _capital_inside(tokens: QuestionTokens, c: Candidate) -> bool:
    """Whether the span is capitalised where a sentence does not begin."""
    return tokens.text[c.start].isupper() and not _begins_sentence(tokens, c.first)


def _begins_sentence(tokens: QuestionTokens, i: int) -> bool:
    before = tokens.text[: tokens.starts[i]].rstrip()
    return not before.strip("\"'“(") or bool(_NEW_SENTENCE.search(before))


def _opens_as_word(tokens: QuestionTokens, i: int) -> bool:
    """Whether a token is an English word that only opens a sentence in capitals."""
    word = tokens.words[i]
    english = any(lemmas(word, kind) for kind in ("NOUN", "VERB", "ADJ"))
    return word.isalpha() and english and _begins_sentence(tokens, i)


def _unknown_names(tokens: QuestionTokens, covered: set[int]) -> list[Mention]:
    """Runs of capitalised words and numbers outside the ``covered`` tokens."""
    out: list[Mention] = []
    run: list[int] = []

    def close() -> None:
        if run and not (len(run) == 1 and _opens_as_word(tokens, run[0])):
            start, stop = tokens.starts[run[0]], tokens.stops[run[-1]]
            out.append(Mention(start=start, stop=stop, whole=False))
        run.clear()

    for i, word in enumerate(tokens.words):
        shown = tokens.text[tokens.starts[i]]
        grammar = word in GRAMMAR or (
            word in STOP_WORDS and _begins_sentence(tokens, i)
        )
        named = shown.isdigit() or (shown.isupper() and not grammar)
        joins = bool(run) and (tokens.starts[i] - tokens.stops[i - 1] <= 1)
        if i in covered or not named or word in ARTICLES:
            close()
        elif joins or not run:
            run.append(i)
        else:
            close()
            run.append(i)
    close()
    return out
