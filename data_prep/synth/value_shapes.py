"""Superlatives and comparisons: candidates of a path, told apart by a literal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64

from data_prep.synth.arc_index import ArcIndex
from data_prep.synth.draft import Draft, Leg, ValueTest
from data_prep.synth.follow import follow
from data_prep.synth.relation_facts import RelationFacts
from data_prep.synth.sampler import Sampler, joint_path
from data_prep.synth.shapes import BETWEEN, MAX_TRIPLETS, legs_of
from kgscout_jax.text.values import precision, value_of


def sample_values(
    sampler: Sampler, facts: list[RelationFacts], n: int, hops: int, most: int
) -> list[Draft]:
    """Superlatives and comparisons over the entities that paths of ``hops`` reach.

    Every candidate has exactly one value, all of one precision.

    Args:
        sampler: the links.
        facts: of each relation; those to numbers and dates are compared.
        n: number of tries.
        hops: links to the candidates.
        most: answers at most.
    """
    index, rng = sampler.index, sampler.rng
    literal = literal_types(index, facts)
    if not literal.any():
        return []
    topics, link, reached = sampler.first_links(n)
    links = [link]
    for _ in range(hops - 1):
        link, reached = sampler.links(reached)
        links.append(link)
    types, values = sampler.step(reached, literal)
    real = values >= 0
    topics, types = topics[real], types[real]
    links = [link[real] for link in links]
    trace = follow(index, topics, joint_path(links), BETWEEN * most)
    drafts = []
    for i, leg, _, candidates, triplets in legs_of(trace, topics, links):
        if not 2 <= len(candidates) <= BETWEEN * most:
            continue
        found = values_of(index, candidates, int(types[i]))
        if found is None or not all(sampler.named[c] for c in candidates):
            continue
        is_date = facts[int(types[i])].kind == "date"
        relation = int(types[i])
        of_path = (leg, candidates, triplets, relation, is_date, *found)
        drafts += _superlative(_Candidates(*of_path), rng)
        drafts += _comparison(sampler, _Candidates(*of_path), most, rng)
    return drafts


def literal_types(
    index: ArcIndex, facts: list[RelationFacts]
) -> Float64[np.ndarray, "types"]:
    """1 at arc types that lead to numbers or dates, 0 at others."""
    out = np.zeros(index.n_types)
    for relation, fact in enumerate(facts):
        out[relation] = fact.kind in ("number", "date") and fact.meaning >= 0.3
    return out


def values_of(
    index: ArcIndex, candidates: tuple[int, ...], arc: int
) -> tuple[list[float], list[str], list[int]] | None:
    """(value, its literal, triplet) of each candidate; None unless each has one."""
    entities = np.array(candidates, np.int64)
    groups, real = index.find(entities, np.full(len(entities), arc))
    if not real.all():
        return None
    if (index.offsets[groups + 1] - index.offsets[groups] != 1).any():
        return None
    _, ids, ends = index.arcs(groups)
    names = [index.graph.entities[int(end)] for end in ends]
    numbers = [value_of(name) for name in names]
    if any(map(math.isnan, numbers)) or len({precision(name) for name in names}) > 1:
        return None
    return numbers, names, ids.tolist()


@dataclass(frozen=True)
class _Candidates:
    """What a path reaches, with a literal of each."""

    leg: Leg
    entities: tuple[int, ...]
    triplets: tuple[int, ...]
    """On the path."""
    relation: int
    is_date: bool
    numbers: list[float]
    names: list[str]
    value_triplets: list[int]
    """Of each candidate to its literal."""

    def draft(
        self,
        chosen: list[int],
        test: Literal["highest", "lowest", "above", "below"],
        threshold: str = "",
        rival: tuple[int, int] | None = None,
    ) -> list[Draft]:
        """The question whose answers are these candidates; none if it is too large."""
        # A superlative needs the values of all, a comparison those of its answers.
        superlative = test in ("highest", "lowest")
        needed = range(len(self.entities)) if superlative else chosen
        relevant = {*self.triplets, *(self.value_triplets[i] for i in needed)}
        legs = (self.leg,)
        if rival is not None:
            legs = (self.leg, Leg(rival[0], ((self.relation,),), (1,)))
            relevant.add(rival[1])
        if len(relevant) > MAX_TRIPLETS:
            return []
        value = ValueTest(self.relation, self.is_date, test, threshold)
        shape = "superlative" if superlative else "comparison"
        answers = tuple(self.entities[i] for i in chosen)
        return [Draft(shape, legs, answers, tuple(sorted(relevant)), value)]


def _superlative(found: _Candidates, rng: np.random.Generator) -> list[Draft]:
    """The one candidate with the highest or lowest value, if there is one."""
    highest = bool(rng.integers(2))
    best = max(found.numbers) if highest else min(found.numbers)
    if found.numbers.count(best) > 1:
        return []
    at = found.numbers.index(best)
    return found.draft([at], "highest" if highest else "lowest")


def _comparison(
    sampler: Sampler, found: _Candidates, most: int, rng: np.random.Generator
) -> list[Draft]:
    """The candidates above or below a value, some but not all.

    The value is that of one candidate, or of another entity, which is then a topic.
    """
    above = bool(rng.integers(2))
    at = int(rng.integers(len(found.entities)))
    limit, threshold, rival = found.numbers[at], found.names[at], None
    groups = sampler.groups_of_type(found.relation)
    if rng.integers(2) and len(groups):
        group = groups[rng.integers(len(groups))][None]
        entity = int(sampler.index.keys[group[0]] // sampler.index.n_types)
        value = values_of(sampler.index, (entity,), found.relation)
        if value is None or entity in (found.leg.topic, *found.entities):
            return []
        if precision(value[1][0]) != precision(found.names[0]):
            return []
        limit, threshold, rival = value[0][0], "", (entity, value[2][0])
    chosen = [
        i
        for i, number in enumerate(found.numbers)
        if (number > limit if above else number < limit)
    ]
    if not 0 < len(chosen) <= min(most, len(found.entities) - 1):
        return []
    return found.draft(chosen, "above" if above else "below", threshold, rival)
