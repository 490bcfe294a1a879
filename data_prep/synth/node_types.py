"""Which type of entity stands at each end of a relation, from the names of relations.

Classes are stated by relations such as ``instance of`` (``class_names``), and names
hint at types: ``people.person.religion`` at a person, ``directed_by`` at a film
and a director. Entities collect the hints of all relations around them, and each end of
a relation takes the types that its entities have most. So the heads of ``has_genre``
are films because the same entities have directors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer

from data_prep.synth.class_names import class_statements
from data_prep.synth.readings import lexicon, relation_readings
from data_prep.synth.relation_facts import RelationFacts
from data_prep.synth.words import in_number, is_participle, lemmas
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.kinds import (
    GUESSED,
    NAMED,
    STATED,
    kind_words,
    listed_words,
    noun_kind,
)
from kgscout_jax.text.relation_words import (
    domain,
    head_noun,
    is_class_relation,
    relation_words,
)
from kgscout_jax.utils.ragged import offsets_of

SAMPLE = 1_000_000
"""Triplets that are looked at."""
SURE = 0.6
"""Share of the most frequent kind from which an end is of that kind."""


@dataclass(frozen=True)
class EndType:
    """What the entities at an end of a relation are called."""

    names: tuple[str, ...]
    """Singular type words, the best first; empty where nothing is known."""
    kind: str
    """person, place, time, thing, or mixed: people that a noun calls otherwise."""


NUMBERS = EndType(("value",), "thing")
"""The tails of a relation to numbers."""


def end_types(
    graph: KnowledgeGraph, facts: list[RelationFacts], rng: np.random.Generator
) -> list[EndType]:
    """The types at the head ends of all relations, then at their tail ends."""
    import scipy.sparse as sp

    half = len(graph.relations)
    hints = [type_hints(name) for name in graph.relations]
    ends = [hint[0] for hint in hints] + [hint[1] for hint in hints]
    rows = graph.triplets
    if len(rows) > SAMPLE:
        rows = rows[np.sort(rng.choice(len(rows), SAMPLE, replace=False))]
    classes = list(class_statements(graph, rows))
    hinted = {name for hint in ends for name in hint}
    names = sorted(hinted | {noun for _, noun in classes} | {"thing"})
    column = {name: i for i, name in enumerate(names)}
    weights = sp.csr_matrix(
        (
            np.array([w for hint in ends for w in hint.values()], np.float32),
            [column[name] for hint in ends for name in hint],
            offsets_of(np.array(list(map(len, ends)), np.int64)),
        ),
        (2 * half, len(names)),
    )
    entity = np.concatenate([rows[:, 0], rows[:, 2]])
    end = np.concatenate([rows[:, 1], rows[:, 1] + half])
    used, entity = np.unique(entity, return_inverse=True)
    at = sp.csr_matrix(
        (np.ones(len(entity), np.float32), (entity, end)), (len(used), 2 * half)
    )
    at.data[:] = 1.0
    named = ~np.asarray(graph.unnamed_mask[used])
    stated = sp.csr_matrix(
        (
            np.full(sum(len(heads) for heads, _ in classes), STATED, np.float32),
            (
                np.searchsorted(used, _joined([heads for heads, _ in classes])),
                np.repeat(
                    np.array([column[noun] for _, noun in classes], np.int64),
                    [len(heads) for heads, _ in classes],
                ),
            ),
        ),
        (len(used), len(names)),
    )
    votes = at @ weights + stated
    total = np.asarray(votes.sum(axis=1)).ravel()
    votes = sp.diags(named / np.maximum(total, 1e-9)) @ votes
    shares = sp.csr_matrix(at.T @ votes)
    out = []
    for row in range(2 * half):
        literal = names_of_literal(facts[row - half]) if row >= half else None
        part = slice(shares.indptr[row], shares.indptr[row + 1])
        share = zip(shares.indices[part], shares.data[part], strict=True)
        named_shares = {names[i]: float(value) for i, value in share if value > 0}
        if row < half and is_class_relation(graph.relations[row]):
            literal = EndType((), "mixed")  # Everything has a class.
        out.append(literal or _end_type(named_shares, ends[row]))
    return out


def _joined(parts: list[Integer[np.ndarray, "k"]]) -> Integer[np.ndarray, "n"]:
    """Arrays one behind the other; none gives an empty one."""
    return np.concatenate([np.empty(0, np.int64), *parts])


def names_of_literal(facts: RelationFacts) -> EndType | None:
    """The type of tails that are literals; None for entities."""
    if facts.kind == "date":
        return EndType(("year",) if facts.years else ("date",), "time")
    return NUMBERS if facts.kind == "number" else None


def _end_type(share: Mapping[str, float], own: Mapping[str, float]) -> EndType:
    """The most frequent types of one end.

    Args:
        share: the votes of the end's entities by type.
        own: the hints of the relation itself.
    """
    kinds: dict[str, float] = {}
    for name, value in share.items():
        kind = noun_kind(name)
        kinds[kind] = kinds.get(kind, 0.0) + value
    if not kinds:
        return EndType((), "thing")
    stated = sorted((n for n in own if own[n] >= NAMED), key=lambda n: (-own[n], n))
    kind, weight = max(kinds.items(), key=lambda item: item[1])
    if weight < SURE * sum(kinds.values()):
        # Entities of all kinds, as of tags: only the relation's own noun names them.
        stated = [name for name in stated if noun_kind(name) == "thing"]
        return EndType(tuple(stated[:1]), "thing")
    if kind == "person":
        if stated and all(noun_kind(name) == "thing" for name in stated):
            return EndType(tuple(stated[:2]), "mixed")
        if not any(noun_kind(name) == "person" for name in stated):
            # A role that people have elsewhere is no name for them here.
            return EndType(("person",), "person")
    # Entities of several types take the one that the relation itself hints at.
    most = max(share.values())
    score = {name: share[name] / most + 0.5 * (name in own) for name in share}
    best = sorted(share, key=lambda name: (-score[name], name))[:3]
    chosen = [name for name in best if score[name] >= 0.6]
    chosen = [name for name in chosen if noun_kind(name) == kind] or chosen[:1]
    return EndType(tuple(chosen), kind)


def type_hints(relation: str) -> tuple[dict[str, float], dict[str, float]]:
    """Type words and weights that a relation's name gives to its heads and tails."""
    generic = word_list_generic()
    heads: dict[str, float] = {}
    tails: dict[str, float] = {}

    def hint(ends: dict[str, float], name: str, weight: float) -> None:
        name = in_number(name, False)
        noun = name.split()[head_noun(name.split())] if name else ""
        if lemmas(noun, "NOUN") and not is_participle(noun) and name not in generic:
            ends[name] = max(weight, ends.get(name, 0.0))

    hint(heads, domain(relation), STATED)
    phrase = " ".join(relation_words(relation))
    for key in (phrase, in_number(phrase, False), phrase.removeprefix("has ")):
        hint(heads, kind_words()["subjects"].get(key, ""), GUESSED)
        hint(tails, kind_words()["objects"].get(key, ""), GUESSED)
    for i, reading in enumerate(relation_readings(relation)):
        subjects, objects = (tails, heads) if reading.inverted else (heads, tails)
        hint(subjects, reading.subject_type, NAMED)
        hint(objects, reading.object_type, NAMED)
        weight = NAMED if i == 0 else GUESSED
        if reading.kind == "noun":
            if noun_kind(reading.words) != "thing" or not i:
                hint(objects, reading.words, weight)
        elif reading.words == "born":
            hint(subjects, "person", GUESSED)
        elif reading.kind == "active" and not reading.particle:
            hint(subjects, kind_words()["agents"].get(reading.words, ""), weight)
            hint(objects, kind_words()["patients"].get(reading.words, ""), GUESSED)
    for word in phrase.split():
        hint(heads, kind_words()["subjects"].get(word, ""), GUESSED / 2)
    return heads, tails


def word_list_generic() -> frozenset[str]:
    """Type words that say nothing."""
    return frozenset(lexicon()["generic"]) | listed_words("time")
